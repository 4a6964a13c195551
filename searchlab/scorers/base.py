"""What all scorers have in common.

A scorer is a value: a frozen dataclass of its settings, which gives each document a score for a query. Bound to an
index it does everything the search engine needs (see `execution/bound_scorer.py`), so a new family of scorers is a
class here and a line in the registry.

Most scorers are `PostingScorer`s: a formula over the frequency of a term in the document (tf), the length of the
document, and the statistics of the term. The score of a document is the sum of `weigh` over the words of the query, a
repeated word counting each time; words that no document has are left out.

`weigh` is the formula as printed. For speed it is also taken apart:

    weigh(tf, d, t) = background(t) + bias(d) + gain(tf, d, t)

where background and bias are what a document without the term gets (0 for BM25 and TF-IDF, the smoothed
log-probability for language models), and gain > 0 has one of the three shapes that the kernels know, from a number for
each term and one for each document (see `gains.make_gain`). The contract tests hold the two views together.

A `FormulaScorer` has `weigh` alone, which is then computed by NumPy for every document that has a word of the query.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from searchlab.errors import SettingError
from searchlab.records import TermStats
from searchlab.scorers.execution.bound_scorer import BoundScorer
from searchlab.scorers.execution.formula_scoring import BoundFormulaScorer
from searchlab.scorers.execution.index_reader import IndexReader
from searchlab.scorers.execution.posting_scoring import BoundPostingScorer
from searchlab.scorers.gains import LOGARITHM
from searchlab.types import Array

Number = Any  # a float, or an array of them

# Beyond these no setting makes sense, and sums would overflow or vanish.
MIN_SETTING, MAX_SETTING = 1e-9, 1e9


class Scorer(ABC):
    """What the engine asks of a scorer. Subclasses are frozen dataclasses: equal if their settings are."""

    # The name for people, such as "Jelinek–Mercer".
    label: ClassVar[str]
    # Whether the index must have a topic model before documents can be scored.
    needs_topic_model: ClassVar[bool] = False

    def check_stream(self, stream: str) -> None:
        """Raise SettingError if plain words cannot be searched in this stream alone."""
        return

    def pinned(self, reader: IndexReader) -> Scorer:
        """The scorer as other processes need it, so that what it reads of the index is the same as here."""
        return self

    @abstractmethod
    def bind(self, reader: IndexReader, stream: str) -> BoundScorer:
        """The scorer over one index; the words of a plain query are looked up in `stream`."""


class PostingScorer(Scorer):
    """A scorer by a formula over tf; the defaults suit scorers that give nothing for an absent term."""

    # Of the gain: SATURATION, LOGARITHM or DAMPING.
    shape: ClassVar[int]

    def bind(self, reader: IndexReader, stream: str) -> BoundPostingScorer:
        """The scorer over one index; the words of a plain query are looked up in `stream`."""
        return BoundPostingScorer(self, reader, stream)

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
        """Subtracted from tf before the gain is computed."""
        return 0.0

    @property
    def gains_are_positive(self) -> bool:
        """Whether a further matching term can only raise a score: the pruning kernel relies on it."""
        return True


class FormulaScorer(Scorer):
    """A scorer by a formula over tf that is not taken apart: exact, and slower than a `PostingScorer`."""

    def bind(self, reader: IndexReader, stream: str) -> BoundFormulaScorer:
        """The scorer over one index; the words of a plain query are looked up in `stream`."""
        return BoundFormulaScorer(self, reader, stream)

    @abstractmethod
    def weigh(self, tf: Number, length: Number, term: TermStats, unique_length: Number) -> Number:
        """The weight of one occurrence of the term in a query, for documents; one without the term has a tf of 0.

        A document has `length` words, `unique_length` of them distinct. All are arrays; so is the result.
        """


class LanguageModel(PostingScorer):
    """Query likelihood: the weight of a term is ln P(t|d), smoothed with P(t|C) = cf/|C|."""

    shape = LOGARITHM

    def term_weight(self, term: TermStats) -> float:
        """1: gains are logarithms already."""
        return 1.0

    @staticmethod
    def prior(term: TermStats) -> float:
        """P(t|C)."""
        return term.term_count / term.n_tokens


def require(scorer: Scorer, name: str, low: float, high: float = MAX_SETTING) -> None:
    """Raise SettingError unless a setting is a number in this range."""
    value = getattr(scorer, name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise SettingError(
            f"{type(scorer).__name__}: {name.rstrip('_')} is {value!r}, expected a number from {low:g} to {high:g}"
        )
