"""How likely is a query, if a document speaks by its topics too?

    P(q|D) = Σ_k [αβ·P(q|T_k) + α(1-β)·P(q|C) + (1-α)·P(q|D)]·P(T_k|D)

(Chen, Learning to Rank using Language Models and SVMs, slide 9.) The topics of a document make words likely that it
lacks but that documents like it have; the collection smooths what topics do not know; and the document speaks for
itself. The weight of a term is ln P(q|D). With β = 0 this is the Jelinek–Mercer model with λ = α.

Topics are those of title and body, whatever text is searched; in other fields they know no word.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from searchlab.errors import SettingError
from searchlab.indexing.snapshot import Snapshot, live_docs
from searchlab.indexing.storage.columns import STREAMS
from searchlab.scorers.base import SMALLEST_SETTING, ScorableQuery
from searchlab.scorers.execution.dense_scoring import DenseScorer
from searchlab.scorers.execution.index_reader import Numbers
from searchlab.types import Array

if TYPE_CHECKING:
    from searchlab.topic_models.topic_model import TopicModel

# Of a shard with more numbers than these, documents times topics, none are kept in memory.
MOST_REMEMBERED = 20_000_000


@dataclass(frozen=True)
class PLSA(DenseScorer):
    """The language model of slide 9 over the topics of documents, `searchlab topics --method plsa`.

    `topics` names the topics of the index. An α or β that is not set is what was trained with these topics, or else the
    default. The collection must have a part, α(1-β) > 0: it is all that makes some words of a query possible.
    """

    alpha: float | None = None
    beta: float | None = None
    topics: str = "plsa"

    defaults: ClassVar[tuple[float, float]] = (0.7, 0.3)

    def __post_init__(self) -> None:
        for name, low, high in (("alpha", SMALLEST_SETTING, 1.0), ("beta", 0.0, 1 - SMALLEST_SETTING)):
            value = getattr(self, name)
            wrong = isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high
            if value is not None and wrong:
                kind = type(self).__name__
                raise SettingError(f"{kind}: {name} is {value!r}, expected a number from {low:g} to {high:g}")

    def bind(self, snapshot: Snapshot, numbers: Numbers, stream: str) -> TopicWeigher:
        """The model over an index; raises IndexMissing if that has no such topics."""
        from searchlab.topic_models.topic_model_store import open_topics

        model = open_topics(snapshot, self.topics)
        return TopicWeigher(model, *self.weights(model), numbers, stream)

    def weights(self, model: TopicModel) -> tuple[float, float]:
        """α and β for some topics: as set, as trained, or the defaults."""
        alpha, beta = model.trained_weights or self.defaults
        return alpha if self.alpha is None else self.alpha, beta if self.beta is None else self.beta


@dataclass(frozen=True)
class WTM(PLSA):
    """The same over the topics of words, `searchlab topics --method wtm`: P(T|D) = Σ_w P(w|D)·P(T|w)."""

    topics: str = "wtm"

    defaults: ClassVar[tuple[float, float]] = (0.6, 0.6)


@dataclass(frozen=True, eq=False)
class Trained(DenseScorer):
    """The same over topics at hand, such as have just been trained, with α and β; for the index that they belong to."""

    model: TopicModel
    alpha: float
    beta: float

    def bind(self, snapshot: Snapshot, numbers: Numbers, stream: str) -> TopicWeigher:
        """The model over its index."""
        if self.model.snapshot.folder != snapshot.folder:
            raise SettingError(f"{self.model.home}: topics of another index than {snapshot.folder}")
        return TopicWeigher(self.model, self.alpha, self.beta, numbers, stream)


class TopicWeigher:
    """The language model of slide 9 over one index."""

    def __init__(self, model: TopicModel, alpha: float, beta: float, numbers: Numbers, stream: str) -> None:
        self.model = model
        self.alpha, self.beta = alpha, beta
        self._numbers = numbers
        self._stream = stream
        # P(T|D) of all documents of a shard, a row a topic; of large shards they are read anew for each query.
        self._of_docs: dict[int, Array] = {}

    def weigh(self, query: ScorableQuery, place: int, docs: Array) -> Array:
        """ln P(q|D): a row for each term of the query, a column for each document."""
        topical, background, own = self.components(query, place, docs)
        alpha, beta = self.alpha, self.beta
        return np.asarray(np.log(alpha * beta * topical + alpha * (1 - beta) * background + (1 - alpha) * own))

    def components(self, query: ScorableQuery, place: int, docs: Array) -> tuple[Array, Array, Array]:
        """Σ_k P(q|T_k)·P(T_k|D), P(q|C) and P(q|D), which are mixed; documents in ascending order."""
        texts = [self._stream if query.node is None else term.stream for term in query.terms]
        of_terms, of_docs = self.of_terms(query), self._topics_of(place, docs)
        topical = np.zeros((len(texts), len(docs)))
        part = np.empty(len(docs))
        # Added topic by topic: a matrix product rounds differently at the edges of its tiles.
        for sums, own in zip(topical, of_terms.tolist(), strict=True):
            for p, shares in zip(own, of_docs, strict=True):
                sums += np.multiply(shares, p, out=part)
        background = np.zeros((len(texts), 1))
        documents = np.zeros((len(texts), len(docs)))
        for row, (term, text) in enumerate(zip(query.terms, texts, strict=True)):
            stats = self._numbers.stats(text, term.variants)
            background[row] = stats.term_count / stats.n_tokens
            having, tfs = self._numbers.occurrences(place, text, term.variants)
            first, last = np.searchsorted(having, [docs[0], docs[-1] + 1]) if len(docs) else (0, 0)
            at = np.searchsorted(docs, having[first:last])
            asked = docs[at] == having[first:last]
            found = at[asked]
            lengths = self._numbers.column(place, text).lengths[docs[found]]
            documents[row, found] = tfs[first:last][asked] / lengths
        return topical, background, documents

    def _topics_of(self, place: int, docs: Array) -> Array:
        """P(T|D) of documents of a shard, a row a topic."""
        if place not in self._of_docs:
            alive = live_docs(self.model.snapshot.shards[place])
            if len(alive) * self.model.n_topics > MOST_REMEMBERED:
                return np.ascontiguousarray(self._read_topics(place, docs).T)
            kept = np.zeros((self.model.n_topics, self.model.snapshot.shards[place].columns.n_docs))
            kept[:, alive] = self._read_topics(place, alive).T
            self._of_docs[place] = kept
        return np.take(self._of_docs[place], docs, axis=1)

    def _read_topics(self, place: int, docs: Array) -> Array:
        return self.model.topics_given_document(np.full(len(docs), place), docs)

    def of_terms(self, query: ScorableQuery) -> Array:
        """P(w|T) of each term of a query; a pattern is as likely as its variants together."""
        found = np.zeros((len(query.terms), self.model.n_topics))
        for row, term in enumerate(query.terms):
            if query.node is None or term.stream in STREAMS:
                found[row] = self.model.term_given_topic(term.variants).sum(axis=0)
        return found
