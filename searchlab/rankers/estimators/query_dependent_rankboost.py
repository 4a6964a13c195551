"""Query-dependent RankBoost: a linear ranker whose exponential loss depends on the category of the query."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from searchlab.errors import SettingError, unknown_name
from searchlab.rankers.estimators.base_ranker import Ranker, require_positive, require_whole
from searchlab.rankers.models.base_model import Model
from searchlab.rankers.models.linear_model import LinearModel
from searchlab.rankers.solvers.exponential_loss import GradedRows, pair_potentials
from searchlab.rankers.solvers.query_categories import (
    CATEGORIES,
    READINGS,
    AllPairs,
    GradePairs,
    PositionPairs,
    Reading,
    coinciding_queries,
    has_three_grades,
)
from searchlab.rankers.training_data import TrainingData
from searchlab.types import Floats

# The value and the gradient at a point.
Objective = Callable[[Floats], tuple[float, Floats]]

# A descent ends at a gradient, or a step, no longer than these: ε_g and ε_x.
MIN_GRADIENT = 1e-8
MIN_STEP = 1e-10
# Larger logarithms of losses are clipped to this, so that losses do not overflow; any such step is rejected.
MAX_LOG_LOSS = 600.0
# A descent ends if this number of steps lowers the loss by no more than the tolerance.
PATIENCE = 10


class QueryDependentRankBoost(Ranker):
    """Query-dependent RankBoost (Lwin and Kham, Query Dependent Ranking by Using Query-Dependent Loss Function).

    A linear f = w·x with the exponential loss of RankBoost. Each query has three losses, one for each of Broder's
    categories, mixed by the shares of the categories in the query (eq. 5):

        L(w, γ) = (1/|Q|)·Σ_q (α_q·L_I + β_q·L_T + θ_q·L_N) + λ·‖w‖² + δ·‖γ‖²
        L_c(w; q) = mean over the pairs (i, j) of category c of exp(−(f(x_i) − f(x_j)))
        (α_q, β_q, θ_q) = softmax of γ_I·z_q, γ_T·z_q, γ_N·z_q
        z_q = variance of each feature over the `top` documents of q by mean feature value (eq. 1–2)

    w and γ are learnt alternately (Figure 2), each by gradient descent (§3.2.2), until an alternation lowers L by no
    more than `tolerance`, ε. The model is w: one for all queries. L never rises, and pairs are not enumerated.

    Deviations. Eq. 3 and 5 print −f − f, a misprint. As printed, the three losses are identical, and γ has no effect;
    here a category is a ranking objective, which `losses` defines (formulas in `query_categories.py`):

        grades      informational: all pairs in order; transactional: relevant documents (of at least the grade
                    `relevant`) before others; navigational: documents of the query's highest grade before all others
        positions   as in the paper's source [3]: the first `informational_depth` positions of a perfect ranking matter,
                    the first `transactional_depth`, or the first one
        auto        grades if some training query has three grades or more, otherwise positions, because by grades the
                    three losses of a query with two grades coincide

    Where losses coincide in all training queries, `details_` has a warning. Each loss is divided by the number of its
    pairs, so that queries and categories have equal weights; a category without pairs has no share. Unregularised, γ
    would give each query the category of the lowest loss, and w would grow without bound on separable data: both are
    penalised, by δ (`share_decay`) and λ (`decay`). A descent that would diverge (step 5, where f(x_{t+1}) > f(x_t) is
    meant) halves the step instead of ending, and steps are those of Barzilai and Borwein; it also ends when ten steps
    lower L by no more than ε. The start is w = 0 and γ = 0, equal shares, not random. z_q is standardised over queries
    and, by grades, extended by a constant 1; by positions fewer positions have the lower loss in any query, and with a
    constant γ would make all queries navigational. Features are divided by their standard deviation within queries, to
    which the decay is relative.

    With `categories=False` all queries have the loss of all pairs: the plain linear exponential loss, for comparison.
    By positions L is not convex in w, and has a kink where two documents of a grade change places at the last position
    that matters; L being a minimum there, a step along the gradient lowers it all the same.

    `turns` and `iterations` limit the alternations and the steps of each descent.
    """

    name: ClassVar[str] = "rankboost-qd"
    title: ClassVar[str] = "query-dependent RankBoost: linear, exponential loss by soft query categories"
    tuned: ClassVar[str | None] = "decay"

    def __init__(
        self,
        decay: float = 1.0,
        categories: bool = True,
        share_decay: float = 0.01,
        top: int = 10,
        relevant: float = 1,
        tolerance: float = 1e-4,
        turns: int = 20,
        iterations: int = 200,
        losses: str = "auto",
        informational_depth: int = 10,
        transactional_depth: int = 3,
    ) -> None:
        self.decay = decay
        self.categories = categories
        self.share_decay = share_decay
        self.top = top
        self.relevant = relevant
        self.tolerance = tolerance
        self.turns = turns
        self.iterations = iterations
        self.losses = losses
        self.informational_depth = informational_depth
        self.transactional_depth = transactional_depth

    def _check_settings(self) -> None:
        for name in ("decay", "share_decay", "tolerance"):
            require_positive(name, getattr(self, name))
        require_whole("top", self.top, 2)
        require_whole("turns", self.turns)
        require_whole("iterations", self.iterations)
        require_whole("informational_depth", self.informational_depth)
        require_whole("transactional_depth", self.transactional_depth)
        if self.losses != "auto" and self.losses not in READINGS:
            raise unknown_name("reading of losses", str(self.losses), ("auto", *READINGS))
        if not isinstance(self.categories, bool):
            raise SettingError(f"categories is {self.categories!r}, expected True or False")
        if isinstance(self.relevant, bool) or not isinstance(self.relevant, (int, float)):
            raise SettingError(f"relevant is {self.relevant!r}, expected the least grade that is relevant")

    def values(self, training: TrainingData) -> Sequence[float]:
        """Decays from 10 down to 0.003."""
        return [10.0, 3.0, 1.0, 0.3, 0.1, 0.03, 0.01, 0.003]

    def _learn(self, training: TrainingData) -> tuple[Model, dict[str, Any]]:
        loss = QueryLoss.of(training, self)
        w = np.zeros(training.X.shape[1])
        gamma = np.zeros((loss.n_categories, loss.query_features.shape[1]))
        losses = [loss.by_weights(gamma)(w)[0]]
        converged = False
        for _ in range(self.turns):
            w, converged = minimise(loss.by_weights(gamma), w, self.iterations, self.tolerance)
            if loss.n_categories > 1:
                gamma, _ = minimise(loss.by_shares(w), gamma, self.iterations, self.tolerance)
            losses.append(loss.by_weights(gamma)(w)[0])
            if losses[-2] - losses[-1] <= self.tolerance or loss.n_categories == 1:
                break
        else:
            converged = False
        details: dict[str, Any] = {
            "n_queries_with_pairs": loss.rows.n_queries,
            "losses": losses,
            "converged": converged,
        }
        if loss.n_categories > 1:
            shares = loss.shares(gamma) if loss.rows.n_queries else np.full((1, 3), 1 / 3)
            details["shares"] = dict(zip(CATEGORIES, shares.mean(axis=0).tolist(), strict=True))
            # How much queries differ: standard deviations, 0 if γ has no effect.
            details["share_spreads"] = dict(zip(CATEGORIES, shares.std(axis=0).tolist(), strict=True))
            details["reading"] = self._reading_name(loss.rows)
            details["coinciding"] = loss.coinciding()
            details["warnings"] = describe_coincidence(details["coinciding"], details["reading"])
        return LinearModel(w / loss.scales), details

    def _reading_name(self, rows: GradedRows) -> str:
        return ("grades" if has_three_grades(rows) else "positions") if self.losses == "auto" else self.losses

    def read_categories(self, rows: GradedRows) -> Reading:
        """The pairs of each category in these rows."""
        if not self.categories:
            return AllPairs(rows)
        if self._reading_name(rows) == "grades":
            return GradePairs(rows, self.relevant)
        return PositionPairs(rows, (self.informational_depth, self.transactional_depth, 1))


def describe_coincidence(coinciding: dict[str, float], reading: str) -> list[str]:
    """A sentence if categories have the same loss in all training queries, so that they cannot be told apart."""
    same = [names for names, share in coinciding.items() if share == 1.0]
    if not same:
        return []
    which = "all categories" if len(same) == len(coinciding) else f"{same[0]} queries"
    effect = "query categories have no effect" if len(same) == len(coinciding) else "these two are one category"
    return [f"by {reading}, the losses of {which} coincide in all training queries: {effect}"]


@dataclass(frozen=True, eq=False)
class QueryLoss:
    """L(w, γ) and its gradients.

    `X` has the rows of `rows`, divided by `scales`, and `reading` the pairs of each category. `log_counts` has ln of
    the number of pairs for each query and category.
    """

    X: Floats
    scales: Floats
    rows: GradedRows
    reading: Reading
    log_counts: Floats
    query_features: Floats
    decay: float
    share_decay: float

    @classmethod
    def of(cls, training: TrainingData, settings: QueryDependentRankBoost) -> QueryLoss:
        """The loss on some training data."""
        rows = GradedRows.of(training)
        X = training.X[rows.rows]
        scales = spreads_within(X, rows)
        reading = settings.read_categories(rows)
        # By positions, scores decide which of equal documents are counted, but not how many.
        zero = np.zeros(len(X))
        counts = [
            pair_potentials(zero, each.levels, rows.log_weights, rows.offsets, each.log_winning)[0]
            for each in reading.pairs(zero)
        ]
        described = standardise(describe_queries(X, rows, settings.top), constant=not reading.is_nested)
        return cls(
            X / scales, scales, rows, reading, np.column_stack(counts), described, settings.decay, settings.share_decay
        )

    @property
    def n_categories(self) -> int:
        """Three, or one if all queries are informational."""
        return int(self.log_counts.shape[1])

    def by_weights(self, share_weights: Floats) -> Objective:
        """L as a function of w, with its gradient."""
        factors = self.shares(share_weights) / max(self.rows.n_queries, 1)
        penalty = self.share_decay * float((share_weights**2).sum())
        queries = self.rows.query_of_rows()

        def evaluate(w: Floats) -> tuple[float, Floats]:
            losses, slopes = self.category_losses(w)
            mixed = factors * losses
            pull = np.zeros(len(self.X))
            for category, category_slopes in enumerate(slopes):
                pull += mixed[queries, category] * category_slopes
            value = float(mixed.sum()) + self.decay * float(w @ w) + penalty
            return value, 2 * self.decay * w - pull @ self.X

        return evaluate

    def by_shares(self, w: Floats) -> Objective:
        """L as a function of γ, which has a row for each category, with its gradient."""
        losses = self.category_losses(w)[0] / max(self.rows.n_queries, 1)
        penalty = self.decay * float(w @ w)

        def evaluate(share_weights: Floats) -> tuple[float, Floats]:
            shares = self.shares(share_weights)
            mixed = shares * losses
            surplus = mixed - shares * mixed.sum(axis=1)[:, None]
            value = float(mixed.sum()) + self.share_decay * float((share_weights**2).sum()) + penalty
            return value, surplus.T @ self.query_features + 2 * self.share_decay * share_weights

        return evaluate

    def shares(self, share_weights: Floats) -> Floats:
        """The share of each category (column) in each query (row): 0 where the category has no pairs."""
        logits = self.query_features @ share_weights.T
        logits[np.isneginf(self.log_counts)] = -np.inf
        raised = np.exp(logits - np.max(logits, axis=1, keepdims=True))
        return np.asarray(raised / raised.sum(axis=1, keepdims=True))

    def category_losses(self, w: Floats) -> tuple[Floats, list[Floats]]:
        """L_c of each query and category, 0 where there are no pairs, and the slopes of ln L_c for each category."""
        scores = self.X @ w
        losses, slopes = np.zeros_like(self.log_counts), []
        for category, pairs in enumerate(self.reading.pairs(scores)):
            rows = self.rows.log_weights, self.rows.offsets
            logs, category_slopes = pair_potentials(scores, pairs.levels, *rows, pairs.log_winning)
            found = np.isfinite(logs)
            means = logs[found] - self.log_counts[found, category]
            losses[found, category] = np.exp(np.minimum(means, MAX_LOG_LOSS))
            slopes.append(category_slopes)
        return losses, slopes

    def coinciding(self) -> dict[str, float]:
        """For each two categories, the share of queries in which they have the same pairs, or one of them none."""
        if not self.rows.n_queries:
            return {}
        pairs = self.reading.pairs(np.zeros(len(self.X)))
        return {
            f"{CATEGORIES[one]} and {CATEGORIES[other]}": float(
                coinciding_queries(
                    pairs[one], pairs[other], (self.log_counts[:, one], self.log_counts[:, other]), self.rows
                ).mean()
            )
            for one, other in combinations(range(self.n_categories), 2)
        }


def minimise(function: Objective, start: Floats, iterations: int, tolerance: float) -> tuple[Floats, bool]:
    """The end point of gradient descent, and whether it converged before the last iteration.

    It has converged if the gradient or the step vanishes, or if ten steps lower the value by no more than the
    tolerance. A step is halved until it lowers the value by 10⁻⁴ of the decrease that the gradient predicts (Armijo).
    """
    x = start
    value, gradient = function(x)
    values = [value]
    step = 1.0
    for _ in range(iterations):
        squares = float((gradient**2).sum())
        if math.sqrt(squares) <= MIN_GRADIENT:
            return x, True
        if len(values) > PATIENCE and values[-1 - PATIENCE] - value <= tolerance:
            return x, True
        moved = x - step * gradient
        new_value, new_gradient = function(moved)
        while not new_value <= value - 1e-4 * step * squares:
            step /= 2
            if step * math.sqrt(squares) <= MIN_STEP:
                return x, True
            moved = x - step * gradient
            new_value, new_gradient = function(moved)
        change = moved - x
        curvature = float((change * (new_gradient - gradient)).sum())
        step = float((change**2).sum()) / curvature if curvature > 0 else step * 2
        x, value, gradient = moved, new_value, new_gradient
        values.append(value)
    return x, False


def spreads_within(X: Floats, rows: GradedRows) -> Floats:
    """The standard deviation of each feature within queries; 1 where nothing varies."""
    weights = np.exp(rows.log_weights)
    if not len(X):
        return np.ones(X.shape[1])
    sizes = np.add.reduceat(weights, rows.offsets[:-1])[:, None]
    means = np.add.reduceat(X * weights[:, None], rows.offsets[:-1]) / sizes
    deviations = X - means[rows.query_of_rows()]
    spread = np.sqrt(weights @ deviations**2 / weights.sum())
    return np.where(spread > 1e-12 * np.max(np.abs(X), axis=0), spread, 1.0)


def describe_queries(X: Floats, rows: GradedRows, top: int) -> Floats:
    """The variance of each feature over the `top` documents by mean feature value, for each query (eq. 1–2)."""
    described = np.zeros((rows.n_queries, X.shape[1]))
    weights = np.exp(rows.log_weights)
    queries = rows.query_of_rows()
    if not len(X):
        return described
    order = np.lexsort((rows.rows, -X.mean(axis=1), queries))
    ordered = weights[order]
    before = np.cumsum(ordered) - ordered
    before -= before[rows.offsets[:-1]][queries]
    # A row of weight 2 counts as two rows, of which only one may be among the first.
    taken = np.clip(top - before, 0.0, ordered)[:, None]
    sizes = np.add.reduceat(taken, rows.offsets[:-1])
    chosen = X[order]
    means = np.add.reduceat(chosen * taken, rows.offsets[:-1]) / sizes
    return np.asarray(np.add.reduceat((chosen - means[queries]) ** 2 * taken, rows.offsets[:-1]) / sizes)


def standardise(described: Floats, *, constant: bool) -> Floats:
    """Query features with mean 0 and standard deviation 1 over queries, 0 where all are equal; and a column of ones."""
    if not len(described):
        return np.ones((0, described.shape[1] + constant))
    spread = described.std(axis=0)
    usable = spread > 1e-12 * np.max(np.abs(described), axis=0)
    centred = (described - described.mean(axis=0)) * usable / np.where(usable, spread, 1.0)
    return np.column_stack([centred, np.ones(len(described))]) if constant else centred
