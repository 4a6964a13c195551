"""How is a page of HTML read?

As one document, named by its path as a plain text is. The title is what <title> says, or else the first
<h1>; the body is the text that a reader would see. Block elements stand on lines of their own, inline
elements leave words whole.

Broken pages are read as far as they go. The patterns never look past the next angle bracket and every search
goes on where the last one ended, so that the time is linear in the length of the page; html.parser of the
older Pythons takes its square for a page of `<a<a<a…`.
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
# Whatever stands in these is not shown; the first two hold no markup, so that only their end tag counts.
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
    """A page by its first tag, or by its suffix if there is no NUL byte in it."""
    if _DOCTYPE.match(opened.head) or _BEGINS_WITH_HTML(opened):
        return True
    return opened.suffix in HTML_SUFFIXES and "\0" not in opened.head


def read_html_document(opened: OpenedFile) -> Iterator[Document]:
    """The one document in the file, or none if the page shows nothing."""
    page = _Page(without_comments("\n".join(line for _, line in opened.lines())))
    title, body = page.title, page.body
    if title or body:
        yield Document(path_docno(opened.file.relative), title, body, location=opened.name)


class _Page:
    """The title and the lines of a page, gathered tag by tag."""

    def __init__(self, text: str) -> None:
        self._pieces: list[str] = []
        self._title = ""
        # Where the first <h1> begins and ends among the pieces.
        self._heading: list[int] = []
        self._gather(text, _end_tags(text))

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

    def _gather(self, text: str, ends: dict[str, list[tuple[int, int]]]) -> None:
        position = 0
        while (tag := _TAG.search(text, position)) is not None:
            self._add(text[position : tag.start()])
            position = tag.end()
            name = (tag["name"] or "").lower()
            if name in UNSEEN_ELEMENTS and not tag["end"]:
                position = self._pass_over(name, text, position, ends)
            elif name not in INLINE_ELEMENTS:
                self._separate(name, bool(tag["end"]))
        self._add(text[position:])

    def _pass_over(self, name: str, text: str, position: int, ends: dict[str, list[tuple[int, int]]]) -> int:
        """Where to go on after the start tag of something that is not shown."""
        self._pieces.append("\n")
        nearest = bisect_left(ends[name], (position, 0))
        if nearest == len(ends[name]):
            return len(text) if name in RAW_ELEMENTS else position
        inner_end, end = ends[name][nearest]
        if name == "title":
            self._title = self._title or _line([text[position:inner_end]])
        elif name == "head" and (title := _TITLE.search(text, position, inner_end)):
            self._pass_over("title", text, title.end(), ends)
        return end

    def _separate(self, name: str, is_end: bool) -> None:
        if name == "h1" and len(self._heading) == int(is_end):
            self._heading.append(len(self._pieces))
        self._pieces.append("\n")

    def _add(self, piece: str) -> None:
        # Line ends in the source are blanks; those that count come with the tags.
        self._pieces.append(piece.replace("\n", " "))


def _end_tags(text: str) -> dict[str, list[tuple[int, int]]]:
    ends: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
    for tag in _END_TAG.finditer(text):
        ends[tag[1].lower()].append(tag.span())
    return ends


def _line(pieces: list[str]) -> str:
    return on_one_line(decode_entities("".join(pieces)))
