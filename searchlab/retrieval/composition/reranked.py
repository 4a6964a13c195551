"""Re-ranking: the best documents of a pipeline, in the order of a model or of a function of the user.

    bm25 >> rerank(model)                   the order of a trained model
    bm25 >> rerank(lambda query, hits: …)   the order of the scores that a function gives

Only the candidates, the best documents of the pipeline before it, are scored and found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from searchlab.corpus.text_cleaning import excerpt
from searchlab.errors import SettingError, StoreError
from searchlab.extensions import failure
from searchlab.records import Topic
from searchlab.retrieval.composition.base_pipeline import BasePipeline, BaseSearch, SearchRequest
from searchlab.retrieval.composition.combinations import RankedSearch, bracketed
from searchlab.retrieval.document_list import DocumentList, best_first
from searchlab.retrieval.results import Contribution, Explanation, Hits, Query
from searchlab.types import Array, Floats

if TYPE_CHECKING:
    from searchlab.retrieval.engine import SearchEngine
    from searchlab.retrieval.pipeline import PipelineSearch

# Scores for hits of a query: as many numbers as there are hits.
ScoreFunction = Callable[[str, Hits], Any]


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

    def explain(self, row: int) -> Explanation:
        """Why the candidate in a row has its score."""


class CandidateModel(Protocol):
    """What orders the hits of a pipeline."""

    @property
    def label(self) -> str:
        """The model in a few words."""

    def over(self, engine: SearchEngine) -> CandidateModel:
        """The same model over another engine of the same index."""

    def learnt_from(self, topics: Sequence[Topic]) -> set[str]:
        """The qids of those topics that the model was trained on."""

    def score_hits(self, search: BaseSearch, hits: Hits) -> ScoredCandidates:
        """Score the hits of a search."""


@dataclass(frozen=True, repr=False)
class Reranked(BasePipeline):
    """The `n_candidates` best documents of a pipeline, in the order of a model."""

    first: BasePipeline
    model: CandidateModel
    n_candidates: int
    engine: SearchEngine = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "engine", self.first.engine)

    @property
    def label(self) -> str:
        """The steps, one after the other."""
        first = self.first.label
        return f"{first if ' | ' not in first else bracketed(first)} >> {self.model.label}"

    @property
    def depth(self) -> int | None:
        """All candidates."""
        return None

    def parse(self, query: str | Query, syntax: str = "plain") -> Query:
        """A query as the first search understands it."""
        return self.first.parse(query, syntax)

    def over(self, engine: SearchEngine) -> Reranked:
        """The same steps over another engine of the same index."""
        return Reranked(self.first.over(engine), self.model.over(engine), self.n_candidates)

    def learnt_from(self, topics: Sequence[Topic]) -> set[str]:
        """The qids of topics that the model, or one before it, was trained on."""
        return self.first.learnt_from(topics) | self.model.learnt_from(topics)

    def begin(self, request: SearchRequest) -> RerankedSearch:
        """A search that has computed nothing yet."""
        return RerankedSearch(self, request.search_of(self.first), request.qid)


class RerankedSearch(RankedSearch):
    """One query whose candidates are re-ranked."""

    def __init__(self, pipeline: Reranked, first: BaseSearch, qid: str | None) -> None:
        super().__init__(pipeline, first.query, first.filters, qid)
        self._reranked = pipeline
        self._first = first

    @property
    def retrieval(self) -> PipelineSearch:
        """The search of a retriever that this one begins with."""
        return self._first.retrieval

    @property
    def expanded_query(self) -> Query:
        """The query after expansion."""
        return self._first.expanded_query

    @cached_property
    def scored(self) -> ScoredCandidates:
        """The candidates as the model scores them."""
        return self._reranked.model.score_hits(self, self._first.hits(self._reranked.n_candidates))

    @cached_property
    def ranked(self) -> tuple[DocumentList, Floats]:
        """The candidates, best first."""
        order = self.scored.order
        return self.scored.documents.take(order.tolist()), self.scored.scores[order]

    def explain_row(self, row: int) -> Explanation:
        """Why a candidate has its score, by the model."""
        return self.scored.explain(int(self.scored.order[row]))


@dataclass(frozen=True, eq=False)
class FunctionModel:
    """A function `f(query, hits)` that gives a score to each of the hits; a higher score is better."""

    function: ScoreFunction
    name: str

    @property
    def label(self) -> str:
        """The function by its name."""
        return f"rerank({self.name})"

    def over(self, engine: SearchEngine) -> FunctionModel:
        """The function itself: it sees the hits of any engine."""
        return self

    def learnt_from(self, topics: Sequence[Topic]) -> set[str]:
        """None: what a function has learnt from is not known."""
        return set()

    def score_hits(self, search: BaseSearch, hits: Hits) -> ScoredHits:
        """Score the hits of a search; hits that are none are not shown to the function."""
        scores = self._check_scores(self._call(search.query.text, hits), len(hits)) if len(hits) else np.zeros(0)
        return ScoredHits(DocumentList.of(hits), scores, self.name)

    def _call(self, text: str, hits: Hits) -> Any:
        try:
            found = self.function(text, hits)
            # A generator runs the user's code, too.
            return list(found) if isinstance(found, Iterator) else found
        except StoreError:
            raise
        except Exception as error:
            raise failure(f"{self.label} failed for query {excerpt(text)}", self.function, error) from error

    def _check_scores(self, found: Any, n: int) -> Floats:
        try:
            scores = np.array(found if hasattr(found, "__array__") else list(found), np.float64)
        except (TypeError, ValueError):
            raise SettingError(f"{self.label} gave {type(found).__name__}, expected {n} numbers") from None
        if scores.shape != (n,):
            shape = " x ".join(map(str, scores.shape)) or "one number"
            raise SettingError(f"{self.label} gave {shape} scores, expected {n}, one for each hit")
        if not np.isfinite(scores).all():
            raise SettingError(
                f"{self.label} gave the score {scores[~np.isfinite(scores)][0]}, expected finite numbers"
            )
        return scores


@dataclass(frozen=True, eq=False)
class ScoredHits:
    """Hits with the scores of a function."""

    documents: DocumentList
    scores: Floats
    name: str

    @cached_property
    def order(self) -> Array:
        """The rows, best first."""
        return best_first(self.scores, self.documents.docnos)

    def explain(self, row: int) -> Explanation:
        """The score is one part: what is in the function is not known."""
        score = float(self.scores[row])
        return Explanation(self.documents.docnos[row], score, (Contribution(self.name, score),))
