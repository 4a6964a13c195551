"""Packed columns: postings that are packed in the file (`bit_packing.py`) and unpacked when they are first read.

They behave like other columns (`column.py`): what NumPy does with them unpacks the rows that it touches. Compiled loops
take the array that `verify` returns. It is reserved for all rows, but the system provides memory only where rows are
unpacked: a page at least for each term. So a slice of one term, which is what most read, is unpacked into arrays of its
size. What reads all rows (`whole`), or rows that it copies (`read_with`), gets arrays that are not kept.

Memory is bounded: the terms kept have a KEPT_SHARE of the postings, or MIN_KEPT_POSTINGS, and the first ones go when
others come. Once MAX_UNPACKED_POSTINGS of all columns are unpacked, all columns begin again with new arrays. An array
that is still read keeps its rows.
"""

from __future__ import annotations

import mmap
import threading
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise
from typing import Any
from weakref import WeakSet

import numpy as np
import numpy.typing as npt

from searchlab.array_ranges import concatenate_ranges
from searchlab.indexing.storage.arrays.bit_packing import BLOCK, PADDING, unpack_postings
from searchlab.indexing.storage.arrays.column import Column
from searchlab.types import Array

# Postings that are unpacked at once by `whole`.
MAX_POSTINGS_AT_ONCE = 1 << 20
# Unpacked postings in the memory of the process, of six or eight bytes each.
MAX_UNPACKED_POSTINGS = 1 << 26
# The terms that are kept have this share of the postings. To unpack a posting again takes a nanosecond.
KEPT_SHARE = 1 / 3
MIN_KEPT_POSTINGS = 1 << 16
# What the arrays of a term take apart from its postings, in postings.
TERM_OVERHEAD = 64


class PackedColumn(Column):
    """The documents or the frequencies of packed postings; it has no `memory` but the arrays that `verify` returns."""

    __slots__ = ("_dtype", "_kind", "_postings")

    def __init__(self, postings: _Postings, kind: int, dtype: np.dtype[Any]) -> None:
        self._postings, self._kind, self._dtype = postings, kind, dtype
        self.blocks, self.start = postings.packed.blocks, 0

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the unpacked numbers."""
        return self._dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of postings."""
        return (self._postings.n_postings,)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            start, stop, step = key.indices(len(self))
            found = self._postings.read_term(start, stop) if step == 1 else None
            if found is not None:
                return found[self._kind]
        # Also after all bytes are verified: rows have to be unpacked.
        return self._verify_key(key)[key]

    def release(self, start: int, stop: int) -> None:
        """Unpacked rows stay: compiled loops may be reading them."""

    def read_with(self, other: Column, start: int, stop: int) -> tuple[Array, Array]:
        """Rows of documents and frequencies, which are not kept if they are not unpacked yet."""
        if not isinstance(other, PackedColumn) or other._postings is not self._postings:
            return super().read_with(other, start, stop)
        arrays = self._postings.read_range(start, stop)
        return arrays[self._kind], arrays[other._kind]

    @property
    def whole(self) -> Array:
        """All numbers, in an array of their own."""
        return self._postings.read_all()[self._kind]

    def verify(self, start: int = 0, stop: int | None = None) -> Array:
        """Unpack the rows from `start` up to `stop`; raises IndexCorrupt if they are damaged."""
        stop = len(self) if stop is None else stop
        return self._postings.unpack(start, stop).arrays[self._kind]

    def verify_ranges(self, starts: Array, stops: Array) -> Array:
        """The same for the rows of many ranges, which are within the column."""
        filled = starts < stops
        return self._postings.unpack_ranges(starts[filled], stops[filled]).arrays[self._kind]


def open_postings(packed: Column, starts: Column, offsets: Column, tf_type: npt.DTypeLike) -> tuple[Column, Column]:
    """The columns of documents and frequencies; raises IndexCorrupt if the columns do not fit together."""
    n = int(offsets[-1])
    # Two bytes at least for a block.
    if not 0 <= 2 * n <= BLOCK * len(packed) or len(starts) != len(offsets) or starts[-1] != len(packed) - PADDING:
        raise packed.damaged("postings that do not fit their bytes")
    postings = _Postings(packed, starts, offsets, n, (np.dtype(np.uint32), np.dtype(tf_type)))
    docs, tfs = (PackedColumn(postings, kind, dtype) for kind, dtype in enumerate(postings.dtypes))
    return docs, tfs


class _Unpacked:
    """Arrays of documents and frequencies, and for which terms they are unpacked there."""

    def __init__(self, n_postings: int, n_terms: int, dtypes: tuple[np.dtype[Any], np.dtype[Any]]) -> None:
        self.arrays = _reserve(n_postings, dtypes[0]), _reserve(n_postings, dtypes[1])
        self.has_term = np.zeros(n_terms, bool)
        # Where the postings of terms end that were unpacked one by one, by where they begin.
        self.stops: dict[int, int] = {}
        # The postings of terms in arrays of their own, by where they begin and end, the first ones first.
        self.terms: dict[tuple[int, int], tuple[Array, Array]] = {}
        self._n_kept = 0
        self._lock = threading.Lock()

    def keep(self, start: int, stop: int, term: tuple[Array, Array], max_postings: int) -> int:
        """Keep the postings of a term, and drop the first ones if they are too many; how many more are kept."""
        with self._lock:
            if (start, stop) in self.terms:
                return 0
            before = self._n_kept
            self.terms[start, stop] = term
            self._n_kept += stop - start + TERM_OVERHEAD
            while self._n_kept > max_postings and len(self.terms) > 1:
                first, last = next(iter(self.terms))
                del self.terms[first, last]
                self._n_kept -= last - first + TERM_OVERHEAD
            return self._n_kept - before


class _Postings:
    """Postings in blocks, and what is unpacked of them."""

    def __init__(
        self,
        packed: Column,
        starts: Column,
        offsets: Column,
        n_postings: int,
        dtypes: tuple[np.dtype[Any], np.dtype[Any]],
    ) -> None:
        self.packed, self.n_postings, self.dtypes = packed, n_postings, dtypes
        self._starts, self._offsets, self._n_terms = starts, offsets, len(offsets) - 1
        self._unpacked = _Unpacked(n_postings, self._n_terms, dtypes)

    def begin_again(self) -> None:
        """Leave what is unpacked to those who read it."""
        self._unpacked = _Unpacked(self.n_postings, self._n_terms, self.dtypes)

    def unpack(self, start: int, stop: int) -> _Unpacked:
        """Unpack the terms that have these postings."""
        unpacked = self._unpacked
        if start >= stop or unpacked.stops.get(start) == stop:
            return unpacked
        first, after = self._find_terms(start, stop)
        self._unpack_lacking(unpacked, np.array([first]), np.array([after]), start, stop)
        if after - first == 1:
            unpacked.stops[start] = stop
        return unpacked

    def read_term(self, start: int, stop: int) -> tuple[Array, Array] | None:
        """These postings, unpacked and kept, if they are all those of one term."""
        unpacked = self._unpacked
        found = unpacked.terms.get((start, stop))
        if found is not None or start >= stop:
            return found
        first, after = self._find_terms(start, stop)
        if after - first != 1 or (int(self._offsets[first]), int(self._offsets[after])) != (start, stop):
            return None
        found = self.read_range(start, stop)
        n_kept = unpacked.keep(start, stop, found, max(MIN_KEPT_POSTINGS, int(KEPT_SHARE * self.n_postings)))
        _MEMORY.count(self, n_kept)
        return found

    def read_range(self, start: int, stop: int) -> tuple[Array, Array]:
        """These postings, not kept if they are not unpacked yet."""
        unpacked = self._unpacked
        kept = unpacked.terms.get((start, stop))
        if kept is not None:
            return kept
        if start >= stop or unpacked.stops.get(start) == stop:
            docs, tfs = unpacked.arrays
            return docs[start:stop], tfs[start:stop]
        first, after = self._find_terms(start, stop)
        self._require_terms(np.array([first]), np.array([after]), start, stop)
        begin, end = self._bounds(first, after)
        docs, tfs = (np.empty(end - begin, dtype) for dtype in self.dtypes)
        self.read(first, after, docs, tfs)
        if (begin, end) == (start, stop):
            return docs, tfs
        return docs[start - begin : stop - begin], tfs[start - begin : stop - begin]

    def _find_terms(self, start: int, stop: int) -> tuple[int, int]:
        """The first of the terms that have these postings, and the one after the last."""
        # Single offsets, since all would have to be verified.
        first = bisect_right(range(len(self._offsets)), start, key=self._offsets.__getitem__) - 1
        return first, bisect_left(range(len(self._offsets)), stop, key=self._offsets.__getitem__)

    def unpack_ranges(self, starts: Array, stops: Array) -> _Unpacked:
        """Unpack the terms that have these postings; no range is empty."""
        unpacked = self._unpacked
        if len(starts):
            offsets = self._ascending_offsets
            first, after = np.searchsorted(offsets, starts, "right") - 1, np.searchsorted(offsets, stops, "left")
            self._unpack_lacking(unpacked, first, after, starts, stops)
        return unpacked

    @cached_property
    def _ascending_offsets(self) -> Array:
        """All offsets. NumPy finds other terms than `bisect` if they do not ascend: rows would be written twice."""
        offsets = self._offsets.whole
        if (offsets[1:] < offsets[:-1]).any():
            raise self._offsets.damaged("postings with wrong offsets")
        return offsets

    def _unpack_lacking(
        self, unpacked: _Unpacked, first: Array, after: Array, starts: int | Array, stops: int | Array
    ) -> None:
        """Unpack ranges of terms, where they are not unpacked; they must have these postings."""
        self._require_terms(first, after, starts, stops)
        terms = concatenate_ranges(first, after, self._n_terms)
        n_unpacked = 0
        for run_start, run_stop in _runs(np.unique(terms[~unpacked.has_term[terms]])):
            for start, stop in self._pieces(run_start, run_stop):
                begin, end = self._bounds(start, stop)
                self.read(start, stop, *(array[begin:end] for array in unpacked.arrays))
                unpacked.has_term[start:stop] = True
                n_unpacked += end - begin
        _MEMORY.count(self, n_unpacked)

    def _require_terms(self, first: Array, after: Array, starts: int | Array, stops: int | Array) -> None:
        """Raise IndexCorrupt unless these ranges of terms have these postings."""
        if first.min() < 0 or (first >= after).any() or after.max() > self._n_terms:
            raise self._offsets.damaged("postings with wrong offsets")
        if (self._offsets[first] > starts).any() or (self._offsets[after] < stops).any():
            raise self._offsets.damaged("postings with wrong offsets")

    def _bounds(self, start: int, stop: int) -> tuple[int, int]:
        """The postings of the terms from `start` up to `stop`."""
        first, last = int(self._offsets[start]), int(self._offsets[stop])
        if not 0 <= first <= last <= self.n_postings:
            raise self._offsets.damaged("postings with wrong offsets")
        return first, last

    def read(self, start: int, stop: int, docs: Array, tfs: Array) -> None:
        """Unpack the postings of the terms from `start` up to `stop` into arrays."""
        starts, offsets = self._starts[start : stop + 1], self._offsets[start : stop + 1]
        begin, end = int(starts[0]), int(starts[-1])
        # Compared, not subtracted: differences of hostile numbers overflow.
        if (
            not 0 <= begin <= end <= len(self.packed) - PADDING
            or (offsets[1:] < offsets[:-1]).any()
            or (starts[1:] < starts[:-1]).any()
        ):
            raise self._starts.damaged("postings with wrong offsets")
        blob = self.packed.verify(begin, end + PADDING)
        try:
            unpack_postings(blob, starts, np.diff(offsets), docs, tfs)
        except ValueError as error:
            raise self.packed.damaged(str(error)) from None

    def read_all(self) -> tuple[Array, Array]:
        """All postings, in arrays of their own."""
        docs, tfs = (np.empty(self.n_postings, dtype) for dtype in self.dtypes)
        for start, stop in self._pieces(0, self._n_terms):
            first, last = self._bounds(start, stop)
            self.read(start, stop, docs[first:last], tfs[first:last])
        return docs, tfs

    def _pieces(self, start: int, stop: int) -> list[tuple[int, int]]:
        """Ranges of terms with about MAX_POSTINGS_AT_ONCE postings each."""
        n_before = self._offsets[start : stop + 1]
        bounds = start + np.flatnonzero(np.diff(n_before[:-1] // MAX_POSTINGS_AT_ONCE)) + 1
        edges = [start, *bounds.tolist(), stop]
        return [(begin, end) for begin, end in pairwise(edges) if begin < end]


class _Memory:
    """How many postings are unpacked in this process, and of which columns."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._n_unpacked = 0
        self._owners: WeakSet[_Postings] = WeakSet()

    def count(self, owner: _Postings, n_unpacked: int) -> None:
        """Count what an owner has unpacked; when it is too much, all owners begin again."""
        with self._lock:
            self._owners.add(owner)
            self._n_unpacked += n_unpacked
            if self._n_unpacked <= MAX_UNPACKED_POSTINGS:
                return
            for each in self._owners:
                each.begin_again()
            self._n_unpacked = 0
            self._owners.clear()


_MEMORY = _Memory()


def _runs(numbers: Array) -> Iterator[tuple[int, int]]:
    """Ranges of ascending numbers that follow each other."""
    for run in np.split(numbers, np.flatnonzero(np.diff(numbers) > 1) + 1):
        if len(run):
            yield int(run[0]), int(run[-1]) + 1


def _reserve(n: int, dtype: np.dtype[np.generic]) -> Array:
    """An array whose memory the system provides when it is written to; not NumPy's, which asks for huge pages."""
    if not n:
        return np.zeros(0, dtype)
    # Private, where the system has the choice: shared memory has limits of its own, in containers above all.
    flags = {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS} if hasattr(mmap, "MAP_ANONYMOUS") else {}
    try:
        return np.frombuffer(mmap.mmap(-1, n * dtype.itemsize, **flags), dtype)
    except OSError as error:
        raise MemoryError(f"no memory for {n:,} postings ({error.strerror})") from None
