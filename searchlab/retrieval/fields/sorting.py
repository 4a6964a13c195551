"""Sorting: results in the order of a field, written `year`, `year:asc` or `year:desc`.

A field of numbers (`Snapshot.numeric_fields`) is sorted by its numbers and dates, any other by the alphabet, without
case and accents. Of several values of a document the greatest number, or the first in the alphabet, counts. Documents
with equal values stay in the order of their ranks; documents without a value come last, in either direction.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from searchlab.errors import SettingError, unknown_name
from searchlab.indexing.snapshot import Snapshot
from searchlab.types import Array

_DIRECTIONS = {"asc": False, "desc": True}


@dataclass(frozen=True)
class SortOrder:
    """A field, and whether its greatest values come first."""

    field: str
    descending: bool = False

    @classmethod
    def parse(cls, written: object) -> SortOrder:
        """An order as users write it: `field`, `field:asc` or `field:desc`."""
        if isinstance(written, SortOrder):
            return written
        if not isinstance(written, str) or not written.strip():
            raise SettingError(f"sort is {written!r}, expected a field, as in year:desc")
        field, _, direction = written.strip().rpartition(":")
        if direction not in _DIRECTIONS or not field:
            return cls(written.strip())
        return cls(field.strip(), _DIRECTIONS[direction])

    def __str__(self) -> str:
        return f"{self.field}:{'desc' if self.descending else 'asc'}"

    def precedence(self, snapshot: Snapshot, shards: Array, docs: Array) -> Array:
        """A number for each document, given by shard index and number: the greater, the earlier it comes."""
        keys = np.full(len(docs), np.nan)
        with snapshot.report_damage():
            for shard_index, column in enumerate(snapshot.sort_keys(self.field)):
                rows = np.flatnonzero(shards == shard_index)
                keys[rows] = column[docs[rows]]
        return np.where(np.isnan(keys), -np.inf, keys if self.descending else -keys)


def require_order(snapshot: Snapshot, written: SortOrder | str) -> SortOrder:
    """An order by a field of an index; raises SettingError for anything else."""
    order = SortOrder.parse(written)
    if order.field not in snapshot.field_names:
        raise unknown_name("field", order.field, snapshot.field_names)
    return order


def sort_documents(snapshot: Snapshot, shards: Array, docs: Array, written: SortOrder | str) -> Array:
    """The rows of documents, given by shard index and number in the order of their ranks, in the order of a field."""
    order = require_order(snapshot, written)
    return np.argsort(-order.precedence(snapshot, shards, docs), kind="stable")
