"""XML that a stranger wrote: events of expat, without entities.

A document that declares an entity is refused, so that none can grow or name a file. Nothing is built in memory, so
elements nested a hundred thousand deep cost no more than others. Names are without their prefixes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import BinaryIO, NoReturn
from xml.parsers import expat

from searchlab.corpus.extraction.extracted import ExtractionFailed

BLOCK_BYTES = 64 * 1024

Attributes = Mapping[str, str]


class XmlHandler:
    """Receives the events of an XML document; a subclass overrides what it needs."""

    def start(self, name: str, attributes: Attributes) -> None:
        """An element begins."""

    def end(self, name: str) -> None:
        """An element ends."""

    def text(self, text: str) -> None:
        """Characters between two tags."""


class XmlReader:
    """Passes the events of a document to a handler, block by block; `part` names the document in messages."""

    def __init__(self, handler: XmlHandler, part: str) -> None:
        self._part = part
        self._parser = parser = expat.ParserCreate()
        parser.buffer_text = True
        local = _LocalNames()
        start, end = handler.start, handler.end
        parser.StartElementHandler = lambda name, attributes: start(local[name], attributes)
        parser.EndElementHandler = lambda name: end(local[name])
        parser.CharacterDataHandler = handler.text
        parser.EntityDeclHandler = _refuse_entities(part)

    def read(self, stream: BinaryIO) -> Iterator[None]:
        """Read the document; pauses after each block."""
        try:
            while block := stream.read(BLOCK_BYTES):
                self._parser.Parse(block, False)
                yield
            self._parser.Parse(b"", True)
        except expat.ExpatError as error:
            raise ExtractionFailed(f"damaged, {self._part}: {error}") from None


def parse_xml(stream: BinaryIO, handler: XmlHandler, part: str) -> None:
    """Pass all events of a document to a handler."""
    for _ in XmlReader(handler, part).read(stream):
        pass


def attribute(attributes: Attributes, name: str) -> str:
    """An attribute by its name without prefix, empty if there is none."""
    return next((value for key, value in attributes.items() if key.rpartition(":")[2] == name), "")


class _LocalNames(dict[str, str]):
    """Names without their prefixes; a document has few different ones."""

    def __missing__(self, name: str) -> str:
        local = name.rpartition(":")[2]
        if len(self) < 1000:
            self[name] = local
        return local


def _refuse_entities(part: str) -> Callable[..., NoReturn]:
    def refuse(*declared: object) -> NoReturn:
        raise ExtractionFailed(f"{part} declares an entity, which documents of this kind do not")

    return refuse
