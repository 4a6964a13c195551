"""Compiled tokenizer of ASCII texts: the numbers of their words in a table of words.

The words are those of `analysis/tokenizer.py`, whose pattern is followed here byte by byte:

    digits(.digits)+ signs*   |   signs('signs)*         a sign is a letter or a digit

The table is an open-addressing hash table. A slot has three numbers of 64 bits: the two of the key of a word, and its
length above its number plus 1; 0 is a free slot. The key of a word of at most sixteen bytes is these bytes, so that it
is found by looking at its slot alone; that of a longer word is a hash, and its bytes are compared too.

Bytes are read at unsigned places: for a signed one numba also asks whether it counts from the end, which costs
time for each byte.
"""
# mypy: disable-error-code="no-untyped-def,untyped-decorator"

from __future__ import annotations

import numpy as np
from numba import njit

MAX_WORD_BYTES = 255
NEWLINE, APOSTROPHE, POINT, ZERO, NINE, S = (ord(c) for c in "\n'.09s")
# Half of the longest word that is its own key.
KEY_BYTES = 8
# Odd numbers with bits everywhere: 2⁶⁴ divided by the golden ratio, and a factor of SplitMix64.
SLOT_FACTOR, HASH_FACTOR = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9)
HALF = np.uint64(32)
LOW_HALF = np.uint64(0xFFFFFFFF)
NONE, ONE, BYTE_BITS = np.uint64(0), np.uint64(1), np.uint64(8)
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
    number = NONE
    for i in range(end - start):
        number |= np.uint64(_fold(text[start + i], fold)) << np.uint64(8 * i)
    return number


@njit(cache=True)
def _key(text, start, end, fold):
    """The two numbers of a word's key."""
    middle = min(start + KEY_BYTES, end)
    if end - start <= 2 * KEY_BYTES:
        return _load(text, start, middle, fold), _load(text, middle, end, fold)
    key = NONE
    for at in range(start, end, KEY_BYTES):
        key = (key ^ _load(text, at, min(at + KEY_BYTES, end), fold)) * HASH_FACTOR
        key ^= key >> HALF
    return key, NONE


@njit(cache=True)
def _first_slot(low, high, length, mask):
    mixed = (low ^ (low >> HALF) ^ (high * HASH_FACTOR)) * SLOT_FACTOR + length
    return (mixed >> HALF) & mask


@njit(cache=True)
def _is_word(text, start, end, fold, blob, begin):
    at = start
    while at < end and blob[begin + at - start] == _fold(text[at], fold):
        at += 1
    return at == end


@njit(cache=True)
def _find(low, high, text, start, end, fold, slots, blob, bounds, n_words):
    """The number of the word with this key, which is added to the table if it is new."""
    length = np.uint64(end - start)
    mask = np.uint64(len(slots) - 1)
    slot = _first_slot(low, high, length, mask)
    while slots[slot, 2] != 0:
        if slots[slot, 0] == low and slots[slot, 1] == high and slots[slot, 2] >> HALF == length:
            number = np.int64(slots[slot, 2] & LOW_HALF) - 1
            if length <= 2 * KEY_BYTES or _is_word(text, start, end, fold, blob, bounds[number]):
                return number
        slot = (slot + ONE) & mask
    _put(slots, slot, low, high, length, n_words)
    at = bounds[n_words]
    for i in range(end - start):
        blob[at + i] = _fold(text[start + i], fold)
    bounds[n_words + 1] = at + end - start
    return n_words


@njit(cache=True)
def _put(slots, slot, low, high, length, number):
    slots[slot, 0] = low
    slots[slot, 1] = high
    slots[slot, 2] = length << HALF | np.uint64(number + 1)


@njit(cache=True)
def _load_signs(text, start, end):
    """The number of at most eight letters and digits, folded; and where they end."""
    number, shift, at = NONE, NONE, start
    limit = min(start + BYTE_BITS, end)
    while at < limit:
        byte = FOLDED[text[at]]
        if byte == 0:
            break
        number |= np.uint64(byte) << shift
        shift += BYTE_BITS
        at += ONE
    return number, at


@njit(cache=True)
def _split_words(text, start, end, keys, bounds):
    """Write the key of each word of a text, and where it begins and ends; returns how many words it has."""
    n = NONE
    at, end = np.uint64(start), np.uint64(end)
    while at < end:
        if FOLDED[text[at]] == 0:
            at += ONE
            continue
        begin = at
        # The key of most words is made on the way.
        low, at = _load_signs(text, at, end)
        high = NONE
        if at - begin == BYTE_BITS:
            high, at = _load_signs(text, at, end)
        stop = at
        if at < end and (FOLDED[text[at]] != 0 or text[at] == POINT or text[at] == APOSTROPHE):
            last = _end_of_word(text, np.int64(begin), np.int64(end))
            at = np.uint64(last)
            if last - np.int64(begin) > 2 and FOLDED[text[last - 1]] == S and text[last - 2] == APOSTROPHE:
                last -= 2
            last = min(last, np.int64(begin) + MAX_WORD_BYTES)
            if np.uint64(last) != stop:
                low, high = _key(text, np.int64(begin), last, FOLDED)
            stop = np.uint64(last)
        keys[n, 0], keys[n, 1] = low, high
        bounds[n, 0], bounds[n, 1] = begin, stop
        n += ONE
    return np.int64(n)


@njit(cache=True)
def _split_lines(text, start, end, keys, bounds):
    """The same for a text that is words, each followed by a line feed."""
    n = 0
    begin = start
    for at in range(start, end):
        if text[at] == NEWLINE:
            keys[n, 0], keys[n, 1] = _key(text, begin, at, UNCHANGED)
            bounds[n, 0], bounds[n, 1] = begin, at
            begin = at + 1
            n += 1
    return n


@njit(cache=True, nogil=True)
def number_words(text, ends, are_words, first_text, slots, blob, bounds, n_words, numbers, lengths):
    """Write the numbers of the words of each text, and how many words it has; `ends` has where each text ends.

    A text that is one of `are_words` is words already, each followed by a line feed; any other is split. Begins with
    the text `first_text`, and stops before a text whose words the table may not have room for. Returns that text, the
    number of words that were numbered, and of those that the table has.

    A text is split before its words are looked up, so that the processor waits for the slots of several words at once.
    """
    n = NONE
    mask = np.uint64(len(slots) - 1)
    longest = 0
    for number in range(first_text, len(ends)):
        longest = max(longest, ends[number] - (ends[number - 1] if number else 0))
    keys = np.empty((longest // 2 + 1, 2), np.uint64)
    of_words = np.empty((longest // 2 + 1, 2), np.int64)
    for number in range(first_text, len(ends)):
        start = ends[number - 1] if number else 0
        end = ends[number]
        size = end - start
        if bounds[n_words] + size > len(blob) or 2 * (n_words + size // 2 + 1) > len(slots):
            return number, np.int64(n), n_words
        if are_words[number]:
            fold, n_found = UNCHANGED, _split_lines(text, start, end, keys, of_words)
        else:
            fold, n_found = FOLDED, _split_words(text, start, end, keys, of_words)
        for i in range(np.uint64(n_found)):
            low, high = keys[i, 0], keys[i, 1]
            length = np.uint64(of_words[i, 1] - of_words[i, 0])
            slot = _first_slot(low, high, length, mask)
            # Most words are found here; a call would cost more than the look-up.
            entry = slots[slot, 2]
            if length <= 2 * KEY_BYTES and entry >> HALF == length and slots[slot, 0] == low and slots[slot, 1] == high:
                numbers[n] = np.int64(entry & LOW_HALF) - 1
            else:
                found = _find(low, high, text, of_words[i, 0], of_words[i, 1], fold, slots, blob, bounds, n_words)
                n_words += found == n_words
                numbers[n] = found
            n += ONE
        lengths[number] = n_found
    return len(ends), np.int64(n), n_words


@njit(cache=True, nogil=True)
def hash_words(slots, blob, bounds, n_words):
    """Put the words of a table into slots that are free."""
    mask = np.uint64(len(slots) - 1)
    for number in range(n_words):
        length = np.uint64(bounds[number + 1] - bounds[number])
        low, high = _key(blob, bounds[number], bounds[number + 1], UNCHANGED)
        slot = _first_slot(low, high, length, mask)
        while slots[slot, 2] != 0:
            slot = (slot + ONE) & mask
        _put(slots, slot, low, high, length, number)
