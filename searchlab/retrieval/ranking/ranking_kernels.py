"""Ranking kernels: the k best of scored documents, by score and, where scores are equal, by docno."""

from __future__ import annotations

import numpy as np
from numba import njit

# Up to this number of equal scores are sorted by insertion.
MAX_INSERTIONS = 32

compiled = njit(cache=True, nogil=True)


@compiled
def take_best(order, numbers, scores, k, shard_starts, docno_ranks):  # type: ignore[no-untyped-def]
    """The k best of documents that `order` sorts by score: the shard of each, its number there, and its score.

    Equal scores are ordered by docno rank, descending. If there are any and `docno_ranks` is empty, nothing is
    returned: the ranks take some time to compute, and not every index needs them.
    """
    n = min(k, len(order))
    begin = 0
    while begin < n:
        end = begin + 1
        while end < len(order) and scores[order[end]] == scores[order[begin]]:
            end += 1
        if end > begin + 1:
            if len(docno_ranks) == 0:
                n = 0
                break
            _sort_descending(order[begin:end], docno_ranks, numbers)
        begin = end
    shards, docs, best_scores = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n)
    for i in range(n):
        number, shard = numbers[order[i]], 0
        while number >= shard_starts[shard + 1]:
            shard += 1
        shards[i], docs[i], best_scores[i] = shard, number - shard_starts[shard], scores[order[i]]
    return shards, docs, best_scores


@compiled
def _sort_descending(rows, docno_ranks, numbers):  # type: ignore[no-untyped-def]
    """Sort rows by the docno ranks of their documents: few by insertion, which takes no memory."""
    if len(rows) > MAX_INSERTIONS:
        rows[:] = rows[np.argsort(docno_ranks[numbers[rows]])][::-1]
        return
    for i in range(1, len(rows)):
        row, rank, at = rows[i], docno_ranks[numbers[rows[i]]], i
        while at > 0 and docno_ranks[numbers[rows[at - 1]]] < rank:
            rows[at] = rows[at - 1]
            at -= 1
        rows[at] = row
