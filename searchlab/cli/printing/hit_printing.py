"""Printed hits and documents, hits as JSON, and notes on the outcome of a search.

On a terminal matched words are coloured and lines are wrapped; elsewhere words are *starred* and lines stay whole.
Control characters of documents are not printed, since a terminal would obey them: readers remove them, but an index
can be filled through the Python API.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import time
from collections.abc import Iterator, Sequence, Set
from typing import TYPE_CHECKING, Any

from searchlab.cli.messages import list_names, note
from searchlab.cli.printing.terminal_text import n_columns, printable, unfiltered
from searchlab.evaluation.number_text import format_count

if TYPE_CHECKING:
    from searchlab.indexing.snapshot import Snapshot
    from searchlab.records import Document
    from searchlab.retrieval.engine import SearchEngine
    from searchlab.retrieval.highlight.snippets import Snippet
    from searchlab.retrieval.near_duplicates import Duplicate
    from searchlab.retrieval.results import Explanation, Hit, Hits, Query

INDENT = " " * 5
# Longer lines are hard to read; text with less room than the minimum begins on a line of its own.
MAX_LINE_WIDTH, MIN_TEXT_WIDTH = 100, 20
# Further lines of a title are aligned with the first, unless its docno leaves too little room.
MAX_TITLE_INDENT = 32


def print_hit(hit: Hit) -> None:
    """Print a hit: rank, score, docno and title, and below them its snippet."""
    from searchlab.retrieval.highlight.snippets import Snippet

    # A title without any word has no marked form.
    title = hit.marked_title if hit.marked_title.text else Snippet(" ".join(hit.title.split()) or "(no title)", ())
    lead = f"{hit.rank:>3}  {hit.score:8.4f}  {printable(hit.docno)}  "
    indent = " " * n_columns(lead) if n_columns(lead) <= MAX_TITLE_INDENT else INDENT
    _print_passage(title, lead, indent=indent, bold=bool(hit.title))
    if hit.snippet.text:
        _print_passage(hit.snippet, f"{INDENT}p. {hit.page}: " if hit.page else INDENT)


def print_duplicates(duplicates: Sequence[Duplicate]) -> None:
    """Print, below a hit, the docnos of its near-duplicates."""
    from searchlab.retrieval.highlight.snippets import Snippet

    if duplicates:
        also = ", ".join(f"{each.docno} ({each.reason})" for each in duplicates)
        _print_passage(Snippet(also, ()), f"{INDENT}also: ", indent=f"{INDENT}      ")


def print_document(document: Document, query: Query, snapshot: Snapshot) -> None:
    """Print a whole document: docno and title, fields, and text, with the matched words marked."""
    from searchlab.retrieval.highlight.full_text import mark_all
    from searchlab.retrieval.highlight.snippets import Snippet

    terms, analyzer = query.to_mark, snapshot.analyzer_of(query.stream_to_mark).for_document(document)
    title = " ".join(document.title.split())
    _print_passage(
        mark_all(title, terms, analyzer) if title else Snippet("(no title)", ()),
        f"{printable(document.docno)}  ",
        indent="",
        bold=bool(title),
    )
    names = {name: printable(name) for name in document.fields}
    width = max(map(len, names.values()), default=0)
    for name, shown in names.items():
        value = " ".join(_as_text(document.fields[name]).split())
        marked = mark_all(value, _matched_terms(query, name), snapshot.analyzer.for_document(document))
        _print_passage(marked, f"  {shown:{width}}  ", indent=" " * (width + 4))
    print()
    # A page break ends a line.
    for line in document.body.strip("\n").splitlines() or ["(no text)"]:
        for piece in _wrapped(Snippet(line, ()), 0, 0, _line_width()):
            _print_passage(mark_all(piece.text, terms, analyzer), "", indent="")


def hits_record(
    hits: Hits, engine: SearchEngine, scorer: str, explanations: Sequence[Explanation | None]
) -> dict[str, Any]:
    """A search and its hits as JSON values; hits with an explanation have it as `explanation`."""
    return {
        "query": hits.query.text,
        "terms": {term.text: term.count for term in hits.query.terms},
        "unknown": list(hits.query.unknown),
        "suggestions": dict(hits.query.suggestions),
        "remarks": list(hits.query.remarks),
        "index": str(engine.snapshot.folder),
        "scorer": scorer,
        "seconds": round(hits.seconds, 6),
        "other_fields": [each.to_json() for each in hits.other_fields],
        "n_docs": len(engine),
        "n_matches": hits.n_matches,
        "hits": [
            hit.to_json() | ({} if explanation is None else {"explanation": explanation.to_json()})
            for hit, explanation in zip(hits, explanations, strict=True)
        ],
    }


def note_outcome(hits: Hits, engine: SearchEngine, began: float) -> None:
    """Note how many results there are and how long the user waited; if there are none, why, and what was meant.

    `began` is when the search began, by `time.perf_counter`.
    """
    query, elsewhere = hits.query, hits.other_fields
    unknown = list_names(query.unknown)
    for remark in query.remarks:
        note(remark)
    if not query.terms and not query.unknown and query.node is None:
        note("no results: the query has only stop words or punctuation; add a word to search for")
    elif not query.terms and query.node is None:
        note(f"no results: none of the words occurs in {'a title or text' if elsewhere else 'the index'} ({unknown})")
    else:
        if query.unknown:
            note(f"{'in no title or text' if elsewhere else 'not in the index'}: {unknown}")
        if not hits:
            note("no results: no document matches the whole query and all filters")
    if query.suggestions:
        note(f"did you mean: {', '.join(nearest for _, nearest in query.suggestions)}?")
    if elsewhere:
        offers = [f"{format_count(each.n_docs, 'document')} by {each.query}" for each in elsewhere]
        note(f"more in other fields: {', '.join(offers)}")
    if hits:
        results, documents = format_count(hits.n_matches, "result"), format_count(len(engine), "document")
        shown = f"{len(hits):,} of " if len(hits) < hits.n_matches else ""
        note(f"{shown}{results} from {documents} in {(time.perf_counter() - began) * 1000:.1f} ms")


def _print_passage(passage: Snippet, lead: str, *, indent: str = INDENT, bold: bool = False) -> None:
    """Print a passage after `lead`, its words marked; further lines are indented."""
    if sys.stdout.isatty() and "NO_COLOR" not in os.environ:
        marks = ("\033[33m", "\033[39m") if bold else ("\033[1;33m", "\033[0m")
        before, after = ("\033[1m", "\033[0m") if bold else ("", "")
    else:
        marks, before, after = ("*", "*"), "", ""
    width = _line_width()
    indent = indent[: width // 3]
    if lead.strip() and n_columns(lead) + MIN_TEXT_WIDTH > width:
        print(lead.rstrip())
        lead = indent
    for line in _wrapped(passage, n_columns(lead), len(indent), width):
        print(f"{lead}{before}{line.marked(*marks)}{after}", file=unfiltered(sys.stdout))
        lead = indent


def _line_width() -> int:
    """The number of columns of a line; there is no limit but at a terminal."""
    return min(shutil.get_terminal_size().columns, MAX_LINE_WIDTH) if sys.stdout.isatty() else sys.maxsize


def _wrapped(passage: Snippet, lead: int, indent: int, width: int) -> Iterator[Snippet]:
    """The passage in lines of at most `width` columns, without control characters.

    `lead` columns of the first line are taken, and `indent` columns of the others. A word is broken only if it is wider
    than a line.
    """
    text = printable(passage.text)
    start = end = 0
    for word in re.finditer(r"\S+", text):
        for piece_start, piece_end in _pieces(text, *word.span(), max(width - max(lead, indent), 1)):
            if end > start and lead + n_columns(text[start:piece_end]) > width:
                yield _cut(text, passage.marks, start, end)
                start, lead = piece_start, indent
            end = piece_end
    yield _cut(text, passage.marks, start, end)


def _pieces(text: str, start: int, end: int, width: int) -> Iterator[tuple[int, int]]:
    """A word, or the pieces of a word that is wider than a line."""
    if 2 * (end - start) > width:  # no character takes more than two columns
        column = 0
        for position in range(start, end):
            n_needed = n_columns(text[position])
            if column and column + n_needed > width:
                yield start, position
                start, column = position, 0
            column += n_needed
    yield start, end


def _cut(text: str, marks: tuple[tuple[int, int], ...], start: int, end: int) -> Snippet:
    from searchlab.retrieval.highlight.snippets import Snippet

    inside = ((max(a, start) - start, min(b, end) - start) for a, b in marks if a < end and b > start)
    return Snippet(text[start:end], tuple(inside))


def _matched_terms(query: Query, field: str) -> Set[str]:
    """The terms that a query searches for in a field other than title and body."""
    return {variant for term in query.terms if term.stream == field for variant in term.single_terms}


def _as_text(value: Any) -> str:
    """A field's value as people write it: lists without brackets, strings without quotes."""
    if isinstance(value, list):
        return "; ".join(map(_as_text, value))
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
