"""Which documents speak of the same things, though in other words?

Those whose vectors point in the same direction in a latent semantic space (Deerwester et al. 1990): the `dims`
directions along which the documents of an index differ most, found by a truncated singular value decomposition

    A ≈ U Σ Vᵀ,   A[d, t] = BM25 weight of t in d (k1 1.2, b 0.75, title and body as one), each row scaled to length 1

A document's vector is its row times V, which is its row of U Σ; a query's is that of its terms, weighed by idf. Vectors
are scaled to length 1 when they are used, so that their products are cosines; a document without any known term has the
zero vector. The first 50 dimensions of 200 are those of a space of 50, scaled anew.

Deviations: terms that a single document has are left out, since they relate it to no other (on five collections
AP is the same with and without them, and they are half of the vocabulary).

The space is kept with the index (`semantic_files`). Documents that came later are folded in: their rows, weighed by the
idf and the mean length of the time when the space was made, are multiplied by the same V. That needs no
decomposition, but words and relations that only they have stay unknown, so a space grows stale.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from searchlab.errors import IndexCorrupt, IndexOutdated, SettingError
from searchlab.features.latent_semantics.space_files import FOLDER, SpaceRecord, read_record
from searchlab.features.latent_semantics.truncated_svd import decompose
from searchlab.indexing.document_vectors import DocumentVectors
from searchlab.indexing.index_names import existing_index
from searchlab.indexing.snapshot import Snapshot, live_docs
from searchlab.indexing.storage.artefacts import commit_artefact, open_artefact_file, remove_uncommitted
from searchlab.indexing.storage.lock import writer_lock
from searchlab.indexing.storage.shard import Shard
from searchlab.indexing.storage.string_table import Strings
from searchlab.indexing.vocabulary import Vocabulary, all_digests, blocks_of, staleness
from searchlab.scorers.bm25 import BM25
from searchlab.types import Array, Progress, no_progress

if TYPE_CHECKING:
    from scipy.sparse import csr_array  # type: ignore[import-untyped]

DIMS = 200
MOST_DIMS = 500
SEED = 1990
# A space is stale if more than this share of the documents came after it.
STALE = 0.2
# Terms of fewer documents are left out.
LEAST_DOC_FREQ = 2


class SemanticSpace:
    """The vectors of one snapshot's documents and terms."""

    def __init__(self, snapshot: Snapshot, home: Path, record: SpaceRecord, *, verify: bool = False) -> None:
        if record.fingerprint != snapshot.manifest.settings.fingerprint:
            raise IndexOutdated(f"{home}: was made with another analyser than the index has; {record.remedy(home)}")
        self.snapshot = snapshot
        self.home = home
        self.record = record
        try:
            arrays = open_artefact_file(home, record, record.terms, verify=verify)
            strings = Strings(arrays["terms"], arrays["terms.offsets"])
            self._weights = _Weights(Vocabulary(strings), arrays["idf"], record.mean_length)
            self._V, self._digests = arrays["V"], arrays["digests"]
            fits = len(strings) == len(arrays["idf"]) == record.n_terms and self._V.shape == (len(strings), record.dims)
        except KeyError:
            fits = False
        if not fits:
            raise IndexCorrupt(f"{home}: the files do not fit together; {record.remedy(home)}")
        self._vectors = DocumentVectors(
            snapshot, home, record, self._weights.vocabulary, self._project, record.dims, verify=verify
        )

    @classmethod
    def open(cls, snapshot: Snapshot, *, home: Path | None = None, verify: bool = False) -> SemanticSpace:
        """The space kept with the index of a snapshot, or in the folder `home`; `verify` reads all checksums.

        Raises IndexMissing if there is none, IndexOutdated if the index has been made anew with another analyser,
        IndexCorrupt if a file is damaged.
        """
        place = home or snapshot.folder / FOLDER
        record = read_record(place)
        while True:
            try:
                return cls(snapshot, place, record, verify=verify)
            except IndexCorrupt:  # or a newer space has just taken its place
                newer = read_record(place)
                if newer == record:
                    raise
                record = newer

    def __repr__(self) -> str:
        return f"<SemanticSpace {self.snapshot.folder}: {self.dims} dimensions, made {self.made}>"

    @property
    def dims(self) -> int:
        """The number of dimensions; where the documents have fewer, the last ones are 0."""
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
        """How many documents the space was made from."""
        return self.record.n_docs

    @property
    def n_bytes(self) -> int:
        """The size on disk."""
        return self.record.n_bytes

    @property
    def n_unwritten(self) -> int:
        """The live documents whose vectors are not on disk but made when asked for; `update_space` writes them."""
        return self._vectors.n_unwritten

    @cached_property
    def staleness(self) -> float:
        """The share of live documents that were not there, or not as they are now, when the space was made."""
        return staleness(self.snapshot, self._digests)

    @property
    def is_stale(self) -> bool:
        """Whether so many documents came later that the space should be made anew."""
        return self.staleness > STALE

    def vectors(self, shards: Array, docs: Array, dims: int | None = None) -> Array:
        """The vectors of documents, given by shard and number as `Hits` are: float32 rows of length 1, or 0.

        With `dims`, those of the smaller space of the first `dims` dimensions.
        """
        dims = self._check_dims(dims)
        return self._scale(self._vectors.rows(shards, docs)[:, :dims])

    def query_vector(self, terms: Mapping[str, float], dims: int | None = None) -> Array:
        """The vector of a query, of length 1, from its terms with their counts or weights; 0 if none is known."""
        places = {place: count for term, count in terms.items() if (place := self._weights.terms.find(term)) >= 0}
        own = np.fromiter(places, np.int64, len(places))
        weights = np.fromiter(places.values(), np.float64, len(places)) * self._weights.idf[own]
        projected = weights @ self._V[own, : self._check_dims(dims)]
        scaled: Array = self._scale(projected[None].astype(np.float32))[0]
        return scaled

    def _check_dims(self, dims: int | None) -> int:
        if dims is None:
            return self.dims
        if not 1 <= dims <= self.dims:
            raise SettingError(f"{self.home}: has {self.dims} dimensions, {dims} were asked for")
        return dims

    def _scale(self, vectors: Array) -> Array:
        """Vectors of length 1; zero vectors stay."""
        with np.errstate(over="ignore", invalid="ignore"):
            lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
        if not np.isfinite(lengths).all():
            raise IndexCorrupt(f"{self.home}: vectors are damaged; {self.record.remedy(self.home)}")
        scaled: Array = vectors / np.where(lengths > 0, lengths, 1)[:, None]
        return scaled

    def _project(self, shard: Shard, docs: Array, numbers: Array) -> Array:
        """The vectors of documents of a shard, before they are scaled."""
        projected: Array = self._weights.rows(shard, docs, numbers) @ self._V
        return projected

    def _write_vectors(self, progress: Progress) -> SpaceRecord:
        """Write the vectors of all shards that have none on disk; the record that names those, and no more."""
        return self._vectors.write("projecting", progress)


def build_space(
    name: str | Path, *, dims: int = DIMS, seed: int = SEED, progress: Progress = no_progress, home: Path | None = None
) -> SemanticSpace:
    """Make the semantic space of an index, in place of the one that it may have.

    `progress` is called with a stage ("weighing", "decomposing", "projecting"), how much is done, and of how much. The
    files go to `home`, a folder outside of the index, if it is given.
    """
    if not 1 <= dims <= MOST_DIMS:
        raise SettingError(f"dims is {dims}, expected 1 to {MOST_DIMS}")
    folder = existing_index(name)
    place = home or folder / FOLDER
    with writer_lock(place), remove_uncommitted(place, SpaceRecord):
        snapshot = Snapshot(folder)
        weights = _Weights.count(snapshot)
        A = _matrix(snapshot, weights, progress)
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
        record = record.with_file(place, record.terms, arrays)
        commit_artefact(place, SemanticSpace(snapshot, place, record)._write_vectors(progress))
    return SemanticSpace.open(snapshot, home=place)


def update_space(name: str | Path, *, progress: Progress = no_progress, home: Path | None = None) -> SemanticSpace:
    """Write the vectors of documents that came since, and of merged shards; the space itself stays as it is."""
    folder = existing_index(name)
    place = home or folder / FOLDER
    read_record(place)
    with writer_lock(place), remove_uncommitted(place, SpaceRecord):
        space = SemanticSpace.open(Snapshot(folder), home=place)
        record = space._write_vectors(progress)
        if record != space.record:
            commit_artefact(place, record)
    return SemanticSpace.open(space.snapshot, home=place)


@dataclass(frozen=True, eq=False)
class _Weights:
    """How the terms of documents are weighed: by their idf, and by the mean length of documents."""

    vocabulary: Vocabulary
    idf: Array
    mean_length: float

    @property
    def terms(self) -> Strings:
        """The terms that are known."""
        return self.vocabulary.terms

    @classmethod
    def count(cls, snapshot: Snapshot) -> _Weights:
        """The weights of the terms that several live documents have."""
        vocabulary, df = Vocabulary.of_index(snapshot, LEAST_DOC_FREQ)
        idf = np.log1p((snapshot.n_docs - df + 0.5) / (df + 0.5))
        mean_length = snapshot.n_tokens["both"] / max(snapshot.n_docs, 1) or 1.0
        return cls(vocabulary, idf.astype(np.float32), mean_length)

    def rows(self, shard: Shard, docs: Array, numbers: Array) -> csr_array:
        """The BM25 weights of documents of a shard, a row each, of length 1 unless no term is known."""
        rows = self.vocabulary.counts(shard, docs, numbers)
        norms = BM25().doc_norm(shard.columns.streams["both"].lengths[docs], np.zeros(0), self.mean_length)
        owners = np.repeat(np.arange(len(docs)), np.diff(rows.indptr))
        weights = self.idf[rows.indices] * rows.data / (rows.data + norms[owners])
        squares = np.bincount(owners, weights * weights, len(docs))
        rows.data = (weights / np.sqrt(squares)[owners]).astype(np.float32)
        return rows


def _matrix(snapshot: Snapshot, weights: _Weights, progress: Progress) -> csr_array:
    """The weights of all live documents."""
    from scipy.sparse import csr_array, vstack

    rows = [csr_array((0, len(weights.terms)), dtype=np.float32)]
    done = 0
    for shard in snapshot.shards:
        numbers = weights.vocabulary.numbers(shard)
        for docs in blocks_of(shard, live_docs(shard)):
            rows.append(weights.rows(shard, docs, numbers))
            progress("weighing", done := done + len(docs), snapshot.n_docs)
    return vstack(rows, format="csr")
