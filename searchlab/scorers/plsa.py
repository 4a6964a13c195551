"""Language model over the latent topics of documents (PLSA).

    P(q|D) = Σ_k [αβ·P(q|T_k) + α(1-β)·P(q|C) + (1-α)·P(q|D)]·P(T_k|D)

(Chen, Learning to Rank using Language Models and SVMs, slide 9.) The topics of a document make words likely that it
lacks but that similar documents have; the collection smooths words that the topics do not know; and the document's own
frequencies take part. The weight of a term is ln P(q|D). With β = 0 this is the Jelinek–Mercer model with λ = α.

Topics are those of title and body, whatever stream is searched; in other fields they know no word.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from searchlab.errors import SettingError, StoreError
from searchlab.indexing.storage.columns import STREAMS
from searchlab.scorers.base import MIN_SETTING, Scorer
from searchlab.scorers.execution.bound_scorer import ScorableQuery
from searchlab.scorers.execution.dense_scoring import BoundDenseScorer
from searchlab.scorers.execution.index_reader import IndexReader
from searchlab.types import Array

if TYPE_CHECKING:
    from searchlab.topic_models.topic_model import TopicModel

# P(T|D) of a shard with more numbers than this, documents times topics, is read from disk for each query.
MAX_CACHED_PROBABILITIES = 20_000_000


@dataclass(frozen=True)
class PLSA(Scorer):
    """The language model of slide 9 over the latent topics of documents, `searchlab topic-model --method plsa`.

    `topics` names a topic model of the index. An α or β that is not set is the one trained with this model, or else
    the default. The collection must have a part, α(1-β) > 0: it alone makes some words of a query possible. `version`
    is the fingerprint that the model must have, if other processes score by it.
    """

    alpha: float | None = None
    beta: float | None = None
    topics: str = "plsa"
    version: str = field(default="", metadata={"is_setting": False})

    label = "PLSA topics"
    needs_topic_model = True
    defaults: ClassVar[tuple[float, float]] = (0.7, 0.3)

    def __post_init__(self) -> None:
        for name, low, high in (("alpha", MIN_SETTING, 1.0), ("beta", 0.0, 1 - MIN_SETTING)):
            value = getattr(self, name)
            wrong = isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high
            if value is not None and wrong:
                kind = type(self).__name__
                raise SettingError(f"{kind}: {name} is {value!r}, expected a number from {low:g} to {high:g}")

    def bind(self, reader: IndexReader, stream: str) -> BoundTopicScorer:
        """The scorer over one index; raises IndexMissing if that has no such topic model."""
        from searchlab.topic_models.topic_model_store import open_topic_model

        model = open_topic_model(reader.snapshot.whole, self.topics)
        if self.version not in ("", model.fingerprint):
            raise StoreError(f"{model.home}: made again while several processes searched by it; try again")
        return BoundTopicScorer(reader, stream, model, *self.weights(model))

    def pinned(self, reader: IndexReader) -> PLSA:
        """The scorer by the topic model that the index has now."""
        return replace(self, version=reader.bind(self, "both").model.fingerprint)

    def weights(self, model: TopicModel) -> tuple[float, float]:
        """α and β for a topic model: as set, as trained, or the defaults."""
        alpha, beta = model.trained_weights or self.defaults
        return alpha if self.alpha is None else self.alpha, beta if self.beta is None else self.beta


@dataclass(frozen=True)
class TopicModelScorer(Scorer):
    """The same over an open topic model, such as one that has just been trained; for the model's own index."""

    model: TopicModel
    alpha: float
    beta: float

    label = "latent topics"
    needs_topic_model = True

    def bind(self, reader: IndexReader, stream: str) -> BoundTopicScorer:
        """The scorer over the model's index."""
        if self.model.snapshot.folder != reader.snapshot.folder:
            raise SettingError(f"{self.model.home}: topics of another index than {reader.snapshot.folder}")
        return BoundTopicScorer(reader, stream, self.model, self.alpha, self.beta)


class BoundTopicScorer(BoundDenseScorer):
    """The language model of slide 9 over one index."""

    def __init__(self, reader: IndexReader, stream: str, model: TopicModel, alpha: float, beta: float) -> None:
        super().__init__(reader, stream)
        self.model = model
        self.alpha, self.beta = alpha, beta
        # P(T|D) of all documents of a shard, a row a topic.
        self._cached_topics: dict[int, Array] = {}

    def weigh(self, query: ScorableQuery, shard_index: int, docs: Array) -> Array:
        """ln P(q|D): a row for each term of the query, a column for each document."""
        topical, background, document = self.components(query, shard_index, docs)
        alpha, beta = self.alpha, self.beta
        return np.asarray(np.log(alpha * beta * topical + alpha * (1 - beta) * background + (1 - alpha) * document))

    def components(self, query: ScorableQuery, shard_index: int, docs: Array) -> tuple[Array, Array, Array]:
        """Σ_k P(q|T_k)·P(T_k|D), P(q|C) and P(q|D), which are mixed; documents in ascending order."""
        reader, n_terms = self.reader, len(query.terms)
        topics_given_document = self._topics_given_document(shard_index, docs)
        topical = np.zeros((n_terms, len(docs)))
        product = np.empty(len(docs))
        # Added topic by topic: a matrix product rounds differently at the edges of its tiles.
        for sums, term_given_topic in zip(topical, self.term_given_topic(query).tolist(), strict=True):
            for p, probabilities in zip(term_given_topic, topics_given_document, strict=True):
                sums += np.multiply(probabilities, p, out=product)
        background = np.zeros((n_terms, 1))
        document = np.zeros((n_terms, len(docs)))
        for row, term in enumerate(query.terms):
            stream = self.stream_of(query, term)
            stats = reader.term_stats(stream, term.variants)
            background[row] = stats.term_count / stats.n_tokens
            having, tfs = reader.occurrences(shard_index, stream, term.variants)
            first, last = np.searchsorted(having, [docs[0], docs[-1] + 1]) if len(docs) else (0, 0)
            at = np.searchsorted(docs, having[first:last])
            is_wanted = docs[at] == having[first:last]
            columns = at[is_wanted]
            lengths = reader.column(shard_index, stream).lengths[docs[columns]]
            document[row, columns] = tfs[first:last][is_wanted] / lengths
        return topical, background, document

    def _topics_given_document(self, shard_index: int, docs: Array) -> Array:
        """P(T|D) of documents of a shard, a row a topic."""
        if shard_index not in self._cached_topics:
            shard = self.reader.snapshot.shards[shard_index]
            live = shard.live_docs
            if len(live) * self.model.n_topics > MAX_CACHED_PROBABILITIES:
                return np.ascontiguousarray(self._read_topics(shard_index, docs).T)
            probabilities = np.zeros((self.model.n_topics, shard.columns.n_docs))
            probabilities[:, live] = self._read_topics(shard_index, live).T
            self._cached_topics[shard_index] = probabilities
        return np.take(self._cached_topics[shard_index], docs, axis=1)

    def _read_topics(self, shard_index: int, docs: Array) -> Array:
        number = self.reader.snapshot.shard_numbers[shard_index]
        return self.model.topics_given_document(np.full(len(docs), number), docs)

    def term_given_topic(self, query: ScorableQuery) -> Array:
        """P(w|T) of each term of a query; a wildcard is as likely as its variants together."""
        p = np.zeros((len(query.terms), self.model.n_topics))
        for row, term in enumerate(query.terms):
            if self.stream_of(query, term) in STREAMS:
                p[row] = self.model.term_given_topic(term.variants).sum(axis=0)
        return p
