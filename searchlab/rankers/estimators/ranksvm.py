"""Ranking SVM and RSVM-IR: linear rankers with a hinge loss on pairs of documents.

    minimise  ½‖w − w₀‖² + C · Σ_q Σ_{i,j in q: y_i > y_j} c_q(y_i, y_j) · max(0, 1 − w·(x_i − x_j))

With w₀ = 0 and c = 1 this is the Ranking SVM (Herbrich et al.; Joachims 2002; Cao et al. SIGIR 2006, eq. 6–8). RSVM-IR
(Cao et al. §5, eq. 9) weights each pair by c = τ·μ (`pair_weights.py`): τ is the loss of the measure when documents of
these two grades are swapped, μ gives queries with few pairs the same total weight as those with many (eq. 10). Either
can be left out: τ alone is RSVM-IR-Rank, also the cost-sensitive SVM of Xu et al. (2006, eq. 8), μ alone is
RSVM-IR-Query.

C is 1/(2λ) of the papers, so that C·c is the C_i = τμ/(2λ) of eq. 14; it is the C of scikit-learn's LinearSVC on
explicit pairs. The papers do not say how λ was chosen. A good C depends on the number of pairs, so the default, None,
and the values to try are relative to the total cost of all pairs.

w₀ is 0 in the papers. With a `prior` p, the weights of another model, w₀ = κ·p, with the κ ≥ 0 of the lowest loss on
the training pairs: the unit of p does not matter, and a prior that orders them no better than chance is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone

from searchlab.errors import SettingError, unknown_name
from searchlab.rankers.estimators.base_ranker import Ranker, require_positive, require_whole
from searchlab.rankers.estimators.prior_weights import check_prior, prior_weights
from searchlab.rankers.models.base_model import Model
from searchlab.rankers.models.linear_model import LinearModel
from searchlab.rankers.solvers.barzilai_borwein import solve_by_barzilai_borwein
from searchlab.rankers.solvers.gradient_descent import solve_by_gradient_descent
from searchlab.rankers.solvers.pair_weights import (
    TAU_QUERIES,
    GradePair,
    name_pair,
    parse_rank_factors,
    query_factors,
    rank_factors,
    simulate_rank_factors,
)
from searchlab.rankers.solvers.pairwise_hinge import Cost, Solution, solve, solve_path
from searchlab.rankers.solvers.quadratic_programme import PairDuals, solve_by_quadratic_programme
from searchlab.rankers.training_data import TrainingData
from searchlab.types import Floats, Ints

# C times the total cost of all pairs: the default, and the values to try.
DEFAULT_STRENGTH = 100.0
STRENGTHS = 10.0 ** np.arange(0.25, 4.1, 0.25)
# The regularisation of κ, times the total cost: only so much that κ is finite.
SCALE_REGULARISATION = 1e-6

# A solution, and its dual variables if the solver lists the pairs.
Solved = tuple[Solution, PairDuals | None]
Path = Callable[["RankSVM", TrainingData, Sequence[float]], Iterator[Solved]]


def _rows(ranker: RankSVM, training: TrainingData) -> tuple[Floats, Ints, Floats, Cost | None]:
    return training.X, training.offsets, training.grades, ranker._cost(training)


def _solve_exactly(ranker: RankSVM, training: TrainingData, lams: Sequence[float]) -> Iterator[Solved]:
    rows, centre = _rows(ranker, training), ranker._centre(training)
    for solution in solve_path(*rows, lams, row_weights=training.weights, tolerance=ranker.tolerance, centre=centre):
        yield solution, None


def _descend(ranker: RankSVM, training: TrainingData, lams: Sequence[float]) -> Iterator[Solved]:
    return _descend_by(partial(solve_by_gradient_descent, step=ranker.step), ranker, training, lams)


def _descend_faster(ranker: RankSVM, training: TrainingData, lams: Sequence[float]) -> Iterator[Solved]:
    return _descend_by(solve_by_barzilai_borwein, ranker, training, lams)


def _descend_by(
    solve: Callable[..., Solution], ranker: RankSVM, training: TrainingData, lams: Sequence[float]
) -> Iterator[Solved]:
    rows, limits = _rows(ranker, training), {"tolerance": ranker.tolerance, "max_iterations": ranker.max_iterations}
    for lam in lams:
        yield solve(*rows, lam, row_weights=training.weights, **limits), None


def _solve_dual(ranker: RankSVM, training: TrainingData, lams: Sequence[float]) -> Iterator[Solved]:
    rows = _rows(ranker, training)
    for lam in lams:
        yield solve_by_quadratic_programme(*rows, lam, row_weights=training.weights, tolerance=ranker.tolerance)


SOLVERS: dict[str, Path] = {
    "qp": _solve_exactly,
    "gd": _descend,
    "barzilai-borwein": _descend_faster,
    "cvxopt": _solve_dual,
}


class RankSVM(Ranker):
    """RSVM: every pair has the same weight (Cao et al., eq. 6–8).

    Settings: `C`, None for 100 / (the total cost of all pairs), and `solver`, how the loss is minimised:

        qp                 the solution of the quadratic programme (eq. 14), by Newton's method on a smoothed loss to a
                           relative duality gap of `tolerance` (`pairwise_hinge.py`); any number of pairs
        gd                 the gradient descent of Figure 3 (`gradient_descent.py`), with a fixed `step` η or, with
                           None, the line search of eq. 13; it stops when the loss decreases by less than a share of
                           `tolerance` in 50 steps, or after `max_iterations`
        barzilai-borwein   a faster descent, on a smoothed loss, to the gap `tolerance`; at most `max_iterations`
        cvxopt             the dual over listed pairs (eq. 18–19) by cvxopt (`quadratic_programme.py`), at most 3,000

    With cvxopt the fitted ranker has the dual variables: `pairs_`, the rows (better, worse) of X of each pair with a
    cost; `dual_coef_`, its α; `dual_bounds_`, its C_i ≥ α; and `support_`, the numbers of the pairs with α > 0, so that
    w = Σ α·(x_better − x_worse) over these (eq. 16). With other solvers these are None.

    `prior` are the weights of another model that learning starts from, one for each feature (solver qp alone).

    Deviations: the authors' solver, λ, step and stopping rule are not named in the paper.
    """

    name: ClassVar[str] = "rsvm"
    title: ClassVar[str] = "Ranking SVM"
    tuned: ClassVar[str | None] = "C"
    averaged: bool = True
    powers: bool = True

    pairs_: Ints | None
    dual_coef_: Floats | None
    dual_bounds_: Floats | None
    support_: Ints | None

    def __init__(
        self,
        C: float | None = None,
        tolerance: float = 1e-5,
        solver: str = "qp",
        step: float | None = None,
        max_iterations: int = 5000,
        prior: Sequence[float] | None = None,
    ) -> None:
        self.C = C
        self.tolerance = tolerance
        self.solver = solver
        self.step = step
        self.max_iterations = max_iterations
        self.prior = prior

    @property
    def is_quick(self) -> bool:  # type: ignore[override]
        """Whether the solver is the fast one."""
        return self.solver == "qp"

    @property
    def takes_prior(self) -> bool:  # type: ignore[override]
        """Whether learning may start from another model: with the solver "qp", unless it already does."""
        return self.prior is None and self.solver == "qp"

    def settings_record(self) -> dict[str, Any]:
        """The settings by name, without the weights of the prior, which the file of a model records by its name."""
        return {name: value for name, value in super().settings_record().items() if name != "prior"}

    def values(self, training: TrainingData) -> Sequence[float]:
        """C from strong to weak regularisation; with a prior every second one, as models without it are tried too."""
        total = self._total_cost(training)
        strengths = STRENGTHS if self.prior is None else STRENGTHS[::2]
        return [float(value) for value in strengths / total] if total > 0 else [1.0]

    def fit_path(self, training: TrainingData, values: Sequence[Any]) -> Iterator[Self]:
        """A fitted ranker for each C; with solver "qp", warm-started from the previous one."""
        rankers = [clone(self).set_params(C=value) for value in values]
        for each in rankers:
            each._check_settings()
        strengths = [each._strength(training) for each in rankers]
        for each, strength, solved in zip(rankers, strengths, self._solve_path(training, strengths), strict=True):
            yield each._set_model(training, *each._make_model(training, strength, solved))

    def _learn(self, training: TrainingData) -> tuple[Model, Mapping[str, Any]]:
        strength = self._strength(training)
        (solved,) = self._solve_path(training, [strength])
        return self._make_model(training, strength, solved)

    def _solve_path(self, training: TrainingData, strengths: Sequence[float]) -> Iterator[Solved]:
        return SOLVERS[self.solver](self, training, [1 / (2 * C) for C in strengths])

    def _cost(self, training: TrainingData) -> Cost | None:
        """The cost of a pair of grades in a query; None if every pair costs 1."""
        return None

    def _centre(self, training: TrainingData) -> Floats | None:
        """w₀: the prior times the κ of the lowest loss on these pairs; None without a prior."""
        if self.prior is None:
            return None
        prior = prior_weights(self.prior, training.X.shape[1])
        scores = (training.X @ prior)[:, None]
        total = self._total_cost(training)
        if not total > 0 or not np.ptp(scores):
            return prior
        fitted = solve(
            scores,
            training.offsets,
            training.grades,
            self._cost(training),
            # In units of the scores, so that the unit of the prior does not matter.
            SCALE_REGULARISATION * total * float(np.var(scores)),
            row_weights=training.weights,
            tolerance=self.tolerance,
        )
        centre: Floats = max(0.0, float(fitted.weights[0])) * prior
        return centre

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

    def _make_model(self, training: TrainingData, strength: float, solved: Solved) -> tuple[Model, dict[str, Any]]:
        solution, duals = solved
        details = {
            "C": strength,
            "n_pairs": training.n_pairs,
            "objective": strength * solution.objective,
            "dual_objective": strength * solution.dual_objective,
            "gap": solution.gap,
            "n_iterations": solution.n_iterations,
            "converged": solution.converged,
        }
        self.pairs_ = self.dual_coef_ = self.dual_bounds_ = self.support_ = None
        if duals is not None:
            self.pairs_ = duals.pairs if training.order is None else training.order[duals.pairs]
            self.dual_coef_, self.dual_bounds_ = duals.alphas, duals.bounds
            self.support_ = np.flatnonzero(duals.alphas > 0)
            details["n_support_pairs"] = len(self.support_)
        return LinearModel(solution.weights), details

    def _check_settings(self) -> None:
        if self.C is not None:
            require_positive("C", self.C)
        require_positive("tolerance", self.tolerance)
        if self.solver not in SOLVERS:
            raise unknown_name("solver", str(self.solver), SOLVERS)
        if self.step is not None:
            require_positive("step", self.step)
            if self.solver != "gd":
                raise SettingError(f"step is {self.step!r} with solver={self.solver}, expected solver=gd")
        require_whole("max_iterations", self.max_iterations)
        if self.prior is not None:
            self._check_prior(self.prior)

    def _check_prior(self, prior: Any) -> None:
        if self.solver != "qp":
            raise SettingError(f"a prior with solver={self.solver}, expected solver=qp")
        check_prior(prior)


class RankSVMIR(RankSVM):
    """RSVM-IR: pairs weighted by τ and μ (Cao et al., eq. 9–10, 14–19; with solver "gd", eq. 11–13 and Figure 3).

    Settings, beside those of RSVM:

        tau          True for τ from the training set (§5.2); False for 1; or numbers by hand for each two grades that
                     meet in a query, as {(2, 1): 0.5, …} or {"2 over 1": 0.5, …} or {"2-1": 0.5, …}
        mu           True for μ of eq. 10, False for 1
        depth        the k of the NDCG@k that τ is derived from (1 in the papers)
        draws        None for the expectation of τ; or the number of draws per query of the papers' simulation (Figure 1
                     of Xu et al. 2006, T), with their `seed`
        tau_queries  "all": τ is the mean drop over all queries, 0 for a query that lacks one of the grades, as printed;
                     "with-both": over the queries that have both grades

    Deviation: the expectation of the simulation is computed instead of simulated, unless `draws` are given.
    """

    name: ClassVar[str] = "rsvm-ir"
    title: ClassVar[str] = "Ranking SVM for IR: pairs weighed by grades and by query"

    def __init__(
        self,
        C: float | None = None,
        tolerance: float = 1e-5,
        solver: str = "qp",
        step: float | None = None,
        max_iterations: int = 5000,
        tau: bool | Mapping[Any, float] = True,
        mu: bool = True,
        depth: int = 1,
        draws: int | None = None,
        seed: int = 0,
        tau_queries: str = "all",
        prior: Sequence[float] | None = None,
    ) -> None:
        super().__init__(C, tolerance, solver, step, max_iterations, prior)
        self.tau = tau
        self.mu = mu
        self.depth = depth
        self.draws = draws
        self.seed = seed
        self.tau_queries = tau_queries

    def _cost(self, training: TrainingData) -> Cost:
        by_rank = self._rank_factors(training)
        by_query = query_factors(training.offsets, training.grades, training.weights) if self.mu else None

        def cost(query: int, grade: float, lower: float) -> float:
            tau = 1.0 if by_rank is None else by_rank[grade, lower]
            return tau if by_query is None else tau * float(by_query[query])

        return cost

    def _rank_factors(self, training: TrainingData) -> dict[GradePair, float] | None:
        """τ by grades; None if every τ is 1."""
        if isinstance(self.tau, Mapping):
            return self._given_rank_factors(training, self.tau)
        if not self.tau:
            return None
        key = "τ", self.depth, self.draws, self.seed, self.tau_queries
        if key not in training.cache:
            training.cache[key] = self._compute_rank_factors(training)
        factors: dict[GradePair, float] = training.cache[key]
        return factors

    def _given_rank_factors(self, training: TrainingData, given: Mapping[Any, float]) -> dict[GradePair, float]:
        factors = parse_rank_factors(given)
        met = sorted({pair for pairs in training.pairs for pair in pairs}, reverse=True)
        missing = [name_pair(pair) for pair in met if pair not in factors]
        if missing:
            needed = ", ".join(map(name_pair, met))
            raise SettingError(f"tau has no number for {', '.join(missing)}, expected one for each of {needed}")
        return factors

    def _compute_rank_factors(self, training: TrainingData) -> dict[GradePair, float]:
        rows = training.offsets, training.grades, self.depth
        if self.draws is None:
            return rank_factors(*rows, training.weights, self.tau_queries)
        if training.weights is not None:
            raise SettingError("sample_weight cannot be simulated, expected draws=None, the exact τ")
        return simulate_rank_factors(*rows, self.draws, self.seed, self.tau_queries)

    def _make_model(self, training: TrainingData, strength: float, solved: Solved) -> tuple[Model, dict[str, Any]]:
        model, details = super()._make_model(training, strength, solved)
        factors = self._rank_factors(training)
        if factors is not None:
            details["tau"] = {name_pair(pair): factor for pair, factor in factors.items()}
        return model, details

    def _check_settings(self) -> None:
        super()._check_settings()
        if isinstance(self.tau, Mapping):
            parse_rank_factors(self.tau)
        elif not isinstance(self.tau, bool):
            raise SettingError(f"tau is {self.tau!r}, expected true, false, or numbers by grades: {{'2 over 1': 0.5}}")
        if not isinstance(self.mu, bool):
            raise SettingError(f"mu is {self.mu!r}, expected true or false")
        require_whole("depth", self.depth)
        require_whole("seed", self.seed, 0)
        if self.draws is not None:
            require_whole("draws", self.draws)
        if self.tau_queries not in TAU_QUERIES:
            raise unknown_name("tau_queries", str(self.tau_queries), TAU_QUERIES)
