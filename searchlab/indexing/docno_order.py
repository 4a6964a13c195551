"""Where does a document stand among all docnos of an index?

Equal scores are ordered by docno, and a collection of short documents has many equal scores: the order must
be at hand as numbers. Within a shard documents are numbered by docno; over several shards, a document's
standing is its number plus the docnos of other shards that come before it.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from searchlab.indexing.strings import Array, Strings


def docno_standings(shards: list[Strings]) -> Array:
    """The standing of each document, shard after shard."""
    standings = []
    for own in shards:
        standing = np.arange(len(own))
        for other in shards:
            if other is not own:
                standing += _count_smaller(*own.arrays, *other.arrays)
        standings.append(standing)
    return np.concatenate(standings)


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _count_smaller(blob, offsets, other_blob, other_offsets):  # type: ignore[no-untyped-def]
    """For each of some sorted strings, how many of other sorted strings are smaller."""
    counts = np.empty(len(offsets) - 1, np.int64)
    j = 0
    for i in range(len(counts)):
        while j < len(other_offsets) - 1 and _smaller(
            other_blob, other_offsets[j], other_offsets[j + 1], blob, offsets[i], offsets[i + 1]
        ):
            j += 1
        counts[i] = j
    return counts


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _smaller(a, start, end, b, other_start, other_end):  # type: ignore[no-untyped-def]
    """Whether the bytes a[start:end] come before b[other_start:other_end]."""
    length, other_length = end - start, other_end - other_start
    for i in range(min(length, other_length)):
        if a[start + i] != b[other_start + i]:
            return a[start + i] < b[other_start + i]
    return length < other_length
