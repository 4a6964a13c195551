"""Presentations (.pptx): the text of each slide, with its notes; a slide is a page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from searchlab.corpus.extraction.extracted import ExtractionFailed, Message, TextCollector, document, split_title
from searchlab.corpus.extraction.extractors.safe_xml import Attributes, XmlHandler, attribute
from searchlab.corpus.extraction.extractors.zip_package import ZipPackage, core_properties


def extract_pptx(stream: BinaryIO, max_length: int) -> Iterator[Message]:
    """The document of a presentation; its slides are numbered."""
    package = ZipPackage(stream)
    facts = core_properties(package, max_length)
    main = package.main_part("ppt/presentation.xml")
    order = _SlideOrder()
    package.parse(main, order)
    related = package.relationships(main)
    text = _SlideText(max_length)
    slides = [_read_slide(package, related.get(slide, ""), text) for slide in order.ids]
    if not slides:
        raise ExtractionFailed("a presentation without slides")
    title = facts.first("title")
    if not title or title.lower().startswith("powerpoint"):
        title, slides[0] = split_title(slides[0])
    yield document(
        title,
        slides,
        authors=facts.first("creator").split(";"),
        keywords=facts.first("keywords").replace(",", ";").split(";"),
        date=facts.first("created"),
        fields={"n_pages": len(slides)},
    )


def _read_slide(package: ZipPackage, part: str, text: _SlideText) -> str:
    package.parse(part, text)
    package.parse_if_present(package.relationships(part).get("notesSlide", ""), text)
    return text.take()


class _SlideOrder(XmlHandler):
    def __init__(self) -> None:
        self.ids: list[str] = []

    def start(self, name: str, attributes: Attributes) -> None:
        if name == "sldId":
            # The plain id is a number; the one with a prefix names the part.
            self.ids.append(next((value for key, value in attributes.items() if key.endswith(":id")), ""))


class _SlideText(XmlHandler):
    """The paragraphs of a slide, without the number that a field shows."""

    def __init__(self, max_length: int) -> None:
        self._text = TextCollector(max_length)
        self._in_text = self._in_number = False

    def take(self) -> str:
        return self._text.take()

    def start(self, name: str, attributes: Attributes) -> None:
        if name == "t":
            self._in_text = not self._in_number
        elif name == "fld":
            self._in_number = attribute(attributes, "type") == "slidenum"
        elif name == "br":
            self._text.add("\n")

    def end(self, name: str) -> None:
        if name == "t":
            self._in_text = False
        elif name == "fld":
            self._in_number = False
        elif name == "p":
            self._text.add("\n")

    def text(self, text: str) -> None:
        if self._in_text:
            self._text.add(text)
