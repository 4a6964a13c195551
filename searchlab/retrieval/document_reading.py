"""Reading of documents: what is read of some documents of an index, by the process that has their shards.

An engine reads its documents itself; one whose shards are divided among the workers of a cluster asks the owner of each
document, and joins what they have read. So what needs many documents, such as features of candidates and feedback, is
written once, as a reading, and gives the same numbers wherever the documents are.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from searchlab.types import Array

if TYPE_CHECKING:
    from searchlab.retrieval.engine import SearchEngine

T = TypeVar("T")


class DocumentReading(ABC, Generic[T]):
    """What is read of documents; a value that other processes are sent."""

    @abstractmethod
    def read(self, engine: SearchEngine, shards: Array, docs: Array) -> T:
        """What is read of documents, given by their shards in the engine's snapshot and their numbers there.

        What is read of a document must not depend on the others.
        """

    @abstractmethod
    def join(self, parts: Sequence[tuple[Array, T]], n_docs: int) -> T:
        """What is read of `n_docs` documents, from groups of them: the rows of each group, and what was read of it."""


class ArrayReading(DocumentReading[Array]):
    """A reading that gives a row of an array, or a number, for each document."""

    def join(self, parts: Sequence[tuple[Array, Array]], n_docs: int) -> Array:
        """The rows of all groups."""
        return join_rows(parts, n_docs)


class DocumentReader:
    """Reads some documents of an index, given by shard and number; what was read is kept."""

    def __init__(self, engine: SearchEngine, shards: Array, docs: Array) -> None:
        self._engine = engine
        self._documents = shards, docs
        self._known: dict[DocumentReading[Any], Any] = {}

    def read(self, reading: DocumentReading[T]) -> T:
        """What a reading gives of the documents."""
        if reading not in self._known:
            self._known[reading] = self._engine.read_documents(reading, *self._documents)
        found: T = self._known[reading]
        return found

    def read_together(self, readings: Sequence[DocumentReading[Any]]) -> None:
        """Ask for several readings at once; `read` gives the result of each."""
        results: list[Any] = self._engine.read_documents(SeveralReadings(tuple(readings)), *self._documents)
        self._known.update(zip(readings, results, strict=True))


def join_rows(parts: Sequence[tuple[Array, Array]], n_docs: int) -> Array:
    """The array of `n_docs` rows of which each part has some: their numbers, and the rows."""
    _, first = parts[0]
    joined = np.empty((n_docs, *first.shape[1:]), first.dtype)
    for rows, part in parts:
        joined[rows] = part
    return joined


def join_lists(parts: Iterable[tuple[Array, Sequence[T]]], n_docs: int) -> list[T]:
    """The same of items that are no numbers."""
    found = {row: item for rows, part in parts for row, item in zip(rows.tolist(), part, strict=True)}
    return [found[row] for row in range(n_docs)]


@dataclass(frozen=True)
class SeveralReadings(DocumentReading[list[Any]]):
    """Several readings of the same documents, asked for together."""

    readings: tuple[DocumentReading[Any], ...]

    def read(self, engine: SearchEngine, shards: Array, docs: Array) -> list[Any]:
        """What each reading gives."""
        return [reading.read(engine, shards, docs) for reading in self.readings]

    def join(self, parts: Sequence[tuple[Array, list[Any]]], n_docs: int) -> list[Any]:
        """What each reading gives of all groups."""
        return [
            reading.join([(rows, part[number]) for rows, part in parts], n_docs)
            for number, reading in enumerate(self.readings)
        ]
