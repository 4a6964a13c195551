"""The exponential loss of all pairs of a query and its derivatives, without enumerating pairs (compiled).

    L_q(f) = Σ_{i,j in q: y_i > y_j} v_i·w_j·exp(f_j − f_i)

w are the weights of rows, and v, their weights as the better row of a pair, are the same unless given. Each term is a
product, so the sum over the pairs of a row is the row's factor times a sum over the rows of lower (or higher) levels.
Where scores are too far apart for that, sums are computed as logarithms.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from searchlab.rankers.training_data import TrainingData
from searchlab.types import Array, Floats, Ints

# Within this range of scores in a query, and a loss between these two, plain numbers neither overflow nor underflow.
MAX_SCORE_RANGE = 600.0
MIN_LOSS, MAX_LOSS = 1e-200, 1e200

compiled = njit(cache=True, nogil=True, error_model="numpy")


@dataclass(frozen=True, eq=False)
class GradedRows:
    """The rows of training data that are in a pair, by query, and within a query in ascending order of grade.

    `rows` are their numbers in the training data; `grades` and `log_weights` belong to them. Query q of those that have
    pairs has the rows `offsets[q]:offsets[q + 1]`, and is query `queries[q]` of the training data.
    """

    rows: Ints
    grades: Floats
    log_weights: Floats
    offsets: Ints
    queries: Ints

    @classmethod
    def of(cls, training: TrainingData) -> GradedRows:
        """The rows without those of weight 0 and without queries whose documents all have the same grade."""
        sizes = np.diff(training.offsets)
        queries = np.repeat(np.arange(len(sizes)), sizes)
        weights = np.ones(len(training.grades)) if training.weights is None else training.weights
        rows = np.lexsort((training.grades, queries))
        rows = rows[weights[rows] > 0]
        rises = (np.diff(training.grades[rows]) > 0) & (np.diff(queries[rows]) == 0)
        contrasted = np.zeros(len(sizes), dtype=bool)
        contrasted[queries[rows][1:][rises]] = True
        rows = rows[contrasted[queries[rows]]]
        kept = np.flatnonzero(contrasted)
        counts = np.bincount(queries[rows], minlength=len(sizes))[kept]
        offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        return cls(rows, training.grades[rows], np.log(weights[rows]), offsets, kept)

    @property
    def n_queries(self) -> int:
        """The number of queries that have pairs."""
        return len(self.queries)

    def query_of_rows(self) -> Ints:
        """The query of each row, numbered among those that have pairs."""
        return np.repeat(np.arange(self.n_queries), np.diff(self.offsets))


def pair_potentials(
    scores: Floats, levels: Floats, log_weights: Floats, offsets: Ints, log_winning: Floats | None = None
) -> tuple[Floats, Floats]:
    """ln L_q of each query, and −∂ ln L_q / ∂f of each row.

    Levels must be ascending within a query. A query without pairs has −∞, and its rows 0. With all scores 0, ln L_q is
    the logarithm of the number of its pairs, each weighted by its rows. `log_winning` is ln v, by default ln w.
    """
    winning = log_weights if log_winning is None else log_winning
    logs, slopes = _pair_potentials(scores, levels, log_weights, winning, offsets)
    return logs, slopes


@compiled  # type: ignore[untyped-decorator]
def _pair_potentials(
    scores: Array, levels: Array, log_weights: Array, log_winning: Array, offsets: Array
) -> tuple[Array, Array]:
    logs = np.full(len(offsets) - 1, -np.inf)
    slopes = np.zeros(len(scores))
    won = np.empty(len(scores))
    for query in range(len(offsets) - 1):
        begin, end = offsets[query], offsets[query + 1]
        if end - begin < 2 or levels[begin] == levels[end - 1]:
            continue
        loss = _add_products(scores, levels, log_weights, log_winning, begin, end, won, slopes)
        if MIN_LOSS < loss < MAX_LOSS:
            logs[query] = np.log(loss)
        else:
            logs[query] = _add_logarithms(scores, levels, log_weights, log_winning, begin, end, won, slopes)
    return logs, slopes


@compiled  # type: ignore[untyped-decorator]
def _add_products(
    scores: Array,
    levels: Array,
    log_weights: Array,
    log_winning: Array,
    begin: int,
    end: int,
    won: Array,
    slopes: Array,
) -> float:
    """L_q of one query and its slopes, in plain numbers; NaN if its scores are too far apart."""
    low, high = np.inf, -np.inf
    for row in range(begin, end):
        low, high = min(low, scores[row]), max(high, scores[row])
    if not high - low < MAX_SCORE_RANGE:
        return np.nan
    middle = low + (high - low) / 2
    below, loss = 0.0, 0.0
    start = begin
    while start < end:
        group = 0.0
        stop = start
        while stop < end and levels[stop] == levels[start]:
            lift = np.exp(scores[stop] - middle)
            weight = 1.0 if log_weights[stop] == 0.0 else np.exp(log_weights[stop])
            winning = 1.0 if log_winning[stop] == 0.0 else np.exp(log_winning[stop])
            # Stored here for the backward pass.
            slopes[stop] = weight * lift
            won[stop] = winning / lift * below
            loss += won[stop]
            group += weight * lift
            stop += 1
        below += group
        start = stop
    above = 0.0
    stop = end
    while stop > begin:
        group = 0.0
        start = stop
        level = levels[stop - 1]
        while start > begin and levels[start - 1] == level:
            start -= 1
            log_product = log_weights[start] + log_winning[start]
            product = 1.0 if log_product == 0.0 else np.exp(log_product)
            group += product / slopes[start]
            slopes[start] = (won[start] - slopes[start] * above) / loss
        above += group
        stop = start
    return loss


@compiled  # type: ignore[untyped-decorator]
def _add_logarithms(
    scores: Array,
    levels: Array,
    log_weights: Array,
    log_winning: Array,
    begin: int,
    end: int,
    won: Array,
    slopes: Array,
) -> float:
    """ln L_q of one query and its slopes, however far apart its scores are.

    The logarithm of a sum is that of its largest term plus that of `total`, the sum of the terms over the largest.
    """
    largest, total, top = -np.inf, 0.0, -np.inf
    start = begin
    while start < end:
        stop = start
        below = largest + np.log(total) if total > 0 else -np.inf
        while stop < end and levels[stop] == levels[start]:
            won[stop] = below + log_winning[stop] - scores[stop]
            top = max(top, won[stop])
            stop += 1
        for row in range(start, stop):
            largest, total = _add_term(largest, total, log_weights[row] + scores[row])
        start = stop
    loss = 0.0
    for row in range(begin, end):
        won[row] = np.exp(won[row] - top)
        loss += won[row]
    largest, total = -np.inf, 0.0
    stop = end
    while stop > begin:
        start = stop
        above = largest + np.log(total) - top if total > 0 else -np.inf
        while start > begin and levels[start - 1] == levels[stop - 1]:
            start -= 1
            slopes[start] = (won[start] - np.exp(above + log_weights[start] + scores[start])) / loss
        for row in range(start, stop):
            largest, total = _add_term(largest, total, log_winning[row] - scores[row])
        stop = start
    return float(top + np.log(loss))


@compiled  # type: ignore[untyped-decorator]
def _add_term(largest: float, total: float, term: float) -> tuple[float, float]:
    if term == -np.inf:
        return largest, total
    if term > largest:
        return term, total * np.exp(largest - term) + 1.0
    return largest, total + np.exp(term - largest)


def best_rule(codes: Array, starts: Ints, slopes: Floats) -> tuple[int, float]:
    """The rule of the largest |r|, and its r: the sum of the slopes of all rows for which the rule holds.

    Rule t of feature k, whose rules are numbered from starts[k], holds for a row if codes[k, row] > t − starts[k]. Of
    equal rules the first is returned; −1 if there are no rules.
    """
    rule, gain = _best_rule(codes, starts, slopes)
    return int(rule), float(gain)


@compiled  # type: ignore[untyped-decorator]
def _best_rule(codes: Array, starts: Array, slopes: Array) -> tuple[int, float]:
    best, gain = -1, 0.0
    max_rules = 0
    for feature in range(len(starts) - 1):
        max_rules = max(max_rules, starts[feature + 1] - starts[feature])
    sums = np.empty(max_rules + 1)
    for feature in range(len(starts) - 1):
        n_rules = starts[feature + 1] - starts[feature]
        if n_rules == 0:
            continue
        sums[: n_rules + 1] = 0.0
        for row in range(len(slopes)):
            sums[codes[feature, row]] += slopes[row]
        held = 0.0
        for rule in range(n_rules - 1, -1, -1):
            held += sums[rule + 1]
            if abs(held) > abs(gain) or (abs(held) == abs(gain) and best >= starts[feature]):
                best, gain = starts[feature] + rule, held
    return best, gain
