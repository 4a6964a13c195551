"""Documents as Web of Science exports them in plain text (.txt, .ciw).

A file begins with `FN` and `VR` and ends with `EF`; a record begins with `PT` and ends with `ER`. A tag has two
characters, and a line that begins with blanks continues the one before: in a list of people or addresses as a new item,
elsewhere as more text. The docno is the accession number, `UT`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from searchlab.corpus.parsing.bibliographic_fields import bibliographic_fields, split_list, split_serial_numbers
from searchlab.corpus.parsing.identifiers import is_column
from searchlab.corpus.parsing.made_docnos import noting_made_docnos
from searchlab.corpus.parsing.tagged_lines import TaggedRecord, read_tagged_records
from searchlab.corpus.source_files import OpenedFile
from searchlab.records import Document

FIRST_TAG, LAST_TAG = "PT", "ER"
# Tags whose lines are items of a list.
LINE_TAGS = frozenset({"AU", "AF", "BA", "BF", "BE", "ED", "CA", "C1", "CR"})
TEXT_TAGS = {
    "journal": ("SO",),
    "journal_abbreviation": ("JI", "J9"),
    "year": ("PY",),
    "date": ("PD",),
    "volume": ("VL",),
    "issue": ("IS",),
    "doi": ("DI", "D2"),
    "pmid": ("PM",),
    "accession": ("UT",),
    "publisher": ("PU",),
    "place": ("PI",),
    "series": ("SE",),
    "language": ("LA",),
}
_KNOWN_TAGS = frozenset(
    {tag for tags in TEXT_TAGS.values() for tag in tags}
    | {FIRST_TAG, "DT", "TI", "AB", "DE", "AU", "AF", "BA", "BF", "CA", "BE", "ED", "C1", "SN", "EI", "BN", "BP", "EP"}
    | {"AR"}
)
_HEAD = re.compile(r"\s*FN [^\r\n]*+[\r\n]++VR [0-9]")
_RECORD_HEAD = re.compile(r"\s*PT [A-Z][\r\n]")
# Lines of the file itself, outside records.
_FILE_LINE = re.compile("(?:FN|VR|EF)(?: .*)?")
_TAG = re.compile(r"([A-Z][A-Z0-9])(?: (.*))?")


def is_web_of_science(opened: OpenedFile) -> bool:
    """Whether the file begins as an export, or is named .ciw and begins with a record."""
    return _HEAD.match(opened.head) is not None or (
        opened.suffix == ".ciw" and _RECORD_HEAD.match(opened.head) is not None
    )


def read_web_of_science_documents(opened: OpenedFile) -> Iterator[Document]:
    """The documents of the file."""
    records = read_tagged_records(opened, _TAG, FIRST_TAG, LAST_TAG, f"{FIRST_TAG} …", _FILE_LINE)
    return opened.reading.parse_each(noting_made_docnos(opened, _document), records)


def _document(record: TaggedRecord, prefix: str) -> Document:
    texts = {field: record.text(*tags) for field, tags in TEXT_TAGS.items()}
    issn, isbn = split_serial_numbers(record.union("SN", "EI", "BN"))
    first, last = record.text("BP", "AR"), record.text("EP")
    others = {
        tag: record.lines(tag) if tag in LINE_TAGS else values for tag, values in record.others(_KNOWN_TAGS).items()
    }
    fields = bibliographic_fields(
        others,
        **texts,
        authors=(record.lines("AF") or record.lines("AU") or record.lines("BF") or record.lines("BA"))
        + record.lines("CA"),
        editors=record.lines("BE") or record.lines("ED"),
        keywords=split_list(record.text("DE")),
        types=[record.text(FIRST_TAG), *split_list(record.text("DT"))],
        affiliations=record.lines("C1"),
        issn=issn,
        isbn=isbn,
        pages=f"{first}-{last}" if last and last != first else first,
    )
    identifiers = [record.text("UT"), fields.get("doi", "")]
    docno = next(filter(is_column, identifiers), f"{prefix}#{record.number}")
    return Document(docno, record.text("TI"), record.text("AB"), fields, record.location)
