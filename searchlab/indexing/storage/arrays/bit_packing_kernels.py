"""Compiled loops that pack and unpack many postings (see `bit_packing.py`)."""
# mypy: disable-error-code="no-untyped-def,untyped-decorator"

from __future__ import annotations

import numpy as np
from numba import njit

from searchlab.indexing.storage.arrays.bit_packing import BLOCK, MAX_WIDTH


@njit(cache=True)
def _width(number):
    width = 0
    while number > 0:
        number >>= 1
        width += 1
    return width


@njit(cache=True)
def _n_bytes(n, width):
    return (n * width + 7) >> 3


@njit(cache=True)
def _put_block(blob, at, numbers, begin, end, before, is_gaps, width):
    """Write the numbers of a block, each less 1; of gaps, the numbers are those from one document to the next.

    `before` is the document before the first. Returns where the block ends.
    """
    if width == 0:
        return at
    at, bits = np.uint64(at), np.uint64(0)
    n_bits = np.int64(0)
    for i in range(begin, end):
        number = np.int64(numbers[i])
        bits |= np.uint64(number - before - 1) << np.uint64(n_bits)
        if is_gaps:
            before = number
        n_bits += width
        while n_bits >= 8:
            blob[at] = np.uint8(bits & np.uint64(255))
            bits >>= np.uint64(8)
            n_bits -= 8
            at += np.uint64(1)
    if n_bits > 0:
        blob[at] = np.uint8(bits)
        at += np.uint64(1)
    return np.int64(at)


@njit(cache=True)
def _take(blob, bit, mask):
    at = bit >> 3
    value = np.uint64(0)
    for i in range(5):
        value |= np.uint64(blob[at + i]) << np.uint64(8 * i)
    return (value >> np.uint64(bit & 7)) & mask


@njit(cache=True)
def _block_widths(docs, tfs, begin, end, before):
    """The widths of the gaps and of the frequencies of a block, and its last document."""
    gap, tf = np.int64(0), np.int64(0)
    for i in range(begin, end):
        doc = np.int64(docs[i])
        gap, tf = max(gap, doc - before - 1), max(tf, np.int64(tfs[i]) - 1)
        before = doc
    return _width(gap), _width(tf), before


@njit(cache=True, nogil=True)
def measure_postings(offsets, docs, tfs):
    """The bytes that each term takes."""
    sizes = np.zeros(len(offsets) - 1, np.int64)
    for term in range(len(sizes)):
        before = np.int64(-1)
        for begin in range(offsets[term], offsets[term + 1], BLOCK):
            end = min(begin + BLOCK, offsets[term + 1])
            gap_width, tf_width, before = _block_widths(docs, tfs, begin, end, before)
            sizes[term] += 2 + _n_bytes(end - begin, gap_width) + _n_bytes(end - begin, tf_width)
    return sizes


@njit(cache=True, nogil=True)
def pack_terms(offsets, docs, tfs, starts, blob):
    """Write the postings of all terms; those of term t begin at starts[t]."""
    for term in range(len(offsets) - 1):
        first, last = offsets[term], offsets[term + 1]
        n_blocks = (last - first + BLOCK - 1) // BLOCK
        at = starts[term] + 2 * n_blocks
        before = np.int64(-1)
        for block in range(n_blocks):
            begin = first + block * BLOCK
            end = min(begin + BLOCK, last)
            previous = before
            gap_width, tf_width, before = _block_widths(docs, tfs, begin, end, before)
            blob[starts[term] + block], blob[starts[term] + n_blocks + block] = gap_width, tf_width
            at = _put_block(blob, at, docs, begin, end, previous, True, gap_width)
        for block in range(n_blocks):
            begin = first + block * BLOCK
            width = np.int64(blob[starts[term] + n_blocks + block])
            at = _put_block(blob, at, tfs, begin, min(begin + BLOCK, last), np.int64(0), False, width)


@njit(cache=True, nogil=True)
def unpack_terms(blob, starts, n_postings, docs, tfs):
    """Read the postings of terms that follow each other; False if they do not fit their bytes.

    The first term begins within the bytes, and the last ends there (see `bit_packing.unpack_postings`).
    """
    row = 0
    for term in range(len(n_postings)):
        start, stop, n = starts[term], starts[term + 1], n_postings[term]
        n_blocks = (n + BLOCK - 1) // BLOCK
        if n < 0 or row + n > len(docs) or stop < start or stop > starts[-1] or stop - start < 2 * n_blocks:
            return False
        # All widths are checked before a number is read.
        size = 2 * n_blocks
        for block in range(n_blocks):
            length = min(BLOCK, n - block * BLOCK)
            gap_width, tf_width = np.int64(blob[start + block]), np.int64(blob[start + n_blocks + block])
            if gap_width > MAX_WIDTH or tf_width > MAX_WIDTH:
                return False
            size += _n_bytes(length, gap_width) + _n_bytes(length, tf_width)
        if start + size != stop:
            return False
        at = start + 2 * n_blocks
        doc = np.int64(-1)
        for block in range(n_blocks):
            length = min(BLOCK, n - block * BLOCK)
            width = np.int64(blob[start + block])
            mask = (np.uint64(1) << np.uint64(width)) - np.uint64(1)
            for i in range(length):
                doc += np.int64(_take(blob, 8 * at + i * width, mask)) + 1
                docs[row + block * BLOCK + i] = doc
            at += _n_bytes(length, width)
        for block in range(n_blocks):
            length = min(BLOCK, n - block * BLOCK)
            width = np.int64(blob[start + n_blocks + block])
            mask = (np.uint64(1) << np.uint64(width)) - np.uint64(1)
            for i in range(length):
                tfs[row + block * BLOCK + i] = _take(blob, 8 * at + i * width, mask) + np.uint64(1)
            at += _n_bytes(length, width)
        row += n
    return row == len(docs)
