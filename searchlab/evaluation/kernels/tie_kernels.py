"""What is a measure worth on average over all orders of equal scores?

In closed form (McSherry and Najork 2008), for measures that allow it. A tie is a group of ranks; each of its documents
stands at each of its ranks equally often. Compiled.
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
    gain_of,
    sum_gains,
)
from searchlab.types import Array

CLOSED_FORMS = (NDCG, AP, P, R, RR, RPREC, SUCCESS, JUDGED)


@compiled  # type: ignore[untyped-decorator]
def expect_topic(ranked: Array, groups: Array, ideal: Array, plan: Array, discounts: Array) -> float:
    """The expected value of one measure; ranks with the same number in `groups` are tied."""
    kind, cutoff, rel, exponential = plan[KIND], plan[CUTOFF], plan[REL], plan[EXPONENTIAL]
    n = len(ranked)
    n_relevant = 0
    while n_relevant < len(ideal) and ideal[n_relevant] >= rel:
        n_relevant += 1
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
        size, own, gain = end - begin, 0, 0.0
        for place in range(begin, end):
            own += ranked[place] >= rel
            gain += gain_of(ranked[place], exponential)
        none_before = 1.0  # the chance that no relevant document of the group came before
        for place in range(begin, min(end, depth)):
            share = own / size
            if kind == NDCG:
                total += gain / size * discounts[plan[LETOR], place]
            elif kind == AP:
                others = (place - begin) * (own - 1) / (size - 1) if size > 1 else 0.0
                total += share * (found + others + 1) / (place + 1)
            elif kind in (RR, SUCCESS):
                if found == 0:
                    chance = own / (end - place) if own < end - place else 1.0
                    total += none_before * chance / (place + 1 if kind == RR else 1)
                    none_before *= 1.0 - chance
            else:
                total += share
        found += own
        begin = end
    if kind in (RR, SUCCESS):
        return total
    divisor = float(n_relevant)
    if kind == NDCG:
        divisor = sum_gains(ideal, cutoff if cutoff else len(ideal), exponential, discounts[plan[LETOR]])
    elif kind in (P, JUDGED):
        divisor = float(depth)
    return total / divisor if divisor > 0 else 0.0


@compiled  # type: ignore[untyped-decorator]
def expect_topics(
    ranked: Array,
    groups: Array,
    offsets: Array,
    ideal: Array,
    ideal_offsets: Array,
    plan: Array,
    discounts: Array,
) -> Array:
    """The expected values of all topics: a row a topic, a column a measure."""
    values = np.empty((len(offsets) - 1, len(plan)))
    for topic in range(len(values)):
        begin, end = offsets[topic], offsets[topic + 1]
        own_ideal = ideal[ideal_offsets[topic] : ideal_offsets[topic + 1]]
        for column in range(len(plan)):
            values[topic, column] = expect_topic(
                ranked[begin:end], groups[begin:end], own_ideal, plan[column], discounts
            )
    return values
