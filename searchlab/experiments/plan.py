"""The plan of an experiment: systems, topics, folds and measures.

A plan is one TOML file. It must have systems, and an index or a collection; values shown here are the defaults, where
there are any:

    title = "Do learnt rankers help?"      # of the report [default: the file's name]
    index = "medical"                      # a folder, or a name in indexes/ [default: named after the collection]
    collection = "../corpora/medical"      # documents, topics, judgments; indexed if there is no index yet
    topics = "topics.tsv"                  # [default: those of the collection]
    qrels = "qrels.txt"                    # [default: those of the collection]
    output = "results/medical"             # the results folder [default: results/NAME, NAME that of this file]
    measures = ["nDCG@10", "AP", "P@10"]   # settings are chosen by the first
    dialect = "trec"                       # trec, letor3, letor4 or paper
    baseline = "BM25"                      # a system [default: the first]
    seed = 0                               # of parts, of tests, and of folds if they have none

    [folds]
    number = 5                             # of folds, with topics assigned at random
    seed = 0
    queries = [["1", "2"], ["3", "4"]]     # or: the topics of each fold
    file = "folds.txt"                     # or: a file with a line `qid fold` for each topic

    [first_stage]                          # the candidates that rankers re-rank
    scorer = "bm25"
    settings = {k1 = 1.2, b = 0.75}
    k = 200
    rm3 = true                             # and the k best of the expanded query

    [features]
    set = "semantic"                       # a set, or a TOML file with one
    names = ["letor.both.bm25"]            # or: features one by one, and sets
    external = {neural = "scores.tsv"}     # and features computed elsewhere: qid, docno, score, or a run

    [[systems]]                            # a scorer; with `grid`, settings are chosen on the other folds
    name = "BM25"                          # [default: the scorer's or the ranker's, RM3 if it expands]
    scorer = "bm25"
    settings = {k1 = 0.9}
    grid = {b = [0.3, 0.75]}
    rm3 = {documents = 10, terms = 20, weight = 0.5}     # or true [default: false]

    [[systems]]                            # a ranker; its tuned setting is chosen on parts of the other folds
    ranker = "rsvm-ir"
    settings = {}
    features = ["letor.both.bm25"]         # a set or names [default: those of [features]]
    parts = 4                              # of the training topics, held out in turn to choose settings on
    impute = "letor"
    normalise = "query-minmax"
    recipe = "tuned"                       # or "paper": the source's system as it is
    powers = false                         # [default: the recipe's; tuned adds none to candidates of a search]
    n_best = 5                             # how many of the best values are averaged [default: the recipe's]
    prior = "builtin"                      # or "none", or the file of a model [default: builtin where it fits]

Paths are relative to the file. Unknown keys are errors (`plan_file.py`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any

from searchlab.errors import SettingError
from searchlab.extensions import origin_of
from searchlab.features.feature_sets import FeatureSet
from searchlab.rankers.first_stage import FirstStage
from searchlab.records import Topic
from searchlab.retrieval.expansion import RM3
from searchlab.training.recipe import Recipe

MEASURES = ("nDCG@10", "AP", "P@10")
# A larger grid takes hours, and its best point is largely chance.
MAX_GRID_POINTS = 1000


@dataclass(frozen=True)
class FoldPlan:
    """The folds: `number` of them with topics assigned at random, or the lists of `queries`."""

    number: int = 5
    seed: int = 0
    queries: tuple[tuple[str, ...], ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The plan as plain JSON."""
        if self.queries:
            return {"queries": [list(fold) for fold in self.queries]}
        return {"number": self.number, "seed": self.seed}


@dataclass(frozen=True)
class SystemPlan:
    """A planned system: a scorer, optionally with RM3 and a grid of settings to choose from, or a ranker's recipe."""

    name: str
    scorer: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    grid: Mapping[str, tuple[float | str, ...]] = field(default_factory=dict)
    expansion: RM3 | None = None
    recipe: Recipe | None = None
    features: FeatureSet | None = None

    @property
    def learns(self) -> bool:
        """Whether it is a ranker, which has to be trained."""
        return self.recipe is not None

    @property
    def slug(self) -> str:
        """The name as a file name."""
        return make_slug(self.name)

    def for_topics(self, topics: Sequence[Topic]) -> SystemPlan:
        """The same system, with the recipe for these topics."""
        return self if self.recipe is None else replace(self, recipe=self.recipe.for_topics(topics))

    def points(self) -> list[dict[str, Any]]:
        """The settings to try; a single point if there is no grid."""
        return grid_points(self.settings, self.grid)

    def describe(self) -> str:
        """A short description."""
        if self.recipe is not None and self.features is not None:
            features = f"{len(self.features)} features" + (
                f" ({self.features.name})" if self.features.name != "chosen" else ""
            )
            settings = _in_brackets(self.settings)
            prepared = f"{self.recipe.imputation}, {self.recipe.normalisation}"
            return f"{self.recipe.ranker_name}{settings} on {features}, {prepared}; {self.recipe.describe()}"
        chosen = f", {' and '.join(self.grid)} chosen on the other folds" if self.grid else ""
        return f"{self.scorer}{_in_brackets(self.settings)}{' with RM3' if self.expansion else ''}{chosen}"

    def to_json(self) -> dict[str, Any]:
        """The system as plain JSON."""
        if self.recipe is not None and self.features is not None:
            recipe, origin = self.recipe, origin_of("ranker", self.recipe.ranker_name)
            return {
                "name": self.name,
                "ranker": recipe.ranker_name,
                **({} if origin is None else {"extension": origin.to_json()}),
                "settings": dict(self.settings),
                "features": list(self.features.names),
                "parts": recipe.n_parts,
                "impute": recipe.imputation,
                "normalise": recipe.normalisation,
                "recipe": recipe.to_json(),
                "measure": recipe.measure,
                "dialect": recipe.dialect,
                "seed": recipe.seed,
            }
        rm3 = self.expansion
        return {
            "name": self.name,
            "scorer": self.scorer,
            "settings": dict(self.settings),
            "grid": {name: list(values) for name, values in self.grid.items()},
            "rm3": None if rm3 is None else {"documents": rm3.documents, "terms": rm3.terms, "weight": rm3.weight},
        }


@dataclass(frozen=True)
class ExperimentPlan:
    """The plan of an experiment, as read from its file; the files it names have not been opened yet."""

    file: Path
    title: str
    output: Path
    systems: tuple[SystemPlan, ...]
    index: str | None = None
    collection: Path | None = None
    topics: Path | None = None
    qrels: Path | None = None
    measures: tuple[str, ...] = MEASURES
    dialect: str = "trec"
    baseline: str = ""
    seed: int = 0
    folds: FoldPlan = field(default_factory=FoldPlan)
    first_stage: FirstStage = field(default_factory=FirstStage)

    @property
    def measure(self) -> str:
        """The first measure, which settings are chosen by."""
        return self.measures[0]

    @property
    def rankers(self) -> tuple[SystemPlan, ...]:
        """The systems that are trained."""
        return tuple(system for system in self.systems if system.learns)

    def to_json(self) -> dict[str, Any]:
        """The plan as plain JSON: everything that results depend on, without paths."""
        return {
            "title": self.title,
            "systems": [system.to_json() for system in self.systems],
            "measures": list(self.measures),
            "dialect": self.dialect,
            "baseline": self.baseline,
            "seed": self.seed,
            "folds": self.folds.to_json(),
            "first_stage": self.first_stage.to_json() if self.rankers else None,
        }


def grid_points(settings: Mapping[str, Any], grid: Mapping[str, tuple[Any, ...]]) -> list[dict[str, Any]]:
    """All combinations of the values of a grid, each with the common settings."""
    n_points = 1
    for values in grid.values():
        n_points *= len(values)
    if n_points > MAX_GRID_POINTS:
        raise SettingError(f"the grid has {n_points:,} points, expected at most {MAX_GRID_POINTS:,}")
    return [{**settings, **dict(zip(grid, values, strict=True))} for values in product(*grid.values())]


def make_slug(name: str) -> str:
    """A name as a file name: letters, digits, dots and dashes."""
    return re.sub(r"[^\w.-]+", "-", name).strip("-.").lower()


def _in_brackets(settings: Mapping[str, Any]) -> str:
    return f"({', '.join(f'{name}={value}' for name, value in settings.items())})" if settings else ""
