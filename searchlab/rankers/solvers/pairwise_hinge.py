"""The exact solver of the pairwise hinge loss (Ranking SVM), with a certified duality gap.

    minimise  λ‖w − w₀‖² + Σ_q Σ_{i,j in q: y_i > y_j} c_q(y_i, y_j) · max(0, 1 − w·(x_i − x_j))

is with w₀ = 0 the Ranking SVM of Cao et al. (SIGIR 2006, eq. 9, c = τ·μ; with c = 1, eq. 7). Any other centre w₀ is
what is believed before these pairs are seen, such as the weights of another model. The dual (eq. 18–19, times 2λ) is

    maximise  D(α) = Σ α_ij·(1 − w₀·(x_i − x_j)) − ‖Σ α_ij (x_i − x_j)‖² / (4λ)   with  0 ≤ α_ij ≤ c

and P(w) ≥ D(α) for any two, so the gap between them bounds the distance of P(w) from the optimum.

`smoothed_newton.py` describes the method. Pairs are not enumerated: costs depend on the grades alone, so the documents
of each grade of a query are sorted by score, and those that a given document loses to, or that are near the corner of
its hinge, are adjacent (Joachims 2006; Lee and Lin 2014).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt

from searchlab.blas_threads import one_thread
from searchlab.rankers.solvers.pairwise_problem import (
    Cost,
    Problem,
    Solution,
    certify,
    check_feature_weights,
    check_stopping,
    make_problem,
    scale_lambda,
)
from searchlab.rankers.solvers.smoothed_newton import (
    COLD_START_WIDTH,
    WARM_START_WIDTH,
    NewtonSearch,
    PathPoint,
    Start,
    extrapolate,
)

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
    centre: npt.ArrayLike | None = None,
) -> Solution:
    """The weights of the lowest loss, to a relative duality gap of `tolerance`.

    Query q has the rows `offsets[q]:offsets[q + 1]`. `cost(q, grade, lower_grade)` is called once for each two grades
    of a query; None is 1 for all. The cost of a pair is multiplied by both its `row_weights`: a row of weight 2 counts
    as if it occurred twice, one of weight 0 as if it were absent. `start` are initial weights, such as those of a
    neighbouring λ, and `centre` is w₀. If the gap cannot be reached, which happens only at the limits of float64, the
    best weights are returned with `converged` false.
    """
    check_stopping(tolerance)
    problem = make_problem(X, offsets, grades, cost, row_weights, centre)
    n_features = problem.features.shape[1]
    initial = Start(np.zeros(n_features), COLD_START_WIDTH)
    if start is not None:
        initial = Start(check_feature_weights("start", start, n_features) - problem.centre, WARM_START_WIDTH)
    return _solve(problem, lam, tolerance, initial)[0]


def solve_path(
    X: npt.ArrayLike,
    offsets: npt.ArrayLike,
    grades: npt.ArrayLike,
    cost: Cost | None,
    lams: Iterable[float],
    *,
    row_weights: npt.ArrayLike | None = None,
    tolerance: float = 1e-5,
    centre: npt.ArrayLike | None = None,
) -> Iterator[Solution]:
    """The solution for each λ, extrapolated from the previous ones: fastest in ascending or descending order."""
    check_stopping(tolerance)
    problem = make_problem(X, offsets, grades, cost, row_weights, centre)
    before: PathPoint | None = None
    last: PathPoint | None = None
    search: NewtonSearch | None = None
    for lam in lams:
        start = Start(np.zeros(problem.features.shape[1]), COLD_START_WIDTH)
        if search is not None:
            before, last = last, search.path_point()
            start = extrapolate(before, last, scale_lambda(problem, lam))
        solution, search = _solve(problem, lam, tolerance, start)
        yield solution


def _solve(problem: Problem, lam: float, tolerance: float, start: Start) -> tuple[Solution, NewtonSearch | None]:
    lam = scale_lambda(problem, lam)
    if not len(problem.costs):
        return Solution(problem.centre, 0.0, 0.0, 0.0, 0, True), None
    search = NewtonSearch(problem, lam, tolerance)
    with one_thread():
        search.run(start)
    has_converged = search.gap <= tolerance
    solution = certify(problem, search.weights, search.objective, search.bound, search.n_iterations, has_converged)
    return solution, search
