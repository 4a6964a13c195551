"""Which strings have a given shape, or are spelt nearly like a word?

Strings are sorted, so those that begin alike are found by bisection. The rest are compared all at once: shapes by one
regular expression, spellings by the table of edit distances (Wagner, Fischer 1974), of which each cell is an array
with a number for every string of one length. Only the cells near the diagonal are computed: those far from it
cannot be small.
"""

from __future__ import annotations

import re

import numpy as np

from searchlab.indexing.storage.string_table import Strings
from searchlab.types import Array

_WILDCARD = re.compile(r"[*?]")
# Sorts after every character that is written.
_LAST = "\U0010ffff"
# No UTF-8 text has this byte.
_SEPARATOR = b"\xff"
_OTHER = b"[^\xff]"
_CHARACTER = rb"(?:[\x00-\x7f]|[\xc0-\xfe][\x80-\xbf]*)"


def with_shape(strings: Strings, numbers: range, pattern: str, *, behind: str = "") -> Array:
    """The numbers of the strings that a pattern matches: * stands for any characters, ? for one.

    `behind` is what all of the strings begin with, and does not belong to the pattern.
    """
    pattern = re.sub(r"\*+", "*", pattern)
    start = _WILDCARD.split(pattern, maxsplit=1)[0]
    own = _beginning_with(strings, numbers, behind + start)
    if pattern == f"{start}*" or not own:
        return np.array(own, np.int64)
    blob, offsets = strings.arrays
    offsets = offsets[own.start : own.stop + 1]
    joined = np.insert(blob[offsets[0] : offsets[-1]], offsets - offsets[0], _SEPARATOR[0]).tobytes()
    begins = offsets - offsets[0] + np.arange(len(offsets))
    places = np.array([match.end() for match in _expression(pattern, behind).finditer(joined)], np.int64)
    return np.unique(np.searchsorted(begins, places) - 1) + own.start


def _expression(pattern: str, behind: str) -> re.Pattern[bytes]:
    """Finds what a pattern matches among strings that stand between separators, and ends before the second.

    What follows a * is looked for once, at its first place (an atomic group): to try others would help nothing, and
    could take for ever.
    """
    first, *others = [
        b"".join(_CHARACTER if character == "?" else re.escape(_encode(character)) for character in chunk)
        for chunk in pattern.split("*")
    ]
    if behind or first:
        found = _SEPARATOR + re.escape(_encode(behind)) + first
    else:
        # The pattern may begin anywhere: a search that begins with a literal is fast.
        found, others = others[0], others[1:]
    if others:
        *middle, last = others
        found += b"".join(b"(?>%s*?%s)" % (_OTHER, chunk) for chunk in middle) + b"%s*%s" % (_OTHER, last)
    return re.compile(b"%s(?=%s)" % (found, _SEPARATOR))


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _beginning_with(strings: Strings, numbers: range, start: str) -> range:
    first, last = strings.first_from(start), strings.first_from(start + _LAST)
    return range(max(first, numbers.start), min(last, numbers.stop))


def spelt_like(
    strings: Strings,
    numbers: range,
    text: str,
    most: int,
    *,
    same_start: int = 0,
    swaps: bool = False,
    behind: str = "",
) -> tuple[Array, Array]:
    """The numbers of the strings that at most `most` edits turn into a text, and how many.

    An edit inserts, deletes or replaces a character, or with `swaps` exchanges two neighbours. The first
    `same_start` characters are the same. `behind` is what all of the strings begin with.
    """
    own = _beginning_with(strings, numbers, behind + text[:same_start])
    text = behind + text
    characters, offsets = _characters(strings, own)
    lengths = np.diff(offsets)
    places, distances = [np.zeros(0, np.int64)], [np.zeros(0, np.uint8)]
    for length in range(max(len(text) - most, 0), len(text) + most + 1):
        rows = np.flatnonzero(lengths == length)
        found = _distances(characters[offsets[rows] + np.arange(length)[:, None]], text, most, swaps=swaps)
        near = np.flatnonzero(found <= most)
        places.append(rows[near])
        distances.append(found[near])
    return np.concatenate(places) + own.start, np.concatenate(distances)


def _characters(strings: Strings, numbers: range) -> tuple[Array, Array]:
    """The characters of some strings, one string after the other, and where each begins."""
    blob, offsets = strings.arrays
    offsets = offsets[numbers.start : numbers.stop + 1] if numbers else offsets[:1]
    encoded = blob[offsets[0] : offsets[-1]]
    offsets = offsets - offsets[0]
    if not (encoded & 0x80).any():
        return encoded, offsets
    # In UTF-8, each byte but those of the form 10xxxxxx begins a character.
    before = np.concatenate([[0], np.cumsum((encoded & 0xC0) != 0x80)])
    return np.frombuffer(encoded.tobytes().decode().encode("utf-32-le"), "<u4"), before[offsets]


def _distances(columns: Array, text: str, most: int, *, swaps: bool) -> Array:
    """The edit distance of each string of one length to a text; columns[i] holds their characters at i."""
    length, n_strings = columns.shape
    far = np.full(n_strings, most + 1, np.uint8)
    same = [[columns[j] == ord(character) for j in range(length)] for character in text]
    # rows[i][j]: from the first i characters of the text to the first j of the strings.
    rows: list[dict[int, Array]] = [{j: np.full(n_strings, j, np.uint8) for j in range(min(most, length) + 1)}]
    for i in range(1, len(text) + 1):
        above = rows[-1]
        row: dict[int, Array] = {0: np.full(n_strings, i, np.uint8)} if i <= most else {}
        for j in range(max(1, i - most), min(length, i + most) + 1):
            cell = np.minimum(above.get(j, far), row.get(j - 1, far)) + np.uint8(1)
            cell = np.minimum(cell, above[j - 1] + ~same[i - 1][j - 1])
            if swaps and i > 1 and j > 1:
                swapped = same[i - 1][j - 2] & same[i - 2][j - 1]
                cell = np.where(swapped, np.minimum(cell, rows[-2].get(j - 2, far) + np.uint8(1)), cell)
            row[j] = cell
        rows.append(row)
    return rows[-1].get(length, far)
