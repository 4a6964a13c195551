"""Gradient descent for the pairwise hinge loss: RSVM-IR-GD of Cao et al. (SIGIR 2006, §5.3.1, Figure 3).

    L(w) = Σ c·max(0, 1 − w·(x_i − x_j)) + λ‖w‖²                                           (eq. 9 and 11, c = τ·μ)
    ∇L(w) = 2λw − Σ c·(x_i − x_j), over the pairs with w·(x_i − x_j) < 1                    (eq. 12)
    w ← w − η·∇L(w), from w = 0; with a fixed η, or with L(w − η·∇L(w)) = min over η ≥ 0    (eq. 13)

A pair with a margin of exactly 1 adds nothing to the gradient, as printed. Pairs are not enumerated: one sweep over
sorted scores adds them up.

The paper leaves open:

- η. "In practice, instead of calculating each η_k we make all η's fixed", but the value is not given.
- `stop_condition`. Here: the lowest loss has not decreased by a share of `tolerance` over the last 50 steps; or the
  line search finds no step that decreases the loss; or `max_iterations` steps were made.
- Which weights are returned. A fixed step oscillates near the optimum, so here the weights of the lowest loss are
  returned, which need not be the last ones.
- How the minimum over η is found. L is piecewise quadratic along a line, and its slope increases: the zero of the slope
  is bracketed, and the bracket is narrowed by secant steps and bisection until it or the slope is nothing.

Where L has a corner, −∇L of eq. 12 need not be a direction of descent, so the line search may stop above the optimum:
by much if there are few pairs, by little if there are many. `Solution.gap` bounds the distance. `barzilai_borwein.py`
is a descent that reaches the optimum.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from searchlab.blas_threads import one_thread
from searchlab.errors import SettingError
from searchlab.rankers.solvers.pair_kernels import rank_scores, select_pairs
from searchlab.rankers.solvers.pairwise_problem import (
    MAX_MAGNITUDE,
    Bound,
    Cost,
    Problem,
    Solution,
    certify,
    check_stopping,
    make_problem,
    scale_lambda,
)
from searchlab.types import Array

# The smallest float above 0: t ≥ this is t > 0.
ABOVE_ZERO = 5e-324
# Steps without progress before the descent stops.
PATIENCE = 50
# A line search ends when the slope, or the width of the bracket, is this share of the first slope, or of the step.
SLOPE_SHARE = 1e-4
BRACKET_SHARE = 1e-6
MAX_TRIALS = 120


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
    """The descent of Figure 3 with a fixed `step` η, or with None by the line search of eq. 13.

    The other arguments are those of `pairwise_hinge.solve`. `gap` is a true bound of the distance from the optimum, but
    not what the descent stops at; `converged` means that it stopped before `max_iterations`.
    """
    if step is not None and not (math.isfinite(step) and step > 0):
        raise SettingError(f"step is {step}, expected a number above 0")
    check_stopping(tolerance, max_iterations)
    problem = make_problem(X, offsets, grades, cost, row_weights)
    lam = scale_lambda(problem, lam)
    if not len(problem.costs):
        return Solution(np.zeros(problem.features.shape[1]), 0.0, 0.0, 0.0, 0, True)
    with one_thread():
        # In the problem's units costs, and therefore gradients, are smaller.
        fixed = None if step is None else step * problem.unit
        return _descend(problem, lam, fixed, tolerance, max_iterations)


@dataclass(frozen=True)
class _Sums:
    """Over the pairs with a margin below 1: Σ c, and Σ c·(±1) by row; and the order of the scores."""

    total: float
    slopes: Array
    order: Array

    @classmethod
    def at(cls, problem: Problem, scores: Array, known: Array) -> _Sums:
        """The sums at these scores; sorting starts from a known order."""
        ranked = rank_scores(scores, problem.mass, problem.starts, known)
        blocks = (*ranked, problem.starts, problem.better, problem.worse, problem.costs)
        _, _, _, _, slopes, total = select_pairs(blocks, ABOVE_ZERO, ABOVE_ZERO, 0, 0.0)
        return cls(total, slopes, ranked[2])


def _descend(problem: Problem, lam: float, step: float | None, tolerance: float, max_iterations: int) -> Solution:
    weights = np.zeros(problem.features.shape[1])
    best, lowest = weights, math.inf
    bound = Bound.at(lam, 0.0, np.zeros_like(weights))
    # The lowest loss after each of the last steps.
    history: deque[float] = deque(maxlen=PATIENCE + 1)
    order = np.arange(len(problem.features))
    n_iterations, has_stopped, length = 0, False, 0.0
    while True:
        sums = _Sums.at(problem, problem.features @ weights, order)
        order, pull = sums.order, sums.slopes @ problem.features
        # Over the pairs of positive loss, Σ c·t = Σ c − w·Σ c·(x_i − x_j).
        loss = lam * float(weights @ weights) + sums.total - float(weights @ pull)
        if loss < lowest:
            best, lowest = weights, loss
        bound = bound.joined(lam, Bound.at(lam, sums.total, pull))
        history.append(lowest)
        has_stopped = len(history) > PATIENCE and history[0] - lowest <= tolerance * lowest
        # The exact minimum along a line is below its start, except by rounding.
        has_stopped = has_stopped or (step is None and loss > lowest)
        if has_stopped or n_iterations == max_iterations:
            break
        direction = pull - 2 * lam * weights
        length = step if step is not None else _search_line(problem, lam, weights, direction, sums, length)
        if length == 0:
            has_stopped = True
            break
        weights = weights + length * direction
        n_iterations += 1
        # A step so large that the descent diverges.
        if not (np.abs(problem.features @ weights) <= MAX_MAGNITUDE).all():
            break
    return certify(problem, best, lowest, bound, n_iterations, has_stopped)


def _search_line(problem: Problem, lam: float, weights: Array, direction: Array, sums: _Sums, previous: float) -> float:
    """The η ≥ 0 of the lowest L(w + η·direction) (eq. 13); 0 if no step decreases the loss.

    The slope is 2λ(w + η·direction)·direction − Σ c·(p_i − p_j), p the scores of the direction, over the pairs with a
    margin below 1 at η.
    """
    square, product = float(direction @ direction), float(weights @ direction)
    if square == 0:
        return 0.0
    scores, changes = problem.features @ weights, problem.features @ direction
    low, low_slope, high, high_slope = 0.0, -square, math.inf, 0.0
    # The first guess: the step before, or the one after which no score, now 0, has changed by more than 1.
    guess = previous or min(1 / (2 * lam), 1 / max(float(np.max(np.abs(changes))), 1e-300))
    order = sums.order
    for n_trials in range(MAX_TRIALS):
        here = _Sums.at(problem, scores + guess * changes, order)
        order = here.order
        slope = 2 * lam * (product + guess * square) - float(here.slopes @ changes)
        if slope < 0:
            low, low_slope = guess, slope
        else:
            high, high_slope = guess, slope
        if abs(slope) <= SLOPE_SHARE * square:
            return guess
        if high == math.inf:
            guess *= 2.0
            continue
        if high - low <= BRACKET_SHARE * high:
            break
        # Secant step, alternating with bisection, because the slope jumps at corners.
        share = -low_slope / (high_slope - low_slope) if n_trials % 2 == 0 else 0.5
        guess = low + (high - low) * min(0.99, max(0.01, share))
    # At a corner, the side on which the margin of its pair is at least 1.
    return high if low > 0 else 0.0
