"""Which scorers ask how likely a document makes the query? Smoothed language models, and mixtures of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from searchlab.errors import SettingError
from searchlab.records import TermStats
from searchlab.scorers.base import SMALLEST_SETTING, Number, Scorer, require
from searchlab.scorers.gains import LOGARITHM
from searchlab.types import Array

# The weights of a mixture sum to 1, but for the digits that a user left out.
MIXTURE_ROUNDING = 1e-6
UNIGRAMS = ("document", "corpus")


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


@dataclass(frozen=True)
class Dirichlet(LanguageModel):
    """Language model with Dirichlet smoothing (Zhai, Lafferty, SIGIR 2001).

    w = ln((tf + μ·P(t|C)) / (|d| + μ))
    """

    mu: float = 1000.0

    def __post_init__(self) -> None:
        require(self, "mu", SMALLEST_SETTING)

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


@dataclass(frozen=True)
class JelinekMercer(LanguageModel):
    """Language model with Jelinek–Mercer smoothing (Zhai, Lafferty, SIGIR 2001).

    w = ln((1 - λ)·tf/|d| + λ·P(t|C))
    """

    lambda_: float = 0.5

    def __post_init__(self) -> None:
        require(self, "lambda_", SMALLEST_SETTING, 1)

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
        """With λ = 1 only the collection speaks, and all gains are 0."""
        return self.lambda_ < 1


@dataclass(frozen=True)
class AbsoluteDiscount(LanguageModel):
    """Language model with absolute discounting (Ney, Essen, Kneser; Zhai, Lafferty, SIGIR 2001).

    w = ln(max(tf - δ, 0)/|d| + δ·u/|d|·P(t|C)),   u the number of distinct terms of the document
    """

    delta: float = 0.7

    def __post_init__(self) -> None:
        require(self, "delta", SMALLEST_SETTING, 1)

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


@dataclass(frozen=True)
class TwoStage(LanguageModel):
    """Language model with two-stage smoothing (Zhai, Lafferty, SIGIR 2002).

    w = ln((1 - λ)·(tf + μ·P(t|C))/(|d| + μ) + λ·P(t|C))

    Deviation: the model of the user's background is taken to be the collection's.
    """

    mu: float = 1000.0
    lambda_: float = 0.1

    def __post_init__(self) -> None:
        require(self, "mu", SMALLEST_SETTING)
        require(self, "lambda_", 0, 1)

    def weigh(self, tf: Number, length: Number, term: TermStats, unique_length: Number = None) -> Number:
        """See the class."""
        p, lam = self.prior(term), self.lambda_
        return np.log((1 - lam) * (tf + self.mu * p) / (length + self.mu) + lam * p)

    def term_factor(self, term: TermStats) -> float:
        """(1 - λ) / P(t|C)."""
        return (1 - self.lambda_) / self.prior(term)

    def background(self, term: TermStats) -> float:
        """ln P(t|C)."""
        return math.log(self.prior(term))

    def _smoothing(self, length: Array) -> Array:
        """(1 - λ)·μ + λ·(|d| + μ): what an absent term has of P(t|C), times |d| + μ."""
        return (1 - self.lambda_) * self.mu + self.lambda_ * (length + self.mu)

    def doc_norm(self, length: Array, unique_length: Array, mean_length: float) -> Array:
        """1 / ((1 - λ)·μ + λ·(|d| + μ))."""
        return 1 / self._smoothing(length)

    def doc_bias(self, length: Array, unique_length: Array) -> Array:
        """ln(((1 - λ)·μ + λ·(|d| + μ)) / (|d| + μ))."""
        return np.asarray(np.log(self._smoothing(length) / (length + self.mu)))

    @property
    def gains_are_positive(self) -> bool:
        """With λ = 1 only the collection speaks."""
        return self.lambda_ < 1


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
