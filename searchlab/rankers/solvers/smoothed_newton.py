"""Newton's method on the smoothed hinge loss, with decreasing widths of the smoothing.

The corner of the hinge is rounded over a width h (`pairwise_problem.py`). The smooth problem is solved by Newton's
method, its slopes are dual variables, and h is decreased until the gap is small enough. A sample of the pairs in the
band, preferring expensive ones, gives the curvature well enough for a step; if steps are slow, all of them are used.

As soon as few pairs are near the corner, only these are listed, and the problem in their α, with those of all others at
0 or c, is solved by an interior-point method (Mehrotra 1992). That is exact if the others were assigned correctly,
which the gap over all pairs verifies.

Along a path of λ the weights are extrapolated from those of the two previous λ, and the search starts with the width
that sufficed there: two or three steps remain for each λ.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from searchlab.blas_threads import one_thread
from searchlab.rankers.solvers.interior_point import solve_listed, solve_positive
from searchlab.rankers.solvers.pair_kernels import select_pairs
from searchlab.rankers.solvers.pairwise_problem import (
    Bound,
    Point,
    Problem,
    curvature,
    evaluate,
    evaluate_ranked,
    loss_of_centre,
    relative_gap,
)
from searchlab.types import Array

# Pairs near the corner are listed if their differences are at most this number of values.
MAX_LISTED_SIZE = 4_000_000
# All pairs are listed from the start if they have no more than these values; Newton's method is faster for more.
MAX_SIZE_LISTED_WHOLE = 5_000
MAX_ITERATIONS = 500
# At zero weights every pair has t = 1, and should be in the band; from a neighbour's weights the search stays near.
COLD_START_WIDTH = 4.0
WARM_START_WIDTH = 0.1
# Extrapolation along a path uses the curvature of this multiple of the width, and goes at most this far in log λ.
TANGENT_WIDTH_FACTOR = 8.0
MAX_EXTRAPOLATION = 1.5
# The number of pairs sampled for the curvature, and those added for each feature, until too many steps were slow.
SAMPLED_PAIRS = 5000
SAMPLED_PAIRS_PER_FEATURE = 40
MAX_SLOW_STEPS = 8
# Below this width slopes are rounding errors.
MIN_WIDTH = 1e-9


@dataclass(frozen=True)
class Start:
    """Initial weights and width of the band; and, if known, the curvature for the first step and a nearby point."""

    weights: Array
    width: float
    hessian: Array | None = None
    near: Point | None = None


@dataclass(frozen=True)
class PathPoint:
    """A solution on a path of λ: dw/d log λ, the curvature, and the width that was narrow enough."""

    lam: float
    point: Point
    tangent: Array
    hessian: Array
    width: float


def extrapolate(before: PathPoint | None, last: PathPoint, lam: float) -> Start:
    """The start for λ on the parabola in log λ through the last weights, with their tangent, and those before."""
    step = math.log(lam / last.lam)
    near = min(MAX_EXTRAPOLATION, max(-MAX_EXTRAPOLATION, step))
    weights = last.point.weights + near * last.tangent
    if before is not None and before.lam != last.lam:
        stride = math.log(last.lam / before.lam)
        deviation = before.point.weights - last.point.weights + stride * last.tangent
        weights += min(1.0, (near / stride) ** 2) * deviation
    width = min(COLD_START_WIDTH, last.width * max(1.0, abs(step) ** 3))
    hessian = last.hessian.copy()
    hessian.flat[:: len(hessian) + 1] += 2 * (lam - last.lam)
    return Start(weights, width, hessian, last.point)


class NewtonSearch:
    """The state of a search for one λ: the best weights and the best bound so far."""

    def __init__(self, problem: Problem, lam: float, tolerance: float) -> None:
        self.problem = problem
        self.lam = lam
        self.tolerance = tolerance
        # The gap is relative to the objective, which is at most that of the centre.
        self.weights = np.zeros(problem.features.shape[1])
        self.objective = loss_of_centre(problem)
        self.bound = Bound.at(lam, 0.0, np.zeros_like(self.weights))
        self.n_iterations = 0
        self.n_sampled = SAMPLED_PAIRS + SAMPLED_PAIRS_PER_FEATURE * len(self.weights)
        self.last_point: Point | None = None
        self.best_point: Point | None = None

    @property
    def gap(self) -> float:
        """(P − D)/P of the best weights and the best bound."""
        return relative_gap(self.objective, self.bound.value)

    @property
    def is_done(self) -> bool:
        """Whether the gap is small enough, or the iterations are used up."""
        return self.gap <= self.tolerance or self.n_iterations >= MAX_ITERATIONS

    def run(self, start: Start) -> None:
        """Newton steps and decreasing widths until the gap is small enough."""
        weights, width, hessian, self.last_point = start.weights, start.width, start.hessian, start.near
        if self.problem.n_pairs * len(weights) <= MAX_SIZE_LISTED_WHOLE:
            self._solve_near_corner(self._evaluate(weights, width), math.inf)
            # Again if the optimum, to which the gap is relative, was much lower than the objective known before.
            if not self.is_done:
                self._solve_near_corner(self._evaluate(self.weights, width), math.inf)
        point = self._evaluate(weights, width)
        n_slow, has_settled = 0, False
        while not self.is_done and width >= MIN_WIDTH:
            step = None
            # Steps reduce the residual; the rest of the gap, that of the band, is only reduced by a smaller width.
            if point.residual > 0.25 * point.band_gap and not (has_settled and self._is_wide(point)):
                self.n_iterations += 1
                step = self._step(point, hessian, self.n_sampled if n_slow < MAX_SLOW_STEPS else None)
                hessian = None
            if step is not None:
                n_slow += step.residual > 0.25 * point.residual
                has_settled = point.smooth - step.smooth < 0.02 * step.band_gap
                point = step
                continue
            n_slow, has_settled = 0, False
            if width < 2:
                self._solve_near_corner(point, width)
            width *= min(0.3, max(0.05, self._shrinkage(point)))
            if not self.is_done:
                point = self._narrow(point, width)

    def path_point(self) -> PathPoint:
        """The solution as a point on a path, from which a neighbouring λ is extrapolated."""
        point, lam = self.best_point or self.last_point, self.lam
        assert point is not None
        width = min(1.0, max(1e-6, point.width * self._shrinkage(point)))
        # The weights will move farther than the band is wide: a wider band has a more representative curvature.
        with one_thread():
            hessian = curvature(self.problem, lam, point, TANGENT_WIDTH_FACTOR * width, self.n_sampled // 2)
            tangent = solve_positive(hessian, -2 * lam * point.weights, 2 * lam)
        return PathPoint(lam, point, tangent, hessian, width)

    def _shrinkage(self, point: Point) -> float:
        """The factor of the width that gives about the allowed gap, which grows with the square of the width."""
        return 0.85 * math.sqrt(self.tolerance * self.objective / max(point.band_gap, 1e-300))

    def _is_wide(self, point: Point) -> bool:
        """Whether the gap would be too large even if the gradient were 0."""
        return point.band_gap > self.tolerance * self.objective

    def _evaluate(self, weights: Array, width: float) -> Point:
        self.last_point = evaluate(self.problem, self.lam, weights, width, self.last_point)
        return self._record(self.last_point)

    def _record(self, point: Point) -> Point:
        if point.objective < self.objective:
            self.objective, self.weights, self.best_point = point.objective, point.weights, point
        self.bound = self.bound.joined(self.lam, point.bound)
        return point

    def _narrow(self, point: Point, width: float) -> Point:
        """The predicted optimum of a smaller width, assuming that the same pairs are in its band."""
        problem, lam, half = self.problem, self.lam, point.width / 2
        shrinkage = point.width / width
        # α = ½ in the whole band: the part that does not depend on the width.
        fixed = select_pairs(point.blocks, -half, -half, 0, 0.0)[4] + select_pairs(point.blocks, half, half, 0, 0.0)[4]
        fixed_pull = fixed @ problem.features / 2
        all_pull = 2 * lam * point.weights - point.gradient
        gradient = 2 * lam * point.weights - fixed_pull - shrinkage * (all_pull - fixed_pull)
        hessian = shrinkage * curvature(problem, lam, point, n_sampled=self.n_sampled)
        hessian.flat[:: len(hessian) + 1] -= (shrinkage - 1) * 2 * lam
        predicted = self._evaluate(point.weights + solve_positive(hessian, -gradient, 2 * lam), width)
        # A smooth objective is above the true one, so staying cannot be better.
        if predicted.smooth < point.objective:
            return predicted
        stayed = self._record(evaluate_ranked(problem, lam, point.weights, width, point.blocks))
        return predicted if predicted.smooth < stayed.smooth else stayed

    def _step(self, point: Point, hessian: Array | None, n_sampled: int | None) -> Point | None:
        """A line search along Newton's direction until the slope is nearly 0; None without progress."""
        if hessian is None:
            hessian = curvature(self.problem, self.lam, point, n_sampled=n_sampled)
        direction = solve_positive(hessian, -point.gradient, 2 * self.lam)
        slope = float(point.gradient @ direction)
        if not slope < 0:
            return None
        low, low_slope, high, high_slope = 0.0, slope, math.inf, 0.0
        best = None
        length = 1.0
        for n_trials in range(40):
            trial = self._evaluate(point.weights + length * direction, point.width)
            here = float(trial.gradient @ direction)
            if trial.smooth < (point if best is None else best).smooth:
                best = trial
            if (best is trial and abs(here) <= -0.5 * slope) or self.is_done:
                break
            if here < 0:
                low, low_slope = length, here
            else:
                high, high_slope = length, here
            if high == math.inf:
                length *= 4.0
                continue
            # Secant step, alternating with bisection, because the slope may jump.
            share = -low_slope / (high_slope - low_slope) if n_trials % 2 == 0 else 0.5
            length = low + (high - low) * min(0.99, max(0.01, share))
        # A decrease by rounding errors is no progress.
        return best if best is not None and point.smooth - best.smooth > 1e-14 * abs(point.smooth) else None

    def _solve_near_corner(self, point: Point, width: float) -> None:
        """Solve for the pairs near the corner alone, if they are few."""
        problem, lam = self.problem, self.lam
        if width == math.inf:
            room = problem.n_pairs
        else:
            # The interior-point method takes about twenty steps, each of which should cost less than a Newton step.
            room = min(len(problem.features) // 4, MAX_LISTED_SIZE // max(1, len(point.weights)))
        if point.n_in_band > room:
            return
        selected = select_pairs(point.blocks, -1.5 * width, 1.5 * width, room, 0.0)
        n_listed, winners, losers, costs, fixed, fixed_total = selected
        if not 0 < n_listed <= room:
            return
        differences = problem.features[winners] - problem.features[losers]
        margins = 1.0 - differences @ problem.centre
        pull = fixed @ problem.features
        enough = 0.1 * self.tolerance * self.objective
        # Near convergence, products that should be 0 may leave the range of float64; such steps are rejected.
        with np.errstate(all="ignore"):
            alphas, weights, n_steps = solve_listed(differences, margins, costs, pull, lam, point.weights, enough)
        self.n_iterations += n_steps
        all_pull = pull + alphas @ differences
        total = fixed_total + float(alphas.sum()) - float(problem.centre @ all_pull)
        self.bound = self.bound.joined(lam, Bound.at(lam, total, all_pull))
        self._evaluate(weights, min(width, 1.0))
        self._evaluate(all_pull / (2 * lam), min(width, 1.0))
