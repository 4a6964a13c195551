"""Histograms: how many of the documents that a search finds have which numbers in a field, such as years."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count

import numpy as np

from searchlab.errors import SettingError, unknown_name
from searchlab.indexing.snapshot import Snapshot
from searchlab.retrieval.fields.matches import Marks
from searchlab.types import Ints

N_BINS = 40
# Larger whole numbers are taken for mistakes: with them, all other numbers would be in one bin.
LARGEST = 9999


@dataclass(frozen=True)
class Bin:
    """The whole numbers from `first` to `last`, and the number of documents that have one of them.

    `n_found` of these documents are found, if a filter by the field leaves some out; otherwise all are.
    """

    first: int
    last: int
    n_docs: int
    n_found: int

    def to_json(self) -> dict[str, int]:
        """The bin as a record."""
        return dict(vars(self))


def count_bins(
    snapshot: Snapshot, marks: Marks, field: str, n: int = N_BINS, found: Marks | None = None
) -> tuple[Bin, ...]:
    """At most n bins of equal width over the whole numbers that marked documents have in a field, in their order.

    The width is 1, 2, 5, 10, 20 …, and each bin begins at a multiple of it. A date counts as its year; of several
    numbers of a document the greatest counts. Numbers below -9999 or above 9999 are ignored. `found` marks those of
    the documents that pass a filter by the field, by default all.
    """
    if isinstance(n, bool) or not isinstance(n, int) or n < 2:
        raise SettingError(f"n is {n!r}, expected a number of bins, 2 or more")
    if field not in snapshot.field_names:
        raise unknown_name("field", field, snapshot.field_names)
    numbers = _read_numbers(snapshot, marks, field)
    if not len(numbers):
        return ()
    first, last = int(numbers.min()), int(numbers.max())
    widths = (step * 10**power for power in count() for step in (1, 2, 5))
    width = next(width for width in widths if last // width - first // width < n)
    begins = range(first // width * width, last + 1, width)
    counts = np.bincount(numbers // width - first // width)
    counts_found = counts
    if found is not None:
        both = [one & other for one, other in zip(marks, found, strict=True)]
        passing = _read_numbers(snapshot, both, field)
        counts_found = np.bincount(passing // width - first // width, minlength=len(begins))
    pairs = zip(begins, counts.tolist(), counts_found.tolist(), strict=True)
    return tuple(Bin(begin, begin + width - 1, n_docs, n_found) for begin, n_docs, n_found in pairs)


def _read_numbers(snapshot: Snapshot, marks: Marks, field: str) -> Ints:
    """The whole numbers of marked documents."""
    with snapshot.report_damage():
        columns = [shard.columns.fields.numbers_of(field) for shard in snapshot.shards]
        having = [column[marked] for column, marked in zip(columns, marks, strict=True) if column is not None]
    numbers = np.floor(np.concatenate([np.zeros(0), *having]))
    whole: Ints = numbers[np.abs(numbers) <= LARGEST].astype(np.int64)
    return whole
