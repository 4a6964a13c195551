"""Language model with Jelinek–Mercer smoothing."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from searchlab.records import TermStats
from searchlab.scorers.base import MIN_SETTING, LanguageModel, Number, require
from searchlab.types import Array


@dataclass(frozen=True)
class JelinekMercer(LanguageModel):
    """Language model with Jelinek–Mercer smoothing (Zhai, Lafferty, SIGIR 2001).

    w = ln((1 - λ)·tf/|d| + λ·P(t|C))
    """

    lambda_: float = 0.5

    label = "Jelinek–Mercer"

    def __post_init__(self) -> None:
        require(self, "lambda_", MIN_SETTING, 1)

    def weigh(self, tf: Number, length: Number, term: TermStats, unique_length: Number = None) -> Number:
        """See the class."""
        return np.log((1 - self.lambda_) * tf / np.maximum(length, 1) + self.lambda_ * self.prior(term))

    def term_factor(self, term: TermStats) -> float:
        """(1 - λ) / (λ·P(t|C))."""
        return (1 - self.lambda_) / (self.lambda_ * self.prior(term))

    def background(self, term: TermStats) -> float:
        """ln(λ·P(t|C))."""
        return math.log(self.lambda_ * self.prior(term))

    def doc_norm(self, length: Array, unique_length: Array, mean_length: float) -> Array:
        """1 / |d|."""
        return np.asarray(1 / np.maximum(length, 1))

    @property
    def gains_are_positive(self) -> bool:
        """With λ = 1 only the collection counts, and all gains are 0."""
        return self.lambda_ < 1
