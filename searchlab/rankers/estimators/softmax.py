"""Softmax ranker: a linear model by the listwise softmax loss.

The loss and its solver are in `solvers/softmax_loss.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from searchlab.evaluation.significance import paired_t_test
from searchlab.rankers.estimators.base_ranker import Ranker, require_positive
from searchlab.rankers.estimators.prior_weights import check_prior, prior_weights
from searchlab.rankers.models.base_model import Model
from searchlab.rankers.models.linear_model import LinearModel
from searchlab.rankers.solvers.softmax_loss import SoftmaxProblem, SoftmaxSolution, solve_softmax_path
from searchlab.rankers.training_data import TrainingData
from searchlab.types import Floats

# C where the rows do not ask for another, the values that are tried, and how many parts of the queries are held out.
USUAL_C = 0.3
TRIED_C = (0.1, 0.3, 1.0, 3.0, 10.0)
N_PARTS = 4
# The level of the paired t-test by which another value must be better.
LEVEL = 0.01
# The regularisation of κ: only so much that κ is finite.
SCALE_REGULARISATION = 1e-6


class SoftmaxRanker(Ranker):
    """½‖w − w₀‖² + C·Σ_q loss(q), where the loss of a query is a softmax cross-entropy (see `softmax_loss.py`).

    Settings: `C`, `tolerance`, the relative gap to the optimum, and `prior`, the weights of another model that learning
    starts from, one for each feature: w₀ is the prior times the κ of the lowest loss on these rows, or 0 without one.

    Every query has the weight 1, so that ‖w − w₀‖²/(2C) is the negative logarithm of a normal distribution with the
    variance C for each weight: an assumption about features between 0 and 1 which does not depend on the number of
    queries. Mostly values from 0.1 to 3 rank about equally well, and the best of them on held-out queries is chance. So
    without a given C, it is `USUAL_C`, unless another of `TRIED_C` has a significantly lower loss on held-out queries.
    """

    name: ClassVar[str] = "softmax"
    title: ClassVar[str] = "linear model by the softmax cross-entropy of each document with those of lower grades"
    is_quick: bool = True

    def __init__(self, C: float | None = None, tolerance: float = 1e-5, prior: Sequence[float] | None = None) -> None:
        self.C = C
        self.tolerance = tolerance
        self.prior = prior

    @property
    def takes_prior(self) -> bool:  # type: ignore[override]
        """Whether learning may start from another model: unless it already does."""
        return self.prior is None

    def settings_record(self) -> dict[str, Any]:
        """The settings by name, without a C that is not given, and without the weights of the prior.

        The file of a model records the prior by its name, and the chosen C with the details of training.
        """
        settings = super().settings_record().items()
        return {name: value for name, value in settings if name != "prior" and value is not None}

    def _learn(self, training: TrainingData) -> tuple[Model, Mapping[str, Any]]:
        problem = SoftmaxProblem.of(training.X, training.offsets, training.grades, training.weights)
        held_out = self._held_out_losses(problem) if self.C is None else np.zeros((0, 0))
        C = _significant_choice(held_out) if self.C is None else self.C
        (solution,) = self._solve(problem, [C])
        details = {
            "C": C,
            "held_out_losses": [float(losses.mean()) for losses in held_out if len(losses)],
            "n_pairs": training.n_pairs,
            "objective": C * solution.objective,
            "gap": solution.gap,
            "n_iterations": solution.n_iterations,
            "converged": solution.converged,
        }
        return LinearModel(solution.weights), details

    def _solve(self, problem: SoftmaxProblem, values: Sequence[float]) -> Iterator[SoftmaxSolution]:
        """The solution for each value of C."""
        centre = None if self.prior is None else self._centre(problem)
        return solve_softmax_path(problem, [1 / C for C in values], centre=centre, tolerance=self.tolerance)

    def _held_out_losses(self, problem: SoftmaxProblem) -> Floats:
        """For each of `TRIED_C`, the loss of each query by what was learnt without its part of the queries."""
        part = np.arange(problem.n_queries) % N_PARTS
        losses = np.empty((len(TRIED_C), problem.n_queries if problem.n_queries > 1 else 0))
        for number in np.unique(part[: losses.shape[1]]):
            aside = part == number
            tested = problem.of_queries(aside)
            for row, solution in enumerate(self._solve(problem.of_queries(~aside), TRIED_C)):
                losses[row, aside] = tested.query_losses(solution.weights)
        return losses

    def _centre(self, problem: SoftmaxProblem) -> Floats:
        """w₀: the prior times the κ of the lowest loss, so that the unit of the prior does not matter."""
        prior = prior_weights(self.prior, problem.features.shape[1])
        spread = float(np.std(problem.features @ prior)) if len(problem.features) else 0.0
        if not spread > 0:
            return prior
        alone = problem.with_features((problem.features @ prior)[:, None] / spread)
        (solution,) = solve_softmax_path(alone, [SCALE_REGULARISATION], tolerance=self.tolerance)
        centre: Floats = max(0.0, float(solution.weights[0])) / spread * prior
        return centre

    def _check_settings(self) -> None:
        if self.C is not None:
            require_positive("C", self.C)
        require_positive("tolerance", self.tolerance)
        if self.prior is not None:
            check_prior(self.prior)


def _significant_choice(losses: Floats) -> float:
    """The value of the lowest mean loss if it is significantly better than the usual one; rows are `TRIED_C`."""
    if losses.shape[1] < 2:
        return USUAL_C
    best = int(np.argmin(losses.mean(axis=1)))
    differences = losses[TRIED_C.index(USUAL_C)] - losses[best]
    return TRIED_C[best] if paired_t_test(differences).p < LEVEL else USUAL_C
