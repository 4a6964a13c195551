"""How is a measure computed for all topics at once?

Topics are blocks of one long array: topic q has the places offsets[q]:offsets[q + 1]. In three passes grades are put
into the order of the scores; the grades of each topic are sorted, which is the ideal ranking; and every measure walks
down the ranking. Compiled.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from searchlab.types import Array

# The grade of a document without judgment; no file can hold it.
UNJUDGED = -(2**40)

# The arithmetic of measures, and what a row of the plan says of one.
KINDS = (
    "nDCG", "AP", "P", "R", "RR", "Rprec", "Success", "Bpref", "infAP", "IPrec", "ERR", "Judged",
    "SetP", "SetF", "SetAP", "NumRet", "NumRel", "NumRelRet", "NumQ",
)  # fmt: skip
NDCG, AP, P, R, RR, RPREC, SUCCESS, BPREF, INF_AP, IPREC, ERR, JUDGED = range(12)
SET_P, SET_F, SET_AP, NUM_RET, NUM_REL, NUM_REL_RET, NUM_Q = range(12, 19)
KIND, CUTOFF, REL, EXPONENTIAL, LETOR, CUT_SHORT, MAX_GRADE, N_SETTINGS = range(8)

# A larger grade is sorted for, a smaller one counted.
MOST_LEVELS = 64
# trec_eval's: it keeps infAP from dividing 0 by 0.
INF_AP_EPSILON = 1e-5

compiled = njit(cache=True, nogil=True, error_model="numpy")


def rank_rows(scores: Array, offsets: Array) -> Array:
    """The rows of each topic by descending score; equal scores keep their order.

    NumPy sorts the rows of all topics at once, several at a time if the processor can; that is faster than any loop.
    """
    return deal_rows(np.argsort(scores), scores, offsets)


@compiled  # type: ignore[untyped-decorator]
def deal_rows(rising: Array, scores: Array, offsets: Array) -> Array:
    """Rows that are sorted over all topics, in any order if equal, as `rank_rows` wants them."""
    order = np.empty(len(scores), np.int64)
    topics = np.empty(len(scores), np.int64)
    for topic in range(len(offsets) - 1):
        topics[offsets[topic] : offsets[topic + 1]] = topic
    places = offsets.copy()
    for k in range(len(rising) - 1, -1, -1):
        row = rising[k]
        order[places[topics[row]]] = row
        places[topics[row]] += 1
    for topic in range(len(offsets) - 1):
        first = offsets[topic]
        for place in range(offsets[topic] + 1, offsets[topic + 1] + 1):
            if place == offsets[topic + 1] or scores[order[place]] != scores[order[first]]:
                if place - first > 1:
                    order[first:place] = np.sort(order[first:place])
                first = place
    return order


@compiled  # type: ignore[untyped-decorator]
def sort_grades(grades: Array, offsets: Array) -> Array:
    """The grades of each topic in descending order."""
    ideal = np.empty(len(grades), np.int64)
    counts = np.zeros(MOST_LEVELS, np.int64)
    for topic in range(len(offsets) - 1):
        begin, end = offsets[topic], offsets[topic + 1]
        small = True
        counts[:] = 0
        for row in range(begin, end):
            if 0 <= grades[row] < MOST_LEVELS:
                counts[grades[row]] += 1
            else:
                small = False
        if not small:
            ideal[begin:end] = np.sort(grades[begin:end])[::-1]
            continue
        place = begin
        for level in range(MOST_LEVELS - 1, -1, -1):
            for _ in range(counts[level]):
                ideal[place] = level
                place += 1
    return ideal


@compiled  # type: ignore[untyped-decorator]
def gain_of(grade: int, exponential: int) -> float:
    """What a document of a grade is worth; one that is not judged, or graded below 0, nothing."""
    if grade <= 0:
        return 0.0
    return 2.0**grade - 1.0 if exponential else float(grade)


@compiled  # type: ignore[untyped-decorator]
def sum_gains(grades: Array, depth: int, exponential: int, discounts: Array) -> float:
    """DCG: the gains of the first grades, each times the discount of its rank."""
    total = 0.0
    for rank in range(min(depth, len(grades))):
        grade = grades[rank]
        if grade > 0:
            # Most grades are small, and a shift is faster than a power.
            gain = float((np.int64(1) << grade) - 1) if exponential and grade < 60 else gain_of(grade, exponential)
            total += gain * discounts[rank]
    return total


@compiled  # type: ignore[untyped-decorator]
def sum_precisions(grades: Array, depth: int, rel: int) -> float:
    """The precisions at the relevant documents of the first grades."""
    found, total = 0, 0.0
    for rank in range(min(depth, len(grades))):
        if grades[rank] >= rel:
            found += 1
            total += found / (rank + 1)
    return total


@compiled  # type: ignore[untyped-decorator]
def count_relevant(grades: Array, depth: int, rel: int) -> int:
    """How many of the first grades are relevant."""
    found = 0
    for rank in range(min(depth, len(grades))):
        found += grades[rank] >= rel
    return found


@compiled  # type: ignore[untyped-decorator]
def first_relevant(grades: Array, depth: int, rel: int) -> int:
    """The rank of the first relevant document, or 0."""
    for rank in range(min(depth, len(grades))):
        if grades[rank] >= rel:
            return rank + 1
    return 0


@compiled  # type: ignore[untyped-decorator]
def prefer(grades: Array, rel: int, n_relevant: int, n_irrelevant: int) -> float:
    """Bpref · relevant documents: 1 - irrelevant ones before it / those that could be, for each that is relevant."""
    total, before = 0.0, 0
    for rank in range(len(grades)):
        if grades[rank] >= rel:
            total += 1.0 - min(before, n_relevant) / min(n_irrelevant, n_relevant) if before else 1.0
        elif grades[rank] >= 0:
            before += 1
    return total


@compiled  # type: ignore[untyped-decorator]
def infer_precisions(grades: Array, rel: int) -> float:
    """infAP · relevant documents; a grade below 0 means in the pool, but not judged."""
    total, found, missed, in_pool = 0.0, 0, 0, 0
    for rank in range(len(grades)):
        if grades[rank] >= rel:
            found += 1
            if rank == 0:
                total += 1.0
            else:
                pool = (found - 1 + missed + in_pool) / rank
                sampled = (found - 1 + INF_AP_EPSILON) / (found - 1 + missed + 2 * INF_AP_EPSILON)
                total += 1.0 / (rank + 1) + rank / (rank + 1) * pool * sampled
        elif grades[rank] >= 0:
            missed += 1
        elif grades[rank] > UNJUDGED:
            in_pool += 1
    return total


@compiled  # type: ignore[untyped-decorator]
def best_precision(grades: Array, rel: int, needed: int) -> float:
    """The best precision at or after the rank at which so many relevant documents have been found."""
    best, found = 0.0, 0
    for rank in range(len(grades)):
        if grades[rank] >= rel:
            found += 1
            if found >= needed:
                best = max(best, found / (rank + 1))
    return best


@compiled  # type: ignore[untyped-decorator]
def expect_reciprocal(grades: Array, depth: int, max_grade: int) -> float:
    """ERR = Σ 1/rank · P(content at rank), where a grade contents with (2^grade - 1)/2^max_grade."""
    total, unsatisfied = 0.0, 1.0
    for rank in range(min(depth, len(grades))):
        content = gain_of(grades[rank], 1) / 2.0**max_grade
        total += unsatisfied * content / (rank + 1)
        unsatisfied *= 1.0 - content
    return total


@compiled  # type: ignore[untyped-decorator]
def measure_topic(ranked: Array, ideal: Array, plan: Array, recall: float, discounts: Array) -> float:
    """One measure of one topic; a quotient whose divisor is 0 is 0."""
    kind, cutoff, rel, exponential = plan[KIND], plan[CUTOFF], plan[REL], plan[EXPONENTIAL]
    n = len(ranked)
    depth = cutoff if cutoff else n
    if kind == NDCG:
        best = sum_gains(ideal, cutoff if cutoff else len(ideal), exponential, discounts[plan[LETOR]])
        if best == 0.0 or (plan[CUT_SHORT] and cutoff > n):
            return 0.0
        return sum_gains(ranked, depth, exponential, discounts[plan[LETOR]]) / best
    if kind == P:
        return count_relevant(ranked, depth, rel) / depth
    if kind == RR:
        first = first_relevant(ranked, depth, rel)
        return 1.0 / first if first else 0.0
    if kind == SUCCESS:
        return 1.0 if first_relevant(ranked, depth, rel) else 0.0
    if kind == ERR:
        return expect_reciprocal(ranked, depth, plan[MAX_GRADE])
    if kind == JUDGED:
        depth = min(depth, n)
        return count_relevant(ranked, depth, UNJUDGED + 1) / depth if depth else 0.0
    if kind == NUM_RET:
        return float(n)
    if kind == NUM_Q:
        return 1.0

    n_relevant = 0
    while n_relevant < len(ideal) and ideal[n_relevant] >= rel:
        n_relevant += 1
    if kind == NUM_REL:
        return float(n_relevant)
    if kind == NUM_REL_RET:
        return float(count_relevant(ranked, n, rel))
    if n_relevant == 0:
        return 0.0
    if kind == AP:
        return sum_precisions(ranked, depth, rel) / n_relevant
    if kind == R:
        return count_relevant(ranked, depth, rel) / n_relevant
    if kind == RPREC:
        return count_relevant(ranked, n_relevant, rel) / n_relevant
    if kind == BPREF:
        n_judged = n_relevant
        while n_judged < len(ideal) and ideal[n_judged] >= 0:
            n_judged += 1
        return prefer(ranked, rel, n_relevant, n_judged - n_relevant) / n_relevant
    if kind == INF_AP:
        return infer_precisions(ranked, rel) / n_relevant
    if kind == IPREC:
        return best_precision(ranked, rel, int(recall * n_relevant + 0.9))
    found = count_relevant(ranked, n, rel)
    if found == 0:
        return 0.0
    if kind == SET_P:
        return found / n
    if kind == SET_F:
        return 2.0 * found / (n + n_relevant)
    return found * found / (n * n_relevant)


@compiled  # type: ignore[untyped-decorator]
def measure_topics(
    ranked: Array,
    offsets: Array,
    ideal: Array,
    ideal_offsets: Array,
    plan: Array,
    recalls: Array,
    discounts: Array,
) -> Array:
    """All measures of all topics: a row a topic, a column a measure."""
    n_topics, n_measures = len(offsets) - 1, len(plan)
    values = np.empty((n_topics, n_measures))
    for topic in range(n_topics):
        own = ranked[offsets[topic] : offsets[topic + 1]]
        own_ideal = ideal[ideal_offsets[topic] : ideal_offsets[topic + 1]]
        for column in range(n_measures):
            values[topic, column] = measure_topic(own, own_ideal, plan[column], recalls[column], discounts)
    return values
