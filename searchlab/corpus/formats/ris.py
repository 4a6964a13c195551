"""Documents in RIS, the format of reference managers.

A record begins with `TY  - JOUR` (its type) and ends with `ER  - `:

    TI, T1 title   AB, N2 abstract   AU, A1 authors        KW keywords
    PY, Y1 year    JO, JF, T2 journal                      ID, AN, DO identifiers

The docno is the first identifier without blanks that is not a mere count: reference managers number the records of each
export from 1, as `ID`. Without such an identifier the docno is made of the path of the file and that number
(`export.ris#1`), or the number of the record in the file (`export.ris#ris-1`). Lines without a tag continue the line
before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from searchlab.corpus.parsing.bibliographic_fields import bibliographic_fields
from searchlab.corpus.parsing.identifiers import path_docno
from searchlab.corpus.parsing.tagged_lines import TaggedRecord
from searchlab.corpus.reading_notes import MADE_DOCNO
from searchlab.corpus.source_files import OpenedFile
from searchlab.corpus.text_cleaning import excerpt
from searchlab.errors import RecordError
from searchlab.records import Document

FIRST_TAG = "TY"
LAST_TAG = "ER"
COUNT_TAG = "ID"
DOCNO_TAGS = (COUNT_TAG, "AN", "DO")

_HEAD = re.compile(r"\s*TY {1,2}-(?: |[\r\n])")
_TAG = re.compile(r"([A-Z][A-Z0-9]) {1,2}-(?: (.*))?")
_COUNT = re.compile("[0-9]{1,6}")


def is_ris(opened: OpenedFile) -> bool:
    """Whether the first line starts a record."""
    return _HEAD.match(opened.head) is not None


def read_ris_documents(opened: OpenedFile) -> Iterator[Document]:
    """The documents of the file."""
    prefix = path_docno(opened.file.relative)

    def document(record: TaggedRecord) -> Document:
        found = _document(record, prefix)
        if found.docno.startswith(f"{prefix}#"):
            opened.reading.notes.add(MADE_DOCNO, record.location, found.docno)
        return found

    return opened.reading.parse_each(document, _read_records(opened))


def _read_records(opened: OpenedFile) -> Iterator[TaggedRecord]:
    record: TaggedRecord | None = None
    strayed = False
    n_records = 0
    for number, line in opened.lines():
        tag = _TAG.fullmatch(line)
        if tag and tag[1] == FIRST_TAG:
            if record is not None:
                message = f"expected {LAST_TAG}, found another {FIRST_TAG} at line {number}"
                opened.reading.reject(RecordError(record.location, message))
            n_records += 1
            record, strayed = TaggedRecord(opened.location(number), n_records), False
        if record is None:
            if line.strip() and not strayed:
                message = f"expected a line '{FIRST_TAG}  - …', found {excerpt(line)}"
                opened.reading.reject(RecordError(opened.location(number), message))
                strayed = True
        elif tag is None:
            record.extend(line)
        elif tag[1] == LAST_TAG:
            yield record
            record = None
        else:
            record.add(tag[1], tag[2] or "")
        if record is not None:
            record.length += len(line) + 1
            if record.length > opened.reading.max_record_length:
                opened.reading.reject(opened.reading.too_long(record.location))
                record, strayed = None, True
    if record is not None:
        opened.reading.reject(RecordError(record.location, f"expected {LAST_TAG}, found the end of the file"))


def _docno(record: TaggedRecord, prefix: str) -> str:
    counts = []
    for tag in DOCNO_TAGS:
        for value in record.all(tag):
            if tag == COUNT_TAG and _COUNT.fullmatch(value):
                counts.append(value)
            elif len(value.split()) == 1:
                return value
    return f"{prefix}#{counts[0]}" if counts else f"{prefix}#ris-{record.number}"


def _document(record: TaggedRecord, prefix: str) -> Document:
    docno = _docno(record, prefix)
    fields = bibliographic_fields(
        authors=record.all("AU", "A1"),
        keywords=record.all("KW"),
        types=record.all(FIRST_TAG),
        journal=record.text("JO", "JF", "T2"),
        year=record.text("PY", "Y1"),
        doi=record.text("DO"),
    )
    return Document(docno, record.text("TI", "T1"), record.text("AB", "N2"), fields, record.location)
