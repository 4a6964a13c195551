"""Merging of the other fields of documents, by their columns (see `field_columns`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from searchlab.indexing.inversion.field_builder import starts_of
from searchlab.indexing.inversion.inversion import take_texts
from searchlab.indexing.storage.arrays.column import Column
from searchlab.indexing.storage.arrays.string_table import Strings
from searchlab.indexing.storage.field_columns import GAP, FieldColumns
from searchlab.types import Array


class _Rows(NamedTuple):
    """The rows of live documents in a table of a shard: their keys, their new document numbers, and which they are."""

    keys: Array
    docs: Array
    numbers: Array

    @classmethod
    def of(cls, offsets: Column, docs: Column, new_docs: Array) -> _Rows:
        keys = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets.whole))
        moved = new_docs[docs.whole]
        numbers = np.flatnonzero(moved >= 0)
        return cls(keys[numbers], moved[numbers], numbers)


class _Keys(NamedTuple):
    """Keys of several shards in byte order, without those that no row has, and the new number of each in each shard."""

    texts: list[str]
    ranks: list[Array]

    @classmethod
    def of(cls, shards: Sequence[Strings], rows: Sequence[_Rows]) -> _Keys:
        used = [np.unique(of_shard.keys) for of_shard in rows]
        known = [strings.take(numbers) for strings, numbers in zip(shards, used, strict=True)]
        texts = sorted(set().union(*known))
        number_of = {text: number for number, text in enumerate(texts)}
        ranks = [np.full(len(strings), -1, np.int64) for strings in shards]
        for of_shard, numbers, names in zip(ranks, used, known, strict=True):
            of_shard[numbers] = [number_of[name] for name in names]
        return cls(texts, ranks)

    def of_rows(self, rows: Sequence[_Rows]) -> Array:
        """The new keys of the rows of all shards."""
        return np.concatenate([ranks[of_shard.keys] for ranks, of_shard in zip(self.ranks, rows, strict=True)])


def merge_fields(shards: Sequence[FieldColumns], new_docs: Sequence[Array]) -> dict[str, Array]:
    """All columns of the fields of several shards; `new_docs` has the new number of each document, -1 if deleted."""
    with_docs = list(zip(shards, new_docs, strict=True))
    entries = [_Rows.of(shard.entries, shard.entry_docs, docs) for shard, docs in with_docs]
    names = _Keys.of([shard.names for shard in shards], entries)
    postings = [_Rows.of(shard.postings, shard.docs, docs) for shard, docs in with_docs]
    terms = _Keys.of([shard.terms for shard in shards], postings)
    values = [_Rows.of(shard.value_offsets, shard.value_docs, docs) for shard, docs in with_docs]
    keys = _Keys.of([shard.values for shard in shards], values)
    columns = Strings.pack("field.names", names.texts)
    columns |= _merge_postings(shards, terms, postings)
    columns |= _merge_entries(shards, names, terms, entries)
    order, of_value, docs = _sorted(keys.of_rows(values), values)
    columns |= Strings.pack("field.values", keys.texts)
    columns |= {"field.value_offsets": starts_of(of_value, len(keys.texts)), "field.value_docs": docs}
    for what in ("number", "date"):
        rows = [
            _Rows.of(getattr(shard, f"{what}_offsets"), getattr(shard, f"{what}_docs"), docs)
            for shard, docs in with_docs
        ]
        items = _take([getattr(shard, f"{what}s") for shard in shards], rows)
        order, fields, docs = _sorted(names.of_rows(rows), rows, items)
        columns[f"field.{what}s"] = items[order]
        columns[f"field.{what}_docs"] = docs
        columns[f"field.{what}_offsets"] = starts_of(fields, len(names.texts))
    return columns


def _merge_postings(shards: Sequence[FieldColumns], terms: _Keys, postings: Sequence[_Rows]) -> dict[str, Array]:
    order, of_term, docs = _sorted(terms.of_rows(postings), postings)
    return Strings.pack("field.terms", terms.texts) | {
        "field.postings": starts_of(of_term, len(terms.texts)),
        "field.docs": docs,
        "field.tfs": _take([shard.tfs for shard in shards], postings)[order],
    }


def _merge_entries(
    shards: Sequence[FieldColumns], names: _Keys, terms: _Keys, entries: Sequence[_Rows]
) -> dict[str, Array]:
    """The entries, and the terms of each in their order."""
    renumbered, begins, lengths = [], [], []
    n_tokens = 0
    for shard, ranks, rows in zip(shards, terms.ranks, entries, strict=True):
        tokens, offsets = shard.tokens.whole.astype(np.int64), shard.token_offsets.whole
        is_term = tokens != GAP
        tokens[is_term] = ranks[tokens[is_term]]
        renumbered.append(tokens)
        begins.append(offsets[rows.numbers] + n_tokens)
        lengths.append(np.diff(offsets)[rows.numbers])
        n_tokens += len(tokens)
    order, fields, docs = _sorted(names.of_rows(entries), entries)
    tokens, starts = take_texts(
        np.concatenate(renumbered), np.concatenate(begins)[order], np.concatenate(lengths)[order]
    )
    return {
        "field.entries": starts_of(fields, len(names.texts)),
        "field.entry_docs": docs,
        "field.entry_lengths": _take([shard.entry_lengths for shard in shards], entries)[order],
        "field.tokens": tokens.astype(np.uint32),
        "field.token_offsets": starts,
    }


def _take(columns: Sequence[Column], rows: Sequence[_Rows]) -> Array:
    """The items of the rows of all shards."""
    return np.concatenate([column.whole[of_shard.numbers] for column, of_shard in zip(columns, rows, strict=True)])


def _sorted(keys: Array, rows: Sequence[_Rows], items: Array | None = None) -> tuple[Array, Array, Array]:
    """The order of rows by key, item and document; and their keys and documents in this order."""
    docs = np.concatenate([of_shard.docs for of_shard in rows])
    order = np.lexsort((docs, keys) if items is None else (docs, items, keys))
    return order, keys[order], docs[order].astype(np.uint32)
