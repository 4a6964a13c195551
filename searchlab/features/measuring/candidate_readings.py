"""Readings of candidates: what features need of documents beside counts and positions, and of the whole collection.

Each is a value that goes to the process which has the shards of the documents (see `retrieval/document_reading.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from searchlab.features.latent_semantics.word_vectors import WordEntries
from searchlab.records import Document
from searchlab.retrieval.document_reading import ArrayReading, DocumentReading, join_lists, join_rows
from searchlab.retrieval.engine import SearchEngine
from searchlab.scorers.execution.collection_statistics import CollectionNumber
from searchlab.scorers.execution.index_reader import IndexReader
from searchlab.types import Array

if TYPE_CHECKING:
    from searchlab.features.query_context import Space


@dataclass(frozen=True)
class VectorReading(DocumentReading[list[Array]]):
    """The vectors of documents in semantic spaces of these dimensions."""

    space: Space
    dims: tuple[int, ...]

    def read(self, engine: SearchEngine, shards: Array, docs: Array) -> list[Array]:
        """For each space, a row for each document."""
        numbers = engine.snapshot.shard_numbers[shards]
        return self.space.vectors_by_dims(numbers, docs, self.dims)

    def join(self, parts: Sequence[tuple[Array, list[Array]]], n_docs: int) -> list[Array]:
        """Those of all groups."""
        return [join_rows([(rows, part[number]) for rows, part in parts], n_docs) for number in range(len(self.dims))]


@dataclass(frozen=True)
class WordReading(DocumentReading[list[WordEntries]]):
    """The words of documents, weighted as for a semantic space."""

    space: Space

    def read(self, engine: SearchEngine, shards: Array, docs: Array) -> list[WordEntries]:
        """The entries of each shard."""
        return self.space.word_entries(engine.snapshot.shard_numbers[shards], docs)

    def join(self, parts: Sequence[tuple[Array, list[WordEntries]]], n_docs: int) -> list[WordEntries]:
        """Those of all groups, with the rows of all documents."""
        return [
            each._replace(rows=rows[each.rows].astype(each.rows.dtype)) for rows, entries in parts for each in entries
        ]


@dataclass(frozen=True)
class NumberReading(ArrayReading):
    """The numbers of documents in a stored field, NaN where they have none."""

    field: str

    def read(self, engine: SearchEngine, shards: Array, docs: Array) -> Array:
        """A number for each document."""
        return engine.snapshot.field_numbers(self.field, shards, docs)


@dataclass(frozen=True)
class StoredReading(DocumentReading[list[Document]]):
    """The stored documents with title, body and fields."""

    def read(self, engine: SearchEngine, shards: Array, docs: Array) -> list[Document]:
        """The documents."""
        with engine.snapshot.report_damage():
            addresses = zip(shards.tolist(), docs.tolist(), strict=True)
            return [engine.snapshot.shards[shard].document(number) for shard, number in addresses]

    def join(self, parts: Sequence[tuple[Array, list[Document]]], n_docs: int) -> list[Document]:
        """Those of all groups."""
        return join_lists(parts, n_docs)


@dataclass(frozen=True)
class MatchingDocuments(CollectionNumber):
    """The number of live documents that have any of some terms."""

    terms: tuple[str, ...]

    def measure(self, reader: IndexReader) -> float:
        """The number in the reader's shards."""
        n_matching = 0
        for shard_index, shard in enumerate(reader.snapshot.shards):
            column = shard.columns.streams["both"]
            matching = np.zeros(shard.columns.n_docs, bool)
            for term in self.terms:
                number = reader.snapshot.find_term(term)[shard_index]
                if number >= 0:
                    matching[column.docs[column.offsets[number] : column.offsets[number + 1]]] = True
            n_matching += int(np.count_nonzero(matching if shard.live is None else matching & shard.live))
        return n_matching

    def merge(self, parts: Sequence[float]) -> float:
        """The sum."""
        return sum(parts)


@dataclass(frozen=True)
class GreatestNumber(CollectionNumber):
    """The greatest number of a live document in a stored field, NaN if none has a number there."""

    field: str

    def measure(self, reader: IndexReader) -> float:
        """The greatest in the reader's shards."""
        return reader.snapshot.greatest_number(self.field)

    def merge(self, parts: Sequence[float]) -> float:
        """The greatest."""
        return float(np.fmax.reduce(np.array(parts)))


def find_greatest(engine: SearchEngine, field: str) -> float:
    """The greatest number of all documents of an index in a stored field; a field without any number is refused."""
    greatest = engine.reader.statistics.number(GreatestNumber(field))
    if np.isnan(greatest):
        engine.snapshot.refuse_field_without_numbers(field)
    return greatest
