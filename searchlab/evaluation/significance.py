"""Could a difference be chance?

All tests are paired: their data are the differences between two systems, one for each topic. They are two-sided, and
ask how likely a difference at least as large as the observed one is if neither system were better.

    paired t        the differences are normally distributed
    sign            only which system won a topic counts, not by how much
    randomisation   the two results of a topic could as well be exchanged
    bootstrap       the topics are a sample of many: where does the mean lie?

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

# Up to so many differences that are not 0, all assignments of signs are tried: 2^16 of them.
EXACT_UP_TO = 16
# Random numbers are drawn in blocks of so many.
BLOCK = 2**20
# Differences smaller than this are rounding: 1/3 and 1 - 2/3 are a tie.
TIE = 1e-12


@dataclass(frozen=True)
class Outcome:
    """What a test says: its statistic, the probability of one at least as extreme, and over how many differences."""

    statistic: float
    p: float
    n: int


@dataclass(frozen=True)
class Interval:
    """Where a mean lies with a probability of `level`."""

    mean: float
    low: float
    high: float
    level: float


def paired_t(differences: npt.ArrayLike) -> Outcome:
    """Student's t test of the mean against 0: t = mean/(s/√n), n - 1 degrees of freedom, s² = Σ(d - mean)²/(n - 1).

    Differences that are all 0, or a single one, show nothing: p is 1. If all are the same and not 0, p is 0.
    """
    d = _checked(differences)
    if len(d) < 2 or not np.any(np.abs(d) > TIE):
        return Outcome(0.0, 1.0, len(d))
    deviation = float(np.std(d, ddof=1))
    mean = float(np.mean(d))
    if deviation <= TIE:
        return Outcome(math.copysign(math.inf, mean), 0.0, len(d))
    from scipy.special import stdtr  # type: ignore[import-untyped]

    t = mean / (deviation / math.sqrt(len(d)))
    return Outcome(t, float(2 * stdtr(len(d) - 1, -abs(t))), len(d))


def sign_test(differences: npt.ArrayLike) -> Outcome:
    """The exact sign test: wins among wins and losses are binomial with ½; ties are dropped.

    The statistic is the number of wins, n that of wins and losses.
    """
    d = _checked(differences)
    wins, losses = int(np.sum(d > TIE)), int(np.sum(d < -TIE))
    n = wins + losses
    # Whole numbers of Python: exact for any n.
    tail = sum(math.comb(n, i) for i in range(min(wins, losses) + 1))
    return Outcome(float(wins), min(1.0, 2 * tail / 2**n), n)


def randomisation_test(differences: npt.ArrayLike, *, seed: int = 0, n_draws: int = 100_000) -> Outcome:
    """Fisher's randomisation test: the share of assignments of signs whose mean is as far from 0 as the observed one.

    With at most 16 differences that are not 0, all assignments are tried. Otherwise `n_draws` are drawn, and the
    observed one is counted with them, p = (1 + as extreme)/(1 + draws), so that p is never 0 (Phipson, Smyth 2010).
    """
    d = _checked(differences)
    if isinstance(n_draws, bool) or not isinstance(n_draws, int) or n_draws < 1:
        raise SettingError(f"n_draws is {n_draws!r}, expected a whole number of at least 1")
    mean = float(np.mean(d)) if len(d) else 0.0
    sizes = np.abs(d[np.abs(d) > TIE])
    if not len(sizes):
        return Outcome(mean, 1.0, len(d))
    # A sum of the same numbers in another order may differ in its last bits.
    least = abs(float(np.sum(d))) - TIE * float(np.sum(sizes)) - TIE
    if len(sizes) <= EXACT_UP_TO:
        signs = (np.arange(2 ** len(sizes))[:, None] >> np.arange(len(sizes))) & 1
        sums = (2 * signs - 1) @ sizes
        return Outcome(mean, float(np.mean(np.abs(sums) >= least)), len(d))
    generator = np.random.default_rng(seed)
    extreme = 0
    for n in _blocks(n_draws, len(sizes)):
        flips = generator.integers(0, 2, (n, len(sizes)), dtype=np.int8)
        extreme += int(np.sum(np.abs(2 * (flips @ sizes) - np.sum(sizes)) >= least))
    return Outcome(mean, (1 + extreme) / (1 + n_draws), len(d))


def bootstrap_interval(
    differences: npt.ArrayLike, *, level: float = 0.95, seed: int = 0, n_draws: int = 10_000
) -> Interval:
    """Where the mean lies: the middle part of the means of `n_draws` samples with replacement (percentiles)."""
    d = _checked(differences)
    if not 0 < level < 1:
        raise SettingError(f"level is {level!r}, expected a number between 0 and 1")
    if not len(d):
        raise SettingError("no differences: expected at least one")
    generator = np.random.default_rng(seed)
    means = np.concatenate(
        [np.mean(d[generator.integers(0, len(d), (n, len(d)))], axis=1) for n in _blocks(n_draws, len(d))]
    )
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(np.mean(d)), float(low), float(high), level)


def holm(p_values: Sequence[float] | npt.ArrayLike) -> Floats:
    """The p-values of several tests, corrected so that one of them falls below α by chance at most α of the time.

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


def _checked(differences: npt.ArrayLike) -> Floats:
    d = np.asarray(differences, np.float64)
    if d.ndim != 1 or not np.all(np.isfinite(d)):
        raise SettingError("expected a list of differences, one finite number for each topic")
    return d


def _blocks(n_draws: int, width: int) -> list[int]:
    """How many draws are made at a time."""
    size = max(1, BLOCK // width)
    return [min(size, n_draws - begin) for begin in range(0, n_draws, size)]
