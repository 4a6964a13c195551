"""Distributed engine: a search engine whose shards are searched by the workers of a cluster.

It parses queries, reads documents, expands and explains as any engine does; for that it reads few pages of the index,
which lies on storage that all see. What reads postings is asked of the workers, each of which has some shards
(`shard_division`). Statistics of single terms come from the lexicons of all shards, which the client reads; each term
is counted once, and its counts travel with the requests. So workers read nothing but their own shards, and a
document's score is the same, to the last bit, as on one machine.

A query by a scorer that does not say what it needs of the collection (`QueryScorer.statistics`) is searched by one
worker, over all shards.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from searchlab.cluster.cluster import Cluster, as_cluster
from searchlab.indexing.storage.layout import MANIFEST
from searchlab.indexing.storage.shard import TermCounts
from searchlab.retrieval.distributed.request_batches import RequestBatches
from searchlab.retrieval.distributed.shard_division import SHARDS, ShardGroup, choose_division
from searchlab.retrieval.distributed.shard_requests import (
    BestRequest,
    CountRequest,
    MatchRequest,
    NormRequest,
    NumberRequest,
    QueryRequest,
    ReadingRequest,
    ScoreRequest,
    ShardRequest,
    TermRequest,
    merge_best,
)
from searchlab.retrieval.document_reading import DocumentReading
from searchlab.retrieval.engine import SearchEngine
from searchlab.retrieval.fields.matches import Marks
from searchlab.retrieval.query.filters import Filter
from searchlab.retrieval.query.query_analyzer import QueryAnalyzer
from searchlab.retrieval.ranking.best_documents import NOTHING_FOUND, BestDocuments
from searchlab.retrieval.results import Query
from searchlab.retrieval.search_arguments import Filters, parse_filters
from searchlab.scorers.base import Scorer
from searchlab.scorers.execution.collection_statistics import (
    NO_STATISTICS,
    CollectionNumber,
    CollectionStatistics,
    NormRange,
    QueryStatistics,
    Variants,
)
from searchlab.scorers.execution.index_reader import IndexReader
from searchlab.scorers.execution.posting_scoring import BoundPostingScorer
from searchlab.types import Array

# Requests of so many topics travel together.
TOPICS_AT_A_TIME = 96

T = TypeVar("T")


class DistributedEngine(SearchEngine):
    """An engine that shares an open index with another one, and asks the workers of a connected cluster to search.

    `seconds` is the time in which workers must answer a request: if the answer of any shard is missing then, it is a
    ClusterTimeout. `n_searches` are made at the same time.
    """

    is_distributed = True
    topics_at_a_time = TOPICS_AT_A_TIME

    def __init__(
        self, engine: SearchEngine, cluster: Cluster, seconds: float | None = None, n_searches: int = 1
    ) -> None:
        vars(self).update(vars(engine))
        # Half of the searches are asked of workers while the client is at the other half.
        self._batches = RequestBatches(cluster, engine, seconds, max(n_searches // 2, 1))
        self.reader = IndexReader(self.snapshot)
        self.reader.statistics = GatheredStatistics(self.reader, self._batches)
        self.reader.term_stats = self.reader.statistics.term_stats
        self._analyzer = QueryAnalyzer(self.reader, self._opening[2])

    def end_requests(self) -> None:
        """Ask workers no more; the index stays open."""
        self._batches.close()

    def find_best(
        self, query: Query, limit: int, scorer: Scorer, stream: str, filters: tuple[Filter, ...]
    ) -> BestDocuments:
        """The best documents, at most `limit`."""
        if limit == 0 or self._finds_nothing(query, scorer, stream):
            return NOTHING_FOUND
        answers = self._ask_about(BestRequest(*self._describe(query, scorer, stream, filters), limit=limit))
        return merge_best(answers, limit)

    def mark_matches(self, query: Query, scorer: Scorer, stream: str, filters: tuple[Filter, ...]) -> Marks:
        """The documents that match a query and pass all filters."""
        answers = self._ask_about(MatchRequest(*self._describe(query, scorer, stream, filters)))
        bits = {number: packed for answer in answers for number, packed in answer}
        return [
            np.unpackbits(bits[number], count=shard.columns.n_docs).astype(bool)
            for number, shard in enumerate(self.snapshot.shards)
        ]

    def matching(self, query: Query, scorer: Scorer, stream: str, filters: Filters) -> Iterator[Array]:
        """For each shard, whether each of its documents is live, passes all filters, and matches the query."""
        return iter(self.mark_matches(query, scorer, stream, parse_filters(filters)))

    def count_matches(self, query: Query, scorer: Scorer, stream: str, filters: tuple[Filter, ...]) -> int:
        """The number of documents that match a query and pass all filters."""
        if self._finds_nothing(query, scorer, stream):
            return 0
        return sum(self._ask_about(CountRequest(*self._describe(query, scorer, stream, filters))))

    def score_documents(self, query: Query, scorer: Scorer, stream: str, shards: Array, docs: Array) -> Array:
        """The scores of documents, given by shard and number, those of each shard in ascending order."""
        described = self._describe(query, scorer, stream, ())
        groups = self._batches.groups if described[-1] is not None else (self._batches.whole,)
        rows = _rows_of(groups, shards)
        requests = {
            group: ScoreRequest(*described, shards=shards[of_group], docs=docs[of_group])
            for group, of_group in rows.items()
        }
        scores = np.zeros(len(docs))
        for of_group, found in zip(rows.values(), self._batches.ask(requests), strict=True):
            scores[of_group] = found
        return scores

    def read_documents(self, reading: DocumentReading[T], shards: Array, docs: Array) -> T:
        """What a reading gives of documents, by shard and number, read by the workers that have their shards."""
        rows = _rows_of(self._batches.groups, shards)
        if not rows:
            return reading.read(self, shards, docs)
        requests = {
            group: ReadingRequest(reading, shards[of_group], docs[of_group]) for group, of_group in rows.items()
        }
        return reading.join(list(zip(rows.values(), self._batches.ask(requests), strict=True)), len(docs))

    def interrupt(self) -> None:
        """Cancel the tasks of all workers."""
        self._batches.cancel()

    def _finds_nothing(self, query: Query, scorer: Scorer, stream: str) -> bool:
        """Whether a query has nothing that could match."""
        if query.node is not None or query.terms:
            return False
        return not self.reader.bind(scorer, stream).prepare(query).has_further_units

    def _describe(
        self, query: Query, scorer: Scorer, stream: str, filters: tuple[Filter, ...]
    ) -> tuple[Query, Scorer, str, tuple[Filter, ...], QueryStatistics | None]:
        """A query with its statistics, as workers need it; spelling is corrected here."""
        statistics = self.reader.bind(scorer, stream).prepare(query).statistics()
        return replace(query, suggest=None), scorer.pinned(self.reader), stream, filters, statistics

    def _ask_about(self, request: QueryRequest) -> list[Any]:
        """The answers of all groups of shards; of one worker, if the query needs all shards at once."""
        groups = self._batches.groups if request.statistics is not None else (self._batches.whole,)
        return self._batches.ask(dict.fromkeys(groups, request))


def _rows_of(groups: Sequence[ShardGroup], shards: Array) -> dict[ShardGroup, Array]:
    """The rows of documents, given by their shards, that each group has; groups without any are left out."""
    rows = {group: np.flatnonzero(np.isin(shards, group.shards)) for group in groups}
    return {group: of_group for group, of_group in rows.items() if len(of_group)}


class GatheredStatistics(CollectionStatistics):
    """Statistics of a collection: single terms from the lexicons, the rest from the workers, each asked once."""

    def __init__(self, reader: IndexReader, batches: RequestBatches) -> None:
        super().__init__(reader)
        self._batches = batches

    def count_term(self, stream: str, variants: Variants) -> TermCounts:
        """Document frequency, collection frequency and largest tf of a term in live documents."""
        key = stream, variants
        if key not in self._terms and not (stream in self._snapshot.streams and len(variants) == 1):
            doc_freqs, term_counts, max_tfs = zip(*self._ask(TermRequest(stream, variants)), strict=True)
            counts = TermCounts(sum(doc_freqs), sum(term_counts), max(max_tfs))
            self.learn(NO_STATISTICS._replace(terms={key: counts}))
            return counts
        return super().count_term(stream, variants)

    def norm_range(self, bound: BoundPostingScorer) -> NormRange:
        """The range of norms by a bound scorer."""
        key = bound.scorer, bound.stream
        known = self._norms.get(key)
        if known is not None:
            return known
        answers = self._ask(NormRequest(bound.scorer, bound.stream, self.n_tokens(bound.stream)))
        ranges = [each for each in answers if each is not None]
        found = NormRange(min(each.low for each in ranges), max(each.high for each in ranges))
        self.learn(NO_STATISTICS._replace(norms={key: found}))
        return found

    def _measure(self, wanted: CollectionNumber) -> float:
        return wanted.merge(self._ask(NumberRequest(wanted, wanted.needs(self._reader))))

    def _ask(self, request: ShardRequest) -> list[Any]:
        return self._batches.ask(dict.fromkeys(self._batches.groups, request))


@contextmanager
def divide_shards_of(engine: SearchEngine, cluster: Cluster | str | None, divide: str) -> Iterator[SearchEngine]:
    """An engine that asks the workers of a cluster, if its shards are to be divided; else the engine that is given.

    `divide` is "topics", "shards" or "auto" (see `choose_division`).
    """
    if cluster is None or engine.is_distributed:
        yield engine
        return
    with as_cluster(cluster) as connected:
        connected.check_contents([engine.snapshot.folder / MANIFEST])
        if choose_division(divide, connected, engine.snapshot) != SHARDS:
            yield engine
            return
        distributed = DistributedEngine(engine, connected, n_searches=TOPICS_AT_A_TIME)
        try:
            yield distributed
        finally:
            distributed.end_requests()
