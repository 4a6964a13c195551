"""Linear models: a weight for each feature."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from searchlab.rankers.models.base_model import ScorePart, read_numbers
from searchlab.types import Floats, Ints


@dataclass(frozen=True, eq=False)
class LinearModel:
    """Score Σ_k w_k · x_k."""

    kind: ClassVar[str] = "linear"
    weights: Floats

    @property
    def n_features(self) -> int:
        """The number of features of a row."""
        return len(self.weights)

    def score(self, X: Floats, offsets: Ints) -> Floats:
        """Σ_k w_k · x_k."""
        return np.asarray(X @ self.weights, dtype=np.float64)

    def parts(self, X: Floats, row: int) -> list[ScorePart]:
        """Weight × value for each feature."""
        values, weights = X[row].tolist(), self.weights.tolist()
        return [
            ScorePart(number, weight * value, f"{weight:.4g} × {value:.4g}")
            for number, (weight, value) in enumerate(zip(weights, values, strict=True))
        ]

    def influences(self) -> list[ScorePart]:
        """The weights."""
        return [ScorePart(number, weight, "") for number, weight in enumerate(self.weights.tolist())]

    def to_json(self) -> dict[str, Any]:
        """The model as plain JSON."""
        return {"kind": self.kind, "weights": self.weights.tolist()}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> LinearModel:
        """The model that `to_json` wrote."""
        return cls(read_numbers(record["weights"], 1))

    @classmethod
    def average(cls, models: Sequence[LinearModel], factors: Sequence[float]) -> LinearModel:
        """The weights times factors, added up."""
        return cls(np.sum([factor * model.weights for model, factor in zip(models, factors, strict=True)], axis=0))
