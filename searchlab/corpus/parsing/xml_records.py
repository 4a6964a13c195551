"""Records in XML: the texts of the wanted elements of each record, one record in memory at a time.

expat reads the file piece by piece. It never fetches anything, and entity declarations are rejected, since a few of
them can stand for gigabytes of text. A record over the limit is left out; after a mistake in the XML nothing more can
be read of the file.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NoReturn

from searchlab.corpus.source_files import HEAD_BYTES, OpenedFile
from searchlab.corpus.text_cleaning import on_one_line
from searchlab.errors import RecordError

if TYPE_CHECKING:
    from xml.parsers.expat import XMLParserType

# Elements within elements; PubMed and EndNote have about ten.
MAX_NESTING_DEPTH = 1_000


@dataclass(frozen=True, slots=True)
class XmlText:
    """The text of an element: its name, the elements that enclose it, the number of the innermost, its attributes."""

    name: str
    enclosing: tuple[str, ...]
    parent: int
    attributes: dict[str, str]
    text: str


@dataclass(slots=True)
class XmlRecord:
    """A record that is being read: the texts of its wanted elements in order; `length` counts its characters."""

    location: str
    texts: list[XmlText] = field(default_factory=list)
    length: int = 0


# Whether the text of an element is wanted: its name, and the elements that enclose it, outermost first.
Wanted = Callable[[str, list[str]], bool]


def read_xml_records(opened: OpenedFile, names: Collection[str], wanted: Wanted) -> Iterator[XmlRecord]:
    """The elements with one of these names, up to the first mistake in the XML.

    The text of a wanted element has that of the elements within it: markup such as <i> is removed.
    """
    from xml.parsers.expat import ExpatError, ParserCreate

    parser = ParserCreate()
    parser.buffer_text = True
    collector = _Collector(opened, parser, names, wanted)
    mistake: RecordError | None = None
    size = HEAD_BYTES
    n_unfinished = 0
    more = True
    while more and mistake is None:
        data = opened.stream.read(size)
        more = bool(data)
        reached = parser.CurrentByteIndex
        try:
            parser.Parse(data, not more)
        except ExpatError as error:
            reason = str(error).partition(":")[0]
            mistake = RecordError(opened.location(error.lineno), f"expected well-formed XML, found {reason}")
        except (LookupError, ValueError) as error:
            location = opened.location(parser.CurrentLineNumber)
            mistake = RecordError(location, f"expected XML in a known encoding, found {on_one_line(str(error))}")
        except RecordError as error:
            mistake = error
        yield from collector.take()
        # expat parses an unfinished token again with every piece: a tag of megabytes in small pieces would take hours.
        if parser.CurrentByteIndex == reached:
            n_unfinished += len(data)
            size *= 2
        else:
            n_unfinished, size = 0, HEAD_BYTES
        if mistake is None and n_unfinished > max(opened.reading.max_record_length, HEAD_BYTES):
            mistake = opened.reading.too_long(opened.location(parser.CurrentLineNumber))
    if mistake is not None:
        opened.reading.reject(mistake)


class _Collector:
    """The handlers of expat: collects the wanted texts of the record that is being read."""

    def __init__(self, opened: OpenedFile, parser: XMLParserType, names: Collection[str], wanted: Wanted) -> None:
        self._opened = opened
        self._parser = parser
        self._names = names
        self._is_wanted = wanted
        self._enclosing: list[str] = []
        # The number of each enclosing element, counted from the start of the file.
        self._numbers: list[int] = []
        self._n_elements = 0
        self._record: XmlRecord | None = None
        # The text that is being collected, and the number of elements that enclose it; -1 if there is none.
        self._pieces: list[str] = []
        self._depth = -1
        self._attributes: dict[str, str] = {}
        self._finished: list[XmlRecord] = []
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text
        parser.EntityDeclHandler = self._refuse_entity

    def take(self) -> list[XmlRecord]:
        """The records that were finished since the last call."""
        taken, self._finished = self._finished, []
        return taken

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if self._record is None and name in self._names:
            self._record = XmlRecord(self._opened.location(self._parser.CurrentLineNumber))
        if self._record is not None:
            self._lengthen(self._record, len(name) + sum(map(len, attributes.values())))
        if self._record is not None and self._depth < 0 and self._is_wanted(name, self._enclosing):
            self._depth, self._pieces, self._attributes = len(self._enclosing), [], attributes
        self._n_elements += 1
        self._enclosing.append(name)
        self._numbers.append(self._n_elements)
        if len(self._enclosing) > MAX_NESTING_DEPTH:
            location = self._opened.location(self._parser.CurrentLineNumber)
            raise RecordError(location, f"expected at most {MAX_NESTING_DEPTH:,} elements in each other, found more")

    def _text(self, text: str) -> None:
        if self._depth >= 0 and self._record is not None:
            self._lengthen(self._record, len(text))
            self._pieces.append(text)

    def _lengthen(self, record: XmlRecord, n_characters: int) -> None:
        """Count characters of a record, and refuse it if they are too many."""
        record.length += n_characters
        if record.length > self._opened.reading.max_record_length:
            self._opened.reading.reject(self._opened.reading.too_long(record.location))
            self._record, self._depth, self._pieces = None, -1, []

    def _end(self, name: str) -> None:
        self._enclosing.pop()
        self._numbers.pop()
        if self._record is None:
            return
        if len(self._enclosing) == self._depth:
            text = on_one_line("".join(self._pieces))
            parent = self._numbers[-1] if self._numbers else 0
            self._record.texts.append(XmlText(name, tuple(self._enclosing[-3:]), parent, self._attributes, text))
            self._depth = -1
        elif name in self._names and self._depth < 0:
            self._finished.append(self._record)
            self._record = None

    def _refuse_entity(self, *declaration: object) -> NoReturn:
        location = self._opened.location(self._parser.CurrentLineNumber)
        raise RecordError(location, "entity declarations are not allowed")
