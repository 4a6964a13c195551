"""Language model of several components: unigrams, bigrams, title and body, and character n-grams."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from searchlab.errors import SettingError
from searchlab.indexing.snapshot import Snapshot
from searchlab.indexing.storage.columns import NGRAMS
from searchlab.records import TermStats
from searchlab.scorers.base import MIN_SETTING, LanguageModel, Number, require
from searchlab.scorers.execution.index_reader import IndexReader
from searchlab.scorers.execution.mixture_components import COMPONENTS, TOPICS, UNIGRAMS
from searchlab.scorers.execution.mixture_scoring import BoundMixture
from searchlab.types import Array, Floats

if TYPE_CHECKING:
    from searchlab.scorers.trained_mixture import ShardDocumentWeights

# The weights of a mixture sum to 1, but for the digits that a user left out.
MIXTURE_ROUNDING = 1e-6


@dataclass(frozen=True)
class Mixture(LanguageModel):
    """Language model of several components (Miller, Leek, Schwartz, SIGIR 1999; Chen, ACM TALIP 2004).

    w = ln(Σ_k m_k·P_k(t|d)),   m_k ≥ 0, Σ m_k = 1

    document          tf/|d|                                   corpus          P(t|C)
    document_bigram   how often t follows the word before it   corpus_bigram   the same over the collection
                      in the query, / tf of that word
    title, body       tf/|d| in the title, in the body
    ngram_document    tf/|d| of an n-gram                      ngram_corpus    P(g|C) of an n-gram

    A query is a sequence of words and, at another level, of character n-grams. The components of a level are mixed with
    their shares of the level's weight s, and the levels are combined by the mean ln P of their units, of which the
    query has different numbers (Chen's fused word and syllable indexing):

    score = |q|·((1 - s)·mean_t ln Σ_k m_k/(1 - s)·P_k(t|d) + s·mean_g ln Σ_k m_k/s·P_k(g|d)),   |q| words

    Without a word before it (the first of the query, one after an unknown word, one that an expansion added), a
    word's bigram models are its unigram models. Title, body, bigrams and n-grams take part where plain words are
    searched in both streams (see `execution/mixture_scoring.py`). `weigh` is the formula of a word in a single stream,
    by unigrams alone, as queries with operators and fields use it: the weights of the document's models go to tf/|d|,
    those of the collection's models to P(t|C).
    """

    document: float = 0.5
    corpus: float = 0.5
    document_bigram: float = 0.0
    corpus_bigram: float = 0.0
    title: float = 0.0
    body: float = 0.0
    ngram_document: float = 0.0
    ngram_corpus: float = 0.0

    label = "mixture of language models"
    components: ClassVar[tuple[str, ...]] = tuple(name for name in COMPONENTS if name != TOPICS)

    def __post_init__(self) -> None:
        for name in self.components:
            # Without the collection's model, a document that lacks one of the words would be impossible.
            require(self, name, MIN_SETTING if name == "corpus" else 0, 1)
        total = sum(self.weights)
        if abs(total - 1) > MIXTURE_ROUNDING:
            raise SettingError(f"{type(self).__name__}: the weights sum to {total:.6g}, expected 1")
        if self.ngram_document and self.ngram_corpus < MIN_SETTING:
            raise SettingError(
                f"{type(self).__name__}: ngram_corpus is {self.ngram_corpus:g}, expected more than 0 beside "
                "ngram_document, for smoothing"
            )

    def check_stream(self, stream: str) -> None:
        """Bigrams, title, body and n-grams are read from the whole text."""
        if not self.is_unigram and stream != "both":
            raise SettingError(
                f"a mixture of more than unigrams reads all of a text: expected stream both, found {stream}"
            )

    def bind(self, reader: IndexReader, stream: str) -> BoundMixture:
        """The mixture over one index."""
        if self.ngram_share:
            reader.snapshot.require_stream(NGRAMS)
        return BoundMixture(self, reader, stream)

    @property
    def weights(self) -> tuple[float, ...]:
        """The weight of each component, in the order of `components`."""
        return tuple(getattr(self, name) for name in self.components)

    @cached_property
    def weight_vector(self) -> Floats:
        """The weights in the order of `COMPONENTS`, 0 for those that the mixture lacks."""
        return np.array([getattr(self, name, 0.0) for name in COMPONENTS])

    def document_weights_by_shard(self, snapshot: Snapshot) -> list[ShardDocumentWeights | None]:
        """For each shard, the weights of documents that have weights of their own; None where no document has."""
        return [None] * len(snapshot.shards)

    @property
    def is_unigram(self) -> bool:
        """Whether only the two unigram models have weights: `weigh` is then the whole formula."""
        return not any(
            weight for name, weight in zip(self.components, self.weights, strict=True) if name not in UNIGRAMS
        )

    @property
    def uses_bigrams(self) -> bool:
        """Whether it matters which word precedes another."""
        return self.document_bigram > 0 or self.corpus_bigram > 0

    @property
    def ngram_share(self) -> float:
        """The weight of the level of n-grams."""
        return self.ngram_document + self.ngram_corpus

    @property
    def corpus_share(self) -> float:
        """The weight of the collection's models."""
        return self.corpus + self.corpus_bigram + self.ngram_corpus

    @property
    def document_share(self) -> float:
        """The weight of the document's models."""
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
        """A word is in the document's text, but perhaps not in its title or not in its body; an n-gram is in both."""
        by_words = self.document > 0 or (self.title > 0 and self.body > 0)
        return by_words and (self.ngram_document > 0 or not self.ngram_share)
