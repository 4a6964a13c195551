"""Texts that can be searched: the title, the body, both as one, or a field such as the authors.

Each has its terms, their postings and lengths (a `Stream`), and its terms in the order of the text (`Passages`), for
phrases.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from searchlab.indexing.storage.arrays.column import Column
from searchlab.indexing.storage.arrays.string_table import Strings
from searchlab.indexing.storage.term_positions import TermPositions
from searchlab.types import Array

# Passages are read from end to end, not one by one, if at least one token in this many is needed.
SCAN_RATIO = 16


@dataclass(frozen=True)
class Stream:
    """The postings and lengths of one text in one shard."""

    offsets: Column
    docs: Column
    tfs: Column
    counts: Column
    max_tfs: Column
    lengths: Column
    uniques: Column


@dataclass(frozen=True)
class PassageRanges:
    """Some passages in the order of the tokens: passage i, of docs[i], has those from starts[i] to before ends[i]."""

    docs: Array
    starts: Array
    ends: Array

    def __post_init__(self) -> None:
        if (self.ends < self.starts).any() or (self.starts[1:] < self.ends[:-1]).any():
            raise IndexError("passages that overlap or go back")

    def __len__(self) -> int:
        return len(self.docs)

    def __getitem__(self, rows: slice) -> PassageRanges:
        return PassageRanges(self.docs[rows], self.starts[rows], self.ends[rows])


@dataclass(frozen=True)
class Passages:
    """The terms of documents in the order of their texts; no phrase begins in one passage and ends in another.

    `select` gives the passages of some documents, which are ascending; a document can have none or several.
    """

    tokens: Column
    select: Callable[[Array], PassageRanges]

    def read(self, ranges: PassageRanges) -> tuple[Array, Array]:
        """The terms of some passages, perhaps also those between them, and where each passage begins in these.

        Passages that are close to each other are read from end to end.
        """
        self.require_within(ranges)
        lengths = ranges.ends - ranges.starts
        begin, end = int(ranges.starts[0]), int(ranges.ends[-1])
        if lengths.sum() * SCAN_RATIO > end - begin:
            return self.tokens[begin:end], ranges.starts - begin
        return self.tokens.gather(ranges.starts, ranges.ends), np.cumsum(lengths) - lengths

    def require_within(self, ranges: PassageRanges) -> None:
        """Refuse passages that reach beyond the tokens: the columns are damaged."""
        if len(ranges) and ranges.ends[-1] > len(self.tokens):
            raise IndexError("a passage reaches beyond the tokens")

    def release(self, ranges: PassageRanges) -> None:
        """Let the tokens of passages that were read leave the memory of the process."""
        self.tokens.release(int(ranges.starts[0]), int(ranges.ends[-1]))


@dataclass(frozen=True, eq=False)
class Text:
    """One text of all documents of a shard.

    Its terms are those with the numbers `numbers` of `terms`, each after `prefix`. The stream numbers them from the
    first of these; the passages have their numbers in `terms`. `positions` are those of frequent terms among the tokens
    of the passages, if the text has them; the terms are then numbered from 0.
    """

    terms: Strings
    prefix: str
    numbers: range
    stream: Stream
    passages: Passages
    positions: TermPositions | None = None

    def find(self, term: str) -> int:
        """The number of a term in the stream, -1 if it does not occur in the shard."""
        number = self.terms.find(self.prefix + term)
        return number - self.numbers.start if number >= 0 else -1

    def postings(self, number: int) -> tuple[Array, Array]:
        """The documents of a term, given by its number in the stream, and its frequencies in them."""
        rows = slice(self.stream.offsets[number], self.stream.offsets[number + 1])
        return self.stream.docs[rows], self.stream.tfs[rows]


def make_stream(offsets: Array, docs: Array, tfs: Array, lengths: Array) -> Stream:
    """A stream whose counts are computed from the postings."""
    counts, max_tfs = count_terms(offsets, tfs)
    uniques = np.bincount(docs, minlength=len(lengths)).astype(np.int32)
    return Stream(*map(Column, (offsets, docs, tfs, counts, max_tfs, lengths, uniques)))


def count_terms(offsets: Array, tfs: Array) -> tuple[Array, Array]:
    """For each term, the sum and the largest of its frequencies."""
    used = np.diff(offsets) > 0
    counts = np.zeros(len(used), np.int64)
    max_tfs = np.zeros(len(used), np.int32)
    if used.any():
        begins = offsets[:-1][used]
        counts[used] = np.add.reduceat(tfs.astype(np.int64), begins)
        max_tfs[used] = np.maximum.reduceat(tfs, begins)
    return counts, max_tfs
