"""Scoring plans: what the top-k kernel needs for one query, as arrays."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from searchlab.scorers.execution.posting_cache import DEPTHS, PostingArrays, TermImpacts
from searchlab.types import Array

N_BIAS_CODES = 255


class DocumentNorms(NamedTuple):
    """A scorer's numbers for all documents of an index, numbered through all shards.

    Documents share few distinct norms: two bytes a document and a short table stay in the processor's cache, where
    eight bytes a document would not. The norm of document d is norm_table[norm_codes[d]]. `biases` is empty if all
    are 0; their codes bound them from above in 255 steps between the smallest and the largest of a live document.
    """

    norm_table: Array
    norm_codes: Array
    biases: Array
    bias_codes: Array
    min_bias: float
    max_bias: float

    @classmethod
    def make(cls, norms: Array, biases: Array | None, live: Array | None) -> DocumentNorms:
        """Norms and biases of all documents, of which some are live (None: all are).

        Deleted ones get the norm of a live one: bounds of gains must be those of live documents.
        """
        if live is not None and live.any():
            norms = np.where(live, norms, norms[live.argmax()])
        table, codes = np.unique(norms, return_inverse=True)
        small = codes.astype(np.uint16 if len(table) <= 1 << 16 else np.uint32)
        none = cls(table, small, np.zeros(0), np.zeros(0, np.uint8), 0.0, 0.0)
        return none if biases is None else none.with_biases(biases, live)

    def with_biases(self, biases: Array, live: Array | None) -> DocumentNorms:
        """The same norms with other biases."""
        of_live = biases if live is None else biases[live]
        if not len(of_live):
            return self
        low, high = float(of_live.min()), float(of_live.max())
        shares = (biases - low) * (N_BIAS_CODES / max(high - low, 1e-300))
        codes = np.clip(np.ceil(shares * (1 + 1e-12)), 1, N_BIAS_CODES).astype(np.uint8)
        return self._replace(biases=biases, bias_codes=codes, min_bias=low, max_bias=high)

    def of(self, docs: Array) -> Array:
        """The norms of some documents."""
        norms: Array = self.norm_table[self.norm_codes[docs]]
        return norms


class QueryArrays(NamedTuple):
    """The terms of a query in the order in which gains are added, and its formula.

    A row of `spans` is a term's range of postings, its row, and its place in the table of windows (see
    `posting_cache`), one of `numbers` its weight, its factor, its largest gain, and a gain that k documents reach;
    repeats are multiplied in. A document's score is the sum of its gains, plus background, plus n_words · bias. Gains
    have the given `shape` (see `gains`).
    """

    spans: Array
    numbers: Array
    background: float
    n_words: float
    shape: int
    shift: float


class PlannedTerm(NamedTuple):
    """A term of a query: how often the query has it, its weight and factor, and where its postings are."""

    repeats: float
    weight: float
    factor: float
    impacts: TermImpacts


class ScoringPlan(NamedTuple):
    """A query of plain words, ready for the kernel."""

    postings: PostingArrays
    norms: DocumentNorms
    query: QueryArrays


def make_query_arrays(
    terms: Sequence[PlannedTerm], k: int, background: float, n_words: float, shape: int, shift: float
) -> QueryArrays:
    """The arrays of a query for its k best documents."""
    depth = bisect_left(DEPTHS, k)
    spans, numbers = [], []
    for repeats, weight, factor, (start, end, row, place, max_gain, best) in terms:
        spans.append((start, end, row, place))
        reached = best[depth] if depth < len(best) else 0.0
        numbers.append((repeats * weight, factor, repeats * max_gain, repeats * reached))
    rows = np.array(spans, np.int64).reshape(-1, 4), np.array(numbers, np.float64).reshape(-1, 4)
    return QueryArrays(*rows, background, n_words, shape, shift)
