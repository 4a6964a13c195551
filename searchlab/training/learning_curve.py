"""Learning curves: how well a recipe ranks unseen topics after learning from few, and from more of them.

Topics are dealt into folds. For each fold, models are trained on some of the other topics: on all of them, on half of
these, on a quarter, and so on, each part within the next larger one. All are measured on the same held-out topics, so
the difference between two points of the curve is a paired one. What the last doubling gained says whether more
judgments are likely to help.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

from searchlab.cluster.cluster import Cluster, as_cluster
from searchlab.cluster.job_runs import run_calls
from searchlab.corpus.values.conversion import make_qrels, make_topics
from searchlab.errors import SettingError
from searchlab.evaluation.comparison import Comparison, compare_values
from searchlab.features.feature_sets import DEFAULT_SET
from searchlab.features.feature_table import FeatureTable
from searchlab.notebook_html import html_block, html_table
from searchlab.rankers.estimators.base_ranker import require_whole
from searchlab.rankers.first_stage import FirstStage
from searchlab.retrieval.engine import SearchEngine
from searchlab.training.cross_validation import learn_and_score
from searchlab.training.from_table import has_different_grades
from searchlab.training.query_folds import deal_folds
from searchlab.training.recipe import Recipe, choose_recipe
from searchlab.training.training_set import Features, TrainingSet, prepare_training
from searchlab.training.validation import ValidationMeasure
from searchlab.types import Floats, Progress, no_progress

# Fewer training topics are not tried by default.
MIN_SIZE = 5


@dataclass(frozen=True, eq=False)
class CurvePoint:
    """The measure of each topic, held out, after learning from `n_topics` others; 0 is the prior alone."""

    n_topics: int
    per_topic: Floats

    @property
    def mean(self) -> float:
        """The mean over the held-out topics."""
        return float(np.mean(self.per_topic))


@dataclass(frozen=True, eq=False)
class LearningCurve:
    """Points with ascending numbers of training topics; all have the same held-out topics."""

    measure: str
    points: tuple[CurvePoint, ...]

    @property
    def last_doubling(self) -> Comparison | None:
        """All training topics compared with half of them; None without such points."""
        if not self.points:
            return None
        last = self.points[-1]
        halves = [point for point in self.points if point.n_topics == last.n_topics // 2 > 0]
        if not halves:
            return None
        names = f"{last.n_topics:,} topics", f"{halves[0].n_topics:,} topics"
        return compare_values(names[0], last.per_topic, names[1], halves[0].per_topic, self.measure, seed=0)

    def to_json(self) -> dict[str, Any]:
        """The curve as plain JSON."""
        points = [{"n_topics": point.n_topics, "mean": point.mean} for point in self.points]
        return {"measure": self.measure, "points": points}

    def _repr_html_(self) -> str:
        rows = [(point.n_topics, point.mean) for point in self.points]
        return html_block("Learning curve, on held-out topics", html_table(("training topics", self.measure), rows))


def learning_curve(
    engine: SearchEngine,
    topics: Any,
    qrels: Any,
    features: Features = DEFAULT_SET,
    *,
    ranker: Any = None,
    recipe: Recipe | None = None,
    first_stage: FirstStage | None = None,
    sizes: Sequence[int] | None = None,
    cluster: Cluster | str | None = None,
    divide: str = "auto",
    progress: Progress = no_progress,
) -> LearningCurve:
    """The learning curve of a recipe on an index with judged topics; the arguments are those of `train_from_index`.

    `sizes` are numbers of training topics, by default those that a fold leaves, halved down to 5.
    """
    recipe = choose_recipe(ranker, recipe, Recipe.for_search)
    stage = first_stage or FirstStage()
    with nullcontext() if cluster is None else as_cluster(cluster) as connected:
        data = prepare_training(
            engine, make_topics(topics), make_qrels(qrels), features, stage, progress, connected, divide
        )
        return measure_learning_curve(recipe.for_topics(data.topics), data, sizes, progress, connected)


def measure_learning_curve(
    recipe: Recipe,
    data: TrainingSet,
    sizes: Sequence[int] | None = None,
    progress: Progress = no_progress,
    cluster: Cluster | None = None,
) -> LearningCurve:
    """The learning curve on prepared data; sizes whose topics do not all allow learning are left out."""
    table, measure = data.table, recipe.validation_measure(data.qrels)
    folds = deal_folds(table.n_queries, min(recipe.n_folds or 5, table.n_queries), recipe.seed)
    largest = table.n_queries - max(map(len, folds))
    wanted = halved(largest) if sizes is None else _check_sizes(sizes, largest)
    query_of_row = np.repeat(np.arange(table.n_queries), np.diff(table.group_offsets))
    values: dict[int, Floats] = {size: np.full(table.n_queries, np.nan) for size in wanted}
    stage = "measuring the learning curve"
    progress(stage, 0, len(folds))
    places, calls = [], []
    for number, fold in enumerate(folds):
        others = np.setdiff1d(np.arange(table.n_queries), fold)
        shuffled = np.random.default_rng([recipe.seed, number]).permutation(others)
        held_out = table.rows(np.isin(query_of_row, fold))
        for size in values:
            train = table.rows(np.isin(query_of_row, shuffled[:size]))
            if has_different_grades(train):
                places.append((size, fold))
                calls.append((recipe, train, measure, held_out))
    measured = run_calls(
        learn_and_measure, calls, cluster, lambda n_done: progress(stage, n_done * len(folds) // len(calls), len(folds))
    )
    for (size, fold), per_topic in zip(places, measured, strict=True):
        values[size][fold] = per_topic
    progress(stage, len(folds), len(folds))
    points = [CurvePoint(size, each) for size, each in values.items() if not np.isnan(each).any()]
    prior = recipe.find_prior(table)
    if prior is not None:
        points.insert(0, CurvePoint(0, measure.per_query(table, prior.bundle.scores(table))))
    return LearningCurve(measure.name, tuple(points))


def learn_and_measure(recipe: Recipe, train: FeatureTable, measure: ValidationMeasure, test: FeatureTable) -> Floats:
    """The measure of each query of a table, by a model that is learnt from another."""
    return measure.per_query(test, learn_and_score(recipe, train, measure, test))


def halved(largest: int) -> list[int]:
    """A number, its half, its quarter, … down to `MIN_SIZE`, ascending."""
    sizes = []
    while largest >= MIN_SIZE:
        sizes.append(largest)
        largest //= 2
    return sizes[::-1]


def _check_sizes(sizes: Sequence[int], largest: int) -> list[int]:
    for size in sizes:
        require_whole("size", size)
        if size > largest:
            raise SettingError(
                f"size is {size}, expected at most {largest}, the topics that a fold leaves to learn from"
            )
    return sorted(set(sizes))
