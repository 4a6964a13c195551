"""Which documents have words in this order, one right after the other or nearly?

All passages of the documents that have the words are looked through at once. For an exact phrase, the places of its
rarest word say where the others have to be. Otherwise the places of the first word are reached; a place of the next
word is reached if the nearest reached place before it is in the same passage and at most `slop` away; and so on to
the last word. Nothing is done document by document.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from searchlab.array_ranges import concatenate_ranges
from searchlab.indexing.storage.field_columns import GAP
from searchlab.indexing.storage.streams import Passages, Text
from searchlab.types import Array

# A text is read from end to end, not passage by passage, if at least one token in this many is asked for.
MANY = 16


# Where a token stands in the text, ascending.
PlacesOf = Callable[[int], Array]


def with_phrase(text: Text, terms: Sequence[int], slop: int) -> Array:
    """The documents that have the terms, given by their places in the stream, in this order."""
    found = with_all(text, terms)
    if not len(found):
        return found
    passages = text.passages
    first, last = np.searchsorted(passages.docs, found), np.searchsorted(passages.docs, found, "right")
    places_of = _read(passages, concatenate_ranges(first, last))
    numbers = [term + text.numbers.start for term in terms]
    begins, ends = _exact(text, numbers, places_of) if slop == 1 else _near(text, numbers, slop, places_of)
    passage = _passage_of(passages, ends)
    inside = (passages.starts[passage] <= begins) & (ends < passages.ends[passage])
    return np.unique(passages.docs[passage[inside]])


def _exact(text: Text, numbers: list[int], places_of: PlacesOf) -> tuple[Array, Array]:
    """Where the tokens stand one right after the other: the first and the last places."""
    tokens, counts = text.passages.tokens, text.stream.counts
    rarest = min(range(len(numbers)), key=lambda i: counts[numbers[i] - text.numbers.start])
    begins = places_of(numbers[rarest]) - rarest
    begins = begins[(begins >= 0) & (begins + len(numbers) <= len(tokens))]
    for place, number in enumerate(numbers):
        begins = begins[tokens[begins + place] == number]
    return begins, begins + len(numbers) - 1


def _near(text: Text, numbers: list[int], slop: int, places_of: PlacesOf) -> tuple[Array, Array]:
    """Where the tokens stand in this order: the last but one and the last places.

    Those before the last but one are in the same passage as it is.
    """
    passages = text.passages
    reached = begins = places_of(numbers[0])
    # Between two values of a field there is a gap, which counts as a place.
    gaps = places_of(GAP) if text.prefix else reached[:0]
    for number in numbers[1:]:
        ends = places_of(number)
        before = np.searchsorted(reached, ends) - 1
        ends, begins = ends[before >= 0], reached[before[before >= 0]]
        together = (ends - begins <= slop) & (np.searchsorted(gaps, begins) == np.searchsorted(gaps, ends))
        ends, begins = ends[together], begins[together]
        together = begins >= passages.starts[_passage_of(passages, ends)]
        reached, begins = ends[together], begins[together]
    return begins, reached


def with_all(text: Text, terms: Sequence[int]) -> Array:
    """The documents that have all terms, ascending."""
    lists = sorted((text.postings(term)[0] for term in set(terms)), key=len)
    found = lists[0]
    for docs in lists[1:]:
        if not len(found):
            break
        at = np.minimum(np.searchsorted(docs, found), len(docs) - 1)
        found = found[docs[at] == found]
    return found


def _read(passages: Passages, chosen: Array) -> PlacesOf:
    """Where a token stands in some passages; perhaps also where it stands in others between them."""
    starts, ends = passages.starts[chosen], passages.ends[chosen]
    if (ends < starts).any() or (ends > len(passages.tokens)).any():
        raise IndexError("a passage reaches beyond the tokens")
    begin, end = int(starts[0]), int(ends[-1])
    if (ends - starts).sum() * MANY > end - begin:
        stretch = passages.tokens[begin:end]
        return lambda token: np.flatnonzero(stretch == token) + begin
    places = concatenate_ranges(starts, ends)
    tokens = passages.tokens[places]
    return lambda token: places[tokens == token]


def _passage_of(passages: Passages, places: Array) -> Array:
    """The last passage that begins at or before each place."""
    return np.searchsorted(passages.starts, places, "right") - 1
