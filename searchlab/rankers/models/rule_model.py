"""Rule models: weighted threshold rules on single features (RankBoost)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from searchlab.errors import SettingError
from searchlab.rankers.models.base_model import ScorePart, read_numbers
from searchlab.types import Floats, Ints


@dataclass(frozen=True, eq=False)
class RuleModel:
    """Rules: rule r holds for a row if its feature `features[r]` is above `thresholds[r]`, and adds `weights[r]`."""

    kind: ClassVar[str] = "rules"
    features: Ints
    thresholds: Floats
    weights: Floats
    n_columns: int

    @property
    def n_features(self) -> int:
        """The number of features of a row."""
        return self.n_columns

    def score(self, X: Floats, offsets: Ints) -> Floats:
        """Σ of the weights of the rules that hold: for each feature a step function, evaluated by binary search."""
        scores = np.zeros(len(X))
        for feature in np.unique(self.features).tolist():
            of_feature = self.features == feature
            order = np.argsort(self.thresholds[of_feature], kind="stable")
            steps = np.concatenate([[0.0], np.cumsum(self.weights[of_feature][order])])
            scores += steps[np.searchsorted(self.thresholds[of_feature][order], X[:, feature], "left")]
        return scores

    def parts(self, X: Floats, row: int) -> list[ScorePart]:
        """The rules that hold; rules of the same feature and threshold are one part."""
        return [
            ScorePart(feature, weight, f"{X[row, feature]:.4g} > {threshold:.4g}")
            for feature, threshold, weight in self._distinct_rules()
            if X[row, feature] > threshold
        ]

    def influences(self) -> list[ScorePart]:
        """The rules."""
        return [
            ScorePart(feature, weight, f"> {threshold:.4g}") for feature, threshold, weight in self._distinct_rules()
        ]

    def _distinct_rules(self) -> list[tuple[int, float, float]]:
        weight_of: dict[tuple[int, float], float] = {}
        rules = zip(self.features.tolist(), self.thresholds.tolist(), self.weights.tolist(), strict=True)
        for feature, threshold, weight in rules:
            weight_of[feature, threshold] = weight_of.get((feature, threshold), 0.0) + weight
        return [(feature, threshold, weight) for (feature, threshold), weight in weight_of.items()]

    def to_json(self) -> dict[str, Any]:
        """The model as plain JSON."""
        rules = zip(self.features.tolist(), self.thresholds.tolist(), self.weights.tolist(), strict=True)
        return {"kind": self.kind, "n_features": self.n_columns, "rules": [list(rule) for rule in rules]}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> RuleModel:
        """The model that `to_json` wrote."""
        n_columns = int(record["n_features"])
        rules = np.zeros((0, 3)) if record["rules"] == [] else read_numbers(record["rules"], 2)
        is_valid = rules.shape[1] == 3 and np.isin(rules[:, 0], np.arange(n_columns)).all()
        if not is_valid:
            raise ValueError(f"expected rules of feature, threshold and weight, features from 0 to {n_columns - 1}")
        return cls(rules[:, 0].astype(np.int64), rules[:, 1], rules[:, 2], n_columns)

    @classmethod
    def average(cls, models: Sequence[RuleModel], factors: Sequence[float]) -> RuleModel:
        """Refused."""
        raise SettingError(f"{cls.kind} models cannot be averaged")
