"""Narrow columns: numbers of one to four bytes each, as few as the largest needs.

They are read where they are in the file, as numbers of four bytes that overlap, of which the upper bytes are cut off:
so a single number is found without the others, and reading is nearly as fast as that of whole numbers. Bytes of zeros
follow the last number, which is read by four bytes too.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from searchlab.indexing.storage.arrays.column import Column
from searchlab.types import Array

NUMBER_BYTES = 4


def bytes_needed(n_values: int) -> int:
    """The bytes of a number below `n_values`."""
    return max(-(-(n_values - 1).bit_length() // 8), 1)


def narrow(numbers: Array, n_values: int) -> Array:
    """Numbers below `n_values` as bytes, the lowest first."""
    width = bytes_needed(n_values)
    rows = np.ascontiguousarray(numbers, "<u4").view(np.uint8).reshape(len(numbers), NUMBER_BYTES)
    narrowed = np.zeros(len(numbers) * width + NUMBER_BYTES - width, np.uint8)
    columns = narrowed[: len(numbers) * width].reshape(len(numbers), width)
    # Column by column: NumPy copies short rows slowly.
    for place in range(width):
        columns[:, place] = rows[:, place]
    return narrowed


class NarrowColumn(Column):
    """A column of n numbers below `n_values`; raises IndexCorrupt if the bytes are not as many."""

    __slots__ = ("_mask",)

    def __init__(self, packed: Column, n: int, n_values: int) -> None:
        width = bytes_needed(n_values)
        if n < 0 or len(packed) != n * width + NUMBER_BYTES - width:
            raise packed.damaged(f"{n} numbers of {width} bytes do not fit {len(packed)} bytes")
        if n:
            super().__init__(np.ndarray((n,), "<u4", packed.memory, 0, (width,)), packed.blocks, packed.start)
        else:
            super().__init__(np.zeros(0, np.uint32))
        self._mask = np.uint32((1 << 8 * width) - 1)

    @property
    def mask(self) -> int:
        """The bits of a number that is read by four bytes which belong to it."""
        return int(self._mask)

    def __getitem__(self, key: Any) -> Any:
        return super().__getitem__(key) & self._mask

    def gather(self, starts: Array, stops: Array) -> Array:
        """The rows of many ranges, verified, one range after the other; IndexError if one is not within the column."""
        numbers: Array = super().gather(starts, stops) & self._mask
        return numbers

    @property
    def whole(self) -> Array:
        """All numbers, verified, in an array of their own."""
        self.verify()
        numbers: Array = self.memory & self._mask
        return numbers
