"""How many pairs of documents does each query have, and how much should each of them count?

Cao et al. (SIGIR 2006, §5) weigh the loss of a pair by τ, how much the measure suffers when documents of these two
grades change places, times μ, which lets a query with few pairs count as much as one with many.

With weights of rows, a row of weight 2 counts as if it were there twice, one of weight 0 as if it were not there.
Weights between whole numbers give what lies between.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from searchlab.errors import SettingError
from searchlab.rankers.solvers.pairwise_problem import check_row_weights
from searchlab.types import Array

GradePair = tuple[float, float]


def count_pairs(
    offsets: npt.ArrayLike, grades: npt.ArrayLike, row_weights: npt.ArrayLike | None = None
) -> list[dict[GradePair, float]]:
    """For each query, how many pairs it has of each (grade, lower grade); whole numbers if rows have no weights."""
    return [
        {(high, low): n_high * n_low for place, (high, n_high) in enumerate(sizes) for low, n_low in sizes[place + 1 :]}
        for sizes in _grade_sizes(offsets, grades, row_weights)
    ]


def query_factors(
    offsets: npt.ArrayLike, grades: npt.ArrayLike, row_weights: npt.ArrayLike | None = None
) -> npt.NDArray[np.float64]:
    """μ of each query: the largest number of pairs of any query / its own (eq. 10); 1 if it has none."""
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
) -> dict[GradePair, float]:
    """τ of each (grade, lower grade): the mean drop of NDCG@depth if one document of each change places.

    The places are those of the perfect ranking, each document of a grade is as likely as any other, and the mean is
    taken over the queries that have both grades. The paper simulates this (`simulate_rank_factors`), but with
    gain 2^grade − 1 and discount 1/log2(1 + rank), 0 beyond the depth, the expectation is

        (gain(a) − gain(b)) · (mean discount of the places of a − mean discount of the places of b) / ideal DCG@depth

    At depth 1 only the highest grade of a query has a discount, 1/(its number of documents) in the mean. A row of
    weight k takes k places; a part of a place has that part of its discount.
    """
    drops: dict[GradePair, list[float]] = defaultdict(list)
    for sizes in _grade_sizes(offsets, grades, row_weights):
        gains = _gains([grade for grade, _ in sizes])
        places = np.cumsum([0.0, *(size for _, size in sizes)])
        sums = np.diff(_total_discounts(places, depth))
        ideal = float(gains @ sums)
        means = [total / size for total, (_, size) in zip(sums.tolist(), sizes, strict=True)]
        for high in range(len(sizes)):
            for low in range(high + 1, len(sizes)):
                drop = float(gains[high] - gains[low]) * (means[high] - means[low]) / ideal
                drops[sizes[high][0], sizes[low][0]].append(drop)
    return _means(drops)


def simulate_rank_factors(
    offsets: npt.ArrayLike, grades: npt.ArrayLike, depth: int = 1, n_draws: int = 1000, seed: int = 0
) -> dict[GradePair, float]:
    """τ as the paper finds it (§5.2): two documents at random change places, n_draws times for each query."""
    if n_draws < 1:
        raise SettingError(f"n_draws is {n_draws}, expected at least 1")
    random = np.random.default_rng(seed)
    drops: dict[GradePair, list[float]] = defaultdict(list)
    n_most = int(np.diff(np.asarray(offsets)).max(initial=0))
    discounts = np.diff(_total_discounts(np.arange(n_most + 1.0), depth))
    for sizes in _grade_sizes(offsets, grades):
        counts = [int(size) for _, size in sizes]
        gains = np.repeat(_gains([grade for grade, _ in sizes]), counts)
        places = np.cumsum([0, *counts]).tolist()
        perfect = float(gains @ discounts[: len(gains)])
        for high in range(len(sizes)):
            for low in range(high + 1, len(sizes)):
                upper = random.integers(places[high], places[high + 1], n_draws)
                lower = random.integers(places[low], places[low + 1], n_draws)
                # A swap moves the difference of two gains over the difference of two discounts.
                lost = (gains[upper] - gains[lower]) * (discounts[upper] - discounts[lower])
                drops[sizes[high][0], sizes[low][0]].append(float(np.mean(lost)) / perfect)
    return _means(drops)


def _grade_sizes(
    offsets: npt.ArrayLike, grades: npt.ArrayLike, row_weights: npt.ArrayLike | None = None
) -> Iterator[list[tuple[float, float]]]:
    """For each query its grades, highest first, and how many documents have them."""
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
            found, sizes = np.unique(levels[begin:end], return_counts=True)
        else:
            weights = mass[begin:end]
            found, kinds = np.unique(levels[begin:end][weights > 0], return_inverse=True)
            sizes = np.bincount(kinds, weights[weights > 0], len(found))
        yield list(zip(found[::-1].tolist(), sizes[::-1].tolist(), strict=True))


def _gains(falling: list[float]) -> Array:
    """2^grade − 1 of grades that fall, divided by 2^highest, which leaves NDCG as it is and cannot overflow."""
    if falling and falling[-1] < 0:
        raise SettingError(f"grade is {falling[-1]:g}, expected a number from 0, for which NDCG has a gain")
    highest = falling[0] if falling else 0.0
    gains: Array = np.exp2(np.array(falling) - highest) - np.exp2(-highest)
    return gains


def _total_discounts(places: Array, depth: int) -> Array:
    """The discounts of the first ranks, up to each place; between two places, a part of that of the rank."""
    if depth < 1:
        raise SettingError(f"depth is {depth}, expected at least 1")
    n_ranks = min(depth, int(np.ceil(np.max(places))))
    totals = np.concatenate([[0.0], np.cumsum(1.0 / np.log2(1.0 + np.arange(1, n_ranks + 1)))])
    found: Array = np.interp(places, np.arange(n_ranks + 1.0), totals)
    return found


def _means(drops: Mapping[GradePair, list[float]]) -> dict[GradePair, float]:
    return {pair: float(np.mean(found)) for pair, found in sorted(drops.items(), reverse=True)}
