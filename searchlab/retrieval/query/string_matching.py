"""String matching: wildcard and fuzzy matching of many strings at once.

Strings are sorted, so those with a common prefix are found by bisection. The rest are compared all at once: wildcards
by one regular expression, spellings by the table of edit distances (Wagner, Fischer 1974), of which each cell is an
array with a number for every string of one length. Only the cells near the diagonal are computed: those far from it
cannot be small.
"""

from __future__ import annotations

import re

import numpy as np

from searchlab.indexing.storage.arrays.string_table import Strings
from searchlab.types import Array

_WILDCARD = re.compile(r"[*?]")
# Sorts after every character of a text.
_LAST = "\U0010ffff"
# This byte does not occur in UTF-8.
_SEPARATOR = b"\xff"
_OTHER = b"[^\xff]"
_CHARACTER = rb"(?:[\x00-\x7f]|[\xc0-\xfe][\x80-\xbf]*)"


def match_wildcard(strings: Strings, numbers: range, pattern: str, *, behind: str = "") -> Array:
    """The numbers of the strings that a pattern matches: * stands for any characters, ? for one.

    All of the strings begin with `behind`, which does not belong to the pattern.
    """
    pattern = re.sub(r"\*+", "*", pattern)
    start = _WILDCARD.split(pattern, maxsplit=1)[0]
    candidates = _beginning_with(strings, numbers, behind + start)
    if pattern == f"{start}*" or not candidates:
        return np.array(candidates, np.int64)
    blob, offsets = strings.arrays
    offsets = offsets[candidates.start : candidates.stop + 1]
    joined = np.insert(blob[offsets[0] : offsets[-1]], offsets - offsets[0], _SEPARATOR[0]).tobytes()
    begins = offsets - offsets[0] + np.arange(len(offsets))
    ends = np.array([match.end() for match in _expression(pattern, behind).finditer(joined)], np.int64)
    return np.unique(np.searchsorted(begins, ends) - 1) + candidates.start


def _expression(pattern: str, behind: str) -> re.Pattern[bytes]:
    """An expression that matches a string between separators, up to the second, if the string matches the pattern.

    What follows a * is searched for once, at its first position (an atomic group): other positions could not match
    either, and trying them could take exponential time.
    """
    first, *others = [
        b"".join(_CHARACTER if character == "?" else re.escape(_encode(character)) for character in chunk)
        for chunk in pattern.split("*")
    ]
    if behind or first:
        expression = _SEPARATOR + re.escape(_encode(behind)) + first
    else:
        # The match may begin anywhere: a search that begins with a literal is fast.
        expression, others = others[0], others[1:]
    if others:
        *middle, last = others
        expression += b"".join(b"(?>%s*?%s)" % (_OTHER, chunk) for chunk in middle) + b"%s*%s" % (_OTHER, last)
    return re.compile(b"%s(?=%s)" % (expression, _SEPARATOR))


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _beginning_with(strings: Strings, numbers: range, start: str) -> range:
    first, last = strings.first_from(start), strings.first_from(start + _LAST)
    return range(max(first, numbers.start), min(last, numbers.stop))


def match_fuzzy(
    strings: Strings,
    numbers: range,
    text: str,
    max_edits: int,
    *,
    same_start: int = 0,
    swaps: bool = False,
    behind: str = "",
) -> tuple[Array, Array]:
    """The numbers of the strings within `max_edits` edits of a text, and the distance of each.

    An edit inserts, deletes or replaces a character, or with `swaps` exchanges two neighbours. The first
    `same_start` characters must be the same. All of the strings begin with `behind`.
    """
    candidates = _beginning_with(strings, numbers, behind + text[:same_start])
    text = behind + text
    characters, offsets = _characters(strings, candidates)
    lengths = np.diff(offsets)
    near_rows, near_distances = [np.zeros(0, np.int64)], [np.zeros(0, np.uint8)]
    for length in range(max(len(text) - max_edits, 0), len(text) + max_edits + 1):
        rows = np.flatnonzero(lengths == length)
        distances = _distances(characters[offsets[rows] + np.arange(length)[:, None]], text, max_edits, swaps=swaps)
        near = np.flatnonzero(distances <= max_edits)
        near_rows.append(rows[near])
        near_distances.append(distances[near])
    return np.concatenate(near_rows) + candidates.start, np.concatenate(near_distances)


def _characters(strings: Strings, numbers: range) -> tuple[Array, Array]:
    """The characters of some strings, one string after the other, and the offset of each."""
    blob, offsets = strings.arrays
    offsets = offsets[numbers.start : numbers.stop + 1] if numbers else offsets[:1]
    encoded = blob[offsets[0] : offsets[-1]]
    offsets = offsets - offsets[0]
    if not (encoded & 0x80).any():
        return encoded, offsets
    # In UTF-8, each byte but those of the form 10xxxxxx begins a character.
    before = np.concatenate([[0], np.cumsum((encoded & 0xC0) != 0x80)])
    return np.frombuffer(strings.decode(encoded.tobytes()).encode("utf-32-le"), "<u4"), before[offsets]


def _distances(columns: Array, text: str, max_edits: int, *, swaps: bool) -> Array:
    """The edit distance of each string of one length to a text; columns[i] holds their characters at i."""
    length, n_strings = columns.shape
    far = np.full(n_strings, max_edits + 1, np.uint8)
    same = [[columns[j] == ord(character) for j in range(length)] for character in text]
    # rows[i][j]: from the first i characters of the text to the first j of the strings.
    rows: list[dict[int, Array]] = [{j: np.full(n_strings, j, np.uint8) for j in range(min(max_edits, length) + 1)}]
    for i in range(1, len(text) + 1):
        above = rows[-1]
        row: dict[int, Array] = {0: np.full(n_strings, i, np.uint8)} if i <= max_edits else {}
        for j in range(max(1, i - max_edits), min(length, i + max_edits) + 1):
            cell = np.minimum(above.get(j, far), row.get(j - 1, far)) + np.uint8(1)
            cell = np.minimum(cell, above[j - 1] + ~same[i - 1][j - 1])
            if swaps and i > 1 and j > 1:
                swapped = same[i - 1][j - 2] & same[i - 2][j - 1]
                cell = np.where(swapped, np.minimum(cell, rows[-2].get(j - 2, far) + np.uint8(1)), cell)
            row[j] = cell
        rows.append(row)
    return rows[-1].get(length, far)
