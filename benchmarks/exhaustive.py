"""Pruned against exhaustive scoring: what searching for the best documents saves, for several scorers.

Exhaustive scoring is compiled, too: it adds the gain of every posting to an array of all documents, and selects the
best by a partition. It reads the same arrays as the top-k kernel and forms the same sums, so the best scores must be
equal to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit
from report import LIMITS

import searchlab
from searchlab.retrieval.expansion import RM3
from searchlab.retrieval.results import Query
from searchlab.scorers.execution.posting_cache import WINDOW_SIZE
from searchlab.scorers.gains import gain
from searchlab.scorers.registry import make_scorer

SCORERS = ("bm25", "dirichlet", "jm", "absolute")
compiled = njit(nogil=True, error_model="numpy")
_gain = compiled(gain)

# Asks queries in rounds, and gives the time of each.
TimeQueries = Callable[[Callable[[Any], Any], list[Any]], list[float]]


@dataclass(frozen=True)
class Pruning:
    """The times of one scorer's queries in seconds, pruned and exhaustive."""

    scorer: str
    k: int
    mean_terms: float
    pruned: list[float]
    exhaustive: list[float]


def measure_pruning(folder: Path, texts: list[str], time_queries: TimeQueries) -> Iterator[Pruning]:
    """Measure each scorer with the queries as they are, and BM25 with queries that RM3 expands."""
    engine = searchlab.open(folder)
    plain = [query for query in (engine.parse(text) for text in texts) if query.terms]
    expansion = RM3()
    expanded = [expansion.expand(query, expansion.estimate(engine, engine.search(query, k=10))) for query in plain]
    for name in SCORERS:
        yield from _measure(name, name, engine, plain, time_queries)
    yield from _measure("bm25 with RM3", "bm25", engine, expanded, time_queries)


def _measure(
    label: str, name: str, engine: searchlab.SearchEngine, queries: list[Query], time_queries: TimeQueries
) -> Iterator[Pruning]:
    scorer = make_scorer(name)
    sums = np.empty(int(engine.reader.shard_starts[-1]))

    def exhaustive(query: Query, k: int) -> tuple[np.ndarray, np.ndarray]:
        plan = engine.reader.bind(scorer, "both").prepare(query).plan(k)
        n_best = min(k, score_all(*plan, sums))
        best = np.argpartition(sums, -n_best)[-n_best:]
        best = best[np.argsort(-sums[best])]
        return best, sums[best]

    for k in LIMITS:
        for query in queries[:10]:
            found, expected = engine.search(query, k=k, scorer=scorer).scores, exhaustive(query, k)[1]
            if found.tolist() != expected.tolist():
                raise SystemExit(f"{label}: other scores than those of exhaustive scoring: {query.text}")
        pruned = time_queries(lambda query, k=k: engine.search(query, k=k, scorer=scorer), queries)
        all_scored = time_queries(lambda query, k=k: exhaustive(query, k), queries)
        yield Pruning(label, k, float(np.mean([len(query.terms) for query in queries])), pruned, all_scored)


@compiled
def score_all(postings, norms, query, sums):  # type: ignore[no-untyped-def]
    """Fill in the scores of all documents, -inf for those without a term of the query; returns how many have one."""
    sums[:] = -np.inf
    n_matching = 0
    for t in range(len(query.spans)):
        weight, factor = query.numbers[t, 0], query.numbers[t, 1]
        windows = postings.windows[query.spans[t, 3]]
        for window in range(len(windows) - 1):
            for p in range(windows[window], windows[window + 1]):
                doc = window * WINDOW_SIZE + postings.docs[p]
                if sums[doc] == -np.inf:
                    sums[doc] = 0.0
                    n_matching += 1
                norm = norms.norm_table[norms.norm_codes[doc]]
                sums[doc] += _gain(query.shape, np.float64(postings.tfs[p]), weight, factor, norm, query.shift)
    for doc in range(len(sums)):
        if sums[doc] != -np.inf:
            sums[doc] += query.background
            if len(norms.biases) > 0:
                sums[doc] += query.n_words * norms.biases[doc]
    return n_matching
