"""Where are the words of many texts, which of them match, and which passage of each is the best?

The rules are those of `indexing/analysis.py` for ASCII, and of `snippets.py`; tests hold both against each other.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from searchlab.analysis.tokenizer import MAX_WORD_LENGTH
from searchlab.types import Array

compiled = njit(cache=True, nogil=True, error_model="numpy")

# A hash is looked for only if its last bits are among those of the words that are wanted.
SIFT = 1024
_BASIS, _PRIME = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)
_A, _Z, _ZERO, _NINE, _SMALLER = 65, 90, 48, 57, 32
_POINT, _APOSTROPHE, _S = 46, 39, 115
_LONGEST = MAX_WORD_LENGTH


@compiled
def _lower(sign: Any) -> Any:
    return sign + _SMALLER if _A <= sign <= _Z else sign


@compiled
def _is_digit(sign: Any) -> Any:
    return _ZERO <= sign <= _NINE


@compiled
def _is_sign(sign: Any) -> Any:
    return _is_digit(sign) or 97 <= _lower(sign) <= 122


@compiled
def hash_signs(data: Any, start: Any, end: Any) -> Any:
    """FNV-1a of some signs, as small letters."""
    value = _BASIS
    for place in range(start, end):
        value = (value ^ np.uint64(_lower(data[place]))) * _PRIME
    return value


@compiled
def _hash_word(data: Any, start: Any, end: Any) -> Any:
    """The hash of a word as the index has it: without a final 's, and of no more letters than words have."""
    if end - start > 1 and data[end - 2] == _APOSTROPHE and _lower(data[end - 1]) == _S:
        end -= 2
    return hash_signs(data, start, min(end, start + _LONGEST))


@compiled
def _end_of_word(data: Any, start: Any, end: Any) -> Any:
    """Where the word ends that begins here: numbers with points, or letters and digits with apostrophes between."""
    place = start
    while place < end and _is_digit(data[place]):
        place += 1
    numbers = place
    if place > start:
        while numbers + 1 < end and data[numbers] == _POINT and _is_digit(data[numbers + 1]):
            numbers += 2
            while numbers < end and _is_digit(data[numbers]):
                numbers += 1
    has_points = numbers > place
    place = max(place, numbers)
    while place < end and _is_sign(data[place]):
        place += 1
    if has_points:
        return place
    while place + 1 < end and data[place] == _APOSTROPHE and _is_sign(data[place + 1]):
        place += 1
        while place < end and _is_sign(data[place]):
            place += 1
    return place


@compiled
def _best_matches(places: Any, terms: Any, n_matches: Any, width: Any, counts: Any) -> Any:
    """The first and the last match in the best run of `width` words: most different terms, then matches, then first."""
    if places[n_matches - 1] - places[0] < width:
        return places[0], places[n_matches - 1]
    counts[:] = 0
    different = left = 0
    best_different = best_matches = 0
    first = last = 0
    for right in range(n_matches):
        different += counts[terms[right]] == 0
        counts[terms[right]] += 1
        while places[left] <= places[right] - width:
            counts[terms[left]] -= 1
            different -= counts[terms[left]] == 0
            left += 1
        matches = right - left
        if different > best_different or (different == best_different and matches > best_matches):
            best_different, best_matches = different, matches
            first, last = places[left], places[right]
    return first, last


@compiled
def _begin(data: Any, starts: Any, ends: Any, n_words: Any, first: Any, last: Any, width: Any) -> Any:
    """At the start of a sentence from which all matches are seen, or else a few words before them."""
    earliest = max(0, last - width + 1)
    for place in range(first, earliest - 1, -1):
        if place == 0:
            return 0
        for gap in range(ends[place - 1], starts[place]):
            if data[gap] == _POINT or data[gap] == 33 or data[gap] == 63:  # ! ?
                return place
    return max(earliest, min(first - width // 5, n_words - width))


@compiled
def find_passages(
    data: Any, bounds: Any, widths: Any, hashes: Any, hash_terms: Any, sift: Any, n_terms: Any, spans: Any
) -> Any:
    """For each text its passage, in `spans`, and how many words of it match; and all these, as places in the data.

    A width of 0 asks for the whole text. A text without any word has a passage that begins at -1.
    """
    longest = 0
    for number in range(len(widths)):
        longest = max(longest, bounds[number + 1] - bounds[number])
    starts, ends = np.empty(longest // 2 + 1, np.int64), np.empty(longest // 2 + 1, np.int64)
    places, terms = np.empty(longest // 2 + 1, np.int64), np.empty(longest // 2 + 1, np.int64)
    counts = np.zeros(max(1, n_terms), np.int64)
    marks = np.empty((len(data) // 2 + 1, 2), np.int64)
    n_marks = 0
    for number in range(len(widths)):
        begin, end, width = bounds[number], bounds[number + 1], widths[number]
        n_words = n_matches = 0
        place = begin
        while place < end:
            if not _is_sign(data[place]):
                place += 1
                continue
            starts[n_words], ends[n_words] = place, _end_of_word(data, place, end)
            value = _hash_word(data, place, ends[n_words])
            if sift[value & np.uint64(SIFT - 1)]:
                for wanted in range(len(hashes)):
                    if hashes[wanted] == value:
                        places[n_matches], terms[n_matches] = n_words, hash_terms[wanted]
                        n_matches += 1
                        break
            place = ends[n_words]
            n_words += 1
        low, high = 0, n_words
        spans[number, 0], spans[number, 1] = begin, end
        if n_words == 0 and width > 0:
            spans[number, 0] = spans[number, 1] = -1
        elif width > 0:
            if n_matches:
                first, last = _best_matches(places, terms, n_matches, width, counts)
                low = _begin(data, starts, ends, n_words, first, last, width)
            high = min(low + width, n_words)
            if low > 0:
                spans[number, 0] = starts[low]
            if low + width < n_words:
                spans[number, 1] = ends[high - 1]
        spans[number, 2] = n_marks
        for match in range(n_matches):
            if low <= places[match] < high:
                marks[n_marks, 0], marks[n_marks, 1] = starts[places[match]], ends[places[match]]
                n_marks += 1
        spans[number, 3] = n_marks
    return marks[:n_marks]


def sift_of(hashes: Array) -> Array:
    """Which last bits hashes have."""
    sift = np.zeros(SIFT, np.bool_)
    sift[(hashes & np.uint64(SIFT - 1)).astype(np.int64)] = True
    return sift
