"""Estimators of other libraries as rankers: anything with `fit(X, y)` and `predict(X)`.

LightGBM's and XGBoost's rankers, scikit-learn's regressors, classifiers and pipelines. If `fit` takes the queries,
they are given in its own way: as `qid`, the number of the query of each row, or as `group`, the number of rows of each
query; in a pipeline, to its last step. The rows of a query are adjacent, and queries ascend.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar, Self

import numpy as np
import sklearn
from sklearn.base import clone, is_regressor

from searchlab.errors import SettingError
from searchlab.rankers.estimators.base_ranker import Ranker
from searchlab.rankers.models.base_model import Model
from searchlab.rankers.models.estimator_model import UNSAFE, EstimatorModel, refuse
from searchlab.rankers.models.lightgbm_text import read_lightgbm
from searchlab.rankers.models.linear_model import LinearModel
from searchlab.rankers.training_data import TrainingData
from searchlab.types import Floats

# The estimators of LightGBM whose scores are sums of trees.
LIGHTGBM = ("LGBMRanker", "LGBMRegressor")


class EstimatorRanker(Ranker):
    """An estimator of another library, cloned for each fit.

    The model is a `TreeModel` if the estimator is LightGBM's `LGBMRanker` or `LGBMRegressor`, and a `LinearModel`
    if it is linear: these can be written to a file. Other estimators are held in memory. Weights of rows must be whole
    numbers: rows are repeated. Undefined values (NaN) are passed on; whether the estimator takes them is its matter.
    """

    name: ClassVar[str] = "estimator"
    title: ClassVar[str] = "an estimator of another library"
    accepts_nan: ClassVar[bool] = True
    learns_from_pairs: ClassVar[bool] = False

    def __init__(self, estimator: Any = None) -> None:
        self.estimator = estimator

    @property
    def label(self) -> str:
        """The name of the estimator's class; of a pipeline, that of its last step."""
        return estimator_name(self.estimator)

    @property
    def storable(self) -> bool:  # type: ignore[override]
        """Whether the model will be trees or linear."""
        return _is_storable(self.estimator)

    def changed_settings(self) -> dict[str, Any]:
        """None: the estimator is taken as it is given."""
        return {}

    def with_settings(self, settings: Mapping[str, Any]) -> Self:
        """The same estimator with some settings changed."""
        if not settings:
            return self
        with _own_settings(self.label):
            return type(self)(clone(self.estimator).set_params(**settings))

    def settings_record(self) -> dict[str, Any]:
        """The estimator's settings; those that are no plain values as text."""
        with _own_settings(self.label):
            settings = self.estimator.get_params(deep=False) if hasattr(self.estimator, "get_params") else {}
        plain = (str, int, float, bool, type(None))
        return {
            key: value if isinstance(value, plain) else " ".join(repr(value).split()) for key, value in settings.items()
        }

    def _check_settings(self) -> None:
        if isinstance(self.estimator, type):
            raise SettingError(f"ranker is the class {self.estimator.__name__}, expected an object: {self.label}()")
        if not all(callable(getattr(self.estimator, method, None)) for method in ("fit", "predict")):
            raise SettingError(
                f"ranker is {type(self.estimator).__name__}, expected a name, or an estimator with fit and predict"
            )

    def _learn(self, training: TrainingData) -> tuple[Model, Mapping[str, Any]]:
        rows = training.repeated()
        grades = rows.grades.astype(np.int64) if np.array_equal(rows.grades, np.rint(rows.grades)) else rows.grades
        try:
            estimator = clone(self.estimator, safe=False)
            # Qids are given to the last step of a pipeline by its name, which routing of metadata would refuse.
            with sklearn.config_context(enable_metadata_routing=False):
                estimator.fit(rows.X, grades, **_query_arguments(estimator, rows))
        except Exception as error:
            raise refuse(self.label, "learn", error) from error
        return _model_of(estimator, self.label, rows.X), {"n_pairs": training.n_pairs}


def estimator_name(estimator: Any) -> str:
    """The name of an estimator's class; of a pipeline, that of its last step."""
    steps = getattr(estimator, "steps", None)
    if isinstance(steps, list) and steps and isinstance(steps[-1], tuple):
        return estimator_name(steps[-1][-1])
    return estimator.__name__ if isinstance(estimator, type) else type(estimator).__name__


@contextmanager
def _own_settings(label: str) -> Iterator[None]:
    try:
        yield
    except (AttributeError, TypeError, ValueError) as error:
        raise SettingError(f"{label}: {' '.join(str(error).split())}") from error


def _query_arguments(estimator: Any, rows: TrainingData) -> dict[str, Any]:
    """The queries of the rows, as the `fit` of the estimator or of a pipeline's last step takes them."""
    prefix = ""
    while isinstance(getattr(estimator, "steps", None), list):
        name, estimator = estimator.steps[-1]
        prefix += f"{name}__"
    known = inspect.signature(estimator.fit).parameters
    sizes = np.diff(rows.offsets)
    if "qid" in known:
        return {f"{prefix}qid": np.repeat(np.arange(len(sizes)), sizes)}
    return {f"{prefix}group": sizes} if "group" in known else {}


def _is_lightgbm(estimator: Any) -> bool:
    return type(estimator).__module__.startswith("lightgbm") and type(estimator).__name__ in LIGHTGBM


def _is_linear(estimator: Any) -> bool:
    return type(estimator).__module__.startswith("sklearn.linear_model")


def _is_storable(estimator: Any) -> bool:
    return _is_lightgbm(estimator) or (_is_linear(estimator) and is_regressor(estimator))


def _model_of(estimator: Any, label: str, X: Floats) -> Model:
    """The model of a fitted estimator, as plain numbers where that is possible."""
    if _is_lightgbm(estimator):
        try:
            trees = read_lightgbm(estimator.booster_.model_to_string())
        except SettingError as error:
            return EstimatorModel(estimator, label, X.shape[1], str(error))
        if np.array_equal(trees.score(X, np.array([0, len(X)])), estimator.predict(X)):
            return trees
        return EstimatorModel(estimator, label, X.shape[1], "its prediction is not the sum of its trees")
    weights = _linear_weights(estimator, X)
    if weights is not None:
        return LinearModel(weights)
    return EstimatorModel(estimator, label, X.shape[1], _why_unsafe(estimator, label))


def _why_unsafe(estimator: Any, label: str) -> str:
    """Why a model that is neither trees nor linear is not written."""
    if hasattr(estimator, "steps") and _is_storable(estimator.steps[-1][-1]):
        before = ", ".join(estimator_name(step) for _, step in estimator.steps[:-1])
        return (
            f"it comes after {before} in a pipeline, of which only a pickle could be written; expected {label} alone: "
            "searchlab normalises features itself"
        )
    if _is_linear(estimator) and hasattr(estimator, "classes_"):
        return f"a classifier scores by the expected grade, which is not linear; {UNSAFE}"
    return f"its prediction is not linear; {UNSAFE}" if _is_linear(estimator) else UNSAFE


def _linear_weights(estimator: Any, X: Floats) -> Floats | None:
    """The coefficients, if the estimator's scores of the training rows are theirs, apart from a constant."""
    try:
        weights = np.asarray(getattr(estimator, "coef_", None), dtype=np.float64)
        if weights.shape != (X.shape[1],) or hasattr(estimator, "classes_"):
            return None
        rest = np.asarray(estimator.predict(X), dtype=np.float64) - X @ weights
    except (TypeError, ValueError):
        return None
    is_linear = len(rest) > 0 and np.allclose(rest, rest[0], rtol=0, atol=1e-9 * (1 + np.abs(rest).max()))
    return weights if is_linear else None
