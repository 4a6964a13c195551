"""Baselines: fixed weights given by hand, and a single feature."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from searchlab.errors import SettingError
from searchlab.evaluation.score_evaluation import evaluate_scores
from searchlab.rankers.estimators.base_ranker import Ranker, require_whole
from searchlab.rankers.models.base_model import Model
from searchlab.rankers.models.linear_model import LinearModel
from searchlab.rankers.training_data import TrainingData
from searchlab.types import Floats


class LinearRanker(Ranker):
    """Fixed weights, given by hand: score Σ_k w_k · x_k.

    `weights` has a number for each feature; None is 1 for every feature, the sum of all.
    """

    name: ClassVar[str] = "linear"
    title: ClassVar[str] = "fixed weights"
    learns_from_pairs: ClassVar[bool] = False

    def __init__(self, weights: Sequence[float] | None = None) -> None:
        self.weights = weights

    def _check_settings(self) -> None:
        self._weights_array()

    def _weights_array(self) -> Floats | None:
        if self.weights is None:
            return None
        try:
            numbers = np.array(self.weights, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            numbers = np.full((), math.nan)
        if numbers.ndim != 1 or not np.isfinite(numbers).all():
            raise SettingError(f"weights is {self.weights!r}, expected a list of finite numbers")
        return numbers

    def _learn(self, training: TrainingData) -> tuple[Model, dict[str, Any]]:
        n_features = training.X.shape[1]
        numbers = self._weights_array()
        if numbers is None:
            numbers = np.ones(n_features)
        if len(numbers) != n_features:
            raise SettingError(f"weights has {len(numbers)} numbers, expected {n_features}, one for each feature")
        return LinearModel(numbers), {}


class SingleFeatureRanker(Ranker):
    """One feature: score sign · x_k.

    `feature` is the number of its column, from 0; None is the one with the highest MAP on the training rows, the first
    of equals. `sign` is 1, or −1 if smaller values are better.
    """

    name: ClassVar[str] = "single"
    title: ClassVar[str] = "one feature"
    learns_from_pairs: ClassVar[bool] = False
    tuned: ClassVar[str | None] = "feature"

    def __init__(self, feature: int | None = None, sign: int = 1) -> None:
        self.feature = feature
        self.sign = sign

    def _check_settings(self) -> None:
        if self.feature is not None:
            require_whole("feature", self.feature, 0)
        if isinstance(self.sign, bool) or self.sign not in (1, -1):
            raise SettingError(f"sign is {self.sign!r}, expected 1 or -1")

    def values(self, training: TrainingData) -> Sequence[int]:
        """All columns."""
        return range(training.X.shape[1])

    def _learn(self, training: TrainingData) -> tuple[Model, dict[str, Any]]:
        n_features = training.X.shape[1]
        feature = self._best_feature(training) if self.feature is None else int(self.feature)
        if feature >= n_features:
            raise SettingError(f"feature is {feature}, expected a column from 0 to {n_features - 1}")
        weights = np.zeros(n_features)
        weights[feature] = self.sign
        return LinearModel(weights), {"feature": feature}

    def _best_feature(self, training: TrainingData) -> int:
        if not training.X.shape[1]:
            raise SettingError("X has no features, expected at least one to choose from")
        precisions = [_mean_average_precision(self.sign * column, training) for column in training.X.T]
        return int(np.argmax(precisions))


def _mean_average_precision(scores: Floats, training: TrainingData) -> float:
    """MAP by the rules of LETOR 3.0: grades from 1 are relevant."""
    if not len(training.offsets) > 1:
        return 0.0
    return float(evaluate_scores(scores, training.grades, training.offsets, "AP", dialect="letor3").mean())
