"""Ranges of numbers as one array."""

from __future__ import annotations

import numpy as np

from searchlab.types import Array


def concatenate_ranges(starts: Array, ends: Array) -> Array:
    """All numbers from each start to before its end, one range after the other.

    Raises IndexError if an end is before its start.
    """
    lengths = ends - starts
    if len(lengths) and lengths.min() < 0:
        raise IndexError("a range that ends before it begins")
    before = np.cumsum(lengths) - lengths
    return np.repeat(starts - before, lengths) + np.arange(lengths.sum())
