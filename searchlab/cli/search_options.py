"""The options of a search: scorer, settings, stream, filters, expansion and syntax."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Annotated

import typer

from searchlab.cli.messages import note
from searchlab.corpus.text_cleaning import on_one_line
from searchlab.errors import SettingError, unknown_name

if TYPE_CHECKING:
    from searchlab.mixtures.weights import MixtureWeights
    from searchlab.retrieval.engine import SearchEngine
    from searchlab.retrieval.expansion import RM3
    from searchlab.retrieval.pipeline import Pipeline
    from searchlab.scorers.base import Scorer

ScorerOption = Annotated[
    str,
    typer.Option(
        "--scorer",
        metavar="NAME",
        help="absolute, bm25, bm25f, dirichlet, jm, mixture, plsa, tfidf, two-stage or wtm",
    ),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="A setting of the scorer, such as mu=500; repeatable"),
]
WeightsOption = Annotated[
    str | None,
    typer.Option("--weights", metavar="FILE", help="Trained weights for --scorer mixture, as train-lm writes them"),
]
StreamOption = Annotated[
    str, typer.Option("--stream", metavar="title|body|both|ngrams", help="The text of documents that is searched")
]
FilterOption = Annotated[
    list[str] | None,
    typer.Option("--filter", metavar="FIELD=VALUE", help="Only documents with this value, or [1988 TO 1990]"),
]
ExpandOption = Annotated[
    str | None,
    typer.Option(
        "--expand",
        metavar="rm3[:NAME=VALUE,...]",
        help="Add words of the best documents to the query; settings as in rm3:documents=10,terms=20,weight=0.5",
    ),
]
SyntaxOption = Annotated[
    str,
    typer.Option(
        "--syntax",
        metavar="plain|full",
        help="How queries are read: as plain words, or with phrases, operators, fields and wildcards",
    ),
]


LanguageOption = Annotated[
    str | None,
    typer.Option(
        "--language",
        metavar="NAME",
        help="The language of the query, in an index of several languages [default: all of them]",
        show_default=False,
    ),
]


SynonymsOption = Annotated[
    str | None,
    typer.Option(
        "--synonyms",
        metavar="FILE",
        help="Words that stand for each other in queries: lines such as `a, b, c` or `a => b, c`",
        show_default=False,
    ),
]


@dataclass(frozen=True)
class SearchOptions:
    """The options of a search as users write them; `scorer` and `expansion` refuse unknown names and wrong values."""

    scorer_name: str = "bm25"
    settings: dict[str, str] = field(default_factory=dict)
    stream: str = "both"
    filters: tuple[str, ...] = ()
    expand: str | None = None
    syntax: str = "plain"
    # Trained weights, and the scorer that they make for the index that is searched.
    weights: MixtureWeights | None = None
    trained: Scorer | None = None

    @classmethod
    def read(
        cls,
        scorer: str,
        settings: list[str] | None,
        stream: str = "both",
        filters: list[str] | None = None,
        expand: str | None = None,
        *,
        syntax: str = "plain",
        weights: str | None = None,
    ) -> SearchOptions:
        """The options of a command line; mistakes in them are reported at once, before an index is opened."""
        from searchlab.retrieval.query.query_analyzer import SYNTAXES

        if syntax not in SYNTAXES:
            raise unknown_name("query syntax", syntax, SYNTAXES)
        values = dict(pairs(settings or (), "--set"))
        trained = _read_weights(weights, scorer, values)
        options = cls(scorer, values, stream, tuple(filters or ()), expand, syntax, trained)
        _ = options.scorer, options.expansion
        return options

    def for_index(self, engine: SearchEngine) -> SearchOptions:
        """The same options for one index; trained weights that do not fit it are refused."""
        if self.weights is None:
            return self
        for remark in self.weights.remarks(engine.snapshot):
            note(remark)
        return replace(self, trained=self.weights.scorer(engine.snapshot))

    def pipeline(self, engine: SearchEngine) -> Pipeline:
        """The pipeline that these options describe."""
        from searchlab.retrieval.pipeline import Pipeline

        return Pipeline(engine, self.scorer, self.stream, self.expansion)

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


def _read_weights(path: str | None, scorer: str, settings: dict[str, str]) -> MixtureWeights | None:
    if path is None:
        return None
    if scorer != "mixture":
        raise SettingError(f"--weights are those of a mixture: expected --scorer mixture, found {scorer}")
    if settings:
        raise SettingError("--weights replace the settings of a mixture: expected either --weights or --set")
    from searchlab.mixtures.weights import read_weights

    return read_weights(path)


def pairs(settings: Iterable[str], option: str, example: str = "mu=500") -> Iterable[tuple[str, str]]:
    """Names and values of settings written as NAME=VALUE."""
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals:
            raise SettingError(f"{option} {on_one_line(setting)}: expected NAME=VALUE, such as {example}")
        yield key.strip(), value.strip()
