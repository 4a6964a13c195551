"""Vocabulary: terms numbered for the whole index, and the term counts of its documents.

Shards number their terms independently. A vocabulary numbers the terms of an index once, so that what is learnt about a
term stays with its number while shards are added and merged.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from searchlab.array_ranges import concatenate_ranges
from searchlab.errors import REBUILD, IndexCorrupt
from searchlab.indexing.snapshot import Snapshot
from searchlab.indexing.storage.arrays.string_table import Strings
from searchlab.indexing.storage.shard import Shard
from searchlab.types import Array

if TYPE_CHECKING:
    from scipy.sparse import csr_array  # type: ignore[import-untyped]

# The number of words that are counted at once.
BLOCK_WORDS = 2_000_000


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """Terms in byte order."""

    terms: Strings

    def __len__(self) -> int:
        return len(self.terms)

    @classmethod
    def of_index(cls, snapshot: Snapshot, min_doc_freq: int = 1) -> tuple[Vocabulary, Array]:
        """The terms that at least `min_doc_freq` live documents have, and their document frequencies."""
        texts = [shard.columns.terms.take(np.arange(len(shard.columns.terms))) for shard in snapshot.shards]
        names = sorted(set().union(*texts))
        numbers = dict(zip(names, range(len(names)), strict=True))
        doc_freqs = np.zeros(len(names), np.int64)
        for shard, terms in zip(snapshot.shards, texts, strict=True):
            doc_freqs[[numbers[term] for term in terms]] += shard.live_doc_freqs()
        kept = np.flatnonzero(doc_freqs >= min_doc_freq)
        return cls(Strings.of(names[i] for i in kept.tolist())), doc_freqs[kept]

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {term: number for number, term in enumerate(self.terms.take(np.arange(len(self.terms))))}

    def numbers(self, shard: Shard) -> Array:
        """For each term of a shard its number in the vocabulary, -1 if it is not in it."""
        terms = shard.columns.terms
        try:
            return np.array([self._numbers.get(term, -1) for term in terms.take(np.arange(len(terms)))], np.int32)
        except (IndexError, ValueError):
            raise IndexCorrupt(f"{shard.folder}: its terms, or those of the vocabulary, are damaged") from None

    def tokens(self, shard: Shard, docs: Array, numbers: Array) -> tuple[Array, Array]:
        """The terms of documents of a shard that are in the vocabulary, concatenated, and where each document begins.

        `numbers` are those of `numbers(shard)`.
        """
        columns = shard.columns
        starts, ends = columns.token_offsets[docs], columns.token_offsets[docs + 1]
        try:
            tokens = columns.tokens[concatenate_ranges(starts, ends, len(columns.tokens))]
            terms = numbers[tokens]
        except IndexError:
            raise IndexCorrupt(f"{shard.folder}: tokens are damaged; {REBUILD}") from None
        bounds = np.concatenate([[0], np.cumsum(ends - starts)])
        known = terms >= 0
        return terms[known], np.concatenate([[0], np.cumsum(known)])[bounds].astype(np.int32)

    def counts(self, shard: Shard, docs: Array, numbers: Array) -> csr_array:
        """The term frequencies of documents of a shard: a row a document, a column a term."""
        from scipy.sparse import csr_array

        terms, bounds = self.tokens(shard, docs, numbers)
        rows = csr_array((np.ones(len(terms), np.float32), terms, bounds), shape=(len(docs), len(self)))
        rows.sum_duplicates()
        return rows


def digests_of(shard: Shard, docs: Array | None = None) -> Array:
    """The first eight bytes of the digests of documents of a shard (all live ones by default)."""
    docs = shard.live_docs if docs is None else docs
    digests: Array = np.ascontiguousarray(shard.columns.digests[docs, :8]).view(np.uint64)[:, 0]
    return digests


def all_digests(snapshot: Snapshot) -> Array:
    """The digests (see `digests_of`) of all live documents, ascending."""
    return np.sort(np.concatenate([np.zeros(0, np.uint64), *map(digests_of, snapshot.shards)]))


def staleness(snapshot: Snapshot, digests: Array) -> float:
    """The share of live documents whose digest is not among these: they were added or changed since."""
    known = sum(int(np.count_nonzero(np.isin(digests_of(shard), digests))) for shard in snapshot.shards)
    return 1 - known / snapshot.n_docs if snapshot.n_docs else 0.0


def blocks_of(shard: Shard, docs: Array) -> list[Array]:
    """Documents of a shard in blocks of about BLOCK_WORDS words."""
    offsets = shard.columns.token_offsets
    n_words = np.cumsum(offsets[docs + 1] - offsets[docs])
    return np.split(docs, np.flatnonzero(np.diff(n_words // BLOCK_WORDS)) + 1)
