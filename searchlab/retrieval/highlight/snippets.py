"""Which passage of a document shows best why it was found?

The passage of a given width that holds the most different query terms, then the most matches, then the
earliest. Words are matched by their terms, so every inflected form is marked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Set
from dataclasses import dataclass

from searchlab.analysis.analyzer import Analyzer, TermSpans

WIDTH = 30


@dataclass(frozen=True)
class Snippet:
    """A passage, and the places in it (start, end) of the words that matched."""

    text: str
    marks: tuple[tuple[int, int], ...]

    def marked(self, before: str, after: str) -> str:
        """The passage with each matched word between two strings."""
        pieces, last = [], 0
        for start, end in self.marks:
            pieces += [self.text[last:start], before, self.text[start:end], after]
            last = end
        return "".join([*pieces, self.text[last:]])


def make_snippet(text: str, terms: Set[str], analyzer: Analyzer, width: int = WIDTH) -> Snippet:
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
    return cut(text, start, end, _places(words, [place for place in matches if begin <= place < begin + width]))


def mark_line(text: str, terms: Set[str], analyzer: Analyzer) -> Snippet:
    """All of a text, on one line."""
    words = analyzer.locate_terms(text)
    return cut(text, 0, len(text), _places(words, _matches(words, terms)))


def _matches(words: TermSpans, terms: Set[str]) -> list[int]:
    """Which of the words match."""
    return [place for place, term in enumerate(words.terms) if term in terms]


def _best_matches(matches: list[int], terms: list[str | None], width: int) -> tuple[int, int]:
    """The places of the first and the last match in the best run of `width` words; 0, 0 without any match."""
    if not matches:
        return 0, 0
    if matches[-1] - matches[0] < width:
        return matches[0], matches[-1]
    counts: Counter[str | None] = Counter()
    best_value, best = (0, 0), (0, 0)
    left = 0
    for right, place in enumerate(matches):
        counts[terms[place]] += 1
        while matches[left] <= place - width:
            gone = terms[matches[left]]
            counts[gone] -= 1
            if not counts[gone]:
                del counts[gone]
            left += 1
        value = (len(counts), right - left)
        if value > best_value:
            best_value, best = value, (matches[left], place)
    return best


def _begin(text: str, words: TermSpans, first: int, last: int, width: int) -> int:
    """Where to begin so that all matches are shown: at the start of a sentence, or else a few words before them."""
    earliest = max(0, last - width + 1)
    for place in range(first, earliest - 1, -1):
        if place == 0:
            return place
        gap = text[words.ends[place - 1] : words.starts[place]]
        if gap != " " and ("." in gap or "!" in gap or "?" in gap):
            return place
    return max(earliest, min(first - width // 5, len(words.terms) - width))


def _places(words: TermSpans, matches: list[int]) -> list[tuple[int, int]]:
    return [(words.starts[place], words.ends[place]) for place in matches]


def cut(text: str, start: int, end: int, matches: list[tuple[int, int]]) -> Snippet:
    """The passage on one line, with dots where text was left out."""
    before, after = "… " if start else "", " …" if end < len(text) else ""
    pieces, marks, length = [before], [], len(before)
    last = start
    for begin, stop in matches:
        if begin < last:
            continue  # one character can hold two words: "½" is 1 and 2
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
    return Snippet("".join(pieces).rstrip() + after, tuple(marks))


def _tidy(text: str) -> str:
    """Runs of white space as one blank, also at the ends."""
    if text.isprintable() and "  " not in text:
        return text  # what is printable has no white space but blanks
    tidy = " ".join(text.split())
    return f"{' ' * text[0].isspace()}{tidy}{' ' * (text[-1].isspace() and bool(tidy))}"
