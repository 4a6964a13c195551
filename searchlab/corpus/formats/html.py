"""HTML documents, one a page.

The docno is the path, as for plain text. The title is that of <title>, or else the first <h1>; the body is the visible
text. Block elements are separate lines; inline elements do not split words.

Broken pages are read as far as possible. The patterns never look past the next angle bracket, and every search
continues where the last one ended, so the time is linear in the length of the page; html.parser of older Python
versions takes quadratic time for a page of `<a<a<a…`.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator

from searchlab.corpus.parsing.identifiers import path_docno
from searchlab.corpus.parsing.sgml import begins_with, decode_entities, without_comments
from searchlab.corpus.source_files import OpenedFile
from searchlab.corpus.text_cleaning import on_one_line
from searchlab.records import Document

HTML_SUFFIXES = frozenset({".html", ".htm", ".xhtml"})
# The content of these is not shown; that of script and style is not markup, so only their end tag counts.
RAW_ELEMENTS = frozenset({"script", "style"})
UNSEEN_ELEMENTS = RAW_ELEMENTS | {"template", "noscript", "head", "title"}
INLINE_ELEMENTS = frozenset(
    {"a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em", "font", "i", "ins"}
    | {"kbd", "mark", "q", "s", "samp", "small", "span", "strike", "strong", "sub", "sup", "time", "tt", "u", "var"}
    | {"wbr", "nobr"}
)

_DOCTYPE = re.compile(r"\s*<!doctype\s+html", re.IGNORECASE)
_BEGINS_WITH_HTML = begins_with("html")
_TAG = re.compile(
    r"""<(?P<end>/?)(?P<name>[A-Za-z][^\s<>/]*+)   # an attribute may hold a > in quotes
        (?: (?:[^<>"']|"[^"<]*+"|'[^'<]*+')*+ > | [^<>]*+ > )
      | <[?!][^<>]*+>""",
    re.VERBOSE,
)
_TITLE = re.compile(r"<title(?![^\s<>/])[^<>]*+>", re.IGNORECASE)
_END_TAG = re.compile(rf"</({'|'.join(sorted(UNSEEN_ELEMENTS))})(?![^\s<>/])[^<>]*+>?", re.IGNORECASE)


def is_html(opened: OpenedFile) -> bool:
    """Whether the first tag is that of a page, or the suffix is that of HTML and there is no NUL byte."""
    if _DOCTYPE.match(opened.head) or _BEGINS_WITH_HTML(opened):
        return True
    return opened.suffix in HTML_SUFFIXES and "\0" not in opened.head


def read_html_document(opened: OpenedFile) -> Iterator[Document]:
    """The document of the file; none if the page has no visible text."""
    title, body = read_page("\n".join(opened.whole()))
    if title or body:
        yield Document(path_docno(opened.file.relative), title, body, location=opened.name)


def read_page(text: str) -> tuple[str, str]:
    """The title and the visible text of a page."""
    page = _Page(without_comments(text))
    return page.title, page.body


class _Page:
    """The title and the lines of a page, collected tag by tag."""

    def __init__(self, text: str) -> None:
        self._pieces: list[str] = []
        self._title = ""
        # The indices of the pieces at which the first <h1> begins and ends.
        self._heading: list[int] = []
        self._collect(text, _end_tags(text))

    @property
    def title(self) -> str:
        return self._title or _line(self._pieces[slice(*self._heading_bounds)])

    @property
    def body(self) -> str:
        pieces = self._pieces
        if not self._title:
            start, end = self._heading_bounds
            pieces = pieces[:start] + pieces[end:]
        lines = map(on_one_line, decode_entities("".join(pieces)).split("\n"))
        return "\n".join(line for line in lines if line)

    @property
    def _heading_bounds(self) -> tuple[int, int]:
        return (self._heading[0], self._heading[1]) if len(self._heading) == 2 else (0, 0)

    def _collect(self, text: str, ends: dict[str, list[tuple[int, int]]]) -> None:
        position = 0
        while (tag := _TAG.search(text, position)) is not None:
            self._add(text[position : tag.start()])
            position = tag.end()
            name = (tag["name"] or "").lower()
            if name in UNSEEN_ELEMENTS and not tag["end"]:
                position = self._skip_element(name, text, position, ends)
            elif name not in INLINE_ELEMENTS:
                self._separate(name, bool(tag["end"]))
        self._add(text[position:])

    def _skip_element(self, name: str, text: str, position: int, ends: dict[str, list[tuple[int, int]]]) -> int:
        """Skip an element that is not shown; returns the position after it."""
        self._pieces.append("\n")
        nearest = bisect_left(ends[name], (position, 0))
        if nearest == len(ends[name]):
            return len(text) if name in RAW_ELEMENTS else position
        inner_end, end = ends[name][nearest]
        if name == "title":
            self._title = self._title or _line([text[position:inner_end]])
        elif name == "head" and (title := _TITLE.search(text, position, inner_end)):
            self._skip_element("title", text, title.end(), ends)
        return end

    def _separate(self, name: str, is_end: bool) -> None:
        if name == "h1" and len(self._heading) == int(is_end):
            self._heading.append(len(self._pieces))
        self._pieces.append("\n")

    def _add(self, piece: str) -> None:
        # Line ends in the source are blanks; line ends of the text come from tags.
        self._pieces.append(piece.replace("\n", " "))


def _end_tags(text: str) -> dict[str, list[tuple[int, int]]]:
    ends: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
    for tag in _END_TAG.finditer(text):
        ends[tag[1].lower()].append(tag.span())
    return ends


def _line(pieces: list[str]) -> str:
    return on_one_line(decode_entities("".join(pieces)))
