"""Which weights lose least on pairs of documents, and how sure is that?

    minimise  λ‖w‖² + Σ_q Σ_{i,j in q: y_i > y_j} c_q(y_i, y_j) · max(0, 1 − w·(x_i − x_j))

is the Ranking SVM of Cao et al. (SIGIR 2006, eq. 9, c = τ·μ; with c = 1, eq. 8). Its dual (eq. 18–19, times 2λ) is

    maximise  D(α) = Σ α_ij − ‖Σ α_ij (x_i − x_j)‖² / (4λ)   with  0 ≤ α_ij ≤ c

and P(w) ≥ D(α) for any two, so the gap between them certifies how far from the optimum w can be.

The corner of the hinge is rounded over a width h: with t = 1 − w·(x_i − x_j), the slope is clip(t/h, 0, 1). The
smooth problem is solved by Newton's method, its slopes are dual variables, and h is made smaller until the gap is
small enough. Pairs are never listed: costs depend on the grades alone, so in a query the documents of each grade are
sorted by score, and those that a given document loses to, or has in its band 0 < t < h, stand together (Joachims
2006; Lee and Lin 2014). As soon as the pairs near the corner are few, they alone are listed, and the problem in their
α, all others being 0 or c, is solved by an interior-point method (Mehrotra 1992). That is exact if the others were
told apart rightly, and whether they were, the gap over all pairs says.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from searchlab.errors import SettingError
from searchlab.indexing.strings import Array
from searchlab.rankers.listed import solve_listed, solve_positive
from searchlab.rankers.sweeps import add_neighbours, list_pairs, rank_scores, sort_out_pairs, sweep_pairs

Vector = npt.NDArray[Any]
Cost = Callable[[int, float, float], float]

# Pairs near the corner are listed if they and their features are at most so many numbers.
LISTED_SIZE = 4_000_000
MAX_ITERATIONS = 500
# At zero weights every pair has t = 1, and should be in the band; a neighbour's weights should stay near.
COLD_WIDTH = 2.0
WARM_WIDTH = 0.02
# Features beyond, squared and added up, come near the end of float64's range.
LARGEST = 1e100
# Nothing is gained below: a slope would be rounding errors only.
SMALLEST_WIDTH = 1e-9


@dataclass(frozen=True)
class Solution:
    """Weights, and what is known of them.

    `objective` is P(w) and `dual_objective` a D(α) of feasible α: the optimum lies between them. `gap` is (P − D)/P.
    """

    weights: Vector
    objective: float
    dual_objective: float
    gap: float
    n_iterations: int
    converged: bool


@dataclass(frozen=True)
class Problem:
    """Rows in blocks, one for each grade of a query, and the pairs of blocks that count.

    The rows of block k are `starts[k]:starts[k + 1]`. Each document of block `better[p]` should be above each of block
    `worse[p]`, and `costs[p]` is what it costs if it is not.
    """

    features: Vector
    starts: Array
    better: Array
    worse: Array
    costs: Vector
    lam: float

    @property
    def n_pairs(self) -> int:
        """How many pairs of documents count."""
        sizes = np.diff(self.starts)
        return int(sizes[self.better] @ sizes[self.worse])


@dataclass(frozen=True)
class Point:
    """What is known at some weights: the smooth objective and its gradient, and both sides of the certificate."""

    weights: Vector
    width: float
    smooth: float
    gradient: Vector
    objective: float
    dual: float
    residual: float
    ranked: Vector
    order: Array


def solve(
    X: npt.ArrayLike,
    offsets: npt.ArrayLike,
    grades: npt.ArrayLike,
    cost: Cost | None,
    lam: float,
    *,
    tolerance: float = 1e-5,
    start: npt.ArrayLike | None = None,
) -> Solution:
    """The weights of least loss, to a relative duality gap of `tolerance`.

    Query q has the rows `offsets[q]:offsets[q + 1]`. `cost(q, grade, lower_grade)` is asked once for each two grades of
    a query; None stands for 1. `start` are weights to begin with, such as those of a neighbouring λ. If the gap cannot
    be reached, for which numbers must be at the end of float64's precision, the best weights found are returned, and
    are not `converged`.
    """
    return _solve(arrange(X, offsets, grades, cost, lam), tolerance, start)


def solve_path(
    X: npt.ArrayLike,
    offsets: npt.ArrayLike,
    grades: npt.ArrayLike,
    cost: Cost | None,
    lams: Iterable[float],
    *,
    tolerance: float = 1e-5,
) -> Iterator[Solution]:
    """The solution for each λ, each begun with the weights of the one before: best in rising or falling order."""
    problem, start = None, None
    for lam in lams:
        problem = arrange(X, offsets, grades, cost, lam) if problem is None else replace(problem, lam=_check(lam))
        solution = _solve(problem, tolerance, start)
        start = solution.weights
        yield solution


def _solve(problem: Problem, tolerance: float, start: npt.ArrayLike | None) -> Solution:
    n_features = problem.features.shape[1]
    if not (math.isfinite(tolerance) and tolerance > 0):
        raise SettingError(f"tolerance is {tolerance}, expected a number above 0")
    first = np.zeros(n_features) if start is None else np.array(start, dtype=np.float64)
    if first.shape != (n_features,) or not (np.abs(first) <= LARGEST).all():
        raise SettingError(f"start has the shape {first.shape}, expected {n_features} finite weights")
    if not len(problem.costs):
        return Solution(np.zeros(n_features), 0.0, 0.0, 0.0, 0, True)
    # Costs of 1 at most: the weights are the same, and nothing overflows.
    scale = float(problem.costs.max())
    lam = problem.lam / scale
    if not 1 / LARGEST <= lam <= LARGEST:
        raise SettingError(f"lam is {problem.lam} and the largest cost {scale}, expected numbers that can be compared")
    search = _Search(replace(problem, costs=problem.costs / scale, lam=lam), tolerance)
    search.run(first, COLD_WIDTH if start is None else WARM_WIDTH)
    objective, dual = search.objective * scale, search.dual * scale
    return Solution(search.weights, objective, dual, search.gap, search.n_iterations, search.gap <= tolerance)


def _check(lam: float) -> float:
    if not (math.isfinite(lam) and lam > 0):
        raise SettingError(f"lam is {lam}, expected a number above 0")
    return float(lam)


def arrange(X: npt.ArrayLike, offsets: npt.ArrayLike, grades: npt.ArrayLike, cost: Cost | None, lam: float) -> Problem:
    """Check what was given, and lay the rows out by query and grade."""
    rows = np.asarray(X, dtype=np.float64)
    bounds = np.asarray(offsets, dtype=np.int64)
    levels = np.asarray(grades, dtype=np.float64)
    lam = _check(lam)
    if rows.ndim != 2 or levels.shape != rows.shape[:1]:
        raise SettingError(
            f"X and grades have the shapes {rows.shape} and {levels.shape}, expected a grade for each row"
        )
    if bounds.ndim != 1 or not len(bounds) or bounds[0] or bounds[-1] != len(rows) or (np.diff(bounds) < 0).any():
        raise SettingError(f"offsets do not rise from 0 to {len(rows)}, the number of rows")
    if not np.isfinite(levels).all():
        row = int(np.flatnonzero(~np.isfinite(levels))[0])
        raise SettingError(f"row {row + 1}: grade is {levels[row]}, expected a finite number")
    # Not isfinite, which takes memory for the whole table; and NaN is in no range.
    if rows.size and not (np.min(rows) >= -LARGEST and np.max(rows) <= LARGEST):
        row, column = np.argwhere(~(np.abs(rows) <= LARGEST))[0]
        expected = f"a finite number, at most {LARGEST:g} in size"
        raise SettingError(f"row {row + 1}, column {column + 1} is {rows[row, column]}, expected {expected}")

    queries = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
    order = np.lexsort((levels, queries))
    queries, levels = queries[order], levels[order]
    changes = np.flatnonzero((np.diff(queries) != 0) | (np.diff(levels) != 0)) + 1
    starts = np.concatenate([[0], changes, [len(rows)]]).astype(np.int64) if len(rows) else np.zeros(1, np.int64)
    better, worse, costs = [], [], []
    block_query, block_grade = queries[starts[:-1]].tolist(), levels[starts[:-1]].tolist()
    for high in range(len(starts) - 1):
        low = high - 1
        while low >= 0 and block_query[low] == block_query[high]:
            query = block_query[high]
            price = 1.0 if cost is None else float(cost(query, block_grade[high], block_grade[low]))
            if not (math.isfinite(price) and price >= 0):
                pair = f"grades {block_grade[high]:g} and {block_grade[low]:g}"
                raise SettingError(f"query {query + 1}: cost of {pair} is {price}, expected a finite number from 0")
            if price > 0:
                better.append(high)
                worse.append(low)
                costs.append(price)
            low -= 1
    # Only differences within a query count: small numbers around 0 leave the most digits for them.
    features = rows[order]
    for begin, end in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        if end > begin:
            features[begin:end] -= features[begin:end].mean(axis=0)
    return Problem(
        features, starts, np.array(better, np.int64), np.array(worse, np.int64), np.array(costs, np.float64), lam
    )


def evaluate(problem: Problem, weights: Vector, width: float) -> Point:
    """Everything about some weights that one sort of the scores and one pass can tell."""
    ranked, order = rank_scores(problem.features @ weights, problem.starts)
    slopes, hinge, rounded, total = sweep_pairs(
        ranked, order, problem.starts, problem.better, problem.worse, problem.costs, width
    )
    lam, pull = problem.lam, slopes @ problem.features
    size = lam * float(weights @ weights)
    gradient = 2 * lam * weights - pull
    # The dual variables may all be made smaller by one factor: the best one is the vertex of a parabola.
    spread = float(pull @ pull) / (4 * lam)
    factor = min(1.0, total / (2 * spread)) if spread > 0 else 1.0
    dual = factor * total - factor * factor * spread
    residual = float(gradient @ gradient) / (4 * lam)
    return Point(weights, width, size + rounded, gradient, size + hinge, dual, residual, ranked, order)


def curvature(problem: Problem, point: Point) -> Vector:
    """The Hessian of the smooth objective."""
    features = problem.features
    counts, sums = add_neighbours(
        features, point.ranked, point.order, problem.starts, problem.better, problem.worse, problem.costs, point.width
    )
    rows = np.flatnonzero(counts)
    if len(rows) < len(counts) / 2:
        features, sums, counts = features[rows], sums[rows], counts[rows]
    sums *= -2.0
    sums += counts[:, None] * features
    half = features.T @ sums
    hessian: Vector = (half + half.T) / 2
    hessian.flat[:: len(hessian) + 1] += 2 * problem.lam
    return hessian


class _Search:
    """The best weights and the best bound so far."""

    def __init__(self, problem: Problem, tolerance: float) -> None:
        self.problem = problem
        self.tolerance = tolerance
        self.weights = np.zeros(problem.features.shape[1])
        self.objective = math.inf
        self.dual = 0.0
        self.n_iterations = 0

    @property
    def gap(self) -> float:
        # Rounding may bring the two past each other.
        return max(0.0, (self.objective - self.dual) / self.objective) if self.objective < math.inf else math.inf

    @property
    def is_done(self) -> bool:
        return self.gap <= self.tolerance or self.n_iterations >= MAX_ITERATIONS

    def run(self, weights: Vector, width: float) -> None:
        # What is certified is relative to an objective that is at most that of zero weights.
        self._look(np.zeros_like(weights), width)
        if self.problem.n_pairs * len(weights) <= LISTED_SIZE // 20:
            self._list_corner(self._look(weights, width), math.inf)
            # Once more if the optimum, to which the gap is relative, was much smaller than what was known before.
            if not self.is_done:
                self._list_corner(self._look(self.weights, width), math.inf)
        point = self._look(weights, width)
        while not self.is_done and width >= SMALLEST_WIDTH:
            step = None
            if point.residual > 0.25 * (point.objective - point.dual - point.residual):
                self.n_iterations += 1
                step = self._step(point)
            if step is not None:
                point = step
                continue
            if width < 1:
                self._list_corner(point, width)
            wanted = self.tolerance * self.objective / max(point.objective - point.dual, 1e-300)
            width *= min(0.3, max(0.05, 0.7 * math.sqrt(wanted)))
            if not self.is_done:
                point = self._narrow(point, width)

    def _look(self, weights: Vector, width: float) -> Point:
        point = evaluate(self.problem, weights, width)
        if point.objective < self.objective:
            self.objective, self.weights = point.objective, weights
        self.dual = max(self.dual, point.dual)
        return point

    def _narrow(self, point: Point, width: float) -> Point:
        """Where the optimum of a smaller width should be if the same pairs are in the band then."""
        problem = self.problem
        shrinkage = point.width / width
        _, sure, _ = sort_out_pairs(*_blocks(problem, point), 0.0, point.width)
        sure_pull = sure @ problem.features
        all_pull = 2 * problem.lam * point.weights - point.gradient
        gradient = 2 * problem.lam * point.weights - sure_pull - shrinkage * (all_pull - sure_pull)
        hessian = shrinkage * curvature(problem, point)
        hessian.flat[:: len(hessian) + 1] -= (shrinkage - 1) * 2 * problem.lam
        foreseen = self._look(point.weights + solve_positive(hessian, -gradient, 2 * problem.lam), width)
        stayed = self._look(point.weights, width)
        return foreseen if foreseen.smooth < stayed.smooth else stayed

    def _step(self, point: Point) -> Point | None:
        """Newton's direction, followed until the slope along it is nearly gone; None if nothing is gained."""
        direction = solve_positive(curvature(self.problem, point), -point.gradient, 2 * self.problem.lam)
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
            if (best is trial and abs(here) <= -0.3 * slope) or self.is_done:
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
        problem = self.problem
        blocks = _blocks(problem, point)
        n_listed, sure, sure_total = sort_out_pairs(*blocks, -width, 2 * width)
        # The interior-point method takes some twenty steps: each should cost less than one of Newton's.
        is_worth_it = width == math.inf or n_listed <= len(point.ranked) // 4
        if not (is_worth_it and 0 < n_listed * len(point.weights) <= LISTED_SIZE):
            return
        winners, losers, costs = list_pairs(*blocks, -width, 2 * width, n_listed)
        differences = problem.features[winners] - problem.features[losers]
        pull = sure @ problem.features
        enough = 0.1 * self.tolerance * self.objective
        # Near the end, products that should be 0 may leave the range of float64; what comes of it is not followed.
        with np.errstate(all="ignore"):
            alphas, weights, n_steps = solve_listed(differences, costs, pull, problem.lam, point.weights, enough)
        self.n_iterations += n_steps
        all_pull = pull + alphas @ differences
        self.dual = max(self.dual, sure_total + float(alphas.sum()) - float(all_pull @ all_pull) / (4 * problem.lam))
        self._look(weights, min(width, 1.0))
        self._look(all_pull / (2 * problem.lam), min(width, 1.0))


def _blocks(problem: Problem, point: Point) -> tuple[Vector, Array, Array, Array, Array, Vector]:
    return point.ranked, point.order, problem.starts, problem.better, problem.worse, problem.costs
