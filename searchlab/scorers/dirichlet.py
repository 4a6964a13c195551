"""Language model with Dirichlet smoothing."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from searchlab.records import TermStats
from searchlab.scorers.base import MIN_SETTING, LanguageModel, Number, require
from searchlab.types import Array


@dataclass(frozen=True)
class Dirichlet(LanguageModel):
    """Language model with Dirichlet smoothing (Zhai, Lafferty, SIGIR 2001).

    w = ln((tf + μ·P(t|C)) / (|d| + μ))
    """

    mu: float = 1000.0

    label = "Dirichlet"

    def __post_init__(self) -> None:
        require(self, "mu", MIN_SETTING)

    def weigh(self, tf: Number, length: Number, term: TermStats, unique_length: Number = None) -> Number:
        """See the class."""
        return np.log((tf + self.mu * self.prior(term)) / (length + self.mu))

    def term_factor(self, term: TermStats) -> float:
        """1 / (μ·P(t|C))."""
        return 1 / (self.mu * self.prior(term))

    def background(self, term: TermStats) -> float:
        """ln(μ·P(t|C))."""
        return math.log(self.mu * self.prior(term))

    def doc_norm(self, length: Array, unique_length: Array, mean_length: float) -> Array:
        """1."""
        return np.ones(len(length))

    def doc_bias(self, length: Array, unique_length: Array) -> Array:
        """-ln(|d| + μ)."""
        return np.asarray(-np.log(length + self.mu))
