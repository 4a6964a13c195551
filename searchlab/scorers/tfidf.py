"""TF-IDF with pivoted length normalisation."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from searchlab.records import TermStats
from searchlab.scorers.base import Number, PostingScorer, require
from searchlab.scorers.bm25 import length_norm
from searchlab.scorers.gains import DAMPING
from searchlab.types import Array


@dataclass(frozen=True)
class TFIDF(PostingScorer):
    """TF-IDF with pivoted length normalisation (Singhal, Buckley, Mitra, SIGIR 1996; Singhal 2001).

    w = (1 + ln(1 + ln tf)) / (1 - s + s·|d|/avgdl) · ln((N + 1)/df),   0 for tf = 0
    """

    s: float = 0.2

    label = "tf·idf"
    shape = DAMPING

    def __post_init__(self) -> None:
        require(self, "s", 0, 1)

    def weigh(self, tf: Number, length: Number, term: TermStats, unique_length: Number = None) -> Number:
        """See the class."""
        tf = np.asarray(tf, float)
        damped = np.where(tf > 0, 1 + np.log1p(np.log(np.maximum(tf, 1))), 0.0)
        return damped / length_norm(self.s, length, term.mean_length) * self.term_weight(term)

    def term_weight(self, term: TermStats) -> float:
        """ln((N + 1)/df)."""
        return math.log((term.n_docs + 1) / term.doc_freq)

    def doc_norm(self, length: Array, unique_length: Array, mean_length: float) -> Array:
        """1 / (1 - s + s·|d|/avgdl)."""
        return np.asarray(1 / length_norm(self.s, length, mean_length))
