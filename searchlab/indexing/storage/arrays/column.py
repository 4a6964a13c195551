"""Columns: arrays in a memory-mapped file, which are verified before they are read.

A column behaves like a read-only array: an item, a slice or an array of row numbers verifies the blocks that it touches
(`block_checksums.py`) and returns plain numbers; anything else that NumPy does with it verifies all of it. Compiled
loops, which do not know columns and do not check bounds, take the array that `verify` returns.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from searchlab.array_ranges import concatenate_ranges
from searchlab.errors import REBUILD, IndexCorrupt
from searchlab.indexing.storage.arrays.block_checksums import VerifiedBlocks
from searchlab.types import Array


class Column:
    """An array with the verification of its file; without a file, the array itself."""

    __slots__ = ("blocks", "memory", "start")

    def __init__(self, array: npt.ArrayLike, blocks: VerifiedBlocks | None = None, start: int = 0) -> None:
        # The array itself: to be read only where it has been verified.
        self.memory: Array = np.asarray(array)
        self.blocks = blocks
        self.start = start

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the numbers."""
        return self.memory.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of rows, and of numbers in a row."""
        return self.memory.shape

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return f"Column({self.dtype}, {self.shape})"

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> Array:
        whole = self.whole
        if dtype is not None and whole.dtype != dtype:
            return whole.astype(dtype)
        return whole.copy() if copy else whole

    def __getitem__(self, key: Any) -> Any:
        if self.blocks is None or self.blocks.is_complete:
            return self.memory[key]
        return self._verify_key(key)[key]

    def read_with(self, other: Column, start: int, stop: int) -> tuple[Array, Array]:
        """The rows from `start` up to `stop` of documents and of their frequencies (`other`), to be read once."""
        return self[start:stop], other[start:stop]

    @property
    def whole(self) -> Array:
        """All numbers, verified."""
        return self.verify()

    def tolist(self) -> list[Any]:
        """All numbers, verified, as Python numbers."""
        numbers: list[Any] = self.whole.tolist()
        return numbers

    def verify(self, start: int = 0, stop: int | None = None) -> Array:
        """Verify the rows from `start` up to `stop`; raises IndexCorrupt if they are damaged.

        Returns an array of all rows, to be read only where they have been verified.
        """
        if self.blocks is not None and len(self.memory):
            row_bytes = self.memory.strides[0]
            stop = len(self.memory) if stop is None else stop
            self.blocks.verify(self.start + start * row_bytes, self.start + stop * row_bytes)
        return self.memory

    def damaged(self, problem: str) -> IndexCorrupt:
        """The error for numbers that cannot be right, though their checksums are."""
        if self.blocks is None:
            return IndexCorrupt(f"damaged ({problem}); {REBUILD}")
        return self.blocks.damaged(problem)

    def verify_ranges(self, starts: Array, stops: Array) -> Array:
        """The same for the rows of many ranges, which are within the column."""
        if self.blocks is not None and not self.blocks.is_complete:
            filled = starts < stops
            row_bytes = self.memory.strides[0]
            self.blocks.verify_ranges(self.start + starts[filled] * row_bytes, self.start + stops[filled] * row_bytes)
        return self.memory

    @property
    def mask(self) -> int:
        """The bits of a number that belong to it, for compiled loops over the arrays that `verify` returns."""
        return (1 << 8 * self.dtype.itemsize) - 1

    def verify_within(self, starts: Array, stops: Array) -> Array:
        """The same for ranges that are checked, since compiled loops check none: IndexError if one is not within."""
        if len(starts) and (starts.min() < 0 or (stops < starts).any() or stops.max() > len(self)):
            raise IndexError(f"a range that ends before it begins, or is not within 0 to {len(self)}")
        return self.verify_ranges(starts, stops)

    def gather(self, starts: Array, stops: Array) -> Array:
        """The rows of many ranges, verified, one range after the other; IndexError if one is not within the column."""
        rows = concatenate_ranges(starts, stops, len(self))
        gathered: Array = self.verify_ranges(starts, stops)[rows]
        return gathered

    def release(self, start: int, stop: int) -> None:
        """Let the rows from `start` up to `stop` leave the memory of the process, until they are read again."""
        if self.blocks is not None:
            row_bytes = self.memory.strides[0]
            self.blocks.release(self.start + start * row_bytes, self.start + stop * row_bytes)

    def _verify_key(self, key: Any) -> Array:
        """Verify the rows that a key of `__getitem__` asks for."""
        if isinstance(key, slice):
            return self.verify(*_bounds(key, len(self)))
        if isinstance(key, int | np.integer):
            number = range(len(self))[int(key)]
            return self.verify(number, number + 1)
        if isinstance(key, np.ndarray) and key.dtype.kind in "iu":
            return self._verify_rows(key)
        return self.verify()

    def _verify_rows(self, rows: Array) -> Array:
        numbers = rows.astype(np.int64).ravel()
        if len(numbers) and (numbers.min() < 0 or numbers.max() >= len(self)):
            inside = numbers[(numbers >= -len(self)) & (numbers < len(self))]  # NumPy refuses the others
            numbers = np.where(inside < 0, inside + len(self), inside)
        return self.verify_ranges(numbers, numbers + 1)


def _bounds(rows: slice, n_rows: int) -> tuple[int, int]:
    """The first row of a slice, and the one after the last, whatever its step."""
    start, stop, step = rows.indices(n_rows)
    if step == 1:
        return start, max(start, stop)
    numbers = range(n_rows)[rows]
    return (min(numbers[0], numbers[-1]), max(numbers[0], numbers[-1]) + 1) if numbers else (0, 0)
