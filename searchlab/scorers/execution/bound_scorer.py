"""Bound scorers: the interface between scorers and the search engine.

    Scorer.bind(reader, stream)  →  BoundScorer     what a scorer computes and caches for one index
    BoundScorer.prepare(query)   →  QueryScorer     scores and explains documents for one query

The engine knows these two classes only.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from searchlab.records import QueryTerm
from searchlab.scorers.execution.collection_statistics import QueryStatistics
from searchlab.scorers.execution.index_reader import IndexReader
from searchlab.scorers.execution.scoring_plan import ScoringPlan
from searchlab.types import Array


class ScorableQuery(Protocol):
    """A query as scorers see it."""

    @property
    def text(self) -> str:
        """The query as written."""

    @property
    def terms(self) -> tuple[QueryTerm, ...]:
        """The terms that score."""

    @property
    def node(self) -> object | None:
        """The syntax tree; None for plain words, which are looked up in the stream that is searched."""


@dataclass(frozen=True)
class TermContribution:
    """What one term of the query adds to a document's score."""

    term: str
    query_count: float
    tf: float
    weight: float


class QueryScorer(ABC):
    """One query, prepared for scoring by one scorer over one index."""

    # Whether documents without any term of a plain query are candidates, too.
    scores_every_document: bool = False

    def statistics(self) -> QueryStatistics | None:
        """What scores need of the whole collection, so that some shards can be searched apart from the others.

        None if that is not known: such a query needs all shards at once.
        """
        return None

    def plan(self, k: int) -> ScoringPlan | None:
        """What the top-k kernel needs to find the k best; None if only `score` gives the scores of this query."""
        return None

    @property
    def has_further_units(self) -> bool:
        """Whether a plain query has more that scores than its terms, such as n-grams."""
        return False

    def further_documents(self, shard_index: int) -> Array:
        """The documents of a shard that match by these further units."""
        return np.zeros(0, np.int64)

    @abstractmethod
    def score(self, shard_index: int, docs: Array) -> Array:
        """The scores of documents of a shard, given in ascending order.

        A document's score must not depend, to the last bit, on the other documents, nor on whether the kernel
        computed it: equal documents have equal scores, and are ordered by docno.
        """

    @abstractmethod
    def explain(self, shard_index: int, doc: int) -> tuple[TermContribution, ...]:
        """What each term adds to the score of a document; the sum is the score."""


class BoundScorer(ABC):
    """A scorer over one index; the words of a plain query are looked up in `stream`."""

    def __init__(self, reader: IndexReader, stream: str) -> None:
        self.reader = reader
        self.stream = stream

    @abstractmethod
    def prepare(self, query: ScorableQuery) -> QueryScorer:
        """The query, ready to be scored."""

    def stream_of(self, query: ScorableQuery, term: QueryTerm) -> str:
        """The stream or field that a term is looked up in."""
        return self.stream if query.node is None else term.stream

    def contribution(self, query: ScorableQuery, term: QueryTerm, tf: float, weight: float) -> TermContribution:
        """What a term adds to a score, from the weight of one occurrence in the query."""
        stream = self.stream_of(query, term)
        name = term.text if stream == self.stream else f"{stream}:{term.text}"
        return TermContribution(name, term.count, tf, term.count * weight)


def frequency_of(doc: int, docs: Array, tfs: Array) -> float:
    """The frequency of a term in a document, from the documents that have the term and its frequencies there."""
    at = int(docs.searchsorted(doc))
    frequency: float = tfs[at].item() if at < len(docs) and docs[at] == doc else 0
    return frequency
