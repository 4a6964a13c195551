"""Encoding of postings and terms in the format of Whoosh's segments.

A term's postings are blocks of at most 128. Each block is its size, a pickled head of six numbers, and a pickled tuple:
gaps between documents, weights, and positions. The pickles are written here opcode by opcode, without compression,
which would take most of the time. Instead, whole numbers below 256 are written as bytes, whose items Python reads as
numbers: Whoosh needs a sequence of numbers, not a tuple. A term with one posting of weight 1 has no block: its entry in
the table of terms holds the posting.

The functions are plain Python over sequences of numbers: lists and a bytearray for a few postings, arrays where they
are compiled (`compiled_encoding.py`).
"""

from __future__ import annotations

import pickle
from typing import Any

# A list, a bytearray or an array.
Numbers = Any

BLOCK_POSTINGS = 128
# The bytes that begin the postings of a term.
MAGIC = tuple(b"W3Bl")
MARK, STOP = pickle.MARK[0], pickle.STOP[0]
TUPLE, TUPLE1, TUPLE3, NONE = pickle.TUPLE[0], pickle.TUPLE1[0], pickle.TUPLE3[0], pickle.NONE[0]
BININT1, BININT2, BININT = pickle.BININT1[0], pickle.BININT2[0], pickle.BININT[0]
BINFLOAT = pickle.BINFLOAT[0]
SHORT_BINBYTES, BINBYTES = pickle.SHORT_BINBYTES[0], pickle.BINBYTES[0]
# Numbers below this one fit into a byte.
BYTE_VALUES = 256
# Upper bounds of what a block, a posting and a position take.
BLOCK_BYTES, POSTING_BYTES, POSITION_BYTES = 64, 20, 5
# The numbers that `encode_terms` gives for each term.
ENTRY_NUMBERS = 9


def put_integer(out: Numbers, at: int, value: int) -> int:
    """Write the opcode of a whole number from 0; returns where it ends."""
    if value < 1 << 8:
        out[at], out[at + 1] = BININT1, value
        return at + 2
    if value < 1 << 16:
        out[at], out[at + 1], out[at + 2] = BININT2, value & 255, value >> 8
        return at + 3
    out[at] = BININT
    for i in range(4):
        out[at + 1 + i] = (value >> 8 * i) & 255
    return at + 5


def put_big_endian(out: Numbers, at: int, value: int) -> int:
    """Write four bytes, the highest first."""
    for i in range(4):
        out[at + i] = (value >> 8 * (3 - i)) & 255
    return at + 4


def put_weight(out: Numbers, at: int, weight: int, weight_bytes: Numbers) -> int:
    """Write the opcode of a floating-point number; `weight_bytes` has eight bytes for each weight."""
    out[at] = BINFLOAT
    for i in range(8):
        out[at + 1 + i] = weight_bytes[8 * weight + i]
    return at + 9


def put_positions(out: Numbers, at: int, positions: Numbers, first: int, n: int) -> int:
    """Write n positions as bytes, in the format `GapPositions`."""
    is_short = POSITION_BYTES * n < 256
    begin = end = at + (2 if is_short else 5)
    before = 0
    for i in range(first, first + n):
        gap = positions[i] - before
        before = positions[i]
        while gap >= 128:
            out[end] = 128 | gap & 127
            gap >>= 7
            end += 1
        out[end] = gap
        end += 1
    size = end - begin
    out[at], out[at + 1] = SHORT_BINBYTES if is_short else BINBYTES, size & 255
    if not is_short:
        for i in range(1, 4):
            out[at + 1 + i] = (size >> 8 * i) & 255
    return end


def put_head(
    out: Numbers,
    at: int,
    n_postings: int,
    last_doc: int,
    weight: int,
    weight_bytes: Numbers,
    shortest: int,
    longest: int,
) -> int:
    """Write what is known of a block without reading it: its largest weight, and the codes of lengths, among others."""
    out[at] = MARK
    at = put_integer(out, at + 1, n_postings)
    at = put_integer(out, at, last_doc)
    at = put_weight(out, at, weight, weight_bytes)
    at = put_integer(out, at, 0)  # not compressed
    at = put_integer(out, at, shortest)
    at = put_integer(out, at, longest)
    out[at], out[at + 1] = TUPLE, STOP
    return at + 2


def put_docs(out: Numbers, at: int, docs: Numbers, begin: int, end: int) -> int:
    """Write the gaps between the documents of a block, the first from 0: as bytes if all are small."""
    largest, before = 0, 0
    for i in range(begin, end):
        largest, before = max(largest, docs[i] - before), docs[i]
    before = 0
    if largest < BYTE_VALUES:
        out[at], out[at + 1] = SHORT_BINBYTES, end - begin
        at += 2
        for i in range(begin, end):
            out[at] = docs[i] - before
            before = docs[i]
            at += 1
        return at
    out[at] = MARK
    at += 1
    for i in range(begin, end):
        at = put_integer(out, at, docs[i] - before)
        before = docs[i]
    out[at] = TUPLE
    return at + 1


def put_numbers(out: Numbers, at: int, numbers: Numbers, begin: int, end: int, largest: int) -> int:
    """Write whole numbers of a block, of which `largest` is the largest: as bytes if all are small."""
    if largest < BYTE_VALUES:
        out[at], out[at + 1] = SHORT_BINBYTES, end - begin
        at += 2
        for i in range(begin, end):
            out[at] = numbers[i]
            at += 1
        return at
    out[at] = MARK
    at += 1
    for i in range(begin, end):
        at = put_integer(out, at, numbers[i])
    out[at] = TUPLE
    return at + 1


def put_position_lists(
    out: Numbers, at: int, tfs: Numbers, begin: int, end: int, positions: Numbers, first: int, heaviest: int
) -> tuple[int, int]:
    """Write the positions of each posting of a block; those of the first begin at `first`. Returns where both end.

    The only position of a posting is a number, several are bytes (see `GapPositions`).
    """
    if heaviest == 1:
        last, largest = first + end - begin, 0
        for i in range(first, last):
            largest = max(largest, positions[i])
        return put_numbers(out, at, positions, first, last, largest), last
    out[at] = MARK
    at += 1
    for i in range(begin, end):
        n = tfs[i]
        at = put_integer(out, at, positions[first]) if n == 1 else put_positions(out, at, positions, first, n)
        first += n
    out[at] = TUPLE
    return at + 1, first


def encode_terms(
    start: int,
    stop: int,
    offsets: Numbers,
    docs: Numbers,
    tfs: Numbers,
    positions: Numbers,
    position: int,
    length_codes: Numbers,
    weight_bytes: Numbers,
    out: Numbers,
    entries: Numbers,
) -> tuple[int, int]:
    """Write the postings of the terms from `start` up to `stop`; returns the number of bytes, and the next position.

    `positions` is empty for a field without positions; else those of the first term begin at `position`. For each
    term, `entries` gets nine numbers: the total weight, the number of documents, the smallest and the largest code of
    a length, the largest weight, the first and the last document, where its postings end in `out`, and the position of
    a posting that is not in `out`, because it is the only one and its weight is 1.
    """
    at = 0
    for term in range(start, stop):
        first, last = offsets[term], offsets[term + 1]
        entry = ENTRY_NUMBERS * (term - start)
        entries[entry + 7] = at
        if first == last:
            continue
        if last - first == 1 and tfs[first] == 1:
            code = length_codes[docs[first]]
            entries[entry], entries[entry + 1], entries[entry + 2], entries[entry + 3] = 1, 1, code, code
            entries[entry + 4], entries[entry + 5], entries[entry + 6] = 1, docs[first], docs[first]
            if len(positions):
                entries[entry + 8] = positions[position]
                position += 1
            continue
        for i in range(4):
            out[at + i] = MAGIC[i]
        at += 4
        total, heaviest, shortest, longest = 0, 0, 255, 0
        for begin in range(first, last, BLOCK_POSTINGS):
            end = min(begin + BLOCK_POSTINGS, last)
            smallest, largest, low, high = tfs[begin], tfs[begin], 255, 0
            for i in range(begin, end):
                smallest, largest = min(smallest, tfs[i]), max(largest, tfs[i])
                code = length_codes[docs[i]]
                low, high = min(low, code), max(high, code)
                total += tfs[i]
            heaviest, shortest, longest = max(heaviest, largest), min(shortest, low), max(longest, high)
            size_at = at
            at = put_head(out, at + 4, end - begin, docs[end - 1], largest, weight_bytes, low, high)
            at = put_docs(out, at, docs, begin, end)
            if smallest < largest:
                at = put_numbers(out, at, tfs, begin, end, largest)
            elif largest > 1:
                at = put_weight(out, at, largest, weight_bytes)
            else:
                out[at] = NONE
                at += 1
            if len(positions):
                at, position = put_position_lists(out, at, tfs, begin, end, positions, position, largest)
            else:
                out[at] = NONE
                at += 1
            out[at], out[at + 1] = TUPLE3, STOP
            at += 2
            size = at - size_at - 4
            # The size of the last block is negative.
            put_big_endian(out, size_at, size if end < last else -size)
        entries[entry], entries[entry + 1] = total, last - first
        entries[entry + 2], entries[entry + 3], entries[entry + 4] = shortest, longest, heaviest
        entries[entry + 5], entries[entry + 6], entries[entry + 7] = docs[first], docs[last - 1], at
    return at, position
