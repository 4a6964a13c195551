"""RankBoost: boosting of threshold rules, such as "BM25 is above 0.4", on pairs of documents."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone

from searchlab.errors import SettingError
from searchlab.rankers.estimators.base_ranker import Ranker, require_share, require_whole
from searchlab.rankers.models.base_model import Model
from searchlab.rankers.models.rule_model import RuleModel
from searchlab.rankers.solvers.exponential_loss import GradedRows, best_rule, pair_potentials
from searchlab.rankers.training_data import TrainingData
from searchlab.types import Array, Floats, Ints

WEIGHINGS = ("pair", "query")

# A lower bound of 1 − |r|: a rule that no pair contradicts would have an infinite weight.
MIN_DISAGREEMENT = 1e-6

# A smaller |r| is rounding error.
MIN_GAIN = 1e-12


class RankBoost(Ranker):
    """RankBoost (Freund, Iyer, Schapire and Singer, JMLR 2003) with threshold rules.

    From f = 0, each round adds the rule h(x) = [x_k > θ] that agrees most with the distribution D over the pairs of a
    query whose first document has the higher grade; D then shifts to pairs that are still in the wrong order:

        D(i, j) ∝ w_i·w_j·exp(f(x_j) − f(x_i))
        r = Σ D(i, j)·(h(x_i) − h(x_j)),     the rule with the largest |r| is taken
        α = ½·ln((1 + r) / (1 − r)),         f ← f + ν·α·h

    With ν = 1 each round lowers the exponential loss at least by the factor √(1 − r²) (their Theorem 1 and §3.2, third
    method). Pairs are not enumerated: D is a product, and r is a sum over rows (`exponential_loss.py`; their §3.3 does
    so for two grades).

    `rounds` is the number of rules that are added; a rule may be added again. Thresholds lie halfway between adjacent
    values of a feature; `n_thresholds` limits their number per feature, and they split its rows into about equal parts.
    `learning_rate` is ν.

    Deviations: any number of grades; `weighing="query"` divides the weights of a query's pairs by their number, so that
    each query has the same weight in the first D; 1 − |r| is at least 10⁻⁶. There are no missing values, so rules have
    no default.
    """

    name: ClassVar[str] = "rankboost"
    title: ClassVar[str] = "RankBoost: weighted threshold rules"
    tuned: ClassVar[str | None] = "rounds"

    def __init__(
        self,
        rounds: int = 300,
        n_thresholds: int | None = None,
        learning_rate: float = 1.0,
        weighing: str = "pair",
    ) -> None:
        self.rounds = rounds
        self.n_thresholds = n_thresholds
        self.learning_rate = learning_rate
        self.weighing = weighing

    def _check_settings(self) -> None:
        require_whole("rounds", self.rounds)
        if self.n_thresholds is not None:
            require_whole("n_thresholds", self.n_thresholds)
        require_share("learning_rate", self.learning_rate)
        if self.weighing not in WEIGHINGS:
            raise SettingError(f"weighing is {self.weighing!r}, expected one of {', '.join(WEIGHINGS)}")

    def values(self, training: TrainingData) -> Sequence[int]:
        """Numbers of rounds from 10 to `rounds`, each half as large again as the previous one.

        With fewer than 10 rules most documents have equal scores, ordered as in the file: on a few validation queries
        such a model would often be chosen by chance.
        """
        values = [min(10, self.rounds)]
        while values[-1] < self.rounds:
            values.append(min(self.rounds, values[-1] * 3 // 2))
        return values

    def fit_path(self, training: TrainingData, values: Sequence[Any]) -> Iterator[Self]:
        """A ranker for each number of rounds, all from a single run of boosting."""
        rankers = [clone(self).set_params(rounds=value) for value in values]
        for ranker in rankers:
            ranker._check_settings()
        boosting = self._boost(training, max(values, default=0))
        for ranker in rankers:
            yield ranker._set_model(training, *boosting.first(ranker.rounds))

    def _learn(self, training: TrainingData) -> tuple[Model, dict[str, Any]]:
        return self._boost(training, self.rounds).first(self.rounds)

    def _boost(self, training: TrainingData, rounds: int) -> Boosting:
        rows = GradedRows.of(training)
        X = training.X[rows.rows]
        thresholds, codes = cut_features(X, self.n_thresholds)
        starts = np.cumsum([0, *(len(cuts) for cuts in thresholds)])
        scores = np.zeros(len(X))
        queries = rows.query_of_rows()
        logs, slopes = pair_potentials(scores, rows.grades, rows.log_weights, rows.offsets)
        n_pairs = math.fsum(np.exp(logs).tolist())
        shifts = logs if self.weighing == "query" else np.zeros(len(logs))
        losses, features, chosen, weights = [], [], [], []
        for _ in range(rounds):
            if not rows.n_queries:
                break
            shares, log_loss = _shares(logs - shifts)
            losses.append(log_loss)
            rule, gain = best_rule(codes, starts, slopes * shares[queries])
            if abs(gain) < MIN_GAIN:
                break
            feature = int(np.searchsorted(starts, rule, "right")) - 1
            gain = math.copysign(min(abs(gain), 1 - MIN_DISAGREEMENT), gain)
            weight = self.learning_rate * 0.5 * math.log((1 + gain) / (1 - gain))
            scores[codes[feature] > rule - starts[feature]] += weight
            features.append(feature)
            chosen.append(float(thresholds[feature][rule - starts[feature]]))
            weights.append(weight)
            logs, slopes = pair_potentials(scores, rows.grades, rows.log_weights, rows.offsets)
        if len(losses) == len(weights) and rows.n_queries:
            losses.append(_shares(logs - shifts)[1])
        relative = np.exp(np.array(losses) - losses[0]) if losses else np.zeros(0)
        return Boosting(
            np.array(features, dtype=np.int64),
            np.array(chosen),
            np.array(weights),
            relative,
            training.X.shape[1],
            n_pairs,
            rows.n_queries,
        )


@dataclass(frozen=True, eq=False)
class Boosting:
    """The rules of a run in the order of their rounds, and the mean loss of a pair before and after each."""

    features: Ints
    thresholds: Floats
    weights: Floats
    losses: Floats
    n_columns: int
    n_pairs: float
    n_queries: int

    def first(self, rounds: int) -> tuple[RuleModel, dict[str, Any]]:
        """The model after this number of rounds, and its details."""
        model = RuleModel(self.features[:rounds], self.thresholds[:rounds], self.weights[:rounds], self.n_columns)
        n_rules = len(set(zip(model.features.tolist(), model.thresholds.tolist(), strict=True)))
        return model, {
            "n_pairs": self.n_pairs,
            "n_queries_with_pairs": self.n_queries,
            "n_rounds": len(model.weights),
            "n_rules": n_rules,
            "losses": self.losses[: rounds + 1].tolist(),
        }


def cut_features(X: Floats, n_thresholds: int | None = None) -> tuple[list[Floats], Array]:
    """The ascending thresholds of each feature, and for each feature and row the number of those below the value."""
    thresholds = []
    codes = np.empty(X.shape[::-1], dtype=np.int32)
    for feature, column in enumerate(X.T):
        distinct, counts = np.unique(column, return_counts=True)
        cuts = _halfway(distinct)
        if n_thresholds is not None and len(cuts) > n_thresholds:
            below = np.cumsum(counts)[:-1]
            wanted = np.arange(1, n_thresholds + 1) / (n_thresholds + 1) * len(column)
            cuts = cuts[np.unique(np.minimum(np.searchsorted(below, wanted), len(cuts) - 1))]
        thresholds.append(cuts)
        codes[feature] = np.searchsorted(cuts, column, "left")
    return thresholds, codes


def _halfway(ascending: Floats) -> Floats:
    """The middle of each two adjacent values, at least the lower one and below the higher one after rounding."""
    low, high = ascending[:-1], ascending[1:]
    middle = low / 2 + high / 2
    return np.where((low <= middle) & (middle < high), middle, low)


def _shares(logs: Floats) -> tuple[Floats, float]:
    """The share of each query in the total loss, and the logarithm of that total."""
    largest = float(np.max(logs))
    shares = np.exp(logs - largest)
    total = float(shares.sum())
    return shares / total, largest + math.log(total)
