"""Named systems: retrieval pipelines by names that fit into a line and into a URL.

    bm25    bm25:k1=0.9,b=0.4    dirichlet+rm3    model:NAME

A system is a scorer, with or without expansion, or a trained model with its first stage. All have the same methods,
and all explain the scores of documents.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import ClassVar, Protocol

from searchlab.errors import SettingError, unknown_name
from searchlab.rankers.builtin import BUILTIN
from searchlab.rankers.reranking import Reranker
from searchlab.retrieval.composition.base_pipeline import PipelineHits
from searchlab.retrieval.engine import SearchEngine
from searchlab.retrieval.expansion import RM3
from searchlab.retrieval.fields.matches import Marks
from searchlab.retrieval.pipeline import Pipeline, PipelineSearch
from searchlab.retrieval.query.filters import Filter
from searchlab.retrieval.results import Explanation, Hits, Query
from searchlab.retrieval.search_arguments import Filters
from searchlab.scorers.registry import make_scorer

MODEL = "model:"
EXPANDED = "+rm3"
# A search is often followed by a request to explain its hits: this many searches of a system are cached for that.
MAX_CACHED_SEARCHES = 8


class System(Protocol):
    """Anything that ranks documents under a name."""

    @property
    def name(self) -> str:
        """The name, as in a URL."""

    @property
    def label(self) -> str:
        """The name for people."""

    @property
    def kind(self) -> str:
        """`scorer` or `model`."""

    def parse(self, query: str, syntax: str = "full") -> Query:
        """A query as this system understands it, to be searched and explained."""

    def search(
        self,
        query: str | Query,
        *,
        k: int | None = 10,
        syntax: str = "full",
        filters: Filters = (),
        sort: str | None = None,
    ) -> Hits:
        """The k best documents, or the first k in the order of a field."""

    def mark_hits(self, query: str | Query, *, syntax: str = "full", filters: Filters = ()) -> Marks:
        """For each shard of the index, which of its documents a search finds; they are not ranked."""

    def explain(
        self, query: str | Query, docnos: Sequence[str], *, syntax: str = "full", filters: Filters = ()
    ) -> list[Explanation]:
        """Why documents have their scores, and whether they are found at all."""


@dataclass(frozen=True)
class NamedPipeline:
    """A pipeline under a name; the last searches are cached, so that explaining their hits repeats nothing."""

    name: str
    pipeline: Pipeline
    _cached_search: Callable[[Query, tuple[Filter | str, ...]], PipelineSearch] = field(
        init=False, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        pipeline = self.pipeline

        def start(query: Query, filters: tuple[Filter | str, ...]) -> PipelineSearch:
            return pipeline.start(query, filters=filters)

        object.__setattr__(self, "_cached_search", lru_cache(MAX_CACHED_SEARCHES)(start))

    def parse(self, query: str, syntax: str = "full") -> Query:
        """A query as the first search understands it, before expansion."""
        return self.pipeline.parse(query, syntax)

    def search(
        self,
        query: str | Query,
        *,
        k: int | None = 10,
        syntax: str = "full",
        filters: Filters = (),
        sort: str | None = None,
    ) -> PipelineHits:
        """The k best documents, or the first k in the order of a field.

        Their marked words are those of the query, not those of its expansion.
        """
        search = self._start(query, syntax, filters)
        return search.hits(k) if sort is None else search.sorted_hits(k, sort)

    def mark_hits(self, query: str | Query, *, syntax: str = "full", filters: Filters = ()) -> Marks:
        """For each shard of the index, which of its documents a search finds; they are not ranked."""
        return self._start(query, syntax, filters).mark_hits()

    def explain(
        self, query: str | Query, docnos: Sequence[str], *, syntax: str = "full", filters: Filters = ()
    ) -> list[Explanation]:
        """Why documents have their scores (see `Pipeline.explain`)."""
        return self._start(query, syntax, filters).explain(docnos)

    def _start(self, query: str | Query, syntax: str, filters: Filters) -> PipelineSearch:
        return self._cached_search(self.pipeline.parse(query, syntax), tuple(filters))


@dataclass(frozen=True)
class ScorerSystem(NamedPipeline):
    """A scorer, with or without expansion."""

    kind: ClassVar[str] = "scorer"

    @property
    def label(self) -> str:
        """The scorer's name, its settings and the expansion."""
        _, _, settings = self.name.removesuffix(EXPANDED).partition(":")
        label = self.pipeline.scorer.label
        scorer = f"{label} ({settings.replace(',', ', ')})" if settings else label
        return f"{scorer} + RM3" if self.pipeline.expansion else scorer


@dataclass(frozen=True)
class ModelSystem(NamedPipeline):
    """A trained model on the candidates of its first stage."""

    ranker: str
    kind: ClassVar[str] = "model"

    @property
    def label(self) -> str:
        """The model's label."""
        return model_label(self.name.removeprefix(MODEL), self.ranker)


def model_label(name: str, ranker: str) -> str:
    """A model's name, and the ranker that learnt it, with the mark of its recipe."""
    return "the built-in model" if name == BUILTIN else f"{name} ({ranker})"


def make_system(
    engine: SearchEngine, name: str, models: Mapping[str, Callable[[], Reranker]] | None = None
) -> ScorerSystem | ModelSystem:
    """A system by its name; `models` are those that can be named, each opened when it is needed."""
    if name.startswith(MODEL):
        openers = models or {}
        wanted = name.removeprefix(MODEL)
        if wanted not in openers:
            raise unknown_name("model", wanted, openers) if openers else SettingError(f"there is no model {wanted!r}")
        reranker = openers[wanted]()
        return ModelSystem(name, reranker.pipeline(), reranker.bundle.label)
    scorer, settings, expanded = scorer_settings(name)
    pipeline = Pipeline(engine, make_scorer(scorer, settings), expansion=RM3() if expanded else None)
    return ScorerSystem(name, pipeline)


def scorer_settings(name: str) -> tuple[str, dict[str, str], bool]:
    """The scorer of a system's name, its settings, and whether the query is expanded: bm25:k1=0.9+rm3."""
    bare = name.removesuffix(EXPANDED)
    scorer, colon, text = bare.partition(":")
    settings = dict(_parse_setting(part) for part in text.split(",")) if colon else {}
    return scorer, settings, bare != name


def _parse_setting(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals:
        raise SettingError(f"setting is {text!r}, expected NAME=VALUE, such as bm25:k1=0.9")
    return key.strip(), value.strip()
