"""The retrieval pipeline: a first search, an optional query expansion, and an optional model that re-ranks.

    pipeline = Pipeline(engine, BM25(k1=0.9), expansion=RM3())
    hits = pipeline.search("t-cell lymphoma", k=10)
    explanations = pipeline.explain(hits, hits.docnos[:3])

A query passes these steps, of which a pipeline has the first two, and the others if it has an expansion or a model:

    parse           the text becomes a `Query`
    first search    the best documents by the scorer
    expansion       RM3 adds terms of the best documents to the query, which is searched again
    re-ranking      the model scores the candidates: the best documents of both searches

A `PipelineSearch` computes each step when it is first needed, and keeps the result. The best k documents of a search
are the beginning of any deeper search: a pipeline needs at most two searches for a query. Pipelines compose with each
other and with further steps: see `composition/`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Protocol

import numpy as np

from searchlab.errors import SettingError
from searchlab.records import Topic
from searchlab.retrieval.composition.base_pipeline import BasePipeline, BaseSearch, PipelineHits, SearchRequest
from searchlab.retrieval.composition.steps import setting_label
from searchlab.retrieval.document_list import DocumentList
from searchlab.retrieval.engine import SearchEngine
from searchlab.retrieval.expansion import RM3, RelevanceModel, as_expansion
from searchlab.retrieval.fields.matches import Marks, Matches, count_marks, mark_documents
from searchlab.retrieval.fields.other_fields import OtherField, find_other_fields
from searchlab.retrieval.fields.sorting import SortOrder
from searchlab.retrieval.query.filters import Filter
from searchlab.retrieval.query.syntax_tree import DOCNO
from searchlab.retrieval.ranking.best_documents import BestDocuments
from searchlab.retrieval.results import Explanation, Hits, Query
from searchlab.retrieval.search_arguments import Filters, require_k, require_text
from searchlab.scorers.base import Scorer
from searchlab.scorers.given_scorer import DEFAULT_SCORER, as_scorer
from searchlab.types import Floats

if TYPE_CHECKING:
    from searchlab.retrieval.composition.reranked import ScoredCandidates

# Searches go at least this deep: it costs next to nothing, and features of the ten best need no second search.
MIN_DEPTH = 10


class RerankingModel(Protocol):
    """A model that orders the candidates of a search; `searchlab.rankers.reranking.Reranker` is one."""

    @property
    def n_candidates(self) -> int:
        """How many documents of each search are candidates."""

    @property
    def candidates_label(self) -> str:
        """How candidates are found, in a few words."""

    @property
    def label(self) -> str:
        """The model in a few words."""

    def learnt_from(self, topics: Sequence[Topic]) -> set[str]:
        """The qids of those topics that the model was trained on."""

    def over(self, engine: SearchEngine) -> RerankingModel:
        """The same model over another engine of the same index."""

    def score(self, search: BaseSearch, documents: DocumentList) -> ScoredCandidates:
        """Score the candidates of a search."""


@dataclass(frozen=True, repr=False)
class Pipeline(BasePipeline):
    """What ranks documents for a query: the first search, and the expansion and the model if there are any.

    Scorer and expansion are values, or their names. Without a model, hits are the best documents for the expanded
    query. With a model, candidates are the best documents for the query itself and for the expanded query; the model
    orders them, and what the first search found beyond them follows in its order, with scores that only continue the
    list.

    Without a model, the parts of explanations are the terms of the expanded query. With a model, they are its features,
    and only its candidates can be explained.
    """

    engine: SearchEngine
    scorer: Scorer = DEFAULT_SCORER
    stream: str = "both"
    expansion: RM3 | None = None
    model: RerankingModel | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.engine, SearchEngine):
            raise SettingError(f"engine is {self.engine!r}, expected an open index, as searchlab.open gives")
        object.__setattr__(self, "scorer", as_scorer(self.scorer))
        object.__setattr__(self, "expansion", as_expansion(self.expansion))
        self.engine.snapshot.require_stream(self.stream)

    @property
    def label(self) -> str:
        """The steps as they could be written; a stream other than both stands behind the scorer."""
        stream = "" if self.stream == "both" else f"[{self.stream}]"
        steps = [setting_label(self.scorer) + stream]
        steps += [step.label for step in (self.expansion, self.model) if step is not None]
        return " >> ".join(steps)

    def parse(self, query: str | Query, syntax: str = "plain") -> Query:
        """A query as the first search understands it; a query that is parsed already stays as it is."""
        if isinstance(query, Query):
            return query
        return self.engine.parse(require_text(query), self.scorer, self.stream, syntax)

    def over(self, engine: SearchEngine) -> Pipeline:
        """The same pipeline over another engine of the same index."""
        model = None if self.model is None else self.model.over(engine)
        return replace(self, engine=engine, scorer=self.scorer.pinned(engine.reader), model=model)

    def learnt_from(self, topics: Sequence[Topic]) -> set[str]:
        """The qids of topics that the model was trained on."""
        return set() if self.model is None else self.model.learnt_from(topics)

    def start(
        self, query: str | Query | PipelineHits, *, syntax: str = "plain", filters: Filters = ()
    ) -> PipelineSearch:
        """A search that has computed nothing yet; for hits of this pipeline, the search that they come from."""
        return super().start(query, syntax=syntax, filters=filters).retrieval

    def begin(self, request: SearchRequest) -> PipelineSearch:
        """A search that has computed nothing yet; it shares the first search with parts that search alike."""
        first = request.share((self.scorer, self.stream), _BestHits)
        query = self.parse(request.query, request.syntax)
        return PipelineSearch(self, query, request.filters, first=first, qid=request.qid)

    def expanded_by(self, expansion: RM3) -> Pipeline:
        """This pipeline with a query expansion, if it has neither one nor a model."""
        if self.expansion is None and self.model is None:
            return replace(self, expansion=expansion)
        raise SettingError(f"{expansion.label} follows {self.label}, expected a retriever without expansion before it")


class PipelineSearch(BaseSearch):
    """One query in a pipeline: each step is computed once, when it is first needed."""

    def __init__(
        self,
        pipeline: Pipeline,
        query: Query,
        filters: Filters = (),
        *,
        first: _BestHits | None = None,
        qid: str | None = None,
    ) -> None:
        super().__init__(pipeline, query, filters, qid)
        self.pipeline: Pipeline = pipeline
        self._first = first or _BestHits()
        self._expanded = self._first if pipeline.expansion is None else _BestHits()

    @property
    def retrieval(self) -> PipelineSearch:
        """This search itself."""
        return self

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
        require_k(k)
        if self.pipeline.model is None:
            hits = self.expanded(k)
            best = BestDocuments(hits.shards, hits.docs, hits.scores, hits.known_docnos)
        else:
            best = self._rerank(k, self.pipeline.model)
        seconds = time.perf_counter() - began
        columns = best.shards, best.docs, best.scores
        return PipelineHits(self, self.query, *columns, seconds, self._matches, best.docnos)

    def sorted_hits(self, k: int | None, sort: SortOrder | str, *, began: float | None = None) -> PipelineHits:
        """The first k of all documents that are found, in the order of a field; only these need be ranked."""
        if self.pipeline.model is not None:
            return super().sorted_hits(k, sort, began=began)
        began = time.perf_counter() if began is None else began
        first = self._find(self.expanded_query, k, sort=sort)
        columns = first.shards, first.docs, first.scores
        return PipelineHits(self, self.query, *columns, time.perf_counter() - began, self._matches, first.known_docnos)

    @property
    def _matches(self) -> Matches:
        return Matches(self._count_hits, self.mark_hits, self.search_fields)

    def _count_hits(self) -> int:
        """The number of hits for k=None: documents that match, and candidates that match the expanded query only."""
        if self.pipeline.model is None:
            return self.expanded(MIN_DEPTH).n_matches
        if self.expanded_query is self.query or self.query.node is not None:
            return self.first(self.pipeline.model.n_candidates).n_matches
        return count_marks(self.mark_hits())

    def mark_hits(self) -> Marks:
        """The documents of the hits for k=None, which are neither ranked for this nor re-ranked."""
        if self.pipeline.model is None:
            unchanged = self.expanded_query is self.query
            return self._mark(self.expanded_query, self._first if unchanged else self._expanded)
        matching = self._mark(self.query, self._first)
        if self.expanded_query is self.query or self.query.node is not None:
            return matching
        candidates = self.candidates(self.pipeline.model.n_candidates)
        marked = mark_documents(self.pipeline.engine.snapshot, candidates.shards, candidates.docs)
        return [one | other for one, other in zip(marked, matching, strict=True)]

    def _mark(self, query: Query, best: _BestHits) -> Marks:
        """The documents that match a query, whose best hits may be known."""
        if best.known is not None:
            return best.known.matching
        pipeline = self.pipeline
        return pipeline.engine.mark_matches(query, pipeline.scorer, pipeline.stream, self.filters)

    def search_fields(self, found: Callable[[], Marks]) -> tuple[OtherField, ...]:
        """The fields in which documents have words of the query, apart from those found."""
        pipeline = self.pipeline
        return find_other_fields(pipeline.engine, self.query, pipeline.scorer, pipeline.stream, self.filters, found)

    def explain(self, docnos: Sequence[str]) -> list[Explanation]:
        """Why documents have their scores (see `Pipeline`)."""
        engine, model = self.pipeline.engine, self.pipeline.model
        if model is None:
            scorer, stream = self.pipeline.scorer, self.pipeline.stream
            explanations = [
                engine.explain(self.expanded_query, docno, scorer=scorer, stream=stream) for docno in docnos
            ]
            return [replace(each, found=self.finds(each.docno)) for each in explanations]
        rows = {docno: row for row, docno in enumerate(self.reranked.documents.docnos)}
        for docno in docnos:
            engine.snapshot.locate(docno)
            if docno not in rows:
                raise SettingError(
                    f"{docno} is not among the {len(rows)} documents that are re-ranked for this query: "
                    f"{model.candidates_label}"
                )
        return [replace(self.reranked.explain(rows[docno]), found=True) for docno in docnos]

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

    def _find(self, query: Query, k: int | None, *more: Filter, sort: SortOrder | str | None = None) -> Hits:
        pipeline = self.pipeline
        return pipeline.engine.search(
            query, k=k, scorer=pipeline.scorer, stream=pipeline.stream, filters=(*self.filters, *more), sort=sort
        )

    def _rerank(self, k: int | None, model: RerankingModel) -> BestDocuments:
        """The k best by the model, and below them what the first search found."""
        n_feedback = self.pipeline.expansion.documents if self.pipeline.expansion else 0
        self.first(None if k is None else max(k, model.n_candidates, n_feedback))  # one search for all uses
        scored = self.reranked
        shards, docs, scores = (
            column[scored.order] for column in (scored.documents.shards, scored.documents.docs, scored.scores)
        )
        docnos = [scored.documents.docnos[row] for row in scored.order.tolist()]
        if k is None or k > len(scores):
            first = self.first(k)
            marked = mark_documents(self.pipeline.engine.snapshot, shards, docs)
            others = np.ones(len(first), bool)
            for shard_index, known in enumerate(marked):
                rows = np.flatnonzero(first.shards == shard_index)
                others[rows] = ~known[first.docs[rows]]
            shards = np.concatenate([shards, first.shards[others]])
            docs = np.concatenate([docs, first.docs[others]])
            scores = np.concatenate([scores, tail_scores(scores, int(np.count_nonzero(others)))])
            docnos += first.take(np.flatnonzero(others)).docnos
        return BestDocuments(shards[:k], docs[:k], scores[:k], docnos[:k])


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

    @property
    def known(self) -> Hits | None:
        """The hits that are there."""
        return None if self._deepest is None else self._deepest[1]

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
