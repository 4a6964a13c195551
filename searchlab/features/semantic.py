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
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from searchlab.errors import REBUILD, IndexCorrupt, IndexOutdated, SettingError
from searchlab.features.decomposition import decompose
from searchlab.features.semantic_files import FOLDER, SpaceRecord, commit, open_file, read_record, remedy, swept
from searchlab.indexing.build import existing
from searchlab.indexing.doctor import Progress, silent
from searchlab.indexing.shard import Shard
from searchlab.indexing.snapshot import Snapshot, live_doc_freqs, live_docs
from searchlab.indexing.store import writing
from searchlab.indexing.strings import Array, Strings
from searchlab.retrieval.scorers import BM25

if TYPE_CHECKING:
    from scipy.sparse import csr_array  # type: ignore[import-untyped]

DIMS = 200
MOST_DIMS = 500
SEED = 1990
# A space is stale if more than this share of the documents came after it.
STALE = 0.2
# Terms of fewer documents are left out.
LEAST_DOC_FREQ = 2
# Words of documents that are weighed at once.
BLOCK = 2_000_000


class SemanticSpace:
    """The vectors of one snapshot's documents and terms."""

    def __init__(self, snapshot: Snapshot, home: Path, record: SpaceRecord, *, verify: bool = False) -> None:
        if record.fingerprint != snapshot.manifest.settings.fingerprint:
            raise IndexOutdated(f"{home}: was made with another analyser than the index has; {remedy(home)}")
        self.snapshot = snapshot
        self.home = home
        self.record = record
        try:
            arrays = open_file(home, record, record.terms, verify=verify)
            strings = Strings(arrays["terms"], arrays["terms.offsets"])
            self._weights = _Weights(strings, arrays["idf"], record.mean_length)
            self._V, self._digests = arrays["V"], arrays["digests"]
            fits = len(strings) == len(arrays["idf"]) == record.n_terms and self._V.shape == (len(strings), record.dims)
            self._vectors: dict[int, Array] = {}
            for place, shard in enumerate(snapshot.manifest.shards):
                if shard.name in record.vectors:
                    found = open_file(home, record, record.vectors[shard.name], verify=verify)["vectors"]
                    fits &= found.shape == (shard.n_docs, record.dims)
                    self._vectors[place] = found
        except KeyError:
            fits = False
        if not fits:
            raise IndexCorrupt(f"{home}: the files do not fit together; {remedy(home)}")
        # Where vectors are not on disk: those made so far, and of which documents they are.
        self._folded: dict[int, tuple[Array, Array, Array]] = {}

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
        return sum(size for size, _ in self.record.files.values())

    @property
    def n_unwritten(self) -> int:
        """The live documents whose vectors are not on disk but made when asked for; `update_space` writes them."""
        return sum(shard.n_live for shard in self.snapshot.manifest.shards if shard.name not in self.record.vectors)

    @cached_property
    def staleness(self) -> float:
        """The share of live documents that were not there, or not as they are now, when the space was made."""
        known = sum(int(np.count_nonzero(np.isin(_digests(shard), self._digests))) for shard in self.snapshot.shards)
        return 1 - known / self.snapshot.n_docs if self.snapshot.n_docs else 0.0

    @property
    def is_stale(self) -> bool:
        """Whether so many documents came later that the space should be made anew."""
        return self.staleness > STALE

    def vectors(self, shards: Array, docs: Array, dims: int | None = None) -> Array:
        """The vectors of documents, given by shard and number as `Hits` are: float32 rows of length 1, or 0.

        With `dims`, those of the smaller space of the first `dims` dimensions.
        """
        dims = self._check_dims(dims)
        found = np.empty((len(docs), dims), np.float32)
        for place in np.unique(shards).tolist():
            own = np.flatnonzero(shards == place)
            stored = self._vectors.get(place)
            found[own] = (self._fold(place, docs[own]) if stored is None else stored[docs[own]])[:, :dims]
        return self._scale(found)

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
            raise IndexCorrupt(f"{self.home}: vectors are damaged; {remedy(self.home)}")
        scaled: Array = vectors / np.where(lengths > 0, lengths, 1)[:, None]
        return scaled

    def _fold(self, place: int, docs: Array) -> Array:
        """The vectors of documents of a shard that has none on disk; they are remembered."""
        shard = self.snapshot.shards[place]
        if place not in self._folded:
            # Memory is taken only as vectors are written to it.
            vectors = np.zeros((shard.columns.n_docs, self.dims), np.float32)
            self._folded[place] = vectors, np.zeros(len(vectors), bool), self._weights.numbers(shard)
        vectors, known, numbers = self._folded[place]
        new = np.unique(docs[~known[docs]])
        vectors[new] = self._weights.rows(shard, new, numbers) @ self._V
        known[new] = True
        found: Array = vectors[docs]
        return found

    def _write_vectors(self, progress: Progress) -> SpaceRecord:
        """Write the vectors of all shards that have none on disk; the record that names those, and no more."""
        shards = {shard.record.name: shard for shard in self.snapshot.shards}
        vectors = {shard: name for shard, name in self.record.vectors.items() if shard in shards}
        files = {name: self.record.files[name] for name in (self.record.terms, *vectors.values())}
        record = replace(self.record, vectors=vectors, files=files)
        lacking = [shard for name, shard in shards.items() if name not in vectors]
        done, total = 0, sum(shard.columns.n_docs for shard in lacking)
        for shard in lacking:
            numbers = self._weights.numbers(shard)
            made = np.empty((shard.columns.n_docs, self.dims), np.float32)
            for docs in _blocks(shard, np.arange(len(made))):
                made[docs] = self._weights.rows(shard, docs, numbers) @ self._V
                progress("projecting", done := done + len(docs), total)
            name = f"vectors{record.terms.removeprefix('terms')}-{shard.record.name}"
            record = record.with_file(self.home, name, {"vectors": made}, shard.record.name)
        return record


def build_space(
    name: str | Path, *, dims: int = DIMS, seed: int = SEED, progress: Progress = silent, home: Path | None = None
) -> SemanticSpace:
    """Make the semantic space of an index, in place of the one that it may have.

    `progress` is called with a stage ("weighing", "decomposing", "projecting"), how much is done, and of how much. The
    files go to `home`, a folder outside of the index, if it is given.
    """
    if not 1 <= dims <= MOST_DIMS:
        raise SettingError(f"dims is {dims}, expected 1 to {MOST_DIMS}")
    folder = existing(name)
    place = home or folder / FOLDER
    with writing(place), swept(place):
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
            f"terms-{secrets.token_hex(4)}",
        )
        blob, offsets = weights.terms.arrays
        digests = np.sort(np.concatenate([np.zeros(0, np.uint64), *map(_digests, snapshot.shards)]))
        arrays = {"terms": blob, "terms.offsets": offsets, "idf": weights.idf, "V": V, "digests": digests}
        record = record.with_file(place, record.terms, arrays)
        commit(place, SemanticSpace(snapshot, place, record)._write_vectors(progress))
    return SemanticSpace.open(snapshot, home=place)


def update_space(name: str | Path, *, progress: Progress = silent, home: Path | None = None) -> SemanticSpace:
    """Write the vectors of documents that came since, and of merged shards; the space itself stays as it is."""
    folder = existing(name)
    place = home or folder / FOLDER
    read_record(place)
    with writing(place), swept(place):
        space = SemanticSpace.open(Snapshot(folder), home=place)
        record = space._write_vectors(progress)
        if record != space.record:
            commit(place, record)
    return SemanticSpace.open(space.snapshot, home=place)


@dataclass(frozen=True, eq=False)
class _Weights:
    """How the terms of documents are weighed: by their idf, and by the mean length of documents."""

    terms: Strings
    idf: Array
    mean_length: float

    @classmethod
    def count(cls, snapshot: Snapshot) -> _Weights:
        """The weights of the terms that several live documents have."""
        texts = [shard.columns.terms.take(np.arange(len(shard.columns.terms))) for shard in snapshot.shards]
        names = sorted(set().union(*texts))
        numbers = dict(zip(names, range(len(names)), strict=True))
        doc_freqs = np.zeros(len(names), np.int64)
        for shard, own in zip(snapshot.shards, texts, strict=True):
            doc_freqs[[numbers[text] for text in own]] += live_doc_freqs(shard)
        kept = np.flatnonzero(doc_freqs >= LEAST_DOC_FREQ)
        df = doc_freqs[kept]
        idf = np.log1p((snapshot.n_docs - df + 0.5) / (df + 0.5))
        mean_length = snapshot.n_tokens["both"] / max(snapshot.n_docs, 1) or 1.0
        packed = Strings.pack("terms", [names[i] for i in kept.tolist()])
        return cls(Strings(*packed.values()), idf.astype(np.float32), mean_length)

    @cached_property
    def _places(self) -> dict[str, int]:
        return {term: place for place, term in enumerate(self.terms.take(np.arange(len(self.terms))))}

    def numbers(self, shard: Shard) -> Array:
        """For each term of a shard its number here, -1 if it has none."""
        terms = shard.columns.terms
        try:
            return np.array([self._places.get(term, -1) for term in terms.take(np.arange(len(terms)))], np.int32)
        except (IndexError, ValueError):
            raise IndexCorrupt(f"{shard.folder}: its terms, or those of the semantic space, are damaged") from None

    def rows(self, shard: Shard, docs: Array, numbers: Array) -> csr_array:
        """The BM25 weights of documents of a shard, a row each, of length 1 unless no term is known."""
        from scipy.sparse import csr_array

        columns = shard.columns
        starts = columns.token_offsets[docs]
        lengths = columns.token_offsets[docs + 1] - starts
        bounds = np.concatenate([[0], np.cumsum(lengths)])
        try:
            tokens = columns.tokens[np.repeat(starts - bounds[:-1], lengths) + np.arange(bounds[-1])]
            terms = numbers[tokens]
        except IndexError:
            raise IndexCorrupt(f"{shard.folder}: tokens are damaged; {REBUILD}") from None
        known = terms >= 0
        bounds = np.concatenate([[0], np.cumsum(known)])[bounds].astype(np.int32)
        ones = np.ones(bounds[-1], np.float32)
        rows = csr_array((ones, terms[known], bounds), shape=(len(docs), len(self.terms)))
        rows.sum_duplicates()
        norms = BM25().doc_norm(columns.streams["both"].lengths[docs], np.zeros(0), self.mean_length)
        owners = np.repeat(np.arange(len(docs)), np.diff(rows.indptr))
        weights = self.idf[rows.indices] * rows.data / (rows.data + norms[owners])
        squares = np.bincount(owners, weights * weights, len(docs))
        rows.data = (weights / np.sqrt(squares)[owners]).astype(np.float32)
        return rows


def _digests(shard: Shard) -> Array:
    """Eight bytes that tell the live documents of a shard from all others, and from what they were before."""
    digests: Array = np.ascontiguousarray(shard.columns.digests[live_docs(shard), :8]).view(np.uint64)[:, 0]
    return digests


def _blocks(shard: Shard, docs: Array) -> list[Array]:
    """Documents of a shard, cut so that each part has about BLOCK words."""
    offsets = shard.columns.token_offsets
    so_far = np.cumsum(offsets[docs + 1] - offsets[docs])
    return np.split(docs, np.flatnonzero(np.diff(so_far // BLOCK)) + 1)


def _matrix(snapshot: Snapshot, weights: _Weights, progress: Progress) -> csr_array:
    """The weights of all live documents."""
    from scipy.sparse import csr_array, vstack

    rows = [csr_array((0, len(weights.terms)), dtype=np.float32)]
    done = 0
    for shard in snapshot.shards:
        numbers = weights.numbers(shard)
        for docs in _blocks(shard, live_docs(shard)):
            rows.append(weights.rows(shard, docs, numbers))
            progress("weighing", done := done + len(docs), snapshot.n_docs)
    return vstack(rows, format="csr")
