"""Which settings of a scorer are best, and how good are they on topics that did not choose them?

Every point of a grid is searched once for all topics. The best on all topics is what to use; but its mean flatters it,
because these topics chose it. So topics are dealt into folds, and each fold is judged with the point that is best on
the others: the held-out estimate, which is set against the default settings, topic by topic.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from searchlab.errors import SettingError
from searchlab.evaluation.comparison import Comparison, compare_values, refuse_totals, show_number, show_p
from searchlab.evaluation.dialects import make_dialect
from searchlab.evaluation.run_evaluation import evaluate_run
from searchlab.experiments.plan import grid_points
from searchlab.records import Judgments, Topic
from searchlab.retrieval.batch import search_topics
from searchlab.retrieval.engine import SearchEngine
from searchlab.scorers.registry import make_scorer
from searchlab.training.from_index import DEPTH
from searchlab.training.from_table import FEW_QUERIES, LEAST_QUERIES, deal
from searchlab.types import Array, Floats, Progress, no_progress

DEFAULTS = "the defaults"
TUNED = "tuned"


@dataclass(frozen=True, eq=False)
class Tuning:
    """What was tried: `values` has a row for each of the `points`, a column for each topic.

    `folds` has the numbers of each fold's topics, `chosen` the point that is best on the others, by its number.
    `compared` sets the held-out values against those of the default settings, `defaults`.
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
        """The number of the point that is best on all topics."""
        return choose_point(self.values, np.arange(len(self.qids)))

    def mean(self, point: int) -> float:
        """The mean over all topics of a point."""
        return float(np.mean(self.values[point]))

    @property
    def held_out(self) -> float:
        """What to expect on new topics: the mean over all folds, each with what the others chose."""
        return self.compared.mean_a

    @property
    def at_edge(self) -> list[str]:
        """Settings whose best value is the first or the last of three or more: better ones may lie beyond."""
        edges = []
        for name, value in self.points[self.best].items():
            tried = sorted({point[name] for point in self.points if isinstance(point[name], int | float)})
            if len(tried) > 2 and value in (tried[0], tried[-1]):
                edges.append(name)
        return edges

    def verdict(self) -> str:
        """One sentence with numbers, and a recommendation."""
        found = self.compared
        change = f"{found.measure} {show_number(found.mean_b)} → {show_number(found.mean_a)}"
        topics = f"{found.n_topics} held-out topic{'s' * (found.n_topics != 1)}"
        told = f"{change} on {topics} ({found.wins} better, {found.losses} worse, {show_p(found.p)}"
        if found.n_topics < FEW_QUERIES:
            return f"Too few topics to say whether tuning helps: {told}); recommended: judge more topics."
        if found.significant and found.difference > 0:
            return f"Tuning helps: {told}); recommended: {show_settings(self.points[self.best])}."
        how = "hurts" if found.significant else "is not shown to help"
        doubt = "" if found.significant else ", may be chance"
        return f"Tuning {how}: {told}{doubt}); recommended: stay with {show_settings(self.defaults)}."


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
    progress: Progress = no_progress,
) -> Tuning:
    """Try all points of a grid; `settings` are the same in all of them, and in what they are compared with."""
    refuse_totals(measure)
    make_dialect(dialect)
    if not grid or not all(len(values) for values in grid.values()):
        raise SettingError("nothing to tune: expected a grid of settings with values, such as k1=0.6,0.9,1.2")
    same = dict(settings or {})
    clash = [name for name in grid if name in same]
    if clash:
        raise SettingError(f"{clash[0]} is set and in the grid, expected one of the two")
    points = grid_points(same, {name: tuple(values) for name, values in grid.items()})
    # What cannot be made is refused before anything is searched.
    made = [make_scorer(scorer, point) for point in points]
    usual = make_scorer(scorer, same)
    asked = list(topics)
    useful = useful_topics(asked, qrels)
    judged = {topic.qid: qrels[topic.qid] for topic in useful}
    if not 2 <= n_folds <= len(useful):
        raise SettingError(f"folds is {n_folds}, expected 2 to {len(useful)}, the number of topics")

    def measured(number: int, own: Any) -> Floats:
        progress("searching", number, len(made) + 1)
        rankings = search_topics(engine, useful, k=DEPTH, scorer=own)
        return evaluate_run(judged, rankings, measure, dialect=dialect, complete=True, name=scorer).of(measure)

    values = np.array([measured(number, own) for number, own in enumerate(made)])
    before = measured(len(made), usual)
    folds = tuple(deal(len(useful), n_folds, seed))
    chosen, held_out = choose_by_folds(values, folds)
    compared = compare_values(TUNED, held_out, DEFAULTS, before, measure, seed=seed)
    return Tuning(
        scorer,
        measure,
        dialect,
        tuple(judged),
        tuple(_whole_point(usual, point) for point in points),
        values,
        folds,
        chosen,
        {name: _whole_point(usual, {})[name] for name in [*same, *grid]},
        compared,
        len(asked) - len(useful),
    )


def choose_point(values: Floats, topics: Array) -> int:
    """The row whose mean over some topics (by number) is largest; of equal ones the first."""
    return int(np.argmax(np.mean(values[:, topics], axis=1)))


def choose_by_folds(values: Floats, folds: Iterable[Array]) -> tuple[tuple[int, ...], Floats]:
    """For each fold the row that is best on the topics of the others; and for each topic the value of that row."""
    held_out = np.zeros(values.shape[1])
    chosen = []
    for fold in folds:
        others = np.setdiff1d(np.arange(values.shape[1]), fold)
        chosen.append(choose_point(values, others))
        held_out[fold] = values[chosen[-1], fold]
    return tuple(chosen), held_out


def useful_topics(topics: Sequence[Topic], qrels: Judgments) -> list[Topic]:
    """Topics with a relevant document: the others say nothing."""
    useful = [topic for topic in topics if any(grade > 0 for grade in qrels.get(topic.qid, {}).values())]
    if len(useful) < LEAST_QUERIES:
        raise SettingError(
            f"{len(useful)} of {len(topics)} topics have a relevant document, expected at least {LEAST_QUERIES}"
        )
    return useful


def show_settings(settings: Mapping[str, Any]) -> str:
    """Settings as they are written on the command line."""
    shown = {name: f"{value:g}" if isinstance(value, float) else value for name, value in settings.items()}
    return ", ".join(f"{name}={value}" for name, value in shown.items())


def _whole_point(usual: Any, point: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a point, or all of a scorer's own, as numbers where they are."""
    if point:
        return {name: _number(value) for name, value in point.items()}
    return {field.name.rstrip("_"): getattr(usual, field.name) for field in fields(usual)}


def _number(value: Any) -> Any:
    try:
        return float(value)
    except (TypeError, ValueError):
        return value
