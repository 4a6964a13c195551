"""What do all rankers have in common?

They are scikit-learn estimators: `fit(X, y, qid)` learns from rows of features, their grades and the queries that they
belong to; `predict(X)` gives scores, higher is better. Rows of a query need not stand together. `get_params`, `clone`
and pipelines work; in a pipeline the qids are given as `pipeline.fit(X, y, ranker__qid=qid)`.

What was learnt is `model_`, plain numbers that do without scikit-learn; what is known of the training is `details_`.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, clone

from searchlab.errors import SettingError
from searchlab.features.feature_table import group_rows
from searchlab.rankers.models import Model, Offsets
from searchlab.rankers.solvers.pair_weights import GradePair, count_pairs
from searchlab.types import Array, Floats


@dataclass(frozen=True, eq=False)
class Training:
    """Rows to learn from, those of a query together, checked: query q has the rows `offsets[q]:offsets[q + 1]`.

    `weights` says how often each row counts; None stands for once.
    """

    X: Floats
    grades: Floats
    offsets: Offsets
    weights: Floats | None = None

    @cached_property
    def pairs(self) -> list[dict[GradePair, float]]:
        """For each query, how many pairs it has of each (grade, lower grade)."""
        return count_pairs(self.offsets, self.grades, self.weights)

    @cached_property
    def recalled(self) -> dict[Any, Any]:
        """What rankers have worked out about these rows and may need again."""
        return {}

    @property
    def n_pairs(self) -> float:
        """How many pairs there are in all."""
        return sum(sum(own.values()) for own in self.pairs)

    @classmethod
    def of(cls, X: npt.ArrayLike, y: npt.ArrayLike, qid: Any, sample_weight: npt.ArrayLike | None = None) -> Training:
        """Check what a user gave, and bring the rows of each query together."""
        rows = check_rows(X)
        grades = _as_numbers("y", y)
        if grades.shape != (len(rows),):
            raise SettingError(f"y has the shape {grades.shape}, expected {(len(rows),)}, a grade for each row of X")
        if not np.isfinite(grades).all():
            row = int(np.flatnonzero(~np.isfinite(grades))[0])
            raise SettingError(f"row {row + 1}: grade is {grades[row]}, expected a finite number")
        weights = None
        if sample_weight is not None:
            weights = _as_numbers("sample_weight", sample_weight)
            if weights.shape != (len(rows),) or not (np.isfinite(weights) & (weights >= 0)).all():
                raise SettingError(
                    f"sample_weight has the shape {weights.shape}, expected {len(rows)} finite numbers from 0"
                )
        offsets, order = group_rows(check_qids(qid, len(rows)))
        if order is not None:
            rows, grades = rows[order], grades[order]
            weights = None if weights is None else weights[order]
        return cls(rows, grades, offsets, weights)


def check_rows(X: npt.ArrayLike, n_features: int | None = None) -> Floats:
    """A table of finite numbers, of as many columns as expected."""
    rows = _as_numbers("X", X)
    if rows.ndim != 2:
        raise SettingError(f"X has {rows.ndim} dimensions, expected 2: a row for each document, a column a feature")
    if n_features is not None and rows.shape[1] != n_features:
        raise SettingError(f"X has {rows.shape[1]} features, expected the {n_features} of training")
    # Not isfinite, which takes memory for the whole table; and NaN is in no range.
    if rows.size and not (np.isfinite(np.min(rows)) and np.isfinite(np.max(rows))):
        row, column = np.argwhere(~np.isfinite(rows))[0]
        raise SettingError(f"row {row + 1}, column {column + 1} is {rows[row, column]}, expected a finite number")
    return rows


def check_qids(qid: Any, n_rows: int) -> Array:
    """A query for each row."""
    qids = np.asarray(qid)
    if qids.shape != (n_rows,):
        raise SettingError(f"qid has the shape {qids.shape}, expected {(n_rows,)}, the query of each row of X")
    if qids.dtype.kind == "f" and np.isnan(qids).any():
        raise SettingError(
            f"row {int(np.argmax(np.isnan(qids))) + 1}: qid is nan, expected the query that it belongs to"
        )
    return qids


def _as_numbers(name: str, given: Any) -> Floats:
    try:
        return np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise SettingError(f"{name} is no table of numbers ({error})") from None


class Ranker(BaseEstimator):  # type: ignore[misc]
    """The frame: a kind of ranker says how it learns, and which of its settings is worth trying out."""

    # What the command line calls it, and what it is in a few words.
    name: ClassVar[str]
    title: ClassVar[str]
    # The setting that is chosen on validation data, if any.
    tuned: ClassVar[str | None] = None
    # Whether the models of the best few values are averaged, and how features are bent, unless a user says otherwise.
    averaged: bool = False
    bends: str = "none"

    model_: Model
    details_: dict[str, Any]
    n_features_in_: int

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike, qid: Any, sample_weight: npt.ArrayLike | None = None) -> Self:
        """Learn from rows X with grades y and their queries; a row of weight 2 counts as if it occurred twice."""
        self._check_settings()
        training = Training.of(X, y, qid, sample_weight)
        return self._take(training, *self._learn(training))

    def predict(self, X: npt.ArrayLike, qid: Any = None) -> Floats:
        """The score of each row. Without qids all rows are of one query, which matters where documents vote."""
        if not hasattr(self, "model_"):
            raise SettingError(f"this {type(self).__name__} has learnt nothing yet, expected fit before predict")
        rows = check_rows(X, self.n_features_in_)
        if qid is None:
            return self.model_.score(rows, np.array([0, len(rows)], dtype=np.int64))
        offsets, order = group_rows(check_qids(qid, len(rows)))
        if order is None:
            return self.model_.score(rows, offsets)
        scores = np.empty(len(rows))
        scores[order] = self.model_.score(rows[order], offsets)
        return scores

    def values(self, training: Training) -> Sequence[Any]:
        """Values of the tuned setting that are worth trying on these rows, from cautious to bold."""
        return []

    def fit_path(self, training: Training, values: Sequence[Any]) -> Iterator[Self]:
        """A fitted ranker for each value of the tuned setting, in one go where that is cheaper."""
        for value in values:
            each = clone(self).set_params(**{str(self.tuned): value})
            each._check_settings()
            yield each._take(training, *each._learn(training))

    def _take(self, training: Training, model: Model, details: Mapping[str, Any]) -> Self:
        self.model_ = model
        self.details_ = dict(details)
        self.n_features_in_ = int(training.X.shape[1])
        return self

    def _learn(self, training: Training) -> tuple[Model, Mapping[str, Any]]:
        raise NotImplementedError

    def _check_settings(self) -> None:
        """Refuse settings that make no sense."""


def require_positive(name: str, value: Any) -> None:
    """A setting that must be a finite number above 0."""
    try:
        # Whole numbers of any length are numbers, but not all of them can be computed with.
        known = isinstance(value, numbers.Real) and not isinstance(value, bool) and 0 < float(value) < math.inf
    except OverflowError:
        known = False
    if not known:
        raise SettingError(f"{name} is {value!r}, expected a number above 0")


def require_whole(name: str, value: Any, least: int = 1) -> None:
    """A setting that must be a whole number from `least`."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise SettingError(f"{name} is {value!r}, expected a whole number from {least}")
