"""Compiled tokenizer of ASCII texts: the numbers of their words in a table of words.

The words are those of `analysis/tokenizer.py`, whose pattern is followed here byte by byte:

    digits(.digits)+ signs*   |   signs('signs)*         a sign is a letter or a digit

The table is an open-addressing hash table. A slot has two numbers of 64 bits: the key of a word, and its length above
its number plus 1; 0 is a free slot. The key of a word of at most eight bytes is these bytes, so that it is found by
looking at its slot alone; that of a longer word is a hash, and its bytes are compared too.
"""
# mypy: disable-error-code="no-untyped-def,untyped-decorator"

from __future__ import annotations

import numpy as np
from numba import njit

MAX_WORD_BYTES = 255
NEWLINE, APOSTROPHE, POINT, ZERO, NINE, S = (ord(c) for c in "\n'.09s")
# The longest word that is its own key.
KEY_BYTES = 8
# Odd numbers with bits everywhere: 2⁶⁴ divided by the golden ratio, and a factor of SplitMix64.
SLOT_FACTOR, HASH_FACTOR = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9)
HALF = np.uint64(32)
LOW_HALF = np.uint64(0xFFFFFFFF)
# What a byte becomes in a word: letters are folded; 0 is no part of a word.
FOLDED = np.array([ord(chr(b).lower()) if b < 128 and chr(b).isalnum() else 0 for b in range(256)], np.uint8)
UNCHANGED = np.arange(256, dtype=np.uint8)


@njit(cache=True)
def _is_digit(byte):
    return ZERO <= byte <= NINE


@njit(cache=True)
def _end_of_signs(text, at, end):
    while at < end and FOLDED[text[at]] != 0:
        at += 1
    return at


@njit(cache=True)
def _end_of_word(text, start, end):
    """The end of the word that begins at `start`."""
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
    while at + 1 < end and text[at] == APOSTROPHE and FOLDED[text[at + 1]] != 0:
        at = _end_of_signs(text, at + 1, end)
    return at


@njit(cache=True)
def _fold(byte, fold):
    """A byte of a word: an apostrophe or a point stays, too."""
    folded = fold[byte]
    return folded if folded != 0 else byte


@njit(cache=True)
def _load(text, start, end, fold):
    """At most eight bytes as a number, the first one lowest."""
    number = np.uint64(0)
    for i in range(end - start):
        number |= np.uint64(_fold(text[start + i], fold)) << np.uint64(8 * i)
    return number


@njit(cache=True)
def _key(text, start, end, fold):
    if end - start <= KEY_BYTES:
        return _load(text, start, end, fold)
    key = np.uint64(0)
    for at in range(start, end, KEY_BYTES):
        key = (key ^ _load(text, at, min(at + KEY_BYTES, end), fold)) * HASH_FACTOR
        key ^= key >> HALF
    return key


@njit(cache=True)
def _first_slot(key, length, slots):
    mixed = (key ^ (key >> HALF)) * SLOT_FACTOR + np.uint64(length)
    return np.int64(mixed >> HALF) & (len(slots) - 1)


@njit(cache=True)
def _is_word(text, start, end, fold, blob, begin):
    at = start
    while at < end and blob[begin + at - start] == _fold(text[at], fold):
        at += 1
    return at == end


@njit(cache=True)
def _find(text, start, end, fold, slots, blob, bounds, n_words):
    """The number of a word, which is added to the table if it is new."""
    length = end - start
    key = _key(text, start, end, fold)
    slot = _first_slot(key, length, slots)
    while slots[slot, 1] != 0:
        if slots[slot, 0] == key and slots[slot, 1] >> HALF == np.uint64(length):
            number = np.int64(slots[slot, 1] & LOW_HALF) - 1
            if length <= KEY_BYTES or _is_word(text, start, end, fold, blob, bounds[number]):
                return number
        slot = (slot + 1) & (len(slots) - 1)
    _put(slots, slot, key, length, n_words)
    at = bounds[n_words]
    for i in range(length):
        blob[at + i] = _fold(text[start + i], fold)
    bounds[n_words + 1] = at + length
    return n_words


@njit(cache=True)
def _put(slots, slot, key, length, number):
    slots[slot, 0] = key
    slots[slot, 1] = np.uint64(length) << HALF | np.uint64(number + 1)


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
        fold = UNCHANGED if are_words[number] else FOLDED
        while at < end:
            if are_words[number]:
                begin = at
                while text[at] != NEWLINE:
                    at += 1
                stop = at
                at += 1
            elif FOLDED[text[at]] == 0:
                at += 1
                continue
            else:
                begin = at
                at = _end_of_word(text, begin, end)
                stop = at
                if stop - begin > 2 and FOLDED[text[stop - 1]] == S and text[stop - 2] == APOSTROPHE:
                    stop -= 2
                stop = min(stop, begin + MAX_WORD_BYTES)
            found = _find(text, begin, stop, fold, slots, blob, bounds, n_words)
            n_words += found == n_words
            numbers[n] = found
            n += 1
        lengths[number] = n - before
    return len(ends), n, n_words


@njit(cache=True, nogil=True)
def hash_words(slots, blob, bounds, n_words):
    """Put the words of a table into slots that are free."""
    for number in range(n_words):
        length = bounds[number + 1] - bounds[number]
        key = _key(blob, bounds[number], bounds[number + 1], UNCHANGED)
        slot = _first_slot(key, length, slots)
        while slots[slot, 1] != 0:
            slot = (slot + 1) & (len(slots) - 1)
        _put(slots, slot, key, length, number)
