"""Barzilai–Borwein descent for the pairwise hinge loss: a faster gradient descent, on a smoothed loss.

This is not the descent of Cao et al. (`gradient_descent.py` is). It differs in two ways. The corner of the hinge is
rounded (`pairwise_problem.py`), its width decreases during the descent, and the gradient is that of the smooth loss.
The step is that of Barzilai and Borwein (1988), η = Δw·Δw / Δw·Δ∇ of the last two points, halved until the loss is
below the largest of the last ten (Raydan 1997): an exact line search makes the next direction undo much of the
progress. The descent stops when the duality gap, with the slopes of the pairs as dual variables, is `tolerance`.
"""

from __future__ import annotations

from collections import deque

import numpy as np
import numpy.typing as npt

from searchlab.blas_threads import one_thread
from searchlab.rankers.solvers.pairwise_problem import (
    Cost,
    Point,
    Problem,
    Solution,
    certify,
    check_stopping,
    evaluate,
    make_problem,
    scale_lambda,
)

# The loss may rise, but not above the largest of this number of previous ones: a monotone descent needs short steps.
MEMORY = 10
FIRST_WIDTH = 1.0
MIN_WIDTH = 1e-9


def solve_by_barzilai_borwein(
    X: npt.ArrayLike,
    offsets: npt.ArrayLike,
    grades: npt.ArrayLike,
    cost: Cost | None,
    lam: float,
    *,
    row_weights: npt.ArrayLike | None = None,
    tolerance: float = 1e-4,
    max_iterations: int = 5000,
) -> Solution:
    """The solution to a relative duality gap of `tolerance`; the arguments are those of `pairwise_hinge.solve`."""
    check_stopping(tolerance, max_iterations)
    problem = make_problem(X, offsets, grades, cost, row_weights)
    lam = scale_lambda(problem, lam)
    if not len(problem.costs):
        return Solution(np.zeros(problem.features.shape[1]), 0.0, 0.0, 0.0, 0, True)
    with one_thread():
        return _descend(problem, lam, tolerance, max_iterations)


def _descend(problem: Problem, lam: float, tolerance: float, max_iterations: int) -> Solution:
    width = FIRST_WIDTH
    point = evaluate(problem, lam, np.zeros(problem.features.shape[1]), width)
    best, bound = point, point.bound
    length = 0.0
    recent: deque[float] = deque([point.smooth], maxlen=MEMORY)
    n_iterations = 0
    while n_iterations < max_iterations and best.objective - bound.value > tolerance * best.objective:
        # The gap of the band can only be reduced by a smaller width.
        if point.residual <= point.band_gap and width > MIN_WIDTH:
            width *= 0.5
            point = evaluate(problem, lam, point.weights, width, point)
            recent = deque([point.smooth], maxlen=MEMORY)
            bound = bound.joined(lam, point.bound)
            continue
        n_iterations += 1
        trial = _backtrack(problem, lam, point, length or _first_length(problem, lam, point), max(recent))
        if trial is None:
            break
        moved, gradient_change = trial.weights - point.weights, trial.gradient - point.gradient
        curvature = float(moved @ gradient_change)
        length = float(moved @ moved) / curvature if curvature > 0 else 0.0
        point = trial
        recent.append(point.smooth)
        if point.objective < best.objective:
            best = point
        bound = bound.joined(lam, point.bound)
    has_converged = best.objective - bound.value <= tolerance * best.objective
    return certify(problem, best.weights, best.objective, bound, n_iterations, has_converged)


def _first_length(problem: Problem, lam: float, point: Point) -> float:
    """A first step after which no score, now 0, exceeds 1, at most the step that λ alone would suggest."""
    largest = float(np.max(np.abs(problem.features @ point.gradient)))
    return min(1 / (2 * lam), 1 / largest) if largest > 0 else 1 / (2 * lam)


def _backtrack(problem: Problem, lam: float, point: Point, length: float, limit: float) -> Point | None:
    """The point after a step against the gradient, halved until the loss is below a limit; None if it never is."""
    slope = float(point.gradient @ point.gradient)
    for _ in range(60):
        trial = evaluate(problem, lam, point.weights - length * point.gradient, point.width, point)
        if trial.smooth <= limit - 1e-4 * length * slope:
            return trial
        length *= 0.5
    return None
