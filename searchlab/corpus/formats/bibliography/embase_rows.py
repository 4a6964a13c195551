"""Documents as Embase exports them with one field a row: a CSV file without a header line.

    "TITLE","Wings"
    "AUTHOR NAMES","Ting Y.","Doe J."
                                            (an empty line ends a record)

The first value of a row is the name of a field, the others are its values. Names mean what they mean as columns of a
table (see `document_columns`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from searchlab.corpus.formats.delimited import TableLines, read_row
from searchlab.corpus.parsing.document_columns import DocumentColumns
from searchlab.corpus.parsing.identifiers import path_docno
from searchlab.corpus.parsing.tagged_lines import TaggedRecord
from searchlab.corpus.reading_notes import MADE_DOCNO
from searchlab.corpus.source_files import OpenedFile
from searchlab.errors import RecordError
from searchlab.records import Document

DELIMITER = ","
# Values of these are sentences, and not items of a list.
TEXT_NAMES = frozenset({"TITLE", "ABSTRACT", "SOURCE", "SOURCE TITLE"})

_NAME = r'"?[A-Z][A-Z()/ -]{2,60}"?'
_VALUE = r'(?:"(?:[^"]|"")*+"|[^",\r\n]*+)'
_HEAD = re.compile(rf'\s*"?TITLE"?,(?!{_NAME}(?:,|[\r\n])){_VALUE}(?:,{_VALUE})*+[\r\n]++{_NAME},')


def is_embase_rows(opened: OpenedFile) -> bool:
    """Whether the file is named .csv, and its first two lines begin with names of fields."""
    return opened.suffix == ".csv" and _HEAD.match(opened.head) is not None


def read_embase_rows(opened: OpenedFile) -> Iterator[Document]:
    """The documents of the file."""
    prefix = path_docno(opened.file.relative)

    def document(record: TaggedRecord) -> Document:
        names = list(record.values)
        values = [("\n" if name in TEXT_NAMES else "; ").join(_items(record, name)) for name in names]
        columns = DocumentColumns.from_header(names, {})
        made = f"{prefix}#{record.number}"
        found = columns.document(values, record.location, made)
        if found.docno == made:
            opened.reading.notes.add(MADE_DOCNO, record.location, made)
        return found

    return opened.reading.parse_each(document, _read_records(opened))


def _items(record: TaggedRecord, name: str) -> list[str]:
    return [item for value in record.values[name] for item in value if item.strip()]


def _read_records(opened: OpenedFile) -> Iterator[TaggedRecord]:
    record: TaggedRecord | None = None
    n_records = 0
    # The rest of a record with a bad row is left out, up to the empty line.
    is_bad = False
    lines = TableLines(opened)
    for numbered in lines:
        if not numbered[1].strip(", \t"):
            if record is not None and not is_bad:
                yield record
            record, is_bad = None, False
            continue
        if is_bad:
            continue
        if record is None:
            n_records += 1
            record = TaggedRecord(opened.location(numbered[0]), n_records)
        try:
            row = read_row(opened, numbered, lines, DELIMITER)
        except RecordError as error:
            opened.reading.reject(error)
            is_bad = True
            continue
        name, *values = row.values
        record.add(name.strip().upper(), "")
        for value in values:
            record.extend(value)
        record.length += sum(map(len, row.values))
        if record.length > opened.reading.max_record_length:
            opened.reading.reject(opened.reading.too_long(record.location))
            is_bad = True
    if record is not None and not is_bad:
        yield record
