"""Long texts: the part of a text that a snippet is made from, so that a book takes no longer than an abstract.

Splitting all of a text into words takes a tenth of a second for each megabyte. Of a long text, only the surroundings of
the first occurrence of each term are considered, which is found by comparing characters. The part with the most terms
is taken; of several, the one that comes first.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from searchlab.analysis.tokenizer import fold_text
from searchlab.retrieval.highlight.snippets import Snippet

# Texts of more characters are long.
MAX_LENGTH = 200_000
# How much of a long text is considered, before and after an occurrence.
BEFORE, AFTER = 2_000, 8_000
# Occurrences within longer words that are skipped before a form of a term is given up.
MAX_SKIPPED = 1_000
# Texts with accents are folded in pieces of this length.
SEGMENT_LENGTH = 100_000


def choose_part(text: str, forms: Mapping[str, Collection[str]]) -> slice:
    """The part of a text to make a snippet from; `forms` has the words of each term as the index has seen them."""
    if len(text) <= MAX_LENGTH:
        return slice(0, len(text))
    lowered = text.lower()
    if len(lowered) != len(text):  # a few capitals have two small letters
        lowered = text
    starts = [position for words in forms.values() if (position := _first(text, lowered, words)) >= 0]
    parts = [_part(text, position) for position in sorted(set(starts) or {0})]
    return max(parts, key=lambda part: _count_terms(lowered[part], forms))


def add_ellipses(snippet: Snippet, text: str, part: slice) -> Snippet:
    """A snippet of a part of a text, with an ellipsis where the text goes on beyond the part."""
    before = "… " if part.start and snippet.text and not snippet.text.startswith("… ") else ""
    after = " …" if part.stop < len(text) and snippet.text and not snippet.text.endswith(" …") else ""
    marks = tuple((start + len(before), end + len(before)) for start, end in snippet.marks)
    return replace(snippet, text=f"{before}{snippet.text}{after}", marks=marks) if before or after else snippet


def _first(text: str, lowered: str, words: Collection[str]) -> int:
    """The position of the first of some words in a text, -1 if none is there."""
    found = [position for word in words if (position := _find_word(lowered, word)) >= 0]
    if found or text.isascii():
        return min(found, default=-1)
    # Accents are removed from the words of an index. Positions may be off by a few characters.
    for start in range(0, len(text), SEGMENT_LENGTH):
        folded = fold_text(text[start : start + SEGMENT_LENGTH])
        if near := [position for word in words if (position := _find_word(folded, word)) >= 0]:
            return start + min(near)
    return -1


def _find_word(text: str, word: str) -> int:
    """The position of a word; within a longer word only if it is not of ASCII letters, as in Chinese."""
    position = text.find(word)
    for _ in range(MAX_SKIPPED if word.isascii() else 0):
        end = position + len(word)
        if position < 0 or not (text[position - 1 : position].isalnum() or text[end : end + 1].isalnum()):
            return position
        position = text.find(word, end)
    return position


def _part(text: str, position: int) -> slice:
    """The surroundings of a position, from blank to blank."""
    start, stop = max(position - BEFORE, 0), min(position + AFTER, len(text))
    if start:
        start = max(text.find(" ", start, position) + 1, start)
    if stop < len(text):
        blank = text.rfind(" ", position, stop)
        stop = blank if blank > 0 else stop
    return slice(start, stop)


def _count_terms(part: str, forms: Mapping[str, Collection[str]]) -> int:
    return sum(any(_find_word(part, word) >= 0 for word in words) for words in forms.values())
