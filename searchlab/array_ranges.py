"""Ranges of numbers as one array, and the offsets of pieces."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from searchlab.types import Array


def concatenate_ranges(starts: Array, ends: Array, size: int) -> Array:
    """All numbers from each start to before its end, one range after the other; they index an array of this size.

    Raises IndexError if an end is before its start, or a range is not within the array.
    """
    lengths = ends - starts
    require_within(starts, lengths, size)
    before = np.cumsum(lengths) - lengths
    return np.repeat(starts - before, lengths) + np.arange(lengths.sum())


def require_within(starts: Array, lengths: Array, size: int) -> None:
    """Raise IndexError unless all ranges are within an array of this size."""
    if len(lengths) and (lengths.min() < 0 or starts.min() < 0 or (starts + lengths).max() > size):
        raise IndexError(f"a range that ends before it begins, or is not within 0 to {size}")


def offsets_of(lengths: npt.ArrayLike) -> Array:
    """Where each of several pieces begins if one follows the other, and at last where the last one ends."""
    lengths = np.asarray(lengths, np.int64)
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets
