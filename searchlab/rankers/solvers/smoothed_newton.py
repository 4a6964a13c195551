"""How is the smooth problem solved, width after width?

The corner of the hinge is rounded over a width h (`problem.py`). The smooth problem is solved by Newton's method, its
slopes are dual variables, and h is made smaller until the gap is small enough. A part of the pairs in the band tells
the curvature well enough for a step, the dear ones rather than the cheap; if steps are slow, all of them do.

As soon as the pairs near the corner are few, they alone are listed, and the problem in their α, all others being 0 or
c, is solved by an interior-point method (Mehrotra 1992). That is exact if the others were told apart rightly, and
whether they were, the gap over all pairs says.

Along a path of λ the weights are foreseen from those of the two λ before, and the width that sufficed there is the one
to begin with: two or three steps are left for each λ.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from searchlab.rankers.solvers.interior_point import solve_listed, solve_positive
from searchlab.rankers.solvers.pair_kernels import sort_out_pairs
from searchlab.rankers.solvers.pairwise_problem import (
    Bound,
    Point,
    Problem,
    curvature,
    evaluate,
    evaluate_ranked,
    one_thread,
)
from searchlab.types import Array

# Pairs near the corner are listed if they and their features are at most so many numbers.
LISTED_SIZE = 4_000_000
MAX_ITERATIONS = 500
# At zero weights every pair has t = 1, and should be in the band; a neighbour's weights should stay near.
COLD_WIDTH = 4.0
WARM_WIDTH = 0.1
# The curvature that a path is foreseen by: of so many times the width; and how far, in log λ.
TANGENT = 8.0
FARTHEST = 1.5
# Curvature is told by so many pairs, and so many more for each feature, until so many steps were slow.
SAMPLED = 5000
SAMPLED_BY_FEATURE = 40
MOST_SLOW = 8
# Nothing is gained below: a slope would be rounding errors only.
SMALLEST_WIDTH = 1e-9


@dataclass(frozen=True)
class Start:
    """Where to begin: weights, the width of the band; and, if known, the curvature for the first step, a point near."""

    weights: Array
    width: float
    hessian: Array | None = None
    near: Point | None = None


@dataclass(frozen=True)
class Milestone:
    """What a solution tells of its neighbours: dw/d log λ, the curvature, and the width that was narrow enough."""

    lam: float
    point: Point
    tangent: Array
    hessian: Array
    width: float


def foresee(before: Milestone | None, last: Milestone, lam: float) -> Start:
    """Weights on the parabola in log λ that has the last weights and their tangent, and goes through those before."""
    step = math.log(lam / last.lam)
    near = min(FARTHEST, max(-FARTHEST, step))
    weights = last.point.weights + near * last.tangent
    if before is not None and before.lam != last.lam:
        stride = math.log(last.lam / before.lam)
        bend = before.point.weights - last.point.weights + stride * last.tangent
        weights += min(1.0, (near / stride) ** 2) * bend
    width = min(COLD_WIDTH, last.width * max(1.0, abs(step) ** 3))
    hessian = last.hessian.copy()
    hessian.flat[:: len(hessian) + 1] += 2 * (lam - last.lam)
    return Start(weights, width, hessian, last.point)


class Search:
    """The best weights and the best bound so far."""

    def __init__(self, problem: Problem, lam: float, tolerance: float) -> None:
        self.problem = problem
        self.lam = lam
        self.tolerance = tolerance
        # What is certified is relative to an objective that is at most that of zero weights.
        self.weights = np.zeros(problem.features.shape[1])
        self.objective = problem.total_cost
        self.bound = Bound.at(lam, 0.0, np.zeros_like(self.weights))
        self.n_iterations = 0
        self.n_sampled = SAMPLED + SAMPLED_BY_FEATURE * len(self.weights)
        self.seen: Point | None = None
        self.best: Point | None = None

    @property
    def gap(self) -> float:
        """(P − D)/P of the best that is known."""
        # Rounding may bring the two past each other.
        return max(0.0, (self.objective - self.bound.value) / self.objective)

    @property
    def is_done(self) -> bool:
        """Whether the gap is small enough, or further steps would not help."""
        return self.gap <= self.tolerance or self.n_iterations >= MAX_ITERATIONS

    def run(self, start: Start) -> None:
        """Steps and smaller widths until the gap is small enough."""
        weights, width, hessian, self.seen = start.weights, start.width, start.hessian, start.near
        if self.problem.n_pairs * len(weights) <= LISTED_SIZE // 20:
            self._list_corner(self._look(weights, width), math.inf)
            # Once more if the optimum, to which the gap is relative, was much smaller than what was known before.
            if not self.is_done:
                self._list_corner(self._look(self.weights, width), math.inf)
        point = self._look(weights, width)
        n_slow, has_settled = 0, False
        while not self.is_done and width >= SMALLEST_WIDTH:
            step = None
            # What the gap is made of: the band, which only a smaller width makes smaller, and what steps do.
            if point.residual > 0.25 * point.band_gap and not (has_settled and self._is_wide(point)):
                self.n_iterations += 1
                step = self._step(point, hessian, self.n_sampled if n_slow < MOST_SLOW else None)
                hessian = None
            if step is not None:
                n_slow += step.residual > 0.25 * point.residual
                has_settled = point.smooth - step.smooth < 0.02 * step.band_gap
                point = step
                continue
            n_slow, has_settled = 0, False
            if width < 2:
                self._list_corner(point, width)
            width *= min(0.3, max(0.05, self._shrinkage(point)))
            if not self.is_done:
                point = self._narrow(point, width)

    def milestone(self) -> Milestone:
        """What is known here that helps at a neighbouring λ."""
        point, lam = self.best or self.seen, self.lam
        assert point is not None
        width = min(1.0, max(1e-6, point.width * self._shrinkage(point)))
        # Weights will move farther than the band is wide: a wider one tells better what they will meet.
        with one_thread():
            hessian = curvature(self.problem, lam, point, TANGENT * width, self.n_sampled // 2)
            tangent = solve_positive(hessian, -2 * lam * point.weights, 2 * lam)
        return Milestone(lam, point, tangent, hessian, width)

    def _shrinkage(self, point: Point) -> float:
        """How many times as wide a band has half of the gap that is allowed, if the gap is like the square of it."""
        return 0.85 * math.sqrt(self.tolerance * self.objective / max(point.band_gap, 1e-300))

    def _is_wide(self, point: Point) -> bool:
        """Whether the gap would be too large even if the gradient were 0."""
        return point.band_gap > self.tolerance * self.objective

    def _look(self, weights: Array, width: float) -> Point:
        self.seen = evaluate(self.problem, self.lam, weights, width, self.seen)
        return self._note(self.seen)

    def _note(self, point: Point) -> Point:
        if point.objective < self.objective:
            self.objective, self.weights, self.best = point.objective, point.weights, point
        self.bound = self.bound.joined(self.lam, point.bound)
        return point

    def _narrow(self, point: Point, width: float) -> Point:
        """Where the optimum of a smaller width should be if the same pairs are in the band then."""
        problem, lam, half = self.problem, self.lam, point.width / 2
        shrinkage = point.width / width
        # α = ½ in the whole band: what a width has no influence on.
        sure = (
            sort_out_pairs(point.blocks, -half, -half, 0, 0.0)[4] + sort_out_pairs(point.blocks, half, half, 0, 0.0)[4]
        )
        sure_pull = sure @ problem.features / 2
        all_pull = 2 * lam * point.weights - point.gradient
        gradient = 2 * lam * point.weights - sure_pull - shrinkage * (all_pull - sure_pull)
        hessian = shrinkage * curvature(problem, lam, point, n_sampled=self.n_sampled)
        hessian.flat[:: len(hessian) + 1] -= (shrinkage - 1) * 2 * lam
        foreseen = self._look(point.weights + solve_positive(hessian, -gradient, 2 * lam), width)
        # A smooth objective is above the true one, so nothing that was not foreseen is better.
        if foreseen.smooth < point.objective:
            return foreseen
        stayed = self._note(evaluate_ranked(problem, lam, point.weights, width, point.blocks))
        return foreseen if foreseen.smooth < stayed.smooth else stayed

    def _step(self, point: Point, hessian: Array | None, n_sampled: int | None) -> Point | None:
        """Newton's direction, followed until the slope along it is nearly gone; None if nothing is gained."""
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
            trial = self._look(point.weights + length * direction, point.width)
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
            # Where the slope would vanish if it were straight; but it may jump, so every other trial is in the middle.
            share = -low_slope / (high_slope - low_slope) if n_trials % 2 == 0 else 0.5
            length = low + (high - low) * min(0.99, max(0.01, share))
        # What rounding leaves is no progress.
        return best if best is not None and point.smooth - best.smooth > 1e-14 * abs(point.smooth) else None

    def _list_corner(self, point: Point, width: float) -> None:
        """Solve for the pairs around the corner alone, if they are few."""
        problem, lam = self.problem, self.lam
        if width == math.inf:
            room = problem.n_pairs
        else:
            # The interior-point method takes some twenty steps: each should cost less than one of Newton's.
            room = min(len(problem.features) // 4, LISTED_SIZE // max(1, len(point.weights)))
        if point.n_in_band > room:
            return
        found = sort_out_pairs(point.blocks, -1.5 * width, 1.5 * width, room, 0.0)
        n_listed, winners, losers, costs, sure, sure_total = found
        if not 0 < n_listed <= room:
            return
        differences = problem.features[winners] - problem.features[losers]
        pull = sure @ problem.features
        enough = 0.1 * self.tolerance * self.objective
        # Near the end, products that should be 0 may leave the range of float64; what comes of it is not followed.
        with np.errstate(all="ignore"):
            alphas, weights, n_steps = solve_listed(differences, costs, pull, lam, point.weights, enough)
        self.n_iterations += n_steps
        all_pull = pull + alphas @ differences
        self.bound = self.bound.joined(lam, Bound.at(lam, sure_total + float(alphas.sum()), all_pull))
        self._look(weights, min(width, 1.0))
        self._look(all_pull / (2 * lam), min(width, 1.0))
