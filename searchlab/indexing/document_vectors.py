"""Which vector has a document, if it may have come after all vectors were written?

An artefact keeps the vectors of the shards that it knows. Those of other shards, of documents that came later or were
merged since, are made when they are asked for, and remembered, until they are written too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Generic

import numpy as np

from searchlab.errors import IndexCorrupt
from searchlab.indexing.snapshot import Snapshot
from searchlab.indexing.storage.artefacts import R, open_file
from searchlab.indexing.storage.shard import Shard
from searchlab.indexing.vocabulary import Vocabulary, blocks_of
from searchlab.types import Array, Progress

# Makes the vectors of documents of a shard, whose terms have these numbers in the vocabulary.
Make = Callable[[Shard, Array, Array], Array]


class DocumentVectors(Generic[R]):
    """The vectors of one snapshot's documents: `width` numbers of four bytes each."""

    def __init__(
        self,
        snapshot: Snapshot,
        home: Path,
        record: R,
        vocabulary: Vocabulary,
        make: Make,
        width: int,
        *,
        verify: bool = False,
    ) -> None:
        self._snapshot = snapshot
        self._home = home
        self._record = record
        self._vocabulary = vocabulary
        self._make = make
        self._width = width
        self.stored: dict[int, Array] = {}
        for place, shard in enumerate(snapshot.manifest.shards):
            if shard.name in record.vectors:
                found = open_file(home, record, record.vectors[shard.name], verify=verify).get("vectors")
                if found is None or found.shape != (shard.n_docs, width):
                    raise IndexCorrupt(f"{home}: the files do not fit together; {record.remedy(home)}")
                self.stored[place] = found
        # Where vectors are not on disk: those made so far, and of which documents they are.
        self._made: dict[int, tuple[Array, Array, Array]] = {}

    @property
    def n_unwritten(self) -> int:
        """The live documents whose vectors are not on disk."""
        return sum(shard.n_live for shard in self._snapshot.manifest.shards if shard.name not in self._record.vectors)

    def rows(self, shards: Array, docs: Array) -> Array:
        """The vectors of documents, given by shard and number: a row each."""
        found = np.empty((len(docs), self._width), np.float32)
        for place in np.unique(shards).tolist():
            own = np.flatnonzero(shards == place)
            stored = self.stored.get(place)
            found[own] = self._remembered(place, docs[own]) if stored is None else stored[docs[own]]
        return found

    def changed(self, rows: Mapping[tuple[int, int], Array]) -> DocumentVectors[R]:
        """The same, but for the vectors of some documents, given by shard and number."""
        other = copy(self)
        other.stored = dict(self.stored)
        for place in {place for place, _ in rows}:
            n_docs = self._snapshot.shards[place].columns.n_docs
            own = self.rows(np.full(n_docs, place), np.arange(n_docs))
            docs = [doc for shard, doc in rows if shard == place]
            own[docs] = [rows[place, doc] for doc in docs]
            other.stored[place] = own
        return other

    def _remembered(self, place: int, docs: Array) -> Array:
        shard = self._snapshot.shards[place]
        if place not in self._made:
            # Memory is taken only as vectors are written to it.
            vectors = np.zeros((shard.columns.n_docs, self._width), np.float32)
            self._made[place] = vectors, np.zeros(len(vectors), bool), self._vocabulary.numbers(shard)
        vectors, known, numbers = self._made[place]
        new = np.unique(docs[~known[docs]])
        if len(new):
            vectors[new] = self._make(shard, new, numbers)
            known[new] = True
        found: Array = vectors[docs]
        return found

    def write(self, stage: str, progress: Progress) -> R:
        """Write the vectors of all shards that have none on disk; the record that names those, and no more."""
        shards = {shard.record.name: shard for shard in self._snapshot.shards}
        kept = {shard: name for shard, name in self._record.vectors.items() if shard in shards}
        files = {
            name: sealed
            for name, sealed in self._record.files.items()
            if name in kept.values() or name not in self._record.vectors.values()
        }
        record = replace(self._record, vectors=kept, files=files)
        lacking = [shard for name, shard in shards.items() if name not in kept]
        done, total = 0, sum(shard.columns.n_docs for shard in lacking)
        for shard in lacking:
            numbers = self._vocabulary.numbers(shard)
            made = np.empty((shard.columns.n_docs, self._width), np.float32)
            for docs in blocks_of(shard, np.arange(len(made))):
                made[docs] = self._make(shard, docs, numbers)
                progress(stage, done := done + len(docs), total)
            name = f"vectors{record.terms.removeprefix('terms')}-{shard.record.name}"
            record = record.with_file(self._home, name, {"vectors": made}, shard.record.name)
        return record
