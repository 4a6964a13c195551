"""What is to be minimised, and what is it worth at given weights?

    P(w) = λ‖w‖² + Σ_q Σ_{i,j in q: y_i > y_j} m_i · m_j · c_q(y_i, y_j) · max(0, 1 − w·(x_i − x_j))

m are weights of rows, 1 if none are given: a row of weight 2 counts as if it were there twice. The corner of the hinge
is rounded over a width h: with t = 1 − w·(x_i − x_j), the slope is clip(½ + t/h, 0, 1), and ∫ slope dt the smooth
hinge. These slopes times costs are dual variables (`hinge.py`). A band around the corner, instead of one from it, makes
the gap a quarter as large: a pair in it adds h/24 in the mean, not h/6.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from searchlab.errors import SettingError
from searchlab.rankers.solvers.pair_kernels import (
    Blocks,
    add_neighbours,
    rank_scores,
    sort_out_pairs,
    subtract_rows,
    sweep_pairs,
)
from searchlab.types import Array

Cost = Callable[[int, float, float], float]

# Features beyond, squared and added up, come near the end of float64's range.
MAX_MAGNITUDE = 1e100
# So many numbers are scaled and multiplied at a time: they stay in the processor's cache.
CHUNK = 50_000


@dataclass(frozen=True)
class Solution:
    """Weights, and what is known of them.

    `objective` is P(w) and `dual_objective` a D(α) of feasible α: the optimum lies between them. `gap` is (P − D)/P.
    """

    weights: Array
    objective: float
    dual_objective: float
    gap: float
    n_iterations: int
    converged: bool


@dataclass(frozen=True)
class Problem:
    """Rows in blocks, one for each grade of a query, and the pairs of blocks that count.

    The rows of block k are `starts[k]:starts[k + 1]`, and their weights are in `mass`. Each document of block
    `better[p]` should be above each of block `worse[p]`, and `costs[p]` is what it costs if it is not. Masses and costs
    are at most 1; `unit` is what the objective has to be multiplied by.
    """

    features: Array
    mass: Array
    starts: Array
    better: Array
    worse: Array
    costs: Array
    unit: float

    @property
    def n_pairs(self) -> int:
        """How many pairs of documents count."""
        sizes = np.diff(self.starts)
        return int(sizes[self.better] @ sizes[self.worse])

    @property
    def total_cost(self) -> float:
        """Σ c over all pairs: what zero weights lose."""
        if not len(self.costs):
            return 0.0
        masses = np.add.reduceat(self.mass, self.starts[:-1])
        return float((masses[self.better] * masses[self.worse]) @ self.costs)


@dataclass(frozen=True)
class Bound:
    """Of feasible α, Σ α and Σ α(x_i − x_j); and D(α) for some λ."""

    total: float
    pull: Array
    value: float

    @classmethod
    def at(cls, lam: float, total: float, pull: Array) -> Bound:
        """The bound that feasible α with these sums give."""
        return cls(total, pull, total - float(pull @ pull) / (4 * lam))

    def joined(self, lam: float, other: Bound) -> Bound:
        """The best between two: D is a parabola there, and all between feasible α are feasible."""
        change = other.pull - self.pull
        bend = float(change @ change) / (2 * lam)
        slope = other.total - self.total - float(self.pull @ change) / (2 * lam)
        share = min(1.0, max(0.0, slope / bend)) if bend > 0 else float(slope > 0)
        between = Bound.at(lam, self.total + share * (other.total - self.total), self.pull + share * change)
        # Rounding must not make the best known worse.
        return max(self, between, other, key=lambda bound: bound.value)


@dataclass(frozen=True)
class Point:
    """What is known at some weights: the smooth objective and its gradient, and both sides of the certificate."""

    weights: Array
    width: float
    smooth: float
    gradient: Array
    objective: float
    bound: Bound
    residual: float
    n_in_band: int
    cost_in_band: float
    blocks: Blocks

    @property
    def band_gap(self) -> float:
        """What the gap P(w) − D(α) would be if the gradient were 0: Σ hinge − α·t, to which pairs in the band add."""
        return self.objective - self.bound.value - self.residual


def make_problem(
    X: npt.ArrayLike,
    offsets: npt.ArrayLike,
    grades: npt.ArrayLike,
    cost: Cost | None,
    row_weights: npt.ArrayLike | None = None,
) -> Problem:
    """Check what was given, and lay out by query and grade the rows that have pairs."""
    rows = np.asarray(X, dtype=np.float64)
    bounds = np.asarray(offsets, dtype=np.int64)
    levels = np.asarray(grades, dtype=np.float64)
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
    if rows.size and not (np.min(rows) >= -MAX_MAGNITUDE and np.max(rows) <= MAX_MAGNITUDE):
        row, column = np.argwhere(~(np.abs(rows) <= MAX_MAGNITUDE))[0]
        expected = f"a finite number, at most {MAX_MAGNITUDE:g} in size"
        raise SettingError(f"row {row + 1}, column {column + 1} is {rows[row, column]}, expected {expected}")
    mass = check_row_weights(row_weights, len(rows))

    queries = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
    order = np.lexsort((levels, queries))
    if mass is not None:
        order = order[mass[order] > 0]
    starts, better, worse, costs = _pair_blocks(queries[order], levels[order], cost)
    # Blocks without pairs are left out.
    used = np.zeros(len(starts) - 1, bool)
    used[better] = used[worse] = True
    number = np.cumsum(used) - 1
    order = order[np.repeat(used, np.diff(starts))]
    starts = np.concatenate([[0], np.cumsum(np.diff(starts)[used])]).astype(np.int64)
    masses = np.ones(len(order)) if mass is None else mass[order]
    features = rows[order]
    # Only differences within a query count: small numbers around 0 leave the most digits for them.
    ends = np.flatnonzero(np.diff(queries[order], append=-1)) + 1
    begin = 0
    for end in ends.tolist():
        features[begin:end] -= features[begin:end].mean(axis=0)
        begin = end
    # Masses and costs of 1 at most: the weights are the same, and nothing overflows.
    heaviest = float(np.max(masses)) if len(masses) else 1.0
    dearest = float(np.max(costs)) if len(costs) else 1.0
    return Problem(
        features, masses / heaviest, starts, number[better], number[worse], costs / dearest, dearest * heaviest**2
    )


def scale_lambda(problem: Problem, lam: float) -> float:
    """λ in the unit of the problem."""
    if not (math.isfinite(lam) and lam > 0):
        raise SettingError(f"lam is {lam}, expected a number above 0")
    unit = problem.unit
    if not (unit > 0 and 1 / MAX_MAGNITUDE <= lam / unit <= MAX_MAGNITUDE):
        raise SettingError(f"lam is {lam} and the largest cost {unit}, expected numbers that can be compared")
    return lam / unit


def check_row_weights(row_weights: npt.ArrayLike | None, n_rows: int) -> npt.NDArray[np.float64] | None:
    """The weights of rows as an array, if there are any."""
    if row_weights is None:
        return None
    mass = np.asarray(row_weights, dtype=np.float64)
    if mass.shape != (n_rows,):
        raise SettingError(f"row_weights have the shape {mass.shape}, expected a weight for each of {n_rows} rows")
    is_sound = (mass >= 0) & (mass <= MAX_MAGNITUDE)
    if not is_sound.all():
        row = int(np.flatnonzero(~is_sound)[0])
        raise SettingError(f"row {row + 1}: weight is {mass[row]}, expected a number from 0 to {MAX_MAGNITUDE:g}")
    return mass


def _pair_blocks(queries: Array, levels: Array, cost: Cost | None) -> tuple[Array, Array, Array, Array]:
    """Where blocks of equal grade start, in rows sorted by query and grade; and which two blocks cost how much."""
    changes = np.flatnonzero((np.diff(queries) != 0) | (np.diff(levels) != 0)) + 1
    starts = np.concatenate([[0], changes, [len(levels)]]).astype(np.int64) if len(levels) else np.zeros(1, np.int64)
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
    return starts, np.array(better, np.int64), np.array(worse, np.int64), np.array(costs, np.float64)


def evaluate(problem: Problem, lam: float, weights: Array, width: float, near: Point | None = None) -> Point:
    """Everything about some weights that one sort of the scores and one pass can tell.

    If a `near` point is known, documents are sorted from their order there.
    """
    known = np.arange(len(problem.features)) if near is None else near.blocks[2]
    ranked = rank_scores(problem.features @ weights, problem.mass, problem.starts, known)
    blocks = (*ranked, problem.starts, problem.better, problem.worse, problem.costs)
    return evaluate_ranked(problem, lam, weights, width, blocks)


def evaluate_ranked(problem: Problem, lam: float, weights: Array, width: float, blocks: Blocks) -> Point:
    """The same, if the scores are already sorted."""
    slopes, hinge, rounded, total, n_in_band, cost_in_band = sweep_pairs(blocks, width)
    pull = slopes @ problem.features
    size = lam * float(weights @ weights)
    gradient = 2 * lam * weights - pull
    bound = Bound.at(lam, total, pull)
    residual = float(gradient @ gradient) / (4 * lam)
    return Point(
        weights, width, size + rounded, gradient, size + hinge, bound, residual, n_in_band, cost_in_band, blocks
    )


def curvature(
    problem: Problem, lam: float, point: Point, width: float | None = None, n_sampled: int | None = None
) -> Array:
    """The Hessian of the smooth objective: 2λ, and c/h·(x_i − x_j)(x_i − x_j)ᵀ of the pairs in the band.

    It may be that of another width than the point's. If the band has more pairs than `n_sampled`, about so many stand
    for all, the dear ones rather than the cheap.
    """
    features = problem.features
    n_features = features.shape[1]
    hessian = np.zeros((n_features, n_features))
    width = point.width if width is None else width
    quantum = 0.0 if n_sampled is None else point.cost_in_band * width / point.width / n_sampled
    room = len(features) + 1
    _, winners, losers, costs, _, _ = sort_out_pairs(point.blocks, -width / 2, width / 2, room, quantum)
    if len(winners) < room:
        differences = subtract_rows(features, winners, losers, np.sqrt(costs / width))
        hessian += differences.T @ differences
    else:
        counts, rows, sums = add_neighbours(features, point.blocks, width)
        # Rounding may leave a little less than none.
        factors = np.sqrt(np.maximum(counts, 0.0))[:, None]
        step = CHUNK // max(1, n_features) + 1
        space = np.empty((min(step, len(features)), n_features))
        for begin in range(0, len(features), step):
            chunk = features[begin : begin + step]
            scaled = np.multiply(chunk, factors[begin : begin + step], out=space[: len(chunk)])
            hessian += scaled.T @ scaled
        for begin in range(0, len(rows), step):
            crossed = features[rows[begin : begin + step]].T @ sums[begin : begin + step]
            hessian -= crossed + crossed.T
    hessian.flat[:: n_features + 1] += 2 * lam
    return hessian


@cache
def _controller() -> Any:
    import threadpoolctl  # type: ignore[import-untyped]

    return threadpoolctl.ThreadpoolController()


def one_thread() -> AbstractContextManager[Any]:
    """Products of matrices run in one thread: with some dozens of columns more would only wait for each other."""
    limit: AbstractContextManager[Any] = _controller().limit(limits=1, user_api="blas")
    return limit
