"""How well does a term speak for a document?

A scorer is a formula over numbers: how often the term occurs in the document (tf), how long the document
is, and what the collection knows of the term. The score of a document is the sum of `weigh` over the words
of the query, a repeated word counting each time; words that the collection does not have are left out.

`weigh` is the formula as printed. For speed each scorer also takes itself apart:

    weigh(tf, d, t) = background(t) + bias(d) + gain(tf, d, t)

where background and bias are what a document without the term gets (0 for BM25 and TF-IDF, the smoothed
log-probability for language models), and gain > 0 has one of three shapes that the kernels know, from a
number for each term and one for each document (see `shapes.gain`). A test holds the two views together.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from searchlab.errors import SettingError
from searchlab.records import QueryTerm, TermStats
from searchlab.scorers.gains import LOGARITHM
from searchlab.types import Array

Number = Any  # a float, or an array of them


class ScorableQuery(Protocol):
    """A query as scorers see it: its text, its terms, and its syntax tree (None for plain words)."""

    @property
    def text(self) -> str:
        """The query as written."""

    @property
    def terms(self) -> tuple[QueryTerm, ...]:
        """The terms that score."""

    @property
    def node(self) -> object | None:
        """The syntax tree. Without one, all terms are looked up in the stream that is searched."""


@dataclass(frozen=True)
class TermContribution:
    """What one term of the query adds to a document's score."""

    term: str
    query_count: float
    tf: float
    weight: float


@dataclass(frozen=True)
class Scorer(ABC):
    """What every scorer can do; the defaults suit scorers that give nothing for an absent term."""

    shape: ClassVar[int]

    @abstractmethod
    def weigh(self, tf: Number, length: Number, term: TermStats, unique_length: Number = None) -> Number:
        """The weight of one occurrence of the term in a query, for a document."""

    @abstractmethod
    def term_weight(self, term: TermStats) -> float:
        """The number that multiplies the gain."""

    def term_factor(self, term: TermStats) -> float:
        """The term's number within the gain."""
        return 1.0

    def background(self, term: TermStats) -> float:
        """What each document gets for the term, whether it has it or not."""
        return 0.0

    @abstractmethod
    def doc_norm(self, length: Array, unique_length: Array, mean_length: float) -> Array:
        """Each document's number within the gain."""

    def doc_bias(self, length: Array, unique_length: Array) -> Array | None:
        """What a document gets for each word of the query, whether it has it or not."""
        return None

    @property
    def shift(self) -> float:
        """Taken from tf before the gain is computed."""
        return 0.0

    @property
    def gains_are_positive(self) -> bool:
        """Whether a further matching term can only raise a score, which the kernels rely on."""
        return True


class LanguageModel(Scorer):
    """Query likelihood: the weight of a term is ln P(t|d), smoothed with P(t|C) = cf/|C|."""

    shape = LOGARITHM

    def term_weight(self, term: TermStats) -> float:
        """Gains are logarithms already."""
        return 1.0

    @staticmethod
    def prior(term: TermStats) -> float:
        """P(t|C)."""
        return term.term_count / term.n_tokens


# Beyond these no setting makes sense, and sums would overflow or vanish.
SMALLEST_SETTING, LARGEST_SETTING = 1e-9, 1e9


def require(scorer: Scorer, name: str, low: float, high: float = LARGEST_SETTING) -> None:
    """Refuse a setting that is not a number between two others."""
    value = getattr(scorer, name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise SettingError(
            f"{type(scorer).__name__}: {name.rstrip('_')} is {value!r}, expected a number from {low:g} to {high:g}"
        )
