"""The values of a field over all shards, each of which numbers its own: their order, and how they are written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from searchlab.indexing.storage.field_columns import SEPARATOR, FieldColumns
from searchlab.indexing.storage.field_values import normalise_value, scalar_values, value_text
from searchlab.indexing.storage.shard import Shard
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


def written_value(shards: Sequence[Shard], ranks: ValueRanks, name: str, rank: int) -> str:
    """The value of a field with this rank, as the first live document that has it writes it."""
    for shard, of_shard in zip(shards, ranks.by_shard, strict=True):
        position = int(np.searchsorted(of_shard, rank))
        if position == len(of_shard) or of_shard[position] != rank:
            continue
        columns = shard.columns.fields
        number = columns.values_of(name)[position]
        docs = columns.with_value_number(number)
        if shard.live is not None:
            docs = docs[shard.live[docs]]
        if len(docs):
            return _as_written(shard, int(docs[0]), name, columns.values[number].partition(SEPARATOR)[2])
    raise IndexError(rank)


def _as_written(shard: Shard, doc: int, name: str, value: str) -> str:
    stored = shard.stored.read(doc).fields.get(name)
    written = (value_text(scalar) for scalar in scalar_values(stored))
    return next((" ".join(text.split()) for text in written if normalise_value(text) == value), value)
