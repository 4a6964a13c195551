"""Estimator models: a fitted estimator of another library, such as LightGBM, XGBoost or scikit-learn.

Such a model lives in memory: it scores, but cannot be written to a file, because that would take a pickle, which runs
code when it is read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from searchlab.errors import SettingError
from searchlab.rankers.models.base_model import ScorePart
from searchlab.types import Floats, Ints

# Why a model is not written.
UNSAFE = (
    "only a pickle could hold it, which runs code when it is read; expected a ranker of searchlab, LightGBM's "
    "LGBMRanker or LGBMRegressor, or a linear regressor of scikit-learn"
)


@dataclass(frozen=True, eq=False)
class EstimatorModel:
    """Score `estimator.predict(x)`; of a classifier the expected grade Σ_g P(g | x)·g.

    A classifier without `predict_proba` has the value of its `decision_function` as score, or with more than two grades
    the expected grade of the softmax of these values.
    """

    kind: ClassVar[str] = "estimator"
    estimator: Any
    label: str
    n_columns: int
    reason: str = UNSAFE

    @property
    def n_features(self) -> int:
        """The number of features of a row."""
        return self.n_columns

    def score(self, X: Floats, offsets: Ints) -> Floats:
        """The score of each row."""
        if not len(X):
            return np.zeros(0)
        try:
            scores = np.asarray(self._predict(X), dtype=np.float64)
        except Exception as error:
            raise refuse(self.label, "score", error) from error
        if scores.shape != (len(X),) or not np.isfinite(scores).all():
            found = f"scores of the shape {scores.shape}" if scores.shape != (len(X),) else "scores that are not finite"
            raise SettingError(f"{self.label} gave {found}, expected a finite number for each of {len(X)} rows")
        return scores

    def _predict(self, X: Floats) -> Any:
        classes = getattr(self.estimator, "classes_", None)
        if classes is None:
            return self.estimator.predict(X)
        grades = np.asarray(classes, dtype=np.float64)
        if hasattr(self.estimator, "predict_proba"):
            return self.estimator.predict_proba(X) @ grades
        if not hasattr(self.estimator, "decision_function"):
            return self.estimator.predict(X)
        values = np.asarray(self.estimator.decision_function(X), dtype=np.float64)
        if values.ndim == 1:
            return values
        shares = np.exp(values - values.max(axis=1, keepdims=True))
        return shares @ grades / shares.sum(axis=1)

    def parts(self, X: Floats, row: int) -> list[ScorePart]:
        """The whole score: how it comes about is known to the estimator alone."""
        return [ScorePart(None, float(self.score(X[row : row + 1], np.array([0, 1]))[0]), f"score of {self.label}")]

    def influences(self) -> list[ScorePart]:
        """The estimator's importances or coefficients, if it has one for each feature."""
        for name in ("feature_importances_", "coef_"):
            try:
                numbers = np.asarray(getattr(self.estimator, name), dtype=np.float64).squeeze()
            except (AttributeError, TypeError, ValueError):
                continue
            if numbers.shape == (self.n_columns,):
                return [ScorePart(number, amount, "") for number, amount in enumerate(numbers.tolist())]
        return []

    def to_json(self) -> dict[str, Any]:
        """Refused."""
        raise SettingError(f"a model of {self.label} cannot be written to a file ({self.reason})")

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> EstimatorModel:
        """Refused: nothing writes such a model."""
        raise ValueError("models of other libraries are not stored")

    @classmethod
    def average(cls, models: Sequence[Any], factors: Sequence[float]) -> EstimatorModel:
        """Refused."""
        raise SettingError(f"{cls.kind} models cannot be averaged")


def refuse(label: str, act: str, error: Exception) -> SettingError:
    """The error for an estimator that fails to fit or to score, in one line."""
    return SettingError(f"{label} failed to {act} ({' '.join(f'{type(error).__name__}: {error}'.split())})")
