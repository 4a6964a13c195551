"""Rank fusion: several runs combined into one.

    rrf      Σ 1/(60 + rank)                       (Cormack, Clarke, Büttcher 2009)
    combsum  Σ normalised score                    (Fox, Shaw 1994)
    combmnz  combsum · number of runs that found it
    borda    Σ points: of c documents the first gets c, the next c - 1, …    (Aslam, Montague 2001)

The sums are over the runs that retrieved a document for the topic. Scores are normalised to (score - min)/(max - min)
of the topic in their run; if all are equal, each becomes 1. For Borda, c is the number of documents of the topic in all
runs; those that a run did not retrieve share its remaining points. Equal fused scores are ordered by docno, descending.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from searchlab.errors import SettingError, unknown_name
from searchlab.records import Ranking
from searchlab.types import Floats, Ints

RRF_CONSTANT = 60

# The points of the documents of a ranking, given its scores, best first, and the number of documents in all runs.
Points = Callable[[Floats, int], Floats]


def reciprocal_ranks(scores: Floats, n_all: int) -> Floats:
    """1/(60 + rank)."""
    return 1.0 / (RRF_CONSTANT + 1 + np.arange(len(scores)))


def normalised_scores(scores: Floats, n_all: int) -> Floats:
    """(score - min)/(max - min), or 1."""
    # Halved, so that the difference of the largest floats does not overflow.
    halves = scores / 2 - scores[-1] / 2
    return halves / halves[0] if halves[0] > 0 else np.ones(len(scores))


def borda_points(scores: Floats, n_all: int) -> Floats:
    """Points of the Borda count minus those of a document that was not retrieved, which are added at the end."""
    n_missed = n_all - len(scores)
    return np.arange(n_all, n_missed, -1, dtype=np.float64) - (n_missed + 1) / 2


METHODS: dict[str, Points] = {
    "rrf": reciprocal_ranks,
    "combsum": normalised_scores,
    "combmnz": normalised_scores,
    "borda": borda_points,
}


def fuse(runs: Sequence[Iterable[Ranking]], method: str = "rrf", *, k: int = 1000) -> list[Ranking]:
    """One run with the best k documents of each topic; topics are in the order of their first appearance."""
    if method not in METHODS:
        raise unknown_name("method", method, METHODS)
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise SettingError(f"k is {k!r}, expected a whole number of at least 1")
    if not runs:
        raise SettingError("no runs: expected at least one to fuse")
    by_topic: dict[str, list[Ranking]] = {}
    for run in runs:
        for ranking in run:
            by_topic.setdefault(ranking.qid, []).append(ranking)
    return [_fuse_topic(qid, rankings, method, k, len(runs)) for qid, rankings in by_topic.items()]


def _fuse_topic(qid: str, rankings: list[Ranking], method: str, k: int, n_runs: int) -> Ranking:
    numbers: dict[str, int] = {}
    parts: list[tuple[Ints, Floats]] = []
    for ranking in rankings:
        scores = np.array(ranking.scores, np.float64)
        if np.isnan(scores).any():
            raise SettingError(f"topic {qid}: a score is not a number (NaN)")
        by_docno = sorted(range(len(scores)), key=ranking.docnos.__getitem__, reverse=True)
        order = np.array(by_docno, np.int64)
        order = order[np.argsort(-scores[order], kind="stable")]
        documents = np.array([numbers.setdefault(docno, len(numbers)) for docno in ranking.docnos], np.int64)
        if len(scores):
            parts.append((documents[order], scores[order]))
    n_all = len(numbers)
    points = np.zeros((len(parts), n_all))
    n_found = np.zeros(n_all)
    for row, (documents, scores) in zip(points, parts, strict=True):
        row[documents] = METHODS[method](scores, n_all)
        n_found[documents] += 1
    # Added in ascending order: the same points give the same sum to the last bit, whichever runs they come from.
    total: Floats = np.sum(np.sort(points, axis=0), axis=0)
    if method == "combmnz":
        total *= n_found
    if method == "borda":
        # The points of documents that a run did not retrieve; a run without the topic gives all documents the same.
        total += (
            sum((n_all - len(documents) + 1) / 2 for documents, _ in parts) + (n_runs - len(parts)) * (n_all + 1) / 2
        )
    docnos = sorted(numbers, reverse=True)
    totals = total[[numbers[docno] for docno in docnos]] if n_all else total
    best = np.argsort(-totals, kind="stable")[:k]
    return Ranking(qid, [docnos[i] for i in best], totals[best].tolist())
