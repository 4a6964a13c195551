"""Systems that learn from the topics of one collection, and rank the topics of another."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from searchlab.errors import SettingError
from searchlab.mixtures.weight_training import learn_em, learn_mce
from searchlab.records import Ranking
from searchlab.reproduction.cross_collection.collection import MUS, CrossCollection
from searchlab.reproduction.retrieval import MIN_TOPICS
from searchlab.scorers.base import Scorer
from searchlab.scorers.dirichlet import Dirichlet
from searchlab.training.from_table import require_different_grades
from searchlab.training.recipe import Recipe
from searchlab.training.selection import Choice
from searchlab.types import Ints

CROSS_RANKERS = ("svm", "maxent", "rsvm")
LANGUAGE_MODEL = "LM, μ trained"


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


def make_learners(recipes: Iterable[Recipe], seed: int = 0) -> list[Learner]:
    """The systems of the table: the language model, mixtures, and a ranker for each recipe."""
    return [
        LanguageModelLearner(),
        MixtureLearner("em"),
        MixtureLearner("mce", seed),
        *(RankerLearner(recipe) for recipe in recipes),
    ]
