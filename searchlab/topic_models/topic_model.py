"""A topic model of an index: P(w|T) of its terms and P(T|D) of its documents.

A training document keeps its latent topics in whatever shard it is, as long as its text does not change. Documents
added later are folded in. That needs no training, but words that only they contain stay unknown, so the model becomes
stale.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from searchlab.errors import IndexCorrupt, IndexOutdated, SettingError
from searchlab.indexing.snapshot import Snapshot
from searchlab.indexing.storage.arrays.column import Column
from searchlab.indexing.storage.shard import Shard
from searchlab.indexing.vector_artefact import VectorArtefact
from searchlab.indexing.vocabulary import digests_of
from searchlab.topic_models.plsa import fold_in
from searchlab.topic_models.topic_model_files import TopicModelRecord
from searchlab.topic_models.word_topics import mix_words
from searchlab.types import Array

if TYPE_CHECKING:
    from scipy.sparse import csr_array  # type: ignore[import-untyped]

# P(w|T) is kept in four bytes: what it differs from P(w|C) by less than this is chance.
ROUNDING = 1e-6


class TopicModel(VectorArtefact[TopicModelRecord]):
    """The topics of one snapshot's documents and terms."""

    def __init__(self, snapshot: Snapshot, home: Path, record: TopicModelRecord, *, verify: bool = False) -> None:
        super().__init__(snapshot, home, record, verify=verify)
        # The model that this one was made of, and what is different in it.
        self._changes: tuple[TopicModel, Mapping[tuple[int, int], Array]] | None = None
        if not self._vectors.stored and snapshot.n_docs and record.n_docs and self.staleness == 1:
            raise IndexOutdated(f"{home}: made from other documents than the index has; {record.remedy(home)}")

    @classmethod
    def record_type(cls) -> type[TopicModelRecord]:
        """The class of the record."""
        return TopicModelRecord

    def _load(self, arrays: Mapping[str, Column]) -> bool:
        K, n_terms = self.record.n_topics, self.record.n_terms
        self._of_terms, self._background, self.shares = (
            arrays[name].whole for name in ("of_terms", "background", "shares")
        )
        # P(T|D) of the documents with these digests, where it was learnt; P(T|w), where words have topics.
        self._of_docs, self._of_words = (
            arrays[name].whole if name in arrays else None for name in ("of_docs", "of_words")
        )
        fits = self._of_terms.shape == (n_terms, K) and self.shares.shape == (K,)
        fits &= len(self._vocabulary) == len(self._background) == n_terms
        fits &= self._of_docs is None or self._of_docs.shape == (len(self._digests), K)
        fits &= self._of_words is None or self._of_words.shape == (n_terms, K)
        fits &= self.record.method != "wtm" or self._of_words is not None
        return fits

    def __repr__(self) -> str:
        return f"<TopicModel {self.home}: {self.n_topics} latent topics, made {self.record.made}>"

    @property
    def n_topics(self) -> int:
        """K."""
        return self.record.n_topics

    @property
    def n_columns(self) -> int:
        """The length of a document's vector: K."""
        return self.record.n_topics

    @property
    def method(self) -> str:
        """How the latent topics were learnt: plsa or wtm."""
        return self.record.method

    @property
    def fingerprint(self) -> str:
        """An identifier of what was learnt; see `TopicModelRecord.fingerprint`."""
        return self.record.fingerprint

    @property
    def trained_weights(self) -> tuple[float, float] | None:
        """α and β, if they were trained with the model."""
        return None if self.record.alpha < 0 else (self.record.alpha, self.record.beta)

    def term_given_topic(self, terms: Sequence[str]) -> Array:
        """P(w|T): a row for each term, a column for each latent topic; 0 for unknown terms."""
        numbers = np.array([self._vocabulary.terms.find(term) for term in terms], np.int64)
        rows: Array = np.zeros((len(numbers), self.n_topics))
        rows[numbers >= 0] = self._of_terms[numbers[numbers >= 0]]
        return rows

    def topics_given_document(self, shards: Array, docs: Array) -> Array:
        """P(T|D) of documents, given by shard and number as in `Hits`: a row for each document, which sums to 1."""
        with np.errstate(invalid="ignore"):  # a damaged number, found below
            rows = self._vectors.rows(shards, docs).astype(np.float64)
        totals = rows.sum(axis=1)
        if not (np.abs(totals - 1) < 1e-3).all():
            raise IndexCorrupt(f"{self.home}: latent topics of documents are damaged; {self.record.remedy(self.home)}")
        scaled: Array = rows / totals[:, None]
        return scaled

    def topics_given_words(self, terms: Mapping[str, float]) -> Array:
        """P(T) of a query or any other text from its terms with their counts; P(T) of the index if none is known."""
        from scipy.sparse import csr_array

        counts = {
            number: n for term, n in terms.items() if (number := self._vocabulary.terms.find(term)) >= 0 and n > 0
        }
        known = sorted(counts)
        row = csr_array(
            ([float(counts[number]) for number in known], known, [0, len(known)]), shape=(1, len(self._vocabulary))
        )
        topics: Array = self._infer(row)[0]
        return topics

    def with_documents(self, of_docs: Mapping[tuple[int, int], Array]) -> TopicModel:
        """The model with another P(T|D) of some documents, given by shard and number."""
        changed = copy(self)
        changed._vectors = self._vectors.changed(of_docs)
        changed._changes = (self, dict(of_docs))
        return changed

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process opens the same files, and makes the same changes."""
        return super().__reduce__() if self._changes is None else (TopicModel.with_documents, self._changes)

    def top_terms(self, topic: int, n: int = 10) -> list[tuple[str, float]]:
        """The most characteristic terms of a latent topic, by P(w|T)·ln(P(w|T)/P(w|C)), each with its P(w|T).

        Terms that are no more likely than in the collection are left out; if all are, the most frequent terms are
        returned instead.
        """
        if not 0 <= topic < self.n_topics:
            raise SettingError(f"{self.home}: latent topic {topic + 1}, expected 1 to {self.n_topics}")
        p = self._of_terms[:, topic].astype(np.float64)
        gains = np.zeros(len(p))
        likely = p > 0
        gains[likely] = p[likely] * np.log(p[likely] / self._background[likely])
        if not (gains > ROUNDING).any():
            gains = p
        best = np.argsort(-gains, kind="stable")[:n]
        best = best[gains[best] > ROUNDING]
        return list(zip(self._vocabulary.terms.take(best), p[best].tolist(), strict=True))

    def _infer(self, counts: csr_array) -> Array:
        """P(T|D) of documents from their counts."""
        if self._of_words is not None:
            return mix_words(counts, self._of_words, self.shares)
        return fold_in(counts, self._of_terms, self.shares, self.record.temperature)

    def _compute_vectors(self, shard: Shard, docs: Array, numbers: Array) -> Array:
        """P(T|D) of documents of a shard: learnt where they were trained on, inferred for all others."""
        rows: Array = np.empty((len(docs), self.n_topics), np.float32)
        is_new = np.ones(len(docs), bool)
        if self._of_docs is not None and len(self._digests):
            digests = digests_of(shard, docs)
            at = np.minimum(np.searchsorted(self._digests, digests), len(self._digests) - 1)
            is_new = self._digests[at] != digests
            rows[~is_new] = self._of_docs[at[~is_new]]
        if is_new.any():
            rows[is_new] = self._infer(self._vocabulary.counts(shard, docs[is_new], numbers))
        return rows
