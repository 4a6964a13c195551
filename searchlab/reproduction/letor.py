"""Evaluation of rankers on LETOR folds.

Each fold has a training, a validation and a test set. A ranker learns from the first, its settings are chosen on the
second (`selection.py`), and it is evaluated on the third, which was not used before. Means are taken over the queries
of a fold, then over folds, as in LETOR's tables. Folds run in parallel. The values of each test query are recorded, for
significance tests and curves.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from searchlab.errors import SettingError, unknown_name
from searchlab.features.feature_table import FeatureTable, concat
from searchlab.features.letor.folds import Fold, read_folds
from searchlab.rankers.ranker_registry import RANKERS
from searchlab.training.recipe import Recipe
from searchlab.types import Floats, Progress, no_progress

# The measures of LETOR's tables, by LETOR's names and ours.
MEASURES = {
    "MAP": "AP",
    **{f"NDCG@{k}": f"nDCG@{k}" for k in (1, 3, 5, 10)},
    **{f"P@{k}": f"P@{k}" for k in (1, 5, 10)},
}
# Recorded for each query, including the measures of the papers' figures. Cao et al. (2006) discount by log(1 + rank)
# from the first rank on (eq. 20), and count only definitely relevant documents, of grade 2, as relevant (eq. 21).
EQ_20 = {f"NDCG@{k} (eq. 20)": f"nDCG(dcg='exp-log2')@{k}" for k in (1, 3, 5)}
EQ_21 = {"MAP (grade 2)": "AP(rel=2)"}
RECORDED_MEASURES = {
    **MEASURES,
    **{f"NDCG@{k}": f"nDCG@{k}" for k in (*range(1, 11), 15, 20, 25, 30)},
    **{f"P@{k}": f"P@{k}" for k in range(1, 11)},
    **EQ_20,
    **EQ_21,
}
# The ranker "linear" needs weights given by hand.
DEFAULT_RANKERS = tuple(name for name in RANKERS if name != "linear")


@dataclass(frozen=True, eq=False)
class FoldResult:
    """One ranker on one fold: its measures on the test set, and how it was trained.

    `per_query` has the values of each recorded measure for `qids`, the queries of the test set.
    """

    fold: str
    measures: Mapping[str, float]
    train_seconds: float
    choose_seconds: float
    n_pairs: float | None
    gap: float | None
    chosen: tuple[Any, ...]
    qids: tuple[str, ...]
    per_query: Mapping[str, Floats]

    def to_json(self) -> dict[str, Any]:
        """The result as plain JSON."""
        return {
            "fold": self.fold,
            **self.measures,
            "train_seconds": self.train_seconds,
            "choose_seconds": self.choose_seconds,
            "pairs": self.n_pairs,
            "gap": self.gap,
            "chosen": list(self.chosen),
        }


@dataclass(frozen=True, eq=False)
class RankerResult:
    """One ranker on all folds."""

    ranker: str
    folds: tuple[FoldResult, ...]

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
        """The largest certified duality gap; None for rankers without a certificate."""
        return max((fold.gap for fold in self.folds if fold.gap is not None), default=None)

    def to_json(self) -> dict[str, Any]:
        """The result as plain JSON."""
        return {
            **{measure: self.mean(measure) for measure in self.folds[0].measures},
            "train_seconds": self.train_seconds,
            "choose_seconds": self.choose_seconds,
            "pairs": self.n_pairs,
            "gap": self.gap,
            "folds": [fold.to_json() for fold in self.folds],
        }


@dataclass(frozen=True, eq=False)
class FoldData:
    """Folds with their training, validation and test tables."""

    folds: tuple[Fold, ...]
    tables: tuple[tuple[FeatureTable, FeatureTable, FeatureTable], ...]

    @cached_property
    def whole(self) -> FeatureTable:
        """All rows, from the three tables of the first fold."""
        return concat(self.tables[0])


def read_data(folder: str | Path) -> FoldData:
    """Read all folds of a folder; refuse a fold whose tables share a query."""
    folds = read_folds(folder)
    tables = [fold.read() for fold in folds]
    for fold, parts in zip(folds, tables, strict=True):
        _require_disjoint(fold, parts)
    return FoldData(tuple(folds), tuple(tables))


def reproduce(
    source: str | Path | FoldData,
    rankers: Sequence[str] = DEFAULT_RANKERS,
    *,
    recipe: Recipe | None = None,
    n_jobs: int | None = None,
    progress: Progress = no_progress,
) -> dict[str, RankerResult]:
    """Train and evaluate every ranker on every fold of a folder, or of data that was read before."""
    from joblib import Parallel, delayed

    for name in rankers:
        if name not in RANKERS:
            raise unknown_name("ranker", name, RANKERS)
    base = recipe or Recipe()
    # Settings that do not fit a ranker are refused before any work is done.
    recipes = {name: replace(base, ranker=name) for name in rankers}
    data = source if isinstance(source, FoldData) else read_data(source)
    folds, tables = data.folds, data.tables
    # In reverse, because the slowest rankers are usually last: this keeps all cores busy to the end.
    work = [(name, number) for name in reversed(recipes) for number in range(len(folds))]
    jobs = min(n_jobs or os.cpu_count() or 1, len(work))
    results: dict[str, dict[int, FoldResult]] = {name: {} for name in recipes}
    progress("training", 0, len(work))
    runner = Parallel(n_jobs=jobs, return_as="generator_unordered", pre_dispatch="2*n_jobs")
    steps = (delayed(_run_fold)(recipes[name], folds[number].name, tables[number], number) for name, number in work)
    for done, (name, number, result) in enumerate(runner(steps), start=1):
        results[name][number] = result
        progress("training", done, len(work))
    return {
        name: RankerResult(name, tuple(by_fold[number] for number in range(len(folds))))
        for name, by_fold in results.items()
    }


def _require_disjoint(fold: Fold, parts: tuple[FeatureTable, FeatureTable, FeatureTable]) -> None:
    """Refuse a query that is in two tables of a fold."""
    train, valid, test = (set(part.query_ids) for part in parts)
    for one, other, names in ((train, valid, "train and validation"), (train | valid, test, "training and test")):
        shared = sorted(one & other)
        if shared:
            raise SettingError(f"{fold.name}: query {shared[0]} is in the {names} sets, expected in one of them")


def _run_fold(
    recipe: Recipe, fold: str, parts: tuple[FeatureTable, FeatureTable, FeatureTable], number: int
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
    values = measure.values(test, choice.scores(test), list(RECORDED_MEASURES.values()))
    per_query = dict(zip(RECORDED_MEASURES, values.T.copy(), strict=True))
    details = [each.details_ for each in choice.rankers]
    gaps = [each["gap"] for each in details if each.get("gap") is not None]
    result = FoldResult(
        fold,
        {name: float(np.mean(per_query[name])) for name in MEASURES},
        training,
        choosing,
        details[0].get("n_pairs"),
        max(gaps, default=None),
        tuple(trial.value for trial in choice.chosen),
        tuple(test.query_ids),
        per_query,
    )
    return recipe.ranker, number, result
