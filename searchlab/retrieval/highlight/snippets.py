"""Snippets: the passage of a document that matches a query best, with its matching words marked.

The best passage of a given number of words is the one with the most different query terms, then the most matches, then
the earliest. Words are matched by their terms, so every inflected form is marked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Set
from dataclasses import dataclass
from typing import Any

from searchlab.analysis.analyzer import TermSpans, TextAnalyzer
from searchlab.records import PAGE_BREAK

SNIPPET_WORDS = 30
# A passage of n-grams, which begin one character after the other.
SNIPPET_NGRAMS = 120
SENTENCE_ENDS = frozenset(".!?。！？")


@dataclass(frozen=True)
class Snippet:
    """A passage, and the positions (start, end) of its matching words.

    `page` is the number of the page with the first of them, if the text has pages.
    """

    text: str
    marks: tuple[tuple[int, int], ...]
    page: int | None = None

    def marked(self, before: str, after: str) -> str:
        """The passage with a string before and after each matching word."""
        pieces, last = [], 0
        for start, end in self.marks:
            pieces += [self.text[last:start], before, self.text[start:end], after]
            last = end
        return "".join([*pieces, self.text[last:]])


def texts_as_json(**texts: Snippet) -> dict[str, Any]:
    """Texts under their names, and `marks`: for each name the positions of its matching words, start and end.

    `page` is the number of the page of a passage; there is none if its text has no pages.
    """
    pages = [text.page for text in texts.values() if text.page is not None]
    marks = {name: [list(mark) for mark in text.marks] for name, text in texts.items()}
    return {name: text.text for name, text in texts.items()} | {"marks": marks} | ({"page": pages[0]} if pages else {})


def make_snippet(text: str, terms: Set[str], analyzer: TextAnalyzer, width: int = SNIPPET_WORDS) -> Snippet:
    """The best passage of about `width` words."""
    words = analyzer.locate_terms(text)
    n_words = len(words.terms)
    if not n_words:
        return Snippet("", ())
    matches = _matches(words, terms)
    first, last = _best_matches(matches, words.terms, width)
    begin = _begin(text, words, first, last, width)
    start = 0 if begin == 0 else words.starts[begin]
    end = len(text) if begin + width >= n_words else words.ends[begin + width - 1]
    return cut_snippet(text, start, end, _spans(words, [match for match in matches if begin <= match < begin + width]))


def mark_line(text: str, terms: Set[str], analyzer: TextAnalyzer) -> Snippet:
    """A whole text on one line, with its matching words marked."""
    words = analyzer.locate_terms(text)
    return cut_snippet(text, 0, len(text), _spans(words, _matches(words, terms)))


def _matches(words: TermSpans, terms: Set[str]) -> list[int]:
    """The numbers of the words that match."""
    return [number for number, term in enumerate(words.terms) if term in terms]


def _best_matches(matches: list[int], terms: list[str | None], width: int) -> tuple[int, int]:
    """The first and the last match in the best run of `width` words; 0, 0 without any match."""
    if not matches:
        return 0, 0
    if matches[-1] - matches[0] < width:
        return matches[0], matches[-1]
    counts: Counter[str | None] = Counter()
    best_value, best = (0, 0), (0, 0)
    left = 0
    for right, match in enumerate(matches):
        counts[terms[match]] += 1
        while matches[left] <= match - width:
            dropped = terms[matches[left]]
            counts[dropped] -= 1
            if not counts[dropped]:
                del counts[dropped]
            left += 1
        value = (len(counts), right - left)
        if value > best_value:
            best_value, best = value, (matches[left], match)
    return best


def _begin(text: str, words: TermSpans, first: int, last: int, width: int) -> int:
    """The first word of a passage with all matches: at the start of a sentence, or else a few words before them."""
    earliest = max(0, last - width + 1)
    for word in range(first, earliest - 1, -1):
        if word == 0:
            return word
        gap = text[words.ends[word - 1] : words.starts[word]]
        if gap != " " and not SENTENCE_ENDS.isdisjoint(gap):
            return word
    return max(earliest, min(first - width // 5, len(words.terms) - width))


def _spans(words: TermSpans, matches: list[int]) -> list[tuple[int, int]]:
    return [(words.starts[match], words.ends[match]) for match in matches]


def cut_snippet(text: str, start: int, end: int, matches: list[tuple[int, int]]) -> Snippet:
    """A passage on one line, with an ellipsis where text was left out."""
    before, after = "… " if start else "", " …" if end < len(text) else ""
    pieces, length = [before], len(before)
    marks: list[tuple[int, int]] = []
    last = start
    for begin, stop in matches:
        if marks and begin <= last:
            # N-grams overlap or touch, and one character can be two words ("½" is 1 and 2): the mark goes on.
            pieces.append(text[last:stop])
            length += len(pieces[-1])
            marks[-1] = (marks[-1][0], length)
            last = max(last, stop)
            continue
        gap = _tidy(text[last:begin])
        if last == start:
            gap = gap.lstrip()
        last = stop
        word = text[begin:last]
        pieces += (gap, word)
        length += len(gap) + len(word)
        marks.append((length - len(word), length))
    gap = _tidy(text[last:end])
    pieces.append(gap.lstrip() if last == start else gap)
    page = find_page(text, matches[0][0] if matches else start)
    return Snippet("".join(pieces).rstrip() + after, tuple(marks), page)


def find_page(text: str, position: int) -> int | None:
    """The number of the page with this position; None if the text has no pages."""
    return 1 + text.count(PAGE_BREAK, 0, position) if PAGE_BREAK in text else None


def _tidy(text: str) -> str:
    """The text with runs of white space as one blank, also at the ends."""
    if text.isprintable() and "  " not in text:
        return text  # printable text has no white space but blanks
    tidy = " ".join(text.split())
    return f"{' ' * text[0].isspace()}{tidy}{' ' * (text[-1].isspace() and bool(tidy))}"
