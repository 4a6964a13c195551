"""Training on one collection and testing on another, as in the table of Chen's lecture (after Nallapati, SIGIR 2004).

A language model (its μ), mixtures of document and corpus (their weights, by EM and by MCE), classifiers and Ranking SVM
learn from the judged topics of each collection, and rank the topics of every other one: its candidates, with its own
statistics. Where both are the same collection, topics are ranked by what was learnt from the topics of other folds.
Rankers have Nallapati's six features, which the lecture lists.

Deviations from the lecture's table: its training topics and test topics of one collection are two disjoint sets, here
they are folds; mixtures and Ranking SVM are not in it, but elsewhere in the lecture.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np

from searchlab.cluster.cluster import Cluster
from searchlab.cluster.job_runs import run_calls
from searchlab.errors import SettingError
from searchlab.evaluation.comparison import Comparison, compare_values
from searchlab.evaluation.run_evaluation import evaluate_run
from searchlab.evaluation.significance import holm
from searchlab.features.feature_sets import FeatureSet, make_feature_set
from searchlab.mixtures.training_queries import TrainingQueries, gather
from searchlab.mixtures.weight_training import learn_em, learn_mce
from searchlab.rankers.first_stage import FirstStage
from searchlab.records import Judgments, Ranking, Topic
from searchlab.reproduction.retrieval import BASELINE, MIN_TOPICS
from searchlab.retrieval.engine import SearchEngine
from searchlab.retrieval.pipeline import Pipeline
from searchlab.scorers.base import Scorer
from searchlab.scorers.dirichlet import Dirichlet
from searchlab.training.cross_validation import cross_validate
from searchlab.training.from_table import require_different_grades
from searchlab.training.query_folds import deal_folds
from searchlab.training.recipe import Recipe
from searchlab.training.selection import Choice
from searchlab.training.training_set import DEPTH, TrainingSet, prepare_training
from searchlab.types import Floats, Ints, Progress, no_progress

MEASURE = "AP"
FEATURES = "nallapati"
CROSS_RANKERS = ("svm", "maxent", "rsvm")
LANGUAGE_MODEL = "LM, μ trained"
# The values of μ that are tried; the lecture's lie between 450 and 2400.
MUS = (50.0, 100.0, 250.0, 500.0, 1000.0, 2000.0, 4000.0)


@dataclass(frozen=True, eq=False)
class CrossCollection:
    """A collection to train on and to test on: its engine, its useful topics and the features of their candidates."""

    name: str
    engine: SearchEngine
    data: TrainingSet

    @cached_property
    def qrels(self) -> Judgments:
        """The judgments of the topics."""
        return {topic.qid: self.data.qrels[topic.qid] for topic in self.data.topics}

    @cached_property
    def queries(self) -> TrainingQueries:
        """What mixtures learn from."""
        return gather(self.engine, self.data.topics, self.qrels)

    @cached_property
    def values_by_mu(self) -> Floats:
        """The measure of each topic (column) by the language model with each μ (row)."""
        return np.array([self.evaluate(self.search(Dirichlet(mu), self.every_topic)) for mu in MUS])

    @property
    def every_topic(self) -> Ints:
        """The numbers of all topics."""
        return np.arange(len(self.data.topics))

    def search(self, scorer: Scorer, topics: Ints) -> list[Ranking]:
        """The rankings of some topics by a scorer."""
        return list(Pipeline(self.engine, scorer).run([self.data.topics[number] for number in topics], k=DEPTH))

    def evaluate(self, rankings: Iterable[Ranking]) -> Floats:
        """The measure of each topic."""
        evaluated = evaluate_run(
            self.qrels, rankings, [MEASURE], dialect="trec", complete=True, name=self.name, warn=False
        )
        return evaluated.values_of(MEASURE)

    def part(self, topics: Ints) -> TrainingSet:
        """Some of the topics, with their candidates."""
        chosen = tuple(self.data.topics[number] for number in topics)
        with_rows = set(self.data.table.query_ids)
        table = self.data.table.only([topic.qid for topic in chosen if topic.qid in with_rows])
        return replace(self.data, topics=chosen, table=table)


class Trained(Protocol):
    """What a learner has learnt: it ranks topics of any collection."""

    def describe(self) -> str:
        """What was chosen, such as `μ=500`."""

    def rank(self, collection: CrossCollection, topics: Ints) -> list[Ranking]:
        """The rankings of some topics."""


class Learner(Protocol):
    """A system that learns from some topics of a collection."""

    @property
    def name(self) -> str:
        """The name in the table."""

    def learn(self, collection: CrossCollection, topics: Ints) -> Trained:
        """Learn from these topics, by number."""


@dataclass(frozen=True)
class TrainedScorer:
    """A scorer with trained settings."""

    scorer: Scorer
    setting: str

    def describe(self) -> str:
        """The trained settings."""
        return self.setting

    def rank(self, collection: CrossCollection, topics: Ints) -> list[Ranking]:
        """A search."""
        return collection.search(self.scorer, topics)


@dataclass(frozen=True)
class LanguageModelLearner:
    """The language model with Dirichlet smoothing; μ is the best of `MUS` by the measure."""

    name: str = LANGUAGE_MODEL

    def learn(self, collection: CrossCollection, topics: Ints) -> TrainedScorer:
        """Choose μ; of equal ones the smallest."""
        mu = MUS[int(np.argmax(np.mean(collection.values_by_mu[:, topics], axis=1)))]
        return TrainedScorer(Dirichlet(mu), f"μ={mu:g}")


@dataclass(frozen=True)
class MixtureLearner:
    """A mixture of document and corpus with weights by EM or MCE, the same for all documents."""

    method: str
    seed: int = 0

    @property
    def name(self) -> str:
        """The method is part of the name."""
        return f"mixture, {self.method.upper()}"

    def learn(self, collection: CrossCollection, topics: Ints) -> TrainedScorer:
        """Learn weights from the topics that mixtures can learn from."""
        qids = {collection.data.topics[number].qid for number in topics}
        rows = [row for row, qid in enumerate(collection.queries.qids) if qid in qids]
        if len(rows) < MIN_TOPICS:
            raise SettingError(f"{len(rows)} topics to train with, expected at least {MIN_TOPICS}")
        queries = collection.queries.take(rows)
        learnt = learn_em(queries) if self.method == "em" else learn_mce(queries, seed=self.seed)
        weights = dict(zip(learnt.components, learnt.shared.tolist(), strict=True))
        return TrainedScorer(learnt.scorer(), f"m1={weights['document']:.2f}")


@dataclass(frozen=True)
class TrainedRanker:
    """A model, which re-ranks candidates."""

    choice: Choice
    setting: str

    def describe(self) -> str:
        """The tuned setting."""
        return self.setting

    def rank(self, collection: CrossCollection, topics: Ints) -> list[Ranking]:
        """The candidates of each topic by the model's scores."""
        part = collection.part(topics)
        return part.rerank(self.choice.scores(part.table))


@dataclass(frozen=True)
class RankerLearner:
    """A ranker on the features of candidates."""

    recipe: Recipe

    @property
    def name(self) -> str:
        """The label of its recipe."""
        return self.recipe.label

    def learn(self, collection: CrossCollection, topics: Ints) -> TrainedRanker:
        """Train, and choose settings, on the candidates of these topics."""
        part = collection.part(topics)
        require_different_grades(part.table)
        choice = self.recipe.learn(part.table, self.recipe.validation_measure(collection.qrels))
        tuned, value = choice.rankers[0].tuned, choice.chosen[0].value
        return TrainedRanker(choice, "" if value is None else f"{tuned}={value:.2g}")


@dataclass(frozen=True, eq=False)
class CrossCell:
    """One system, trained on one collection and tested on one: a value for each topic, and what was learnt.

    On the diagonal `trained_on` is `tested_on`, and the values are cross-validated. `own` compares with the diagonal.
    """

    system: str
    trained_on: str
    tested_on: str
    values: Floats
    learnt: str
    baseline: Comparison
    own: Comparison | None = None

    @property
    def mean(self) -> float:
        """The mean over topics."""
        return float(np.mean(self.values))

    @property
    def is_diagonal(self) -> bool:
        """Whether it was trained and tested on the same collection."""
        return self.trained_on == self.tested_on

    def to_json(self) -> dict[str, Any]:
        """The cell as plain JSON."""
        return {
            "system": self.system,
            "trained_on": self.trained_on,
            "tested_on": self.tested_on,
            "cross_validated": self.is_diagonal,
            MEASURE: self.mean,
            "learnt": self.learnt,
            "against_bm25": _compared_json(self.baseline),
            "against_diagonal": None if self.own is None else _compared_json(self.own),
        }


@dataclass(frozen=True, eq=False)
class CrossResult:
    """All cells; `baselines` has BM25's value of each topic, by collection.

    `sizes` are the numbers of documents and topics of each collection, `left_out` lists what could not be trained.
    """

    sizes: Mapping[str, tuple[int, int]]
    baselines: Mapping[str, Floats]
    systems: tuple[str, ...]
    cells: tuple[CrossCell, ...]
    left_out: tuple[str, ...]
    n_folds: int

    def cell(self, system: str, trained_on: str, tested_on: str) -> CrossCell | None:
        """A cell; None if the system could not be trained there."""
        wanted = (system, trained_on, tested_on)
        return next((each for each in self.cells if (each.system, each.trained_on, each.tested_on) == wanted), None)

    def compare(self, system: str, other: str, *, seed: int = 0) -> dict[tuple[str, str], Comparison]:
        """Two systems with the same training and test collection; not corrected, as in the lecture's table."""
        comparisons = {}
        for cell in self.cells:
            rival = self.cell(other, cell.trained_on, cell.tested_on)
            if cell.system == system and rival is not None:
                compared = compare_values(system, cell.values, other, rival.values, MEASURE, seed=seed)
                comparisons[cell.trained_on, cell.tested_on] = compared
        return comparisons

    def verdict(self) -> str:
        """How often training elsewhere is worse than on the collection itself, and better than BM25, in a sentence."""
        moved = [cell for cell in self.cells if not cell.is_diagonal]
        worse = sum(cell.own is not None and cell.own.significant and cell.own.difference < 0 for cell in moved)
        better = sum(cell.baseline.significant and cell.baseline.difference > 0 for cell in moved)
        below = sum(cell.baseline.significant and cell.baseline.difference < 0 for cell in moved)
        return (
            f"Trained on another collection, {worse} of {len(moved)} systems are significantly worse by {MEASURE} than "
            f"trained on the collection itself; {better} are significantly better than {BASELINE}, {below} worse."
        )

    def to_json(self) -> dict[str, Any]:
        """The result as plain JSON."""
        return {
            "measure": MEASURE,
            "dialect": "trec",
            "folds": self.n_folds,
            "collections": {
                name: {"documents": n_docs, "topics": n_topics, BASELINE: float(np.mean(self.baselines[name]))}
                for name, (n_docs, n_topics) in self.sizes.items()
            },
            "cells": [cell.to_json() for cell in self.cells],
            "left_out": list(self.left_out),
        }


def make_learners(recipes: Iterable[Recipe], seed: int = 0) -> list[Learner]:
    """The systems of the table: the language model, mixtures, and a ranker for each recipe."""
    return [
        LanguageModelLearner(),
        MixtureLearner("em"),
        MixtureLearner("mce", seed),
        *(RankerLearner(recipe) for recipe in recipes),
    ]


def prepare_collection(
    name: str,
    engine: SearchEngine,
    topics: Iterable[Topic],
    qrels: Judgments,
    features: str | FeatureSet = FEATURES,
    progress: Progress = no_progress,
    cluster: Cluster | None = None,
    divide: str = "auto",
) -> CrossCollection:
    """Find the candidates of a collection's topics, and compute their features."""
    chosen = make_feature_set(features)
    data = prepare_training(engine, topics, qrels, chosen, FirstStage(), progress, cluster, divide)
    return CrossCollection(name, engine, data)


def run_cross(
    collections: Sequence[CrossCollection],
    learners: Sequence[Learner],
    *,
    n_folds: int = 5,
    seed: int = 0,
    cluster: Cluster | None = None,
    progress: Progress = no_progress,
) -> CrossResult:
    """Train every system on every collection, and test it on all of them; each training may be a cluster's task."""
    if len(collections) < 2:
        raise SettingError(f"{len(collections)} collection to train and test on, expected at least two")
    baselines = {each.name: each.evaluate(each.data.baselines[BASELINE]) for each in collections}
    found: dict[tuple[str, str, str], tuple[Floats, str]] = {}
    left_out: list[str] = []
    steps = [(learner, number) for learner in learners for number in range(len(collections))]
    calls = [(learner, collections, number, n_folds, seed) for learner, number in steps]
    progress("training", 0, len(steps))
    tested = run_calls(train_and_test, calls, cluster, lambda n_done: progress("training", n_done, len(steps)))
    for (learner, number), outcome in zip(steps, tested, strict=True):
        source = collections[number].name
        if isinstance(outcome, str):
            left_out.append(f"{learner.name}, trained on {source}: {outcome}")
            continue
        for target, values in zip(collections, outcome.values, strict=True):
            found[learner.name, source, target.name] = values, outcome.learnt
    return CrossResult(
        {each.name: (each.engine.snapshot.n_docs, len(each.data.topics)) for each in collections},
        baselines,
        tuple(learner.name for learner in learners),
        tuple(cell for each in collections for cell in _cells_tested_on(each.name, found, baselines[each.name], seed)),
        tuple(left_out),
        n_folds,
    )


class TestedLearner(NamedTuple):
    """What was learnt, and the values of each collection's topics."""

    learnt: str
    values: list[Floats]


def train_and_test(
    learner: Learner, collections: Sequence[CrossCollection], number: int, n_folds: int, seed: int
) -> TestedLearner | str:
    """Train on one of the collections and test on all; returns the reason if it cannot be trained there."""
    source = collections[number]
    try:
        folds = deal_folds(len(source.data.topics), min(n_folds, len(source.data.topics)), seed)
        own = _cross_validate(learner, source, folds)
        trained = learner.learn(source, source.every_topic)
    except SettingError as error:
        return str(error)
    rankings = (own if target is source else trained.rank(target, target.every_topic) for target in collections)
    values = [target.evaluate(each) for target, each in zip(collections, rankings, strict=True)]
    return TestedLearner(trained.describe(), values)


def _cross_validate(learner: Learner, collection: CrossCollection, folds: Sequence[Ints]) -> list[Ranking]:
    """Every topic ranked by what was learnt from the topics of other folds."""
    parts = cross_validate(
        folds, lambda training, held_out: learner.learn(collection, training).rank(collection, held_out)
    )
    return [ranking for part in parts for ranking in part]


def _cells_tested_on(
    tested_on: str, found: Mapping[tuple[str, str, str], tuple[Floats, str]], baseline: Floats, seed: int
) -> list[CrossCell]:
    """The cells of one column; p-values are corrected over the column, against BM25 and against the diagonal each."""
    column = {key: each for key, each in found.items() if key[2] == tested_on}
    against_baseline = _correct(
        compare_values(f"{system} trained on {source}", values, BASELINE, baseline, MEASURE, seed=seed)
        for (system, source, _), (values, _) in column.items()
    )
    moved = {
        key: each for key, each in column.items() if key[1] != tested_on and (key[0], tested_on, tested_on) in column
    }
    against_own = _correct(
        compare_values(
            f"{system} trained on {source}",
            values,
            f"trained on {tested_on}",
            column[system, tested_on, tested_on][0],
            MEASURE,
            seed=seed,
        )
        for (system, source, _), (values, _) in moved.items()
    )
    own = dict(zip(moved, against_own, strict=True))
    return [
        CrossCell(*key, values, learnt, compared, own.get(key))
        for (key, (values, learnt)), compared in zip(column.items(), against_baseline, strict=True)
    ]


def _correct(comparisons: Iterable[Comparison]) -> list[Comparison]:
    """The comparisons with p-values corrected by Holm's method over all of them."""
    listed = list(comparisons)
    if not listed:
        return []
    corrected = holm([each.p for each in listed])
    return [replace(each, p_corrected=float(p)) for each, p in zip(listed, corrected, strict=True)]


def _compared_json(compared: Comparison) -> dict[str, Any]:
    return {"difference": compared.difference, "p": compared.p, "p_corrected": compared.p_corrected}
