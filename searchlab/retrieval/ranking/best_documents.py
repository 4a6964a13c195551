"""The best documents of a search: by their scores, or in the order of a field.

Equal ones are ordered by docno, descending in byte order, as trec_eval orders them. The scores of all that match are
ranked here; what the compiled kernels find, they rank themselves (`pruned_search.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from searchlab.indexing.snapshot import Snapshot
from searchlab.retrieval.fields.matches import Marks
from searchlab.retrieval.fields.sorting import SortOrder
from searchlab.types import Array

if TYPE_CHECKING:
    from searchlab.corpus.trec.packed_docnos import PackedDocnos


class BestDocuments(NamedTuple):
    """The best documents of a search, best first: their shards, their numbers there, and their scores.

    `docnos` is None if they have not been read, `n_matches` if the documents that match have not been counted.
    """

    shards: Array
    docs: Array
    scores: Array
    docnos: PackedDocnos | list[str] | None = None
    n_matches: int | None = None


NOTHING_FOUND = BestDocuments(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0), [])


class BestOfShard(NamedTuple):
    """The best documents of a shard, in ascending order, their scores, and the number of all that match there."""

    docs: Array
    scores: Array
    n_matches: int

    @classmethod
    def of(cls, docs: Array, scores: Array, limit: int) -> BestOfShard:
        """The best of all documents that match: those that do not score less than the last of them."""
        n_matches = len(docs)
        if limit < n_matches:
            best = np.flatnonzero(scores >= np.partition(scores, -limit)[-limit])
            docs, scores = docs[best], scores[best]
        return cls(docs, scores, n_matches)


def best_of_shards(snapshot: Snapshot, found: Iterable[BestOfShard], limit: int, *, compiled: bool) -> BestDocuments:
    """The best documents of all shards, at most `limit`."""
    by_shard = list(found)
    shards, docs = _join([of_shard.docs for of_shard in by_shard])
    scores = np.concatenate([np.zeros(0), *(of_shard.scores for of_shard in by_shard)])
    order = _rank(snapshot, shards, docs, scores, limit, compiled)
    n_matches = sum(of_shard.n_matches for of_shard in by_shard)
    return BestDocuments(shards[order], docs[order], scores[order], n_matches=n_matches)


def first_in_order(
    snapshot: Snapshot,
    order: SortOrder,
    marks: Marks,
    limit: int,
    score: Callable[[Array, Array], Array],
    *,
    compiled: bool,
) -> BestDocuments:
    """The first of all marked documents in the order of a field; equal values by score and docno.

    `score` gives the scores of documents, of those alone that can be among the first.
    """
    shards, docs = _join([np.flatnonzero(marked) for marked in marks])
    values = order.precedence(snapshot, shards, docs)
    if limit < len(docs):
        # Only these can be among the first: all that precede the last of them, and its equals.
        first = np.flatnonzero(values >= np.partition(values, -limit)[-limit])
        shards, docs, values = shards[first], docs[first], values[first]
    scores = score(shards, docs)
    if limit < len(docs):
        last = values == values.min()
        n_wanted = limit - int(np.count_nonzero(~last))
        kept = np.flatnonzero(~last | (scores >= np.partition(scores[last], -n_wanted)[-n_wanted]))
        shards, docs, scores, values = shards[kept], docs[kept], scores[kept], values[kept]
    docno_ranks = _docno_ranks(snapshot, shards, docs, compiled).astype(np.int64)
    rows = np.lexsort((-docno_ranks, -scores, -values))[:limit]
    return BestDocuments(shards[rows], docs[rows], scores[rows])


def _join(docs_by_shard: Sequence[Array]) -> tuple[Array, Array]:
    """The documents of all shards: their shards and their numbers."""
    shards = np.repeat(np.arange(len(docs_by_shard)), [len(docs) for docs in docs_by_shard])
    return shards, np.concatenate([np.zeros(0, np.int64), *docs_by_shard])


def _rank(snapshot: Snapshot, shards: Array, docs: Array, scores: Array, limit: int, compiled: bool) -> Array:
    """The positions of the best: by score, and by docno (descending) where scores are equal."""
    order = np.argsort(-scores)
    ranked = scores[order]
    if limit < len(order):
        last = int(np.searchsorted(-ranked, -ranked[limit - 1], "right"))
        order, ranked = order[:last], ranked[:last]
    differs = ranked[1:] != ranked[:-1]
    if differs.all():
        return order
    # One sort key: first the group of equal scores, then the rank of the docno, from the last.
    groups = np.zeros(len(order), np.int64)
    np.cumsum(differs, out=groups[1:])
    docno_ranks = _docno_ranks(snapshot, shards[order], docs[order], compiled)
    n_ranks = sum(shard.columns.n_docs for shard in snapshot.shards)
    return order[np.argsort(groups * n_ranks - docno_ranks)][:limit]


def _docno_ranks(snapshot: Snapshot, shards: Array, docs: Array, compiled: bool) -> Array:
    """Numbers that order documents as their docnos do."""
    if compiled or len(snapshot.shards) == 1:
        return snapshot.docno_ranks(shards, docs)
    columns = [shard.columns.docnos for shard in snapshot.shards]
    docnos = [columns[s].bytes_at(d) for s, d in zip(shards.tolist(), docs.tolist(), strict=True)]
    ranks = np.empty(len(docs), np.int64)
    ranks[sorted(range(len(docnos)), key=docnos.__getitem__)] = np.arange(len(docnos))
    return ranks
