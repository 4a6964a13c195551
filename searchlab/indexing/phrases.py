"""Phrase queries: the documents that have words in this order, adjacent or within a slop.

All passages of the documents that have the words are read at once. For an exact phrase, the positions of its rarest
word determine those of the others. Otherwise all positions of the first word are *reached*; a position of the next
word is reached if the nearest reached position before it is in the same passage and at most `slop` away; and so on to
the last word. Nothing is done document by document.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from searchlab.array_ranges import concatenate_ranges
from searchlab.indexing.storage.field_columns import GAP
from searchlab.indexing.storage.streams import Passages, Text
from searchlab.types import Array

# A text is read from end to end, not passage by passage, if at least one token in this many is needed.
SCAN_RATIO = 16


# The positions of a token in the text, ascending.
PositionsOf = Callable[[int], Array]


def find_phrase(text: Text, terms: Sequence[int], slop: int) -> Array:
    """The documents that have the terms, given by their numbers in the stream, in this order."""
    return np.unique(_occurrences(text, terms, slop))


def count_phrase(text: Text, terms: Sequence[int]) -> tuple[Array, Array]:
    """The documents that have the terms one behind the other, and how often."""
    docs, counts = np.unique(_occurrences(text, terms, 1), return_counts=True)
    return docs, counts


def _occurrences(text: Text, terms: Sequence[int], slop: int) -> Array:
    """The document of each occurrence of a phrase."""
    found = find_all_terms(text, terms)
    if not len(found):
        return found
    passages = text.passages
    first, last = np.searchsorted(passages.docs, found), np.searchsorted(passages.docs, found, "right")
    positions_of = _read(passages, concatenate_ranges(first, last, len(passages.docs)))
    numbers = [term + text.numbers.start for term in terms]
    begins, ends = _exact(text, numbers, positions_of) if slop == 1 else _near(text, numbers, slop, positions_of)
    passage = _passage_of(passages, ends)
    inside = (passages.starts[passage] <= begins) & (ends < passages.ends[passage])
    return np.asarray(passages.docs[passage[inside]])


def _exact(text: Text, numbers: list[int], positions_of: PositionsOf) -> tuple[Array, Array]:
    """Where the tokens are adjacent: the positions of the first and of the last token."""
    tokens, counts = text.passages.tokens, text.stream.counts
    rarest = min(range(len(numbers)), key=lambda i: counts[numbers[i] - text.numbers.start])
    begins = positions_of(numbers[rarest]) - rarest
    begins = begins[(begins >= 0) & (begins + len(numbers) <= len(tokens))]
    for distance, number in enumerate(numbers):
        begins = begins[tokens[begins + distance] == number]
    return begins, begins + len(numbers) - 1


def _near(text: Text, numbers: list[int], slop: int, positions_of: PositionsOf) -> tuple[Array, Array]:
    """Where the tokens are in this order: the positions of the last but one and of the last token.

    The tokens before the last but one are in the same passage.
    """
    passages = text.passages
    reached = begins = positions_of(numbers[0])
    # Between two values of a field there is a gap, which counts as a position.
    gaps = positions_of(GAP) if text.prefix else reached[:0]
    for number in numbers[1:]:
        ends = positions_of(number)
        before = np.searchsorted(reached, ends) - 1
        ends, begins = ends[before >= 0], reached[before[before >= 0]]
        together = (ends - begins <= slop) & (np.searchsorted(gaps, begins) == np.searchsorted(gaps, ends))
        ends, begins = ends[together], begins[together]
        together = begins >= passages.starts[_passage_of(passages, ends)]
        reached, begins = ends[together], begins[together]
    return begins, reached


def find_all_terms(text: Text, terms: Sequence[int]) -> Array:
    """The documents that have all terms, ascending."""
    lists = sorted((text.postings(term)[0] for term in set(terms)), key=len)
    found = lists[0]
    for docs in lists[1:]:
        if not len(found):
            break
        at = np.minimum(np.searchsorted(docs, found), len(docs) - 1)
        found = found[docs[at] == found]
    return found


def _read(passages: Passages, chosen: Array) -> PositionsOf:
    """The positions of a token in some passages, perhaps also in other passages between them."""
    starts, ends = passages.starts[chosen], passages.ends[chosen]
    if (ends < starts).any() or (ends > len(passages.tokens)).any():
        raise IndexError("a passage reaches beyond the tokens")
    begin, end = int(starts[0]), int(ends[-1])
    if (ends - starts).sum() * SCAN_RATIO > end - begin:
        whole = passages.tokens[begin:end]
        return lambda token: np.flatnonzero(whole == token) + begin
    positions = concatenate_ranges(starts, ends, len(passages.tokens))
    tokens = passages.tokens[positions]
    return lambda token: positions[tokens == token]


def _passage_of(passages: Passages, positions: Array) -> Array:
    """The last passage that begins at or before each position."""
    return np.searchsorted(passages.starts, positions, "right") - 1
