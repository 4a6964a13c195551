"""Softmax ranker: a linear model by the listwise softmax loss, with one strength of regularisation for all collections.

The loss and its solver are in `solvers/softmax_loss.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from searchlab.rankers.estimators.base_ranker import Ranker, require_positive
from searchlab.rankers.estimators.prior_weights import check_prior, prior_weights
from searchlab.rankers.models.base_model import Model
from searchlab.rankers.models.linear_model import LinearModel
from searchlab.rankers.solvers.softmax_loss import SoftmaxProblem, solve_path
from searchlab.rankers.training_data import TrainingData
from searchlab.types import Floats

# The regularisation of κ: only so much that κ is finite.
SCALE_REGULARISATION = 1e-6


class SoftmaxRanker(Ranker):
    """½‖w − w₀‖² + C·Σ_q loss(q), where the loss of a query is a softmax cross-entropy (see `softmax_loss.py`).

    Settings: `C`, `tolerance`, the relative gap to the optimum, and `prior`, the weights of another model that learning
    starts from, one for each feature: w₀ is the prior times the κ of the lowest loss on these rows, or 0 without one.

    C is not chosen by validation. Every query has the weight 1, so that ‖w − w₀‖²/(2C) is the negative logarithm of a
    normal distribution with the variance C for each weight: an assumption about features between 0 and 1 which does not
    depend on the number of queries. On five collections, with 5 to 250 training queries, values from 0.1 to 1 rank
    about equally well, and choosing among them by held-out queries gains nothing.
    """

    name: ClassVar[str] = "softmax"
    title: ClassVar[str] = "linear model by the softmax cross-entropy of each document with those of lower grades"
    is_quick: bool = True

    def __init__(self, C: float = 0.3, tolerance: float = 1e-5, prior: Sequence[float] | None = None) -> None:
        self.C = C
        self.tolerance = tolerance
        self.prior = prior

    @property
    def takes_prior(self) -> bool:  # type: ignore[override]
        """Whether learning may start from another model: unless it already does."""
        return self.prior is None

    def settings_record(self) -> dict[str, Any]:
        """The settings by name, without the weights of the prior, which the file of a model records by its name."""
        return {name: value for name, value in super().settings_record().items() if name != "prior"}

    def _learn(self, training: TrainingData) -> tuple[Model, Mapping[str, Any]]:
        problem = SoftmaxProblem.of(training.X, training.offsets, training.grades, training.weights)
        centre = None if self.prior is None else self._centre(problem)
        (solution,) = solve_path(problem, [1 / self.C], centre=centre, tolerance=self.tolerance)
        details = {
            "C": self.C,
            "n_pairs": training.n_pairs,
            "objective": self.C * solution.objective,
            "gap": solution.gap,
            "n_iterations": solution.n_iterations,
            "converged": solution.converged,
        }
        return LinearModel(solution.weights), details

    def _centre(self, problem: SoftmaxProblem) -> Floats:
        """w₀: the prior times the κ of the lowest loss, so that the unit of the prior does not matter."""
        prior = prior_weights(self.prior, problem.features.shape[1])
        spread = float(np.std(problem.features @ prior)) if len(problem.features) else 0.0
        if not spread > 0:
            return prior
        alone = problem.with_features((problem.features @ prior)[:, None] / spread)
        (solution,) = solve_path(alone, [SCALE_REGULARISATION], tolerance=self.tolerance)
        centre: Floats = max(0.0, float(solution.weights[0])) / spread * prior
        return centre

    def _check_settings(self) -> None:
        require_positive("C", self.C)
        require_positive("tolerance", self.tolerance)
        if self.prior is not None:
            check_prior(self.prior)
