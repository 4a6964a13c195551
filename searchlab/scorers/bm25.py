"""Okapi BM25, and the idf and length normalisation that it shares with BM25F and TF-IDF."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from searchlab.errors import unknown_name
from searchlab.records import TermStats
from searchlab.scorers.base import MIN_SETTING, Number, PostingScorer, require
from searchlab.scorers.gains import SATURATION
from searchlab.types import Array


def never_negative_idf(term: TermStats) -> float:
    """ln(1 + (N - df + ½) / (df + ½)), above 0 for every df ≤ N."""
    return math.log1p((term.n_docs - term.doc_freq + 0.5) / (term.doc_freq + 0.5))


def robertson_idf(term: TermStats) -> float:
    """ln((N - df + ½) / (df + ½)), below 0 for terms in more than half of the documents."""
    return math.log((term.n_docs - term.doc_freq + 0.5) / (term.doc_freq + 0.5))


IDFS = {"never-negative": never_negative_idf, "robertson": robertson_idf}


def length_norm(b: float, length: Number, mean_length: float) -> Number:
    """1 - b + b·|d|/avgdl. An empty document counts as one of length 1: it matches nothing, but b = 1 would give 0."""
    return 1 - b + b * np.maximum(length, 1) / mean_length


@dataclass(frozen=True)
class BM25(PostingScorer):
    """Okapi BM25 (Robertson et al., TREC-3).

    w = idf · tf·(k1 + 1) / (tf + k1·(1 - b + b·|d|/avgdl))

    idf = ln(1 + (N - df + ½)/(df + ½)) by default; `idf="robertson"` is the original ln((N - df + ½)/(df + ½)),
    with which frequent terms count against a document. Deviation: no k3, each repeat in a query counts once more.
    """

    k1: float = 1.2
    b: float = 0.75
    idf: str = "never-negative"

    label = "BM25"
    shape = SATURATION

    def __post_init__(self) -> None:
        require(self, "k1", MIN_SETTING)
        require(self, "b", 0, 1)
        if self.idf not in IDFS:
            raise unknown_name("idf", self.idf, IDFS)

    def weigh(self, tf: Number, length: Number, term: TermStats, unique_length: Number = None) -> Number:
        """See the class."""
        norm = self.k1 * length_norm(self.b, length, term.mean_length)
        return IDFS[self.idf](term) * tf * (self.k1 + 1) / (tf + norm)

    def term_weight(self, term: TermStats) -> float:
        """idf · (k1 + 1)."""
        return IDFS[self.idf](term) * (self.k1 + 1)

    def doc_norm(self, length: Array, unique_length: Array, mean_length: float) -> Array:
        """k1·(1 - b + b·|d|/avgdl)."""
        return np.asarray(self.k1 * length_norm(self.b, length, mean_length))

    @property
    def gains_are_positive(self) -> bool:
        """Robertson's idf can be negative."""
        return self.idf == "never-negative"
