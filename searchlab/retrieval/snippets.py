"""Which passage of a document shows best why it was found?

The passage of a given width that holds the most different query terms, then the most matches, then the
earliest. Words are matched by their terms, so every inflected form is marked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Set
from dataclasses import dataclass

from searchlab.indexing.analysis import Analyzer, Span

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
    spans = list(analyzer.spans(text))
    if not spans:
        return Snippet("", ())
    first, last = _best_matches([span.term if span.term in terms else None for span in spans], width)
    begin = _begin(text, spans, first, last, width)
    window = spans[begin : begin + width]
    start = 0 if begin == 0 else window[0].start
    end = len(text) if begin + width >= len(spans) else window[-1].end
    return _cut(text, start, end, [span for span in window if span.term in terms])


def _best_matches(matches: list[str | None], width: int) -> tuple[int, int]:
    """The places of the first and the last match in the best run of `width` words; 0, 0 without any match."""
    counts: Counter[str] = Counter()
    best_value, best_end = (0, 0), 0
    for place, term in enumerate(matches):
        gone = matches[place - width] if place >= width else None
        if gone is not None:
            counts[gone] -= 1
            if not counts[gone]:
                del counts[gone]
        if term is not None:
            counts[term] += 1
            value = (len(counts), counts.total())
            if value > best_value:
                best_value, best_end = value, place
    run = range(max(0, best_end - width + 1), best_end + 1)
    return next((place for place in run if matches[place] is not None), 0), best_end


def _begin(text: str, spans: list[Span], first: int, last: int, width: int) -> int:
    """Where to begin so that all matches are shown: at the start of a sentence, or else a few words before them."""
    earliest = max(0, last - width + 1)
    for place in range(first, earliest - 1, -1):
        if place == 0 or any(sign in ".!?" for sign in text[spans[place - 1].end : spans[place].start]):
            return place
    return max(earliest, min(first - width // 5, len(spans) - width))


def _cut(text: str, start: int, end: int, matched: list[Span]) -> Snippet:
    """The passage on one line, with dots where text was left out."""
    before, after = "… " if start else "", " …" if end < len(text) else ""
    pieces, marks, length = [before], [], len(before)
    last = start
    for span in [*matched, None]:
        if span and span.start < last:
            continue  # one character can hold two words: "½" is 1 and 2
        gap = _tidy(text[last : span.start if span else end])
        if last == start:
            gap = gap.lstrip()
        pieces.append(gap)
        length += len(gap)
        if span:
            word = text[span.start : span.end]
            marks.append((length, length + len(word)))
            pieces.append(word)
            length += len(word)
            last = span.end
    return Snippet("".join(pieces).rstrip() + after, tuple(marks))


def _tidy(text: str) -> str:
    """Runs of white space as one blank, also at the ends."""
    if not text:
        return ""
    tidy = " ".join(text.split())
    return f"{' ' * text[0].isspace()}{tidy}{' ' * (text[-1].isspace() and bool(tidy))}"
