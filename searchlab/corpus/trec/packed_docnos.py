"""Docnos as ranges of one text: those of a large run, which become strings only where they are asked for.

A run of a million lines is evaluated without making a million strings: compiled loops (`docno_matching.py`) compare
the bytes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from searchlab.array_ranges import concatenate_ranges, offsets_of
from searchlab.row_groups import order_by_score
from searchlab.types import Array, Floats, Ints


@dataclass(frozen=True, slots=True, eq=False)
class PackedDocnos:
    """Docnos without line ends: that of row i is text[starts[i]:ends[i]], in UTF-8."""

    text: Array
    starts: Ints
    ends: Ints

    @classmethod
    def pack(cls, docnos: Iterable[str]) -> PackedDocnos | None:
        """The docnos of strings; None if one of them has a line end."""
        listed = list(docnos)
        if not listed:
            return cls(np.zeros(0, np.uint8), np.zeros(0, np.int64), np.zeros(0, np.int64))
        text = np.frombuffer("\n".join(listed).encode("utf-8", "surrogatepass"), np.uint8)
        ends = np.append(np.flatnonzero(text == ord("\n")), len(text))
        return cls(text, np.concatenate([[0], ends[:-1] + 1]), ends) if len(ends) == len(listed) else None

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, rows: slice | Ints) -> PackedDocnos:
        return PackedDocnos(self.text, self.starts[rows], self.ends[rows])

    def strings(self) -> list[str]:
        """The docnos as strings."""
        from searchlab.corpus.trec.docno_matching import join_lines

        if not len(self):
            return []
        joined = np.empty(int((self.ends - self.starts).sum()) + len(self), np.uint8)
        join_lines(self.text, self.starts, self.ends, joined)
        return joined[:-1].tobytes().decode("utf-8", "surrogatepass").split("\n")

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
