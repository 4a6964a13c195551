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

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, TypeVar

import numpy as np

from searchlab.errors import SettingError, unknown_name
from searchlab.indexing.strings import Array
from searchlab.records import TermStats
from searchlab.retrieval.shapes import DAMPING, LOGARITHM, SATURATION

Number = Any  # a float, or an array of them


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


# Beyond these no setting makes sense, and sums would overflow or vanish.
SMALLEST_SETTING, LARGEST_SETTING = 1e-9, 1e9
# The weights of a mixture sum to 1, but for the digits that a user left out.
MIXTURE_ROUNDING = 1e-6
UNIGRAMS = ("document", "corpus")


def _require(scorer: Scorer, name: str, low: float, high: float = LARGEST_SETTING) -> None:
    value = getattr(scorer, name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise SettingError(
            f"{type(scorer).__name__}: {name.rstrip('_')} is {value!r}, expected a number from {low:g} to {high:g}"
        )


def never_negative_idf(term: TermStats) -> float:
    """ln(1 + (N - df + ½) / (df + ½)), above 0 for every df ≤ N."""
    return math.log1p((term.n_docs - term.doc_freq + 0.5) / (term.doc_freq + 0.5))


def robertson_idf(term: TermStats) -> float:
    """ln((N - df + ½) / (df + ½)), below 0 for terms in more than half of the documents."""
    return math.log((term.n_docs - term.doc_freq + 0.5) / (term.doc_freq + 0.5))


IDFS = {"never-negative": never_negative_idf, "robertson": robertson_idf}


def _length_norm(b: float, length: Number, mean_length: float) -> Number:
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
        _require(self, "k1", SMALLEST_SETTING)
        _require(self, "b", 0, 1)
        if self.idf not in IDFS:
            raise unknown_name("idf", self.idf, IDFS)

    def weigh(self, tf: Number, length: Number, term: TermStats, unique_length: Number = None) -> Number:
        """See the class."""
        norm = self.k1 * _length_norm(self.b, length, term.mean_length)
        return IDFS[self.idf](term) * tf * (self.k1 + 1) / (tf + norm)

    def term_weight(self, term: TermStats) -> float:
        """idf · (k1 + 1)."""
        return IDFS[self.idf](term) * (self.k1 + 1)

    def doc_norm(self, length: Array, unique_length: Array, mean_length: float) -> Array:
        """k1·(1 - b + b·|d|/avgdl)."""
        return np.asarray(self.k1 * _length_norm(self.b, length, mean_length))

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
        _require(self, "k1", SMALLEST_SETTING)
        for stream in self.streams:
            _require(self, stream, 0)
            _require(self, f"{stream}_b", 0, 1)
        if not self.title + self.body:
            raise SettingError("BM25F: title and body both weigh 0, expected one of them above 0")

    def pseudo_tf(self, stream: str, tf: Number, length: Number, mean_length: float) -> Number:
        """One field's part of f."""
        b = getattr(self, f"{stream}_b")
        return getattr(self, stream) * tf / _length_norm(b, length, mean_length)

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
        _require(self, "s", 0, 1)

    def weigh(self, tf: Number, length: Number, term: TermStats, unique_length: Number = None) -> Number:
        """See the class."""
        tf = np.asarray(tf, float)
        damped = np.where(tf > 0, 1 + np.log1p(np.log(np.maximum(tf, 1))), 0.0)
        return damped / _length_norm(self.s, length, term.mean_length) * self.term_weight(term)

    def term_weight(self, term: TermStats) -> float:
        """ln((N + 1)/df)."""
        return math.log((term.n_docs + 1) / term.doc_freq)

    def doc_norm(self, length: Array, unique_length: Array, mean_length: float) -> Array:
        """1 / (1 - s + s·|d|/avgdl)."""
        return np.asarray(1 / _length_norm(self.s, length, mean_length))


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
        _require(self, "mu", SMALLEST_SETTING)

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
        _require(self, "lambda_", SMALLEST_SETTING, 1)

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
        _require(self, "delta", SMALLEST_SETTING, 1)

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
        _require(self, "mu", SMALLEST_SETTING)
        _require(self, "lambda_", 0, 1)

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
            _require(self, name, SMALLEST_SETTING if name == "corpus" else 0, 1)
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


SCORERS: dict[str, type[Scorer]] = {
    "absolute": AbsoluteDiscount,
    "bm25": BM25,
    "bm25f": BM25F,
    "dirichlet": Dirichlet,
    "jm": JelinekMercer,
    "mixture": Mixture,
    "tfidf": TFIDF,
    "two-stage": TwoStage,
}


K = TypeVar("K")


def make_scorer(name: str, settings: Mapping[str, str] | None = None) -> Scorer:
    """A scorer by its name, with settings as a user writes them: `make_scorer("dirichlet", {"mu": "500"})`."""
    return make_of(SCORERS, name, settings)


def make_of(kinds: Mapping[str, type[K]], name: str, settings: Mapping[str, str] | None = None) -> K:
    """One of several kinds of scorers by its name, with settings as a user writes them."""
    if name not in kinds:
        raise unknown_name("scorer", name, kinds)
    kind = kinds[name]
    known = {field.name.rstrip("_"): field for field in fields(kind)}  # type: ignore[arg-type]
    values: dict[str, Any] = {}
    for key, text in (settings or {}).items():
        if key not in known:
            raise unknown_name(f"setting of {name}", key, known)
        field = known[key]
        if field.type in (str, "str"):
            values[field.name] = text
            continue
        try:
            values[field.name] = float(text)
        except ValueError:
            raise SettingError(f"{name}: {key} is {text!r}, expected a number") from None
    return kind(**values)
