"""Language model with absolute discounting."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from searchlab.records import TermStats
from searchlab.scorers.base import MIN_SETTING, LanguageModel, Number, require
from searchlab.types import Array


@dataclass(frozen=True)
class AbsoluteDiscount(LanguageModel):
    """Language model with absolute discounting (Ney, Essen, Kneser; Zhai, Lafferty, SIGIR 2001).

    w = ln(max(tf - δ, 0)/|d| + δ·u/|d|·P(t|C)),   u the number of distinct terms of the document
    """

    delta: float = 0.7

    label = "absolute discounting"

    def __post_init__(self) -> None:
        require(self, "delta", MIN_SETTING, 1)

    def weigh(self, tf: Number, length: Number, term: TermStats, unique_length: Number = None) -> Number:
        """See the class."""
        length, unique = np.maximum(length, 1), np.maximum(unique_length, 1)
        return np.log((np.maximum(tf - self.delta, 0) + self.delta * unique * self.prior(term)) / length)

    def term_factor(self, term: TermStats) -> float:
        """1 / (δ·P(t|C))."""
        return 1 / (self.delta * self.prior(term))

    def background(self, term: TermStats) -> float:
        """ln(δ·P(t|C))."""
        return math.log(self.delta * self.prior(term))

    def doc_norm(self, length: Array, unique_length: Array, mean_length: float) -> Array:
        """1 / u."""
        return np.asarray(1 / np.maximum(unique_length, 1))

    def doc_bias(self, length: Array, unique_length: Array) -> Array:
        """ln(u/|d|)."""
        return np.asarray(np.log(np.maximum(unique_length, 1) / np.maximum(length, 1)))

    @property
    def shift(self) -> float:
        """δ."""
        return self.delta

    @property
    def gains_are_positive(self) -> bool:
        """With δ = 1 a single occurrence gains nothing."""
        return self.delta < 1
