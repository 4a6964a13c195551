"""Workbooks (.xlsx): the rows of each sheet, as texts, streamed.

Only cells that a sheet has are read, so one far away in an otherwise empty sheet costs nothing. Numbers are written as
in Python, dates as 2008-05-31.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import BinaryIO

from searchlab.corpus.extraction.extracted import ExtractionFailed, Message, TextCollector, sheet, sheet_rows
from searchlab.corpus.extraction.extractors.safe_xml import Attributes, XmlHandler, XmlReader, attribute
from searchlab.corpus.extraction.extractors.zip_package import ZipPackage

MAX_COLUMNS = 16_384
# Of a sheet, with the empty cells before the last one of each row.
MAX_CELLS = 50_000_000
# Rows are sent when they have this many characters together.
BATCH_LENGTH = 100_000
# The formats that every workbook has for dates and times.
DATE_FORMATS = frozenset({*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)})

_COLUMN = re.compile(r"([A-Z]{1,3})[0-9]*")
# In a format, text in quotes or brackets and escaped characters are no parts of a date.
_NOT_CODE = re.compile(r'"[^"]*"|\[[^\]]*\]|\\.|_.')


def extract_xlsx(stream: BinaryIO, max_length: int) -> Iterator[Message]:
    """The sheets of a workbook and their rows."""
    package = ZipPackage(stream)
    main = package.main_part("xl/workbook.xml")
    book = _Workbook()
    package.parse(main, book)
    related = package.relationships(main)
    shared = _SharedStrings(max_length)
    package.parse_if_present(related.get("sharedStrings", ""), shared)
    styles = _Styles()
    package.parse_if_present(related.get("styles", ""), styles)
    for name, identifier in book.sheets:
        part = related.get(identifier, "")
        # Sheets of charts and dialogues have no cells.
        if "chartsheets" in part or "dialogsheets" in part:
            continue
        yield sheet(name)
        cells = _Sheet(shared.strings, styles.dates, book.first_day, max_length)
        with package.open(part) as stored:
            reader = XmlReader(cells, part)
            for _ in reader.read(stored):
                if cells.length >= BATCH_LENGTH:
                    yield sheet_rows(cells.take())
        if waiting := cells.take():
            yield sheet_rows(waiting)


class _Workbook(XmlHandler):
    def __init__(self) -> None:
        self.sheets: list[tuple[str, str]] = []
        self.first_day = datetime(1899, 12, 30)

    def start(self, name: str, attributes: Attributes) -> None:
        if name == "sheet":
            identifier = next((value for key, value in attributes.items() if key.endswith(":id")), "")
            self.sheets.append((attribute(attributes, "name"), identifier))
        elif name == "workbookPr" and attributes.get("date1904") in ("1", "true"):
            self.first_day = datetime(1904, 1, 1)


class _SharedStrings(XmlHandler):
    """The strings that cells refer to by their numbers, without the readings of Japanese words."""

    def __init__(self, max_length: int) -> None:
        self.strings: list[str] = []
        self._text = TextCollector(4 * max_length)
        self._in_text = self._in_reading = False

    def start(self, name: str, attributes: Attributes) -> None:
        if name == "t":
            self._in_text = not self._in_reading
        elif name == "rPh":
            self._in_reading = True

    def end(self, name: str) -> None:
        if name == "t":
            self._in_text = False
        elif name == "rPh":
            self._in_reading = False
        elif name == "si":
            self.strings.append(self._text.take())

    def text(self, text: str) -> None:
        if self._in_text:
            self._text.add(text)


class _Styles(XmlHandler):
    """Which styles of cells show a number as a date."""

    def __init__(self) -> None:
        self.dates: list[bool] = []
        self._own: set[str] = set()
        self._in_cells = False

    def start(self, name: str, attributes: Attributes) -> None:
        if name == "numFmt":
            code = _NOT_CODE.sub("", attributes.get("formatCode", "")).lower()
            if any(letter in code for letter in "ymdh"):
                self._own.add(attributes.get("numFmtId", ""))
        elif name == "cellXfs":
            self._in_cells = True
        elif name == "xf" and self._in_cells:
            number = attributes.get("numFmtId", "")
            self.dates.append(number in self._own or (number.isdecimal() and int(number) in DATE_FORMATS))

    def end(self, name: str) -> None:
        if name == "cellXfs":
            self._in_cells = False


class _Sheet(XmlHandler):
    """The rows of a sheet that have been read and not yet taken."""

    def __init__(self, strings: list[str], dates: list[bool], first_day: datetime, max_length: int) -> None:
        self._strings, self._dates, self._first_day = strings, dates, first_day
        self._max_length = max_length
        self._text = TextCollector(max_length)
        self._rows: list[tuple[int, list[str]]] = []
        self.length = 0
        self._number = 0
        self._cells_left = MAX_CELLS
        # That of the first row, the header; whatever a row has beyond it is one more value.
        self._width = MAX_COLUMNS
        self._values: list[str] = []
        self._row_length = 0
        self._column = 0
        self._kind = self._style = ""
        self._in_value = False

    def take(self) -> list[tuple[int, list[str]]]:
        """The rows that wait, each with its number."""
        taken, self._rows, self.length = self._rows, [], 0
        return taken

    def start(self, name: str, attributes: Attributes) -> None:
        if name in ("v", "t"):
            self._in_value = True
        elif name == "c":
            written = _COLUMN.fullmatch(attributes.get("r", ""))
            self._column = _column_number(written[1]) if written else len(self._values) + 1
            self._column = min(self._column, self._width + 1)
            self._kind, self._style = attributes.get("t", "n"), attributes.get("s", "")
        elif name == "row":
            written_number = attributes.get("r", "")
            is_number = written_number.isdecimal() and len(written_number) < 10
            self._number = int(written_number) if is_number else self._number + 1
            self._values, self._row_length = [], 0
            # The limit holds for each row.
            self._text = TextCollector(self._max_length)

    def end(self, name: str) -> None:
        if name in ("v", "t"):
            self._in_value = False
        elif name == "c":
            value = self._value(self._text.take())
            if value:
                self._values += [""] * (self._column - len(self._values))
                self._values[self._column - 1] = value
            self._row_length += len(value)
            if self._row_length > self._max_length:
                raise ExtractionFailed(f"row {self._number:,} is longer than a record may be (--max-record-mb)")
        elif name == "row" and self._row_length:
            if self._width == MAX_COLUMNS:
                self._width = len(self._values)
            self._rows.append((self._number, self._values))
            self.length += self._row_length + len(self._values)
            self._cells_left -= len(self._values)
            if self._cells_left < 0:
                raise ExtractionFailed(f"a sheet of more than {MAX_CELLS:,} cells")

    def text(self, text: str) -> None:
        if self._in_value:
            self._text.add(text)

    def _value(self, written: str) -> str:
        if self._kind == "s":
            number = int(written) if written.strip().isdecimal() else -1
            if not 0 <= number < len(self._strings):
                raise ExtractionFailed(f"damaged, row {self._number:,} refers to a string that does not exist")
            return self._strings[number]
        if self._kind == "n":
            return self._number_text(written)
        if self._kind == "b":
            return "true" if written == "1" else "false"
        return "" if self._kind == "e" else written

    def _number_text(self, written: str) -> str:
        try:
            number = float(written)
            is_date = self._style.isdecimal() and self._dates[int(self._style)]
            if is_date:
                moment = self._first_day + timedelta(days=number)
                return moment.date().isoformat() if number >= 1 else moment.time().isoformat("seconds")
            return str(int(number)) if number == int(number) and abs(number) < 1e15 else repr(number)
        except (ValueError, OverflowError, IndexError):
            return written


def _column_number(letters: str) -> int:
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - ord("A") + 1
    return number
