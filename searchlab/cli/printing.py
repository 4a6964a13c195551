"""How do results look?

On a terminal matched words are coloured and lines are wrapped; elsewhere words are *starred* and a line stays one.
Readers clean what they read, but an index can be filled by other means: no control character of a document is
printed, since a terminal would obey it.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import unicodedata
from collections.abc import Iterator, Set
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from searchlab.cli.app import count, note

if TYPE_CHECKING:
    from searchlab.analysis.analyzer import Analyzer
    from searchlab.records import Document
    from searchlab.retrieval.engine import SearchEngine
    from searchlab.retrieval.highlight.snippets import Snippet
    from searchlab.retrieval.results import Explanation, Hit, Hits, Query

INDENT = " " * 5
# Longer lines are hard to read, and on a narrower terminal than this a line is better broken by the terminal.
WIDEST, NARROWEST = 100, 40
# Further lines of a title stand below the first, unless its docno leaves too little room.
DEEPEST = 32

# The control characters of ASCII and Latin-1, and those that turn the direction of what follows.
_CONTROLS = dict.fromkeys([*range(0x20), *range(0x7F, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A)], " ")


def visible(text: str) -> str:
    """The text with a blank for each control character, line ends too; places in it stay the same."""
    return text if text.isprintable() else text.translate(_CONTROLS)


def print_hit(hit: Hit) -> None:
    """What was found, and below it where."""
    from searchlab.retrieval.highlight.snippets import Snippet

    # A title without any word is not marked, but shown.
    title = hit.marked_title if hit.marked_title.text else Snippet(" ".join(hit.title.split()) or "(no title)", ())
    lead = f"{hit.rank:>3}  {hit.score:8.4f}  {visible(hit.docno)}  "
    indent = " " * _cells(lead) if _cells(lead) <= DEEPEST else INDENT
    _print_passage(title, lead, indent=indent, bold=bool(hit.title))
    if hit.snippet.text:
        _print_passage(hit.snippet, INDENT)


def print_explanation(explanation: Explanation) -> None:
    """A table of the terms, whose weights add up to the score."""
    terms = [visible(part.term) for part in explanation.parts]
    width = max(map(len, ["score", *terms]))
    print(f"\n     {'term':{width}}  in query  in document     weight")
    for term, part in zip(terms, explanation.parts, strict=True):
        print(f"     {term:{width}}  {part.query_count:>8.4g}  {part.tf:>11.4g}  {part.weight:>9.4f}")
    print(f"     {'score':{width}}  {'':>8}  {'':>11}  {explanation.score:>9.4f}\n")


def print_document(document: Document, query: Query, analyzer: Analyzer) -> None:
    """All of a document: docno and title, its fields, and its text, with the words marked that the query found."""
    from searchlab.retrieval.highlight.snippets import Snippet

    found = _found_words(query, None)
    title = " ".join(document.title.split())
    _print_passage(
        _mark(title, found, analyzer) if title else Snippet("(no title)", ()),
        f"{visible(document.docno)}  ",
        indent="",
        bold=bool(title),
    )
    names = {name: visible(name) for name in document.fields}
    width = max(map(len, names.values()), default=0)
    for name, shown in names.items():
        value = " ".join(_as_text(document.fields[name]).split())
        marked = _mark(value, _found_words(query, name), analyzer)
        _print_passage(marked, f"  {shown:{width}}  ", indent=" " * (width + 4))
    print()
    for line in document.body.strip("\n").splitlines() or ["(no text)"]:
        for piece in _wrapped(Snippet(line, ()), 0, 0):
            _print_passage(_mark(piece.text, found, analyzer), "", indent="")


def as_record(hits: Hits, explanations: list[Explanation | None], engine: SearchEngine, scorer: str) -> dict[str, Any]:
    """The results as JSON values."""
    return {
        "query": hits.query.text,
        "terms": {term.text: term.count for term in hits.query.terms},
        "unknown": list(hits.query.unknown),
        "suggestions": dict(hits.query.suggestions),
        "remarks": list(hits.query.remarks),
        "index": str(engine.snapshot.folder),
        "scorer": scorer,
        "seconds": round(hits.seconds, 6),
        "hits": [
            {
                "rank": hit.rank,
                "score": hit.score,
                "docno": hit.docno,
                "title": hit.title,
                "snippet": hit.snippet.text,
                "marks": [list(mark) for mark in hit.snippet.marks],
                "fields": dict(hit.document.fields),
            }
            | ({"explanation": [asdict(part) for part in explanation.parts]} if explanation else {})
            for hit, explanation in zip(hits, explanations, strict=True)
        ],
    }


def comment(hits: Hits, engine: SearchEngine) -> None:
    """What a user should know about the results, on standard error."""
    query = hits.query
    unknown = visible(", ".join(query.unknown))
    for remark in query.remarks:
        note(visible(remark))
    if not query.terms and not query.unknown and query.node is None:
        note("no results: the query has only stop words or signs; add a word that says what it is about")
    elif not query.terms and query.node is None:
        note(f"no results: none of its words occurs in the index ({unknown})")
    else:
        if query.unknown:
            note(f"not in the index: {unknown}")
        if not hits:
            note("no results: no document has all that is asked for")
    if query.suggestions:
        note(f"did you mean: {', '.join(nearest for _, nearest in query.suggestions)}?")
    if hits:
        found, of = count(len(hits), "result"), count(len(engine), "document")
        note(f"{found} from {of} in {hits.seconds * 1000:.1f} ms")


def _print_passage(passage: Snippet, lead: str, *, indent: str = INDENT, bold: bool = False) -> None:
    """A passage behind `lead`, its words marked; further lines, if it takes them, are indented."""
    if sys.stdout.isatty() and "NO_COLOR" not in os.environ:
        marks = ("\033[33m", "\033[39m") if bold else ("\033[1;33m", "\033[0m")
        before, after = ("\033[1m", "\033[0m") if bold else ("", "")
    else:
        marks, before, after = ("*", "*"), "", ""
    for line in _wrapped(passage, _cells(lead), len(indent)):
        print(f"{lead}{before}{line.marked(*marks)}{after}")
        lead = indent


def _wrapped(passage: Snippet, lead: int, indent: int) -> Iterator[Snippet]:
    """The passage, harmless, in lines as wide as the terminal, which is taken up by `lead` or `indent` columns."""
    text = visible(passage.text)
    width = min(shutil.get_terminal_size().columns, WIDEST) if sys.stdout.isatty() else sys.maxsize
    if width < NARROWEST:
        width = sys.maxsize
    start = end = 0
    for word in re.finditer(r"\S+", text):
        if end > start and lead + _cells(text[start : word.end()]) > width:
            yield _cut(text, passage.marks, start, end)
            start, lead = word.start(), indent
        end = word.end()
    yield _cut(text, passage.marks, start, end)


def _cut(text: str, marks: tuple[tuple[int, int], ...], start: int, end: int) -> Snippet:
    from searchlab.retrieval.highlight.snippets import Snippet

    kept = ((max(a, start) - start, min(b, end) - start) for a, b in marks if a < end and b > start)
    return Snippet(text[start:end], tuple(kept))


def _cells(text: str) -> int:
    """How many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 1 + (unicodedata.east_asian_width(c) in "WF") for c in text)


def _mark(text: str, terms: Set[str], analyzer: Analyzer) -> Snippet:
    """A whole text with the words marked that have one of the terms."""
    from searchlab.retrieval.highlight.snippets import Snippet

    marks: list[tuple[int, int]] = []
    for span in analyzer.spans(text) if terms else ():
        # One character can hold two words: "½" is 1 and 2.
        if span.term in terms and (not marks or span.start >= marks[-1][1]):
            marks.append((span.start, span.end))
    return Snippet(text, tuple(marks))


def _found_words(query: Query, field: str | None) -> Set[str]:
    """The terms that a query looks for in a field, or, without one, in title and body."""
    from searchlab.indexing.storage.columns import STREAMS

    streams = STREAMS if field is None else (field,)
    return {variant for term in query.terms if term.stream in streams for variant in term.variants}


def _as_text(value: Any) -> str:
    """A field's value as people write it."""
    if isinstance(value, list):
        return "; ".join(map(_as_text, value))
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
