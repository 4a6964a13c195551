"""Cut-offs, weighted sums of scores, and rank fusion of pipelines.

A sum or a fusion takes the best documents of each part, as many as its cut-off (`%`) says, or 1,000 without one; of a
sum, a fusion or a re-ranking it takes all. It finds the documents of all parts together. In a sum, a document that a
part did not find gets 0 from it.
"""

from __future__ import annotations

import math
import time
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from searchlab.errors import SettingError, name_some
from searchlab.records import Ranking, Topic
from searchlab.retrieval.composition.base_pipeline import BasePipeline, BaseSearch, PipelineHits, SearchRequest
from searchlab.retrieval.document_list import NO_DOCUMENTS, DocumentList, best_first
from searchlab.retrieval.fields.matches import Matches, mark_documents
from searchlab.retrieval.fusion import check_fusion, fuse_topic
from searchlab.retrieval.results import Contribution, Explanation, Query
from searchlab.retrieval.search_arguments import require_k
from searchlab.types import Array, Floats

if TYPE_CHECKING:
    from searchlab.retrieval.engine import SearchEngine
    from searchlab.retrieval.pipeline import PipelineSearch


@dataclass(frozen=True, repr=False)
class Cutoff(BasePipeline):
    """The k best documents of a pipeline."""

    first: BasePipeline
    k: int
    engine: SearchEngine = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "engine", self.first.engine)

    @property
    def label(self) -> str:
        """The pipeline with its cut-off."""
        return f"{bracketed(self.first.label)} % {self.k}"

    @property
    def depth(self) -> int | None:
        """The cut-off."""
        return self.k

    def parse(self, query: str | Query, syntax: str = "plain") -> Query:
        """A query as the first search understands it."""
        return self.first.parse(query, syntax)

    def over(self, engine: SearchEngine) -> Cutoff:
        """The same cut-off over another engine of the same index."""
        return Cutoff(self.first.over(engine), self.k)

    def learnt_from(self, topics: Sequence[Topic]) -> set[str]:
        """The qids of topics that a model was trained on."""
        return self.first.learnt_from(topics)

    def begin(self, request: SearchRequest) -> CutoffSearch:
        """A search that has computed nothing yet."""
        return CutoffSearch(self, request.search_of(self.first))


class CutoffSearch(BaseSearch):
    """One query in a pipeline with a cut-off."""

    def __init__(self, pipeline: Cutoff, first: BaseSearch) -> None:
        super().__init__(pipeline, first.query, first.filters)
        self._first = first
        self._k = pipeline.k

    @property
    def expanded_query(self) -> Query:
        """The query after expansion."""
        return self._first.expanded_query

    @property
    def retrieval(self) -> PipelineSearch:
        """The search of a retriever that this one begins with."""
        return self._first.retrieval

    def hits(self, k: int | None, *, began: float | None = None) -> PipelineHits:
        """The k best documents, at most as many as the cut-off."""
        began = time.perf_counter() if began is None else began
        require_k(k)
        found = self._first.hits(self._k if k is None else min(k, self._k), began=began)
        columns = found.shards, found.docs, found.scores
        matches = Matches(
            lambda: min(found.n_matches, self._k),
            lambda: self._first.hits(self._k).marked_hits,
            self.retrieval.search_fields,
        )
        return PipelineHits(self, found.query, *columns, found.seconds, matches, found.known_docnos)

    def explain(self, docnos: Sequence[str]) -> list[Explanation]:
        """Why documents have their scores; those below the cut-off are not found."""
        return [replace(each, found=self.finds(each.docno)) for each in self._first.explain(docnos)]

    def finds(self, docno: str) -> bool:
        """Whether a document is above the cut-off."""
        return docno in self._first.hits(self._k).docnos


class CombinedPipeline(BasePipeline):
    """A pipeline of several parts over one index."""

    parts: tuple[BasePipeline, ...]

    @property
    def depth(self) -> int | None:
        """All documents that the parts give."""
        return None

    def parse(self, query: str | Query, syntax: str = "plain") -> Query:
        """A query as the first part understands it."""
        return self.parts[0].parse(query, syntax)

    def learnt_from(self, topics: Sequence[Topic]) -> set[str]:
        """The qids of topics that a model of any part was trained on."""
        return set().union(*(part.learnt_from(topics) for part in self.parts))

    def _combine(self, parts: Sequence[BasePipeline]) -> None:
        """Keep the parts and their engine; raises SettingError if they search different indexes."""
        engines = {id(part.engine): part.engine for part in parts}
        if len(engines) > 1:
            folders = {str(engine.snapshot.folder) for engine in engines.values()}
            found = f"different indexes, {name_some(sorted(folders))}" if len(folders) > 1 else "one index opened twice"
            raise SettingError(f"the parts of a combination search {found}: expected one engine for all")
        object.__setattr__(self, "parts", tuple(parts))
        object.__setattr__(self, "engine", parts[0].engine)


class RankedSearch(BaseSearch):
    """A search that ranks a list of documents as a whole."""

    @property
    @abstractmethod
    def ranked(self) -> tuple[DocumentList, Floats]:
        """All documents that are found, best first, with their scores."""

    @abstractmethod
    def explain_row(self, row: int) -> Explanation:
        """Why the document in a row of `ranked` has its score."""

    def hits(self, k: int | None, *, began: float | None = None) -> PipelineHits:
        """The k best documents."""
        began = time.perf_counter() if began is None else began
        require_k(k)
        documents, scores = self.ranked
        columns = documents.shards[:k], documents.docs[:k], scores[:k]
        seconds = time.perf_counter() - began
        mark = partial(mark_documents, self.pipeline.engine.snapshot, documents.shards, documents.docs)
        matches = Matches(lambda: len(documents), mark, self.retrieval.search_fields)
        return PipelineHits(self, self.query, *columns, seconds, matches, list(documents.docnos[:k]))

    def explain(self, docnos: Sequence[str]) -> list[Explanation]:
        """Why documents have their scores; only documents that are found can be explained."""
        rows = {docno: row for row, docno in enumerate(self.ranked[0].docnos)}
        for docno in docnos:
            self.pipeline.engine.snapshot.locate(docno)
            if docno not in rows:
                found = f"the {len(rows):,} documents that {self.pipeline.label} ranks for this query"
                raise SettingError(f"{docno} is not among {found}")
        return [replace(self.explain_row(rows[docno]), found=True) for docno in docnos]

    def finds(self, docno: str) -> bool:
        """Whether a document is among those that are ranked."""
        return docno in self.ranked[0].docnos


class CombinedSearch(RankedSearch):
    """One query in a combination: the best documents of each part, found once."""

    def __init__(self, pipeline: CombinedPipeline, request: SearchRequest) -> None:
        self.searches = [request.search_of(part) for part in pipeline.parts]
        super().__init__(pipeline, self.searches[0].query, self.searches[0].filters)
        self.parts = pipeline.parts

    @property
    def retrieval(self) -> PipelineSearch:
        """The search of the first part's retriever."""
        return self.searches[0].retrieval

    @cached_property
    def part_hits(self) -> list[PipelineHits]:
        """The best documents of each part."""
        return [search.hits(part.depth) for part, search in zip(self.parts, self.searches, strict=True)]

    @cached_property
    def documents(self) -> DocumentList:
        """The documents of all parts, each once."""
        documents = NO_DOCUMENTS
        for hits in self.part_hits:
            documents = documents.union(DocumentList.of(hits))
        return documents


@dataclass(frozen=True, repr=False)
class ScoreSum(CombinedPipeline):
    """The weighted sum of the scores of several pipelines."""

    terms: tuple[tuple[float, BasePipeline], ...]
    parts: tuple[BasePipeline, ...] = field(init=False, compare=False)
    engine: SearchEngine = field(init=False, compare=False)

    def __post_init__(self) -> None:
        self._combine([part for _, part in self.terms])

    @property
    def summands(self) -> tuple[tuple[float, BasePipeline], ...]:
        """The weighted parts."""
        return self.terms

    @property
    def label(self) -> str:
        """The sum as it could be written."""
        return " + ".join(_weighted(weight, part.label) for weight, part in self.terms)

    def over(self, engine: SearchEngine) -> ScoreSum:
        """The same sum over another engine of the same index."""
        return ScoreSum(tuple((weight, part.over(engine)) for weight, part in self.terms))

    def begin(self, request: SearchRequest) -> ScoreSumSearch:
        """A search that has computed nothing yet."""
        return ScoreSumSearch(self, request)


class ScoreSumSearch(CombinedSearch):
    """One query in a weighted sum."""

    def __init__(self, pipeline: ScoreSum, request: SearchRequest) -> None:
        super().__init__(pipeline, request)
        self._terms = pipeline.terms

    @cached_property
    def ranked(self) -> tuple[DocumentList, Floats]:
        """All documents of the parts, by the sum of their scores."""
        rows = {docno: row for row, docno in enumerate(self.documents.docnos)}
        scores = np.zeros(len(rows))
        for (weight, _), hits in zip(self._terms, self.part_hits, strict=True):
            scores[[rows[docno] for docno in hits.docnos]] += weight * hits.scores
        order = best_first(scores, self.documents.docnos)
        return self.documents.take(order.tolist()), scores[order]

    def explain_row(self, row: int) -> Explanation:
        """What each part adds, by its own explanation."""
        documents, scores = self.ranked
        docno, parts = documents.docnos[row], []
        for (weight, part), search, hits in zip(self._terms, self.searches, self.part_hits, strict=True):
            if docno in hits.docnos:
                for each in search.explain([docno])[0].parts:
                    label = f"{_weighted(weight, part.label)}: {each.label}"
                    parts.append(replace(each, label=label, amount=weight * each.amount))
        parts.sort(key=lambda each: -abs(each.amount))
        return Explanation(docno, float(scores[row]), tuple(parts))


@dataclass(frozen=True, init=False, repr=False)
class Fusion(CombinedPipeline):
    """Rank fusion of several pipelines over one index, by a method of `searchlab.fuse`: rrf, combsum, …

    With `weights`, one for each pipeline, the points of a pipeline are multiplied by its weight. `a | b` is
    `Fusion([a, b])`.
    """

    parts: tuple[BasePipeline, ...]
    method: str
    weights: tuple[float, ...]
    engine: SearchEngine = field(compare=False)

    def __init__(
        self, parts: Sequence[BasePipeline], method: str = "rrf", weights: Sequence[float] | None = None
    ) -> None:
        if not isinstance(parts, Sequence):
            raise SettingError(f"found {parts!r} to fuse, expected a list of pipelines")
        for part in parts:
            if not isinstance(part, BasePipeline):
                raise SettingError(f"found {part!r} among those to fuse, expected pipelines")
        object.__setattr__(self, "method", method)
        object.__setattr__(self, "weights", tuple(check_fusion(len(parts), method, weights)))
        self._combine(parts)

    @property
    def label(self) -> str:
        """The fusion as it could be written."""
        if len(self.fused) > 1:
            return " | ".join(bracketed(part.label) for part in self.parts)
        weighted = [_weighted(weight, part.label) for weight, part in zip(self.weights, self.parts, strict=True)]
        return f"{self.method}({', '.join(weighted)})"

    @property
    def fused(self) -> tuple[BasePipeline, ...]:
        """The parts of a reciprocal rank fusion without weights; any other fusion is one part itself."""
        return self.parts if self.method == "rrf" and set(self.weights) == {1.0} else (self,)

    def over(self, engine: SearchEngine) -> Fusion:
        """The same fusion over another engine of the same index."""
        return Fusion([part.over(engine) for part in self.parts], self.method, self.weights)

    def begin(self, request: SearchRequest) -> FusionSearch:
        """A search that has computed nothing yet."""
        return FusionSearch(self, request)


class FusionSearch(CombinedSearch):
    """One query in a fusion."""

    def __init__(self, pipeline: Fusion, request: SearchRequest) -> None:
        super().__init__(pipeline, request)
        self._fusion = pipeline

    @cached_property
    def _points(self) -> tuple[DocumentList, Floats, Array]:
        rankings = [
            (number, Ranking("", hits.docnos, hits.scores.tolist()))
            for number, hits in enumerate(self.part_hits)
            if self._fusion.weights[number]
        ]
        fused = fuse_topic(self.query.text, rankings, self._fusion.method, self._fusion.weights)
        rows = {docno: row for row, docno in enumerate(self.documents.docnos)}
        return self.documents.take([rows[docno] for docno in fused.docnos]), fused.totals, fused.points

    @property
    def ranked(self) -> tuple[DocumentList, Floats]:
        """All documents of the parts, by their fused scores."""
        return self._points[:2]

    def explain_row(self, row: int) -> Explanation:
        """The points that each part gives; a part that did not find the document has no rank for it."""
        documents, scores, points = self._points
        docno, parts = documents.docnos[row], []
        for part, hits, amounts in zip(self._fusion.parts, self.part_hits, points, strict=True):
            rank = hits.docnos.index(docno) + 1 if docno in hits.docnos else None
            label = f"{part.label}: " + ("not found" if rank is None else f"rank {rank}")
            parts.append(Contribution(label, float(amounts[row]), rank))
        parts.sort(key=lambda each: -abs(each.amount))
        return Explanation(docno, float(scores[row]), tuple(parts))


def require_weight(weight: object) -> None:
    """Raise SettingError unless a weight is a finite number."""
    if isinstance(weight, bool) or not isinstance(weight, int | float | np.number) or not math.isfinite(weight):
        raise SettingError(f"weight is {weight!r}, expected a finite number, as in 0.7 * pipeline")


def bracketed(label: str) -> str:
    """A label as an operand: in brackets if it has operators itself."""
    return f"({label})" if any(operator in label for operator in (" >> ", " + ", " | ", " * ", " % ")) else label


def _weighted(weight: float, label: str) -> str:
    return bracketed(label) if weight == 1 else f"{weight:g} * {bracketed(label)}"
