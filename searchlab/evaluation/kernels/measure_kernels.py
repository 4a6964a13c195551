"""Compiled loops that compute measures for all topics at once.

Topics are slices of one long array: topic q has offsets[q]:offsets[q + 1]. Three passes put grades into the order of
the scores, sort the grades of each topic, which gives the ideal ranking, and compute every measure from ranked and
ideal grades.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from searchlab.types import Array

# The grade of a document without judgment; readers of qrels accept no grade as low as this.
UNJUDGED = -(2**40)

# The kinds of arithmetic, and the columns of a plan's settings.
KINDS = (
    "nDCG", "AP", "P", "R", "RR", "Rprec", "Success", "Bpref", "infAP", "IPrec", "ERR", "Judged",
    "SetP", "SetF", "SetAP", "NumRet", "NumRel", "NumRelRet", "NumQ", "RBP",
)  # fmt: skip
NDCG, AP, P, R, RR, RPREC, SUCCESS, BPREF, INF_AP, IPREC, ERR, JUDGED = range(12)
SET_P, SET_F, SET_AP, NUM_RET, NUM_REL, NUM_REL_RET, NUM_Q, RBP = range(12, 20)
KIND, CUTOFF, REL, EXPONENTIAL, LETOR, ZERO_SHORT_LISTS, MAX_GRADE, N_SETTINGS = range(8)

# Topics with grades from 0 to below this are sorted by counting, others by comparison.
N_COUNTED_GRADES = 64
# trec_eval's constant that keeps infAP from dividing 0 by 0.
INF_AP_EPSILON = 1e-5

compiled = njit(cache=True, nogil=True, error_model="numpy")


def rank_rows(scores: Array, offsets: Array) -> Array:
    """The rows of each topic by descending score; equal scores keep their order.

    NumPy sorts the rows of all topics at once with vector instructions; that is faster than a loop over topics.
    """
    return group_rows_by_topic(np.argsort(scores), scores, offsets)


@compiled  # type: ignore[untyped-decorator]
def group_rows_by_topic(ascending: Array, scores: Array, offsets: Array) -> Array:
    """The result of `rank_rows`, given the rows of all topics by ascending score, equal scores in any order."""
    order = np.empty(len(scores), np.int64)
    topics = np.empty(len(scores), np.int64)
    for topic in range(len(offsets) - 1):
        topics[offsets[topic] : offsets[topic + 1]] = topic
    ends = offsets.copy()
    for k in range(len(ascending) - 1, -1, -1):
        row = ascending[k]
        order[ends[topics[row]]] = row
        ends[topics[row]] += 1
    for topic in range(len(offsets) - 1):
        first = offsets[topic]
        for end in range(offsets[topic] + 1, offsets[topic + 1] + 1):
            if end == offsets[topic + 1] or scores[order[end]] != scores[order[first]]:
                if end - first > 1:
                    order[first:end] = np.sort(order[first:end])
                first = end
    return order


@compiled  # type: ignore[untyped-decorator]
def sort_grades(grades: Array, offsets: Array) -> Array:
    """The grades of each topic in descending order."""
    ideal = np.empty(len(grades), np.int64)
    counts = np.zeros(N_COUNTED_GRADES, np.int64)
    for topic in range(len(offsets) - 1):
        begin, end = offsets[topic], offsets[topic + 1]
        countable = True
        counts[:] = 0
        for row in range(begin, end):
            if 0 <= grades[row] < N_COUNTED_GRADES:
                counts[grades[row]] += 1
            else:
                countable = False
        if not countable:
            ideal[begin:end] = np.sort(grades[begin:end])[::-1]
            continue
        row = begin
        for grade in range(N_COUNTED_GRADES - 1, -1, -1):
            for _ in range(counts[grade]):
                ideal[row] = grade
                row += 1
    return ideal


@compiled  # type: ignore[untyped-decorator]
def gain_of(grade: int, exponential: int) -> float:
    """The gain of a grade: grade or 2^grade - 1; 0 for unjudged documents and grades below 0."""
    if grade <= 0:
        return 0.0
    return 2.0**grade - 1.0 if exponential else float(grade)


@compiled  # type: ignore[untyped-decorator]
def sum_gains(grades: Array, depth: int, exponential: int, discounts: Array) -> float:
    """DCG = Σ gain(rank) · discount(rank) over the first `depth` ranks."""
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
    """The sum of the precisions at the relevant documents of the first `depth` ranks."""
    found, total = 0, 0.0
    for rank in range(min(depth, len(grades))):
        if grades[rank] >= rel:
            found += 1
            total += found / (rank + 1)
    return total


@compiled  # type: ignore[untyped-decorator]
def count_relevant(grades: Array, depth: int, rel: int) -> int:
    """The number of relevant documents in the first `depth` ranks."""
    found = 0
    for rank in range(min(depth, len(grades))):
        found += grades[rank] >= rel
    return found


@compiled  # type: ignore[untyped-decorator]
def first_relevant_rank(grades: Array, depth: int, rel: int) -> int:
    """The rank of the first relevant document, 0 if there is none."""
    for rank in range(min(depth, len(grades))):
        if grades[rank] >= rel:
            return rank + 1
    return 0


@compiled  # type: ignore[untyped-decorator]
def sum_preferences(grades: Array, rel: int, n_relevant: int, n_irrelevant: int) -> float:
    """Σ 1 - min(before, R) / min(N, R) over the retrieved relevant documents, which is R · Bpref.

    `before` is the number of judged irrelevant documents above the document, R the number of relevant documents and N
    that of judged irrelevant ones, of the topic.
    """
    total, before = 0.0, 0
    for rank in range(len(grades)):
        if grades[rank] >= rel:
            total += 1.0 - min(before, n_relevant) / min(n_irrelevant, n_relevant) if before else 1.0
        elif grades[rank] >= 0:
            before += 1
    return total


@compiled  # type: ignore[untyped-decorator]
def sum_inferred_precisions(grades: Array, rel: int) -> float:
    """infAP times the number of relevant documents; a grade below 0 means pooled, but not judged."""
    total, n_relevant, n_irrelevant, n_pooled = 0.0, 0, 0, 0
    for rank in range(len(grades)):
        if grades[rank] >= rel:
            if rank == 0:
                total += 1.0
            else:
                pooled = (n_relevant + n_irrelevant + n_pooled) / rank
                precision = (n_relevant + INF_AP_EPSILON) / (n_relevant + n_irrelevant + 2 * INF_AP_EPSILON)
                total += 1.0 / (rank + 1) + rank / (rank + 1) * pooled * precision
            n_relevant += 1
        elif grades[rank] >= 0:
            n_irrelevant += 1
        elif grades[rank] > UNJUDGED:
            n_pooled += 1
    return total


@compiled  # type: ignore[untyped-decorator]
def interpolated_precision(grades: Array, rel: int, needed: int) -> float:
    """The highest precision at or after the rank where `needed` relevant documents have been found."""
    best, found = 0.0, 0
    for rank in range(len(grades)):
        if grades[rank] >= rel:
            found += 1
            if found >= needed:
                best = max(best, found / (rank + 1))
    return best


@compiled  # type: ignore[untyped-decorator]
def expected_reciprocal_rank(grades: Array, depth: int, max_grade: int) -> float:
    """ERR = Σ 1/rank · P(user stops at rank), where a grade satisfies with probability (2^grade - 1)/2^max_grade."""
    total, unsatisfied = 0.0, 1.0
    for rank in range(min(depth, len(grades))):
        satisfied = gain_of(grades[rank], 1) / 2.0**max_grade
        total += unsatisfied * satisfied / (rank + 1)
        unsatisfied *= 1.0 - satisfied
    return total


@compiled  # type: ignore[untyped-decorator]
def rank_biased_precision(grades: Array, depth: int, rel: int, persistence: float) -> float:
    """RBP = (1 - p) · Σ p^(rank - 1) over the relevant documents of the first `depth` ranks."""
    total, weight = 0.0, 1.0 - persistence
    for rank in range(min(depth, len(grades))):
        if grades[rank] >= rel:
            total += weight
        weight *= persistence
    return total


@compiled  # type: ignore[untyped-decorator]
def count_at_least(ideal: Array, grade: int) -> int:
    """The number of grades in descending order that are at least `grade`."""
    n = 0
    while n < len(ideal) and ideal[n] >= grade:
        n += 1
    return n


@compiled  # type: ignore[untyped-decorator]
def measure_topic(ranked: Array, ideal: Array, settings: Array, parameter: float, discounts: Array) -> float:
    """One measure of one topic; a quotient whose divisor is 0 is 0."""
    kind, cutoff, rel, exponential = settings[KIND], settings[CUTOFF], settings[REL], settings[EXPONENTIAL]
    n = len(ranked)
    depth = cutoff if cutoff else n
    if kind == NDCG:
        best = sum_gains(ideal, cutoff if cutoff else len(ideal), exponential, discounts[settings[LETOR]])
        if best == 0.0 or (settings[ZERO_SHORT_LISTS] and cutoff > n):
            return 0.0
        return sum_gains(ranked, depth, exponential, discounts[settings[LETOR]]) / best
    if kind == P:
        return count_relevant(ranked, depth, rel) / depth
    if kind == RR:
        first = first_relevant_rank(ranked, depth, rel)
        return 1.0 / first if first else 0.0
    if kind == SUCCESS:
        return 1.0 if first_relevant_rank(ranked, depth, rel) else 0.0
    if kind == ERR:
        return expected_reciprocal_rank(ranked, depth, settings[MAX_GRADE])
    if kind == RBP:
        return rank_biased_precision(ranked, depth, rel, parameter)
    if kind == JUDGED:
        depth = min(depth, n)
        return count_relevant(ranked, depth, UNJUDGED + 1) / depth if depth else 0.0
    if kind == NUM_RET:
        return float(n)
    if kind == NUM_Q:
        return 1.0

    n_relevant = count_at_least(ideal, rel)
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
        return sum_preferences(ranked, rel, n_relevant, count_at_least(ideal, 0) - n_relevant) / n_relevant
    if kind == INF_AP:
        return sum_inferred_precisions(ranked, rel) / n_relevant
    if kind == IPREC:
        return interpolated_precision(ranked, rel, int(parameter * n_relevant + 0.9))
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
    settings: Array,
    parameters: Array,
    discounts: Array,
) -> Array:
    """All measures of all topics: a row for each topic, a column for each measure."""
    n_topics, n_measures = len(offsets) - 1, len(settings)
    values = np.empty((n_topics, n_measures))
    for topic in range(n_topics):
        topic_ranked = ranked[offsets[topic] : offsets[topic + 1]]
        topic_ideal = ideal[ideal_offsets[topic] : ideal_offsets[topic + 1]]
        for column in range(n_measures):
            values[topic, column] = measure_topic(
                topic_ranked, topic_ideal, settings[column], parameters[column], discounts
            )
    return values
