"""Documents of OHSUMED, the collection of the TREC-9 filtering track.

The format is that of the SMART system, with other markers:

    .I sequence number   .U MEDLINE number   .S source     .M MeSH terms
    .T title             .P type             .W abstract   .A authors

The judgments of TREC-9 name documents by `.U`, those of the first experiments (Hersh et al., SIGIR 1994) by `.I`, so
there are two formats.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from searchlab.corpus.formats.smart import MarkedRecord, is_smart, read_marked_records
from searchlab.corpus.parsing.identifiers import check_name
from searchlab.corpus.source_files import OpenedFile
from searchlab.corpus.text_cleaning import on_one_line
from searchlab.errors import RecordError
from searchlab.records import Document

MARKERS = {
    "U": "medline",
    "S": "source",
    "M": "mesh",
    "T": "title",
    "P": "type",
    "W": "text",
    "A": "authors",
}
LISTS = frozenset({"mesh", "authors"})
# The MEDLINE number is usually the first part of a record, but other parts can come before it.
MAX_LINES_BEFORE_NUMBER = 10

_NUMBER_LINE = re.compile(r"\.U\s*")


def is_ohsumed(opened: OpenedFile) -> bool:
    """Whether the file looks like SMART and has a `.U` in the first lines."""
    lines = opened.head.lstrip().splitlines()[:MAX_LINES_BEFORE_NUMBER]
    return is_smart(opened) and any(_NUMBER_LINE.fullmatch(line) for line in lines)


def read_ohsumed_documents(opened: OpenedFile) -> Iterator[Document]:
    """The documents of the file; the docno is the MEDLINE number."""
    return opened.reading.parse_each(_named_by_medline, read_marked_records(opened, MARKERS))


def read_ohsumed_by_sequence(opened: OpenedFile) -> Iterator[Document]:
    """The documents of the file; the docno is the sequence number."""
    return opened.reading.parse_each(_named_by_sequence, read_marked_records(opened, MARKERS))


def _named_by_medline(record: MarkedRecord) -> Document:
    parts = _parts(record)
    if "medline" not in parts:
        raise RecordError(record.location, "expected a .U with the docno, found none")
    docno = check_name("docno", parts.pop("medline"), record.location)
    return _document(docno, parts, record)


def _named_by_sequence(record: MarkedRecord) -> Document:
    parts = _parts(record)
    docno = record.checked_name("docno")
    del parts["sequence"]
    return _document(docno, parts, record)


def _document(docno: str, parts: dict[str, Any], record: MarkedRecord) -> Document:
    title, body = parts.pop("title", ""), parts.pop("text", "")
    return Document(docno, title, body, parts, record.location)


def _parts(record: MarkedRecord) -> dict[str, Any]:
    parts: dict[str, Any] = {"sequence": record.name.strip()} if record.name.strip() else {}
    for name, text in record.parts().items():
        parts[name] = _split_list(text) if name in LISTS else text
    if "type" in parts:
        parts["type"] = parts["type"].removesuffix(".")
    return parts


def _split_list(text: str) -> list[str]:
    """The items between semicolons, without the full stop after the last."""
    items = (item.strip() for item in on_one_line(text).removesuffix(".").split(";"))
    return [item for item in items if item]
