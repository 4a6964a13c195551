"""A collection to train on and to test on: its topics, the features of their candidates, and measures."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from searchlab.cluster.cluster import Cluster
from searchlab.evaluation.run_evaluation import evaluate_run
from searchlab.features.feature_sets import FeatureSet, make_feature_set
from searchlab.mixtures.training_queries import TrainingQueries, gather
from searchlab.rankers.first_stage import FirstStage
from searchlab.records import Judgments, Ranking, Topic
from searchlab.retrieval.engine import SearchEngine
from searchlab.retrieval.pipeline import Pipeline
from searchlab.scorers.base import Scorer
from searchlab.scorers.dirichlet import Dirichlet
from searchlab.training.training_set import DEPTH, TrainingSet, prepare_training
from searchlab.types import Floats, Ints, Progress, no_progress

MEASURE = "AP"
FEATURES = "nallapati"
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
        """The judgments of the topics, as dicts: Python does not pickle read-only views of them."""
        return {topic.qid: dict(self.data.qrels[topic.qid]) for topic in self.data.topics}

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
