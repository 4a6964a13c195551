"""Compiled loops over docnos that are ranges of a text: joining, ordering, duplicates, and matching of two lists.

Docnos are found by hash tables with open addressing, one for each group of rows. The hash is no secret, and a hostile
file may have docnos with the same one; so the number of comparisons is bounded, and the caller uses Python's instead.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from searchlab.types import Array

# FNV-1a.
HASH_START, HASH_FACTOR = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)
# Comparisons for each row of a group before it is given up; there are less than two on average.
MAX_COMPARISONS = 64
# Moves of insertion sort for each row of a group before it is left to merge sort.
MAX_MOVES = 8

compiled = njit(cache=True, nogil=True)


@compiled  # type: ignore[untyped-decorator]
def join_lines(text: Array, starts: Array, ends: Array, joined: Array) -> None:
    """Write all docnos, each with a line end."""
    at = 0
    for row in range(len(starts)):
        for position in range(starts[row], ends[row]):
            joined[at] = text[position]
            at += 1
        joined[at] = 10
        at += 1


@compiled  # type: ignore[untyped-decorator]
def hash_docno(text: Array, start: int, end: int) -> np.uint64:
    """The hash of a docno."""
    value = HASH_START
    for position in range(start, end):
        value = (value ^ np.uint64(text[position])) * HASH_FACTOR
    return value ^ (value >> np.uint64(32))


@compiled  # type: ignore[untyped-decorator]
def equals(text: Array, start: int, end: int, other: Array, other_start: int, other_end: int) -> bool:
    """Whether two docnos are the same."""
    if end - start != other_end - other_start:
        return False
    k = 0
    while k < end - start and text[start + k] == other[other_start + k]:
        k += 1
    return k == end - start


@compiled  # type: ignore[untyped-decorator]
def table_size(n: int) -> int:
    """The number of slots for n rows, a power of two."""
    size = 4
    while size < 2 * n:
        size *= 2
    return size


@compiled  # type: ignore[untyped-decorator]
def longest_group(offsets: Array) -> int:
    """The number of rows of the longest group."""
    longest = 0
    for group in range(len(offsets) - 1):
        longest = max(longest, offsets[group + 1] - offsets[group])
    return longest


@compiled  # type: ignore[untyped-decorator]
def fill_table(
    text: Array, starts: Array, ends: Array, begin: int, end: int, slots: Array, hashes: Array, size: int
) -> bool:
    """Enter rows into a table; returns whether all are different, and few were compared."""
    mask = np.uint64(size - 1)
    slots[:size] = -1
    budget = MAX_COMPARISONS * (end - begin)
    for row in range(begin, end):
        value = hash_docno(text, starts[row], ends[row])
        slot = value & mask
        while slots[slot] >= 0:
            budget -= 1
            other = slots[slot]
            if budget < 0 or (
                hashes[slot] == value and equals(text, starts[row], ends[row], text, starts[other], ends[other])
            ):
                return False
            slot = (slot + np.uint64(1)) & mask
        slots[slot] = row
        hashes[slot] = value
    return True


@compiled  # type: ignore[untyped-decorator]
def has_duplicate(text: Array, starts: Array, ends: Array, offsets: Array) -> bool:
    """Whether a group has a docno twice, or too many were compared."""
    size = table_size(longest_group(offsets))
    slots, hashes = np.empty(size, np.int64), np.empty(size, np.uint64)
    for group in range(len(offsets) - 1):
        begin, end = offsets[group], offsets[group + 1]
        if not fill_table(text, starts, ends, begin, end, slots, hashes, table_size(end - begin)):
            return True
    return False


@compiled  # type: ignore[untyped-decorator]
def match_rows(
    text: Array,
    starts: Array,
    ends: Array,
    offsets: Array,
    others: Array,
    other_starts: Array,
    other_ends: Array,
    other_offsets: Array,
    rows: Array,
) -> bool:
    """Set the row of the same docno in the same group of others, where there is one; returns whether it was fast.

    The docnos of a group of others are different.
    """
    size = table_size(longest_group(other_offsets))
    slots, hashes = np.empty(size, np.int64), np.empty(size, np.uint64)
    for group in range(len(offsets) - 1):
        begin, end = other_offsets[group], other_offsets[group + 1]
        size = table_size(end - begin)
        mask = np.uint64(size - 1)
        if not fill_table(others, other_starts, other_ends, begin, end, slots, hashes, size):
            return False
        budget = MAX_COMPARISONS * (offsets[group + 1] - offsets[group])
        for row in range(offsets[group], offsets[group + 1]):
            value = hash_docno(text, starts[row], ends[row])
            slot = value & mask
            while slots[slot] >= 0:
                budget -= 1
                if budget < 0:
                    return False
                other = slots[slot]
                if hashes[slot] == value and equals(
                    text, starts[row], ends[row], others, other_starts[other], other_ends[other]
                ):
                    rows[row] = other
                    break
                slot = (slot + np.uint64(1)) & mask
    return True


@compiled  # type: ignore[untyped-decorator]
def precedes(scores: Array, text: Array, starts: Array, ends: Array, row: int, other: int) -> bool:
    """Whether a row must come before another: a higher score, or the same and a docno that is greater by its bytes."""
    if scores[row] != scores[other]:
        return bool(scores[row] > scores[other])
    length, other_length = ends[row] - starts[row], ends[other] - starts[other]
    for k in range(min(length, other_length)):
        byte, other_byte = text[starts[row] + k], text[starts[other] + k]
        if byte != other_byte:
            return bool(byte > other_byte)
    return bool(length > other_length)


@compiled  # type: ignore[untyped-decorator]
def order_rows(scores: Array, offsets: Array, text: Array, starts: Array, ends: Array, order: Array) -> bool:
    """Order the rows of each group, given in `order` as they are; returns whether that changed any.

    Runs are mostly in order but for some ties: insertion sort moves few rows. A group with many moves is merge-sorted.
    """
    changed = False
    merged = np.empty(longest_group(offsets), np.int64)
    for group in range(len(offsets) - 1):
        begin, end = offsets[group], offsets[group + 1]
        budget = MAX_MOVES * (end - begin)
        for at in range(begin + 1, end):
            row = order[at]
            if scores[row] < scores[order[at - 1]]:
                continue
            place = at
            while place > begin and precedes(scores, text, starts, ends, row, order[place - 1]):
                order[place] = order[place - 1]
                place -= 1
            if place < at:
                order[place] = row
                changed = True
                budget -= at - place
                if budget < 0:
                    merge_sort(scores, text, starts, ends, order, begin, end, merged)
                    break
    return changed


@compiled  # type: ignore[untyped-decorator]
def merge_sort(
    scores: Array, text: Array, starts: Array, ends: Array, order: Array, begin: int, end: int, merged: Array
) -> None:
    """Order the rows order[begin:end]; `merged` has room for them."""
    n = end - begin
    width = 1
    while width < n:
        for left in range(0, n, 2 * width):
            middle, right = min(left + width, n), min(left + 2 * width, n)
            i, j = left, middle
            for k in range(left, right):
                from_right = i >= middle or (
                    j < right and precedes(scores, text, starts, ends, order[begin + j], order[begin + i])
                )
                if from_right:
                    merged[k] = order[begin + j]
                    j += 1
                else:
                    merged[k] = order[begin + i]
                    i += 1
        for k in range(n):
            order[begin + k] = merged[k]
        width *= 2
