"""Compiled kernels for sums over all pairs of documents, by sweeps over sorted scores.

The documents of each grade of a query are sorted by score; those that a given document loses to, or that are in its
band, are adjacent, and one sweep adds them up.

With t = 1 − (score of the better − score of the worse), the band is −h/2 ≤ t < h/2, and α = c·(½ + t/h) in it, 0 below
and c above. The cost of a pair is that of its blocks times the masses of its two rows.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from searchlab.types import Array

# The arguments of all sweeps: sorted scores, masses in the same order, the rows that they belong to; then, of the
# problem, the starts of blocks, better blocks, worse blocks and costs.
Blocks = tuple[Array, Array, Array, Array, Array, Array, Array]

# Up to this number of neighbours are added one by one, which is more exact than a difference of prefix sums.
MAX_ADDED_SINGLY = 256

# Beyond this mean number of moves per row, sorting from scratch is faster than insertion.
MAX_MOVES_PER_ROW = 8

compiled = njit(cache=True, nogil=True, error_model="numpy")


@compiled  # type: ignore[untyped-decorator]
def rank_scores(scores: Array, mass: Array, starts: Array, known: Array) -> tuple[Array, Array, Array]:
    """The scores of each block in ascending order, masses in the same order, and the rows that they belong to.

    `known` is the order of earlier scores: it is repaired by insertion sort, unless too many rows have moved.
    """
    ranked = np.empty_like(scores)
    masses = np.empty_like(scores)
    order = known.copy()
    for block in range(len(starts) - 1):
        begin, end = starts[block], starts[block + 1]
        n_moves, most = 0, MAX_MOVES_PER_ROW * (end - begin)
        for k in range(begin, end):
            row = order[k]
            score = scores[row]
            position = k
            while position > begin and ranked[position - 1] > score:
                ranked[position] = ranked[position - 1]
                order[position] = order[position - 1]
                position -= 1
            ranked[position] = score
            order[position] = row
            n_moves += k - position
            if n_moves > most:
                break
        if n_moves > most:
            sorted_rows = np.argsort(scores[begin:end], kind="mergesort")
            for k in range(end - begin):
                order[begin + k] = begin + sorted_rows[k]
                ranked[begin + k] = scores[begin + sorted_rows[k]]
        for k in range(begin, end):
            masses[k] = mass[order[k]]
    return ranked, masses, order


@compiled  # type: ignore[untyped-decorator]
def advance(ranked: Array, position: int, end: int, base: float, limit: float) -> int:
    """The first position from `position` on with t = base + score ≥ limit; it grows from one better row to the next."""
    while position < end and base + ranked[position] < limit:
        position += 1
    return position


@compiled  # type: ignore[untyped-decorator]
def sweep_pairs(blocks: Blocks, width: float) -> tuple[Array, float, float, float, int, float]:
    """For each row, Σ α of the pairs that it should win minus those that it should lose; and sums over all pairs.

    These are Σ hinge, Σ rounded hinge, Σ α, the number of pairs in the band and Σ c of their blocks.
    """
    ranked, masses, order, starts, better, worse, costs = blocks
    half = width / 2
    n_blocks = len(starts) - 1
    largest = 0
    # Suffix sums of each block: mass, mass · score and mass · score². Sums from the end, because the pairs that are
    # lost are there, and would otherwise be differences of larger numbers.
    amounts = np.zeros(len(ranked) + n_blocks)
    sums = np.zeros(len(ranked) + n_blocks)
    squares = np.zeros(len(ranked) + n_blocks)
    for block in range(n_blocks):
        largest = max(largest, starts[block + 1] - starts[block])
        for k in range(starts[block + 1] - 1, starts[block] - 1, -1):
            amounts[k + block] = amounts[k + block + 1] + masses[k]
            sums[k + block] = sums[k + block + 1] + masses[k] * ranked[k]
            squares[k + block] = squares[k + block + 1] + masses[k] * ranked[k] * ranked[k]
    slopes = np.zeros(len(ranked))
    # For the worse documents: amounts added one by one, and differences whose prefix sums are amounts of ranges.
    single = np.zeros(largest + 1)
    lost = np.zeros(largest + 1)
    bases = np.zeros(largest + 1)
    counts = np.zeros(largest + 1)
    hinge, rounded, total = 0.0, 0.0, 0.0
    n_in_band, cost_in_band = 0, 0.0
    for pair in range(len(costs)):
        high, low, cost = better[pair], worse[pair], costs[pair]
        begin, end = starts[low], starts[low + 1]
        size = end - begin
        single[: size + 1] = 0.0
        lost[: size + 1] = 0.0
        bases[: size + 1] = 0.0
        counts[: size + 1] = 0.0
        near, zero, far = begin, begin, begin
        for i in range(starts[high], starts[high + 1]):
            base, mass = 1.0 - ranked[i], masses[i]
            near = advance(ranked, near, end, base, -half)
            zero = advance(ranked, zero, end, base, 0.0)
            far = advance(ranked, far, end, base, half)
            raised = base + half
            band, band_squares, band_hinge = 0.0, 0.0, 0.0
            if far - near <= MAX_ADDED_SINGLY:
                for j in range(near, far):
                    above = raised + ranked[j]
                    band += masses[j] * above
                    band_squares += masses[j] * above * above
                    single[j - begin] += mass * above
                for j in range(zero, far):
                    band_hinge += masses[j] * (base + ranked[j])
            else:
                in_band = amounts[near + low] - amounts[far + low]
                between = sums[near + low] - sums[far + low]
                band = in_band * raised + between
                band_squares = in_band * raised * raised + 2 * raised * between
                band_squares += squares[near + low] - squares[far + low]
                band_hinge = (amounts[zero + low] - amounts[far + low]) * base + sums[zero + low] - sums[far + low]
                bases[near - begin] += mass * raised
                bases[far - begin] -= mass * raised
                counts[near - begin] += mass
                counts[far - begin] -= mass
            n_in_band += far - near
            cost_in_band += cost * (far - near)
            n_lost = amounts[far + low]
            lost[far - begin] += mass
            lost_sum = n_lost * base + sums[far + low]
            price = cost * mass
            slope = price * (n_lost + band / width)
            slopes[order[i]] += slope
            total += slope
            hinge += price * (lost_sum + band_hinge)
            rounded += price * (lost_sum + band_squares / (2 * width))
        lost_to, base_sum, count = 0.0, 0.0, 0.0
        for k in range(size):
            lost_to += lost[k]
            base_sum += bases[k]
            count += counts[k]
            in_band = single[k]
            if count > 0:
                in_band += base_sum + count * ranked[begin + k]
            slopes[order[begin + k]] -= cost * masses[begin + k] * (lost_to + in_band / width)
    return slopes, hinge, rounded, total, n_in_band, cost_in_band


@compiled  # type: ignore[untyped-decorator]
def add_neighbours(features: Array, blocks: Blocks, width: float) -> tuple[Array, Array, Array]:
    """For each row, Σ c/h over its pairs in the band; for each better row that has any, Σ c/h·x of the worse rows."""
    ranked, masses, order, starts, better, worse, costs = blocks
    n_features = features.shape[1]
    totals = np.zeros(len(features))
    slots = np.full(len(features), -1)
    n_better, last = 0, -1
    # Pairs of blocks are in the order of the better ones.
    for pair in range(len(costs)):
        if better[pair] != last:
            last = better[pair]
            n_better += starts[last + 1] - starts[last]
    rows = np.empty(n_better, np.int64)
    weighted = np.empty((n_better, n_features))
    n_used = 0
    window = np.zeros(n_features)
    for pair in range(len(costs)):
        high, low, weight = better[pair], worse[pair], costs[pair] / width
        begin, end = starts[low], starts[low + 1]
        near, far = begin, begin
        amount = 0.0
        changes = np.zeros(end - begin + 1)
        for i in range(starts[high], starts[high + 1]):
            base = 1.0 - ranked[i]
            old_near, old_far = near, far
            near = advance(ranked, near, end, base, -width / 2)
            far = advance(ranked, far, end, base, width / 2)
            if near >= old_far:
                window[:] = 0.0
                amount = 0.0
                old_far = near
            else:
                for j in range(old_near, near):
                    amount -= masses[j]
                    for k in range(n_features):
                        window[k] -= masses[j] * features[order[j], k]
            for j in range(old_far, far):
                amount += masses[j]
                for k in range(n_features):
                    window[k] += masses[j] * features[order[j], k]
            if far > near:
                row, price = order[i], weight * masses[i]
                totals[row] += price * amount
                slot = slots[row]
                if slot < 0:
                    slot = n_used
                    slots[row] = slot
                    rows[slot] = row
                    weighted[slot, :] = 0.0
                    n_used += 1
                for k in range(n_features):
                    weighted[slot, k] += price * window[k]
                changes[near - begin] += price
                changes[far - begin] -= price
        count = 0.0
        for j in range(begin, end):
            count += changes[j - begin]
            totals[order[j]] += masses[j] * count
    return totals, rows[:n_used], weighted[:n_used]


@compiled  # type: ignore[untyped-decorator]
def select_pairs(
    blocks: Blocks, lowest: float, highest: float, room: int, quantum: float
) -> tuple[int, Array, Array, Array, Array, float]:
    """The pairs with lowest ≤ t < highest, and the sums of the others, α = c for those above and 0 for those below.

    Returns the number of pairs between; for at most `room` of them the row that should win, the row that should lose
    and the cost; then α by row, as in `sweep_pairs`, and Σ α of the pairs above. If blocks cost less than a quantum,
    only every second, third, … pair is listed, with the cost of those that it represents.
    """
    ranked, masses, order, starts, better, worse, costs = blocks
    slopes = np.zeros(len(ranked))
    winners = np.empty(room, np.int64)
    losers = np.empty(room, np.int64)
    prices = np.empty(room)
    total = 0.0
    n_between, n_listed = 0, 0
    # The cost to skip before the next pair is listed.
    due = 0.0
    for pair in range(len(costs)):
        high, low, cost = better[pair], worse[pair], costs[pair]
        begin, end = starts[low], starts[low + 1]
        near, far = begin, begin
        stride = max(1, int(quantum / cost))
        above, passed, all_passed = np.zeros(end - begin + 1), np.zeros(end - begin + 1), 0.0
        for k in range(end - begin - 1, -1, -1):
            above[k] = above[k + 1] + masses[begin + k]
        for i in range(starts[high], starts[high + 1]):
            base, mass = 1.0 - ranked[i], masses[i]
            near = advance(ranked, near, end, base, lowest)
            far = advance(ranked, far, end, base, highest)
            j = near + int(due / cost)
            while j < far and n_listed < room:
                winners[n_listed] = order[i]
                losers[n_listed] = order[j]
                prices[n_listed] = stride * cost * mass * masses[j]
                n_listed += 1
                j += stride
            due = max(0.0, (j - far) * cost)
            n_between += far - near
            slopes[order[i]] += cost * mass * above[far - begin]
            total += cost * mass * above[far - begin]
            passed[far - begin] += mass
        for j in range(begin, end):
            all_passed += passed[j - begin]
            slopes[order[j]] -= cost * masses[j] * all_passed
    return n_between, winners[:n_listed], losers[:n_listed], prices[:n_listed], slopes, total


@compiled  # type: ignore[untyped-decorator]
def subtract_rows(features: Array, winners: Array, losers: Array, factors: Array) -> Array:
    """factor·(x_i − x_j) of each listed pair."""
    differences = np.empty((len(winners), features.shape[1]))
    for pair in range(len(winners)):
        winner, loser, factor = features[winners[pair]], features[losers[pair]], factors[pair]
        for k in range(features.shape[1]):
            differences[pair, k] = factor * (winner[k] - loser[k])
    return differences
