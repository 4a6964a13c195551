"""Which words of a whole text matched? The text stays as it is, line breaks included."""

from __future__ import annotations

from collections.abc import Set

from searchlab.indexing.analysis import Analyzer
from searchlab.indexing.columns import STREAMS
from searchlab.retrieval.results import Query
from searchlab.retrieval.snippets import Snippet


def terms_to_mark(query: Query) -> frozenset[str]:
    """The terms of a query that title or body may have."""
    return frozenset(variant for term in query.terms if term.stream in STREAMS for variant in term.variants)


def mark_all(text: str, terms: Set[str], analyzer: Analyzer) -> Snippet:
    """A text with all places of some terms."""
    marks: list[tuple[int, int]] = []
    if terms:
        for span in analyzer.spans(text):
            # One character can hold two words: "½" is 1 and 2.
            if span.term in terms and not (marks and span.start < marks[-1][1]):
                marks.append((span.start, span.end))
    return Snippet(text, tuple(marks))
