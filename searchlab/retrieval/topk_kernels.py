"""Top-k kernel: the best documents of a shard, without scoring them all.

The kernel processes documents in windows that fit the processor's cache. It adds each term's gain to the documents
that have it, terms with the largest possible gain first, so that sums are always formed in the same order. From a
histogram of the scores so far it knows a score that at least k documents reach: the threshold. A term whose possible
gain, together with those of all terms after it, cannot lift an unseen document to the threshold is not *essential*:
from then on it is only added to documents that it could still lift (Turtle, Flood 1995, "max score"; here over
windows). The result is exact: every document that reaches the threshold is returned, and so are all of the k best, with
all their ties. Deleted documents have norms with which they gain nothing, and a document without gain is not returned.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from searchlab.scorers.gains import DAMPING, LOGARITHM, SATURATION, gain
from searchlab.types import Array

WINDOW_SIZE = 8192
N_BUCKETS = 4096
# The number of postings that can be skipped in the time of one look-up in a bitmap.
LOOKUP_COST = 6.0
# Bounds are sums formed in another order than scores: this margin allows for rounding, relative to the scores.
ROUNDING_MARGIN = 1e-9
# Every document that has a term has a sum of at least this.
SMALLEST_POSITIVE = np.nextafter(0.0, 1.0)

# Divisors are positive by construction; checking each for 0 would take a tenth of the time.
compiled = njit(cache=True, nogil=True, error_model="numpy")


class Scratch(NamedTuple):
    """Working memory for one thread: allocating it for each query can take longer than the search."""

    sums: Array
    found_docs: Array
    found_scores: Array
    histogram: Array

    @classmethod
    def make(cls, n_docs: int) -> Scratch:
        """Memory for shards of up to n_docs documents."""
        return cls(
            np.zeros(WINDOW_SIZE), np.empty(n_docs + 1, np.int64), np.empty(n_docs + 1), np.zeros(N_BUCKETS, np.int64)
        )


_gain = compiled(gain)


@compiled
def best_documents(  # type: ignore[no-untyped-def]
    docs,
    tfs,
    starts,
    ends,
    bitmap_rows,
    bits,
    ranks,
    weights,
    factors,
    bounds,
    norm_table,
    norm_codes,
    biases,
    n_words,
    background,
    shape,
    shift,
    k,
    lowest,
    top_bias,
    all_gains,
    scratch,
):
    """The documents of a shard that can be among the k best, with their scores.

    The arguments up to `shift` are those of `ScoringPlan`, `Postings` and `DocumentNorms`. A score without gains lies
    between `lowest` and `top_bias`. The histogram in `scratch` holds the scores of shards searched before; `all_gains`,
    the sum of all bounds, makes its buckets the same for all shards.
    """
    sums, found_docs, found_scores, histogram = scratch
    n_docs, n_terms = len(norm_codes), len(starts)
    has_bias = len(biases) > 0
    highest = top_bias + all_gains
    per_score = N_BUCKETS / max(highest - lowest, 1e-300)
    margin = ROUNDING_MARGIN * (abs(lowest) + abs(highest))

    # reach[t]: the largest possible score of a document that lacks all terms before t.
    reach = np.empty(n_terms + 1)
    reach[n_terms] = top_bias + margin
    for t in range(n_terms - 1, -1, -1):
        reach[t] = reach[t + 1] + bounds[t]

    threshold = _score_of_one_term(
        docs, tfs, starts, ends, weights, factors, norm_table, norm_codes, biases, n_words, background,
        shape, shift, k, lowest, per_score,
    ) - margin  # fmt: skip
    # `above` counts the documents found in bucket `edge` and those over it.
    edge, above = 0, histogram.sum()
    essential = n_terms
    positions = starts.copy()
    window_starts = starts.copy()
    found = 0
    n_candidates = 0.0
    for base in range(0, n_docs + WINDOW_SIZE, WINDOW_SIZE):
        while above - histogram[edge] >= k:
            above -= histogram[edge]
            edge += 1
        if above >= k:
            threshold = max(threshold, lowest + edge / per_score - margin)
        while essential > 0 and reach[essential - 1] < threshold:
            essential -= 1
        if essential == 0 or base >= n_docs:
            break

        # The last terms, those that are not essential and have bitmaps, can be looked up for single documents; if there
        # are many candidates, reading the postings is faster.
        looked_up, postings = n_terms, 0
        while looked_up > essential and bitmap_rows[looked_up - 1] >= 0:
            looked_up -= 1
            postings += ends[looked_up] - starts[looked_up]
        if n_candidates * (n_terms - looked_up) * LOOKUP_COST * n_docs > postings * WINDOW_SIZE:
            looked_up = n_terms
            n_candidates *= 0.9  # as the threshold rises, it is worth another try
        for t in range(looked_up):
            window_starts[t] = _first_from(docs, positions[t], ends[t], base)
            positions[t] = _first_from(docs, window_starts[t], ends[t], base + WINDOW_SIZE)
            needed = -np.inf if t < essential else threshold - reach[t]
            _add_gains(
                docs, tfs, window_starts[t], positions[t], sums, base, needed, weights[t], factors[t],
                norm_table, norm_codes, shape, shift,
            )  # fmt: skip

        # Only documents with an essential term have a sum: they are collected, and their sums cleared. Each is stored,
        # and overwritten by the next one if it falls short: an unpredictable branch would cost more.
        new = found
        enough = max(threshold - reach[looked_up], SMALLEST_POSITIVE)
        for t in range(essential):
            for p in range(window_starts[t], positions[t]):
                i = docs[p] - np.uint64(base)
                found_docs[found] = docs[p]
                found_scores[found] = sums[i]
                found += sums[i] >= enough
                sums[i] = 0.0

        if looked_up < n_terms:
            n_candidates = found - new
        for i in range(new, found):
            score, doc = found_scores[i], found_docs[i]
            for t in range(looked_up, n_terms):
                if score < threshold - reach[t]:
                    break
                rank = _look_up(bits[bitmap_rows[t]], ranks[bitmap_rows[t]], doc)
                if rank >= 0:
                    norm, tf = norm_table[norm_codes[doc]], np.float64(tfs[starts[t] + rank])
                    score += _gain(shape, tf, weights[t], factors[t], norm, shift)
            score += background
            if has_bias:
                score += n_words * biases[doc]
            found_scores[i] = score
            bucket = _bucket(score, lowest, per_score)
            histogram[bucket] += 1
            above += bucket >= edge

    n_best = 0
    for i in range(found):
        if found_scores[i] >= threshold:
            found_docs[n_best], found_scores[n_best] = found_docs[i], found_scores[i]
            n_best += 1
    return found_docs[:n_best].copy(), found_scores[:n_best].copy()


@compiled
def _look_up(bits, ranks, doc):  # type: ignore[no-untyped-def]
    """The position of a document among those of a bitmap, -1 if it is not in it."""
    word = bits[doc >> 6]
    bit = np.uint64(1) << np.uint64(doc & 63)
    if word & bit == 0:
        return -1
    # Count the bits below by adding neighbours: pairs, fours, bytes, then all bytes at once.
    x = word & (bit - np.uint64(1))
    x = x - ((x >> np.uint64(1)) & np.uint64(0x5555555555555555))
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return ranks[doc >> 6] + np.int64((x * np.uint64(0x0101010101010101)) >> np.uint64(56))


@compiled
def _bucket(score, lowest, per_score):  # type: ignore[no-untyped-def]
    """The bucket of a score."""
    return min(max(int((score - lowest) * per_score), 0), N_BUCKETS - 1)


@compiled
def _score_of_one_term(  # type: ignore[no-untyped-def]
    docs, tfs, starts, ends, weights, factors, norm_table, norm_codes, biases, n_words, background,
    shape, shift, k, lowest, per_score,
):  # fmt: skip
    """A score that k documents reach by a single term, the rarest that k documents have: other terms only add."""
    rarest = -1
    for t in range(len(starts)):
        n = ends[t] - starts[t]
        if n >= k and (rarest < 0 or n < ends[rarest] - starts[rarest]):
            rarest = t
    if rarest < 0:
        return -np.inf
    histogram = np.zeros(N_BUCKETS, np.int64)
    for p in range(starts[rarest], ends[rarest]):
        norm = norm_table[norm_codes[docs[p]]]
        gained = _gain(shape, np.float64(tfs[p]), weights[rarest], factors[rarest], norm, shift)
        score = gained + background
        if len(biases) > 0:
            score += n_words * biases[docs[p]]
        histogram[_bucket(score, lowest, per_score)] += gained > 0.0  # deleted documents gain nothing
    edge, above = N_BUCKETS - 1, histogram[N_BUCKETS - 1]
    while above < k and edge > 0:
        edge -= 1
        above += histogram[edge]
    return lowest + edge / per_score if above >= k else -np.inf


@compiled
def _add_gains(  # type: ignore[no-untyped-def]
    docs, tfs, start, stop, sums, base, needed, weight, factor, norm_table, norm_codes, shape, shift
):
    """Add a term's gains to the sums of its postings start … stop, where a sum is at least `needed`.

    One loop for each shape: the compiler does not move the choice out of a common loop.
    """
    first = np.uint64(base)  # unsigned indices need no check for negative ones
    if shape == SATURATION:
        for p in range(start, stop):
            i = docs[p] - first
            if sums[i] >= needed:
                norm = norm_table[norm_codes[docs[p]]]
                sums[i] += _gain(SATURATION, np.float64(tfs[p]), weight, factor, norm, shift)
    elif shape == LOGARITHM:
        for p in range(start, stop):
            i = docs[p] - first
            if sums[i] >= needed:
                norm = norm_table[norm_codes[docs[p]]]
                sums[i] += _gain(LOGARITHM, np.float64(tfs[p]), weight, factor, norm, shift)
    else:
        for p in range(start, stop):
            i = docs[p] - first
            if sums[i] >= needed:
                norm = norm_table[norm_codes[docs[p]]]
                sums[i] += _gain(DAMPING, np.float64(tfs[p]), weight, factor, norm, shift)


@compiled
def _first_from(docs, position, end, doc):  # type: ignore[no-untyped-def]
    """The first position in docs[position:end] whose document is `doc` or later, by galloping search."""
    high, step = position, 64
    while high < end and docs[high] < doc:
        position = high + 1
        high += step
        step <<= 1
    high = min(high, end)
    while position < high:
        middle = (position + high) >> 1
        if docs[middle] < doc:
            position = middle + 1
        else:
            high = middle
    return position
