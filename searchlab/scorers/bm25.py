"""Which scorers weigh terms by their frequencies, and give nothing for an absent one? BM25, BM25F and TF-IDF."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from searchlab.errors import SettingError, unknown_name
from searchlab.records import TermStats
from searchlab.scorers.base import SMALLEST_SETTING, Number, Scorer, require
from searchlab.scorers.gains import DAMPING, SATURATION
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
class BM25(Scorer):
    """Okapi BM25 (Robertson et al., TREC-3).

    w = idf · tf·(k1 + 1) / (tf + k1·(1 - b + b·|d|/avgdl))

    idf = ln(1 + (N - df + ½)/(df + ½)) by default; `idf="robertson"` is the original ln((N - df + ½)/(df + ½)),
    with which frequent terms count against a document. Deviation: no k3, each repeat in a query counts once more.
    """

    k1: float = 1.2
    b: float = 0.75
    idf: str = "never-negative"

    shape = SATURATION

    def __post_init__(self) -> None:
        require(self, "k1", SMALLEST_SETTING)
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


@dataclass(frozen=True)
class BM25F(Scorer):
    """BM25 over weighted fields (Zaragoza et al., TREC-13): fields are added before tf saturates.

    w = idf · f·(k1 + 1) / (f + k1),   f = Σ over fields of weight · tf / (1 - b + b·|d|/avgdl)

    with tf, |d|, avgdl, weight and b of the field. idf is that of title and body as one text.
    `weigh` takes f in the place of tf; `pseudo_tf` computes it.
    """

    k1: float = 1.2
    title: float = 2.0
    body: float = 1.0
    title_b: float = 0.75
    body_b: float = 0.75

    shape = SATURATION
    streams: ClassVar[tuple[str, ...]] = ("title", "body")

    def __post_init__(self) -> None:
        require(self, "k1", SMALLEST_SETTING)
        for stream in self.streams:
            require(self, stream, 0)
            require(self, f"{stream}_b", 0, 1)
        if not self.title + self.body:
            raise SettingError("BM25F: title and body both weigh 0, expected one of them above 0")

    def pseudo_tf(self, stream: str, tf: Number, length: Number, mean_length: float) -> Number:
        """One field's part of f."""
        b = getattr(self, f"{stream}_b")
        return getattr(self, stream) * tf / length_norm(b, length, mean_length)

    def weigh(self, tf: Number, length: Number, term: TermStats, unique_length: Number = None) -> Number:
        """See the class."""
        return never_negative_idf(term) * tf * (self.k1 + 1) / (tf + self.k1)

    def term_weight(self, term: TermStats) -> float:
        """idf · (k1 + 1)."""
        return never_negative_idf(term) * (self.k1 + 1)

    def doc_norm(self, length: Array, unique_length: Array, mean_length: float) -> Array:
        """k1: lengths have had their say in f."""
        return np.full(len(length), float(self.k1))

    @property
    def gains_are_positive(self) -> bool:
        """A field of weight 0 gives its terms nothing."""
        return self.title > 0 and self.body > 0


@dataclass(frozen=True)
class TFIDF(Scorer):
    """TF-IDF with pivoted length normalisation (Singhal, Buckley, Mitra, SIGIR 1996; Singhal 2001).

    w = (1 + ln(1 + ln tf)) / (1 - s + s·|d|/avgdl) · ln((N + 1)/df),   0 for tf = 0
    """

    s: float = 0.2

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
