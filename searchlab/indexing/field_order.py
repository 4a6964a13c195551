"""The order of the values of a field over all shards, each of which numbers its own values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from searchlab.indexing.storage.field_columns import FieldColumns
from searchlab.types import Array


class ValueRanks(NamedTuple):
    """The values of a field in the alphabetical order of all shards: the rank of each shard's, and their number."""

    by_shard: list[Array]
    n_values: int


def rank_values(columns: Sequence[FieldColumns], name: str) -> ValueRanks:
    """The ranks of the values of a field, from the columns of each shard."""
    if len(columns) == 1:
        n_values = len(columns[0].values_of(name))
        return ValueRanks([np.arange(n_values)], n_values)
    values = [fields.values.take(np.array(fields.values_of(name), np.int64)) for fields in columns]
    ranks = {value: rank for rank, value in enumerate(sorted(set().union(*values)))}
    return ValueRanks([np.array([ranks[value] for value in each], np.int64) for each in values], len(ranks))


def sort_keys(columns: Sequence[FieldColumns], ranks: ValueRanks, name: str, *, numeric: bool) -> list[Array]:
    """For each shard a number for each document that orders documents by a field, NaN for those without a value.

    They are the numbers of a field of numbers (see `FieldColumns.numbers_of`), or else the ranks of the values.
    """
    keys = []
    for fields, of_shard in zip(columns, ranks.by_shard, strict=True):
        if numeric:
            numbers = fields.numbers_of(name)
            keys.append(np.full(fields.n_docs, np.nan) if numbers is None else numbers)
        else:
            # The position -1, of documents without a value, is that of the NaN.
            keys.append(np.append(of_shard.astype(np.float64), np.nan)[fields.first_values(name)])
    return keys
