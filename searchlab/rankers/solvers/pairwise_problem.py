"""The pairwise hinge problem: its data, and the objective, gradient, curvature and duality bound at given weights.

    P(w) = λ‖w − w₀‖² + Σ_q Σ_{i,j in q: y_i > y_j} m_i · m_j · c_q(y_i, y_j) · max(0, 1 − w·(x_i − x_j))

w₀ is the centre of the regulariser, 0 by default. Solvers work with v = w − w₀: then the regulariser is λ‖v‖², and the
margin that a pair lacks is 1 − w₀·(x_i − x_j) − v·(x_i − x_j). m are weights of rows, 1 by default: a row of weight 2
counts as if it occurred twice. The corner of the hinge is
rounded over a width h: with t = 1 − w·(x_i − x_j), the slope is clip(½ + t/h, 0, 1), and the smooth hinge is ∫ slope
dt. These slopes times costs are dual variables (`pairwise_hinge.py`). A band centred on the corner, instead of one that
starts there, makes the gap a quarter as large: a pair in it adds h/24 on average, not h/6.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from searchlab.errors import SettingError
from searchlab.rankers.solvers.pair_kernels import (
    Blocks,
    add_neighbours,
    rank_scores,
    select_pairs,
    subtract_rows,
    sweep_pairs,
)
from searchlab.types import Array

Cost = Callable[[int, float, float], float]

# Larger features, squared and added up, come near the limits of float64.
MAX_MAGNITUDE = 1e100
# Numbers scaled and multiplied at a time, so that they stay in the processor's cache.
CHUNK_NUMBERS = 50_000


@dataclass(frozen=True)
class Solution:
    """Weights and their certificate.

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
    """Rows in blocks, one for each grade of a query, and the pairs of blocks that have a cost.

    The rows of block k are `starts[k]:starts[k + 1]`, and their weights are in `mass`. Each document of block
    `better[p]` should rank above each of block `worse[p]`, at the cost `costs[p]` if it does not. Masses and costs are
    scaled to at most 1; the true objective is that of the scaled problem times `unit`. `centre` is w₀, and
    `centre_scores` are the scores of the rows by it.
    """

    features: Array
    mass: Array
    starts: Array
    better: Array
    worse: Array
    costs: Array
    unit: float
    centre: Array
    centre_scores: Array

    @property
    def n_pairs(self) -> int:
        """The number of pairs of documents."""
        sizes = np.diff(self.starts)
        return int(sizes[self.better] @ sizes[self.worse])

    @property
    def total_cost(self) -> float:
        """Σ c over all pairs: the loss of zero weights."""
        if not len(self.costs):
            return 0.0
        masses = np.add.reduceat(self.mass, self.starts[:-1])
        return float((masses[self.better] * masses[self.worse]) @ self.costs)


@dataclass(frozen=True)
class Bound:
    """Σ α(1 − w₀·(x_i − x_j)) and Σ α(x_i − x_j) of feasible α, and the lower bound D(α) for some λ."""

    total: float
    pull: Array
    value: float

    @classmethod
    def at(cls, lam: float, total: float, pull: Array) -> Bound:
        """The bound of feasible α with these sums."""
        return cls(total, pull, total - float(pull @ pull) / (4 * lam))

    def joined(self, lam: float, other: Bound) -> Bound:
        """The best bound between two: D is a parabola there, and convex combinations of feasible α are feasible."""
        change = other.pull - self.pull
        quadratic = float(change @ change) / (2 * lam)
        slope = other.total - self.total - float(self.pull @ change) / (2 * lam)
        share = min(1.0, max(0.0, slope / quadratic)) if quadratic > 0 else float(slope > 0)
        between = Bound.at(lam, self.total + share * (other.total - self.total), self.pull + share * change)
        # Rounding must not replace the best bound by a worse one.
        return max(self, between, other, key=lambda bound: bound.value)


@dataclass(frozen=True)
class Point:
    """An evaluation at some weights: the smooth objective and its gradient, and both sides of the certificate."""

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
        """The gap P(w) − D(α) if the gradient were 0: Σ (hinge − α·t), to which only pairs in the band contribute."""
        return self.objective - self.bound.value - self.residual


def make_problem(
    X: npt.ArrayLike,
    offsets: npt.ArrayLike,
    grades: npt.ArrayLike,
    cost: Cost | None,
    row_weights: npt.ArrayLike | None = None,
    centre: npt.ArrayLike | None = None,
) -> Problem:
    """Check the arguments, and arrange the rows that have pairs by query and grade."""
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
    # isfinite would allocate an eighth of the table; NaN fails the comparison too.
    if rows.size and not (np.min(rows) >= -MAX_MAGNITUDE and np.max(rows) <= MAX_MAGNITUDE):
        row, column = np.argwhere(~(np.abs(rows) <= MAX_MAGNITUDE))[0]
        expected = f"a finite number, at most {MAX_MAGNITUDE:g} in size"
        raise SettingError(f"row {row + 1}, column {column + 1} is {rows[row, column]}, expected {expected}")
    mass = check_row_weights(row_weights, len(rows))
    prior = np.zeros(rows.shape[1]) if centre is None else check_feature_weights("centre", centre, rows.shape[1])

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
    # Only differences within a query matter: centred features keep the most digits of them.
    ends = np.flatnonzero(np.diff(queries[order], append=-1)) + 1
    begin = 0
    for end in ends.tolist():
        features[begin:end] -= features[begin:end].mean(axis=0)
        begin = end
    # With masses and costs of at most 1 the weights are the same, and nothing overflows.
    max_mass = float(np.max(masses)) if len(masses) else 1.0
    max_cost = float(np.max(costs)) if len(costs) else 1.0
    return Problem(
        features,
        masses / max_mass,
        starts,
        number[better],
        number[worse],
        costs / max_cost,
        max_cost * max_mass**2,
        prior,
        features @ prior,
    )


def scale_lambda(problem: Problem, lam: float) -> float:
    """λ of the scaled problem."""
    if not (math.isfinite(lam) and lam > 0):
        raise SettingError(f"lam is {lam}, expected a number above 0")
    unit = problem.unit
    if not (unit > 0 and 1 / MAX_MAGNITUDE <= lam / unit <= MAX_MAGNITUDE):
        raise SettingError(f"lam is {lam} and the largest cost {unit}, expected numbers that can be compared")
    return lam / unit


def check_stopping(tolerance: float, max_iterations: int = 1) -> None:
    """Raise SettingError unless a descent can end by these."""
    if not (math.isfinite(tolerance) and tolerance > 0):
        raise SettingError(f"tolerance is {tolerance}, expected a number above 0")
    if max_iterations < 1:
        raise SettingError(f"max_iterations is {max_iterations}, expected at least 1")


def certify(
    problem: Problem, weights: Array, objective: float, bound: Bound, n_iterations: int, converged: bool
) -> Solution:
    """The solution in the units of the true problem, with the gap between objective and bound."""
    gap = relative_gap(objective, bound.value)
    return Solution(
        problem.centre + weights, objective * problem.unit, bound.value * problem.unit, gap, n_iterations, converged
    )


def loss_of_centre(problem: Problem) -> float:
    """The objective at v = 0."""
    if not problem.centre.any():
        return problem.total_cost
    # Neither λ nor the width of the smoothing changes it.
    return evaluate(problem, 1.0, np.zeros_like(problem.centre), 1.0).objective


def relative_gap(objective: float, bound: float) -> float:
    """(P − D)/P; 0 without any loss."""
    # By rounding, the bound may exceed the objective.
    return max(0.0, (objective - bound) / objective) if objective > 0 else 0.0


def check_feature_weights(name: str, weights: npt.ArrayLike, n_features: int) -> npt.NDArray[np.float64]:
    """Weights of features as a checked array."""
    checked = np.array(weights, dtype=np.float64)
    if checked.shape != (n_features,) or not (np.abs(checked) <= MAX_MAGNITUDE).all():
        raise SettingError(f"{name} has the shape {checked.shape}, expected {n_features} finite weights")
    return checked


def check_row_weights(row_weights: npt.ArrayLike | None, n_rows: int) -> npt.NDArray[np.float64] | None:
    """The weights of rows as a checked array, if there are any."""
    if row_weights is None:
        return None
    mass = np.asarray(row_weights, dtype=np.float64)
    if mass.shape != (n_rows,):
        raise SettingError(f"row_weights have the shape {mass.shape}, expected a weight for each of {n_rows} rows")
    is_valid = (mass >= 0) & (mass <= MAX_MAGNITUDE)
    if not is_valid.all():
        row = int(np.flatnonzero(~is_valid)[0])
        raise SettingError(f"row {row + 1}: weight is {mass[row]}, expected a number from 0 to {MAX_MAGNITUDE:g}")
    return mass


def _pair_blocks(queries: Array, levels: Array, cost: Cost | None) -> tuple[Array, Array, Array, Array]:
    """The starts of blocks of equal grade, in rows sorted by query and grade; the pairs of blocks and their costs."""
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
    """Evaluate weights v = w − w₀ by one sort of the scores and one sweep.

    If a `near` point is known, sorting starts from the order there.
    """
    known = np.arange(len(problem.features)) if near is None else near.blocks[2]
    scores = problem.features @ weights + problem.centre_scores
    ranked = rank_scores(scores, problem.mass, problem.starts, known)
    blocks = (*ranked, problem.starts, problem.better, problem.worse, problem.costs)
    return evaluate_ranked(problem, lam, weights, width, blocks)


def evaluate_ranked(problem: Problem, lam: float, weights: Array, width: float, blocks: Blocks) -> Point:
    """Evaluate weights whose scores are already sorted."""
    slopes, hinge, rounded, total, n_in_band, cost_in_band = sweep_pairs(blocks, width)
    pull = slopes @ problem.features
    size = lam * float(weights @ weights)
    gradient = 2 * lam * weights - pull
    bound = Bound.at(lam, total - float(problem.centre @ pull), pull)
    residual = float(gradient @ gradient) / (4 * lam)
    return Point(
        weights, width, size + rounded, gradient, size + hinge, bound, residual, n_in_band, cost_in_band, blocks
    )


def curvature(
    problem: Problem, lam: float, point: Point, width: float | None = None, n_sampled: int | None = None
) -> Array:
    """The Hessian of the smooth objective: 2λ, and c/h·(x_i − x_j)(x_i − x_j)ᵀ of the pairs in the band.

    The width may differ from the point's. If the band has more pairs than `n_sampled`, about that number represent all,
    preferring expensive ones.
    """
    features = problem.features
    n_features = features.shape[1]
    hessian = np.zeros((n_features, n_features))
    width = point.width if width is None else width
    quantum = 0.0 if n_sampled is None else point.cost_in_band * width / point.width / n_sampled
    room = len(features) + 1
    _, winners, losers, costs, _, _ = select_pairs(point.blocks, -width / 2, width / 2, room, quantum)
    if len(winners) < room:
        differences = subtract_rows(features, winners, losers, np.sqrt(costs / width))
        hessian += differences.T @ differences
    else:
        counts, rows, sums = add_neighbours(features, point.blocks, width)
        # By rounding, a sum of 0 may be slightly negative.
        factors = np.sqrt(np.maximum(counts, 0.0))[:, None]
        step = CHUNK_NUMBERS // max(1, n_features) + 1
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
