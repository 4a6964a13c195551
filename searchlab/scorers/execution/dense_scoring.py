"""How is a document scored that has no word of the query?

By a model in which every document gives every word some probability of its own: the topics of a document, say, speak
for words that it lacks. No posting list leads to such documents, so all that are alive are scored, a block of them at
a time. A `DenseScorer` is a value, as every scorer; bound to an index it becomes a `Weigher`, which may hold what it
has read from there.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Protocol

import numpy as np

from searchlab.indexing.snapshot import Snapshot
from searchlab.scorers.base import ScorableQuery, Scorer
from searchlab.scorers.execution.index_reader import Numbers
from searchlab.types import Array

# Documents that are scored at once: of a few words, their weights stay in the cache.
BLOCK = 1 << 14


class Weigher(Protocol):
    """A dense scorer that knows its index."""

    def weigh(self, query: ScorableQuery, place: int, docs: Array) -> Array:
        """What one occurrence of each term in the query gives documents of a shard: a row a term, a column a document.

        All weights are finite. A document's must not depend on the others that it is asked for with, to the last bit:
        documents that are alike have equal scores, and are ordered by docno.
        """


class DenseScorer(ABC):
    """A scorer that gives every document a score; a frozen dataclass of numbers and texts, equal if these are."""

    @abstractmethod
    def bind(self, snapshot: Snapshot, numbers: Numbers, stream: str) -> Weigher:
        """The scorer over one index; the words of a query without a tree are looked for in `stream`."""


AnyScorer = Scorer | DenseScorer


def score_all(weigher: Weigher, query: ScorableQuery, place: int, docs: Array) -> Array:
    """The scores of some documents of a shard: the sum of their weights, a repeated word counting each time."""
    scores = np.zeros(len(docs))
    for start in range(0, len(docs), BLOCK):
        part = slice(start, start + BLOCK)
        # Added row by row: a matrix product rounds differently at the edges of its tiles.
        for term, weights in zip(query.terms, weigher.weigh(query, place, docs[part]), strict=True):
            scores[part] += term.count * weights
    return scores
