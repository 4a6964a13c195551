"""The comparison of query-dependent rankers that Lwin and Kham announce: accuracy, training time and test time.

Their paper names the measures (P@n, MAP, NDCG), the data (LETOR) and the claim, that one model for all categories of
queries trains and tests faster than other query-dependent rankers, and prints no numbers. The other ranker here is that
of Geng et al. (SIGIR 2008), a Ranking SVM on the nearest training queries.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from searchlab.report.content import Block, Cell, Paragraph, Table
from searchlab.reproduction.letor import MEASURES, FoldData, FoldTables
from searchlab.training.recipe import Recipe
from searchlab.types import Floats, Progress, no_progress


@dataclass(frozen=True)
class ComparedSystem:
    """A ranker with settings, under the name that the tables show."""

    name: str
    ranker: str
    settings: Mapping[str, Any] = field(default_factory=dict)


SYSTEMS = (
    ComparedSystem("rankboost-qd, losses by grades", "rankboost-qd", {"losses": "grades"}),
    ComparedSystem("rankboost-qd, losses by positions", "rankboost-qd", {"losses": "positions"}),
    ComparedSystem("exponential", "exponential"),
    ComparedSystem("rankboost", "rankboost"),
    ComparedSystem("rsvm", "rsvm"),
    ComparedSystem("rsvm-knn, online", "rsvm-knn", {"variant": "online"}),
    ComparedSystem("rsvm-knn, offline-1", "rsvm-knn", {"variant": "offline-1"}),
    ComparedSystem("rsvm-knn, offline-2", "rsvm-knn", {"variant": "offline-2"}),
)
QUERY_DEPENDENT = ("rankboost-qd", "rsvm-knn")


def choose_compared_systems(rankers: Sequence[str]) -> list[ComparedSystem]:
    """The systems of these rankers; none if no query-dependent one is among them."""
    is_query_dependent = any(name in QUERY_DEPENDENT for name in rankers)
    return [system for system in SYSTEMS if is_query_dependent and system.ranker in rankers]


@dataclass(frozen=True, eq=False)
class TimedResult:
    """A system on all folds: the mean of each measure, of MEASURES, over queries and then folds; and its times.

    `train_seconds` is one fit of the chosen setting, `choose_seconds` the choice among all settings, and `test_seconds`
    the scoring of the prepared test set; all are means over folds. `warnings` are those of training, and `shares` the
    mean shares of the categories, if the ranker has any.
    """

    system: ComparedSystem
    means: Mapping[str, float]
    train_seconds: float
    choose_seconds: float
    test_seconds: float
    chosen: tuple[Any, ...]
    warnings: tuple[str, ...]
    shares: Mapping[str, float]


def compare_query_dependent(
    data: FoldData,
    recipe: Recipe,
    systems: Sequence[ComparedSystem] = SYSTEMS,
    progress: Progress = no_progress,
) -> list[TimedResult]:
    """Train, time and evaluate each system on each fold, one after the other, so that times can be compared.

    The recipe gives the preprocessing and the measure that settings are chosen by.
    """
    n_steps = len(systems) * len(data.tables)
    progress("query-dependent rankers", 0, n_steps)
    results = []
    for number, system in enumerate(systems):
        own = replace(recipe, ranker=system.ranker, settings=system.settings)
        runs = []
        for parts in data.tables:
            runs.append(_run_fold(own, parts))
            progress("query-dependent rankers", number * len(data.tables) + len(runs), n_steps)
        shares = [run.shares for run in runs if run.shares]
        results.append(
            TimedResult(
                system,
                {name: float(np.mean([run.per_query[name].mean() for run in runs])) for name in MEASURES},
                float(np.mean([run.train_seconds for run in runs])),
                float(np.mean([run.choose_seconds for run in runs])),
                float(np.mean([run.test_seconds for run in runs])),
                tuple(run.chosen for run in runs),
                tuple(dict.fromkeys(text for run in runs for text in run.warnings)),
                {name: float(np.mean([each[name] for each in shares])) for name in shares[0]} if shares else {},
            )
        )
    return results


@dataclass(frozen=True, eq=False)
class _FoldRun:
    per_query: Mapping[str, Floats]
    train_seconds: float
    choose_seconds: float
    test_seconds: float
    chosen: Any
    warnings: Sequence[str]
    shares: Mapping[str, float]


def _run_fold(recipe: Recipe, parts: FoldTables) -> _FoldRun:
    train, valid, test = parts
    measure = recipe.validation_measure()
    began = time.perf_counter()
    choice = recipe.learn(train, measure, valid)
    chosen_at = time.perf_counter()
    ranker, best = recipe.make_ranker(), choice.chosen[0].value
    if ranker.tuned is not None and best is not None:
        ranker.set_params(**{ranker.tuned: best})
    prepared, tested = choice.preprocessor.transform(train), choice.preprocessor.transform(test)
    fit_began = time.perf_counter()
    ranker.fit(prepared.values, np.asarray(prepared.grades), prepared.qids)
    fitted_at = time.perf_counter()
    scores = choice.model.score(tested.values, tested.group_offsets)
    tested_at = time.perf_counter()
    values = measure.values(test, scores, list(MEASURES.values()))
    details = choice.rankers[0].details_
    return _FoldRun(
        dict(zip(MEASURES, values.T, strict=True)),
        fitted_at - fit_began,
        chosen_at - began,
        tested_at - fitted_at,
        best,
        details.get("warnings", ()),
        details.get("shares", {}),
    )


def query_dependent_blocks(results: Sequence[TimedResult], data: FoldData) -> list[Block]:
    """The comparison as blocks of a report: accuracy, times, shares of the categories and warnings."""
    columns = ("", *MEASURES)
    accuracy: list[tuple[Cell, ...]] = [
        (result.system.name, *(result.means[name] for name in MEASURES)) for result in results
    ]
    times: list[tuple[Cell, ...]] = [
        (
            result.system.name,
            result.train_seconds,
            result.choose_seconds,
            result.test_seconds,
            1000 * result.test_seconds / _mean_test_queries(data),
        )
        for result in results
    ]
    blocks: list[Block] = [
        Paragraph(
            "Lwin and Kham claim that a query-dependent loss, which needs one model for all queries, trains and tests "
            "faster than rankers with a model for each group of queries. They print no numbers of their own."
        ),
        Table(
            "query-dependent-accuracy",
            "Query-dependent rankers on the test sets",
            columns,
            tuple(accuracy),
            best=True,
            note="Means over the queries of each fold, then over folds.",
        ),
        Table(
            "query-dependent-times",
            "Training and test time, means over folds",
            ("", "one fit, seconds", "choice of settings, seconds", "test set, seconds", "a test query, ms"),
            tuple(times),
            note="One process, one system after the other. Test: scoring of documents whose features are prepared.",
        ),
    ]
    shared = [result for result in results if result.shares]
    if shared:
        names = tuple(shared[0].shares)
        rows: list[tuple[Cell, ...]] = [
            (result.system.name, *(result.shares[name] for name in names)) for result in shared
        ]
        caption = "Mean shares of the query categories in training"
        blocks.append(Table("query-dependent-shares", caption, ("", *names), tuple(rows), digits=3))
    return [*blocks, *(Paragraph(f"{result.system.name}: {text}.") for result in results for text in result.warnings)]


def _mean_test_queries(data: FoldData) -> float:
    return float(np.mean([test.n_queries for _, _, test in data.tables]))
