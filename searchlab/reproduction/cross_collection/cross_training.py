"""Every system is trained on every collection, and tested on all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from searchlab.cluster.cluster import Cluster
from searchlab.cluster.job_runs import run_calls
from searchlab.errors import SettingError
from searchlab.records import Ranking
from searchlab.reproduction.cross_collection.collection import CrossCollection
from searchlab.reproduction.cross_collection.learners import Learner
from searchlab.reproduction.cross_collection.result import CrossResult, cells_tested_on
from searchlab.reproduction.retrieval import BASELINE
from searchlab.training.cross_validation import cross_validate
from searchlab.training.query_folds import deal_folds
from searchlab.types import Floats, Ints, Progress, no_progress


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
        tuple(cell for each in collections for cell in cells_tested_on(each.name, found, baselines[each.name], seed)),
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
