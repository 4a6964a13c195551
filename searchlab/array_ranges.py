"""Ranges of numbers as one array."""

from __future__ import annotations

import numpy as np

from searchlab.types import Array


def concatenate_ranges(starts: Array, ends: Array, size: int) -> Array:
    """All numbers from each start to before its end, one range after the other; they index an array of this size.

    Raises IndexError if an end is before its start, or a range is not within the array.
    """
    lengths = ends - starts
    if len(lengths) and (lengths.min() < 0 or starts.min() < 0 or ends.max() > size):
        raise IndexError(f"a range that ends before it begins, or is not within 0 to {size}")
    before = np.cumsum(lengths) - lengths
    return np.repeat(starts - before, lengths) + np.arange(lengths.sum())
