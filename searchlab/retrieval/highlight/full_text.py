"""Full texts with their matching words marked; the text stays as it is, line breaks included."""

from __future__ import annotations

from collections.abc import Set

from searchlab.analysis.analyzer import TextAnalyzer
from searchlab.retrieval.highlight.snippets import Snippet


def mark_all(text: str, terms: Set[str], analyzer: TextAnalyzer) -> Snippet:
    """A text with marks at all occurrences of some terms."""
    marks: list[tuple[int, int]] = []
    if terms:
        for start, end, term in analyzer.spans(text):
            if term not in terms:
                continue
            if marks and start <= marks[-1][1]:
                # N-grams overlap or touch, and one character can be two words ("½" is 1 and 2): the mark goes on.
                marks[-1] = (marks[-1][0], max(marks[-1][1], end))
            else:
                marks.append((start, end))
    return Snippet(text, tuple(marks))
