"""How does the user want to search? Scorer, settings, stream, filters and expansion, by their names."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Annotated

import typer

from searchlab.cli.app import note
from searchlab.errors import SettingError, unknown_name

if TYPE_CHECKING:
    from searchlab.mixtures.weights import MixtureWeights
    from searchlab.retrieval.engine import SearchEngine
    from searchlab.retrieval.expansion import RM3
    from searchlab.retrieval.results import Explanation, Hits, Query
    from searchlab.scorers.base import Scorer

ScorerOption = Annotated[
    str, typer.Option("--scorer", help="absolute, bm25, bm25f, dirichlet, jm, mixture, plsa, tfidf, two-stage or wtm")
]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="A setting of the scorer, such as mu=500"),
]
WeightsOption = Annotated[
    str | None,
    typer.Option("--weights", metavar="FILE", help="Trained weights for --scorer mixture, as train-lm writes them"),
]
StreamOption = Annotated[str, typer.Option("--stream", help="The text to search: title, body or both")]
FilterOption = Annotated[
    list[str] | None,
    typer.Option("--filter", metavar="FIELD=VALUE", help="Only documents with this value, or [1988 TO 1990]"),
]
ExpandOption = Annotated[
    str | None,
    typer.Option(
        "--expand", metavar="rm3", help="Add words of the best documents; rm3:documents=10,terms=20,weight=0.5 sets it"
    ),
]


@dataclass(frozen=True)
class Asking:
    """A way to ask; unknown names and values out of range are refused when it is first used."""

    scorer_name: str = "bm25"
    settings: dict[str, str] = field(default_factory=dict)
    stream: str = "both"
    filters: tuple[str, ...] = ()
    expand: str | None = None
    syntax: str = "plain"
    # Trained weights, and the scorer that they make with the index that is searched.
    weights: MixtureWeights | None = None
    trained: Scorer | None = None

    @classmethod
    def of(
        cls,
        scorer: str,
        settings: list[str] | None,
        stream: str = "both",
        filters: list[str] | None = None,
        expand: str | None = None,
        *,
        full: bool = False,
        weights: str | None = None,
    ) -> Asking:
        """What options say; mistakes in them are told at once, before an index is opened."""
        own = dict(pairs(settings or (), "--set"))
        syntax = "full" if full else "plain"
        asking = cls(scorer, own, stream, tuple(filters or ()), expand, syntax, _read_weights(weights, scorer, own))
        _ = asking.scorer, asking.expansion
        return asking

    def at(self, engine: SearchEngine) -> Asking:
        """The same for one index: trained weights are held against it, and refused if they do not fit."""
        if self.weights is None:
            return self
        for remark in self.weights.remarks(engine.snapshot):
            note(remark)
        return replace(self, trained=self.weights.scorer(engine.snapshot))

    @cached_property
    def scorer(self) -> Scorer:
        """The scorer with its settings, or with trained weights, if it is the mixture and has no settings."""
        from searchlab.scorers.registry import make_scorer

        if self.trained is not None and self.scorer_name == "mixture" and not self.settings:
            return self.trained
        return make_scorer(self.scorer_name, self.settings)

    @cached_property
    def expansion(self) -> RM3 | None:
        """The expansion with its settings."""
        from searchlab.retrieval.expansion import RM3

        if self.expand is None:
            return None
        name, _, text = self.expand.partition(":")
        if name != "rm3":
            raise unknown_name("expansion", name, ["rm3"])
        values: dict[str, float] = {}
        for key, value in pairs(text.split(",") if text else (), "rm3:", "weight=0.5"):
            if key not in RM3.__dataclass_fields__:
                raise unknown_name("setting of rm3", key, RM3.__dataclass_fields__)
            try:
                values[key] = float(value) if key == "weight" else int(value)
            except ValueError:
                raise SettingError(f"rm3: {key} is {value!r}, expected a number") from None
        return RM3(**values)  # type: ignore[arg-type]

    def understand(self, engine: SearchEngine, text: str) -> Query:
        """A query as the engine understands it, expanded if that is wished."""
        query = engine.parse(text, self.scorer, self.stream, self.syntax)
        if self.expansion is None:
            return query
        return self.expansion.learn(engine, self.search(engine, query, self.expansion.documents), stream=self.stream)

    def search(self, engine: SearchEngine, query: Query, k: int | None) -> Hits:
        """The best documents for a query."""
        return engine.search(query, k=k, scorer=self.scorer, stream=self.stream, filters=self.filters)

    def explain(self, engine: SearchEngine, query: Query, docno: str) -> Explanation:
        """What each term adds to a document's score."""
        return engine.explain(query, docno, scorer=self.scorer, stream=self.stream)


def _read_weights(path: str | None, scorer: str, settings: dict[str, str]) -> MixtureWeights | None:
    if path is None:
        return None
    if scorer != "mixture":
        raise SettingError(f"--weights are those of a mixture: expected --scorer mixture, found {scorer}")
    if settings:
        raise SettingError("--weights say all that --set could: expected one of the two")
    from searchlab.mixtures.weights import read_weights

    return read_weights(path)


def pairs(settings: Iterable[str], option: str, example: str = "mu=500") -> Iterable[tuple[str, str]]:
    """NAME=VALUE, taken apart."""
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals:
            raise SettingError(f"{option} {setting}: expected NAME=VALUE, such as {example}")
        yield key.strip(), value.strip()
