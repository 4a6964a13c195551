"""OpenDocument texts and presentations (.odt, .odp): paragraphs and headings; a slide is a page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from searchlab.corpus.extraction.extracted import ExtractionFailed, Message, TextCollector, document
from searchlab.corpus.extraction.extractors.safe_xml import Attributes, XmlHandler, attribute
from searchlab.corpus.extraction.extractors.zip_package import Properties, ZipPackage

META = frozenset({"title", "creator", "initial-creator", "creation-date", "keyword"})
# Deleted text, comments, and the number of a note.
UNSEEN = frozenset({"tracked-changes", "annotation", "note-citation"})
MAX_BLANKS = 100


def extract_odt(stream: BinaryIO, max_length: int) -> Iterator[Message]:
    """The document of an OpenDocument file; the slides of a presentation are numbered."""
    package = ZipPackage(stream)
    if "META-INF/manifest.xml" in package and b"encryption-data" in package.read("META-INF/manifest.xml"):
        raise ExtractionFailed("encrypted, it can be read only with a password")
    facts = Properties(META, max_length)
    package.parse_if_present("meta.xml", facts)
    text = _OpenDocumentText(max_length)
    package.parse("content.xml", text)
    title = facts.first("title") or text.take_title()
    pages = text.pages
    yield document(
        title,
        pages,
        authors=facts.first("initial-creator", "creator").split(";"),
        keywords=facts.all("keyword"),
        date=facts.first("creation-date"),
        fields={"n_pages": len(pages)} if len(pages) > 1 else {},
    )


class _OpenDocumentText(XmlHandler):
    def __init__(self, max_length: int) -> None:
        self._text = TextCollector(max_length)
        self._pages: list[list[str]] = [[]]
        self._n_unseen = 0
        self._n_paragraphs = 0
        self._level = ""
        self._title: int | None = None

    @property
    def pages(self) -> list[str]:
        """The text of each page; of a text document there is one."""
        return ["\n".join(page) for page in self._pages if page]

    def take_title(self) -> str:
        """The first heading of the first level, which is then no longer in the text; empty if there is none."""
        return "" if self._title is None else self._pages[0].pop(self._title)

    def start(self, name: str, attributes: Attributes) -> None:
        if name in UNSEEN:
            self._n_unseen += 1
        elif name in ("p", "h"):
            # A note or a frame within a paragraph has paragraphs of its own.
            if self._n_paragraphs:
                self._text.add(" ")
            self._n_paragraphs += 1
            if name == "h":
                self._level = attribute(attributes, "outline-level")
        elif name == "page":
            self._pages.append([])
        elif name == "s":
            written = attribute(attributes, "c")
            self._text.add(" " * (min(int(written), MAX_BLANKS) if written.isdecimal() else 1))
        elif name in ("tab", "line-break"):
            self._text.add("\t" if name == "tab" else "\n")

    def end(self, name: str) -> None:
        if name in UNSEEN:
            self._n_unseen -= 1
        elif name in ("p", "h"):
            self._n_paragraphs -= 1
            if self._n_paragraphs:
                self._text.add(" ")
            else:
                self._end_paragraph(is_heading=name == "h")

    def _end_paragraph(self, *, is_heading: bool) -> None:
        paragraph = self._text.take()
        if is_heading and self._level == "1" and self._title is None and len(self._pages) == 1:
            self._title = len(self._pages[0])
        self._pages[-1].append(paragraph)

    def text(self, text: str) -> None:
        if self._n_paragraphs and not self._n_unseen:
            self._text.add(text)
