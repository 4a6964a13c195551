"""Which documents of a shard score best, without scoring them all?

The kernel goes through the documents in windows that fit the processor's cache, adding each term's gain to
the documents that have it, terms with the largest possible gain first (so that sums are always formed in
the same order). It keeps a histogram of the scores found, from which it knows a score that at least k
documents reach: the threshold. A term whose possible gain, together with those of all terms after it, cannot lift
an unseen document to the threshold is not *essential*: from there on it is only added to documents that
it could still lift (Turtle, Flood 1995, "max score"; here over windows). The result is exact: every
document that reaches the threshold is returned, and so are all of the k best, with all their ties. Dead documents
have norms with which they gain nothing, and a document without gain is never found.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from searchlab.scorers.gains import DAMPING, LOGARITHM, SATURATION, gain
from searchlab.types import Array

WINDOW = 8192
BUCKETS = 4096
# How many postings can be passed over in the time of one look-up in a bitmap.
LOOKUP_COST = 6.0
# Bounds are sums formed in another order than scores: leave room for rounding.
SLACK = 1e-9
# A document that has a term has a sum above 0.
SMALLEST = np.nextafter(0.0, 1.0)

# Divisors are positive by construction; checking each for 0 would cost a tenth of the time.
compiled = njit(cache=True, nogil=True, error_model="numpy")


class Scratch(NamedTuple):
    """Working memory for one thread: fresh memory for each query can cost more than the search."""

    sums: Array
    found_docs: Array
    found_scores: Array
    histogram: Array

    @classmethod
    def make(cls, n_docs: int) -> Scratch:
        """Enough for shards of up to n_docs documents."""
        return cls(np.zeros(WINDOW), np.empty(n_docs + 1, np.int64), np.empty(n_docs + 1), np.zeros(BUCKETS, np.int64))


_gain = compiled(gain)


@compiled
def best_documents(  # type: ignore[no-untyped-def]
    docs,
    tfs,
    starts,
    ends,
    rows,
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

    Postings of term t are docs[starts[t]:ends[t]], its row among the bitmaps is rows[t] (-1: none); terms stand in
    descending order of `bounds`, their largest possible gains. The norm of document d is norm_table[norm_codes[d]].
    A score is the sum of gains, plus n_words · biases[d] + background; `biases` is empty if it is 0 for all. A
    score without gains lies between `lowest` and `top_bias`. The histogram in `scratch` holds the scores of shards
    searched before; `all_gains`, the sum of all bounds, makes its buckets the same for all shards.
    """
    sums, found_docs, found_scores, histogram = scratch
    n_docs, n_terms = len(norm_codes), len(starts)
    has_bias = len(biases) > 0
    highest = top_bias + all_gains
    per_score = BUCKETS / max(highest - lowest, 1e-300)
    margin = SLACK * (abs(lowest) + abs(highest))

    # reach[t]: the most that a document can have that lacks all terms before t.
    reach = np.empty(n_terms + 1)
    reach[n_terms] = top_bias + margin
    for t in range(n_terms - 1, -1, -1):
        reach[t] = reach[t + 1] + bounds[t]

    threshold = _reached_by_one_term(
        docs, tfs, starts, ends, weights, factors, norm_table, norm_codes, biases, n_words, background,
        shape, shift, k, lowest, per_score,
    ) - margin  # fmt: skip
    # `above` counts the documents found in bucket `edge` and those over it.
    edge, above = 0, histogram.sum()
    essential = n_terms
    places = starts.copy()
    window_starts = starts.copy()
    found = 0
    promising = 0.0
    for base in range(0, n_docs + WINDOW, WINDOW):
        while above - histogram[edge] >= k:
            above -= histogram[edge]
            edge += 1
        if above >= k:
            threshold = max(threshold, lowest + edge / per_score - margin)
        while essential > 0 and reach[essential - 1] < threshold:
            essential -= 1
        if essential == 0 or base >= n_docs:
            break

        # The last terms, if they are neither essential nor without bitmap, can be looked up for single documents;
        # where many documents are promising, going through the postings is faster.
        looked_up, postings = n_terms, 0
        while looked_up > essential and rows[looked_up - 1] >= 0:
            looked_up -= 1
            postings += ends[looked_up] - starts[looked_up]
        if promising * (n_terms - looked_up) * LOOKUP_COST * n_docs > postings * WINDOW:
            looked_up = n_terms
            promising *= 0.9  # as the threshold rises, it is worth another try
        for t in range(looked_up):
            window_starts[t] = _first_from(docs, places[t], ends[t], base)
            places[t] = _first_from(docs, window_starts[t], ends[t], base + WINDOW)
            needed = -np.inf if t < essential else threshold - reach[t]
            _add_gains(
                docs, tfs, window_starts[t], places[t], sums, base, needed, weights[t], factors[t],
                norm_table, norm_codes, shape, shift,
            )  # fmt: skip

        # Only documents with an essential term have a sum: they are read, and their sums cleared. Each is written
        # down, and overwritten by the next if it falls short: a branch that cannot be predicted costs more.
        new = found
        enough = max(threshold - reach[looked_up], SMALLEST)
        for t in range(essential):
            for p in range(window_starts[t], places[t]):
                i = docs[p] - np.uint64(base)
                found_docs[found] = docs[p]
                found_scores[found] = sums[i]
                found += sums[i] >= enough
                sums[i] = 0.0

        if looked_up < n_terms:
            promising = found - new
        for i in range(new, found):
            score, doc = found_scores[i], found_docs[i]
            for t in range(looked_up, n_terms):
                if score < threshold - reach[t]:
                    break
                place = _look_up(bits[rows[t]], ranks[rows[t]], doc)
                if place >= 0:
                    norm, tf = norm_table[norm_codes[doc]], np.float64(tfs[starts[t] + place])
                    score += _gain(shape, tf, weights[t], factors[t], norm, shift)
            score += background
            if has_bias:
                score += n_words * biases[doc]
            found_scores[i] = score
            bucket = _bucket(score, lowest, per_score)
            histogram[bucket] += 1
            above += bucket >= edge

    kept = 0
    for i in range(found):
        if found_scores[i] >= threshold:
            found_docs[kept], found_scores[kept] = found_docs[i], found_scores[i]
            kept += 1
    return found_docs[:kept].copy(), found_scores[:kept].copy()


@compiled
def _look_up(bits, ranks, doc):  # type: ignore[no-untyped-def]
    """A document's place among those in a bitmap, -1 if it is not there."""
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
    return min(max(int((score - lowest) * per_score), 0), BUCKETS - 1)


@compiled
def _reached_by_one_term(  # type: ignore[no-untyped-def]
    docs, tfs, starts, ends, weights, factors, norm_table, norm_codes, biases, n_words, background,
    shape, shift, k, lowest, per_score,
):  # fmt: skip
    """A score that k documents reach by the rarest term alone that k documents have: more terms only add."""
    rarest = -1
    for t in range(len(starts)):
        n = ends[t] - starts[t]
        if n >= k and (rarest < 0 or n < ends[rarest] - starts[rarest]):
            rarest = t
    if rarest < 0:
        return -np.inf
    histogram = np.zeros(BUCKETS, np.int64)
    for p in range(starts[rarest], ends[rarest]):
        norm = norm_table[norm_codes[docs[p]]]
        gained = _gain(shape, np.float64(tfs[p]), weights[rarest], factors[rarest], norm, shift)
        score = gained + background
        if len(biases) > 0:
            score += n_words * biases[docs[p]]
        histogram[_bucket(score, lowest, per_score)] += gained > 0.0  # dead documents gain nothing
    edge, above = BUCKETS - 1, histogram[BUCKETS - 1]
    while above < k and edge > 0:
        edge -= 1
        above += histogram[edge]
    return lowest + edge / per_score if above >= k else -np.inf


@compiled
def _add_gains(  # type: ignore[no-untyped-def]
    docs, tfs, start, stop, sums, base, needed, weight, factor, norm_table, norm_codes, shape, shift
):
    """Add a term's gains to the sums of its postings start … stop, where a sum is at least `needed`.

    One loop a shape: with the choice inside, the compiler would leave it inside.
    """
    first = np.uint64(base)  # unsigned places need no check for counting from the end
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
def _first_from(docs, place, end, doc):  # type: ignore[no-untyped-def]
    """The first place in docs[place:end] whose document is `doc` or later, by galloping."""
    high, step = place, 64
    while high < end and docs[high] < doc:
        place = high + 1
        high += step
        step <<= 1
    high = min(high, end)
    while place < high:
        middle = (place + high) >> 1
        if docs[middle] < doc:
            place = middle + 1
        else:
            high = middle
    return place
