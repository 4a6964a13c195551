"""Pointwise rankers: classifiers that separate relevant from other documents, and rank by the decision value.

Every row is an independent example, relevant if its grade is at least `relevant` (Nallapati, SIGIR 2004; Chen, Learning
to Rank using Language Models and SVMs). An intercept is learnt, not penalised, and dropped from linear models, as it is
the same for all documents.

With `class_weight="balanced"` both classes have the same total weight, and the mean weight of a row is unchanged: since
few rows are relevant, a classifier that predicts none of them would otherwise have a low loss.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC, LinearSVC

from searchlab.errors import SettingError, unknown_name
from searchlab.rankers.estimators.base_ranker import Ranker, require_positive, require_whole
from searchlab.rankers.models.base_model import Model
from searchlab.rankers.models.kernel_model import KERNELS, KernelModel
from searchlab.rankers.models.linear_model import LinearModel
from searchlab.rankers.solvers.classification_hinge import solve_classification
from searchlab.rankers.training_data import TrainingData
from searchlab.types import Array, Floats

CLASS_WEIGHTS = (None, "balanced")
LOSSES = ("hinge", "squared-hinge")

# Limit of the optimisers of scikit-learn's linear classifiers.
MAX_ITERATIONS = 2_000
# The intercept of the squared hinge is the weight of a feature of this value: its penalty is ½(b/1000)².
INTERCEPT_SCALE = 1000.0


@dataclass(frozen=True, eq=False)
class Examples:
    """Rows with their class, True for relevant, and their weights."""

    X: Floats
    labels: Array
    weights: Floats

    @classmethod
    def of(cls, training: TrainingData, relevant: float, class_weight: str | None) -> Examples:
        """The rows of positive weight."""
        weights = np.ones(len(training.X)) if training.weights is None else training.weights
        used = weights > 0
        X, labels, weights = training.X[used], training.grades[used] >= relevant, weights[used]
        if not labels.any() or labels.all():
            found = "none" if not labels.any() else "all"
            raise SettingError(f"{found} of {len(X)} rows have a grade from {relevant:g}, expected some but not all")
        if class_weight == "balanced":
            shares = np.where(labels, weights[labels].sum(), weights[~labels].sum()) / weights.sum()
            weights = weights / (2 * shares)
        return cls(X, labels, weights)

    def sampled(self, n_rows: int, seed: int) -> Examples:
        """A stratified sample of at most `n_rows` rows, with the total weight of all rows."""
        if len(self.X) <= n_rows:
            return self
        random = np.random.default_rng(seed)
        n_true = min(max(round(n_rows * float(self.labels.mean())), 1), n_rows - 1)
        drawn = []
        for label, size in ((True, n_true), (False, n_rows - n_true)):
            rows_of_class = np.flatnonzero(self.labels == label)
            drawn.append(random.permutation(rows_of_class)[:size])
        rows = np.sort(np.concatenate(drawn))
        factor = self.weights.sum() / self.weights[rows].sum()
        return Examples(self.X[rows], self.labels[rows], self.weights[rows] * factor)


class SVMClassifier(Ranker):
    """A support vector machine with a soft margin, ranked by the decision value (Chen; Nallapati, SIGIR 2004):

        linear kernel   minimise ½‖w‖² + C·Σ_i v_i·max(0, 1 − y_i·(w·x_i + b));     score w·x
        other kernels   minimise ½‖w‖² + C·Σ_i v_i·max(0, 1 − y_i·(w·φ(x_i) + b));  score w·φ(x) + b

    with y_i = ±1, the weights v_i, and φ by the kernel K(x, v) = φ(x)·φ(v):

        poly      (γ x·v + coef0)^degree    Chen: (x·v + 1)^q, gamma=1, coef0=1
        rbf       exp(−γ‖x − v‖²)           Chen: γ = 1/(2σ²)
        sigmoid   tanh(γ x·v + coef0)       Chen: tanh(2 x·v + 1), gamma=2, coef0=1; not positive definite, so the
                                            machine is a stationary point, not an optimum

    `gamma="scale"` is 1 / (features × variance of all values). `loss="squared-hinge"` squares the loss of a document,
    for the linear kernel alone.

    The linear machine is solved to a relative duality gap of `tolerance` (`classification_hinge.py`), the squared hinge
    by scikit-learn's LinearSVC, kernels by its SVC, in at most `max_iterations` steps (`details_["converged"]`).

    The time of a kernel machine grows with the square of the rows, or faster. All rows are used, unless `max_rows` is
    set and there are more: then that number is drawn by `seed`, stratified by class, with the total weight of all, and
    `details_["n_rows_given"]` has the number of all.

    Deviations: classes have equal total weights by default (`class_weight=None` leaves rows as they are), and `gamma`
    is scaled to the data by default.
    """

    name: ClassVar[str] = "svm"
    title: ClassVar[str] = "support vector machine: relevant or not"
    learns_from_pairs: ClassVar[bool] = False
    tuned: ClassVar[str | None] = "C"

    @property
    def powers(self) -> bool:  # type: ignore[override]
        """Kernels have their own curves."""
        return self.kernel == "linear"

    @property
    def tuned_settings(self) -> Mapping[str, Any]:  # type: ignore[override]
        """The squared hinge was found better, for the linear kernel."""
        return {"loss": "squared-hinge"} if self.kernel == "linear" else {}

    def __init__(
        self,
        kernel: str = "linear",
        C: float = 1.0,
        loss: str = "hinge",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 1.0,
        class_weight: str | None = "balanced",
        relevant: float = 1,
        tolerance: float = 1e-6,
        max_iterations: int = 1_000_000,
        max_rows: int | None = None,
        seed: int = 0,
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.loss = loss
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.class_weight = class_weight
        self.relevant = relevant
        self.tolerance = tolerance
        self.max_iterations = max_iterations
        self.max_rows = max_rows
        self.seed = seed

    def _check_settings(self) -> None:
        if self.kernel not in KERNELS:
            raise SettingError(f"kernel is {self.kernel!r}, expected one of {', '.join(sorted(KERNELS))}")
        if self.loss not in LOSSES:
            raise unknown_name("loss", str(self.loss), LOSSES)
        if self.loss != "hinge" and self.kernel != "linear":
            raise SettingError(f"loss is {self.loss} with kernel={self.kernel}, expected hinge, or kernel=linear")
        _check_common(self.C, self.class_weight, self.relevant)
        if self.gamma != "scale":
            require_positive("gamma", self.gamma)
        require_whole("degree", self.degree)
        _require_finite("coef0", self.coef0)
        require_positive("tolerance", self.tolerance)
        require_whole("max_iterations", self.max_iterations)
        if self.max_rows is not None:
            require_whole("max_rows", self.max_rows, 2)
        require_whole("seed", self.seed, 0)

    def values(self, training: TrainingData) -> Sequence[float]:
        """C from 10⁻⁴ to 10, for kernel machines to 1."""
        return [10.0**power for power in range(-4, 2 if self.kernel == "linear" else 1)]

    def _learn(self, training: TrainingData) -> tuple[Model, dict[str, Any]]:
        examples = Examples.of(training, self.relevant, self.class_weight)
        drawn = examples if self.max_rows is None else examples.sampled(self.max_rows, self.seed)
        details: dict[str, Any] = {
            "n_relevant": int(examples.labels.sum()),
            "n_not_relevant": int((~examples.labels).sum()),
            "n_rows": len(drawn.X),
        }
        if drawn is not examples:
            details["n_rows_given"] = len(examples.X)
        if self.kernel != "linear":
            gamma = _scaled_gamma(training) if self.gamma == "scale" else float(self.gamma)
            model, found = self._learn_kernel(drawn, gamma)
        elif self.loss == "hinge":
            model, found = self._learn_hinge(drawn)
        else:
            model, found = self._learn_squared_hinge(drawn)
        return model, details | found

    def _learn_hinge(self, examples: Examples) -> tuple[Model, dict[str, Any]]:
        weights, _, solution = solve_classification(
            examples.X, examples.labels, examples.weights, float(self.C), self.tolerance
        )
        details = {"gap": solution.gap, "n_iterations": solution.n_iterations, "converged": solution.converged}
        return LinearModel(weights), {"objective": self.C * solution.objective, **details}

    def _learn_squared_hinge(self, examples: Examples) -> tuple[Model, dict[str, Any]]:
        machine = LinearSVC(
            C=self.C, dual=False, tol=self.tolerance, max_iter=MAX_ITERATIONS, intercept_scaling=INTERCEPT_SCALE
        )
        converged = _fit(machine, examples)
        return LinearModel(machine.coef_[0]), {"converged": converged}

    def _learn_kernel(self, examples: Examples, gamma: float) -> tuple[Model, dict[str, Any]]:
        machine = SVC(
            C=self.C, kernel=self.kernel, gamma=gamma, degree=self.degree, coef0=self.coef0,
            cache_size=500, max_iter=self.max_iterations, random_state=self.seed,
        )  # fmt: skip
        converged = _fit(machine, examples)
        model = KernelModel(
            machine.support_vectors_,
            machine.dual_coef_[0],
            float(machine.intercept_[0]),
            self.kernel,
            gamma,
            int(self.degree),
            float(self.coef0),
        )
        return model, {"n_vectors": len(model.vectors), "converged": converged}


class MaxEntClassifier(Ranker):
    """Maximum entropy, which for two classes is logistic regression:

        P(relevant | x) = 1 / (1 + exp(−(w·x + b)))
        minimise ½‖w‖² + C·Σ_i v_i·(−ln P(class of i | x_i));  score w·x

    The score has the order of the probability. Sources: Nallapati (SIGIR 2004) and Chen, as a discriminative model
    beside the SVM. Deviation: the Gaussian prior ½‖w‖².
    """

    name: ClassVar[str] = "maxent"
    title: ClassVar[str] = "maximum entropy: relevant or not"
    learns_from_pairs: ClassVar[bool] = False
    tuned: ClassVar[str | None] = "C"

    def __init__(self, C: float = 1.0, class_weight: str | None = "balanced", relevant: float = 1) -> None:
        self.C = C
        self.class_weight = class_weight
        self.relevant = relevant

    def _check_settings(self) -> None:
        _check_common(self.C, self.class_weight, self.relevant)

    def values(self, training: TrainingData) -> Sequence[float]:
        """C from 10⁻⁴ to 100."""
        return [10.0**power for power in range(-4, 3)]

    def _learn(self, training: TrainingData) -> tuple[Model, dict[str, Any]]:
        examples = Examples.of(training, self.relevant, self.class_weight)
        machine = LogisticRegression(C=self.C, solver="newton-cholesky", tol=1e-6, max_iter=MAX_ITERATIONS)
        converged = _fit(machine, examples)
        n_relevant = int(examples.labels.sum())
        details = {"n_relevant": n_relevant, "n_not_relevant": len(examples.X) - n_relevant}
        return LinearModel(machine.coef_[0]), details | {"n_rows": len(examples.X), "converged": converged}


def _fit(machine: Any, examples: Examples) -> bool:
    """Fit a scikit-learn estimator; returns whether it converged."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        machine.fit(examples.X, examples.labels, sample_weight=examples.weights)
    others = [warning for warning in caught if not issubclass(warning.category, ConvergenceWarning)]
    for warning in others:
        warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    return len(caught) == len(others)


def _scaled_gamma(training: TrainingData) -> float:
    mean = float(np.average(training.X.mean(axis=1), weights=training.weights))
    variance = float(np.average(((training.X - mean) ** 2).mean(axis=1), weights=training.weights))
    return 1.0 / (training.X.shape[1] * variance) if variance > 0 else 1.0


def _check_common(C: float, class_weight: str | None, relevant: float) -> None:
    require_positive("C", C)
    if class_weight not in CLASS_WEIGHTS:
        raise SettingError(f"class_weight is {class_weight!r}, expected None or 'balanced'")
    _require_finite("relevant", relevant)


def _require_finite(name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise SettingError(f"{name} is {value!r}, expected a number")
