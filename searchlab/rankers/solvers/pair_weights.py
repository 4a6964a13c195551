"""Weights of pairs: τ by grades and μ by query (RSVM-IR), and the number of pairs of each query.

Cao et al. (SIGIR 2006, §5) weight the loss of a pair by τ, the drop of the measure when documents of these two grades
are swapped, times μ, which gives a query with few pairs the same total weight as one with many.

τ is a mean over queries. "We calculate the average drops in NDCG over all the queries in the dataset" (§5.2), and
Figure 1 of Xu et al. (2006) divides the sum of the drops by the number k of all queries: a query that lacks one of the
two grades has nothing to swap, a drop of 0, and counts ("all"). Or the mean is over the queries that have both grades
("with-both"). To multiply every τ by one number only rescales λ, but from one mean to the other the τ of each pair of
grades is multiplied by its own share of queries that have both.

A row of weight 2 counts as if it occurred twice, one of weight 0 as if it were absent; fractional weights interpolate.
A query whose rows are all absent is not counted.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from searchlab.errors import SettingError, unknown_name
from searchlab.rankers.solvers.pairwise_problem import check_row_weights
from searchlab.types import Array

GradePair = tuple[float, float]

# The queries over which τ is averaged.
TAU_QUERIES = ("all", "with-both")

_NUMBER = r"-?\d+(?:\.\d+)?"


def count_pairs(
    offsets: npt.ArrayLike, grades: npt.ArrayLike, row_weights: npt.ArrayLike | None = None
) -> list[dict[GradePair, float]]:
    """For each query, the number of pairs of each (grade, lower grade); whole numbers if rows have no weights."""
    return [
        {(high, low): n_high * n_low for rank, (high, n_high) in enumerate(sizes) for low, n_low in sizes[rank + 1 :]}
        for sizes in _grade_sizes(offsets, grades, row_weights)
    ]


def query_factors(
    offsets: npt.ArrayLike, grades: npt.ArrayLike, row_weights: npt.ArrayLike | None = None
) -> npt.NDArray[np.float64]:
    """μ of each query: the largest number of pairs of any query / that of the query (eq. 10); 1 if it has none."""
    sizes = [float(sum(pairs.values())) for pairs in count_pairs(offsets, grades, row_weights)]
    counts = np.array(sizes)
    factors: npt.NDArray[np.float64] = np.ones(len(counts))
    np.divide(max(sizes, default=0.0), counts, out=factors, where=counts > 0)
    return factors


def rank_factors(
    offsets: npt.ArrayLike,
    grades: npt.ArrayLike,
    depth: int = 1,
    row_weights: npt.ArrayLike | None = None,
    queries: str = "all",
) -> dict[GradePair, float]:
    """τ of each (grade, lower grade): the mean drop of NDCG@depth if one document of each are swapped.

    Documents are swapped in the ideal ranking, each document of a grade with equal probability, and the mean is taken
    over `queries`, "all" or "with-both" grades. The paper simulates this (`simulate_rank_factors`), but with
    gain 2^grade − 1 and discount 1/log2(1 + rank), 0 beyond the depth, the expectation is

        (gain(a) − gain(b)) · (mean discount of the ranks of a − mean discount of the ranks of b) / ideal DCG@depth

    At depth 1 only the highest grade of a query has a discount, 1/(its number of documents) on average. A row of
    weight k occupies k ranks; a fraction of a rank has that fraction of its discount.
    """
    drops: dict[GradePair, list[float]] = defaultdict(list)
    n_queries = 0
    for sizes in _grade_sizes(offsets, grades, row_weights):
        n_queries += bool(sizes)
        gains = _gains([grade for grade, _ in sizes])
        bounds = np.cumsum([0.0, *(size for _, size in sizes)])
        sums = np.diff(_total_discounts(bounds, depth))
        ideal = float(gains @ sums)
        means = [total / size for total, (_, size) in zip(sums.tolist(), sizes, strict=True)]
        for high in range(len(sizes)):
            for low in range(high + 1, len(sizes)):
                drop = float(gains[high] - gains[low]) * (means[high] - means[low]) / ideal
                drops[sizes[high][0], sizes[low][0]].append(drop)
    return _means(drops, n_queries, queries)


def simulate_rank_factors(
    offsets: npt.ArrayLike,
    grades: npt.ArrayLike,
    depth: int = 1,
    n_draws: int = 1000,
    seed: int = 0,
    queries: str = "all",
) -> dict[GradePair, float]:
    """τ by the simulation of §5.2, Figure 1 of Xu et al. with T = n_draws; its expectation is `rank_factors`.

    For each query and pair of grades, a random document of each is swapped in the perfect ranking, n_draws times.
    """
    if n_draws < 1:
        raise SettingError(f"n_draws is {n_draws}, expected at least 1")
    random = np.random.default_rng(seed)
    drops: dict[GradePair, list[float]] = defaultdict(list)
    max_docs = int(np.diff(np.asarray(offsets)).max(initial=0))
    discounts = np.diff(_total_discounts(np.arange(max_docs + 1.0), depth))
    n_queries = 0
    for sizes in _grade_sizes(offsets, grades):
        n_queries += bool(sizes)
        counts = [int(size) for _, size in sizes]
        gains = np.repeat(_gains([grade for grade, _ in sizes]), counts)
        bounds = np.cumsum([0, *counts]).tolist()
        ideal = float(gains @ discounts[: len(gains)])
        for high in range(len(sizes)):
            for low in range(high + 1, len(sizes)):
                upper = random.integers(bounds[high], bounds[high + 1], n_draws)
                lower = random.integers(bounds[low], bounds[low + 1], n_draws)
                # A swap moves the difference of two gains over the difference of two discounts.
                lost = (gains[upper] - gains[lower]) * (discounts[upper] - discounts[lower])
                drops[sizes[high][0], sizes[low][0]].append(float(np.mean(lost)) / ideal)
    return _means(drops, n_queries, queries)


def parse_rank_factors(given: Mapping[Any, Any]) -> dict[GradePair, float]:
    """τ given by hand, highest grades first: numbers from 0 by (2, 1), "2 over 1" or "2-1"."""
    factors: dict[GradePair, float] = {}
    for key, value in given.items():
        pair = _parse_grade_pair(key)
        if pair is None or not pair[0] > pair[1]:
            raise SettingError(
                f"tau has the key {key!r}, expected a grade and a lower one, such as '2 over 1' or '2-1'"
            )
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not is_number or not (math.isfinite(value) and value >= 0):
            raise SettingError(f"tau of {name_pair(pair)} is {value!r}, expected a number from 0")
        if pair in factors:
            raise SettingError(f"tau has {name_pair(pair)} twice, expected once")
        factors[pair] = float(value)
    return dict(sorted(factors.items(), reverse=True))


def name_pair(pair: GradePair) -> str:
    """A pair of grades in words: 2 over 1."""
    return f"{pair[0]:g} over {pair[1]:g}"


def _parse_grade_pair(key: Any) -> GradePair | None:
    if isinstance(key, str):
        match = re.fullmatch(rf"\s*({_NUMBER})\s*(?:over|-|,)\s*({_NUMBER})\s*", key)
        return (float(match[1]), float(match[2])) if match else None
    try:
        high, low = key
        return float(high), float(low)
    except (TypeError, ValueError):
        return None


def _grade_sizes(
    offsets: npt.ArrayLike, grades: npt.ArrayLike, row_weights: npt.ArrayLike | None = None
) -> Iterator[list[tuple[float, float]]]:
    """For each query its grades, highest first, and the number of documents of each."""
    levels = np.asarray(grades, dtype=np.float64)
    bounds = np.asarray(offsets, dtype=np.int64)
    if bounds.ndim != 1 or not len(bounds) or bounds[0] or bounds[-1] != len(levels) or (np.diff(bounds) < 0).any():
        raise SettingError(f"offsets do not rise from 0 to {len(levels)}, the number of grades")
    if not np.isfinite(levels).all():
        row = int(np.flatnonzero(~np.isfinite(levels))[0])
        raise SettingError(f"row {row + 1}: grade is {levels[row]}, expected a finite number")
    mass = check_row_weights(row_weights, len(levels))
    sizes: Array
    for begin, end in pairwise(bounds.tolist()):
        if mass is None:
            distinct, sizes = np.unique(levels[begin:end], return_counts=True)
        else:
            weights = mass[begin:end]
            distinct, numbers = np.unique(levels[begin:end][weights > 0], return_inverse=True)
            sizes = np.bincount(numbers, weights[weights > 0], len(distinct))
        yield list(zip(distinct[::-1].tolist(), sizes[::-1].tolist(), strict=True))


def _gains(descending: list[float]) -> Array:
    """2^grade − 1 of descending grades, divided by 2^highest, which leaves NDCG unchanged and cannot overflow."""
    if descending and descending[-1] < 0:
        raise SettingError(f"grade is {descending[-1]:g}, expected a number from 0, for which NDCG has a gain")
    highest = descending[0] if descending else 0.0
    gains: Array = np.exp2(np.array(descending) - highest) - np.exp2(-highest)
    return gains


def _total_discounts(n_documents: Array, depth: int) -> Array:
    """The sum of the discounts of the first n ranks, for each n; linearly interpolated between whole numbers."""
    if depth < 1:
        raise SettingError(f"depth is {depth}, expected at least 1")
    n_ranks = min(depth, int(np.ceil(np.max(n_documents))))
    totals = np.concatenate([[0.0], np.cumsum(1.0 / np.log2(1.0 + np.arange(1, n_ranks + 1)))])
    sums: Array = np.interp(n_documents, np.arange(n_ranks + 1.0), totals)
    return sums


def _means(drops: Mapping[GradePair, list[float]], n_queries: int, queries: str) -> dict[GradePair, float]:
    if queries not in TAU_QUERIES:
        raise unknown_name("queries to average over", str(queries), TAU_QUERIES)
    return {
        pair: float(np.sum(values)) / (n_queries if queries == "all" else len(values))
        for pair, values in sorted(drops.items(), reverse=True)
    }
