"""Language model of several components: unigrams, bigrams, title and body."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from searchlab.errors import SettingError
from searchlab.records import TermStats
from searchlab.scorers.base import SMALLEST_SETTING, LanguageModel, Number, require
from searchlab.types import Array

# The weights of a mixture sum to 1, but for the digits that a user left out.
MIXTURE_ROUNDING = 1e-6
UNIGRAMS = ("document", "corpus")


@dataclass(frozen=True)
class Mixture(LanguageModel):
    """Language model of several components (Miller, Leek, Schwartz, SIGIR 1999; Chen, ACM TALIP 2004).

    w = ln(Σ_k m_k·P_k(t|d)),   m_k ≥ 0, Σ m_k = 1

    document          tf/|d|                                   corpus          P(t|C)
    document_bigram   how often t follows the word before it   corpus_bigram   the same over the collection
                      in the query, / tf of that word
    title, body       tf/|d| in the title, in the body

    Without a word before it (the first of the query, one after an unknown word, one that was added by an expansion), a
    word's bigram models are its unigram models. Title, body and bigrams take part where plain words are searched in
    both texts (see `mixing`). `weigh` is the formula of a word in a single text, by unigrams alone, as queries with
    operators and fields use it: what the models of the document weigh goes to tf/|d|, what those of the collection
    weigh to P(t|C).
    """

    document: float = 0.5
    corpus: float = 0.5
    document_bigram: float = 0.0
    corpus_bigram: float = 0.0
    title: float = 0.0
    body: float = 0.0

    components: ClassVar[tuple[str, ...]] = ("document", "corpus", "document_bigram", "corpus_bigram", "title", "body")

    def __post_init__(self) -> None:
        for name in self.components:
            # Without the collection's model, a document without one of the words would be impossible.
            require(self, name, SMALLEST_SETTING if name == "corpus" else 0, 1)
        total = sum(self.weights)
        if abs(total - 1) > MIXTURE_ROUNDING:
            raise SettingError(f"{type(self).__name__}: the weights sum to {total:.6g}, expected 1")

    @property
    def weights(self) -> tuple[float, ...]:
        """The weight of each component, in their order."""
        return tuple(getattr(self, name) for name in self.components)

    @property
    def is_plain(self) -> bool:
        """Whether the two unigrams alone have weights: `weigh` is then all there is."""
        return not any(
            weight for name, weight in zip(self.components, self.weights, strict=True) if name not in UNIGRAMS
        )

    @property
    def corpus_share(self) -> float:
        """What the models of the collection weigh."""
        return self.corpus + self.corpus_bigram

    @property
    def document_share(self) -> float:
        """What the models of the document weigh."""
        return sum(self.weights) - self.corpus_share

    def weigh(self, tf: Number, length: Number, term: TermStats, unique_length: Number = None) -> Number:
        """See the class."""
        return np.log(self.document_share * tf / np.maximum(length, 1) + self.corpus_share * self.prior(term))

    def term_factor(self, term: TermStats) -> float:
        """m_document / (m_corpus·P(t|C))."""
        return self.document_share / (self.corpus_share * self.prior(term))

    def background(self, term: TermStats) -> float:
        """ln(m_corpus·P(t|C))."""
        return math.log(self.corpus_share * self.prior(term))

    def doc_norm(self, length: Array, unique_length: Array, mean_length: float) -> Array:
        """1 / |d|."""
        return np.asarray(1 / np.maximum(length, 1))

    @property
    def gains_are_positive(self) -> bool:
        """A word is in the document's text, but perhaps not in its title or not in its body."""
        return self.document > 0 or (self.title > 0 and self.body > 0)
