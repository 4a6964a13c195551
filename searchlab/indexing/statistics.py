"""Statistics of an index: documents, tokens, terms, fields and shards.

All numbers are those of the live documents; only sizes on disk include deleted ones.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from searchlab.indexing.snapshot import Snapshot
from searchlab.indexing.storage.shard import Shard
from searchlab.types import Array


@dataclass(frozen=True)
class StreamStatistics:
    """Statistics of a stream; `n_docs` documents have text in it, `mean_length` is over all documents of the index."""

    n_docs: int
    n_tokens: int
    n_terms: int
    mean_length: float
    longest: int


@dataclass(frozen=True)
class FrequentTerm:
    """A term, the number of documents that have it, and its occurrences in them."""

    term: str
    doc_freq: int
    term_count: int


@dataclass(frozen=True)
class ShardStatistics:
    """The numbers of live documents, deleted documents and words of a shard, and its size on disk."""

    name: str
    n_live: int
    n_deleted: int
    n_words: int
    n_bytes: int


@dataclass(frozen=True)
class IndexStatistics:
    """Statistics of an index; `fields` has the number of documents with each field."""

    n_docs: int
    n_deleted: int
    n_bytes: int
    streams: dict[str, StreamStatistics]
    fields: dict[str, int]
    shards: tuple[ShardStatistics, ...]
    frequent: tuple[FrequentTerm, ...]


def index_statistics(snapshot: Snapshot, *, top: int = 10, stream: str = "both") -> IndexStatistics:
    """The statistics of an index, with the `top` most frequent terms of a stream."""
    snapshot.require_stream(stream)
    with snapshot.report_damage():
        terms = {name: _Terms.count(snapshot, name) for name in snapshot.streams}
        return IndexStatistics(
            snapshot.n_docs,
            sum(shard.n_deleted for shard in snapshot.manifest.shards),
            snapshot.manifest.n_bytes,
            {name: _count_stream(snapshot, name, len(terms[name].doc_freqs)) for name in snapshot.streams},
            {name: sum(_count_having(shard, name) for shard in snapshot.shards) for name in snapshot.field_names},
            tuple(
                ShardStatistics(shard.name, shard.n_live, shard.n_deleted, shard.n_words, shard.n_bytes)
                for shard in snapshot.manifest.shards
            ),
            terms[stream].most_frequent(top),
        )


@dataclass(frozen=True)
class _Terms:
    """The document frequency and the number of occurrences of each term."""

    doc_freqs: Counter[str]
    term_counts: Counter[str]

    @classmethod
    def count(cls, snapshot: Snapshot, stream: str) -> _Terms:
        doc_freqs: Counter[str] = Counter()
        term_counts: Counter[str] = Counter()
        for shard in snapshot.shards:
            freqs, counts = _count_terms(shard, stream)
            used = np.flatnonzero(freqs)
            names = shard.columns.terms_of(stream).take(used)
            doc_freqs.update(dict(zip(names, freqs[used].tolist(), strict=True)))
            term_counts.update(dict(zip(names, counts[used].tolist(), strict=True)))
        return cls(doc_freqs, term_counts)

    def most_frequent(self, top: int) -> tuple[FrequentTerm, ...]:
        ordered = sorted(self.term_counts, key=lambda term: (-self.term_counts[term], term))
        return tuple(FrequentTerm(term, self.doc_freqs[term], self.term_counts[term]) for term in ordered[:top])


def _count_terms(shard: Shard, stream: str) -> tuple[Array, Array]:
    """For each term of a shard, the number of live documents that have it, and its occurrences in them."""
    column = shard.columns.streams[stream]
    if shard.live is None:
        return shard.live_doc_freqs(stream), column.counts.whole
    before = np.zeros(len(column.docs) + 1, np.int64)
    np.cumsum(np.where(shard.live[column.docs.whole], column.tfs.whole, 0), out=before[1:])
    return shard.live_doc_freqs(stream), np.diff(before[column.offsets.whole])


def _count_stream(snapshot: Snapshot, stream: str, n_terms: int) -> StreamStatistics:
    lengths = [shard.columns.streams[stream].lengths[shard.live_docs] for shard in snapshot.shards]
    n_tokens = snapshot.n_tokens[stream]
    return StreamStatistics(
        sum(int(np.count_nonzero(of_shard)) for of_shard in lengths),
        n_tokens,
        n_terms,
        n_tokens / snapshot.n_docs if snapshot.n_docs else 0.0,
        max((int(of_shard.max()) for of_shard in lengths if len(of_shard)), default=0),
    )


def _count_having(shard: Shard, field: str) -> int:
    docs = shard.columns.fields.having(field)
    return len(docs) if shard.live is None else int(np.count_nonzero(shard.live[docs]))
