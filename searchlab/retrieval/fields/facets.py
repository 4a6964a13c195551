"""Facets: the values that all documents of a search have in a field, each with its number of documents.

Counts are exact, and made from the columns of fields. Values are compared without case and accents, and shown as the
first document of the index has them. Values of more than 200 characters are texts, not values, and are not counted.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from searchlab.errors import SettingError, unknown_name
from searchlab.indexing.snapshot import Snapshot
from searchlab.indexing.storage.field_values import parse_date, parse_number
from searchlab.retrieval.fields.matches import Marks, count_marks

N_VALUES = 10


@dataclass(frozen=True)
class FacetValue:
    """A value of a field, and the number of documents that have it."""

    value: str
    n_docs: int


@dataclass(frozen=True)
class Facet:
    """The most frequent values of a field among all documents that a search finds.

    Values of a field of numbers are in their order, others by their number of documents. The field has `n_values`
    different ones there; `n_without` documents have none.
    """

    field: str
    values: tuple[FacetValue, ...]
    n_values: int
    n_without: int

    def to_json(self) -> dict[str, Any]:
        """The facet as JSON values, the same on the command line and in the JSON API."""
        values = [{"value": each.value, "n_docs": each.n_docs} for each in self.values]
        return {"values": values, "n_values": self.n_values, "n_without": self.n_without}


def parse_fields(written: Iterable[str]) -> list[str]:
    """Names of fields as users write them: each alone, or several with commas between them."""
    return list(dict.fromkeys(name.strip() for text in written for name in text.split(",") if name.strip()))


def suited_fields(snapshot: Snapshot, limit: int) -> list[str]:
    """The fields that are worth a facet, those of the most documents first.

    A value of theirs is shared by at least two documents on average, and there are at least two values.
    """
    sizes = {name: (snapshot.value_ranks(name).n_values, snapshot.count_values(name)) for name in snapshot.field_names}
    suited = [name for name, (n_values, n_rows) in sizes.items() if n_values > 1 and n_rows >= 2 * n_values]
    return sorted(suited, key=lambda name: (-sizes[name][1], name))[:limit]


def count_facet(snapshot: Snapshot, marks: Marks, field: str, n: int = N_VALUES) -> Facet:
    """The n most frequent values of a field in the documents that are marked."""
    if not isinstance(field, str):
        raise SettingError(f"field is {field!r}, expected the name of a field")
    if field not in snapshot.field_names:
        raise unknown_name("field", field, snapshot.field_names)
    if isinstance(n, bool) or not isinstance(n, int) or n < 1:
        raise SettingError(f"n is {n!r}, expected a number of values, 1 or more")
    with snapshot.report_damage():
        ranks = snapshot.value_ranks(field)
        counts, n_with = np.zeros(ranks.n_values, np.int64), 0
        for shard, marked, of_shard in zip(snapshot.shards, marks, ranks.by_shard, strict=True):
            counted, docs = shard.columns.fields.count_values(field, marked)
            counts[of_shard] += counted
            having = np.zeros(len(marked), bool)
            having[docs] = True
            n_with += int(np.count_nonzero(having & marked))
        # Of equally frequent values, the first in the alphabet.
        best = np.argsort(-counts, kind="stable")[:n]
        chosen = [(int(rank), int(counts[rank])) for rank in best if counts[rank]]
        values = [FacetValue(snapshot.written_value(field, rank), n_docs) for rank, n_docs in chosen]
    if field in snapshot.numeric_fields:
        values.sort(key=lambda each: _magnitude(each.value))
    return Facet(field, tuple(values), int(np.count_nonzero(counts)), count_marks(marks) - n_with)


def _magnitude(value: str) -> tuple[float, str]:
    number, date = parse_number(value), parse_date(value)
    return (number if number is not None else date if date is not None else float("inf")), value
