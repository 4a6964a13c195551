"""Packed columns: postings that are packed in the file (`bit_packing.py`) and unpacked when they are first read.

They behave like other columns (`column.py`): what NumPy does with them unpacks the rows that it touches, and compiled
loops take `memory` after `verify`. The memory is reserved for all rows, but the system provides it only where rows are
unpacked, and they stay there. What reads all rows (`whole`) gets an array of its own instead.
"""

from __future__ import annotations

import mmap
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from searchlab.array_ranges import concatenate_ranges
from searchlab.indexing.storage.arrays.bit_packing import BLOCK, PADDING, unpack_postings
from searchlab.indexing.storage.arrays.column import Column
from searchlab.types import Array

# Postings that are unpacked at once by `whole`.
MAX_POSTINGS_AT_ONCE = 1 << 20


class PackedColumn(Column):
    """A column that is unpacked into memory; `read_all` gives all its numbers in an array of their own."""

    __slots__ = ("_postings", "_read_all")

    def __init__(self, memory: Array, packed: Column, postings: _Postings, read_all: Callable[[], Array]) -> None:
        super().__init__(memory, packed.blocks)
        self._postings = postings
        self._read_all = read_all

    def release(self, start: int, stop: int) -> None:
        """Unpacked rows stay: compiled loops may be reading them."""

    @property
    def whole(self) -> Array:
        """All numbers, in an array of their own."""
        return self._read_all()

    def verify(self, start: int = 0, stop: int | None = None) -> None:
        """Unpack the rows from `start` up to `stop`; raises IndexCorrupt if they are damaged."""
        stop = len(self.memory) if stop is None else stop
        if start < stop:
            self._postings.unpack(start, stop)

    def verify_ranges(self, starts: Array, stops: Array) -> None:
        """Unpack the rows of many ranges, which are within the column."""
        filled = starts < stops
        if filled.any():
            self._postings.unpack_ranges(starts[filled], stops[filled])


def open_postings(packed: Column, starts: Column, offsets: Column, tf_type: npt.DTypeLike) -> tuple[Column, Column]:
    """The columns of documents and frequencies; raises IndexCorrupt if the columns do not fit together."""
    n = int(offsets[-1])
    # Two bytes at least for a block.
    if not 0 <= 2 * n <= BLOCK * len(packed) or len(starts) != len(offsets) or starts[-1] != len(packed) - PADDING:
        raise packed.damaged("postings that do not fit their bytes")
    postings = _Postings(packed, starts, offsets, n, np.dtype(tf_type))
    return (
        PackedColumn(postings.docs, packed, postings, lambda: postings.read_all()[0]),
        PackedColumn(postings.tfs, packed, postings, lambda: postings.read_all()[1]),
    )


class _Postings:
    """Postings in blocks, and for which terms they are unpacked."""

    def __init__(self, packed: Column, starts: Column, offsets: Column, n: int, tf_type: np.dtype[np.generic]) -> None:
        self._packed, self._starts, self._offsets, self._n = packed, starts, offsets, n
        self.docs = _reserve(n, np.dtype(np.uint32))
        self.tfs = _reserve(n, tf_type)
        self._unpacked = np.zeros(len(offsets) - 1, bool)
        # Where the postings of terms end that were unpacked one by one, by where they begin.
        self._stops: dict[int, int] = {}

    def unpack(self, start: int, stop: int) -> None:
        """Unpack the terms that have these postings."""
        if self._stops.get(start) == stop:
            return
        # Single offsets, since all would have to be verified.
        first = bisect_right(range(len(self._offsets)), start, key=self._offsets.__getitem__) - 1
        after = bisect_left(range(len(self._offsets)), stop, key=self._offsets.__getitem__)
        self._unpack_lacking(np.array([first]), np.array([after]), start, stop)
        if after - first == 1:
            self._stops[start] = stop

    def unpack_ranges(self, starts: Array, stops: Array) -> None:
        """Unpack the terms that have these postings."""
        offsets = self._offsets.whole
        first, after = np.searchsorted(offsets, starts, "right") - 1, np.searchsorted(offsets, stops, "left")
        self._unpack_lacking(first, after, starts, stops)

    def _unpack_lacking(self, first: Array, after: Array, starts: int | Array, stops: int | Array) -> None:
        """Unpack ranges of terms, where they are not unpacked; they must have these postings."""
        n_terms = len(self._unpacked)
        if first.min() < 0 or (first >= after).any() or after.max() > n_terms:
            raise self._offsets.damaged("postings with wrong offsets")
        if (self._offsets[first] > starts).any() or (self._offsets[after] < stops).any():
            raise self._offsets.damaged("postings with wrong offsets")
        terms = concatenate_ranges(first, after, n_terms)
        for run_start, run_stop in _runs(np.unique(terms[~self._unpacked[terms]])):
            for start, stop in self._pieces(run_start, run_stop):
                begin, end = self._bounds(start, stop)
                self.read(start, stop, self.docs[begin:end], self.tfs[begin:end])
                self._unpacked[start:stop] = True

    def _bounds(self, start: int, stop: int) -> tuple[int, int]:
        """The postings of the terms from `start` up to `stop`."""
        first, last = int(self._offsets[start]), int(self._offsets[stop])
        if not 0 <= first <= last <= self._n:
            raise self._offsets.damaged("postings with wrong offsets")
        return first, last

    def read(self, start: int, stop: int, docs: Array, tfs: Array) -> None:
        """Unpack the postings of the terms from `start` up to `stop` into arrays."""
        starts, offsets = self._starts[start : stop + 1], self._offsets[start : stop + 1]
        begin, end = int(starts[0]), int(starts[-1])
        n_postings = np.diff(offsets)
        if (
            not 0 <= begin <= end <= len(self._packed) - PADDING
            or (n_postings < 0).any()
            or (np.diff(starts) < 0).any()
        ):
            raise self._starts.damaged("postings with wrong offsets")
        self._packed.verify(begin, end + PADDING)
        try:
            unpack_postings(self._packed.memory, starts, n_postings, docs, tfs)
        except ValueError as error:
            raise self._packed.damaged(str(error)) from None

    def read_all(self) -> tuple[Array, Array]:
        """All postings, in arrays of their own."""
        docs, tfs = np.empty(self._n, np.uint32), np.empty(self._n, self.tfs.dtype)
        for start, stop in self._pieces(0, len(self._unpacked)):
            first, last = self._bounds(start, stop)
            self.read(start, stop, docs[first:last], tfs[first:last])
        return docs, tfs

    def _pieces(self, start: int, stop: int) -> list[tuple[int, int]]:
        """Ranges of terms with about MAX_POSTINGS_AT_ONCE postings each."""
        n_before = self._offsets[start : stop + 1]
        bounds = start + np.flatnonzero(np.diff(n_before[:-1] // MAX_POSTINGS_AT_ONCE)) + 1
        edges = [start, *bounds.tolist(), stop]
        return [(begin, end) for begin, end in pairwise(edges) if begin < end]


def _runs(numbers: Array) -> Iterator[tuple[int, int]]:
    """Ranges of ascending numbers that follow each other."""
    for run in np.split(numbers, np.flatnonzero(np.diff(numbers) > 1) + 1):
        if len(run):
            yield int(run[0]), int(run[-1]) + 1


def _reserve(n: int, dtype: np.dtype[np.generic]) -> Array:
    """An array whose memory the system provides when it is written to."""
    if not n:
        return np.zeros(0, dtype)
    return np.frombuffer(mmap.mmap(-1, n * dtype.itemsize), dtype)
