"""Tuning of a scorer: the best settings of a grid, and a held-out estimate of how good they are.

Every point of the grid is searched once for all topics. The best point on all topics is the one to use, but its mean
is too optimistic, because these topics chose it. So topics are dealt into folds, and each fold is evaluated with the
point that is best on the others: the held-out estimate, which is compared with the default settings topic by topic.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from searchlab.cluster.cluster import Cluster, as_cluster
from searchlab.errors import SettingError
from searchlab.evaluation.comparison import Comparison, check_comparable, compare_values
from searchlab.evaluation.dialects import make_dialect
from searchlab.evaluation.number_text import format_p_value, format_value
from searchlab.evaluation.run_evaluation import evaluate_run
from searchlab.experiments.plan import grid_points
from searchlab.records import Judgments, Topic
from searchlab.retrieval.engine import SearchEngine
from searchlab.retrieval.pipeline import Pipeline
from searchlab.scorers.base import Scorer
from searchlab.scorers.registry import make_scorer
from searchlab.training.cross_validation import MIN_VERDICT_QUERIES
from searchlab.training.query_folds import deal_folds
from searchlab.training.training_set import DEPTH, useful_topics
from searchlab.types import Array, Floats, Progress, no_progress

DEFAULTS = "the defaults"
TUNED = "tuned"


@dataclass(frozen=True, eq=False)
class Tuning:
    """The results of tuning: `values` has a row for each of the `points` and a column for each topic.

    `folds` has the column numbers of each fold's topics, `chosen` the row number of the point that is best on the other
    folds. `compared` compares the held-out values with those of the default settings, `defaults`.
    """

    scorer: str
    measure: str
    dialect: str
    qids: tuple[str, ...]
    points: tuple[Mapping[str, Any], ...]
    values: Floats
    folds: tuple[Array, ...]
    chosen: tuple[int, ...]
    defaults: Mapping[str, Any]
    compared: Comparison
    n_skipped: int = 0

    @property
    def best(self) -> int:
        """The row number of the point that is best on all topics."""
        return choose_point(self.values, np.arange(len(self.qids)))

    def mean(self, point: int) -> float:
        """The mean of a point over all topics."""
        return float(np.mean(self.values[point]))

    @property
    def held_out(self) -> float:
        """The value to expect on new topics: the mean over all folds, each with the point that the others chose."""
        return self.compared.mean_a

    @property
    def at_edge(self) -> list[str]:
        """Settings whose best value is the smallest or the largest of three or more: better ones may lie beyond."""
        edges = []
        for name, value in self.points[self.best].items():
            values = sorted({point[name] for point in self.points if isinstance(point[name], int | float)})
            if len(values) > 2 and value in (values[0], values[-1]):
                edges.append(name)
        return edges

    def verdict(self) -> str:
        """One sentence with numbers, and a recommendation."""
        compared = self.compared
        change = f"{compared.measure} {format_value(compared.mean_b)} → {format_value(compared.mean_a)}"
        topics = f"{compared.n_topics} held-out topic{'s' * (compared.n_topics != 1)}"
        result = f"{change} on {topics} ({compared.wins} better, {compared.losses} worse, {format_p_value(compared.p)}"
        if compared.n_topics < MIN_VERDICT_QUERIES:
            return f"Too few topics to say whether tuning helps: {result}); recommended: judge more topics."
        if compared.significant and compared.difference > 0:
            return f"Tuning helps: {result}); recommended: {show_settings(self.points[self.best])}."
        how = "hurts" if compared.significant else "is not shown to help"
        doubt = "" if compared.significant else ", may be chance"
        return f"Tuning {how}: {result}{doubt}); recommended: stay with {show_settings(self.defaults)}."


def tune(
    engine: SearchEngine,
    topics: Iterable[Topic],
    qrels: Judgments,
    scorer: str,
    grid: Mapping[str, Sequence[Any]],
    *,
    settings: Mapping[str, Any] | None = None,
    measure: str = "nDCG@10",
    dialect: str = "trec",
    n_folds: int = 5,
    seed: int = 0,
    cluster: Cluster | str | None = None,
    divide: str = "auto",
    progress: Progress = no_progress,
) -> Tuning:
    """Try all points of a grid; `settings` are the same in all of them, and in the defaults.

    With a `cluster`, or its address, its workers search for the topics of each point, as `divide` says (see
    `BasePipeline.run`).
    """
    check_comparable(measure)
    make_dialect(dialect)
    if not grid or not all(len(values) for values in grid.values()):
        raise SettingError("nothing to tune: expected a grid of settings with values, such as k1=0.6,0.9,1.2")
    fixed = dict(settings or {})
    clash = [name for name in grid if name in fixed]
    if clash:
        raise SettingError(f"{clash[0]} is set and in the grid, expected one of the two")
    points = grid_points(fixed, {name: tuple(values) for name, values in grid.items()})
    # Invalid settings are refused before anything is searched.
    scorers = [make_scorer(scorer, point) for point in points]
    default = make_scorer(scorer, fixed)
    topics = list(topics)
    useful = useful_topics(topics, qrels)
    judged = {topic.qid: qrels[topic.qid] for topic in useful}
    if not 2 <= n_folds <= len(useful):
        raise SettingError(f"folds is {n_folds}, expected 2 to {len(useful)}, the number of topics")

    def evaluate(number: int, each: Scorer) -> Floats:
        progress("searching", number, len(scorers) + 1)
        rankings = Pipeline(engine, each).run(useful, k=DEPTH, cluster=connected, divide=divide)
        return evaluate_run(
            judged, rankings, measure, dialect=dialect, complete=True, name=scorer, warn=False
        ).values_of(measure)

    with nullcontext() if cluster is None else as_cluster(cluster) as connected:
        values = np.array([evaluate(number, each) for number, each in enumerate(scorers)])
        default_values = evaluate(len(scorers), default)
    folds = tuple(deal_folds(len(useful), n_folds, seed))
    chosen, held_out = choose_by_folds(values, folds)
    compared = compare_values(TUNED, held_out, DEFAULTS, default_values, measure, seed=seed)
    return Tuning(
        scorer,
        measure,
        dialect,
        tuple(judged),
        tuple(_all_settings(default, point) for point in points),
        values,
        folds,
        chosen,
        {name: _all_settings(default, {})[name] for name in [*fixed, *grid]},
        compared,
        len(topics) - len(useful),
    )


def choose_point(values: Floats, topics: Array) -> int:
    """The row with the largest mean over some topics, given by column number; of equal ones the first."""
    return int(np.argmax(np.mean(values[:, topics], axis=1)))


def choose_by_folds(values: Floats, folds: Iterable[Array]) -> tuple[tuple[int, ...], Floats]:
    """For each fold the row that is best on the topics of the other folds, and for each topic its value in that row."""
    held_out = np.zeros(values.shape[1])
    chosen = []
    for fold in folds:
        others = np.setdiff1d(np.arange(values.shape[1]), fold)
        chosen.append(choose_point(values, others))
        held_out[fold] = values[chosen[-1], fold]
    return tuple(chosen), held_out


def show_settings(settings: Mapping[str, Any]) -> str:
    """Settings as they are written on the command line."""
    shown = {name: f"{value:g}" if isinstance(value, float) else value for name, value in settings.items()}
    return ", ".join(f"{name}={value}" for name, value in shown.items())


def _all_settings(scorer: Any, point: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a point, or all of a scorer if the point has none; as numbers where they are."""
    if point:
        return {name: _number(value) for name, value in point.items()}
    return {field.name.rstrip("_"): getattr(scorer, field.name) for field in fields(scorer)}


def _number(value: Any) -> Any:
    try:
        return float(value)
    except (TypeError, ValueError):
        return value
