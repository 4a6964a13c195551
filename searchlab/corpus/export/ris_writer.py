"""Documents as RIS, which every reference manager imports; reading it again gives the same fields.

What RIS has no tag for is a note of a fixed form: "PMID: 1", "MeSH: Humans; Mice". MeSH terms are keywords too. The
docno is the `ID`. Fields that are neither bibliographic nor called as a tag are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from searchlab.corpus.formats.bibliography.ris import (
    COUNT_TAG,
    FIRST_PAGE,
    FIRST_TAG,
    LAST_PAGE,
    LAST_TAG,
    LIST_TAGS,
    MESH_NOTE,
    PMCID_NOTE,
    PMID_NOTE,
    SERIAL_TAG,
    TEXT_TAGS,
    WORK_TYPE_TAG,
)
from searchlab.corpus.parsing.publication_types import find_type
from searchlab.corpus.text_cleaning import on_one_line
from searchlab.records import Document

GENERAL_TYPE = "GEN"

_TAG = re.compile("[A-Z][A-Z0-9]")
_PAGES = re.compile(r"([^-,;\s]+)-([^-,;\s]+)")
_ISO = re.compile(r"[0-9]{4}(-[0-9]{2}){1,2}")


def write_ris(documents: Iterable[Document]) -> Iterator[str]:
    """The records, one after the other."""
    for document in documents:
        lines = (f"{tag}  - {on_one_line(str(value))}\n" for tag, value in _tagged(document))
        yield "".join(lines) + f"{LAST_TAG}  - \n\n"


def _tagged(document: Document) -> Iterator[tuple[str, Any]]:
    fields = document.fields
    types = items_of(fields.get("types"))
    kind = find_type(types[0]) if types else None
    yield FIRST_TAG, kind.ris if kind else GENERAL_TYPE
    for name in types[1:] if kind else types:
        yield WORK_TYPE_TAG, name
    yield COUNT_TAG, document.docno
    if document.title:
        yield "TI", document.title
    for field, tags in LIST_TAGS.items():
        for item in items_of(fields.get(field)):
            yield tags[0], item
    for term in items_of(fields.get("mesh")):
        yield LIST_TAGS["keywords"][0], term
    for field, tag in {"journal": "T2", "year": "PY"}.items():
        for item in items_of(fields.get(field)):
            yield tag, item
    for field, tags in TEXT_TAGS.items():
        for item in items_of(fields.get(field)):
            yield tags[0], _date(item) if field == "date" else item
    for item in items_of(fields.get("pages")):
        pages = _PAGES.fullmatch(item)
        yield from zip((FIRST_PAGE, LAST_PAGE), pages.groups() if pages else (item,), strict=False)
    for field in ("issn", "isbn"):
        for item in items_of(fields.get(field)):
            yield SERIAL_TAG, item
    yield from _notes(document)
    for name, value in fields.items():
        if _TAG.fullmatch(name):
            for item in items_of(value):
                yield name, item
    if document.body:
        yield "AB", document.body


def _notes(document: Document) -> Iterator[tuple[str, str]]:
    tag = LIST_TAGS["notes"][0]
    for field, name in {"pmid": PMID_NOTE, "pmcid": PMCID_NOTE}.items():
        for item in items_of(document.fields.get(field)):
            yield tag, f"{name}: {item}"
    if terms := items_of(document.fields.get("mesh")):
        yield tag, f"{MESH_NOTE}: {'; '.join(terms)}"


def items_of(value: Any) -> list[str]:
    """The texts of a field: of a list each item, of another value that is not empty one."""
    values = value if isinstance(value, list) else [value]
    return [text for text in ("" if item is None else on_one_line(str(item)) for item in values) if text]


def _date(written: str) -> str:
    return written.replace("-", "/") + "/" if _ISO.fullmatch(written) else written
