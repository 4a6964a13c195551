"""Ranges of numbers as one array."""

from __future__ import annotations

import numpy as np

from searchlab.types import Array


def concatenate_ranges(starts: Array, ends: Array) -> Array:
    """All numbers from each start to before its end, one range after the other."""
    lengths = ends - starts
    before = np.cumsum(lengths) - lengths
    return np.repeat(starts - before, lengths) + np.arange(lengths.sum())
