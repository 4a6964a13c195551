"""Dense scoring: scorers that give every document a score, even one that has no word of the query.

In a topic model, for example, every document gives every word a probability. No posting list leads to such documents,
so all live documents are scored, a block of them at a time.
"""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from searchlab.scorers.execution.bound_scorer import (
    BoundScorer,
    QueryScorer,
    ScorableQuery,
    TermContribution,
    frequency_of,
)
from searchlab.scorers.execution.collection_statistics import QueryStatistics
from searchlab.types import Array

# Documents scored at once: for a few words, their weights stay in the processor's cache.
BLOCK_SIZE = 1 << 14


class BoundDenseScorer(BoundScorer):
    """A dense scorer over one index; it may keep what it has read from there."""

    @abstractmethod
    def weigh(self, query: ScorableQuery, shard_index: int, docs: Array) -> Array:
        """The weight of one occurrence of each term in documents of a shard: a row a term, a column a document.

        All weights are finite. A document's weights must not depend, to the last bit, on the other documents.
        """

    def prepare(self, query: ScorableQuery) -> QueryScorer:
        """The query, ready to be scored."""
        return DenseQueryScorer(self, query)


class DenseQueryScorer(QueryScorer):
    """A query for a dense scorer."""

    scores_every_document = True

    def __init__(self, bound: BoundDenseScorer, query: ScorableQuery) -> None:
        self._bound = bound
        self._query = query

    def statistics(self) -> QueryStatistics:
        """What the weights need of the whole collection: counts of terms, and lengths."""
        terms = [(self._bound.stream_of(self._query, term), term.variants) for term in self._query.terms]
        return self._bound.reader.statistics.of_terms(terms)

    def score(self, shard_index: int, docs: Array) -> Array:
        """The scores of documents: the sum of their weights, a repeated word counting each time."""
        scores = np.zeros(len(docs))
        for start in range(0, len(docs), BLOCK_SIZE):
            block = slice(start, start + BLOCK_SIZE)
            # Added row by row: a matrix product rounds differently at the edges of its tiles.
            for term, weights in zip(
                self._query.terms, self._bound.weigh(self._query, shard_index, docs[block]), strict=True
            ):
                scores[block] += term.count * weights
        return scores

    def explain(self, shard_index: int, doc: int) -> tuple[TermContribution, ...]:
        """What each term adds to the score of a document."""
        weights = self._bound.weigh(self._query, shard_index, np.array([doc]))[:, 0].tolist()
        parts = []
        for term, weight in zip(self._query.terms, weights, strict=True):
            stream = self._bound.stream_of(self._query, term)
            tf = frequency_of(doc, *self._bound.reader.occurrences(shard_index, stream, term.variants))
            parts.append(self._bound.contribution(self._query, term, tf, weight))
        return tuple(parts)
