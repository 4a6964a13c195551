"""Documents in JSON that is not one object a line: an array of objects, or objects over several lines.

An object is a document as in JSON lines (see `keyed_records`), or a record of CSL-JSON. One that holds a list of
records under a usual name ("items") stands for these. A document without a docno gets one made of the path of the file
and its number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from searchlab.corpus.formats.bibliography.csl_json import csl_document, is_csl
from searchlab.corpus.formats.jsonl import JSON_SUFFIXES, parse_object
from searchlab.corpus.parsing.identifiers import path_docno
from searchlab.corpus.parsing.json_elements import read_json_elements
from searchlab.corpus.parsing.keyed_records import BODY_KEYS, DOCNO_KEYS, TITLE_KEY, keyed_document
from searchlab.corpus.reading_notes import MADE_DOCNO
from searchlab.corpus.source_files import OpenedFile
from searchlab.records import Document

# Names under which an object holds a list of records.
LIST_KEYS = ("items", "records", "references", "results", "documents", "docs", "message")

_ARRAY = re.compile(r"\s*+\[\s*+(?:\{|\]\s*+$)")
_OVER_LINES = re.compile(r"\s*+\{[^\S\r\n]*+[\r\n]")


def is_json_array(opened: OpenedFile) -> bool:
    """Whether the file begins as an array of objects, or is named as JSON and begins with an object over lines."""
    named = opened.suffix in JSON_SUFFIXES and _OVER_LINES.match(opened.head) is not None
    return named or _ARRAY.match(opened.head) is not None


def read_json_documents(opened: OpenedFile) -> Iterator[Document]:
    """The documents of the file, one for each object."""
    prefix = path_docno(opened.file.relative)
    objects = opened.reading.parse_each(parse_object, read_json_elements(opened))
    records = ((location, record) for location, found in objects for record in _records(found))
    numbered = ((f"{prefix}#{number}", *located) for number, located in enumerate(records, start=1))

    def document(piece: tuple[str, str, dict[str, Any]]) -> Document:
        made, location, record = piece
        found = _document(made, location, record)
        if found.docno == made:
            opened.reading.notes.add(MADE_DOCNO, location, made)
        return found

    return opened.reading.parse_each(document, numbered)


def _records(found: dict[str, Any]) -> list[dict[str, Any]]:
    """The records that an object holds, or the object itself."""
    if not any(key in found for key in (*DOCNO_KEYS, TITLE_KEY, *BODY_KEYS)):
        for key in LIST_KEYS:
            inner = found.get(key)
            if isinstance(inner, dict):
                return _records(inner)
            if isinstance(inner, list) and inner and all(isinstance(item, dict) for item in inner):
                return inner
    return [found]


def _document(made_docno: str, location: str, record: dict[str, Any]) -> Document:
    if is_csl(record):
        return csl_document(made_docno, location, record)
    if not any(key in record for key in DOCNO_KEYS):
        record = {DOCNO_KEYS[0]: made_docno, **record}
    return keyed_document(location, record)
