"""Posting cache: the postings of searched terms in memory, with impact codes, for the top-k kernel.

It has the postings of all shards as one list a term: documents are numbered through all shards, and deleted ones are
left out. The lists lie one behind the other in a block of memory, so that one call of the kernel reaches those of all
terms. Scorers share the postings of a stream; each has its own impact codes beside them.

Memory is bounded: a block has room for MAX_POSTINGS, and for MAX_TERMS or as many as MAX_WINDOW_BYTES allow (or for a
single query that needs more), and when it is full a new one is begun. A search that still reads the old block keeps it.
Pages of a block take memory once they are written.
"""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from searchlab.types import Array

if TYPE_CHECKING:
    from searchlab.scorers.execution.scoring_plan import DocumentNorms

# The kernel goes through documents in windows of this size: their sums fit into the first-level cache.
WINDOW_SIZE = 8192
# Of a block; 4 bytes a posting, and one more for each scorer.
MAX_POSTINGS = 1 << 25
MAX_TERMS = 1 << 16
# Of a block's table of windows, which has eight bytes for each window of each term.
MAX_WINDOW_BYTES = 1 << 28
# A term that at least one in this many documents has gets a row with an entry for every document, if there is room.
ROW_RATIO = 16
MAX_ROW_BYTES = 1 << 27
# The largest frequency in a row; it stands for all that are not a smaller whole number.
MAX_ROW_TF = 255
# For each of these numbers of documents, a gain is kept that as many documents reach by a term alone.
DEPTHS = (1, 3, 10, 30, 100, 300, 1000, 3000, 10000)


class PostingArrays(NamedTuple):
    """What the kernel reads: documents, frequencies, impact codes, and where the windows of each term begin.

    Documents are numbered within their windows: two bytes each. Frequent terms have two rows with a byte for each
    document: its code, and its frequency, up to MAX_ROW_TF.
    """

    docs: Array
    tfs: Array
    codes: Array
    windows: Array
    code_rows: Array
    tf_rows: Array


class GainFormula(NamedTuple):
    """A scorer's numbers for the gains of a term (see `gains.make_gain`)."""

    shape: int
    weight: float
    factor: float
    shift: float


class TermImpacts(NamedTuple):
    """A term in a block: its range of postings, its row (-1 without one), its place in the table of windows.

    `max_gain` is its largest gain, best[i] is a gain that DEPTHS[i] documents reach, as far as so many have the term.
    """

    start: int
    end: int
    row: int
    place: int
    max_gain: float
    best: tuple[float, ...]


class PostingBlock:
    """A block of memory with the postings of terms."""

    def __init__(self, capacity: int, max_terms: int, n_docs: int, dtype: np.dtype[Any]) -> None:
        self.docs = np.empty(capacity, np.uint16)
        self.tfs = np.empty(capacity, dtype)
        self.n_docs = n_docs
        self._window_starts = np.arange(0, n_docs + WINDOW_SIZE, WINDOW_SIZE)
        self.windows = np.empty((max_terms, len(self._window_starts)), np.int64)
        self.spans: dict[Hashable, tuple[int, int, int]] = {}
        self._n_used = 0
        self._impacts: WeakKeyDictionary[object, BlockImpacts] = WeakKeyDictionary()

    def add(self, key: Hashable, docs: Array, tfs: Array) -> bool:
        """Add the postings of a term; whether there was room for them."""
        start, end = self._n_used, self._n_used + len(docs)
        place = len(self.spans)
        if end > len(self.docs) or place == len(self.windows):
            return False
        self.docs[start:end] = docs % WINDOW_SIZE
        self.tfs[start:end] = tfs
        self.windows[place] = start + np.searchsorted(docs, self._window_starts)
        self._n_used = end
        self.spans[key] = start, end, place  # not before they are complete: other threads read without a lock
        return True

    def documents(self, key: Hashable) -> Array:
        """The documents that have a term of the block, ascending."""
        start, end, place = self.spans[key]
        documents: Array = np.repeat(self._window_starts[:-1], np.diff(self.windows[place])) + self.docs[start:end]
        return documents

    def impacts_of(self, scorer: object) -> BlockImpacts:
        """The impacts by one bound scorer; they are dropped with it."""
        impacts = self._impacts.get(scorer)
        return self._impacts.setdefault(scorer, BlockImpacts(self)) if impacts is None else impacts


class BlockImpacts:
    """The impact codes of a block by one scorer, computed for a term when it is first searched."""

    def __init__(self, block: PostingBlock) -> None:
        self._block = block
        codes = np.zeros(len(block.docs), np.uint8)
        shape = MAX_ROW_BYTES // (2 * max(block.n_docs, 1)), block.n_docs
        code_rows, tf_rows = np.zeros(shape, np.uint8), np.zeros(shape, np.uint8)
        self.arrays = PostingArrays(block.docs, block.tfs, codes, block.windows, code_rows, tf_rows)
        self.terms: dict[Hashable, TermImpacts] = {}
        self._n_rows = 0
        self._lock = threading.Lock()

    def add(self, key: Hashable, norms: DocumentNorms, formula: GainFormula) -> TermImpacts:
        """Compute the impacts of a term of the block."""
        from searchlab.scorers.execution.impact_kernels import MAX_CODE, fill_codes, fill_rows

        with self._lock:
            if key in self.terms:
                return self.terms[key]
            start, end, place = self._block.spans[key]
            docs, tfs, codes = self._block.documents(key), self.arrays.tfs[start:end], self.arrays.codes[start:end]
            max_gain, counts = fill_codes(docs, tfs, norms.norm_table, norms.norm_codes, formula, codes)
            n_above = np.cumsum(counts[::-1])[::-1]  # the postings with each code or a higher one
            depths = DEPTHS[: bisect_right(DEPTHS, len(docs))]
            best = tuple((np.maximum(_count_from(n_above, depths) - 1, 0) * (max_gain / MAX_CODE)).tolist())
            row = -1
            if len(docs) * ROW_RATIO >= self._block.n_docs and self._n_rows < len(self.arrays.code_rows):
                row = self._n_rows
                fill_rows(docs, tfs, codes, self.arrays.code_rows[row], self.arrays.tf_rows[row])
                self._n_rows += 1
            found = self.terms[key] = TermImpacts(start, end, row, place, max_gain, best)
            return found


def _count_from(n_above: Array, depths: Sequence[int]) -> Array:
    """For each depth the largest code that as many postings reach, 0 if there is none."""
    return np.array([np.count_nonzero(n_above[1:] >= depth) for depth in depths])


class PostingCache:
    """The postings of terms, read by their keys: `read` gives documents, ascending, and frequencies."""

    def __init__(
        self, read: Callable[[Any], tuple[Array, Array]], n_postings: int, n_docs: int, dtype: np.dtype[Any]
    ) -> None:
        self._read = read
        self._dtype, self._n_docs = dtype, n_docs
        self._capacity = min(n_postings, MAX_POSTINGS)
        n_window_bytes = 8 * (n_docs // WINDOW_SIZE + 2)
        self._max_terms = min(MAX_TERMS, self._capacity, MAX_WINDOW_BYTES // n_window_bytes)
        self._block = PostingBlock(self._capacity, self._max_terms, n_docs, dtype)
        self._lock = threading.Lock()

    def hold(self, keys: Sequence[Hashable]) -> PostingBlock:
        """A block that has the postings of all these terms."""
        block = self._block
        if all(key in block.spans for key in keys):
            return block
        with self._lock:
            for key in keys:
                if key not in self._block.spans and not self._block.add(key, *self._read(key)):
                    return self._renew(keys)
            return self._block

    def _renew(self, keys: Sequence[Hashable]) -> PostingBlock:
        """A new block that begins with these terms."""
        postings = {key: self._read(key) for key in keys}
        capacity = max(self._capacity, sum(len(docs) for docs, _ in postings.values()))
        self._block = PostingBlock(capacity, max(self._max_terms, len(postings)), self._n_docs, self._dtype)
        for key, (docs, tfs) in postings.items():
            self._block.add(key, docs, tfs)
        return self._block
