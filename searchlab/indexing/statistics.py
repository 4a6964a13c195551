"""What does an index hold, in numbers?

All numbers are those of the live documents; only sizes on disk count the dead.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from searchlab.errors import unknown_name
from searchlab.indexing.snapshot import Snapshot, live_doc_freqs, live_docs
from searchlab.indexing.storage.columns import STREAMS
from searchlab.indexing.storage.shard import Shard
from searchlab.types import Array


@dataclass(frozen=True)
class StreamStatistics:
    """Of one stream: the documents that have any text there, tokens, terms, and the mean length of all documents."""

    n_docs: int
    n_tokens: int
    n_terms: int
    mean_length: float
    longest: int


@dataclass(frozen=True)
class FrequentTerm:
    """A term, the documents that have it, and how often they do."""

    term: str
    doc_freq: int
    term_count: int


@dataclass(frozen=True)
class ShardStatistics:
    """Of one shard: its live and dead documents, its words, and its bytes on disk."""

    name: str
    n_live: int
    n_dead: int
    n_words: int
    n_bytes: int


@dataclass(frozen=True)
class IndexStatistics:
    """Of an index: its streams, fields (the documents that have each), shards and most frequent terms."""

    n_docs: int
    n_dead: int
    n_bytes: int
    streams: dict[str, StreamStatistics]
    fields: dict[str, int]
    shards: tuple[ShardStatistics, ...]
    frequent: tuple[FrequentTerm, ...]


def count_index(snapshot: Snapshot, *, top: int = 10, stream: str = "both") -> IndexStatistics:
    """The statistics of an index, with the `top` most frequent terms of a stream."""
    if stream not in STREAMS:
        raise unknown_name("stream", stream, STREAMS)
    terms = {name: _Terms.count(snapshot, name) for name in STREAMS}
    return IndexStatistics(
        snapshot.n_docs,
        sum(shard.n_dead for shard in snapshot.manifest.shards),
        snapshot.manifest.n_bytes,
        {name: _count_stream(snapshot, name, len(terms[name].doc_freqs)) for name in STREAMS},
        {name: sum(_count_having(shard, name) for shard in snapshot.shards) for name in snapshot.field_names},
        tuple(
            ShardStatistics(shard.name, shard.n_live, shard.n_dead, shard.n_words, shard.n_bytes)
            for shard in snapshot.manifest.shards
        ),
        terms[stream].most_frequent(top),
    )


@dataclass(frozen=True)
class _Terms:
    """How many documents have each term, and how often."""

    doc_freqs: Counter[str]
    term_counts: Counter[str]

    @classmethod
    def count(cls, snapshot: Snapshot, stream: str) -> _Terms:
        doc_freqs: Counter[str] = Counter()
        term_counts: Counter[str] = Counter()
        for shard in snapshot.shards:
            freqs, counts = _count_terms(shard, stream)
            used = np.flatnonzero(freqs)
            names = shard.columns.terms.take(used)
            doc_freqs.update(dict(zip(names, freqs[used].tolist(), strict=True)))
            term_counts.update(dict(zip(names, counts[used].tolist(), strict=True)))
        return cls(doc_freqs, term_counts)

    def most_frequent(self, top: int) -> tuple[FrequentTerm, ...]:
        ordered = sorted(self.term_counts, key=lambda term: (-self.term_counts[term], term))
        return tuple(FrequentTerm(term, self.doc_freqs[term], self.term_counts[term]) for term in ordered[:top])


def _count_terms(shard: Shard, stream: str) -> tuple[Array, Array]:
    """For each term of a shard, the live documents that have it, and how often they do."""
    column = shard.columns.streams[stream]
    if shard.alive is None:
        return live_doc_freqs(shard, stream), column.counts
    before = np.zeros(len(column.docs) + 1, np.int64)
    np.cumsum(np.where(shard.alive[column.docs], column.tfs, 0), out=before[1:])
    return live_doc_freqs(shard, stream), np.diff(before[column.offsets])


def _count_stream(snapshot: Snapshot, stream: str, n_terms: int) -> StreamStatistics:
    lengths = [shard.columns.streams[stream].lengths[live_docs(shard)] for shard in snapshot.shards]
    n_tokens = snapshot.n_tokens[stream]
    return StreamStatistics(
        sum(int(np.count_nonzero(own)) for own in lengths),
        n_tokens,
        n_terms,
        n_tokens / snapshot.n_docs if snapshot.n_docs else 0.0,
        max((int(own.max()) for own in lengths if len(own)), default=0),
    )


def _count_having(shard: Shard, field: str) -> int:
    docs = shard.columns.fields.having(field)
    return len(docs) if shard.alive is None else int(np.count_nonzero(shard.alive[docs]))
