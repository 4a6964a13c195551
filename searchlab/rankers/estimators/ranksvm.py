"""Ranking SVM and RSVM-IR: linear rankers with a hinge loss on pairs of documents.

    minimise  ½‖w‖² + C · Σ_q Σ_{i,j in q: y_i > y_j} c_q(y_i, y_j) · max(0, 1 − w·(x_i − x_j))

With c = 1 this is the Ranking SVM (Herbrich et al.; Joachims 2002; Cao et al. SIGIR 2006, eq. 6–8). RSVM-IR (Cao et al.
§5, eq. 9) weights each pair by c = τ·μ (`pair_weights.py`): τ is the loss of the measure when documents of these two
grades are swapped, μ gives queries with few pairs the same total weight as those with many. Either can be left out:
τ alone is also the cost-sensitive SVM of Xu et al. (2006).

C is 1/(2λ) of the paper, and the C of scikit-learn's LinearSVC on explicit pairs. A good C depends on the number of
pairs, so the default, None, and the values to try are relative to the total cost of all pairs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone

from searchlab.errors import SettingError, unknown_name
from searchlab.rankers.estimators.base_ranker import Ranker, require_positive, require_whole
from searchlab.rankers.models.base_model import Model
from searchlab.rankers.models.linear_model import LinearModel
from searchlab.rankers.solvers.pair_weights import query_factors, rank_factors, simulate_rank_factors
from searchlab.rankers.solvers.pairwise_hinge import Cost, Solution, solve_path
from searchlab.rankers.training_data import TrainingData

# C times the total cost of all pairs: the default, and the values to try.
DEFAULT_STRENGTH = 100.0
STRENGTHS = 10.0 ** np.arange(0.25, 4.1, 0.25)
SOLVERS = ("qp", "gd")


class RankSVM(Ranker):
    """RSVM: every pair has the same weight.

    Settings: `C`, None for 100 / (the total cost of all pairs); `tolerance`, the relative duality gap that is
    certified.
    """

    name: ClassVar[str] = "rsvm"
    title: ClassVar[str] = "Ranking SVM"
    tuned: ClassVar[str | None] = "C"
    averaged: bool = True
    powers: bool = True

    def __init__(self, C: float | None = None, tolerance: float = 1e-5) -> None:
        self.C = C
        self.tolerance = tolerance

    def values(self, training: TrainingData) -> Sequence[float]:
        """C from strong to weak regularisation."""
        total = self._total_cost(training)
        return [float(value) for value in STRENGTHS / total] if total > 0 else [1.0]

    def fit_path(self, training: TrainingData, values: Sequence[Any]) -> Iterator[Self]:
        """A fitted ranker for each C, warm-started from the previous one."""
        rankers = [clone(self).set_params(C=value) for value in values]
        for each in rankers:
            each._check_settings()
        strengths = [each._strength(training) for each in rankers]
        for each, strength, solution in zip(rankers, strengths, self._solve_path(training, strengths), strict=True):
            yield each._set_model(training, *self._make_model(training, strength, solution))

    def _learn(self, training: TrainingData) -> tuple[Model, Mapping[str, Any]]:
        strength = self._strength(training)
        (solution,) = self._solve_path(training, [strength])
        return self._make_model(training, strength, solution)

    def _solve_path(self, training: TrainingData, strengths: Sequence[float]) -> Iterator[Solution]:
        rows = training.X, training.offsets, training.grades, self._cost(training)
        return solve_path(
            *rows, [1 / (2 * C) for C in strengths], row_weights=training.weights, tolerance=self.tolerance
        )

    def _cost(self, training: TrainingData) -> Cost | None:
        """The cost of a pair of grades in a query; None if every pair costs 1."""
        return None

    def _total_cost(self, training: TrainingData) -> float:
        """The total cost of all pairs."""
        cost = self._cost(training)
        return sum(
            number * (1.0 if cost is None else cost(query, *pair))
            for query, pairs in enumerate(training.pairs)
            for pair, number in pairs.items()
        )

    def _strength(self, training: TrainingData) -> float:
        if self.C is not None:
            return float(self.C)
        total = self._total_cost(training)
        return DEFAULT_STRENGTH / total if total > 0 else 1.0

    def _make_model(self, training: TrainingData, strength: float, solution: Solution) -> tuple[Model, dict[str, Any]]:
        return LinearModel(solution.weights), {
            "C": strength,
            "n_pairs": training.n_pairs,
            "objective": strength * solution.objective,
            "dual_objective": strength * solution.dual_objective,
            "gap": solution.gap,
            "n_iterations": solution.n_iterations,
            "converged": solution.converged,
        }

    def _check_settings(self) -> None:
        if self.C is not None:
            require_positive("C", self.C)
        require_positive("tolerance", self.tolerance)


class RankSVMIR(RankSVM):
    """RSVM-IR: pairs weighted by τ and μ.

    Settings, beside those of RSVM: `depth`, the k of the NDCG@k that τ is derived from (1 in the paper); `draws`, None
    for the exact τ, or the number of draws per query of the paper's simulation, with their `seed`; `solver`, "qp" for
    the exact solution, "gd" for the gradient descent of the paper's Figure 3.
    """

    name: ClassVar[str] = "rsvm-ir"
    title: ClassVar[str] = "Ranking SVM for IR: pairs weighed by grades and by query"
    by_rank: ClassVar[bool] = True
    by_query: ClassVar[bool] = True

    def __init__(
        self,
        C: float | None = None,
        tolerance: float = 1e-5,
        depth: int = 1,
        draws: int | None = None,
        seed: int = 0,
        solver: str = "qp",
    ) -> None:
        super().__init__(C, tolerance)
        self.depth = depth
        self.draws = draws
        self.seed = seed
        self.solver = solver

    def _solve_path(self, training: TrainingData, strengths: Sequence[float]) -> Iterator[Solution]:
        if self.solver == "qp":
            yield from super()._solve_path(training, strengths)
            return
        from searchlab.rankers.solvers.gradient_descent import solve_by_gradient_descent

        rows = training.X, training.offsets, training.grades, self._cost(training)
        for strength in strengths:
            yield solve_by_gradient_descent(
                *rows, 1 / (2 * strength), row_weights=training.weights, tolerance=self.tolerance
            )

    def _cost(self, training: TrainingData) -> Cost:
        by_rank = self._rank_factors(training) if self.by_rank else None
        by_query = query_factors(training.offsets, training.grades, training.weights) if self.by_query else None

        def cost(query: int, grade: float, lower: float) -> float:
            tau = 1.0 if by_rank is None else by_rank[grade, lower]
            return tau if by_query is None else tau * float(by_query[query])

        return cost

    def _rank_factors(self, training: TrainingData) -> dict[tuple[float, float], float]:
        key = "τ", self.depth, self.draws, self.seed
        if key not in training.cache:
            training.cache[key] = self._compute_rank_factors(training)
        factors: dict[tuple[float, float], float] = training.cache[key]
        return factors

    def _compute_rank_factors(self, training: TrainingData) -> dict[tuple[float, float], float]:
        if self.draws is None:
            return rank_factors(training.offsets, training.grades, self.depth, training.weights)
        if training.weights is not None:
            raise SettingError("sample_weight cannot be simulated, expected draws=None, the exact τ")
        return simulate_rank_factors(training.offsets, training.grades, self.depth, self.draws, self.seed)

    def _make_model(self, training: TrainingData, strength: float, solution: Solution) -> tuple[Model, dict[str, Any]]:
        model, details = super()._make_model(training, strength, solution)
        if self.by_rank:
            factors = self._rank_factors(training)
            details["tau"] = {f"{high:g} over {low:g}": factor for (high, low), factor in factors.items()}
        return model, details

    def _check_settings(self) -> None:
        super()._check_settings()
        require_whole("depth", self.depth)
        require_whole("seed", self.seed, 0)
        if self.draws is not None:
            require_whole("draws", self.draws)
        if self.solver not in SOLVERS:
            raise unknown_name("solver", str(self.solver), SOLVERS)


class RankSVMIRRank(RankSVMIR):
    """RSVM-IR-Rank: pairs weighted by τ alone; also the cost-sensitive SVM for ranking of Xu et al. (2006)."""

    name: ClassVar[str] = "rsvm-ir-rank"
    title: ClassVar[str] = "Ranking SVM for IR: pairs weighed by grades alone"
    by_query: ClassVar[bool] = False


class RankSVMIRQuery(RankSVMIR):
    """RSVM-IR-Query: pairs weighted by μ alone."""

    name: ClassVar[str] = "rsvm-ir-query"
    title: ClassVar[str] = "Ranking SVM for IR: pairs weighed by query alone"
    by_rank: ClassVar[bool] = False
