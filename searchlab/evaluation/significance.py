"""Significance tests for the differences between two systems, one difference for each topic.

All tests are paired and two-sided: p is the probability of a difference at least as large as the observed one if
neither system were better.

    paired t        assumes normally distributed differences
    sign            uses only which system won a topic, not by how much
    randomisation   assumes that the two results of a topic could as well be exchanged
    bootstrap       a confidence interval of the mean, with the topics as a sample of all topics

When several pairs are compared, p-values are corrected (Holm): of twenty comparisons one is "significant" by chance.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from searchlab.errors import SettingError
from searchlab.types import Floats

# The largest number of non-zero differences for which all assignments of signs, 2^16, are tried.
MAX_EXACT_DIFFERENCES = 16
# The largest number of random numbers drawn at once.
MAX_BLOCK_SIZE = 2**20
# Smaller differences are rounding errors: 1/3 and 1 - 2/3 are a tie.
TIE_TOLERANCE = 1e-12


@dataclass(frozen=True)
class SignificanceResult:
    """The statistic of a test, its p-value, and the number of differences it is based on."""

    statistic: float
    p: float
    n: int


@dataclass(frozen=True)
class ConfidenceInterval:
    """A mean and its confidence interval at a `level` such as .95."""

    mean: float
    low: float
    high: float
    level: float


def paired_t_test(differences: npt.ArrayLike) -> SignificanceResult:
    """Student's t test of the mean against 0: t = mean/(s/√n), n - 1 degrees of freedom, s² = Σ(d - mean)²/(n - 1).

    p is 1 if all differences are 0 or there is only one, and 0 if all are equal but not 0.
    """
    d = _check_differences(differences)
    if len(d) < 2 or not np.any(np.abs(d) > TIE_TOLERANCE):
        return SignificanceResult(0.0, 1.0, len(d))
    deviation = float(np.std(d, ddof=1))
    mean = float(np.mean(d))
    if deviation <= TIE_TOLERANCE:
        return SignificanceResult(math.copysign(math.inf, mean), 0.0, len(d))
    from scipy.special import stdtr  # type: ignore[import-untyped]

    t = mean / (deviation / math.sqrt(len(d)))
    return SignificanceResult(t, float(2 * stdtr(len(d) - 1, -abs(t))), len(d))


def sign_test(differences: npt.ArrayLike) -> SignificanceResult:
    """The exact sign test: the number of wins among wins and losses is binomial with ½; ties are dropped.

    The statistic is the number of wins, n the number of wins and losses.
    """
    d = _check_differences(differences)
    wins, losses = int(np.sum(d > TIE_TOLERANCE)), int(np.sum(d < -TIE_TOLERANCE))
    n = wins + losses
    # Exact for any n, because Python's integers do not overflow.
    tail = sum(math.comb(n, i) for i in range(min(wins, losses) + 1))
    return SignificanceResult(float(wins), min(1.0, 2 * tail / 2**n), n)


def randomisation_test(differences: npt.ArrayLike, *, seed: int = 0, n_draws: int = 100_000) -> SignificanceResult:
    """Fisher's randomisation test: the share of sign assignments whose mean is as far from 0 as the observed one.

    With at most 16 non-zero differences, all assignments are tried. Otherwise `n_draws` are drawn, and the observed one
    is counted with them, p = (1 + as extreme)/(1 + draws), so that p is never 0 (Phipson, Smyth 2010).
    """
    d = _check_differences(differences)
    if isinstance(n_draws, bool) or not isinstance(n_draws, int) or n_draws < 1:
        raise SettingError(f"n_draws is {n_draws!r}, expected a whole number of at least 1")
    mean = float(np.mean(d)) if len(d) else 0.0
    sizes = np.abs(d[np.abs(d) > TIE_TOLERANCE])
    if not len(sizes):
        return SignificanceResult(mean, 1.0, len(d))
    # Sums of the same numbers in another order may differ in their last bits.
    threshold = abs(float(np.sum(d))) - TIE_TOLERANCE * float(np.sum(sizes)) - TIE_TOLERANCE
    if len(sizes) <= MAX_EXACT_DIFFERENCES:
        signs = (np.arange(2 ** len(sizes))[:, None] >> np.arange(len(sizes))) & 1
        sums = (2 * signs - 1) @ sizes
        return SignificanceResult(mean, float(np.mean(np.abs(sums) >= threshold)), len(d))
    generator = np.random.default_rng(seed)
    extreme = 0
    for n in _block_sizes(n_draws, len(sizes)):
        flips = generator.integers(0, 2, (n, len(sizes)), dtype=np.int8)
        extreme += int(np.sum(np.abs(2 * (flips @ sizes) - np.sum(sizes)) >= threshold))
    return SignificanceResult(mean, (1 + extreme) / (1 + n_draws), len(d))


def bootstrap_interval(
    differences: npt.ArrayLike, *, level: float = 0.95, seed: int = 0, n_draws: int = 10_000
) -> ConfidenceInterval:
    """The percentile bootstrap interval of the mean, from `n_draws` samples with replacement."""
    d = _check_differences(differences)
    if not 0 < level < 1:
        raise SettingError(f"level is {level!r}, expected a number between 0 and 1")
    if not len(d):
        raise SettingError("no differences: expected at least one")
    generator = np.random.default_rng(seed)
    means = np.concatenate(
        [np.mean(d[generator.integers(0, len(d), (n, len(d)))], axis=1) for n in _block_sizes(n_draws, len(d))]
    )
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return ConfidenceInterval(float(np.mean(d)), float(low), float(high), level)


def holm(p_values: Sequence[float] | npt.ArrayLike) -> Floats:
    """The p-values of several tests, corrected so that the probability of any false rejection is at most α.

    The smallest of m is multiplied by m, the next by m - 1, and so on; none is smaller than the one before it, nor
    larger than 1 (Holm 1979).
    """
    p = np.asarray(p_values, np.float64)
    if p.ndim != 1 or not np.all((p >= 0) & (p <= 1)):
        raise SettingError("expected a list of p-values, numbers from 0 to 1")
    order = np.argsort(p, kind="stable")
    corrected = np.empty(len(p))
    corrected[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)), 1.0)
    return corrected


def _check_differences(differences: npt.ArrayLike) -> Floats:
    d = np.asarray(differences, np.float64)
    if d.ndim != 1 or not np.all(np.isfinite(d)):
        raise SettingError("expected a list of differences, one finite number for each topic")
    return d


def _block_sizes(n_draws: int, width: int) -> list[int]:
    """The numbers of draws, of `width` random numbers each, that are made at once."""
    size = max(1, MAX_BLOCK_SIZE // width)
    return [min(size, n_draws - begin) for begin in range(0, n_draws, size)]
