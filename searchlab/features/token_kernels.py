"""Compiled loops over the tokens of documents: counts and positions of some terms, and the words of each document.

The tokens are those of a shard, read where they are in the file: `tokens[i] & mask` is the number of a term, document i
of a call has them from `starts[i]` to before `ends[i]`. Callers have checked that these ranges are within the tokens;
a token that is not the number of any of the terms is damage, which is reported to them.
"""

from __future__ import annotations

import numpy as np
from numba import njit

# Slots of a hash table for each of its numbers: few tokens that are not wanted meet a slot that is taken.
SLOTS = 8

compiled = njit(cache=True, nogil=True)


@compiled
def count_occurrences(tokens, mask, starts, ends, n_terms, rows, numbers, counts):  # type: ignore[no-untyped-def]
    """Count terms, given by their distinct numbers (-1: the shard lacks it): counts[t, rows[i]] for document i.

    Returns whether all tokens are numbers of terms.
    """
    keys, values = _hash(numbers)
    last = len(keys) - 1
    for i in range(len(starts)):
        row = rows[i]
        for position in range(starts[i], ends[i]):
            token = np.int64(tokens[position]) & mask
            if token >= n_terms:
                return False
            slot = token & last
            while keys[slot] >= 0:
                if keys[slot] == token:
                    counts[values[slot], row] += 1
                    break
                slot = (slot + 1) & last
    return True


@compiled
def find_terms(tokens, mask, starts, middles, ends, n_terms, numbers):  # type: ignore[no-untyped-def]
    """The occurrences of terms, given by their distinct numbers (-1: the shard lacks it), in the concatenated texts.

    Returns for each position the code of its term, its place in `numbers` from 1, or 0; and for each occurrence its
    position, its document, the end of its passage, and whether that is the title, which ends at `middles`. No codes
    are returned if a token is not the number of a term.
    """
    keys, values = _hash(numbers)
    last = len(keys) - 1
    n = 0
    for i in range(len(starts)):
        n += ends[i] - starts[i]
    codes = np.zeros(n, np.int32)
    at, rows, passage_ends = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    in_title = np.empty(n, np.bool_)
    n_found = begin = 0
    for i in range(len(starts)):
        shift = begin - starts[i]
        for position in range(starts[i], ends[i]):
            token = np.int64(tokens[position]) & mask
            if token >= n_terms:
                return codes[:0], at[:0], rows[:0], passage_ends[:0], in_title[:0]
            slot = token & last
            while keys[slot] >= 0:
                if keys[slot] == token:
                    codes[position + shift] = values[slot] + 1
                    at[n_found], rows[n_found] = position + shift, i
                    in_title[n_found] = position < middles[i]
                    passage_ends[n_found] = (middles[i] if position < middles[i] else ends[i]) + shift
                    n_found += 1
                    break
                slot = (slot + 1) & last
        begin += ends[i] - starts[i]
    return codes, at[:n_found].copy(), rows[:n_found].copy(), passage_ends[:n_found].copy(), in_title[:n_found].copy()


@compiled
def _hash(numbers):  # type: ignore[no-untyped-def]
    """An open hash table with the place of each number that is not negative; free slots have the key -1."""
    size = 16
    while size < SLOTS * len(numbers):
        size *= 2
    keys, values = np.full(size, -1, np.int64), np.zeros(size, np.int64)
    for place in range(len(numbers)):
        if numbers[place] < 0:
            continue
        slot = numbers[place] & (size - 1)
        while keys[slot] >= 0:
            slot = (slot + 1) & (size - 1)
        keys[slot], values[slot] = numbers[place], place
    return keys, values


@compiled
def list_words(tokens, mask, starts, ends, rows, numbers, places, entries, n, distinct, n_distinct):  # type: ignore[no-untyped-def]
    """Append an entry for each document and each of its distinct words: the word, rows[i] of document i, the count.

    `numbers` has the word of each term, -1 for a term that is none. `entries` has `n` of them already, `distinct` the
    `n_distinct` words that these have; places[w] has one more than the last entry of word w, and the number of its
    entries. Returns how many there are then; -1 if a token is not the number of a term.
    """
    for i in range(len(starts)):
        before = n
        for position in range(starts[i], ends[i]):
            token = np.int64(tokens[position]) & mask
            if token >= len(numbers):
                return -1, n_distinct
            word = numbers[token]
            if word < 0:
                continue
            place = places[word, 0]
            if place > before:
                entries[place - 1, 2] += 1
                continue
            if place == 0:
                distinct[n_distinct] = word
                n_distinct += 1
            entries[n, 0], entries[n, 1], entries[n, 2] = word, rows[i], 1
            n += 1
            places[word, 0] = n
            places[word, 1] += 1
    return n, n_distinct
