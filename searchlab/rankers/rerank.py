"""Re-ranking as a step of a pipeline: `bm25 >> rerank(model)`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from searchlab.errors import SettingError
from searchlab.features.user_defined.external_features import ExternalFeature
from searchlab.rankers.builtin import as_bundle
from searchlab.rankers.bundle import Bundle
from searchlab.rankers.first_stage import FirstStage
from searchlab.rankers.reranking import Reranker, build_missing, warn_of_transfer
from searchlab.retrieval.composition.base_pipeline import BasePipeline
from searchlab.retrieval.composition.reranked import CandidateModel, FunctionModel, Reranked, ScoreFunction
from searchlab.retrieval.composition.steps import Step, require_cutoff
from searchlab.retrieval.engine import SearchEngine
from searchlab.retrieval.results import Hits

# How many documents a function of the user re-ranks.
DEFAULT_CANDIDATES = 100


class HitScorer(Protocol):
    """An object of the user that gives a score to each of the hits of a query."""

    def score(self, query: str, hits: Hits) -> Any:
        """As many numbers as there are hits; a higher one is better."""


@dataclass(frozen=True, eq=False)
class RerankStep(Step):
    """Re-ranking behind a pipeline; `make_model` opens the model for an index."""

    make_model: Callable[[SearchEngine], CandidateModel]
    name: str
    n_candidates: int

    @property
    def label(self) -> str:
        """The step as it could be written."""
        return f"rerank({self.name})"

    def follow(self, pipeline: BasePipeline) -> Reranked:
        """The best documents of the pipeline in the order of the model, which must fit the index."""
        return Reranked(pipeline, self.make_model(pipeline.engine), self.n_candidates)


def rerank(
    model: Bundle | str | Path | ScoreFunction | HitScorer,
    *,
    candidates: int | None = None,
    external: Sequence[ExternalFeature] = (),
) -> RerankStep:
    """A step that re-ranks the best documents of a pipeline: `bm25 >> rerank(model)`.

    The model is a `Bundle`, the path of one, or `"builtin"`, the model that comes with searchlab (what these need of an
    index and is not there yet, such as the semantic space, is made first and kept in the index); a function `f(query,
    hits)` that gives a score to each of the hits, of which `query` is the text; or an object with such a method,
    `score`. Only the `candidates` best documents of the pipeline are scored and found: by default as many as the model
    was trained with, or 100 for a function.

    `external` are the features of the model that are computed elsewhere (see `external_feature`). They have scores by
    topic: such a pipeline runs topics, but cannot search other queries.
    """
    given = _check_external(external)
    if candidates is not None:
        require_cutoff(candidates)
    bundle = as_bundle(model) if isinstance(model, str | Path) else model
    if isinstance(bundle, Bundle):
        n = candidates or (bundle.first_stage or FirstStage()).k
        return RerankStep(partial(_open_model, bundle, given), bundle.label, n)
    function = getattr(bundle, "score", bundle)
    if not callable(function) or isinstance(bundle, type):
        raise SettingError(
            f"rerank({model!r}): expected a model, the path of one, a function f(query, hits), "
            "or an object with a method score(query, hits)"
        )
    if given:
        raise SettingError(f"rerank({model!r}): found external features, which only a trained model takes")
    name = getattr(bundle, "__name__", type(bundle).__name__)
    _require_two_arguments(function, name)
    return RerankStep(lambda engine: FunctionModel(function, name), name, candidates or DEFAULT_CANDIDATES)


def _open_model(bundle: Bundle, external: tuple[ExternalFeature, ...], engine: SearchEngine) -> Reranker:
    build_missing(engine, bundle)
    warn_of_transfer(engine, bundle)
    return Reranker(engine, bundle, external)


def _require_two_arguments(function: Callable[..., Any], name: str) -> None:
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        # Some functions that are written in C do not say what they take.
        return
    try:
        signature.bind("query", "hits")
    except TypeError:
        raise SettingError(f"{name} takes {signature}, expected a function of two arguments: (query, hits)") from None


def _check_external(external: Any) -> tuple[ExternalFeature, ...]:
    listed = tuple(external) if isinstance(external, Iterable) else (None,)
    if not all(isinstance(each, ExternalFeature) for each in listed):
        found = type(external).__name__
        raise SettingError(f"external is {found}, expected a list such as [external_feature('neural', scores)]")
    return listed
