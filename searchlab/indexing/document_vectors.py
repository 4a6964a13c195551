"""Document vectors of an artefact, also of documents that were indexed after the artefact was written.

An artefact stores the vectors of the shards that it knows. The vectors of other shards (of documents that were added or
merged later) are computed on demand and cached, until they are written too.
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
from searchlab.indexing.storage.arrays.column import Column
from searchlab.indexing.storage.artefacts import R, WrittenFile, open_artefact_file, write_artefact_file
from searchlab.indexing.storage.shard import Shard
from searchlab.indexing.vocabulary import Vocabulary, blocks_of
from searchlab.types import Array

# Computes the vectors of documents of a shard, whose terms have these numbers in the vocabulary.
ComputeVectors = Callable[[Shard, Array, Array], Array]


class DocumentVectors(Generic[R]):
    """The vectors of one snapshot's documents: `width` numbers of four bytes each."""

    def __init__(
        self,
        snapshot: Snapshot,
        home: Path,
        record: R,
        vocabulary: Vocabulary,
        compute: ComputeVectors,
        width: int,
        *,
        verify: bool = False,
    ) -> None:
        self._snapshot = snapshot
        self._home = home
        self._record = record
        self._vocabulary = vocabulary
        self._compute = compute
        self._width = width
        self.stored: dict[int, Column] = {}
        for shard_index, shard in enumerate(snapshot.manifest.shards):
            if shard.name in record.vectors:
                vectors = open_artefact_file(home, record, record.vectors[shard.name], verify=verify).get("vectors")
                if vectors is None or vectors.shape != (shard.n_docs, width) or vectors.dtype != np.float32:
                    raise IndexCorrupt(f"{home}: the files do not fit together; {record.remedy(home)}")
                self.stored[shard_index] = vectors
        # For shards without stored vectors: the vectors computed so far, whose they are, and the shard's term numbers.
        self._computed: dict[int, tuple[Array, Array, Array]] = {}

    @property
    def n_unwritten(self) -> int:
        """The number of live documents whose vectors are not on disk."""
        return sum(shard.n_live for shard in self._snapshot.manifest.shards if shard.name not in self._record.vectors)

    def rows(self, shards: Array, docs: Array) -> Array:
        """The vectors of documents, given by shard index and number: a row each."""
        vectors = np.empty((len(docs), self._width), np.float32)
        for shard_index in np.unique(shards).tolist():
            here = np.flatnonzero(shards == shard_index)
            stored = self.stored.get(shard_index)
            vectors[here] = self._compute_rows(shard_index, docs[here]) if stored is None else stored[docs[here]]
        return vectors

    def changed(self, rows: Mapping[tuple[int, int], Array]) -> DocumentVectors[R]:
        """A copy with other vectors for some documents, given by shard index and number."""
        other = copy(self)
        other.stored = dict(self.stored)
        for shard_index in {shard_index for shard_index, _ in rows}:
            n_docs = self._snapshot.shards[shard_index].columns.n_docs
            vectors = self.rows(np.full(n_docs, shard_index), np.arange(n_docs))
            docs = [doc for shard, doc in rows if shard == shard_index]
            vectors[docs] = [rows[shard_index, doc] for doc in docs]
            other.stored[shard_index] = Column(vectors)
        return other

    def _compute_rows(self, shard_index: int, docs: Array) -> Array:
        shard = self._snapshot.shards[shard_index]
        if shard_index not in self._computed:
            # The system provides the memory of an array of zeros only as it is written to.
            vectors = np.zeros((shard.columns.n_docs, self._width), np.float32)
            self._computed[shard_index] = vectors, np.zeros(len(vectors), bool), self._vocabulary.numbers(shard)
        vectors, is_computed, numbers = self._computed[shard_index]
        new = np.unique(docs[~is_computed[docs]])
        if len(new):
            vectors[new] = self._compute(shard, new, numbers)
            is_computed[new] = True
        rows: Array = vectors[docs]
        return rows

    @property
    def unwritten_shards(self) -> list[int]:
        """The indexes of the shards that have no vectors on disk."""
        shards = enumerate(self._snapshot.manifest.shards)
        return [shard_index for shard_index, shard in shards if shard.name not in self._record.vectors]

    @property
    def kept_record(self) -> R:
        """The record without the vectors of shards that no longer exist."""
        shards = {shard.name for shard in self._snapshot.manifest.shards}
        kept = {shard: name for shard, name in self._record.vectors.items() if shard in shards}
        files = {
            name: size_and_crc
            for name, size_and_crc in self._record.files.items()
            if name in kept.values() or name not in self._record.vectors.values()
        }
        return replace(self._record, vectors=kept, files=files)

    def write_shard(self, shard_index: int, on_block: Callable[[int], None] = lambda n_docs: None) -> WrittenFile:
        """Write the vectors of a shard; `on_block` is called with the number of documents, block by block."""
        shard = self._snapshot.shards[shard_index]
        numbers = self._vocabulary.numbers(shard)
        vectors = np.empty((shard.columns.n_docs, self._width), np.float32)
        for docs in blocks_of(shard, np.arange(len(vectors))):
            vectors[docs] = self._compute(shard, docs, numbers)
            on_block(len(docs))
        name = f"vectors{self._record.terms.removeprefix('terms')}-{shard.record.name}"
        return write_artefact_file(self._home, name, {"vectors": vectors}, shard.record.name)
