"""What workers are asked about their shards, and their answers.

A request is a value with a method `answer(engine)`, which a worker calls with an engine over some shards. Documents
are given, and found, by the numbers of shards in the whole index. What is counted over all shards comes with the
request (`QueryStatistics`), so that scores are those of the whole index.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple, Protocol

import numpy as np

from searchlab.corpus.trec.packed_docnos import PackedDocnos
from searchlab.errors import REBUILD, IndexCorrupt, SearchlabError
from searchlab.indexing.storage.shard import TermCounts
from searchlab.retrieval.document_reading import DocumentReading
from searchlab.retrieval.engine import SearchEngine
from searchlab.retrieval.query.filters import Filter
from searchlab.retrieval.ranking.best_documents import BestDocuments
from searchlab.retrieval.results import Query
from searchlab.scorers.base import Scorer
from searchlab.scorers.execution.collection_statistics import (
    NO_STATISTICS,
    CollectionNumber,
    NormRange,
    QueryStatistics,
    Variants,
)
from searchlab.scorers.execution.posting_scoring import BoundPostingScorer
from searchlab.types import Array

# Groups of shards that a worker keeps engines for: its own, and one that it took over.
MAX_PARTS = 4


class ShardRequest(Protocol):
    """A question about shards."""

    def answer(self, engine: SearchEngine) -> Any:
        """The answer of the shards of an engine, in a worker."""


def answer_requests(engine: SearchEngine, shards: tuple[int, ...], requests: Sequence[ShardRequest]) -> list[Any]:
    """The answers of some shards, in a worker; the error of a request, if it failed, is its answer."""
    part = _part_of(engine, shards) if len(shards) < len(engine.snapshot.shards) else engine
    return [_answer(part, request) for request in requests]


def _answer(engine: SearchEngine, request: ShardRequest) -> Any:
    try:
        with engine.snapshot.report_damage():
            return request.answer(engine)
    except SearchlabError as error:
        return error


@lru_cache(MAX_PARTS)
def _part_of(engine: SearchEngine, shards: tuple[int, ...]) -> SearchEngine:
    return engine.part(shards)


class PackedRanking(NamedTuple):
    """Documents, best first: the numbers of their shards, their numbers there, scores and docnos."""

    shards: Array
    docs: Array
    scores: Array
    docnos: PackedDocnos


@dataclass(frozen=True, eq=False)
class QueryRequest(ABC):
    """A query with all that its scores depend on; without `statistics`, it is for an engine of the whole index."""

    query: Query
    scorer: Scorer
    stream: str
    filters: tuple[Filter, ...]
    statistics: QueryStatistics | None

    @abstractmethod
    def answer(self, engine: SearchEngine) -> Any:
        """See `ShardRequest`."""

    def learn(self, engine: SearchEngine) -> None:
        """Let an engine take over the statistics."""
        if self.statistics is not None:
            engine.reader.statistics.learn(self.statistics)


@dataclass(frozen=True, eq=False)
class BestRequest(QueryRequest):
    """Which documents are the best, at most `limit`?"""

    limit: int

    def answer(self, engine: SearchEngine) -> PackedRanking:
        """The best documents of some shards."""
        self.learn(engine)
        best = engine.find_best(self.query, self.limit, self.scorer, self.stream, self.filters)
        docnos = engine.snapshot.packed_docnos(best.shards, best.docs)
        if docnos is None:
            raise IndexCorrupt(f"{engine.snapshot.folder}: a docno is damaged; {REBUILD}")
        return PackedRanking(
            engine.snapshot.shard_numbers[best.shards].astype(np.int32),
            best.docs.astype(np.uint32),
            best.scores,
            docnos,
        )


def merge_best(answers: Sequence[PackedRanking], limit: int) -> BestDocuments:
    """The best documents of all shards: by score, and by docno, descending in byte order, where scores are equal."""
    scores = np.concatenate([answer.scores for answer in answers])
    docnos = PackedDocnos.concatenate([answer.docnos for answer in answers])
    order = np.argsort(-scores, kind="stable")
    ranked = scores[order]
    if limit < len(order):
        last = int(np.searchsorted(-ranked, -ranked[limit - 1], "right"))
        order, ranked = order[:last], ranked[:last]
    equal = ranked[1:] == ranked[:-1]
    if equal.any():
        tied = np.zeros(len(order), bool)
        tied[1:] |= equal
        tied[:-1] |= equal
        rows = order[tied]
        order[tied] = rows[np.lexsort((np.array(docnos[rows].strings()), scores[rows]))[::-1]]
    order = order[:limit]
    return BestDocuments(
        np.concatenate([answer.shards for answer in answers])[order].astype(np.int64),
        np.concatenate([answer.docs for answer in answers])[order].astype(np.int64),
        scores[order],
        docnos[order],
    )


@dataclass(frozen=True, eq=False)
class MatchRequest(QueryRequest):
    """Which documents match?"""

    def answer(self, engine: SearchEngine) -> list[tuple[int, Array]]:
        """The number of each shard, and a bit for each of its documents."""
        self.learn(engine)
        marks = engine.mark_matches(self.query, self.scorer, self.stream, self.filters)
        return [
            (number, np.packbits(marked))
            for number, marked in zip(engine.snapshot.shard_numbers.tolist(), marks, strict=True)
        ]


@dataclass(frozen=True, eq=False)
class CountRequest(QueryRequest):
    """How many documents match?"""

    def answer(self, engine: SearchEngine) -> int:
        """The number of documents of some shards."""
        self.learn(engine)
        marks = engine.matching(self.query, self.scorer, self.stream, self.filters)
        return sum(int(np.count_nonzero(marked)) for marked in marks)


@dataclass(frozen=True, eq=False)
class ScoreRequest(QueryRequest):
    """Which scores have these documents, those of each shard in ascending order?"""

    shards: Array
    docs: Array

    def answer(self, engine: SearchEngine) -> Array:
        """The score of each document, all of which are in these shards."""
        self.learn(engine)
        here = np.searchsorted(engine.snapshot.shard_numbers, self.shards)
        return engine.score_documents(self.query, self.scorer, self.stream, here, self.docs)


@dataclass(frozen=True)
class TermRequest:
    """How often does a term, given by its variants, occur in a stream or a field?"""

    stream: str
    variants: Variants

    def answer(self, engine: SearchEngine) -> TermCounts:
        """The counts of some shards."""
        return engine.reader.count_occurrences(self.stream, self.variants)


@dataclass(frozen=True)
class NormRequest:
    """Which are the smallest and the largest norm of a live document, by a scorer in a stream?"""

    scorer: Scorer
    stream: str
    n_tokens: int

    def answer(self, engine: SearchEngine) -> NormRange | None:
        """The range of some shards; None if all their documents are deleted."""
        engine.reader.statistics.learn(NO_STATISTICS._replace(n_tokens={self.stream: self.n_tokens}))
        bound = engine.reader.bind(self.scorer, self.stream)
        live = engine.reader.live
        if not isinstance(bound, BoundPostingScorer) or (live is not None and not live.any()):
            return None
        return bound.measure_norms()


@dataclass(frozen=True)
class NumberRequest:
    """Which is this number of the collection; `statistics` are those that it needs."""

    wanted: CollectionNumber
    statistics: QueryStatistics

    def answer(self, engine: SearchEngine) -> float:
        """The number of some shards."""
        engine.reader.statistics.learn(self.statistics)
        return self.wanted.measure(engine.reader)


@dataclass(frozen=True, eq=False)
class ReadingRequest:
    """What does a reading give of these documents?"""

    reading: DocumentReading[Any]
    shards: Array
    docs: Array

    def answer(self, engine: SearchEngine) -> Any:
        """What is read of the documents, all of which are in these shards."""
        here = np.searchsorted(engine.snapshot.shard_numbers, self.shards)
        return self.reading.read(engine, here, self.docs)
