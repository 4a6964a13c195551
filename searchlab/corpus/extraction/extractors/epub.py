"""Books (.epub): the chapters in the order of reading."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from typing import BinaryIO
from urllib.parse import unquote

from searchlab.corpus.extraction.extracted import ExtractionFailed, Message, TextCollector, document
from searchlab.corpus.extraction.extractors.safe_xml import Attributes, XmlHandler, attribute
from searchlab.corpus.extraction.extractors.zip_package import Properties, ZipPackage
from searchlab.corpus.formats.html import read_page

CONTAINER = "META-INF/container.xml"
ENCRYPTION = "META-INF/encryption.xml"
PAGE_TYPES = frozenset({"application/xhtml+xml", "text/html", "text/x-oeb1-document"})


def extract_epub(stream: BinaryIO, max_length: int) -> Iterator[Message]:
    """The document of a book."""
    package = ZipPackage(stream)
    container = _Container()
    package.parse(CONTAINER, container)
    book = _Book(posixpath.dirname(container.package), max_length)
    package.parse(container.package, book)
    chapters = book.chapters
    encrypted = _Encrypted()
    package.parse_if_present(ENCRYPTION, encrypted)
    if not encrypted.parts.isdisjoint(chapters):
        raise ExtractionFailed("encrypted, it can be read only by the program of its seller")
    text = TextCollector(max_length)
    for chapter in chapters:
        if chapter in package:
            text.add(read_page(package.read(chapter).decode("utf-8", "replace"))[1] + "\n\n")
    yield document(
        book.first("title"),
        [text.take()],
        authors=book.all("creator"),
        keywords=book.all("subject"),
        date=book.first("date"),
    )


class _Container(XmlHandler):
    package = ""

    def start(self, name: str, attributes: Attributes) -> None:
        if name == "rootfile" and not self.package:
            self.package = attribute(attributes, "full-path")


class _Book(Properties):
    """Title, creators, …; files by their ids, and the ids in the order of reading."""

    def __init__(self, folder: str, max_length: int) -> None:
        super().__init__(frozenset({"title", "creator", "date", "subject"}), max_length)
        self._folder = folder
        self._files: dict[str, str] = {}
        self._order: list[str] = []

    @property
    def chapters(self) -> list[str]:
        """The parts with the chapters, each once."""
        return list(dict.fromkeys(self._files[item] for item in self._order if item in self._files))

    def start(self, name: str, attributes: Attributes) -> None:
        super().start(name, attributes)
        if name == "item" and attribute(attributes, "media-type") in PAGE_TYPES:
            path = unquote(attribute(attributes, "href").partition("#")[0])
            self._files[attribute(attributes, "id")] = posixpath.normpath(posixpath.join(self._folder, path))
        elif name == "itemref":
            self._order.append(attribute(attributes, "idref"))


class _Encrypted(XmlHandler):
    def __init__(self) -> None:
        self.parts: set[str] = set()

    def start(self, name: str, attributes: Attributes) -> None:
        if name == "CipherReference":
            self.parts.add(unquote(attribute(attributes, "URI")))
