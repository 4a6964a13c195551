"""BM25F: BM25 over weighted fields."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from searchlab.errors import SettingError
from searchlab.records import TermStats
from searchlab.scorers.base import SMALLEST_SETTING, Number, Scorer, require
from searchlab.scorers.bm25 import length_norm, never_negative_idf
from searchlab.scorers.gains import SATURATION
from searchlab.types import Array


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
