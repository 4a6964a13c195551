"""The base class of all rankers, which are scikit-learn estimators.

`fit(X, y, qid)` learns from rows of features, their grades and their queries; `predict(X)` returns scores, higher is
better. Rows of a query need not be adjacent. `get_params`, `clone` and pipelines work; in a pipeline the qids are
passed as `pipeline.fit(X, y, ranker__qid=qid)`.

The trained model is `model_`, plain numbers that need no scikit-learn; `details_` describes the training.
"""

from __future__ import annotations

import inspect
import math
import numbers
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, clone

from searchlab.errors import SettingError, unknown_name
from searchlab.evaluation.score_evaluation import evaluate_scores
from searchlab.rankers.models.base_model import Model
from searchlab.rankers.training_data import TrainingData, check_row_qids, check_rows
from searchlab.row_groups import group_rows
from searchlab.types import Floats


class Ranker(BaseEstimator, ABC):  # type: ignore[misc]
    """A subclass defines `_learn`, and the setting that is tuned on validation data with its candidate values."""

    # The name on the command line, and a short description.
    name: ClassVar[str]
    title: ClassVar[str]
    # The setting that is chosen on validation data, if any.
    tuned: ClassVar[str | None] = None
    # In the tuned recipe: whether models of the best few values are averaged, and powers of the features added.
    averaged: bool = False
    powers: bool = False
    # Settings of the tuned recipe that differ from the paper's.
    tuned_settings: Mapping[str, Any] = {}
    # Whether the model can be written to a file.
    storable: bool = True
    # Whether it learns in about a second from a hundred queries.
    is_quick: bool = False
    # Whether learning may start from the weights of another model.
    takes_prior: bool = False
    # Whether nothing can be learnt where no two documents of a query have different grades.
    learns_from_pairs: ClassVar[bool] = True
    # Whether features may be undefined (NaN).
    accepts_nan: ClassVar[bool] = False

    model_: Model
    details_: dict[str, Any]
    n_features_in_: int

    def fit(
        self,
        X: npt.ArrayLike,
        y: npt.ArrayLike,
        qid: Any = None,
        sample_weight: npt.ArrayLike | None = None,
        **others: Any,
    ) -> Self:
        """Learn from rows X with grades y and their queries; a row of weight 2 counts as if it occurred twice.

        `qid` is required. Rows from which nothing can be learnt are refused: none at all, or, by rankers that learn
        from pairs, no two of a query with different grades.
        """
        # Settings are checked before the data, which may be large.
        self._check_settings()
        _require_qid("fit", qid, others)
        training = TrainingData.of(X, y, qid, sample_weight, allow_nan=self.accepts_nan)
        if not len(training.X):
            raise SettingError("X has no rows, expected at least one to learn from")
        if self.learns_from_pairs and not training.n_pairs:
            raise SettingError("no two documents of a query have different grades: there is nothing to learn from")
        return self.fit_data(training)

    def fit_data(self, training: TrainingData) -> Self:
        """`fit` on rows that have been checked."""
        self._check_settings()
        return self._set_model(training, *self._learn(training))

    def predict(self, X: npt.ArrayLike, qid: Any = None) -> Floats:
        """The score of each row. Without qids all rows are of one query, which matters to voting models."""
        model = self._fitted_model()
        rows = check_rows(X, self.n_features_in_, allow_nan=self.accepts_nan)
        if qid is None:
            return model.score(rows, np.array([0, len(rows)], dtype=np.int64))
        offsets, order = group_rows(check_row_qids(qid, len(rows)))
        if order is None:
            return model.score(rows, offsets)
        scores = np.empty(len(rows))
        scores[order] = model.score(rows[order], offsets)
        return scores

    def _fitted_model(self) -> Model:
        if not hasattr(self, "model_"):
            raise SettingError(f"this {type(self).__name__} has learnt nothing yet, expected fit before predict")
        return self.model_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.allow_nan = self.accepts_nan
        return tags

    def score(
        self,
        X: npt.ArrayLike,
        y: npt.ArrayLike,
        qid: Any = None,
        sample_weight: None = None,
        measure: str = "nDCG@10",
        **others: Any,
    ) -> float:
        """The mean of a measure over the queries of these rows, by the rules of trec_eval, as `evaluate_run` has it.

        Rows have no docnos: equal scores keep the order of the rows.

        scikit-learn's `cross_val_score` and `GridSearchCV` use it, if they are asked to pass the qids on. Its pipelines
        pass `sample_weight`, which must be None: measures of rankings have no weights.
        """
        _require_qid("score", qid, others)
        if sample_weight is not None:
            raise SettingError("sample_weight is given, expected none: measures of rankings have no weights")
        test = TrainingData.of(X, y, qid, allow_nan=self.accepts_nan)
        if not len(test.X):
            raise SettingError("X has no rows, expected at least one to score")
        scores = self._fitted_model().score(check_rows(test.X, self.n_features_in_, allow_nan=True), test.offsets)
        return float(evaluate_scores(scores, test.grades, test.offsets, measure, dialect="trec").mean())

    def values(self, training: TrainingData) -> Sequence[Any]:
        """Values of the tuned setting to try on these rows, from strong to weak regularisation."""
        return []

    def fit_path(self, training: TrainingData, values: Sequence[Any]) -> Iterator[Self]:
        """A fitted ranker for each value of the tuned setting, in one run where that is cheaper."""
        for value in values:
            yield clone(self).set_params(**{str(self.tuned): value}).fit_data(training)

    @property
    def label(self) -> str:
        """The name in tables and reports."""
        return self.name

    def changed_settings(self) -> dict[str, Any]:
        """The settings that differ from their defaults."""
        defaults = {name: parameter.default for name, parameter in inspect.signature(type(self)).parameters.items()}
        settings = self.get_params(deep=False).items()
        return {name: value for name, value in settings if value is not defaults[name] and value != defaults[name]}

    def with_settings(self, settings: Mapping[str, Any]) -> Self:
        """A ranker of this kind, not fitted, with these settings and otherwise the defaults."""
        known = self.get_params(deep=False)
        for name in settings:
            if name not in known:
                raise unknown_name(f"setting of {self.label}", name, known)
        made = type(self)(**settings)
        made._check_settings()
        return made

    def settings_record(self) -> dict[str, Any]:
        """The settings by name, as they are written to the file of a model."""
        return dict(self.get_params(deep=False))

    def _set_model(self, training: TrainingData, model: Model, details: Mapping[str, Any]) -> Self:
        self.model_ = model
        self.details_ = dict(details)
        self.n_features_in_ = int(training.X.shape[1])
        return self

    @abstractmethod
    def _learn(self, training: TrainingData) -> tuple[Model, Mapping[str, Any]]:
        """The model learnt from these rows, and a description of the training."""

    def _check_settings(self) -> None:
        """Raise SettingError if a setting is out of its range."""


def _require_qid(method: str, qid: Any, others: Mapping[str, Any]) -> None:
    """Raise SettingError unless the queries are given, as `qid` and in no other way."""
    expected = f"expected the query of each row as qid: {method}(X, y, qid)"
    if others:
        raise SettingError(f"{method} was given {', '.join(others)}, {expected}")
    if qid is None:
        raise SettingError(f"qid is missing, {expected}")


def require_positive(name: str, value: Any) -> None:
    """Raise SettingError unless a setting is a finite number above 0."""
    try:
        # Integers of any length are numbers, but those too large for a float raise OverflowError.
        is_valid = isinstance(value, numbers.Real) and not isinstance(value, bool) and 0 < float(value) < math.inf
    except OverflowError:
        is_valid = False
    if not is_valid:
        raise SettingError(f"{name} is {value!r}, expected a number above 0")


def require_whole(name: str, value: Any, least: int = 1) -> None:
    """Raise SettingError unless a setting is a whole number from `least`."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise SettingError(f"{name} is {value!r}, expected a whole number from {least}")


def require_share(name: str, value: Any) -> None:
    """Raise SettingError unless a setting is a number above 0 and up to 1."""
    require_positive(name, value)
    if value > 1:
        raise SettingError(f"{name} is {value!r}, expected a number above 0 and up to 1")
