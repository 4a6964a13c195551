"""Index reader: postings and statistics of terms over one snapshot, and the scorers bound to it.

A term is looked up in a stream (title, body, both, ngrams) or in a field, by its name. A wildcard or fuzzy word is one
term with several variants, which counts as one word: its frequency in a document is the sum of theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from functools import cached_property, lru_cache
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from searchlab.errors import REBUILD, IndexCorrupt
from searchlab.indexing.phrases import count_phrase
from searchlab.indexing.snapshot import Snapshot
from searchlab.indexing.storage.shard import TermCounts
from searchlab.indexing.storage.streams import Stream, make_stream
from searchlab.records import PHRASE_SEPARATOR
from searchlab.scorers.execution.collection_statistics import MAX_CACHED_TERMS, CollectionStatistics, Variants
from searchlab.scorers.execution.posting_cache import PostingCache
from searchlab.types import Array

MAX_BOUND_SCORERS = 12
# Merged postings of wildcards and fuzzy words.
MAX_CACHED_PATTERNS = 16

T = TypeVar("T")
B_co = TypeVar("B_co", covariant=True)


class Bindable(Hashable, Protocol[B_co]):
    """A scorer, by what it is bound to."""

    def bind(self, reader: IndexReader, stream: str) -> B_co:
        """The scorer over an index; see `Scorer.bind`."""


class TermLocation(NamedTuple):
    """A term in one shard: its number and its range of postings."""

    number: int
    start: int
    end: int


class IndexReader:
    """Postings and statistics of terms over one snapshot, cached, and the scorers bound to it.

    `statistics` are those of the whole collection, of which the snapshot may be a part; by default those of the
    snapshot itself.
    """

    def __init__(self, snapshot: Snapshot, statistics: CollectionStatistics | None = None) -> None:
        self.snapshot = snapshot
        self.n_shards = len(snapshot.shards)
        self.statistics = CollectionStatistics(self) if statistics is None else statistics
        self.term_stats = self.statistics.term_stats
        self.locate_term = lru_cache(MAX_CACHED_TERMS)(self._locate_term)
        self._check_postings = lru_cache(MAX_CACHED_TERMS)(self._check_kept_postings)
        self._merged = lru_cache(MAX_CACHED_PATTERNS)(self._merge_postings)
        self._bound = lru_cache(MAX_BOUND_SCORERS)(self._bind)
        self._shared: dict[Any, Any] = {}
        # Documents are numbered through all shards; where the numbers of each begin, and their end.
        self.shard_starts = np.cumsum([0, *(shard.columns.n_docs for shard in snapshot.shards)])
        self.posting_cache = lru_cache(MAX_BOUND_SCORERS)(self._make_posting_cache)

    def bind(self, scorer: Bindable[T], stream: str) -> T:
        """A scorer bound to this index and a stream; the most recently used ones are kept."""
        bound: T = self._bound(scorer, stream)
        return bound

    def _bind(self, scorer: Bindable[Any], stream: str) -> Any:
        return scorer.bind(self, stream)

    def shared(self, make: Callable[[IndexReader], T]) -> T:
        """What several bound scorers share, made by `make(reader)` when it is first needed and kept."""
        if make not in self._shared:
            self._shared.setdefault(make, make(self))
        found: T = self._shared[make]
        return found

    def column(self, shard_index: int, stream: str) -> Stream:
        """The postings and lengths of a stream or field in one shard; empty ones where the shard lacks the field."""
        columns = self.snapshot.shards[shard_index].columns
        if stream in columns.streams:
            return columns.streams[stream]
        text = columns.text(stream)
        if text is None:
            none = np.zeros(0, np.uint32)
            return make_stream(np.zeros(1, np.int64), none, none, np.zeros(columns.n_docs, np.int32))
        return text.stream

    def documents_of(self, shard_index: int) -> tuple[int, int]:
        """The number of a shard's first document among those of all shards, and the number of its documents."""
        start, end = self.shard_starts[shard_index : shard_index + 2].tolist()
        return start, end - start

    @cached_property
    def live(self) -> Array | None:
        """Whether each document of all shards is live; None if all are."""
        shards = self.snapshot.shards
        if all(shard.live is None for shard in shards):
            return None
        return np.concatenate(
            [np.ones(shard.columns.n_docs, bool) if shard.live is None else shard.live for shard in shards]
        )

    def join_biases(self, biases: Iterable[Array | None]) -> Array | None:
        """The biases of the documents of each shard as one array, None if all are 0; so is None for a shard."""
        by_shard = list(biases)
        if all(of_shard is None for of_shard in by_shard):
            return None
        sizes = np.diff(self.shard_starts).tolist()
        return np.concatenate(
            [np.zeros(size) if of_shard is None else of_shard for of_shard, size in zip(by_shard, sizes, strict=True)]
        )

    def join_postings(self, postings: Iterable[tuple[Array, Array]]) -> tuple[Array, Array]:
        """The postings of a term in each shard as one list of live documents, numbered through all shards."""
        by_shard = list(postings)
        docs = np.concatenate(
            [start + docs for start, (docs, _) in zip(self.shard_starts.tolist(), by_shard, strict=False)]
        )
        tfs = np.concatenate([tfs for _, tfs in by_shard])
        if self.live is None:
            return docs, tfs
        alive = self.live[docs]
        return docs[alive], tfs[alive]

    def _make_posting_cache(self, stream: str) -> PostingCache:
        """The postings of a stream's terms, given by their variants."""
        columns = [self.column(shard_index, stream) for shard_index in range(self.n_shards)]

        def read(variants: Variants) -> tuple[Array, Array]:
            return self.join_postings(self._read_once(shard, stream, variants) for shard in range(self.n_shards))

        dtype = np.result_type(*(column.tfs.dtype for column in columns))
        return PostingCache(read, self.count_postings(stream), int(self.shard_starts[-1]), dtype)

    def count_postings(self, stream: str) -> int:
        """The number of postings of a stream in all shards, with those of deleted documents."""
        return sum(len(self.column(shard_index, stream).docs) for shard_index in range(self.n_shards))

    def mean_length(self, stream: str) -> float:
        """The mean length of live documents; 1 for a stream without any text, whose documents match nothing."""
        return self.statistics.n_tokens(stream) / max(self.snapshot.n_docs, 1) or 1.0

    def count_occurrences(self, stream: str, variants: Variants) -> TermCounts:
        """The counts of a term in the live documents of these shards, by its postings."""
        doc_freq = term_count = max_tf = 0
        for shard_index, shard in enumerate(self.snapshot.shards):
            docs, tfs = self.occurrences(shard_index, stream, variants)
            if shard.live is not None:
                tfs = tfs[shard.live[docs]]
            doc_freq += len(tfs)
            term_count += int(tfs.sum(dtype=np.int64))
            max_tf = max(max_tf, int(tfs.max(initial=0)))
        return TermCounts(doc_freq, term_count, max_tf)

    def _locate_term(self, stream: str, term: str) -> tuple[TermLocation, ...]:
        """Where a term is found in each shard."""
        locations = []
        for shard_index, number in enumerate(self._term_numbers(stream, term)):
            if number < 0:
                locations.append(TermLocation(-1, 0, 0))
                continue
            column = self.column(shard_index, stream)
            location = TermLocation(number, int(column.offsets[number]), int(column.offsets[number + 1]))
            if not 0 <= location.start <= location.end <= len(column.docs):
                raise self._damaged(stream)
            locations.append(location)
        return tuple(locations)

    def _term_numbers(self, stream: str, term: str) -> tuple[int, ...]:
        """The number of a term in each shard's column, -1 where it does not occur."""
        if stream in self.snapshot.streams:
            return self.snapshot.term_numbers(stream, term)
        texts = [shard.columns.text(stream) for shard in self.snapshot.shards]
        return tuple(-1 if text is None else text.find(term) for text in texts)

    def occurrences(self, shard_index: int, stream: str, variants: Variants) -> tuple[Array, Array]:
        """The documents of a shard that have a term, ascending, and its frequency in each."""
        if len(variants) > 1:
            return self._merged(shard_index, stream, variants)
        location, column = self.locate_term(stream, variants[0])[shard_index], self.column(shard_index, stream)
        self._check_postings(shard_index, stream, location)
        return column.docs[location.start : location.end], column.tfs[location.start : location.end]

    def _read_once(self, shard_index: int, stream: str, variants: Variants) -> tuple[Array, Array]:
        """The same, for a reader that keeps a copy: what is read is not unpacked for others."""
        if len(variants) > 1:
            return self._merged(shard_index, stream, variants)
        location, column = self.locate_term(stream, variants[0])[shard_index], self.column(shard_index, stream)
        docs, tfs = column.docs.read_with(column.tfs, location.start, location.end)
        if not _are_sound(docs, column):
            raise self._damaged(stream)
        return docs, tfs

    def _check_kept_postings(self, shard_index: int, stream: str, location: TermLocation) -> None:
        """Raise IndexCorrupt unless a term's postings are sound: checked once, for compiled loops do not."""
        column = self.column(shard_index, stream)
        if not _are_sound(column.docs[location.start : location.end], column):
            raise self._damaged(stream)

    def _merge_postings(self, shard_index: int, stream: str, variants: Variants) -> tuple[Array, Array]:
        """The documents that have any of the variants, and the sum of their frequencies."""
        column = self.column(shard_index, stream)
        phrases = [variant.split(PHRASE_SEPARATOR) for variant in variants if PHRASE_SEPARATOR in variant]
        words = [variant for variant in variants if PHRASE_SEPARATOR not in variant]
        numbers = [self._term_numbers(stream, word)[shard_index] for word in words]
        slices = [slice(column.offsets[number], column.offsets[number + 1]) for number in numbers if number >= 0]
        of_phrases = [self._count_phrase(shard_index, stream, terms) for terms in phrases]
        docs = np.concatenate(
            [column.docs[:0], *(column.docs[part] for part in slices), *(docs for docs, _ in of_phrases)]
        )
        tfs = np.concatenate([column.tfs[:0], *(column.tfs[part] for part in slices), *(tfs for _, tfs in of_phrases)])
        n_docs = len(column.lengths)
        if len(docs) and docs.max() >= n_docs:
            raise self._damaged(stream)
        sums = np.bincount(docs, tfs, n_docs)
        matching = np.flatnonzero(sums)
        return matching.astype(column.docs.dtype), sums[matching]

    def _count_phrase(self, shard_index: int, stream: str, terms: list[str]) -> tuple[Array, Array]:
        """The documents of a shard that have terms one behind the other, and how often."""
        text = self.snapshot.shards[shard_index].columns.text(stream)
        numbers = [self._term_numbers(stream, term)[shard_index] for term in terms]
        if text is None or min(numbers) < 0:
            return np.zeros(0, np.uint32), np.zeros(0, np.uint32)
        docs, counts = count_phrase(text, numbers)
        return docs.astype(np.uint32), counts.astype(np.uint32)

    def _damaged(self, stream: str) -> IndexCorrupt:
        return IndexCorrupt(f"{self.snapshot.folder}: the postings of {stream} are damaged; {REBUILD}")


def _are_sound(docs: Array, column: Stream) -> bool:
    """Whether a term's documents are ascending, and in the shard: compiled loops do not check array bounds."""
    return not len(docs) or bool(docs[-1] < len(column.lengths) and (docs[1:] > docs[:-1]).all())
