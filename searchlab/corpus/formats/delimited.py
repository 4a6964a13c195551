"""Documents in tables (CSV, TSV) with a header line.

One document a row, separated by commas, semicolons or tabs, whichever is most frequent in the header. The header names
the columns like the keys of JSON lines, or as databases do in their exports (see `document_columns`). A value that
begins with a quote ends with the next single quote, and may hold separators, line ends and doubled quotes. All values
are text.

The module csv is not used for two reasons: its limit on the length of a value is global to the process, and after a
quote that is never closed it cannot go back to the next row.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import dropwhile, pairwise
from pathlib import Path

from searchlab.corpus.file_ranges import FileRange, find_lines
from searchlab.corpus.parsing.document_columns import DocumentColumns
from searchlab.corpus.parsing.identifiers import path_docno
from searchlab.corpus.parsing.table_documents import TableDocuments
from searchlab.corpus.reading_context import ReadingContext
from searchlab.corpus.reading_notes import ReadingNotes
from searchlab.corpus.source_files import OpenedFile, SourceFile, open_source_file
from searchlab.corpus.text_cleaning import excerpt
from searchlab.errors import RecordError, SourceError
from searchlab.records import Document

TSV_SUFFIXES = frozenset({".tsv", ".tab"})
DELIMITERS = {"\t": "a tab", ";": "a semicolon", ",": "a comma"}
# Longer than any document; it keeps a quote that is never closed from swallowing the whole file.
MAX_ROW_LENGTH = 10_000_000

_LINE_END = re.compile(r"[\r\n]")


@dataclass(slots=True)
class TableRow:
    """A row that is being read; `quoted` holds the parts of a value whose closing quote has not been found yet."""

    location: str
    number: int = 0
    values: list[str] = field(default_factory=list)
    quoted: list[str] | None = None
    length: int = 0

    @property
    def is_empty(self) -> bool:
        """Whether no value has more than blanks."""
        return not any(value.strip() for value in self.values)


def is_csv_table(opened: OpenedFile) -> bool:
    """Whether the suffix is .csv and there is a header line."""
    return opened.suffix == ".csv" and _problem(opened) is None


def is_tsv_table(opened: OpenedFile) -> bool:
    """Whether the suffix is .tsv or .tab and there is a header line; or it is .txt, and the header that of an export.

    Web of Science and others name tables .txt. The header of one has a title or text, and an identifier.
    """
    if opened.suffix in TSV_SUFFIXES:
        return _problem(opened) is None
    if opened.suffix != ".txt":
        return False
    lines = [line for line in _LINE_END.split(opened.head, maxsplit=4) if line.strip()][:2]
    if len(lines) < 2 or not lines[0].count("\t") or lines[0].count("\t") != lines[1].count("\t"):
        return False
    return _problem(opened) is None and _columns(opened).is_export


def explain_table(opened: OpenedFile) -> str | None:
    """Why a file with the suffix of a table is not read; None for other files."""
    return _problem(opened) if opened.suffix in {".csv", *TSV_SUFFIXES} else None


def read_table_documents(opened: OpenedFile) -> Iterator[Document]:
    """The documents of the file, one for each row."""
    lines = TableLines(opened)
    first = next(lines, None)
    if first is None:
        return iter(())
    delimiter = find_delimiter(first[1])
    header = _read_header(opened, first, lines, delimiter)
    table = TableDocuments(opened.reading, header.values, header.location, path_docno(opened.file.relative))
    return opened.reading.parse_each(
        lambda row: table.document(row.values, row.location, row.number, DELIMITERS[delimiter]),
        _read_rows(opened, lines, delimiter),
    )


class TableLines:
    """The numbered lines of a file from the first that is not blank; lines can be given back to be read again."""

    def __init__(self, opened: OpenedFile) -> None:
        self._lines = dropwhile(lambda numbered: not numbered[1].strip(), opened.lines())
        self._waiting: deque[tuple[int, str]] = deque()

    @property
    def has_waiting(self) -> bool:
        """Whether lines that were given back are still to be read."""
        return bool(self._waiting)

    def __iter__(self) -> Iterator[tuple[int, str]]:
        return self

    def __next__(self) -> tuple[int, str]:
        return self._waiting.popleft() if self._waiting else next(self._lines)

    def give_back(self, lines: list[tuple[int, str]]) -> None:
        """Put lines back before the unread ones."""
        self._waiting.extendleft(reversed(lines))


def _read_header(opened: OpenedFile, first: tuple[int, str], lines: TableLines, delimiter: str) -> TableRow:
    try:
        return read_row(opened, first, lines, delimiter)
    except RecordError as error:
        # Without a header no other row can be understood.
        raise SourceError(error.location, error.message) from error


def _read_rows(opened: OpenedFile, lines: TableLines, delimiter: str) -> Iterator[TableRow]:
    """The rows after the header that are not empty."""
    number = opened.file.range.n_rows_skipped if opened.file.range else 0
    for numbered in lines:
        number += 1
        try:
            row = read_row(opened, numbered, lines, delimiter)
        except RecordError as error:
            opened.reading.reject(error)
        else:
            if row.is_empty:
                number -= 1
            else:
                row.number = number
                yield row


def split_table(path: Path, range_bytes: int, max_record_mb: float) -> list[FileRange]:
    """Ranges of a table, which begin with rows; reads it, since line ends may be quoted, or quotes never closed."""
    size = path.stat().st_size
    whole = [FileRange(0, size)]
    reading = ReadingContext(ReadingNotes(), strict=False, max_record_mb=max_record_mb)
    with open_source_file(SourceFile(path, str(path), path.name, size), reading) as opened:
        lines = TableLines(opened)
        first = next(lines, None)
        if first is None:
            return whole
        delimiter = find_delimiter(first[1])
        _read_header(opened, first, lines, delimiter)
        # The lines with which ranges begin, and the rows before them.
        begins: list[tuple[int, int]] = []
        row, n_bytes = 0, 0
        while True:
            was_given_back = lines.has_waiting
            numbered = next(lines, None)
            if numbered is None:
                break
            # A row that was not closed has looked at the lines that it gave back: its range must have them, too.
            if not begins or (n_bytes >= range_bytes and not was_given_back):
                begins.append((numbered[0], row))
                n_bytes = 0
            row += 1
            n_bytes += len(numbered[1]) + 1
            try:
                found = read_row(opened, numbered, lines, delimiter)
            except RecordError:
                continue
            n_bytes += found.length
            row -= found.is_empty
    positions = find_lines(path, [line for line, _ in begins])
    if positions is None or len(begins) < 2:
        return whole
    header_end, n_header_lines = positions[0], begins[0][0] - 1
    later = [
        FileRange(start, end, header_end, n_header_lines, line - begins[0][0], n_rows)
        for (line, n_rows), (start, end) in zip(begins[1:], pairwise([*positions[1:], size]), strict=True)
    ]
    return [FileRange(0, positions[1]), *later]


def read_row(opened: OpenedFile, first: tuple[int, str], lines: TableLines, delimiter: str) -> TableRow:
    """The row that begins with the line `first`."""
    row = TableRow(opened.location(first[0]))
    if len(first[1]) > opened.reading.max_record_length:
        raise opened.reading.too_long(row.location)
    later: list[tuple[int, str]] = []
    try:
        _read_line(row, first[1], delimiter)
        while row.quoted is not None:
            later.append(_read_quoted_line(row, lines, opened.reading.max_record_length))
            _read_line(row, later[-1][1], delimiter)
    except RecordError:
        # The quote may have been a stray one, and the lines after it separate rows.
        lines.give_back(later)
        raise
    return row


def _read_quoted_line(row: TableRow, lines: TableLines, max_length: int) -> tuple[int, str]:
    numbered = next(lines, None)
    if numbered is None:
        raise RecordError(row.location, "expected a closing quote, found the end of the file")
    row.length += len(numbered[1])
    limit = min(MAX_ROW_LENGTH, max_length)
    if row.length > limit:
        lines.give_back([numbered])
        raise RecordError(row.location, f"expected a closing quote, found none in {limit:,} characters")
    return numbered


def _read_line(row: TableRow, line: str, delimiter: str) -> None:
    """Add the values of one more line to `row`."""
    if row.quoted is None and '"' not in line:
        row.values = line.split(delimiter)
        return
    position = 0
    while position <= len(line):
        if row.quoted is None:
            if line.startswith('"', position):
                row.quoted = []
                position += 1
            else:
                end = _find_end(line, delimiter, position)
                row.values.append(line[position:end])
                position = end + 1
            continue
        quote = line.find('"', position)
        if quote < 0:
            row.quoted.append(line[position:] + "\n")
            return
        if line.startswith('"', quote + 1):
            row.quoted.append(line[position : quote + 1])
            position = quote + 2
            continue
        row.quoted.append(line[position:quote])
        end = _find_end(line, delimiter, quote + 1)
        if after := line[quote + 1 : end].strip():
            message = f"expected {DELIMITERS[delimiter]} after a closing quote, found {excerpt(after)}"
            raise RecordError(row.location, message)
        row.values.append("".join(row.quoted))
        row.quoted = None
        position = end + 1


def _find_end(line: str, delimiter: str, position: int) -> int:
    end = line.find(delimiter, position)
    return len(line) if end < 0 else end


def find_delimiter(header: str) -> str:
    """The separator of values that is most frequent in a line, outside quotes."""
    unquoted = re.sub(r'"[^"]*+"', "", header)
    # The first of the most frequent ones; a header with a single column has no delimiter.
    best = max(DELIMITERS, key=unquoted.count)
    return best if best in unquoted else ","


def _problem(opened: OpenedFile) -> str | None:
    """Why the header cannot be used, None if it can."""
    try:
        return _columns(opened).problem
    except RecordError as error:
        return error.message


def _columns(opened: OpenedFile) -> DocumentColumns:
    """The columns that the first line of a file names."""
    first_line = _LINE_END.split(opened.head.lstrip(), maxsplit=1)[0]
    header = TableRow(opened.name)
    _read_line(header, first_line, find_delimiter(first_line))
    return DocumentColumns.from_header(header.values, opened.reading.fields)
