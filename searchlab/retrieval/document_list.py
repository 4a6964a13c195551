"""Lists of documents of an index, such as the candidates of a query, and their order by scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from searchlab.retrieval.results import Hits
from searchlab.types import Array, Floats


@dataclass(frozen=True, eq=False)
class DocumentList:
    """Documents of an index, each once: their docnos, and for each its shard and its number in that shard."""

    docnos: tuple[str, ...]
    shards: Array
    docs: Array

    def __len__(self) -> int:
        return len(self.docnos)

    @classmethod
    def of(cls, hits: Hits) -> DocumentList:
        """The documents of search results, in their order."""
        return cls(tuple(hits.docnos), hits.shards, hits.docs)

    def take(self, rows: Sequence[int]) -> DocumentList:
        """The documents in these rows."""
        return DocumentList(tuple(self.docnos[row] for row in rows), self.shards[list(rows)], self.docs[list(rows)])

    def union(self, other: DocumentList) -> DocumentList:
        """These documents, followed by those that only `other` has."""
        known = set(self.docnos)
        new = other.take([row for row, docno in enumerate(other.docnos) if docno not in known])
        return DocumentList(
            self.docnos + new.docnos,
            np.concatenate([self.shards, new.shards]),
            np.concatenate([self.docs, new.docs]),
        )


def best_first(scores: Floats, docnos: Sequence[str]) -> Array:
    """The rows by score, best first; equal scores by docno, descending in byte order, as in all rankings."""
    order = np.argsort(-scores, kind="stable")
    if (scores[order[1:]] < scores[order[:-1]]).all():  # no two are equal, and none is NaN
        return order
    names = np.array([docno.encode() for docno in docnos], dtype=object)
    by_name = np.argsort(names, kind="stable")[::-1] if len(names) else np.zeros(0, np.int64)
    return np.asarray(by_name[np.argsort(-scores[by_name], kind="stable")])


NO_DOCUMENTS = DocumentList((), np.zeros(0, np.int64), np.zeros(0, np.int64))
