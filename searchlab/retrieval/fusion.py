"""Rank fusion: several runs combined into one.

    rrf      Σ 1/(60 + rank)                       (Cormack, Clarke, Büttcher 2009)
    combsum  Σ normalised score                    (Fox, Shaw 1994)
    combmnz  combsum · number of runs that found it
    borda    Σ points: of c documents the first gets c, the next c - 1, …    (Aslam, Montague 2001)

The sums are over the runs that retrieved a document for the topic. Scores are normalised to (score - min)/(max - min)
of the topic in their run; if all are equal, each becomes 1. For Borda, c is the number of documents of the topic in all
runs; those that a run did not retrieve share its remaining points. With weights, what a run adds to a sum is multiplied
by its weight, and a run of weight 0 is left out. Equal fused scores are ordered by docno, descending.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from searchlab.corpus import Run
from searchlab.corpus.values.conversion import make_rankings
from searchlab.errors import SettingError, unknown_name
from searchlab.records import Ranking
from searchlab.types import Floats, Ints

RRF_CONSTANT = 60
# The largest weight of a run; sums of larger ones could overflow.
MAX_WEIGHT = 1e9

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


def fuse(
    runs: Sequence[Any],
    method: str = "rrf",
    *,
    k: int = 1000,
    weights: Sequence[float] | None = None,
) -> Run:
    """One run with the best k documents of each topic; topics are in the order of their first appearance.

    A run is anything that `make_run` takes: a file, a dict, a DataFrame, a `Run`, or a list of rankings. `weights` has
    a number for each run; by default each counts 1.
    """
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise SettingError(f"k is {k!r}, expected a whole number of at least 1")
    checked = check_fusion(len(runs), method, weights)
    by_topic: dict[str, list[tuple[int, Ranking]]] = {}
    for number, (run, weight) in enumerate(zip(runs, checked, strict=True)):
        if weight:
            for ranking in make_rankings(run):
                by_topic.setdefault(ranking.qid, []).append((number, ranking))
    fused = {qid: fuse_topic(qid, rankings, method, checked) for qid, rankings in by_topic.items()}
    best = (Ranking(qid, topic.docnos[:k], topic.totals[:k].tolist()) for qid, topic in fused.items())
    return Run.from_rankings(best, name=method)


def check_fusion(n_runs: int, method: str, weights: Sequence[float] | None = None) -> list[float]:
    """The weight of each run, 1 by default; an error for an unknown method, no runs, or wrong weights."""
    if not isinstance(method, str) or method not in METHODS:
        raise unknown_name("method", method, METHODS)
    if not n_runs:
        raise SettingError("no runs: expected at least one to fuse")
    return check_run_weights([1.0] * n_runs if weights is None else weights, n_runs)


def check_run_weights(weights: Sequence[float], n_runs: int) -> list[float]:
    """The weights of runs as floats; an error unless each run has one from 0 to `MAX_WEIGHT`, and one is above 0."""
    if len(weights) != n_runs:
        raise SettingError(f"found {len(weights)} weights for {n_runs} runs, expected one for each run")
    for weight in weights:
        is_number = isinstance(weight, int | float | np.number) and not isinstance(weight, bool)
        if not is_number or not 0 <= weight <= MAX_WEIGHT:
            raise SettingError(f"weight is {weight!r}, expected a number from 0 to {MAX_WEIGHT:g}")
    if not any(weights):
        raise SettingError("all weights are 0, expected one above 0")
    return [float(weight) for weight in weights]


@dataclass(frozen=True, eq=False)
class FusedTopic:
    """The documents of a topic, best first, with their fused scores.

    `points` has a row for each run and a column for each document, which adds up to its score.
    """

    docnos: list[str]
    totals: Floats
    points: Floats


def fuse_topic(qid: str, rankings: Sequence[tuple[int, Ranking]], method: str, weights: Sequence[float]) -> FusedTopic:
    """Fuse the rankings of one topic; each comes with the number of its run, by which `weights` has its weight."""
    numbers: dict[str, int] = {}
    parts: list[tuple[int, Ints, Floats]] = []
    for run, ranking in rankings:
        scores = np.array(ranking.scores, np.float64)
        if np.isnan(scores).any():
            raise SettingError(f"topic {qid}: a score is not a number (NaN)")
        by_docno = sorted(range(len(scores)), key=ranking.docnos.__getitem__, reverse=True)
        order = np.array(by_docno, np.int64)
        order = order[np.argsort(-scores[order], kind="stable")]
        documents = np.array([numbers.setdefault(docno, len(numbers)) for docno in ranking.docnos], np.int64)
        if len(scores):
            parts.append((run, documents[order], scores[order]))
    n_all = len(numbers)
    points = np.zeros((len(weights), n_all))
    n_found = np.zeros(n_all)
    for run, documents, scores in parts:
        points[run, documents] += weights[run] * METHODS[method](scores, n_all)
        n_found[documents] += 1
    # Added in ascending order: the same points give the same sum to the last bit, whichever runs they come from.
    totals: Floats = np.sum(np.sort(points, axis=0), axis=0)
    if method == "combmnz":
        totals, points = totals * n_found, points * n_found
    if method == "borda":
        # The points of documents that a run did not retrieve; a run without the topic gives all documents the same.
        missed = np.array(weights) * (n_all + 1) / 2
        for run, documents, _ in parts:
            missed[run] = weights[run] * (n_all - len(documents) + 1) / 2
        totals, points = totals + math.fsum(missed), points + missed[:, None]
    docnos = sorted(numbers, reverse=True)
    columns = np.array([numbers[docno] for docno in docnos], np.int64)
    best = columns[np.argsort(-totals[columns], kind="stable")]
    names = list(numbers)
    return FusedTopic([names[column] for column in best.tolist()], totals[best], points[:, best])
