"""Gradient descent for the pairwise hinge loss: RSVM-IR-GD of Cao et al.

Cao et al. (SIGIR 2006, §5.3.1) minimise the loss of Ranking SVM for IR (`pairwise_hinge.py`) in two ways; this is
RSVM-IR-GD: from w = 0, w ← w − η·∇L(w) (eq. 11–13, Figure 3), where each pair with w·(x_i − x_j) < 1 adds
−c·(x_i − x_j) to the gradient. Pairs are not enumerated: one sweep over sorted scores adds them up.

With a fixed step η, as the authors did in practice, the weights are those of Figure 3, step for step. The paper names
no stopping condition: here it is that the lowest objective has not decreased by a share of `tolerance` over the last 50
steps. Near the optimum a fixed step oscillates, so the weights of the lowest objective are returned, not the last ones.

Without a fixed step, a line search finds η. Eq. 13 taken literally stops at the first corner of the loss, which need
not be a minimum. So the corner is rounded (`pairwise_problem.py`), its width decreases during the descent, and the
gradient is that of the smooth loss. An exact line search makes the next direction undo much of the progress; instead
the step is that of Barzilai and Borwein (1988), halved until the loss is below the largest of the last ten (Raydan
1997). The descent stops when the duality gap, with the slopes of the pairs as dual variables, is `tolerance`.
"""

from __future__ import annotations

import math
from collections import deque

import numpy as np
import numpy.typing as npt

from searchlab.errors import SettingError
from searchlab.rankers.solvers.pair_kernels import rank_scores, select_pairs
from searchlab.rankers.solvers.pairwise_problem import (
    MAX_MAGNITUDE,
    Bound,
    Cost,
    Point,
    Problem,
    Solution,
    evaluate,
    make_problem,
    one_thread,
    scale_lambda,
)
from searchlab.types import Array

# The smallest float above 0: t ≥ this is t > 0.
ABOVE_ZERO = 5e-324
# Steps of a fixed size without progress before the descent stops.
PATIENCE = 50
# The loss may rise, but not above the largest of this number of previous ones: a monotone descent needs short steps.
MEMORY = 10
FIRST_WIDTH = 1.0
MIN_WIDTH = 1e-9


def solve_by_gradient_descent(
    X: npt.ArrayLike,
    offsets: npt.ArrayLike,
    grades: npt.ArrayLike,
    cost: Cost | None,
    lam: float,
    *,
    row_weights: npt.ArrayLike | None = None,
    step: float | None = None,
    tolerance: float = 1e-4,
    max_iterations: int = 5000,
) -> Solution:
    """The solution by gradient descent, with a line search or with a fixed `step`.

    The other arguments are those of `pairwise_hinge.solve`. `gap` is a true bound for both, but only the line search
    continues until it is `tolerance`; with a fixed step `converged` means that the descent stopped before
    `max_iterations`.
    """
    if step is not None and not (math.isfinite(step) and step > 0):
        raise SettingError(f"step is {step}, expected a number above 0")
    if not (math.isfinite(tolerance) and tolerance > 0):
        raise SettingError(f"tolerance is {tolerance}, expected a number above 0")
    if max_iterations < 1:
        raise SettingError(f"max_iterations is {max_iterations}, expected at least 1")
    problem = make_problem(X, offsets, grades, cost, row_weights)
    lam = scale_lambda(problem, lam)
    if not len(problem.costs):
        return Solution(np.zeros(problem.features.shape[1]), 0.0, 0.0, 0.0, 0, True)
    with one_thread():
        if step is None:
            return _descend_by_line_search(problem, lam, tolerance, max_iterations)
        # In the problem's units costs, and therefore gradients, are smaller.
        return _descend_by_fixed_steps(problem, lam, step * problem.unit, tolerance, max_iterations)


def _descend_by_fixed_steps(
    problem: Problem, lam: float, step: float, tolerance: float, max_iterations: int
) -> Solution:
    """The algorithm of Figure 3."""
    weights = np.zeros(problem.features.shape[1])
    best, lowest = weights, math.inf
    bound = Bound.at(lam, 0.0, np.zeros_like(weights))
    # The lowest objective after each of the last steps.
    history: deque[float] = deque(maxlen=PATIENCE + 1)
    order = np.arange(len(problem.features))
    n_iterations, has_stopped = 0, False
    while True:
        ranked = rank_scores(problem.features @ weights, problem.mass, problem.starts, order)
        order = ranked[2]
        blocks = (*ranked, problem.starts, problem.better, problem.worse, problem.costs)
        _, _, _, _, slopes, total = select_pairs(blocks, ABOVE_ZERO, ABOVE_ZERO, 0, 0.0)
        pull = slopes @ problem.features
        # Over the pairs of positive loss, Σ c·t = Σ c − w·Σ c·(x_i − x_j).
        objective = lam * float(weights @ weights) + total - float(weights @ pull)
        if objective < lowest:
            best, lowest = weights, objective
        bound = bound.joined(lam, Bound.at(lam, total, pull))
        history.append(lowest)
        has_stopped = len(history) > PATIENCE and history[0] - lowest <= tolerance * lowest
        if has_stopped or n_iterations == max_iterations:
            break
        weights = weights + step * (pull - 2 * lam * weights)
        n_iterations += 1
        # A step so large that the descent diverges.
        if not (np.abs(problem.features @ weights) <= MAX_MAGNITUDE).all():
            break
    return _solution(problem, best, lowest, bound, n_iterations, has_stopped)


def _descend_by_line_search(problem: Problem, lam: float, tolerance: float, max_iterations: int) -> Solution:
    """Descent on the smooth loss, with a decreasing width."""
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
    return _solution(problem, best.weights, best.objective, bound, n_iterations, has_converged)


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


def _solution(
    problem: Problem, weights: Array, objective: float, bound: Bound, n_iterations: int, converged: bool
) -> Solution:
    gap = max(0.0, (objective - bound.value) / objective)
    return Solution(weights, objective * problem.unit, bound.value * problem.unit, gap, n_iterations, converged)
