"""Positions of frequent terms: where each is among the tokens of a shard, ascending.

A phrase of frequent words is in most documents' reach, so that reading their tokens would read nearly all; it is found
by these positions instead. A term is frequent if at least one token in FREQUENT_AMONG is this term. The distance from
one position to the next is written in units, of a byte for the most frequent terms and of two for others: as many
units of the largest number as fit, and one with the rest, which is below it. So the sums of all units are positions
wherever a unit is not the largest.

    positions.terms      the numbers of the frequent terms, ascending
    positions.offsets    where the bytes of each begin, and at last where the last ones end
    positions            the units, little-endian, the first distance from the first token
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from searchlab.indexing.storage.arrays.column import Column
from searchlab.types import Array

# The tokens of a rarer term are in a third of the blocks of tokens, or less.
FREQUENT_AMONG = 1 << 14
# A term has units of a byte if at least one token in this many is the term: then these take less than two bytes each.
BYTE_AMONG = 256
# Units that are summed at once; and tokens whose positions are put behind each other at once.
UNITS_AT_ONCE = 1 << 14
TOKENS_AT_ONCE = 1 << 18
BYTE_UNIT, SHORT_UNIT = np.dtype("u1"), np.dtype("<u2")


def frequent_terms(counts: Array, n_tokens: int) -> Array:
    """The numbers of the terms whose positions are kept, by the occurrences of each term."""
    return np.flatnonzero((counts > 0) & (counts * FREQUENT_AMONG >= n_tokens))


@dataclass(frozen=True, eq=False)
class TermPositions:
    """The positions of the frequent terms of a shard; `counts` has the occurrences of each term of the shard.

    Document i has the tokens from token_offsets[i] up to token_offsets[i + 1].
    """

    terms: Column
    offsets: Column
    units: Column
    counts: Column
    token_offsets: Column

    def fits(self) -> bool:
        """Whether the lengths of the columns agree."""
        return len(self.offsets) == len(self.terms) + 1 and self.offsets[-1] == len(self.units)

    @cached_property
    def n_tokens(self) -> int:
        """The number of tokens of the shard."""
        return int(self.token_offsets[-1])

    @cached_property
    def _rows(self) -> dict[int, int]:
        return {term: row for row, term in enumerate(self.terms.tolist())}

    def __contains__(self, term: int) -> bool:
        return term in self._rows

    def of(self, term: int) -> Array:
        """The positions of a frequent term; raises IndexCorrupt if they cannot be right."""
        reader = self.read(term)
        dtype = np.int32 if self.n_tokens <= np.iinfo(np.int32).max else np.int64
        limits = [*range(TOKENS_AT_ONCE, self.n_tokens, TOKENS_AT_ONCE), self.n_tokens]
        return np.concatenate([reader.below(limit).astype(dtype) for limit in limits])

    def read(self, term: int) -> PositionReader:
        """The positions of a frequent term, to be read in pieces."""
        row = self._rows[term]
        begin, end = self.offsets[row : row + 2].tolist()
        count = int(self.counts[term])
        unit = unit_type(count, self.n_tokens)
        if not 0 <= begin <= end <= len(self.units) or (end - begin) % unit.itemsize:
            raise self.offsets.damaged(f"positions of term {term} with wrong offsets")
        return PositionReader(self.units, range(begin, end), unit, term, count, self.n_tokens)

    def docs_of(self, positions: Array) -> Array:
        """The documents that have tokens at these positions."""
        docs: Array = np.searchsorted(self.token_offsets.whole, positions, "right") - 1
        return docs


class PositionReader:
    """Reads the positions of a term in ascending order; the pages that were read leave the memory of the process.

    In pieces: a few small arrays are used again and again, where large ones would be fetched from the system page by
    page, which takes longer than all else. Raises IndexCorrupt for positions that cannot be right.
    """

    def __init__(self, units: Column, rows: range, unit: np.dtype[Any], term: int, count: int, n_tokens: int) -> None:
        self._column, self._rows = units, rows
        self._units: Array = units[rows.start : rows.stop].view(unit)
        self._largest = np.iinfo(unit).max
        self._term, self._count, self._n_tokens = term, count, n_tokens
        # The units that are summed, their sum, the positions among their sums, and those that were not asked for yet.
        self._n_units = self._sum = self._n_positions = 0
        self._waiting = np.zeros(0, np.int64)

    def below(self, limit: int) -> Array:
        """The next positions, up to the last one below a limit."""
        pieces = [self._waiting]
        while self._n_units < len(self._units) and self._sum < limit:
            pieces.append(self._sum_units())
        if self._n_units == len(self._units) and self._n_positions != self._count:
            raise self._column.damaged(f"{self._n_positions} positions of term {self._term}, expected {self._count}")
        positions = np.concatenate(pieces) if len(pieces) > 1 else self._waiting
        n = int(positions.searchsorted(limit))
        self._waiting = positions[n:]
        return positions[:n]

    def _sum_units(self) -> Array:
        """The positions of the next units."""
        units = self._units[self._n_units : self._n_units + UNITS_AT_ONCE]
        self._n_units += len(units)
        sums = units.cumsum(dtype=np.int64)
        sums += self._sum
        self._sum = int(sums[-1])
        if self._sum >= self._n_tokens:
            raise self._column.damaged(f"positions of term {self._term} beyond the tokens")
        positions: Array = sums if units.max() < self._largest else sums[units != self._largest]
        self._n_positions += len(positions)
        if self._n_units == len(self._units):
            self._column.release(self._rows.start, self._rows.stop)
        return positions


def unit_type(count: int, n_tokens: int) -> np.dtype[Any]:
    """The type of a term's units."""
    return BYTE_UNIT if count * BYTE_AMONG >= n_tokens else SHORT_UNIT
