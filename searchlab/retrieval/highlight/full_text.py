"""Full texts with their matching words marked; the text stays as it is, line breaks included."""

from __future__ import annotations

from collections.abc import Set

from searchlab.analysis.analyzer import Analyzer
from searchlab.retrieval.highlight.snippets import Snippet


def mark_all(text: str, terms: Set[str], analyzer: Analyzer) -> Snippet:
    """A text with marks at all occurrences of some terms."""
    marks: list[tuple[int, int]] = []
    if terms:
        for start, end, term in analyzer.spans(text):
            # One character can be two words: "½" is 1 and 2.
            if term in terms and not (marks and start < marks[-1][1]):
                marks.append((start, end))
    return Snippet(text, tuple(marks))
