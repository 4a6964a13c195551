"""Pruned search: the best documents by the compiled kernels, which leave out those that cannot be among the best."""

from __future__ import annotations

import threading

import numpy as np

from searchlab.retrieval.ranking.best_documents import BestDocuments
from searchlab.scorers.execution.index_reader import IndexReader
from searchlab.scorers.execution.scoring_plan import ScoringPlan
from searchlab.types import Array


class PrunedSearch:
    """Search by the compiled kernels, which are loaded with the first one; each thread has work arrays of its own."""

    def __init__(self, reader: IndexReader) -> None:
        self._reader = reader
        self._threads = threading.local()
        # Of all documents; computed when equal scores are first met.
        self._known_docno_ranks = np.zeros(0, np.uint32)

    def find_best(self, plan: ScoringPlan, limit: int) -> BestDocuments:
        """The best documents, at most `limit`."""
        from searchlab.retrieval.ranking.ranking_kernels import take_best
        from searchlab.retrieval.ranking.topk_kernels import Scratch, best_documents

        starts = self._reader.shard_starts
        if not hasattr(self._threads, "scratch"):
            self._threads.scratch = Scratch.make(int(starts[-1]))
        numbers, scores = best_documents(*plan, limit, self._threads.scratch)
        order = np.argsort(-scores)
        best: tuple[Array, Array, Array] = take_best(order, numbers, scores, limit, starts, self._known_docno_ranks)
        if len(numbers) and not len(best[0]):
            self._known_docno_ranks = self._reader.snapshot.all_docno_ranks
            best = take_best(order, numbers, scores, limit, starts, self._known_docno_ranks)
        return BestDocuments(*best)
