"""How are sums over all pairs formed without a look at each?

In a query, the documents of each grade are sorted by score; those that a given document loses to, or has in its band,
stand together, and a sweep over the sorted scores adds them up. Compiled.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from searchlab.indexing.strings import Array

Vector = npt.NDArray[Any]

# Up to so many neighbours are added up one by one, which is more exact than a difference of prefix sums.
SHORT = 256

compiled = njit(cache=True, nogil=True, error_model="numpy")


@compiled  # type: ignore[untyped-decorator]
def rank_scores(scores: Vector, starts: Array) -> tuple[Vector, Array]:
    """The scores of each block in rising order, and the rows that they belong to."""
    ranked = np.empty_like(scores)
    order = np.empty(len(scores), np.int64)
    for block in range(len(starts) - 1):
        begin, end = starts[block], starts[block + 1]
        places = np.argsort(scores[begin:end], kind="mergesort")
        for k in range(end - begin):
            order[begin + k] = begin + places[k]
            ranked[begin + k] = scores[begin + places[k]]
    return ranked, order


@compiled  # type: ignore[untyped-decorator]
def sweep_pairs(
    ranked: Vector, order: Array, starts: Array, better: Array, worse: Array, costs: Vector, width: float
) -> tuple[Vector, float, float, float]:
    """For each row the α of pairs that it should win less those that it should lose; Σ hinge, Σ rounded hinge, Σ α."""
    n_blocks = len(starts) - 1
    largest = 0
    sums = np.zeros(len(ranked) + n_blocks)
    squares = np.zeros(len(ranked) + n_blocks)
    for block in range(n_blocks):
        largest = max(largest, starts[block + 1] - starts[block])
        for k in range(starts[block], starts[block + 1]):
            sums[k + block + 1] = sums[k + block] + ranked[k]
            squares[k + block + 1] = squares[k + block] + ranked[k] * ranked[k]
        if block + 1 < n_blocks:
            sums[starts[block + 1] + block + 1] = 0.0
            squares[starts[block + 1] + block + 1] = 0.0
    slopes = np.zeros(len(ranked))
    # Of the worse documents: what was added one by one, and where what holds from a place on begins and ends.
    single = np.zeros(largest + 1)
    lost = np.zeros(largest + 1)
    bases = np.zeros(largest + 1)
    counts = np.zeros(largest + 1)
    hinge, rounded, total = 0.0, 0.0, 0.0
    for pair in range(len(costs)):
        high, low, cost = better[pair], worse[pair], costs[pair]
        begin, size = starts[low], starts[low + 1] - starts[low]
        prefix = begin + low
        single[: size + 1] = 0.0
        lost[: size + 1] = 0.0
        bases[: size + 1] = 0.0
        counts[: size + 1] = 0.0
        near, far = 0, 0
        for i in range(starts[high], starts[high + 1]):
            base = 1.0 - ranked[i]
            while near < size and base + ranked[begin + near] <= 0:
                near += 1
            while far < size and base + ranked[begin + far] < width:
                far += 1
            n_band, n_lost = far - near, size - far
            band, band_squares = 0.0, 0.0
            if n_band <= SHORT:
                for j in range(near, far):
                    lack = base + ranked[begin + j]
                    band += lack
                    band_squares += lack * lack
                    single[j] += lack
            else:
                between = sums[prefix + far] - sums[prefix + near]
                band = n_band * base + between
                band_squares = n_band * base * base + 2 * base * between
                band_squares += squares[prefix + far] - squares[prefix + near]
                bases[near] += base
                bases[far] -= base
                counts[near] += 1
                counts[far] -= 1
            lost[far] += 1
            lost_sum = n_lost * base + sums[prefix + size] - sums[prefix + far]
            slope = cost * (n_lost + band / width)
            slopes[order[i]] += slope
            total += slope
            hinge += cost * (lost_sum + band)
            rounded += cost * (lost_sum - n_lost * width / 2 + band_squares / (2 * width))
        n_lost_to, base_sum, count = 0.0, 0.0, 0.0
        for j in range(size):
            n_lost_to += lost[j]
            base_sum += bases[j]
            count += counts[j]
            in_band = single[j]
            if count > 0:
                in_band += base_sum + count * ranked[begin + j]
            slopes[order[begin + j]] -= cost * (n_lost_to + in_band / width)
    return slopes, hinge, rounded, total


@compiled  # type: ignore[untyped-decorator]
def add_neighbours(
    features: Vector,
    ranked: Vector,
    order: Array,
    starts: Array,
    better: Array,
    worse: Array,
    costs: Vector,
    width: float,
) -> tuple[Vector, Vector]:
    """For each row, c/h summed over its pairs in the band; and for a better one, the c/h·x of the worse ones."""
    n_features = features.shape[1]
    totals = np.zeros(len(ranked))
    weighted = np.zeros_like(features)
    window = np.zeros(n_features)
    for pair in range(len(costs)):
        high, low, weight = better[pair], worse[pair], costs[pair] / width
        begin, end = starts[low], starts[low + 1]
        near, far = begin, begin
        changes = np.zeros(end - begin + 1)
        for i in range(starts[high], starts[high + 1]):
            base = 1.0 - ranked[i]
            old_near, old_far = near, far
            while near < end and base + ranked[near] <= 0:
                near += 1
            while far < end and base + ranked[far] < width:
                far += 1
            if near >= old_far:
                window[:] = 0.0
                old_far = near
            else:
                for j in range(old_near, near):
                    window -= features[order[j]]
            for j in range(old_far, far):
                window += features[order[j]]
            if far > near:
                row = order[i]
                totals[row] += weight * (far - near)
                for k in range(n_features):
                    weighted[row, k] += weight * window[k]
                changes[near - begin] += weight
                changes[far - begin] -= weight
        count = 0.0
        for j in range(begin, end):
            count += changes[j - begin]
            totals[order[j]] += count
    return totals, weighted


@compiled  # type: ignore[untyped-decorator]
def sort_out_pairs(
    ranked: Vector,
    order: Array,
    starts: Array,
    better: Array,
    worse: Array,
    costs: Vector,
    lowest: float,
    highest: float,
) -> tuple[int, Vector, float]:
    """How many pairs have lowest ≤ t < highest; and α = c for those above, by row as in `sweep_pairs`, and in all."""
    slopes = np.zeros(len(ranked))
    total = 0.0
    n_listed = 0
    for pair in range(len(costs)):
        high, low, cost = better[pair], worse[pair], costs[pair]
        begin, end = starts[low], starts[low + 1]
        near, far = begin, begin
        beaten = np.zeros(end - begin + 1)
        for i in range(starts[high], starts[high + 1]):
            base = 1.0 - ranked[i]
            while near < end and base + ranked[near] < lowest:
                near += 1
            while far < end and base + ranked[far] < highest:
                far += 1
            n_listed += far - near
            slopes[order[i]] += cost * (end - far)
            total += cost * (end - far)
            beaten[far - begin] += 1
        count = 0.0
        for j in range(begin, end):
            count += beaten[j - begin]
            slopes[order[j]] -= cost * count
    return n_listed, slopes, total


@compiled  # type: ignore[untyped-decorator]
def list_pairs(
    ranked: Vector,
    order: Array,
    starts: Array,
    better: Array,
    worse: Array,
    costs: Vector,
    lowest: float,
    highest: float,
    n_listed: int,
) -> tuple[Array, Array, Vector]:
    """The pairs with lowest ≤ t < highest: the row that should win, the row that should lose, the cost."""
    winners = np.empty(n_listed, np.int64)
    losers = np.empty(n_listed, np.int64)
    prices = np.empty(n_listed)
    n_found = 0
    for pair in range(len(costs)):
        begin, end = starts[worse[pair]], starts[worse[pair] + 1]
        near, far = begin, begin
        for i in range(starts[better[pair]], starts[better[pair] + 1]):
            base = 1.0 - ranked[i]
            while near < end and base + ranked[near] < lowest:
                near += 1
            while far < end and base + ranked[far] < highest:
                far += 1
            for j in range(near, far):
                winners[n_found] = order[i]
                losers[n_found] = order[j]
                prices[n_found] = costs[pair]
                n_found += 1
    return winners, losers, prices
