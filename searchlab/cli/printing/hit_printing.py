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
import unicodedata
from collections.abc import Iterator, Sequence, Set
from typing import TYPE_CHECKING, Any

from searchlab.cli.messages import note
from searchlab.cli.printing.terminal_text import printable, unfiltered
from searchlab.evaluation.number_text import format_count

if TYPE_CHECKING:
    from searchlab.indexing.snapshot import Snapshot
    from searchlab.records import Document
    from searchlab.retrieval.engine import SearchEngine
    from searchlab.retrieval.highlight.snippets import Snippet
    from searchlab.retrieval.results import Explanation, Hit, Hits, Query

INDENT = " " * 5
# Longer lines are hard to read; on a narrower terminal than the minimum, the terminal breaks lines better.
MAX_LINE_WIDTH, MIN_TERMINAL_WIDTH = 100, 40
# Further lines of a title are aligned with the first, unless its docno leaves too little room.
MAX_TITLE_INDENT = 32


def print_hit(hit: Hit) -> None:
    """Print a hit: rank, score, docno and title, and below them its snippet."""
    from searchlab.retrieval.highlight.snippets import Snippet

    # A title without any word has no marked form.
    title = hit.marked_title if hit.marked_title.text else Snippet(" ".join(hit.title.split()) or "(no title)", ())
    lead = f"{hit.rank:>3}  {hit.score:8.4f}  {printable(hit.docno)}  "
    indent = " " * _n_columns(lead) if _n_columns(lead) <= MAX_TITLE_INDENT else INDENT
    _print_passage(title, lead, indent=indent, bold=bool(hit.title))
    if hit.snippet.text:
        _print_passage(hit.snippet, INDENT)


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
    for line in document.body.strip("\n").splitlines() or ["(no text)"]:
        for piece in _wrapped(Snippet(line, ()), 0, 0):
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
        "n_docs": len(engine),
        "n_matches": hits.n_matches,
        "hits": [
            hit.to_json() | ({} if explanation is None else {"explanation": explanation.to_json()})
            for hit, explanation in zip(hits, explanations, strict=True)
        ],
    }


def note_outcome(hits: Hits, engine: SearchEngine) -> None:
    """Note how many results there are and how long the search took; if there are none, why, and what was meant."""
    query = hits.query
    unknown = ", ".join(query.unknown)
    for remark in query.remarks:
        note(remark)
    if not query.terms and not query.unknown and query.node is None:
        note("no results: the query has only stop words or punctuation; add a word to search for")
    elif not query.terms and query.node is None:
        note(f"no results: none of the words occurs in the index ({unknown})")
    else:
        if query.unknown:
            note(f"not in the index: {unknown}")
        if not hits:
            note("no results: no document matches the whole query and all filters")
    if query.suggestions:
        note(f"did you mean: {', '.join(nearest for _, nearest in query.suggestions)}?")
    if hits:
        results, documents = format_count(hits.n_matches, "result"), format_count(len(engine), "document")
        shown = f"{len(hits):,} of " if len(hits) < hits.n_matches else ""
        note(f"{shown}{results} from {documents} in {hits.seconds * 1000:.1f} ms")


def _print_passage(passage: Snippet, lead: str, *, indent: str = INDENT, bold: bool = False) -> None:
    """Print a passage after `lead`, its words marked; further lines are indented."""
    if sys.stdout.isatty() and "NO_COLOR" not in os.environ:
        marks = ("\033[33m", "\033[39m") if bold else ("\033[1;33m", "\033[0m")
        before, after = ("\033[1m", "\033[0m") if bold else ("", "")
    else:
        marks, before, after = ("*", "*"), "", ""
    for line in _wrapped(passage, _n_columns(lead), len(indent)):
        print(f"{lead}{before}{line.marked(*marks)}{after}", file=unfiltered(sys.stdout))
        lead = indent


def _wrapped(passage: Snippet, lead: int, indent: int) -> Iterator[Snippet]:
    """The passage in lines as wide as the terminal, without control characters.

    `lead` columns of the first line are taken, and `indent` columns of the others.
    """
    text = printable(passage.text)
    width = min(shutil.get_terminal_size().columns, MAX_LINE_WIDTH) if sys.stdout.isatty() else sys.maxsize
    if width < MIN_TERMINAL_WIDTH:
        width = sys.maxsize
    start = end = 0
    for word in re.finditer(r"\S+", text):
        if end > start and lead + _n_columns(text[start : word.end()]) > width:
            yield _cut(text, passage.marks, start, end)
            start, lead = word.start(), indent
        end = word.end()
    yield _cut(text, passage.marks, start, end)


def _cut(text: str, marks: tuple[tuple[int, int], ...], start: int, end: int) -> Snippet:
    from searchlab.retrieval.highlight.snippets import Snippet

    inside = ((max(a, start) - start, min(b, end) - start) for a, b in marks if a < end and b > start)
    return Snippet(text[start:end], tuple(inside))


def _n_columns(text: str) -> int:
    """The number of terminal columns that a text takes."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 1 + (unicodedata.east_asian_width(c) in "WF") for c in text)


def _matched_terms(query: Query, field: str) -> Set[str]:
    """The terms that a query searches for in a field other than title and body."""
    return {variant for term in query.terms if term.stream == field for variant in term.single_terms}


def _as_text(value: Any) -> str:
    """A field's value as people write it: lists without brackets, strings without quotes."""
    if isinstance(value, list):
        return "; ".join(map(_as_text, value))
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
