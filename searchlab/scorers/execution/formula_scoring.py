"""Formula scoring: scorers of which only the formula is known, computed by NumPy for all matching documents.

Nothing is pruned: a search reads the postings of every term, and computes the formula for each term and each document
that has any of the terms.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from searchlab.records import QueryTerm
from searchlab.scorers.execution.bound_scorer import (
    BoundScorer,
    QueryScorer,
    ScorableQuery,
    TermContribution,
    frequency_of,
)
from searchlab.scorers.execution.collection_statistics import NO_STATISTICS, QueryStatistics
from searchlab.scorers.execution.index_reader import IndexReader
from searchlab.scorers.execution.posting_scoring import find_common
from searchlab.types import Array

if TYPE_CHECKING:
    from searchlab.scorers.base import FormulaScorer


class BoundFormulaScorer(BoundScorer):
    """A formula over one index."""

    def __init__(self, scorer: FormulaScorer, reader: IndexReader, stream: str) -> None:
        super().__init__(reader, stream)
        self._scorer = scorer

    def prepare(self, query: ScorableQuery) -> QueryScorer:
        """The query, ready to be scored."""
        return FormulaQueryScorer(self, query)

    def weigh(self, query: ScorableQuery, term: QueryTerm, shard_index: int, docs: Array) -> Array:
        """The weight of one occurrence of a term in documents of a shard, given in ascending order."""
        stream = self.stream_of(query, term)
        column = self.reader.column(shard_index, stream)
        having, frequencies = self.reader.occurrences(shard_index, stream, term.variants)
        slots, at = find_common(docs.astype(having.dtype), having)
        tfs = np.zeros(len(docs))
        tfs[slots] = frequencies[at]
        lengths, uniques = column.lengths[docs].astype(float), column.uniques[docs].astype(float)
        weights: Array = self._scorer.weigh(tfs, lengths, term.stats, uniques)
        return weights


class FormulaQueryScorer(QueryScorer):
    """A query for a formula."""

    def __init__(self, bound: BoundFormulaScorer, query: ScorableQuery) -> None:
        self._bound = bound
        self._query = query

    def statistics(self) -> QueryStatistics:
        """Nothing: the terms of the query have their statistics with them."""
        return NO_STATISTICS

    def score(self, shard_index: int, docs: Array) -> Array:
        """The scores of documents: the sum of their weights, a repeated word counting each time."""
        scores = np.zeros(len(docs))
        if len(docs):
            for term in self._query.terms:
                scores += term.count * self._bound.weigh(self._query, term, shard_index, docs)
        return scores

    def explain(self, shard_index: int, doc: int) -> tuple[TermContribution, ...]:
        """What each term adds to the score of a document."""
        parts = []
        for term in self._query.terms:
            stream = self._bound.stream_of(self._query, term)
            tf = frequency_of(doc, *self._bound.reader.occurrences(shard_index, stream, term.variants))
            weight = self._bound.weigh(self._query, term, shard_index, np.array([doc]))
            parts.append(self._bound.contribution(self._query, term, tf, float(weight[0])))
        return tuple(parts)
