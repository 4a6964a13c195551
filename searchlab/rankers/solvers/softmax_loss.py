"""The softmax loss of rankings: how unlikely it is that each document is drawn before all of lower grades.

    minimise  λ/2·‖w − w₀‖² + Σ_q Σ_i a_i · ln(1 + Σ_{j in q: y_j < y_i} exp(s_j − s_i)),   s = Xw

The logarithm is −ln P(i), if one of document i and the documents of lower grades is drawn with a probability that is
proportional to exp(s): the softmax cross-entropy of one document with those that it should precede (the unique softmax
of Zhu and Klabjan, WSDM 2020; Bruch et al., ICTIR 2019, show that the softmax cross-entropy bounds 1 − NDCG). The share
a_i is the gain of i, its grade above the lowest one of the query, divided by the gains of all documents of the query,
so that every query has the weight 1. w₀ is what is believed before these rows are seen.

In a pairwise loss every pair counts by itself, and the many pairs far down a ranking decide. Here a document counts
once, however many documents are below it, and of these the ones that score highest have nearly all of the gradient.

The loss is smooth and convex. It is minimised by L-BFGS. The whole is λ-strongly convex, so ‖gradient‖²/(2λ) bounds its
distance from the optimum. Time and memory grow with the rows: pairs are never formed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from searchlab.array_ranges import concatenate_ranges
from searchlab.blas_threads import one_thread
from searchlab.types import Flags, Floats, Ints

MAX_ITERATIONS = 2000


@dataclass(frozen=True, eq=False)
class SoftmaxSolution:
    """The weights, and how far from the optimum they may be: `gap` is relative to the objective."""

    weights: Floats
    objective: float
    gap: float
    n_iterations: int
    converged: bool


@dataclass(frozen=True, eq=False)
class SoftmaxProblem:
    """Rows ordered by query and grade. Rows of one grade of a query are a level, numbered from 0 within the query.

    Level l has the rows `starts[l]:starts[l + 1]`, and is number `number[l]` of query `query[l]`.
    """

    features: Floats
    shares: Floats
    log_weights: Floats
    starts: Ints
    query: Ints
    number: Ints
    level_of_row: Ints

    @classmethod
    def of(cls, X: Floats, offsets: Ints, grades: Floats, row_weights: Floats | None = None) -> SoftmaxProblem:
        """The rows of queries `offsets[q]:offsets[q + 1]` that have documents of different grades.

        A row of weight 2 counts as if it occurred twice, one of weight 0 as if it were absent.
        """
        weights = np.ones(len(X)) if row_weights is None else np.asarray(row_weights, dtype=np.float64)
        present = np.flatnonzero(weights > 0)
        queries = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))[present]
        order = present[np.lexsort((grades[present], queries))]
        queries = np.sort(queries)
        starts = np.flatnonzero(_begins(queries) | _begins(grades[order]))
        n_levels = np.bincount(queries[starts], minlength=len(offsets) - 1)
        kept = n_levels[queries[starts]] > 1
        rows = concatenate_ranges(starts[kept], np.append(starts[1:], len(order))[kept], len(order))
        order, queries = order[rows], queries[rows]
        begins = _begins(queries) | _begins(grades[order])
        starts = np.flatnonzero(begins)
        query = np.cumsum(_begins(queries[starts])) - 1
        first = np.flatnonzero(_begins(query))
        lowest = grades[order[starts[first]]][query]
        level_of_row = np.cumsum(begins) - 1
        gains = (grades[order] - lowest[level_of_row]) * weights[order]
        totals = np.bincount(query[level_of_row], gains, len(first))
        return cls(
            X[order],
            gains / totals[query[level_of_row]],
            np.log(weights[order]),
            starts,
            query,
            np.arange(len(starts)) - first[query],
            level_of_row,
        )

    @property
    def n_queries(self) -> int:
        """The number of queries with documents of different grades."""
        return int(self.query[-1]) + 1 if len(self.query) else 0

    def with_features(self, features: Floats) -> SoftmaxProblem:
        """The same rows with other features."""
        return replace(self, features=features)

    def of_queries(self, kept: Flags) -> SoftmaxProblem:
        """The rows of some queries: `kept` says for each whether it is one of them."""
        levels = kept[self.query]
        rows = levels[self.level_of_row]
        sizes = np.diff(np.append(self.starts, len(self.features)))[levels]
        return SoftmaxProblem(
            self.features[rows],
            self.shares[rows],
            self.log_weights[rows],
            np.cumsum(sizes) - sizes,
            np.cumsum(_begins(self.query[levels])) - 1,
            self.number[levels],
            np.repeat(np.arange(len(sizes)), sizes),
        )

    def query_losses(self, weights: Floats) -> Floats:
        """The loss of each query."""
        if not len(self.starts):
            return np.zeros(0)
        scores = self.features @ weights
        of_rows = self._row_losses(scores, self._log_sums_below(scores))
        losses: Floats = np.bincount(self.query[self.level_of_row], of_rows, self.n_queries).astype(np.float64)
        return losses

    def evaluate(self, weights: Floats) -> tuple[float, Floats]:
        """The loss without the regularisation, and its gradient."""
        if not len(self.starts):
            return 0.0, np.zeros(len(weights))
        scores = self.features @ weights
        level, cell = self.level_of_row, (self.query, self.number)
        lower = self._log_sums_below(scores)
        losses = self._row_losses(scores, lower)
        with np.errstate(invalid="ignore"):
            slopes = np.where(self.shares > 0, self.shares * np.exp(-np.logaddexp(0, scores - lower[level])), 0.0)
        grid = self._empty_grid()
        with np.errstate(divide="ignore", invalid="ignore"):
            grid[cell] = np.where(self.number > 0, np.log(np.add.reduceat(slopes, self.starts)) - lower, -np.inf)
        higher = _before(np.logaddexp.accumulate(grid[:, ::-1], axis=1))[:, ::-1][cell]
        pulls = np.exp(scores + self.log_weights + higher[level]) - slopes
        return float(np.sum(losses)), pulls @ self.features

    def _empty_grid(self) -> Floats:
        """A cell for each query and number of a level; −∞, the logarithm of nothing, where there is no such level."""
        return np.full((self.n_queries, int(self.number.max()) + 1), -np.inf)

    def _log_sums_below(self, scores: Floats) -> Floats:
        """For each level, ln Σ exp(score) of the lower levels of its query; −∞ for the lowest."""
        grid, cell = self._empty_grid(), (self.query, self.number)
        grid[cell] = _log_sums(scores + self.log_weights, self.starts, self.level_of_row)
        below: Floats = _before(np.logaddexp.accumulate(grid, axis=1))[cell]
        return below

    def _row_losses(self, scores: Floats, below: Floats) -> Floats:
        """The loss of each row: 0 where its share is 0, as in the lowest level."""
        with np.errstate(invalid="ignore"):
            losses = self.shares * np.logaddexp(0, below[self.level_of_row] - scores)
        return np.where(self.shares > 0, losses, 0.0)


def solve_softmax_path(
    problem: SoftmaxProblem, lams: Iterable[float], *, centre: Floats | None = None, tolerance: float = 1e-5
) -> Iterator[SoftmaxSolution]:
    """The solution for each λ, to a relative gap of `tolerance`; each search starts from the previous solution.

    If the gap cannot be reached, which happens only at the limits of float64, `converged` is false.
    """
    centre = np.zeros(problem.features.shape[1]) if centre is None else np.asarray(centre, dtype=np.float64)
    start = centre
    for lam in lams:
        solution = _solve(problem, lam, centre, tolerance, start)
        start = solution.weights
        yield solution


def _solve(problem: SoftmaxProblem, lam: float, centre: Floats, tolerance: float, start: Floats) -> SoftmaxSolution:
    from scipy.optimize import minimize  # type: ignore[import-untyped]

    best: list[SoftmaxSolution] = []

    def objective(weights: Floats) -> tuple[float, Floats]:
        loss, gradient = problem.evaluate(weights)
        away = weights - centre
        value, gradient = loss + lam / 2 * float(away @ away), gradient + lam * away
        gap = float(gradient @ gradient) / (2 * lam * value) if value > 0 else 0.0
        if not best or gap < best[0].gap:
            best[:] = [SoftmaxSolution(weights.copy(), value, gap, 0, gap <= tolerance)]
        return value, gradient

    def stop(_: Floats) -> None:
        if best[0].converged:
            raise StopIteration

    limits = {"maxiter": MAX_ITERATIONS, "maxfun": 2 * MAX_ITERATIONS, "ftol": 0.0, "gtol": 0.0}
    with one_thread():
        found = minimize(objective, start, jac=True, method="L-BFGS-B", callback=stop, options=limits)
    (solution,) = best
    return SoftmaxSolution(solution.weights, solution.objective, solution.gap, int(found.nit), solution.converged)


def _begins(values: Floats | Ints) -> Flags:
    """Whether each value differs from the one before it; the first one does."""
    begins = np.ones(len(values), dtype=bool)
    np.not_equal(values[1:], values[:-1], out=begins[1:])
    return begins


def _log_sums(values: Floats, starts: Ints, level: Ints) -> Floats:
    """ln Σ exp(value) of each level."""
    largest = np.maximum.reduceat(values, starts)
    sums: Floats = largest + np.log(np.add.reduceat(np.exp(values - largest[level]), starts))
    return sums


def _before(accumulated: Floats) -> Floats:
    """Each row moved by one to the right: what was accumulated before each element."""
    moved = np.full_like(accumulated, -math.inf)
    moved[:, 1:] = accumulated[:, :-1]
    return moved
