"""Scoring plan: a query as the arrays that the top-k kernel takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from searchlab.types import Array


@dataclass(frozen=True)
class DocumentNorms:
    """A scorer's numbers for the documents of a shard.

    Documents share few distinct norms: two bytes a document and a short table stay in the processor's cache, where
    eight bytes a document would not. The norm of document d is norm_table[norm_codes[d]]. `biases` is empty if all
    are 0.
    """

    norm_table: Array
    norm_codes: Array
    biases: Array
    min_bias: float
    max_bias: float

    @classmethod
    def make(cls, norms: Array, biases: Array | None, alive: Array | None, gainless_norm: float) -> DocumentNorms:
        """Norms of the documents of a shard; deleted ones get the norm with which nothing is gained."""
        if alive is not None:
            norms = np.where(alive, norms, gainless_norm)
        table, codes = np.unique(norms, return_inverse=True)
        small = codes.astype(np.uint16 if len(table) <= 1 << 16 else np.uint32)
        if biases is None:
            return cls(table, small, np.zeros(0), 0.0, 0.0)
        live = biases if alive is None else biases[alive]
        return cls(table, small, biases, float(live.min(initial=np.inf)), float(live.max(initial=-np.inf)))

    def of(self, docs: Array) -> Array:
        """The norms of some documents."""
        norms: Array = self.norm_table[self.norm_codes[docs]]
        return norms


class Postings(NamedTuple):
    """The postings of the query's terms in one shard: term t has docs[starts[t]:ends[t]].

    bitmap_rows[t] is its row in the bitmaps `bits` and `ranks`, -1 if it has none.
    """

    docs: Array
    tfs: Array
    starts: Array
    ends: Array
    bitmap_rows: Array
    bits: Array
    ranks: Array


def join_postings(docs: Sequence[Array], tfs: Sequence[Array], bits: Array, ranks: Array) -> Postings:
    """Postings of computed frequencies, which have no bitmaps: the arrays of each term, one after the other."""
    offsets = np.cumsum([0, *map(len, docs)])
    no_rows = np.full(len(docs), -1)
    return Postings(np.concatenate(docs), np.concatenate(tfs), offsets[:-1], offsets[1:], no_rows, bits, ranks)


class ScoringPlan(NamedTuple):
    """A query of plain words, ready for the kernel: its terms in descending order of `bounds`, repeats multiplied in.

    A document's score is the sum of its gains, plus n_words · bias + background. Gains have the given `shape` (see
    `gains`); `bounds` are the largest possible ones. `norms` has an entry for each shard, `postings` takes a shard's
    index.
    """

    postings: Callable[[int], Postings]
    norms: Sequence[DocumentNorms]
    weights: Array
    factors: Array
    bounds: Array
    background: float
    n_words: float
    shape: int
    shift: float
