"""Compiled closed forms for the mean of a measure over all orders of equal scores (McSherry, Najork 2008).

A tie is a group of ranks; each of its documents is equally likely at each of its ranks.
"""

from __future__ import annotations

import numpy as np

from searchlab.evaluation.kernels.measure_kernels import (
    AP,
    CUTOFF,
    EXPONENTIAL,
    JUDGED,
    KIND,
    LETOR,
    NDCG,
    REL,
    RPREC,
    RR,
    SUCCESS,
    UNJUDGED,
    P,
    R,
    compiled,
    count_at_least,
    gain_of,
    sum_gains,
)
from searchlab.types import Array

CLOSED_FORMS = (NDCG, AP, P, R, RR, RPREC, SUCCESS, JUDGED)


@compiled  # type: ignore[untyped-decorator]
def expected_value(ranked: Array, groups: Array, ideal: Array, settings: Array, discounts: Array) -> float:
    """The expected value of one measure for one topic; ranks with the same number in `groups` are tied."""
    kind, cutoff, rel, exponential = settings[KIND], settings[CUTOFF], settings[REL], settings[EXPONENTIAL]
    n = len(ranked)
    n_relevant = count_at_least(ideal, rel)
    depth = cutoff if cutoff else n
    if kind == RPREC:
        depth = n_relevant
    elif kind == JUDGED:
        depth = min(depth, n)
        rel = UNJUDGED + 1
    total, found, begin = 0.0, 0, 0
    while begin < min(n, depth):
        end = begin + 1
        while end < n and groups[end] == groups[begin]:
            end += 1
        size, n_tied, gain = end - begin, 0, 0.0
        for rank in range(begin, end):
            n_tied += ranked[rank] >= rel
            gain += gain_of(ranked[rank], exponential)
        none_before = 1.0  # the probability that no relevant document of the group is at an earlier rank
        for rank in range(begin, min(end, depth)):
            share = n_tied / size
            if kind == NDCG:
                total += gain / size * discounts[settings[LETOR], rank]
            elif kind == AP:
                others = (rank - begin) * (n_tied - 1) / (size - 1) if size > 1 else 0.0
                total += share * (found + others + 1) / (rank + 1)
            elif kind in (RR, SUCCESS):
                if found == 0:
                    probability = n_tied / (end - rank) if n_tied < end - rank else 1.0
                    total += none_before * probability / (rank + 1 if kind == RR else 1)
                    none_before *= 1.0 - probability
            else:
                total += share
        found += n_tied
        begin = end
    if kind in (RR, SUCCESS):
        return total
    divisor = float(n_relevant)
    if kind == NDCG:
        divisor = sum_gains(ideal, cutoff if cutoff else len(ideal), exponential, discounts[settings[LETOR]])
    elif kind in (P, JUDGED):
        divisor = float(depth)
    return total / divisor if divisor > 0 else 0.0


@compiled  # type: ignore[untyped-decorator]
def expected_values(
    ranked: Array,
    groups: Array,
    offsets: Array,
    ideal: Array,
    ideal_offsets: Array,
    settings: Array,
    discounts: Array,
) -> Array:
    """The expected values of all topics: a row for each topic, a column for each measure."""
    values = np.empty((len(offsets) - 1, len(settings)))
    for topic in range(len(values)):
        begin, end = offsets[topic], offsets[topic + 1]
        topic_ideal = ideal[ideal_offsets[topic] : ideal_offsets[topic + 1]]
        for column in range(len(settings)):
            values[topic, column] = expected_value(
                ranked[begin:end], groups[begin:end], topic_ideal, settings[column], discounts
            )
    return values
