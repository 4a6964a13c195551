"""Phrase queries: the documents that have words in this order, adjacent or within a slop.

The passages of the documents that have all the words are read in pieces of many passages. For an exact phrase, the
positions of its rarest word determine those of the others. Otherwise all positions of the first word are *reached*; a
position of the next word is reached if the nearest reached position before it is in the same passage and at most
`slop` away; and so on to the last word. Nothing is done document by document.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from searchlab.indexing.storage.field_columns import GAP
from searchlab.indexing.storage.streams import PassageRanges, Text
from searchlab.indexing.storage.term_positions import TermPositions
from searchlab.types import Array

# Tokens of chosen passages that are read at once.
PIECE_TOKENS = 1 << 18
# Tokens among which adjacent positions are looked for at once: what is marked stays in the processor's cache.
WINDOW_TOKENS = 1 << 18
# Positions are marked to look up others among them, unless these are fewer than one for so many.
MARKED_AMONG = 8


def find_phrase(text: Text, terms: Sequence[int], slop: int) -> Array:
    """The documents that have the terms, given by their numbers in the stream, in this order."""
    return _count_equal(_occurrences(text, terms, slop))[0]


def count_phrase(text: Text, terms: Sequence[int]) -> tuple[Array, Array]:
    """The documents that have the terms one behind the other, and how often."""
    return _count_equal(_occurrences(text, terms, 1))


def _count_equal(ascending: Array) -> tuple[Array, Array]:
    """The distinct numbers of an ascending array, and how often each occurs."""
    starts = np.flatnonzero(np.concatenate([[True], ascending[1:] != ascending[:-1]])[: len(ascending)])
    return ascending[starts], np.diff(starts, append=len(ascending))


def _occurrences(text: Text, terms: Sequence[int], slop: int) -> Array:
    """The document of each occurrence of a phrase, ascending."""
    if text.positions is not None and all(term in text.positions for term in terms):
        return _occurrences_by_positions(text, text.positions, terms, slop)
    found = find_all_terms(text, terms)
    numbers = [term + text.numbers.start for term in terms]
    rarest = _rarest(text, terms)
    documents = [found[:0]]
    for piece in _pieces(text.passages.select(found)):
        tokens, starts = text.passages.read(piece)
        ends = starts + (piece.ends - piece.starts)
        if slop == 1:
            begins, reached = _exact(tokens, numbers, rarest)
        else:
            # Between two values of a field there is a gap, which counts as a position.
            gaps = np.flatnonzero(tokens == GAP) if text.prefix else starts[:0]
            begins, reached = _near([np.flatnonzero(tokens == number) for number in numbers], starts, slop, gaps)
        documents.append(piece.docs[_find_passages(starts, ends, begins, reached)])
        text.passages.release(piece)
    return np.concatenate(documents)


def _occurrences_by_positions(text: Text, positions: TermPositions, terms: Sequence[int], slop: int) -> Array:
    """The same for frequent terms, by their positions among all tokens of the shard."""
    if slop == 1:
        begins = np.concatenate([*_adjacent(positions, terms, _rarest(text, terms))])
        reached = begins + len(terms) - 1
        passages = text.passages.select(_count_equal(positions.docs_of(begins))[0])
    else:
        passages = text.passages.select(find_all_terms(text, terms))
        if not len(passages):
            return passages.docs
        lists = {term: positions.of(term) for term in set(terms)}
        begins, reached = _near([lists[term] for term in terms], passages.starts, slop, passages.starts[:0])
    text.passages.require_within(passages)
    return passages.docs[_find_passages(passages.starts, passages.ends, begins, reached)]


def _rarest(text: Text, terms: Sequence[int]) -> int:
    """The place of the term with the fewest occurrences."""
    return min(range(len(terms)), key=lambda i: int(text.stream.counts[terms[i]]))


def _find_passages(starts: Array, ends: Array, begins: Array, reached: Array) -> Array:
    """The passage of each occurrence that begins and is reached in the same one."""
    passage = _passage_of(starts, reached)
    inside = (passage >= 0) & (starts[passage] <= begins) & (reached < ends[passage])
    found: Array = passage[inside]
    return found


def _pieces(ranges: PassageRanges) -> Iterator[PassageRanges]:
    """The passages in groups of about `PIECE_TOKENS` tokens, or of one longer passage."""
    n_tokens = np.cumsum(ranges.ends - ranges.starts)
    cuts = np.searchsorted(n_tokens, np.arange(0, n_tokens[-1] if len(ranges) else 0, PIECE_TOKENS))
    for begin, end in pairwise([*cuts.tolist(), len(ranges)]):
        if begin < end:
            yield ranges[begin:end]


def _exact(tokens: Array, numbers: list[int], rarest: int) -> tuple[Array, Array]:
    """Where the terms are adjacent: the positions of the first and of the last term."""
    begins = np.flatnonzero(tokens == numbers[rarest]) - rarest
    begins = begins[(begins >= 0) & (begins + len(numbers) <= len(tokens))]
    for distance, number in enumerate(numbers):
        if distance != rarest:
            begins = begins[tokens[begins + distance] == number]
    return begins, begins + len(numbers) - 1


def _adjacent(positions: TermPositions, terms: Sequence[int], rarest: int) -> Iterator[Array]:
    """The positions of the first of terms that are adjacent, some tokens at a time."""
    marked = np.zeros(WINDOW_TOKENS, bool)
    readers = [positions.read(term) for term in terms]
    for place, reader in enumerate(readers):
        reader.below(place)  # before these there is no room for the terms before it
    for start in range(0, max(positions.n_tokens, 1), WINDOW_TOKENS):
        # For each term where the first one would be, from the start of the window.
        lists = [reader.below(start + WINDOW_TOKENS + place) - (start + place) for place, reader in enumerate(readers)]
        begins = lists.pop(rarest)
        for others in lists:
            if len(begins) * MARKED_AMONG < len(others):
                begins = begins[_contains(others, begins)]
            else:
                marked[others] = True
                begins = begins[marked.take(begins)]
                marked[others] = False
        yield begins + start


def _contains(ascending: Array, wanted: Array) -> Array:
    """For each number whether it is among ascending ones, of which there is at least one."""
    found: Array = ascending[np.minimum(np.searchsorted(ascending, wanted), len(ascending) - 1)] == wanted
    return found


def _near(lists: list[Array], starts: Array, slop: int, gaps: Array) -> tuple[Array, Array]:
    """Where terms with these positions are in this order: the positions of the last but one and of the last term.

    The terms before the last but one are in the same passage; `starts` are the beginnings of the passages.
    """
    reached = begins = lists[0]
    for ends in lists[1:]:
        before = np.searchsorted(reached, ends) - 1
        ends, begins = ends[before >= 0], reached[before[before >= 0]]
        together = (ends - begins <= slop) & (np.searchsorted(gaps, begins) == np.searchsorted(gaps, ends))
        ends, begins = ends[together], begins[together]
        passage = _passage_of(starts, ends)
        together = (passage >= 0) & (begins >= starts[passage])
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


def _passage_of(starts: Array, positions: Array) -> Array:
    """The last passage that begins at or before each position, -1 if there is none."""
    return np.searchsorted(starts, positions, "right") - 1
