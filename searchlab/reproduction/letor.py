"""Evaluation of rankers on LETOR folds.

Each fold has a training, a validation and a test set. A ranker learns from the first, its settings are chosen on the
second (`selection.py`), and it is evaluated on the third, which was not used before. In a fold without a validation
set, settings are chosen on parts of the training queries, held out in turn. Means are taken over the queries of a fold,
then over folds, as in LETOR's tables. Folds run in parallel. The values of each test query are recorded, for
significance tests and curves.

Every ranker is trained by the recipes `paper` and `tuned` (`recipe.py`); where both do the same, once. Rankers are only
compared with others of the same recipe (`results_of`).
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from searchlab.cluster.cluster import Cluster
from searchlab.cluster.job_runs import finish_jobs
from searchlab.errors import SettingError
from searchlab.evaluation.measure_families import FAMILIES
from searchlab.evaluation.measures import parse_measure
from searchlab.features.feature_table import FeatureTable, concat
from searchlab.features.letor.folds import read_folds
from searchlab.rankers.ranker_registry import BUILT_IN
from searchlab.training.recipe import RECIPES, Recipe
from searchlab.types import Floats, Progress, no_progress

# The measures of LETOR's tables, by LETOR's names and ours.
MEASURES = {
    "MAP": "AP",
    **{f"NDCG@{k}": f"nDCG@{k}" for k in (1, 3, 5, 10)},
    **{f"P@{k}": f"P@{k}" for k in (1, 5, 10)},
}
# The measures of Cao et al. (2006): they discount by log(1 + rank) from the first rank on (eq. 20), and count only
# definitely relevant documents, those of the highest grade, as relevant (eq. 21).
EQ_20 = {f"NDCG@{k} (eq. 20)": f"nDCG(dcg='exp-log2')@{k}" for k in (1, 3, 5)}
EQ_21 = "MAP (eq. 21)"
# The documents of a query that Table 3 of Cao et al. shows.
TOP_DOCUMENTS = 5
# The ranker "linear" needs weights given by hand, and "lambdamart" another package.
DEFAULT_RANKERS = tuple(name for name in BUILT_IN if name not in ("linear", "lambdamart"))


# The tables for training, validation and test; without the second, settings are chosen on parts of the first.
FoldTables = tuple[FeatureTable, FeatureTable | None, FeatureTable]


def recorded_measures(relevant_from: int | None, highest_grade: int) -> dict[str, str]:
    """The measures recorded for each query, including those of the papers' figures.

    In MAP and P@n documents are relevant from the grade `relevant_from` on; by default by the rules of the dialect,
    which is from 1 on, and in the MAP of eq. 21 those of the highest grade.
    """
    measures = {
        **MEASURES,
        **{f"NDCG@{k}": f"nDCG@{k}" for k in (*range(1, 11), 15, 20, 25, 30)},
        **{f"P@{k}": f"P@{k}" for k in range(1, 11)},
        **EQ_20,
    }
    recorded = {name: with_relevance(measure, relevant_from) for name, measure in measures.items()}
    return recorded | {EQ_21: with_relevance("AP", relevant_from or max(1, highest_grade))}


def with_relevance(measure: str, relevant_from: int | None) -> str:
    """A measure with the lowest relevant grade, if it has such a setting and leaves it open."""
    parsed = parse_measure(measure)
    if relevant_from is None or parsed.rel is not None or "rel" not in FAMILIES[parsed.family].settings:
        return measure
    return f"{parsed.family}(rel={relevant_from}){f'@{parsed.cutoff}' if parsed.cutoff else ''}"


@dataclass(frozen=True, eq=False)
class FoldResult:
    """One ranker on one fold: its measures on the test set, and how it was trained.

    `tried` are the values of the tuned setting, `chosen` the best of them, `n_averaged` the models that are averaged,
    and `gap` the largest certified duality gap of one of them. `per_query` has the values of each recorded measure for
    `qids`, the queries of the test set, and `top_grades` the grades of the best five documents of each.
    """

    fold: str
    measures: Mapping[str, float]
    train_seconds: float
    choose_seconds: float
    n_pairs: float | None
    gap: float | None
    tried: tuple[Any, ...]
    chosen: tuple[Any, ...]
    n_averaged: int
    qids: tuple[str, ...]
    per_query: Mapping[str, Floats]
    top_grades: Mapping[str, tuple[int, ...]]

    def to_json(self) -> dict[str, Any]:
        """The result as plain JSON."""
        return {
            "fold": self.fold,
            **self.measures,
            "train_seconds": self.train_seconds,
            "choose_seconds": self.choose_seconds,
            "pairs": self.n_pairs,
            "gap": self.gap,
            "tried": list(self.tried),
            "chosen": list(self.chosen),
            "averaged": self.n_averaged,
        }


@dataclass(frozen=True, eq=False)
class RankerResult:
    """One ranker, trained by one recipe, on all folds."""

    recipe: Recipe
    folds: tuple[FoldResult, ...]

    @property
    def ranker(self) -> str:
        """The name of the ranker."""
        return self.recipe.ranker_name

    @property
    def label(self) -> str:
        """The name of the ranker with the mark of its recipe."""
        return self.recipe.label

    def mean(self, measure: str) -> float:
        """The mean over the queries of each fold, then over folds."""
        return float(np.mean([np.mean(fold.per_query[measure]) for fold in self.folds]))

    def values(self, measure: str) -> Floats:
        """The values of all test queries, fold by fold."""
        return np.concatenate([fold.per_query[measure] for fold in self.folds])

    @property
    def qids(self) -> list[str]:
        """All test queries, in the order of `values`."""
        return [qid for fold in self.folds for qid in fold.qids]

    @property
    def train_seconds(self) -> float:
        """The time of one fit of the chosen setting, averaged over folds."""
        return float(np.mean([fold.train_seconds for fold in self.folds]))

    @property
    def choose_seconds(self) -> float:
        """The time of choosing among all settings, averaged over folds."""
        return float(np.mean([fold.choose_seconds for fold in self.folds]))

    @property
    def n_pairs(self) -> float | None:
        """The number of training pairs, averaged over folds; None for rankers that do not learn from pairs."""
        known = [fold.n_pairs for fold in self.folds if fold.n_pairs is not None]
        return float(np.mean(known)) if known else None

    @property
    def gap(self) -> float | None:
        """The largest certified duality gap of a single solution; None for rankers without a certificate."""
        return max((fold.gap for fold in self.folds if fold.gap is not None), default=None)

    @property
    def n_averaged(self) -> int:
        """The number of solutions that are averaged, the largest of all folds."""
        return max(fold.n_averaged for fold in self.folds)

    def to_json(self) -> dict[str, Any]:
        """The result as plain JSON."""
        return {
            "ranker": self.ranker,
            "recipe": self.recipe.to_json(),
            **{measure: self.mean(measure) for measure in self.folds[0].measures},
            "train_seconds": self.train_seconds,
            "choose_seconds": self.choose_seconds,
            "pairs": self.n_pairs,
            "gap": self.gap,
            "folds": [fold.to_json() for fold in self.folds],
        }


@dataclass(frozen=True, eq=False)
class FoldData:
    """Folds by their names, with their training, validation and test tables; no two of a fold share a query."""

    names: tuple[str, ...]
    tables: tuple[FoldTables, ...]

    def __post_init__(self) -> None:
        if not self.names or len(self.names) != len(self.tables):
            found = f"{len(self.names)} names and {len(self.tables)} tables"
            raise SettingError(f"folds have {found}, expected as many of each, at least one")
        for name, parts in zip(self.names, self.tables, strict=True):
            _require_disjoint(name, parts)

    @cached_property
    def whole(self) -> FeatureTable:
        """All rows, from the tables of the first fold."""
        return concat([part for part in self.tables[0] if part is not None])

    @property
    def highest_grade(self) -> int:
        """The highest grade of all rows."""
        grades = self.whole.grades
        return 0 if grades is None or not len(grades) else int(np.max(grades))

    @property
    def chosen_on(self) -> str:
        """What settings are chosen on."""
        n_valid = sum(valid is not None for _, valid, _ in self.tables)
        if n_valid == len(self.tables):
            return "the validation set of each fold"
        parts = "parts of the training queries, held out in turn"
        return parts if not n_valid else f"the validation set of a fold, or without one on {parts}"


def read_data(folder: str | Path) -> FoldData:
    """Read all folds of a folder; refuse a fold whose tables share a query."""
    folds = read_folds(folder)
    return FoldData(tuple(fold.name for fold in folds), tuple(fold.read() for fold in folds))


def reproduce(
    source: str | Path | FoldData,
    rankers: Sequence[Any] = DEFAULT_RANKERS,
    *,
    recipe: Recipe | None = None,
    recipe_names: Sequence[str] = tuple(RECIPES),
    relevant_from: int | None = None,
    n_jobs: int | None = None,
    cluster: Cluster | str | None = None,
    progress: Progress = no_progress,
) -> dict[str, RankerResult]:
    """Train and evaluate every ranker by every recipe on every fold of a folder, or of data that was read before.

    Rankers are names or estimators. Results are by the labels of recipes. `recipe` has what is common to all, except
    ranker and name. `n_jobs` processes train, by default one a core; or the workers of a `cluster`.
    """
    # Settings that do not fit a ranker are refused before any work is done.
    recipes = make_recipes(recipe or Recipe(), rankers, recipe_names, relevant_from)
    data = source if isinstance(source, FoldData) else read_data(source)
    measures = recorded_measures(relevant_from, data.highest_grade)
    n_folds = len(data.names)
    # In reverse, because the slowest rankers are usually last: this keeps all cores busy to the end.
    work = [(label, number) for label in reversed(recipes) for number in range(n_folds)]
    results: dict[str, dict[int, FoldResult]] = {label: {} for label in recipes}
    progress("training", 0, len(work))
    calls = [(recipes[label], data.names[number], data.tables[number], number, measures) for label, number in work]
    finished = finish_jobs(_run_fold, calls, n_jobs=n_jobs, cluster=cluster)
    for done, (label, number, result) in enumerate(finished, start=1):
        results[label][number] = result
        progress("training", done, len(work))
    return {
        label: RankerResult(recipes[label], tuple(by_fold[number] for number in range(n_folds)))
        for label, by_fold in results.items()
    }


def make_recipes(
    common: Recipe, rankers: Sequence[Any], names: Sequence[str], relevant_from: int | None = None
) -> dict[str, Recipe]:
    """The recipes of all rankers by their labels; where two recipes of a ranker do the same, the first alone.

    Rankers are names or estimators.
    """
    if relevant_from is not None and relevant_from < 1:
        raise SettingError(f"relevant_from is {relevant_from}, expected a grade from 1")
    measure = with_relevance(common.measure, relevant_from)
    recipes: dict[str, Recipe] = {}
    for ranker in rankers:
        by_name = [replace(common, ranker=ranker, name=name, measure=measure) for name in names]
        distinct = by_name[:1] if by_name[0].is_shared else by_name
        recipes |= {each.label: each for each in distinct}
    return recipes


def results_of(results: Mapping[str, RankerResult], recipe_name: str) -> dict[str, RankerResult]:
    """The results of one recipe by the names of rankers, with those of rankers for which both recipes are the same."""
    return {
        result.ranker: result
        for result in results.values()
        if result.recipe.name == recipe_name or result.recipe.is_shared
    }


def _require_disjoint(name: str, parts: FoldTables) -> None:
    """Refuse a query that is in two tables of a fold."""
    train, valid, test = (set() if part is None else set(part.query_ids) for part in parts)
    for one, other, names in ((train, valid, "train and validation"), (train | valid, test, "training and test")):
        shared = sorted(one & other)
        if shared:
            raise SettingError(f"{name}: query {shared[0]} is in the {names} sets, expected in one of them")


def _run_fold(
    recipe: Recipe, fold: str, parts: FoldTables, number: int, measures: Mapping[str, str]
) -> tuple[str, int, FoldResult]:
    train, valid, test = parts
    measure = recipe.validation_measure()
    began = time.perf_counter()
    choice = recipe.learn(train, measure, valid)
    choosing = time.perf_counter() - began
    ranker = recipe.make_ranker()
    best = choice.chosen[0]
    if ranker.tuned is not None and best.value is not None:
        ranker.set_params(**{ranker.tuned: best.value})
    prepared = choice.preprocessor.transform(train)
    began = time.perf_counter()
    ranker.fit(prepared.values, np.asarray(prepared.grades), prepared.qids)
    training = time.perf_counter() - began
    distinct = list(dict.fromkeys(measures.values()))
    scores = choice.scores(test)
    values = dict(zip(distinct, measure.values(test, scores, distinct).T.copy(), strict=True))
    per_query = {name: values[each] for name, each in measures.items()}
    details = [each.details_ for each in choice.rankers]
    gaps = [each["gap"] for each in details if each.get("gap") is not None]
    result = FoldResult(
        fold,
        {name: float(np.mean(per_query[name])) for name in MEASURES},
        training,
        choosing,
        details[0].get("n_pairs"),
        max(gaps, default=None),
        tuple(trial.value for trial in choice.trials if len(trial.per_query)),
        tuple(trial.value for trial in choice.chosen),
        len(choice.rankers),
        tuple(test.query_ids),
        per_query,
        measure.top_grades(test, scores, TOP_DOCUMENTS),
    )
    return recipe.label, number, result
