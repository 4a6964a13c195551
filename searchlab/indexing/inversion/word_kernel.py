"""Compiled tokenizer of ASCII texts: the numbers of their words in a table of words.

The words are those of `analysis/tokenizer.py`, whose pattern is followed here byte by byte:

    digits(.digits)+ signs*   |   signs('signs)*         a sign is a letter or a digit

The table is an open-addressing hash table: a slot holds the upper half of a word's hash and, in the lower half, the
number of the word plus 1; 0 is a free slot.
"""
# mypy: disable-error-code="no-untyped-def,untyped-decorator"

from __future__ import annotations

import numpy as np
from numba import njit

MAX_WORD_BYTES = 255
NEWLINE, APOSTROPHE, POINT, ZERO, NINE, A, S, Z = (ord(c) for c in "\n'.09asz")
# FNV-1a.
HASH_START, HASH_FACTOR = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)
LOW_HALF = np.uint64(0xFFFFFFFF)


@njit(cache=True)
def _is_digit(byte):
    return ZERO <= byte <= NINE


@njit(cache=True)
def _is_sign(byte):
    return A <= byte <= Z or ZERO <= byte <= NINE


@njit(cache=True)
def _end_of_signs(text, at, end):
    while at < end and _is_sign(text[at]):
        at += 1
    return at


@njit(cache=True)
def _end_of_word(text, start, end):
    """The end of the word that begins at `start`, in lower case."""
    if _is_digit(text[start]):
        at = start
        while at < end and _is_digit(text[at]):
            at += 1
        has_point = False
        while at + 1 < end and text[at] == POINT and _is_digit(text[at + 1]):
            has_point = True
            at += 1
            while at < end and _is_digit(text[at]):
                at += 1
        if has_point:
            return _end_of_signs(text, at, end)
    at = _end_of_signs(text, start, end)
    while at + 1 < end and text[at] == APOSTROPHE and _is_sign(text[at + 1]):
        at = _end_of_signs(text, at + 1, end)
    return at


@njit(cache=True)
def _hash(text, start, end):
    key = HASH_START
    for i in range(start, end):
        key = (key ^ np.uint64(text[i])) * HASH_FACTOR
    return key ^ (key >> np.uint64(29))


@njit(cache=True)
def _find(text, start, end, slots, blob, bounds, n_words):
    """The number of a word, which is added to the table if it is new."""
    key = _hash(text, start, end)
    mask = np.uint64(len(slots) - 1)
    upper = key & ~LOW_HALF
    slot = key & mask
    while True:
        entry = slots[slot]
        if entry == 0:
            break
        if entry & ~LOW_HALF == upper:
            number = np.int64(entry & LOW_HALF) - 1
            begin = bounds[number]
            if bounds[number + 1] - begin == end - start:
                same = True
                for i in range(end - start):
                    if blob[begin + i] != text[start + i]:
                        same = False
                        break
                if same:
                    return number
        slot = (slot + np.uint64(1)) & mask
    slots[slot] = upper | np.uint64(n_words + 1)
    at = bounds[n_words]
    for i in range(end - start):
        blob[at + i] = text[start + i]
    bounds[n_words + 1] = at + end - start
    return n_words


@njit(cache=True, nogil=True)
def number_words(text, ends, are_words, first_text, slots, blob, bounds, n_words, numbers, lengths):
    """Write the numbers of the words of each text, and how many words it has; `ends` has where each text ends.

    A text that is one of `are_words` is words already, each followed by a line feed; any other is split. Begins with
    the text `first_text`, and stops before a text whose words the table may not have room for. Returns that text, the
    number of words that were numbered, and of those that the table has.
    """
    n = 0
    for number in range(first_text, len(ends)):
        start = ends[number - 1] if number else 0
        end = ends[number]
        size = end - start
        if bounds[n_words] + size > len(blob) or 2 * (n_words + size // 2 + 1) > len(slots):
            return number, n, n_words
        before = n
        at = start
        while at < end:
            if are_words[number]:
                begin = at
                while text[at] != NEWLINE:
                    at += 1
                stop = at
                at += 1
            elif not _is_sign(text[at]):
                at += 1
                continue
            else:
                begin = at
                at = _end_of_word(text, begin, end)
                stop = at
                if stop - begin > 2 and text[stop - 1] == S and text[stop - 2] == APOSTROPHE:
                    stop -= 2
                stop = min(stop, begin + MAX_WORD_BYTES)
            found = _find(text, begin, stop, slots, blob, bounds, n_words)
            n_words += found == n_words
            numbers[n] = found
            n += 1
        lengths[number] = n - before
    return len(ends), n, n_words


@njit(cache=True, nogil=True)
def hash_words(slots, blob, bounds, n_words):
    """Put the words of a table into slots that are free."""
    mask = np.uint64(len(slots) - 1)
    for number in range(n_words):
        key = _hash(blob, bounds[number], bounds[number + 1])
        slot = key & mask
        while slots[slot] != 0:
            slot = (slot + np.uint64(1)) & mask
        slots[slot] = (key & ~LOW_HALF) | np.uint64(number + 1)
