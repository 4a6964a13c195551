"""Which terms does a model of all documents know, and how often has a document each of them?

Shards number their terms each for itself. A vocabulary numbers terms for the whole index, for good: what is learnt of
a term stays with its number while shards come and go.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from searchlab.errors import REBUILD, IndexCorrupt
from searchlab.indexing.snapshot import Snapshot, live_doc_freqs, live_docs
from searchlab.indexing.storage.shard import Shard
from searchlab.indexing.storage.string_table import Strings
from searchlab.types import Array

if TYPE_CHECKING:
    from scipy.sparse import csr_array  # type: ignore[import-untyped]

# Words of documents that are counted at once.
BLOCK = 2_000_000


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """Terms in byte order."""

    terms: Strings

    def __len__(self) -> int:
        return len(self.terms)

    @classmethod
    def of_index(cls, snapshot: Snapshot, least_doc_freq: int = 1) -> tuple[Vocabulary, Array]:
        """The terms that so many live documents have at least, and how many documents have each."""
        texts = [shard.columns.terms.take(np.arange(len(shard.columns.terms))) for shard in snapshot.shards]
        names = sorted(set().union(*texts))
        numbers = dict(zip(names, range(len(names)), strict=True))
        doc_freqs = np.zeros(len(names), np.int64)
        for shard, own in zip(snapshot.shards, texts, strict=True):
            doc_freqs[[numbers[text] for text in own]] += live_doc_freqs(shard)
        kept = np.flatnonzero(doc_freqs >= least_doc_freq)
        packed = Strings.pack("terms", [names[i] for i in kept.tolist()])
        return cls(Strings(*packed.values())), doc_freqs[kept]

    @cached_property
    def _places(self) -> dict[str, int]:
        return {term: place for place, term in enumerate(self.terms.take(np.arange(len(self.terms))))}

    def numbers(self, shard: Shard) -> Array:
        """For each term of a shard its number here, -1 if it has none."""
        terms = shard.columns.terms
        try:
            return np.array([self._places.get(term, -1) for term in terms.take(np.arange(len(terms)))], np.int32)
        except (IndexError, ValueError):
            raise IndexCorrupt(f"{shard.folder}: its terms, or those of the vocabulary, are damaged") from None

    def tokens(self, shard: Shard, docs: Array, numbers: Array) -> tuple[Array, Array]:
        """The known terms of documents of a shard, one after the other in their order, and where each document begins.

        `numbers` are those of `numbers(shard)`.
        """
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
        return terms[known], np.concatenate([[0], np.cumsum(known)])[bounds].astype(np.int32)

    def counts(self, shard: Shard, docs: Array, numbers: Array) -> csr_array:
        """How often documents of a shard have each term: a row a document, a column a term."""
        from scipy.sparse import csr_array

        terms, bounds = self.tokens(shard, docs, numbers)
        rows = csr_array((np.ones(len(terms), np.float32), terms, bounds), shape=(len(docs), len(self)))
        rows.sum_duplicates()
        return rows


def digests_of(shard: Shard, docs: Array | None = None) -> Array:
    """Eight bytes that tell documents of a shard, or all live ones, from all others, and from what they were before."""
    asked = live_docs(shard) if docs is None else docs
    digests: Array = np.ascontiguousarray(shard.columns.digests[asked, :8]).view(np.uint64)[:, 0]
    return digests


def all_digests(snapshot: Snapshot) -> Array:
    """Those of all live documents, in ascending order."""
    return np.sort(np.concatenate([np.zeros(0, np.uint64), *map(digests_of, snapshot.shards)]))


def staleness(snapshot: Snapshot, digests: Array) -> float:
    """The share of live documents that are not, or not as they are now, among those with these digests."""
    known = sum(int(np.count_nonzero(np.isin(digests_of(shard), digests))) for shard in snapshot.shards)
    return 1 - known / snapshot.n_docs if snapshot.n_docs else 0.0


def blocks_of(shard: Shard, docs: Array) -> list[Array]:
    """Documents of a shard, cut so that each part has about BLOCK words."""
    offsets = shard.columns.token_offsets
    so_far = np.cumsum(offsets[docs + 1] - offsets[docs])
    return np.split(docs, np.flatnonzero(np.diff(so_far // BLOCK)) + 1)
