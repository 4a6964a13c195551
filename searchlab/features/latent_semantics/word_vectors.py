"""Word vectors of candidates: the rows of the matrix that the semantic space is made of, for some documents alone.

A row has the BM25 weight of each word of a document, scaled to length 1. In the semantic space documents on one subject
are near to each other; by their words only those are that share rare ones, such as two parts of one study.

Cosines are computed without a sparse matrix product, which would enumerate all pairs of documents that share a frequent
word: frequent words are columns of a dense matrix, and pairs are enumerated only for rare words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from searchlab.array_ranges import concatenate_ranges
from searchlab.types import Array

# Words of at least this many documents are columns of a dense matrix.
MIN_DENSE_DOCUMENTS = 10


class WordEntries(NamedTuple):
    """The words of documents of one shard, ordered by word: the word, the row of the document, and the weight of each.

    Rows are those of the documents among all candidates.
    """

    shard: int
    words: Array
    rows: Array
    weights: Array


@dataclass(frozen=True, eq=False)
class WordVectors:
    """The words that several of the documents have.

    `dense` has a column for each frequent word. Rare words are listed one after the other, each with its documents
    (`rows`) and weights; those of entry i are the entries from `starts[i]` to before `ends[i]`. With `compiled`, the
    products of rare words are added by a loop over their pairs, in the same order.
    """

    dense: Array
    rows: Array
    weights: Array
    starts: Array
    ends: Array
    compiled: bool = False

    @classmethod
    def of(cls, n_rows: int, words: Array, rows: Array, weights: Array) -> WordVectors:
        """Vectors from their entries, which are ordered by word: the word, the row, and the weight of each."""
        begins = np.ones(len(words), dtype=bool)
        np.not_equal(words[1:], words[:-1], out=begins[1:])
        starts = np.flatnonzero(begins)
        sizes = np.diff(np.append(starts, len(words)))
        is_frequent = sizes >= MIN_DENSE_DOCUMENTS
        frequent = np.repeat(is_frequent, sizes)
        columns = np.repeat(np.cumsum(is_frequent) - 1, sizes)[frequent]
        dense = np.zeros((n_rows, int(np.count_nonzero(is_frequent))), np.float32)
        dense[rows[frequent], columns] = weights[frequent]
        is_rare = (sizes > 1) & ~is_frequent  # a word of one document is shared with no other
        rare, n_rare = np.repeat(is_rare, sizes), sizes[is_rare]
        ends = np.cumsum(n_rare)
        return cls(dense, rows[rare], weights[rare], np.repeat(ends - n_rare, n_rare), np.repeat(ends, n_rare))

    @classmethod
    def join(cls, n_rows: int, entries: Sequence[WordEntries]) -> WordVectors:
        """Vectors from the entries of each shard, in the order of the shards."""
        by_shard = sorted(entries, key=lambda each: each.shard)
        words, rows = (
            np.concatenate([np.zeros(0, np.int64), *(getattr(each, name) for each in by_shard)])
            for name in ("words", "rows")
        )
        weights = np.concatenate([np.zeros(0, np.float32), *(each.weights for each in by_shard)])
        if len(by_shard) > 1:
            order = np.argsort(words, kind="stable")
            words, rows, weights = words[order], rows[order], weights[order]
        return cls.of(n_rows, words, rows, weights)

    def __len__(self) -> int:
        return len(self.dense)

    def cosines(self, begin: int, end: int) -> Array:
        """The cosine of each document from `begin` to before `end` with all others; with itself it may be too small."""
        n = len(self)
        products: Array = self.dense[begin:end] @ self.dense.T
        if self.compiled:
            from searchlab.features.latent_semantics.neighbour_kernels import add_rare_words

            add_rare_words(self.rows, self.weights, self.starts, self.ends, begin, products)
            return products
        here = np.flatnonzero((self.rows >= begin) & (self.rows < end))
        sizes = self.ends[here] - self.starts[here]
        others = concatenate_ranges(self.starts[here], self.ends[here], len(self.rows))
        cells = np.repeat((self.rows[here] - begin) * n, sizes) + self.rows[others]
        shared = np.repeat(self.weights[here], sizes) * self.weights[others]
        products += np.bincount(cells, shared, products.size).reshape(products.shape).astype(np.float32)
        return products
