"""Docnos as ranges of one text: those of a large run, which become strings only where they are asked for.

A run of a million lines is evaluated without making a million strings: compiled loops (`docno_matching.py`) compare
the bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from searchlab.array_ranges import concatenate_ranges, offsets_of
from searchlab.row_groups import order_by_score
from searchlab.types import Array, Floats, Ints

LINE_END = ord("\n")


@dataclass(frozen=True, slots=True, eq=False)
class PackedDocnos:
    """Docnos without line ends: that of row i is text[starts[i]:ends[i]], in UTF-8."""

    text: Array
    starts: Ints
    ends: Ints

    @classmethod
    def of_lines(cls, text: Array) -> PackedDocnos:
        """The lines of a text, each of which ends with a line end."""
        ends = np.flatnonzero(text == LINE_END)
        return cls(text, np.concatenate([np.zeros(1, np.int64), ends + 1])[:-1], ends)

    @classmethod
    def pack(cls, docnos: Iterable[str]) -> PackedDocnos | None:
        """The docnos of strings; None if one of them has a line end."""
        listed = [*docnos, ""]  # the last one ends with a line end, too
        packed = cls.of_lines(np.frombuffer("\n".join(listed).encode("utf-8", "surrogatepass"), np.uint8))
        return packed if len(packed) == len(listed) - 1 else None

    @classmethod
    def concatenate(cls, parts: Sequence[PackedDocnos]) -> PackedDocnos:
        """The docnos of all parts, in their order."""
        moves = np.cumsum([0, *(len(part.text) for part in parts)]).tolist()
        return cls(
            np.concatenate([np.zeros(0, np.uint8), *(part.text for part in parts)]),
            np.concatenate(
                [np.zeros(0, np.int64), *(part.starts + by for part, by in zip(parts, moves, strict=False))]
            ),
            np.concatenate([np.zeros(0, np.int64), *(part.ends + by for part, by in zip(parts, moves, strict=False))]),
        )

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, rows: slice | Ints) -> PackedDocnos:
        return PackedDocnos(self.text, self.starts[rows], self.ends[rows])

    def __reduce__(self) -> tuple[Any, ...]:
        return PackedDocnos.of_lines, (self.lines(),)

    def lines(self) -> Array:
        """The docnos as lines of one text, each of which ends with a line end."""
        if not len(self):
            return np.zeros(0, np.uint8)
        are_adjacent = self.ends[-1] < len(self.text) and bool((self.starts[1:] == self.ends[:-1] + 1).all())
        if are_adjacent and bool((self.text[self.ends] == LINE_END).all()):
            return self.text[self.starts[0] : self.ends[-1] + 1]
        from searchlab.corpus.trec.docno_matching import join_lines

        joined = np.empty(int((self.ends - self.starts).sum()) + len(self), np.uint8)
        join_lines(self.text, self.starts, self.ends, joined)
        return joined

    def strings(self) -> list[str]:
        """The docnos as strings."""
        return self.lines().tobytes().decode("utf-8", "surrogatepass").split("\n")[:-1]

    def has_duplicate(self, offsets: Ints) -> bool:
        """Whether a group of rows has a docno twice, or docnos that are made to be slow to compare."""
        from searchlab.corpus.trec.docno_matching import has_duplicate

        found: bool = has_duplicate(self.text, self.starts, self.ends, offsets)
        return found

    def order_by_score(self, scores: Floats, offsets: Ints) -> Ints | None:
        """The order of `row_groups.order_by_score`."""
        from searchlab.corpus.trec.docno_matching import order_rows

        order = np.arange(len(scores), dtype=np.int64)
        return order if order_rows(scores, offsets, self.text, self.starts, self.ends, order) else None

    def look_up(self, offsets: Ints, others: PackedDocnos, other_offsets: Ints) -> Ints | None:
        """For each row, the row of `others` with the same docno in the group of the same number, -1 if there is none.

        None if the docnos are made to be slow to compare.
        """
        from searchlab.corpus.trec.docno_matching import match_rows

        rows = np.full(len(self), -1, np.int64)
        columns = (self.text, self.starts, self.ends, offsets)
        found = match_rows(*columns, others.text, others.starts, others.ends, other_offsets, rows)
        return rows if found else None


def order_documents(docnos: Array | PackedDocnos, scores: Floats, offsets: Ints) -> Ints | None:
    """The order of rows by descending score within each group, equal ones by descending docno; None if it is theirs."""
    if isinstance(docnos, PackedDocnos):
        return docnos.order_by_score(scores, offsets)
    return order_by_score(scores, offsets, lambda group: docnos[offsets[group] : offsets[group + 1]].tolist())


def gather_groups(offsets: Ints, groups: Ints) -> tuple[Ints, Ints]:
    """The rows of some groups, one group after the other, and the offsets of these."""

    starts, ends = offsets[groups], offsets[groups + 1]
    return concatenate_ranges(starts, ends, int(offsets[-1])), offsets_of(ends - starts)
