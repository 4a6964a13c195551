"""The retrieval pipeline: a first search, an optional query expansion, and an optional model that re-ranks.

    pipeline = Pipeline(engine, BM25(k1=0.9), expansion=RM3())
    hits = pipeline.search("t-cell lymphoma", k=10)
    explanations = pipeline.explain(hits, hits.docnos[:3])

A query passes these steps, of which a pipeline has the first two, and the others if it has an expansion or a model:

    parse           the text becomes a `Query`
    first search    the best documents by the scorer
    expansion       RM3 adds terms of the best documents to the query, which is searched again
    re-ranking      the model scores the candidates: the best documents of both searches

A `PipelineSearch` computes each step when it is first needed, and keeps the result; hits keep the search that they come
from. So explaining hits, or asking for more of them, repeats no search, no estimation and no feature extraction. The
best k documents of a search are the beginning of any deeper search: a pipeline needs at most two searches for a query.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, Protocol

import numpy as np

from searchlab.errors import SettingError
from searchlab.records import Ranking, Topic
from searchlab.retrieval.document_list import DocumentList
from searchlab.retrieval.engine import SearchEngine
from searchlab.retrieval.expansion import RM3, RelevanceModel
from searchlab.retrieval.query.filters import Filter
from searchlab.retrieval.query.syntax_tree import DOCNO
from searchlab.retrieval.results import Hits, Query
from searchlab.scorers.base import Scorer
from searchlab.scorers.bm25 import BM25
from searchlab.types import Array, Floats

Filters = Sequence[Filter | str]

# Searches go at least this deep: it costs next to nothing, and features of the ten best need no second search.
MIN_DEPTH = 10


class ScoredCandidates(Protocol):
    """The candidates of one query with the scores of a model."""

    @property
    def documents(self) -> DocumentList:
        """The candidates, in the order in which the searches found them."""

    @property
    def scores(self) -> Floats:
        """The score of each candidate."""

    @property
    def order(self) -> Array:
        """The rows of the candidates, best first."""

    def explain(self, row: int) -> Any:
        """Why the candidate in a row has its score."""


class RerankingModel(Protocol):
    """A model that orders the candidates of a search; `searchlab.rankers.reranking.Reranker` is one."""

    @property
    def n_candidates(self) -> int:
        """How many documents of each search are candidates."""

    @property
    def candidates_label(self) -> str:
        """How candidates are found, in a few words."""

    def score(self, search: PipelineSearch, documents: DocumentList) -> ScoredCandidates:
        """Score the candidates of a search."""


@dataclass(frozen=True)
class Pipeline:
    """What ranks documents for a query: the first search, and the expansion and the model if there are any.

    Without a model, hits are the best documents for the expanded query. With a model, candidates are the best
    documents for the query itself and for the expanded query; the model orders them, and what the first search found
    beyond them follows in its order, with scores that only continue the list.
    """

    engine: SearchEngine
    scorer: Scorer = field(default_factory=BM25)
    stream: str = "both"
    expansion: RM3 | None = None
    model: RerankingModel | None = None

    def __post_init__(self) -> None:
        self.engine.snapshot.require_stream(self.stream)

    def parse(self, query: str | Query, syntax: str = "plain") -> Query:
        """A query as the first search understands it; a query that is parsed already stays as it is."""
        if isinstance(query, Query):
            return query
        return self.engine.parse(query, self.scorer, self.stream, syntax)

    def start(
        self, query: str | Query | PipelineHits, *, syntax: str = "plain", filters: Filters = ()
    ) -> PipelineSearch:
        """A search that has computed nothing yet; for hits of this pipeline, the search that they come from.

        Hits bring their query and filters along: `syntax` and `filters` are for other queries.
        """
        if isinstance(query, PipelineHits):
            earlier = query.search
            return earlier if earlier.pipeline is self else PipelineSearch(self, earlier.query, earlier.filters)
        return PipelineSearch(self, self.parse(query, syntax), filters)

    def search(
        self,
        query: str | Query | PipelineHits,
        *,
        k: int | None = 10,
        syntax: str = "plain",
        filters: Filters = (),
    ) -> PipelineHits:
        """The k best documents, all that match if k is None; given hits, their search goes on to this depth."""
        began = time.perf_counter()
        _require_k(k)
        return self.start(query, syntax=syntax, filters=filters).hits(k, began=began)

    def run(
        self, topics: Iterable[Topic], *, k: int | None = 1000, syntax: str = "plain", filters: Filters = ()
    ) -> Iterator[Ranking]:
        """The ranking of each topic, in their order."""
        for topic in topics:
            hits = self.search(topic.text, k=k, syntax=syntax, filters=filters)
            yield Ranking(topic.qid, hits.docnos, hits.scores.tolist())

    def explain(
        self,
        query: str | Query | PipelineHits,
        docnos: Sequence[str],
        *,
        syntax: str = "plain",
        filters: Filters = (),
    ) -> list[Any]:
        """Why documents have their scores; hits of an earlier search are explained without searching again.

        Without a model: an `Explanation` with a part for each term of the expanded query. With a model: what the model
        gives; only its candidates can be explained.
        """
        return self.start(query, syntax=syntax, filters=filters).explain(docnos)


class PipelineSearch:
    """One query in a pipeline: each step is computed once, when it is first needed."""

    def __init__(
        self, pipeline: Pipeline, query: Query, filters: Filters = (), *, first: _BestHits | None = None
    ) -> None:
        self.pipeline = pipeline
        self.query = query
        self.filters = tuple(filters)
        self._first = first or _BestHits()
        self._expanded = self._first if pipeline.expansion is None else _BestHits()

    def first(self, k: int | None) -> Hits:
        """The k best documents of the first search."""
        return self._first.take(k, partial(self._find, self.query))

    @cached_property
    def relevance_model(self) -> RelevanceModel:
        """What the expansion estimates from the best documents of the first search."""
        expansion = self.pipeline.expansion
        if expansion is None:
            raise SettingError("this pipeline has no expansion, expected one with RM3")
        best = self.first(expansion.documents)
        return expansion.estimate(self.pipeline.engine, best, stream=self.pipeline.stream)

    @cached_property
    def expanded_query(self) -> Query:
        """The query after expansion; the query itself if the pipeline has none."""
        expansion = self.pipeline.expansion
        return self.query if expansion is None else expansion.expand(self.query, self.relevance_model)

    def expanded(self, k: int | None) -> Hits:
        """The k best documents for the expanded query; those of the first search if the pipeline has no expansion."""
        if self.expanded_query is self.query:  # there is nothing to expand it with
            return self.first(k)
        return self._expanded.take(k, partial(self._find, self.expanded_query))

    def candidates(self, n: int) -> DocumentList:
        """The n best of the first search, followed by those of the n best for the expanded query that are not there.

        A query that is more than words (phrases, operators, fields) is not expanded: documents that do not match it
        are not wanted.
        """
        expansion = self.pipeline.expansion
        if expansion is None or self.query.node is not None:
            return DocumentList.of(self.first(n))
        self.first(max(n, expansion.documents))  # one search for both uses
        return DocumentList.of(self.first(n)).union(DocumentList.of(self.expanded(n)))

    @cached_property
    def reranked(self) -> ScoredCandidates:
        """The candidates as the model scores them."""
        model = self.pipeline.model
        if model is None:
            raise SettingError("this pipeline has no model to re-rank with")
        return model.score(self, self.candidates(model.n_candidates))

    def hits(self, k: int | None, *, began: float | None = None) -> PipelineHits:
        """The k best documents; `began` is when the clock of `Hits.seconds` started."""
        began = time.perf_counter() if began is None else began
        _require_k(k)
        if self.pipeline.model is None:
            best = self.expanded(k)
            columns = best.shards, best.docs, best.scores
        else:
            columns = self._rerank(k, self.pipeline.model)
        return PipelineHits(self, self.query, *columns, time.perf_counter() - began)

    def explain(self, docnos: Sequence[str]) -> list[Any]:
        """Why documents have their scores (see `Pipeline.explain`)."""
        engine, model = self.pipeline.engine, self.pipeline.model
        if model is None:
            scorer, stream = self.pipeline.scorer, self.pipeline.stream
            return [engine.explain(self.expanded_query, docno, scorer=scorer, stream=stream) for docno in docnos]
        rows = {docno: row for row, docno in enumerate(self.reranked.documents.docnos)}
        for docno in docnos:
            engine.snapshot.locate(docno)
            if docno not in rows:
                raise SettingError(
                    f"{docno} is not among the {len(rows)} documents that are re-ranked for this query: "
                    f"{model.candidates_label}"
                )
        return [self.reranked.explain(rows[docno]) for docno in docnos]

    def finds(self, docno: str) -> bool:
        """Whether a document is among the hits, at whatever rank.

        If the hits known so far do not tell, documents of this docno alone are searched; docnos that differ in case
        alone pass the same filter.
        """
        best, query = self._expanded, self.expanded_query
        if self.pipeline.model is not None:
            if docno in self.reranked.documents.docnos:
                return True
            best, query = self._first, self.query
        known = best.knows(docno)
        if known is None:
            return docno in self._find(query, None, Filter(DOCNO, docno)).docnos
        return known

    def for_pipeline(self, pipeline: Pipeline, query: Query) -> PipelineSearch:
        """A search of a query without filters in another pipeline, sharing what this search has computed alike."""
        mine = self.pipeline
        if (
            mine.engine is not pipeline.engine
            or mine.stream != pipeline.stream
            or mine.scorer != pipeline.scorer
            or self.filters
            or (self.query.terms, self.query.node) != (query.terms, query.node)
        ):
            return PipelineSearch(pipeline, query)
        return self if mine.expansion == pipeline.expansion else PipelineSearch(pipeline, query, first=self._first)

    def _find(self, query: Query, k: int | None, *more: Filter) -> Hits:
        pipeline = self.pipeline
        return pipeline.engine.search(
            query, k=k, scorer=pipeline.scorer, stream=pipeline.stream, filters=(*self.filters, *more)
        )

    def _rerank(self, k: int | None, model: RerankingModel) -> tuple[Array, Array, Array]:
        """Shards, numbers and scores of the k best by the model, and below them of what the first search found."""
        n_feedback = self.pipeline.expansion.documents if self.pipeline.expansion else 0
        self.first(None if k is None else max(k, model.n_candidates, n_feedback))  # one search for all uses
        scored = self.reranked
        shards, docs, scores = (
            column[scored.order] for column in (scored.documents.shards, scored.documents.docs, scored.scores)
        )
        if k is None or k > len(scores):
            first = self.first(k)
            known = set(zip(shards.tolist(), docs.tolist(), strict=True))
            places = zip(first.shards.tolist(), first.docs.tolist(), strict=True)
            others = np.array([place not in known for place in places], dtype=bool)
            shards = np.concatenate([shards, first.shards[others]])
            docs = np.concatenate([docs, first.docs[others]])
            scores = np.concatenate([scores, tail_scores(scores, int(np.count_nonzero(others)))])
        return shards[:k], docs[:k], scores[:k]


class PipelineHits(Hits):
    """Hits of a pipeline, with the `search` that they come from."""

    def __init__(
        self, search: PipelineSearch, query: Query, shards: Array, docs: Array, scores: Array, seconds: float
    ) -> None:
        engine = search.pipeline.engine
        super().__init__(engine.snapshot, query, shards, docs, scores, seconds, compiled=engine.compiled)
        self.search = search

    def with_expanded_query(self) -> PipelineHits:
        """The same hits, with the terms of the expanded query marked in titles and snippets."""
        return PipelineHits(self.search, self.search.expanded_query, self.shards, self.docs, self.scores, self.seconds)


class _BestHits:
    """The best hits of one query; a deeper search replaces a shallower one."""

    def __init__(self) -> None:
        self._deepest: tuple[int | None, Hits] | None = None

    def take(self, k: int | None, search: Callable[[int | None], Hits]) -> Hits:
        """The k best; `search` finds them if the hits that are there do not suffice."""
        deepest = self._deepest
        if deepest is None or not _suffices(*deepest, k):
            depth = None if k is None else max(k, MIN_DEPTH)
            self._deepest = deepest = depth, search(depth)
        hits = deepest[1]
        return hits if k is None or len(hits) <= k else hits.take(slice(k))

    def knows(self, docno: str) -> bool | None:
        """Whether the query finds a document; None if it may be below the hits that are there."""
        if self._deepest is None:
            return None
        depth, hits = self._deepest
        if docno in hits.docnos:
            return True
        return None if depth is not None and len(hits) == depth else False


def _suffices(depth: int | None, hits: Hits, k: int | None) -> bool:
    """Whether hits of a search to some depth contain the k best: it was deep enough, or found all that match."""
    return depth is None or len(hits) < depth or (k is not None and k <= depth)


def tail_scores(scores: Floats, n: int) -> Floats:
    """Scores for n documents below those with these scores, given best first: they only continue the list."""
    lowest = float(scores[-1]) if len(scores) else 0.0
    return np.asarray(lowest - 1.0 - np.arange(n))


def _require_k(k: int | None) -> None:
    if k is not None and k < 1:
        raise SettingError(f"k is {k}, expected 1 or more")
