"""What can a trained mixture have that no setting says?

A topic model as one more component, and weights of their own for documents that had training queries. Both are read
from files; see `searchlab.mixtures.weights`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from searchlab.errors import SettingError
from searchlab.indexing.snapshot import Snapshot
from searchlab.scorers.base import SMALLEST_SETTING
from searchlab.scorers.mixture import MIXTURE_ROUNDING, UNIGRAMS, Mixture
from searchlab.types import Array

TOPICS = "topics"
# All components there are, in the order of their weights.
COMPONENTS = (*Mixture.components, TOPICS)
_CORPUS = np.array([name in ("corpus", "corpus_bigram") for name in COMPONENTS])


class TopicModel(Protocol):
    """What is asked of a topic model: P(t|T_k) of terms, 0 for unknown ones, and P(T_k|d) of documents."""

    @property
    def n_topics(self) -> int:
        """K."""

    def term_given_topic(self, terms: Sequence[str]) -> npt.NDArray[np.float64]:
        """A row for each term."""

    def topics_given_document(self, shards: Array, docs: Array) -> npt.NDArray[np.float64]:
        """A row for each document, given by shard and number."""


@dataclass(frozen=True, eq=False)
class OwnWeights:
    """Weights of single documents: a row for each docno, in the order of `COMPONENTS`."""

    docnos: tuple[str, ...]
    weights: npt.NDArray[np.float64]

    def __post_init__(self) -> None:
        if self.weights.shape != (len(self.docnos), len(COMPONENTS)):
            raise SettingError(
                f"weights of documents: {self.weights.shape} numbers, expected {(len(self.docnos), len(COMPONENTS))}"
            )
        wrong = ~np.isfinite(self.weights) | (self.weights < 0)
        wrong[:, COMPONENTS.index("corpus")] |= self.weights[:, COMPONENTS.index("corpus")] < SMALLEST_SETTING
        off = wrong.any(axis=1) | (np.abs(self.weights.sum(axis=1) - 1) > MIXTURE_ROUNDING)
        if off.any():
            row = int(np.argmax(off))
            listed = ", ".join(f"{weight:g}" for weight in self.weights[row])
            raise SettingError(
                f"weights of document {self.docnos[row]}: {listed}, expected numbers from 0 that sum to 1"
            )

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {docno: row for row, docno in enumerate(self.docnos)}

    def of(self, docno: str) -> npt.NDArray[np.float64] | None:
        """The weights of a document, if it has its own."""
        row = self._rows.get(docno)
        return None if row is None else self.weights[row]

    def place(self, snapshot: Snapshot) -> list[OwnRows | None]:
        """The weights of each shard's documents; documents that the index does not hold are passed over."""
        placed: list[OwnRows | None] = []
        for shard in snapshot.shards:
            numbers = np.array([shard.columns.docnos.find(docno) for docno in self.docnos], np.int64)
            rows = np.flatnonzero(numbers >= 0)
            rows = rows[np.argsort(numbers[rows])]
            placed.append(OwnRows(numbers[rows], self.weights[rows]) if len(rows) else None)
        return placed


@dataclass(frozen=True, eq=False)
class OwnRows:
    """Documents of one shard, ascending, and the weights that each has."""

    docs: Array
    weights: npt.NDArray[np.float64]

    def of(self, docs: Array, shared: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """A row for each of some documents: its own weights, or the shared ones."""
        weights = np.tile(shared, (len(docs), 1))
        at = np.minimum(np.searchsorted(self.docs, docs), len(self.docs) - 1)
        has_own = self.docs[at] == docs
        weights[has_own] = self.weights[at[has_own]]
        return weights

    @cached_property
    def corpus_shares(self) -> npt.NDArray[np.float64]:
        """What the models of the collection weigh in each document's mixture."""
        return np.asarray(self.weights[:, _CORPUS].sum(axis=1))

    @cached_property
    def ratios(self) -> npt.NDArray[np.float64]:
        """What the models of the document weigh, as a multiple of that."""
        return np.asarray(self.weights[:, ~_CORPUS].sum(axis=1) / self.corpus_shares)

    def adjust(self, scorer: TrainedMixture, norms: Array) -> tuple[Array, Array]:
        """Norms and biases by which documents with their own weights score as `Mixture.weigh` says for these.

        ln(a·tf/|d| + c·P) = ln(m_corpus·P) + ln(c/m_corpus) + ln(1 + tf·m_document/(m_corpus·P)·norm), if norm is
        1/|d| times (a/c) / (m_document/m_corpus).
        """
        norms, biases = norms.copy(), np.zeros(len(norms))
        norms[self.docs] *= self.ratios * scorer.corpus_share / scorer.document_share
        biases[self.docs] = np.log(self.corpus_shares / scorer.corpus_share)
        return norms, biases


@dataclass(frozen=True)
class TrainedMixture(Mixture):
    """A mixture with one component more, and with weights of their own for some documents.

    topics   P(t|d) = Σ_k P(t|T_k)·P(T_k|d) of `topic_model`

    A document that `own` names is mixed by its own weights, every other one by the shared ones (Chen, slide 2:
    "documents thus can have different weights").
    """

    topics: float = 0.0
    topic_model: TopicModel | None = field(default=None, metadata={"is_setting": False})
    own: OwnWeights | None = field(default=None, metadata={"is_setting": False})

    components: ClassVar[tuple[str, ...]] = COMPONENTS

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.uses_topics and self.topic_model is None:
            raise SettingError("TrainedMixture: topics have a weight, expected a topic model")
        if self.own is not None and not self.document_share:
            raise SettingError("TrainedMixture: the shared weights leave nothing to the models of documents")

    def of_document(self, docno: str) -> TrainedMixture:
        """The mixture of one document, without those of others."""
        weights = None if self.own is None else self.own.of(docno)
        if weights is None:
            return replace(self, own=None)
        return TrainedMixture(**dict(zip(COMPONENTS, weights.tolist(), strict=True)), topic_model=self.topic_model)

    @property
    def uses_topics(self) -> bool:
        """Whether the topic model has a weight, in any document."""
        in_own = self.own is not None and bool((self.own.weights[:, COMPONENTS.index(TOPICS)] > 0).any())
        return self.topics > 0 or in_own

    @property
    def is_plain(self) -> bool:
        """Whether the two unigrams alone have weights, in every document."""
        in_own = self.own is not None and bool((self.own.weights[:, len(UNIGRAMS) :] > 0).any())
        return super().is_plain and not in_own

    @property
    def gains_are_positive(self) -> bool:
        """Of every document."""
        if self.own is None:
            return super().gains_are_positive
        named = dict(zip(COMPONENTS, self.own.weights.T, strict=True))
        lifts = (named["document"] > 0) | ((named["title"] > 0) & (named["body"] > 0))
        return super().gains_are_positive and bool(lifts.all())
