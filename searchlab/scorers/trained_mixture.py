"""Trained mixture: a mixture with a topic model as one more component, and with weights of single documents.

Both are read from files, not given as settings; see `searchlab.mixtures.weights`.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from searchlab.errors import SettingError
from searchlab.indexing.snapshot import Snapshot
from searchlab.indexing.storage.columns import NGRAMS
from searchlab.scorers.base import MIN_SETTING
from searchlab.scorers.execution.bound_scorer import ScorableQuery
from searchlab.scorers.execution.index_reader import IndexReader
from searchlab.scorers.execution.mixture_components import (
    COMPONENTS,
    NGRAM_COMPONENTS,
    TOPICS,
    UNIGRAMS,
    MixtureComponents,
    TopicProbabilities,
)
from searchlab.scorers.execution.mixture_scoring import BoundMixture, MixtureQueryScorer, TopicMixtureQueryScorer
from searchlab.scorers.mixture import MIXTURE_ROUNDING, Mixture
from searchlab.types import Array, Floats

_IS_CORPUS = np.array([name in ("corpus", "corpus_bigram", "ngram_corpus") for name in COMPONENTS])
_NGRAMS = [COMPONENTS.index(name) for name in NGRAM_COMPONENTS]
_BIGRAMS = [COMPONENTS.index(name) for name in ("document_bigram", "corpus_bigram")]


@dataclass(frozen=True, eq=False)
class DocumentWeights:
    """Weights of single documents: a row for each docno, in the order of `COMPONENTS`."""

    docnos: tuple[str, ...]
    weights: Floats

    def __post_init__(self) -> None:
        if self.weights.shape != (len(self.docnos), len(COMPONENTS)):
            raise SettingError(
                f"weights of documents: {self.weights.shape} numbers, expected {(len(self.docnos), len(COMPONENTS))}"
            )
        wrong = ~np.isfinite(self.weights) | (self.weights < 0)
        wrong[:, COMPONENTS.index("corpus")] |= self.weights[:, COMPONENTS.index("corpus")] < MIN_SETTING
        wrong_rows = wrong.any(axis=1) | (np.abs(self.weights.sum(axis=1) - 1) > MIXTURE_ROUNDING)
        if wrong_rows.any():
            row = int(np.argmax(wrong_rows))
            listed = ", ".join(f"{weight:g}" for weight in self.weights[row])
            raise SettingError(
                f"weights of document {self.docnos[row]}: {listed}, expected numbers from 0 that sum to 1"
            )

    @cached_property
    def _digest(self) -> str:
        """A hash of docnos and weights, by which equal ones are recognised in other processes."""
        return hashlib.sha256("\n".join(self.docnos).encode() + b"\0" + self.weights.tobytes()).hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DocumentWeights) and self._digest == other._digest

    def __hash__(self) -> int:
        return hash(self._digest)

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {docno: row for row, docno in enumerate(self.docnos)}

    def of(self, docno: str) -> Floats | None:
        """The weights of a document, None if it has none of its own."""
        row = self._rows.get(docno)
        return None if row is None else self.weights[row]

    def uses(self, *components: int) -> bool:
        """Whether any of these components has a weight in any document."""
        return bool((self.weights[:, components] > 0).any())

    def by_shard(self, snapshot: Snapshot) -> list[ShardDocumentWeights | None]:
        """The weights of each shard's documents; documents that the index does not hold are left out."""
        by_shard: list[ShardDocumentWeights | None] = []
        for shard in snapshot.shards:
            docs = np.array([shard.columns.docnos.find(docno) for docno in self.docnos], np.int64)
            rows = np.flatnonzero(docs >= 0)
            rows = rows[np.argsort(docs[rows])]
            by_shard.append(ShardDocumentWeights(docs[rows], self.weights[rows]) if len(rows) else None)
        return by_shard


@dataclass(frozen=True, eq=False)
class ShardDocumentWeights:
    """Documents of one shard, ascending, and the weights of each."""

    docs: Array
    weights: Floats

    def of(self, docs: Array, shared: Floats) -> Floats:
        """A row for each of some documents: its own weights, or the shared ones."""
        weights = np.tile(shared, (len(docs), 1))
        at = np.minimum(np.searchsorted(self.docs, docs), len(self.docs) - 1)
        has_own = self.docs[at] == docs
        weights[has_own] = self.weights[at[has_own]]
        return weights

    def adjust(self, scorer: Mixture, norms: Array) -> tuple[Array, Array]:
        """Norms and biases by which these documents score as `Mixture.weigh` gives for their weights.

        With a and c the weights of the document's and the collection's models in such a document,

            ln(a·tf/|d| + c·P) = ln(m_corpus·P) + ln(c/m_corpus) + ln(1 + tf·m_document/(m_corpus·P)·norm)

        if norm is 1/|d| times (a/c) / (m_document/m_corpus).
        """
        corpus_shares = np.asarray(self.weights[:, _IS_CORPUS].sum(axis=1))
        ratios = np.asarray(self.weights[:, ~_IS_CORPUS].sum(axis=1) / corpus_shares)
        norms, biases = norms.copy(), np.zeros(len(norms))
        norms[self.docs] *= ratios * scorer.corpus_share / scorer.document_share
        biases[self.docs] = np.log(corpus_shares / scorer.corpus_share)
        return norms, biases


@dataclass(frozen=True)
class TrainedMixture(Mixture):
    """A mixture with one component more, and with weights of single documents.

    topics   P(t|d) = Σ_k P(t|T_k)·P(T_k|d) of `topic_model`

    A document that `document_weights` names is mixed by its own weights, every other one by the shared ones (Chen,
    slide 2: "documents thus can have different weights").
    """

    topics: float = 0.0
    topic_model: TopicProbabilities | None = field(default=None, metadata={"is_setting": False})
    document_weights: DocumentWeights | None = field(default=None, metadata={"is_setting": False})

    components: ClassVar[tuple[str, ...]] = COMPONENTS

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.uses_topic_model and self.topic_model is None:
            raise SettingError("TrainedMixture: topics have a weight, expected a topic model")
        if self.document_weights is not None and not self.document_share:
            raise SettingError("TrainedMixture: the shared weights leave nothing to the models of documents")
        if self.document_weights is not None and (self.ngram_share or self._in_any_document(*_NGRAMS)):
            raise SettingError("TrainedMixture: weights of documents are those of words, found weights of n-grams")

    def bind(self, reader: IndexReader, stream: str) -> BoundTrainedMixture:
        """The mixture over one index."""
        if self.ngram_share:
            reader.snapshot.require_stream(NGRAMS)
        return BoundTrainedMixture(self, reader, stream)

    def of_document(self, docno: str) -> TrainedMixture:
        """The mixture of one document, without those of others."""
        weights = None if self.document_weights is None else self.document_weights.of(docno)
        if weights is None:
            return replace(self, document_weights=None)
        return TrainedMixture(**dict(zip(COMPONENTS, weights.tolist(), strict=True)), topic_model=self.topic_model)

    def document_weights_by_shard(self, snapshot: Snapshot) -> list[ShardDocumentWeights | None]:
        """For each shard, the weights of documents that have weights of their own; None where no document has."""
        own = self.document_weights
        return super().document_weights_by_shard(snapshot) if own is None else own.by_shard(snapshot)

    def _in_any_document(self, *components: int) -> bool:
        return self.document_weights is not None and self.document_weights.uses(*components)

    @property
    def uses_topic_model(self) -> bool:
        """Whether the topic model has a weight, in any document."""
        return self.topics > 0 or self._in_any_document(COMPONENTS.index(TOPICS))

    @property
    def uses_bigrams(self) -> bool:
        """Whether it matters, in any document, which word precedes another."""
        return super().uses_bigrams or self._in_any_document(*_BIGRAMS)

    @property
    def is_unigram(self) -> bool:
        """Whether only the two unigram models have weights, in every document."""
        return super().is_unigram and not self._in_any_document(*range(len(UNIGRAMS), len(COMPONENTS)))

    @property
    def gains_are_positive(self) -> bool:
        """In every document."""
        if self.document_weights is None:
            return super().gains_are_positive
        named = dict(zip(COMPONENTS, self.document_weights.weights.T, strict=True))
        positive = (named["document"] > 0) | ((named["title"] > 0) & (named["body"] > 0))
        return super().gains_are_positive and bool(positive.all())


class BoundTrainedMixture(BoundMixture):
    """A trained mixture over one index."""

    def __init__(self, scorer: TrainedMixture, reader: IndexReader, stream: str) -> None:
        super().__init__(scorer, reader, stream)
        self.scorer: TrainedMixture = scorer
        self._topic_model = scorer.topic_model if scorer.uses_topic_model else None

    def prepare_mixture(self, query: ScorableQuery) -> MixtureQueryScorer:
        """A query of plain words, ready to be scored by all components."""
        if self._topic_model is None:
            return super().prepare_mixture(query)
        return TopicMixtureQueryScorer(self, query, self._topic_model)

    def norms_and_biases(self, shard_index: int) -> tuple[Array, Array | None]:
        """Norms and biases that give documents the scores of their own weights."""
        norms, biases = super().norms_and_biases(shard_index)
        own = self.reader.shared(MixtureComponents).document_weights(self.scorer)[shard_index]
        return (norms, biases) if own is None else own.adjust(self.scorer, norms)

    def formula_of(self, shard_index: int, doc: int) -> TrainedMixture:
        """The mixture of the document."""
        return self.scorer.of_document(self.reader.snapshot.shards[shard_index].columns.docnos[doc])
