"""Kernels for snippets: the words of many texts, their matches, and the best passage of each text.

The rules are those of the analyzer for ASCII, and of `snippets.py`; tests compare both.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from searchlab.analysis.tokenizer import MAX_WORD_LENGTH
from searchlab.types import Array

compiled = njit(cache=True, nogil=True, error_model="numpy")

# Size of a filter over the last bits of hashes: most words that match no term are rejected by it.
FILTER_SIZE = 1024
_BASIS, _PRIME = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)
_A, _Z, _ZERO, _NINE, _TO_LOWER = 65, 90, 48, 57, 32
_POINT, _APOSTROPHE, _S = 46, 39, 115


@compiled
def _lower(character: Any) -> Any:
    return character + _TO_LOWER if _A <= character <= _Z else character


@compiled
def _is_digit(character: Any) -> Any:
    return _ZERO <= character <= _NINE


@compiled
def _is_word_character(character: Any) -> Any:
    return _is_digit(character) or 97 <= _lower(character) <= 122


@compiled
def hash_characters(data: Any, start: Any, end: Any) -> Any:
    """FNV-1a of some characters in lower case."""
    value = _BASIS
    for position in range(start, end):
        value = (value ^ np.uint64(_lower(data[position]))) * _PRIME
    return value


@compiled
def _hash_word(data: Any, start: Any, end: Any) -> Any:
    """The hash of a word in the form of the index: without a final 's, and cut to the maximum length."""
    if end - start > 1 and data[end - 2] == _APOSTROPHE and _lower(data[end - 1]) == _S:
        end -= 2
    return hash_characters(data, start, min(end, start + MAX_WORD_LENGTH))


@compiled
def _end_of_word(data: Any, start: Any, end: Any) -> Any:
    """The end of the word that begins at `start`: a number with points, or letters and digits with apostrophes."""
    position = start
    while position < end and _is_digit(data[position]):
        position += 1
    number_end = position
    if position > start:
        while number_end + 1 < end and data[number_end] == _POINT and _is_digit(data[number_end + 1]):
            number_end += 2
            while number_end < end and _is_digit(data[number_end]):
                number_end += 1
    has_points = number_end > position
    position = max(position, number_end)
    while position < end and _is_word_character(data[position]):
        position += 1
    if has_points:
        return position
    while position + 1 < end and data[position] == _APOSTROPHE and _is_word_character(data[position + 1]):
        position += 1
        while position < end and _is_word_character(data[position]):
            position += 1
    return position


@compiled
def _best_matches(words: Any, terms: Any, n_matches: Any, width: Any, counts: Any) -> Any:
    """The first and last match in the best run of `width` words: most different terms, then matches, then first."""
    if words[n_matches - 1] - words[0] < width:
        return words[0], words[n_matches - 1]
    counts[:] = 0
    different = left = 0
    best_different = best_matches = 0
    first = last = 0
    for right in range(n_matches):
        different += counts[terms[right]] == 0
        counts[terms[right]] += 1
        while words[left] <= words[right] - width:
            counts[terms[left]] -= 1
            different -= counts[terms[left]] == 0
            left += 1
        matches = right - left
        if different > best_different or (different == best_different and matches > best_matches):
            best_different, best_matches = different, matches
            first, last = words[left], words[right]
    return first, last


@compiled
def _begin(data: Any, starts: Any, ends: Any, n_words: Any, first: Any, last: Any, width: Any) -> Any:
    """The first word of a passage with all matches: at the start of a sentence, or else a few words before them."""
    earliest = max(0, last - width + 1)
    for word in range(first, earliest - 1, -1):
        if word == 0:
            return 0
        for position in range(ends[word - 1], starts[word]):
            if data[position] == _POINT or data[position] == 33 or data[position] == 63:  # ! ?
                return word
    return max(earliest, min(first - width // 5, n_words - width))


@compiled
def find_passages(
    data: Any, bounds: Any, widths: Any, hashes: Any, hash_terms: Any, hash_filter: Any, n_terms: Any, spans: Any
) -> Any:
    """Fill `spans` with the passage of each text and the range of its matches; return the positions of all matches.

    A row of `spans` is the start and end of the passage in `data`, and its first match and the one after its last. A
    width of 0 takes the whole text. A text without any word has a passage that begins at -1.
    """
    longest = 0
    for number in range(len(widths)):
        longest = max(longest, bounds[number + 1] - bounds[number])
    starts, ends = np.empty(longest // 2 + 1, np.int64), np.empty(longest // 2 + 1, np.int64)
    matching_words, terms = np.empty(longest // 2 + 1, np.int64), np.empty(longest // 2 + 1, np.int64)
    counts = np.zeros(max(1, n_terms), np.int64)
    marks = np.empty((len(data) // 2 + 1, 2), np.int64)
    n_marks = 0
    for number in range(len(widths)):
        begin, end, width = bounds[number], bounds[number + 1], widths[number]
        n_words = n_matches = 0
        position = begin
        while position < end:
            if not _is_word_character(data[position]):
                position += 1
                continue
            starts[n_words], ends[n_words] = position, _end_of_word(data, position, end)
            value = _hash_word(data, position, ends[n_words])
            if hash_filter[value & np.uint64(FILTER_SIZE - 1)]:
                for wanted in range(len(hashes)):
                    if hashes[wanted] == value:
                        matching_words[n_matches], terms[n_matches] = n_words, hash_terms[wanted]
                        n_matches += 1
                        break
            position = ends[n_words]
            n_words += 1
        low, high = 0, n_words
        spans[number, 0], spans[number, 1] = begin, end
        if n_words == 0 and width > 0:
            spans[number, 0] = spans[number, 1] = -1
        elif width > 0:
            if n_matches:
                first, last = _best_matches(matching_words, terms, n_matches, width, counts)
                low = _begin(data, starts, ends, n_words, first, last, width)
            high = min(low + width, n_words)
            if low > 0:
                spans[number, 0] = starts[low]
            if low + width < n_words:
                spans[number, 1] = ends[high - 1]
        spans[number, 2] = n_marks
        for match in range(n_matches):
            if low <= matching_words[match] < high:
                marks[n_marks, 0], marks[n_marks, 1] = starts[matching_words[match]], ends[matching_words[match]]
                n_marks += 1
        spans[number, 3] = n_marks
    return marks[:n_marks]


def make_hash_filter(hashes: Array) -> Array:
    """A filter that is true for the last bits of these hashes."""
    hash_filter = np.zeros(FILTER_SIZE, np.bool_)
    hash_filter[(hashes & np.uint64(FILTER_SIZE - 1)).astype(np.int64)] = True
    return hash_filter
