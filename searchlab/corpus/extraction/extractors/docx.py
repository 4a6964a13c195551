"""Word documents (.docx): paragraphs and tables of the text, then foot- and endnotes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from searchlab.corpus.extraction.extracted import Message, TextCollector, document
from searchlab.corpus.extraction.extractors.safe_xml import Attributes, XmlHandler, attribute
from searchlab.corpus.extraction.extractors.zip_package import ZipPackage, core_properties

# What takes the place of these elements in the text.
SIGNS = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
# Styles of the paragraph that is the title, best first; their ids are English in every language of Word but a few.
TITLE_STYLES = ("title", "heading1")
NOTES = ("footnotes", "endnotes")


def extract_docx(stream: BinaryIO, max_length: int) -> Iterator[Message]:
    """The document of a Word file."""
    package = ZipPackage(stream)
    facts = core_properties(package, max_length)
    main = package.main_part("word/document.xml")
    related = package.relationships(main)
    text = WordText(max_length)
    package.parse(main, text)
    title = facts.first("title") or text.take_title()
    for note in NOTES:
        package.parse_if_present(related.get(note, ""), text)
    yield document(
        title,
        ["\n".join(text.paragraphs)],
        authors=facts.first("creator").split(";"),
        keywords=facts.first("keywords").replace(",", ";").split(";"),
        date=facts.first("created"),
    )


class WordText(XmlHandler):
    """The paragraphs of a part, without deleted text, field codes, and the copies for older programs."""

    def __init__(self, max_length: int) -> None:
        self.paragraphs: list[str] = []
        self._text = TextCollector(max_length)
        self._in_text = False
        self._n_fallbacks = self._n_paragraphs = 0
        self._style = ""
        # The number of the first paragraph in each style of a title.
        self._titles: dict[str, int] = {}

    def take_title(self) -> str:
        """The paragraph in the style of a title, which is then no longer in the text; empty if there is none."""
        number = next((self._titles[style] for style in TITLE_STYLES if style in self._titles), None)
        return "" if number is None else self.paragraphs.pop(number)

    def start(self, name: str, attributes: Attributes) -> None:
        """Note styles, signs, and where text begins."""
        if name == "t":
            self._in_text = not self._n_fallbacks
        elif name == "Fallback":
            self._n_fallbacks += 1
        elif name in SIGNS and not self._n_fallbacks:
            self._text.add(SIGNS[name])
        elif name == "pStyle":
            self._style = attribute(attributes, "val").lower()
        elif name == "p" and not self._n_fallbacks:
            # A text box is within a paragraph, and has paragraphs of its own.
            if self._n_paragraphs:
                self._text.add(" ")
            self._n_paragraphs += 1

    def end(self, name: str) -> None:
        """End a paragraph or a text."""
        if name == "t":
            self._in_text = False
        elif name == "Fallback":
            self._n_fallbacks -= 1
        elif name == "p" and not self._n_fallbacks:
            self._n_paragraphs -= 1
            paragraph = self._text.take()
            if self._style in TITLE_STYLES and paragraph.strip():
                self._titles.setdefault(self._style, len(self.paragraphs))
            self._style = ""
            self.paragraphs.append(paragraph)

    def text(self, text: str) -> None:
        """Collect text."""
        if self._in_text:
            self._text.add(text)
