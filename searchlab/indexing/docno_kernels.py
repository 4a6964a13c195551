"""Compiled loops over docnos: the rank of every document in the order of all, lookup of many, and many as lines.

Equal scores are ordered by docno, and collections of short documents have many equal scores, so the order is needed as
numbers. Within a shard documents are numbered by docno; over several shards the rank of a document is its number plus
the number of smaller docnos in the other shards.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from searchlab.array_ranges import offsets_of
from searchlab.indexing.storage.arrays.string_table import PackedStrings, Strings
from searchlab.types import Array


def rank_docnos(shards: list[Strings]) -> Array:
    """The rank of each document in the order of all docnos, shard after shard."""
    ranks = []
    for docnos in shards:
        ranks_in_shard = np.arange(len(docnos))
        for other in shards:
            if other is not docnos:
                ranks_in_shard += _count_smaller(*docnos.arrays, *other.arrays)
        ranks.append(ranks_in_shard)
    return np.concatenate([np.zeros(0, np.int64), *ranks])


def find_docnos(shard: Strings, wanted: list[str]) -> Array:
    """The numbers of documents in a shard, -1 for those that it does not have."""
    numbers: Array = _find(*shard.arrays, *PackedStrings.pack(wanted))
    return numbers


def docno_lines(tables: list[Strings], shards: Array, docs: Array) -> Array:
    """The docnos of documents, given by shard index and number, each with a line end; docnos have none."""
    numbers = [np.flatnonzero(shards == shard_index) for shard_index in range(len(tables))]
    ranges = [table.ranges(docs[here]) for table, here in zip(tables, numbers, strict=True)]
    sizes = np.ones(len(docs), np.int64)
    for here, (_, _, lengths) in zip(numbers, ranges, strict=True):
        sizes[here] += lengths
    begins = offsets_of(sizes)
    lines = np.empty(begins[-1], np.uint8)
    for here, (blob, starts, lengths) in zip(numbers, ranges, strict=True):
        _copy_lines(blob, starts, lengths, begins[here], lines)
    return lines


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _copy_lines(blob, starts, lengths, begins, lines):  # type: ignore[no-untyped-def]
    """Copy strings to where their lines begin."""
    for i in range(len(starts)):
        for j in range(lengths[i]):
            lines[begins[i] + j] = blob[starts[i] + j]
        lines[begins[i] + lengths[i]] = 10


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _find(blob, offsets, wanted_blob, wanted_offsets):  # type: ignore[no-untyped-def]
    """The number of each wanted string among sorted strings, -1 if it is not there."""
    numbers = np.empty(len(wanted_offsets) - 1, np.int64)
    for i in range(len(numbers)):
        start, end = wanted_offsets[i], wanted_offsets[i + 1]
        low, high = 0, len(offsets) - 1
        while low < high:
            middle = (low + high) >> 1
            if _smaller(blob, offsets[middle], offsets[middle + 1], wanted_blob, start, end):
                low = middle + 1
            else:
                high = middle
        is_here = low < len(offsets) - 1 and not _smaller(wanted_blob, start, end, blob, offsets[low], offsets[low + 1])
        numbers[i] = low if is_here else -1
    return numbers


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _count_smaller(blob, offsets, other_blob, other_offsets):  # type: ignore[no-untyped-def]
    """For each of the sorted strings, the number of other sorted strings that are smaller."""
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
