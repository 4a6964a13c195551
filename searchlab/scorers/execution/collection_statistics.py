"""Statistics of a whole collection, which scores depend on, whichever of its shards are searched.

They are counted over all shards when they are first asked for, and remembered. A process that searches some of the
shards takes them from another one, which has counted them (`learn`); a number that it was not given, it counts itself.
So a score never depends on who counts, nor on how the shards are divided.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from searchlab.indexing.storage.shard import TermCounts
from searchlab.records import TermStats

if TYPE_CHECKING:
    from searchlab.scorers.execution.index_reader import IndexReader
    from searchlab.scorers.execution.posting_scoring import BoundPostingScorer

# Terms that were searched: ten thousand requests with feedback have about as many different ones.
MAX_CACHED_TERMS = 1 << 14
MAX_CACHED_NORMS = 256
MAX_CACHED_NUMBERS = 1 << 16

# The terms that count as one word.
Variants = tuple[str, ...]


class NormRange(NamedTuple):
    """The smallest and the largest norm of a live document, by one scorer in one stream."""

    low: float
    high: float


class CollectionNumber(ABC):
    """A number of the whole collection that is measured shard by shard; equal ones are measured once.

    Subclasses are frozen dataclasses: equal if they measure the same.
    """

    def needs(self, reader: IndexReader) -> QueryStatistics:
        """What has to be known of the whole collection before this can be measured in some of its shards."""
        return NO_STATISTICS

    @abstractmethod
    def measure(self, reader: IndexReader) -> float:
        """The number for the live documents of the reader's shards."""

    @abstractmethod
    def merge(self, parts: Sequence[float]) -> float:
        """The number for all shards, from those of groups of them."""


class QueryStatistics(NamedTuple):
    """What the scores of a query need of the whole collection.

    `terms` has the counts of each term, by stream and variants; `n_tokens` those of each stream; `norms` the range of
    norms by scorer and stream; `numbers` whatever else was measured.
    """

    terms: Mapping[tuple[str, Variants], TermCounts]
    n_tokens: Mapping[str, int]
    norms: Mapping[tuple[Hashable, str], NormRange]
    numbers: Mapping[CollectionNumber, float]


NO_STATISTICS = QueryStatistics({}, {}, {}, {})


class CollectionStatistics:
    """The statistics of a collection, counted by the reader of all its shards."""

    def __init__(self, reader: IndexReader) -> None:
        self._reader = reader
        self._snapshot = reader.snapshot
        self._terms: dict[tuple[str, Variants], TermCounts] = {}
        self._n_tokens: dict[str, int] = {}
        self._norms: dict[tuple[Hashable, str], NormRange] = {}
        self._numbers: dict[CollectionNumber, float] = {}
        self.term_stats = lru_cache(MAX_CACHED_TERMS)(self._make_stats)

    def learn(self, known: QueryStatistics) -> None:
        """Take over statistics that another process has counted over the same state of the index."""
        if len(self._terms) > MAX_CACHED_TERMS:
            self._terms.clear()
        if len(self._norms) > MAX_CACHED_NORMS:
            self._norms.clear()
        if len(self._numbers) > MAX_CACHED_NUMBERS:
            self._numbers.clear()
        self._terms.update(known.terms)
        self._n_tokens.update(known.n_tokens)
        self._norms.update(known.norms)
        self._numbers.update(known.numbers)

    def _make_stats(self, stream: str, variants: Variants) -> TermStats:
        """The statistics of a term; one that does not occur has zeros."""
        return TermStats(self._snapshot.n_docs, self.n_tokens(stream), *self.count_term(stream, variants)[:2])

    def count_term(self, stream: str, variants: Variants) -> TermCounts:
        """Document frequency, collection frequency and largest tf of a term in live documents."""
        known = self._terms.get((stream, variants))
        if known is not None:
            return known
        if stream in self._snapshot.streams and len(variants) == 1:
            return self._snapshot.count_term(stream, variants[0])
        return self._reader.count_occurrences(stream, variants)

    def n_tokens(self, stream: str) -> int:
        """The number of tokens of all live documents in a stream or a field."""
        if stream not in self._n_tokens:
            self._n_tokens[stream] = self._snapshot.count_tokens(stream)
        return self._n_tokens[stream]

    def norm_range(self, bound: BoundPostingScorer) -> NormRange:
        """The range of norms by a bound scorer."""
        known = self._norms.get((bound.scorer, bound.stream))
        if known is not None:
            return known
        whole = bound if bound.reader is self._reader else self._reader.bind(bound.scorer, bound.stream)
        return whole.measure_norms()

    def of_terms(self, terms: Iterable[tuple[str, Variants]]) -> QueryStatistics:
        """The counts of terms, given by stream and variants, and the tokens of all streams and of theirs."""
        counts = {(stream, variants): self.count_term(stream, variants) for stream, variants in terms}
        streams = {*self._snapshot.streams, *(stream for stream, _ in counts)}
        return QueryStatistics(counts, {stream: self.n_tokens(stream) for stream in streams}, {}, {})

    def number(self, wanted: CollectionNumber) -> float:
        """A number of the whole collection."""
        known = self._numbers.get(wanted)
        if known is None:
            known = self._measure(wanted)
            self.learn(NO_STATISTICS._replace(numbers={wanted: known}))
        return known

    def _measure(self, wanted: CollectionNumber) -> float:
        return wanted.merge([wanted.measure(self._reader)])
