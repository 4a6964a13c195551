"""Latent semantic space: vectors of documents and queries by a truncated SVD (Deerwester et al. 1990).

    A ≈ U Σ Vᵀ,   A[d, t] = BM25 weight of t in d (k1 1.2, b 0.75, title and body as one), each row scaled to length 1

A document's vector is its row times V, which is its row of U Σ; a query's vector is that of its terms, weighted by idf.
Vectors are scaled to length 1 when they are used, so that their products are cosines; a document without any known
term has the zero vector. The first 50 dimensions of 200 are those of a space of 50, rescaled.

Deviations: terms that occur in a single document are left out, since they relate it to no other (on five collections
AP is the same with and without them, and they are half of the vocabulary).

The space is stored with the index (`space_record`). Documents that were added later are folded in: their rows, weighted
by the idf and the mean length at the time when the space was made, are multiplied by the same V. That needs no
decomposition, but words and relations that occur only in newer documents stay unknown, so a space becomes stale.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path

import numpy as np

from searchlab.cluster.cluster import Cluster
from searchlab.errors import IndexCorrupt, SettingError
from searchlab.features.latent_semantics.space_record import FOLDER, MAX_DIMS, SpaceRecord
from searchlab.features.latent_semantics.term_weights import TermWeights, weigh_documents
from searchlab.features.latent_semantics.truncated_svd import decompose
from searchlab.features.latent_semantics.word_vectors import WordEntries, WordVectors
from searchlab.indexing.blockwise.workspace import open_workspace
from searchlab.indexing.index_names import existing_index
from searchlab.indexing.snapshot import Snapshot
from searchlab.indexing.storage.arrays.column import Column
from searchlab.indexing.storage.artefacts import remove_uncommitted
from searchlab.indexing.storage.lock import writer_lock
from searchlab.indexing.storage.shard import Shard
from searchlab.indexing.vector_artefact import VectorArtefact
from searchlab.indexing.vocabulary import all_digests
from searchlab.types import Array, Progress, no_progress

DIMS = 200
SEED = 1990
MAX_CACHED_TERMS = 4096


class SemanticSpace(VectorArtefact[SpaceRecord]):
    """The vectors of one snapshot's documents and terms."""

    @classmethod
    def record_type(cls) -> type[SpaceRecord]:
        """The class of the record."""
        return SpaceRecord

    def _load(self, arrays: Mapping[str, Column]) -> bool:
        n_terms = len(self._vocabulary)
        self._weights = TermWeights(self._vocabulary, arrays["idf"].whole, self.record.mean_length)
        self._V = arrays["V"]
        # The numbers of a shard's terms in the vocabulary, for shards whose words were asked for.
        self._term_numbers: dict[int, Array] = {}
        # Bisection reads a string in each of its steps; the words of queries come back.
        self._find_term = lru_cache(MAX_CACHED_TERMS)(self._weights.terms.find)
        return n_terms == len(arrays["idf"]) == self.record.n_terms and self._V.shape == (n_terms, self.dims)

    @classmethod
    def open(cls, snapshot: Snapshot, *, home: Path | None = None, verify: bool = False) -> SemanticSpace:
        """The space kept with the index of a snapshot, or in the folder `home`; `verify` checks all checksums.

        Raises IndexMissing if there is none, IndexOutdated if the index has been rebuilt with another analyser,
        IndexCorrupt if a file is damaged.
        """
        return cls.load(snapshot, home or snapshot.folder / FOLDER, verify=verify)

    def __repr__(self) -> str:
        return f"<SemanticSpace {self.snapshot.folder}: {self.dims} dimensions, made {self.made}>"

    @property
    def dims(self) -> int:
        """The number of dimensions; if the documents span fewer, the last ones are 0."""
        return self.record.dims

    @property
    def n_columns(self) -> int:
        """The length of a document's vector: `dims`."""
        return self.record.dims

    @property
    def seed(self) -> int:
        """The seed that the space was made with."""
        return self.record.seed

    @property
    def made(self) -> str:
        """When the space was made (ISO 8601, UTC)."""
        return self.record.made

    @property
    def n_docs(self) -> int:
        """The number of documents that the space was made from."""
        return self.record.n_docs

    @property
    def n_bytes(self) -> int:
        """The size on disk."""
        return self.record.n_bytes

    def vectors(self, shards: Array, docs: Array, dims: int | None = None) -> Array:
        """The vectors of documents, given by shard and number as `Hits` are: float32 rows of length 1, or 0.

        With `dims`, the vectors of the smaller space of the first `dims` dimensions.
        """
        return self.vectors_by_dims(shards, docs, [self._check_dims(dims)])[0]

    def vectors_by_dims(self, shards: Array, docs: Array, dims: Sequence[int]) -> list[Array]:
        """The vectors of the same documents in several smaller spaces, read once."""
        rows = self._vectors.rows(shards, docs)
        return [self._scale(rows[:, : self._check_dims(n)]) for n in dims]

    def query_vector(self, terms: Mapping[str, float], dims: int | None = None) -> Array:
        """The vector of a query, of length 1, from its terms with their counts or weights; 0 if none is known."""
        counts = {number: count for term, count in terms.items() if (number := self._find_term(term)) >= 0}
        numbers = np.fromiter(counts, np.int64, len(counts))
        weights = np.fromiter(counts.values(), np.float64, len(counts)) * self._weights.idf[numbers]
        projected = weights @ self._V[numbers][:, : self._check_dims(dims)]
        scaled: Array = self._scale(projected[None].astype(np.float32))[0]
        return scaled

    def word_entries(self, shards: Array, docs: Array) -> list[WordEntries]:
        """The rows of documents in the matrix that the space is made of, given by shard and number, for each shard."""
        entries = []
        for shard_index in np.unique(shards).tolist():
            here = np.flatnonzero(shards == shard_index)
            shard = self.snapshot.shards[shard_index]
            words, rows, weights = self._weights.entries(shard, docs[here], self._numbers_of(shard_index))
            # Of four bytes each, because they may be sent.
            entries.append(WordEntries(shard_index, words.astype(np.int32), here[rows].astype(np.int32), weights))
        return entries

    def word_vectors(self, shards: Array, docs: Array) -> WordVectors:
        """The vectors that `WordVectors.join` makes of these entries, made by compiled loops."""
        texts = []
        for shard_index in np.unique(shards).tolist():
            here = np.flatnonzero(shards == shard_index)
            texts.append((self.snapshot.shards[shard_index], docs[here], here, self._numbers_of(shard_index)))
        return self._weights.word_vectors(texts, len(docs))

    def _numbers_of(self, shard_index: int) -> Array:
        """The numbers of a shard's terms in the vocabulary."""
        if shard_index not in self._term_numbers:
            self._term_numbers[shard_index] = self._vocabulary.numbers(self.snapshot.shards[shard_index])
        return self._term_numbers[shard_index]

    def _check_dims(self, dims: int | None) -> int:
        if dims is None:
            return self.dims
        if not 1 <= dims <= self.dims:
            raise SettingError(f"{self.home}: dims is {dims}, expected 1 to {self.dims}")
        return dims

    def _scale(self, vectors: Array) -> Array:
        """Vectors scaled to length 1; zero vectors stay zero."""
        with np.errstate(over="ignore", invalid="ignore"):
            lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
        if not np.isfinite(lengths).all():
            raise IndexCorrupt(f"{self.home}: vectors are damaged; {self.record.remedy(self.home)}")
        scaled: Array = vectors / np.where(lengths > 0, lengths, 1)[:, None]
        return scaled

    def _compute_vectors(self, shard: Shard, docs: Array, numbers: Array) -> Array:
        """The vectors of documents of a shard, not yet scaled."""
        projected: Array = self._weights.rows(shard, docs, numbers) @ self._V.whole
        return projected


def build_space(
    name: str | Path,
    *,
    dims: int = DIMS,
    seed: int = SEED,
    cluster: Cluster | str | None = None,
    progress: Progress = no_progress,
    home: Path | None = None,
) -> SemanticSpace:
    """Make the semantic space of an index, replacing the one that it may have.

    With a `cluster`, or its address, its workers weigh, multiply and project the documents; the space is the same to
    the last bit. `progress` is called with a stage ("weighing", "decomposing", "projecting"), the steps done, and the
    steps in all. With `home`, the files are written to that folder instead of the index.
    """
    if not 1 <= dims <= MAX_DIMS:
        raise SettingError(f"dims is {dims}, expected 1 to {MAX_DIMS}")
    folder = existing_index(name)
    home = home or folder / FOLDER
    with writer_lock(home), remove_uncommitted(home, SpaceRecord), open_workspace(home, cluster) as workspace:
        snapshot = Snapshot(folder)
        weights = TermWeights.count(snapshot)
        A = weigh_documents(workspace, snapshot, weights, progress)
        V = decompose(A, dims, seed, progress)
        del A
        record = SpaceRecord(
            dims,
            seed,
            datetime.now(UTC).isoformat(timespec="seconds"),
            snapshot.manifest.settings.fingerprint,
            snapshot.n_docs,
            len(weights.terms),
            weights.mean_length,
            terms=f"terms-{secrets.token_hex(4)}",
        )
        blob, offsets = weights.terms.arrays
        arrays = {"terms": blob, "terms.offsets": offsets, "idf": weights.idf, "V": V, "digests": all_digests(snapshot)}
        return SemanticSpace.create(snapshot, home, record, arrays, workspace, progress, "projecting")


def update_space(
    name: str | Path,
    *,
    cluster: Cluster | str | None = None,
    progress: Progress = no_progress,
    home: Path | None = None,
) -> SemanticSpace:
    """Write the vectors of documents that were added or merged since; the space itself stays as it is."""
    folder = existing_index(name)
    return SemanticSpace.update(folder, home or folder / FOLDER, cluster, progress, "projecting")
