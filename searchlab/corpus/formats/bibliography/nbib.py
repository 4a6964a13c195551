"""Documents in the MEDLINE format, in which PubMed exports citations (.nbib).

A record begins with `PMID- 123`, its docno; tags are padded to four characters, and lines that begin with blanks
continue the line before:

    TI title   AB abstract   FAU, AU authors     MH MeSH terms        OT keywords      DP date
    JT, TA journal (in full, short)              VI volume   IP issue  PG pages         IS ISSN
    PT type    LA language   PL place            AD affiliations      LID, AID, PMC identifiers

What PubMed notes about the record itself (when it was entered, who owns it) is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from searchlab.corpus.parsing.bibliographic_fields import bibliographic_fields, split_serial_numbers
from searchlab.corpus.parsing.identifiers import check_name
from searchlab.corpus.parsing.tagged_lines import TaggedRecord
from searchlab.corpus.source_files import OpenedFile
from searchlab.corpus.text_cleaning import excerpt
from searchlab.errors import RecordError
from searchlab.records import Document

FIRST_TAG = "PMID"

_HEAD = re.compile(r"\s*PMID- *[0-9]")
_TAG = re.compile(r"(?=.{4}-)([A-Z][A-Z0-9]{1,3}) {0,2}-(?: (.*))?")
_DOI = re.compile(r"(\S+) \[doi\]")


def is_nbib(opened: OpenedFile) -> bool:
    """Whether the first line starts a record."""
    return _HEAD.match(opened.head) is not None


def read_nbib_documents(opened: OpenedFile) -> Iterator[Document]:
    """The documents of the file."""
    return opened.reading.parse_each(_document, _read_records(opened))


def _read_records(opened: OpenedFile) -> Iterator[TaggedRecord]:
    record: TaggedRecord | None = None
    strayed = False
    for number, line in opened.lines():
        tag = _TAG.fullmatch(line)
        if tag and tag[1] == FIRST_TAG:
            if record is not None:
                yield record
            record, strayed = TaggedRecord(opened.location(number)), False
        if record is not None and tag:
            record.add(tag[1], tag[2] or "")
        elif record is not None and line.startswith((" ", "\t")):
            record.extend(line)
        elif line.strip() and not strayed:
            expected = "a line such as 'TI  - …'" if record else f"a line '{FIRST_TAG}- …'"
            opened.reading.reject(RecordError(opened.location(number), f"expected {expected}, found {excerpt(line)}"))
            # The rest of the record is skipped and not reported again.
            record, strayed = None, True
        if record is not None:
            record.length += len(line) + 1
            if record.length > opened.reading.max_record_length:
                opened.reading.reject(opened.reading.too_long(record.location))
                record, strayed = None, True
    if record is not None:
        yield record


def _document(record: TaggedRecord) -> Document:
    docno = check_name("docno", record.text(FIRST_TAG), record.location)
    identifiers = [match[1] for match in map(_DOI.fullmatch, record.union("LID", "AID")) if match]
    issn, isbn = split_serial_numbers(record.union("IS", "ISBN"))
    fields = bibliographic_fields(
        authors=[*record.all("FAU", "AU"), *record.all("CN")],
        editors=record.all("FED", "ED"),
        keywords=record.all("OT"),
        mesh=record.all("MH"),
        types=record.all("PT"),
        affiliations=dict.fromkeys(record.union("AD")),
        issn=issn,
        isbn=isbn,
        journal=record.text("JT", "BTI", "TA"),
        journal_abbreviation=record.text("TA") if record.all("JT") else "",
        year=record.text("DP"),
        volume=record.text("VI"),
        issue=record.text("IP"),
        pages=record.text("PG"),
        doi=next(iter(identifiers), ""),
        pmid=docno,
        pmcid=record.text("PMC"),
        language=", ".join(record.all("LA")),
        place=record.text("PL"),
        publisher=record.text("PB"),
    )
    return Document(docno, record.text("TI", "BTI"), record.text("AB"), fields, record.location)
