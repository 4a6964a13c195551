"""Language model with two-stage smoothing."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from searchlab.records import TermStats
from searchlab.scorers.base import MIN_SETTING, LanguageModel, Number, require
from searchlab.types import Array


@dataclass(frozen=True)
class TwoStage(LanguageModel):
    """Language model with two-stage smoothing (Zhai, Lafferty, SIGIR 2002).

    w = ln((1 - λ)·(tf + μ·P(t|C))/(|d| + μ) + λ·P(t|C))

    Deviation: the model of the user's background is taken to be the collection's.
    """

    mu: float = 1000.0
    lambda_: float = 0.1

    label = "two-stage smoothing"

    def __post_init__(self) -> None:
        require(self, "mu", MIN_SETTING)
        require(self, "lambda_", 0, 1)

    def weigh(self, tf: Number, length: Number, term: TermStats, unique_length: Number = None) -> Number:
        """See the class."""
        p, lam = self.prior(term), self.lambda_
        return np.log((1 - lam) * (tf + self.mu * p) / (length + self.mu) + lam * p)

    def term_factor(self, term: TermStats) -> float:
        """(1 - λ) / P(t|C)."""
        return (1 - self.lambda_) / self.prior(term)

    def background(self, term: TermStats) -> float:
        """ln P(t|C)."""
        return math.log(self.prior(term))

    def _smoothing(self, length: Array) -> Array:
        """(1 - λ)·μ + λ·(|d| + μ): the factor of P(t|C) for an absent term, times |d| + μ."""
        return (1 - self.lambda_) * self.mu + self.lambda_ * (length + self.mu)

    def doc_norm(self, length: Array, unique_length: Array, mean_length: float) -> Array:
        """1 / ((1 - λ)·μ + λ·(|d| + μ))."""
        return 1 / self._smoothing(length)

    def doc_bias(self, length: Array, unique_length: Array) -> Array:
        """ln(((1 - λ)·μ + λ·(|d| + μ)) / (|d| + μ))."""
        return np.asarray(np.log(self._smoothing(length) / (length + self.mu)))

    @property
    def gains_are_positive(self) -> bool:
        """With λ = 1 only the collection counts, and all gains are 0."""
        return self.lambda_ < 1
