"""How many pairs of documents does each query have, and how much should each of them count?

Cao et al. (SIGIR 2006, §5) weigh the loss of a pair by τ, how much the measure suffers when documents of these two
grades change places, times μ, which lets a query with few pairs count as much as one with many.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from searchlab.errors import SettingError
from searchlab.indexing.strings import Array

GradePair = tuple[float, float]


def count_pairs(offsets: npt.ArrayLike, grades: npt.ArrayLike) -> list[dict[GradePair, int]]:
    """For each query, how many pairs it has of each (grade, lower grade)."""
    return [
        {(high, low): n_high * n_low for place, (high, n_high) in enumerate(sizes) for low, n_low in sizes[place + 1 :]}
        for sizes in _grade_sizes(offsets, grades)
    ]


def query_factors(offsets: npt.ArrayLike, grades: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """μ of each query: the largest number of pairs of any query / its own (eq. 10); 1 if it has none."""
    sizes = [float(sum(pairs.values())) for pairs in count_pairs(offsets, grades)]
    counts = np.array(sizes)
    factors: npt.NDArray[np.float64] = np.ones(len(counts))
    np.divide(max(sizes, default=0.0), counts, out=factors, where=counts > 0)
    return factors


def rank_factors(offsets: npt.ArrayLike, grades: npt.ArrayLike, depth: int = 1) -> dict[GradePair, float]:
    """τ of each (grade, lower grade): the mean drop of NDCG@depth if one document of each change places.

    The places are those of the perfect ranking, each document of a grade is as likely as any other, and the mean is
    taken over the queries that have both grades. The paper simulates this (`simulate_rank_factors`), but with
    gain 2^grade − 1 and discount 1/log2(1 + rank), 0 beyond the depth, the expectation is

        (gain(a) − gain(b)) · (mean discount of the places of a − mean discount of the places of b) / ideal DCG@depth

    At depth 1 only the highest grade of a query has a discount, 1/(its number of documents) in the mean.
    """
    drops: dict[GradePair, list[float]] = defaultdict(list)
    discounts = _discounts(offsets, depth)
    for sizes in _grade_sizes(offsets, grades):
        gains = _gains([grade for grade, _ in sizes])
        places = np.cumsum([0, *(size for _, size in sizes)]).tolist()
        sums = [float(discounts[begin:end].sum()) for begin, end in pairwise(places)]
        ideal = float(gains @ sums)
        means = [total / size for total, (_, size) in zip(sums, sizes, strict=True)]
        for high in range(len(sizes)):
            for low in range(high + 1, len(sizes)):
                drop = float(gains[high] - gains[low]) * (means[high] - means[low]) / ideal
                drops[sizes[high][0], sizes[low][0]].append(drop)
    return _means(drops)


def simulate_rank_factors(
    offsets: npt.ArrayLike, grades: npt.ArrayLike, depth: int = 1, *, n_draws: int = 1000, seed: int = 0
) -> dict[GradePair, float]:
    """τ as the paper finds it (§5.2): two documents at random change places, n_draws times for each query."""
    if n_draws < 1:
        raise SettingError(f"n_draws is {n_draws}, expected at least 1")
    random = np.random.default_rng(seed)
    drops: dict[GradePair, list[float]] = defaultdict(list)
    discounts = _discounts(offsets, depth)
    for sizes in _grade_sizes(offsets, grades):
        counts = [size for _, size in sizes]
        gains = np.repeat(_gains([grade for grade, _ in sizes]), counts)
        places = np.cumsum([0, *counts]).tolist()
        perfect = float(gains @ discounts[: len(gains)])
        for high in range(len(sizes)):
            for low in range(high + 1, len(sizes)):
                upper = random.integers(places[high], places[high + 1], n_draws)
                lower = random.integers(places[low], places[low + 1], n_draws)
                total = 0.0
                for one, other in zip(upper.tolist(), lower.tolist(), strict=True):
                    swapped = gains.copy()
                    swapped[[one, other]] = gains[[other, one]]
                    total += 1.0 - float(swapped @ discounts[: len(gains)]) / perfect
                drops[sizes[high][0], sizes[low][0]].append(total / n_draws)
    return _means(drops)


def _grade_sizes(offsets: npt.ArrayLike, grades: npt.ArrayLike) -> Iterator[list[tuple[float, int]]]:
    """For each query its grades, highest first, and how many documents have them."""
    levels = np.asarray(grades, dtype=np.float64)
    bounds = np.asarray(offsets, dtype=np.int64)
    if bounds.ndim != 1 or not len(bounds) or bounds[0] or bounds[-1] != len(levels) or (np.diff(bounds) < 0).any():
        raise SettingError(f"offsets do not rise from 0 to {len(levels)}, the number of grades")
    if not np.isfinite(levels).all():
        row = int(np.flatnonzero(~np.isfinite(levels))[0])
        raise SettingError(f"row {row + 1}: grade is {levels[row]}, expected a finite number")
    for begin, end in pairwise(bounds.tolist()):
        found, sizes = np.unique(levels[begin:end], return_counts=True)
        yield list(zip(found[::-1].tolist(), sizes[::-1].tolist(), strict=True))


def _gains(falling: list[float]) -> Array:
    """2^grade − 1 of grades that fall, divided by 2^highest, which leaves NDCG as it is and cannot overflow."""
    if falling and falling[-1] < 0:
        raise SettingError(f"grade is {falling[-1]:g}, expected a number from 0, for which NDCG has a gain")
    highest = falling[0] if falling else 0.0
    gains: Array = np.exp2(np.array(falling) - highest) - np.exp2(-highest)
    return gains


def _discounts(offsets: npt.ArrayLike, depth: int) -> Array:
    if depth < 1:
        raise SettingError(f"depth is {depth}, expected at least 1")
    ranks = np.arange(1, int(np.diff(np.asarray(offsets)).max(initial=0)) + 1)
    return np.where(ranks <= depth, 1.0 / np.log2(1.0 + ranks), 0.0)


def _means(drops: Mapping[GradePair, list[float]]) -> dict[GradePair, float]:
    return {pair: float(np.mean(found)) for pair, found in sorted(drops.items(), reverse=True)}
