"""How much does each document suffer from the exponential loss of all its pairs?

    L_q(f) = Σ_{i,j in q: y_i > y_j} w_i·w_j·exp(f_j − f_i)

A term is a product, so the sum over the pairs of a row is its own factor times a sum over the rows of lower (or higher)
levels: no pair is looked at. Where scores are too far apart for that, sums are kept as logarithms. Compiled.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from searchlab.rankers.training_data import TrainingData
from searchlab.types import Array, Floats, Ints

# Scores of a query that are no further apart, and a loss between these two, fit into plain numbers with room to spare.
WIDEST = 600.0
SMALLEST, LARGEST = 1e-200, 1e200

compiled = njit(cache=True, nogil=True, error_model="numpy")


@dataclass(frozen=True, eq=False)
class GradedRows:
    """The rows of a training that are in a pair, by query, and within it from the lowest grade to the highest.

    `rows` are their places in the training, `grades` and `log_weights` are theirs. Query q of those that have pairs has
    the rows `offsets[q]:offsets[q + 1]`, and is query `queries[q]` of the training.
    """

    rows: Ints
    grades: Floats
    log_weights: Floats
    offsets: Ints
    queries: Ints

    @classmethod
    def of(cls, training: TrainingData) -> GradedRows:
        """Leave out rows of weight 0 and queries whose documents are all of one grade."""
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
        """How many queries have pairs."""
        return len(self.queries)

    def query_of_rows(self) -> Ints:
        """The query of each row, counted among those that have pairs."""
        return np.repeat(np.arange(self.n_queries), np.diff(self.offsets))


def pair_potentials(scores: Floats, levels: Floats, log_weights: Floats, offsets: Ints) -> tuple[Floats, Floats]:
    """ln L_q of each query, and of each row −∂ ln L_q / ∂f: how much its pairs want it to rise.

    Levels must not fall within a query. A query without pairs has −∞, and its rows 0. With all scores 0, ln L_q is the
    logarithm of the number of its pairs, each weighted by its rows.
    """
    logs, slopes = _pair_potentials(scores, levels, log_weights, offsets)
    return logs, slopes


@compiled  # type: ignore[untyped-decorator]
def _pair_potentials(scores: Array, levels: Array, log_weights: Array, offsets: Array) -> tuple[Array, Array]:
    logs = np.full(len(offsets) - 1, -np.inf)
    slopes = np.zeros(len(scores))
    won = np.empty(len(scores))
    for query in range(len(offsets) - 1):
        begin, end = offsets[query], offsets[query + 1]
        if end - begin < 2 or levels[begin] == levels[end - 1]:
            continue
        loss = _add_products(scores, levels, log_weights, begin, end, won, slopes)
        if SMALLEST < loss < LARGEST:
            logs[query] = np.log(loss)
        else:
            logs[query] = _add_logarithms(scores, levels, log_weights, begin, end, won, slopes)
    return logs, slopes


@compiled  # type: ignore[untyped-decorator]
def _add_products(
    scores: Array, levels: Array, log_weights: Array, begin: int, end: int, won: Array, slopes: Array
) -> float:
    """L_q of one query and its slopes, by plain numbers; NaN if its scores are too far apart."""
    low, high = np.inf, -np.inf
    for row in range(begin, end):
        low, high = min(low, scores[row]), max(high, scores[row])
    if not high - low < WIDEST:
        return np.nan
    middle = low + (high - low) / 2
    below, loss = 0.0, 0.0
    place = begin
    while place < end:
        group = 0.0
        stop = place
        while stop < end and levels[stop] == levels[place]:
            lift = np.exp(scores[stop] - middle)
            weight = 1.0 if log_weights[stop] == 0.0 else np.exp(log_weights[stop])
            # Kept here for the way back.
            slopes[stop] = weight * lift
            won[stop] = weight / lift * below
            loss += won[stop]
            group += weight * lift
            stop += 1
        below += group
        place = stop
    above = 0.0
    stop = end
    while stop > begin:
        group = 0.0
        place = stop
        level = levels[stop - 1]
        while place > begin and levels[place - 1] == level:
            place -= 1
            weight = 1.0 if log_weights[place] == 0.0 else np.exp(2.0 * log_weights[place])
            group += weight / slopes[place]
            slopes[place] = (won[place] - slopes[place] * above) / loss
        above += group
        stop = place
    return loss


@compiled  # type: ignore[untyped-decorator]
def _add_logarithms(
    scores: Array, levels: Array, log_weights: Array, begin: int, end: int, won: Array, slopes: Array
) -> float:
    """ln L_q of one query and its slopes, however far apart its scores are.

    The logarithm of a sum is that of its largest term plus that of `total`, the terms over the largest.
    """
    largest, total, top = -np.inf, 0.0, -np.inf
    place = begin
    while place < end:
        stop = place
        below = largest + np.log(total) if total > 0 else -np.inf
        while stop < end and levels[stop] == levels[place]:
            won[stop] = below + log_weights[stop] - scores[stop]
            top = max(top, won[stop])
            stop += 1
        for row in range(place, stop):
            largest, total = _add_term(largest, total, log_weights[row] + scores[row])
        place = stop
    loss = 0.0
    for row in range(begin, end):
        won[row] = np.exp(won[row] - top)
        loss += won[row]
    largest, total = -np.inf, 0.0
    stop = end
    while stop > begin:
        place = stop
        above = largest + np.log(total) - top if total > 0 else -np.inf
        while place > begin and levels[place - 1] == levels[stop - 1]:
            place -= 1
            slopes[place] = (won[place] - np.exp(above + log_weights[place] + scores[place])) / loss
        for row in range(place, stop):
            largest, total = _add_term(largest, total, log_weights[row] - scores[row])
        stop = place
    return float(top + np.log(loss))


@compiled  # type: ignore[untyped-decorator]
def _add_term(largest: float, total: float, term: float) -> tuple[float, float]:
    if term > largest:
        return term, total * np.exp(largest - term) + 1.0
    return largest, total + np.exp(term - largest)


def best_rule(codes: Array, starts: Ints, slopes: Floats) -> tuple[int, float]:
    """Which rule gains most, and r, what it gains: the sum of the slopes of all rows for which it holds.

    Rule t of feature k, of those numbered from starts[k], holds for a row if codes[k, row] > t − starts[k]. The first
    of equals wins; without rules the answer is −1.
    """
    rule, gain = _best_rule(codes, starts, slopes)
    return int(rule), float(gain)


@compiled  # type: ignore[untyped-decorator]
def _best_rule(codes: Array, starts: Array, slopes: Array) -> tuple[int, float]:
    best, gain = -1, 0.0
    most = 0
    for feature in range(len(starts) - 1):
        most = max(most, starts[feature + 1] - starts[feature])
    sums = np.empty(most + 1)
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
