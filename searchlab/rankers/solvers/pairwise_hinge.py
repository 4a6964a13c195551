"""Which weights lose least on pairs of documents, and how sure is that?

    minimise  λ‖w‖² + Σ_q Σ_{i,j in q: y_i > y_j} c_q(y_i, y_j) · max(0, 1 − w·(x_i − x_j))

is the Ranking SVM of Cao et al. (SIGIR 2006, eq. 9, c = τ·μ; with c = 1, eq. 8). Its dual (eq. 18–19, times 2λ) is

    maximise  D(α) = Σ α_ij − ‖Σ α_ij (x_i − x_j)‖² / (4λ)   with  0 ≤ α_ij ≤ c

and P(w) ≥ D(α) for any two, so the gap between them certifies how far from the optimum w can be.

How it is solved is told in `newton.py`. Pairs are never listed: costs depend on the grades alone, so in a query the
documents of each grade are sorted by score, and those that a given document loses to, or has near the corner of its
hinge, stand together (Joachims 2006; Lee and Lin 2014).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt

from searchlab.errors import SettingError
from searchlab.rankers.solvers.pairwise_problem import (
    MAX_MAGNITUDE,
    Cost,
    Problem,
    Solution,
    make_problem,
    one_thread,
    scale_lambda,
)
from searchlab.rankers.solvers.smoothed_newton import COLD_WIDTH, WARM_WIDTH, Milestone, Search, Start, foresee

__all__ = ["Cost", "Solution", "solve", "solve_path"]


def solve(
    X: npt.ArrayLike,
    offsets: npt.ArrayLike,
    grades: npt.ArrayLike,
    cost: Cost | None,
    lam: float,
    *,
    row_weights: npt.ArrayLike | None = None,
    tolerance: float = 1e-5,
    start: npt.ArrayLike | None = None,
) -> Solution:
    """The weights of least loss, to a relative duality gap of `tolerance`.

    Query q has the rows `offsets[q]:offsets[q + 1]`. `cost(q, grade, lower_grade)` is asked once for each two grades of
    a query; None stands for 1. The cost of a pair is multiplied by both its `row_weights`: a row of weight 2 counts as
    if it were there twice, one of weight 0 as if it were not there. `start` are weights to begin with, such as those of
    a neighbouring λ. If the gap cannot be reached, for which numbers must be at the end of float64's precision, the
    best weights found are returned, and are not `converged`.
    """
    _check(tolerance)
    problem = make_problem(X, offsets, grades, cost, row_weights)
    n_features = problem.features.shape[1]
    begin = Start(np.zeros(n_features), COLD_WIDTH)
    if start is not None:
        begin = Start(np.array(start, dtype=np.float64), WARM_WIDTH)
    if begin.weights.shape != (n_features,) or not (np.abs(begin.weights) <= MAX_MAGNITUDE).all():
        raise SettingError(f"start has the shape {begin.weights.shape}, expected {n_features} finite weights")
    return _solve(problem, lam, tolerance, begin)[0]


def solve_path(
    X: npt.ArrayLike,
    offsets: npt.ArrayLike,
    grades: npt.ArrayLike,
    cost: Cost | None,
    lams: Iterable[float],
    *,
    row_weights: npt.ArrayLike | None = None,
    tolerance: float = 1e-5,
) -> Iterator[Solution]:
    """The solution for each λ, begun with what those before let foresee: best in rising or falling order."""
    _check(tolerance)
    problem = make_problem(X, offsets, grades, cost, row_weights)
    before: Milestone | None = None
    last: Milestone | None = None
    search: Search | None = None
    for lam in lams:
        start = Start(np.zeros(problem.features.shape[1]), COLD_WIDTH)
        if search is not None:
            before, last = last, search.milestone()
            start = foresee(before, last, scale_lambda(problem, lam))
        solution, search = _solve(problem, lam, tolerance, start)
        yield solution


def _check(tolerance: float) -> None:
    if not (math.isfinite(tolerance) and tolerance > 0):
        raise SettingError(f"tolerance is {tolerance}, expected a number above 0")


def _solve(problem: Problem, lam: float, tolerance: float, start: Start) -> tuple[Solution, Search | None]:
    lam = scale_lambda(problem, lam)
    if not len(problem.costs):
        return Solution(np.zeros_like(start.weights), 0.0, 0.0, 0.0, 0, True), None
    search = Search(problem, lam, tolerance)
    with one_thread():
        search.run(start)
    unit = problem.unit
    solution = Solution(
        search.weights,
        search.objective * unit,
        search.bound.value * unit,
        search.gap,
        search.n_iterations,
        search.gap <= tolerance,
    )
    return solution, search
