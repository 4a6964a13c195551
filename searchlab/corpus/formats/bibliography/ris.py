"""Documents in RIS, the format of reference managers.

A record begins with `TY  - JOUR` (its type) and ends with `ER  - `. The dialects of Zotero, EndNote, Scopus, Embase and
others differ in the tags that they use for one thing: `FIELD_TAGS` has them all. A tag that is not there is kept under
its own name. Identifiers of PubMed and MeSH terms, for which RIS has no tags, are read from notes of a fixed form,
which the export writes ("PMID: 1").

The docno is the first identifier without blanks that is not a mere count: reference managers number the records of each
export from 1, as `ID`. Without such an identifier the docno is made of the path of the file and that number
(`export.ris#1`), or the number of the record in the file (`export.ris#ris-1`). Lines without a tag continue the line
before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from searchlab.corpus.parsing.bibliographic_fields import (
    bibliographic_fields,
    plain_doi,
    split_list,
    split_serial_numbers,
)
from searchlab.corpus.parsing.made_docnos import noting_made_docnos
from searchlab.corpus.parsing.tagged_lines import TaggedRecord, read_tagged_records
from searchlab.corpus.source_files import OpenedFile
from searchlab.records import Document

FIRST_TAG = "TY"
LAST_TAG = "ER"
COUNT_TAG = "ID"
DOI_TAG = "DO"
DOCNO_TAGS = (COUNT_TAG, "AN", DOI_TAG)
TITLE_TAGS = ("TI", "T1", "CT")
ABSTRACT_TAGS = ("AB", "N2")
YEAR_TAGS = ("PY", "Y1")
FIRST_PAGE, LAST_PAGE = "SP", "EP"
SERIAL_TAG = "SN"
WORK_TYPE_TAG = "M3"
BOOK_TITLE_TAG = "BT"
# In full; `JO` is the full or the short name.
JOURNAL_TAGS = ("JF", "T2", "JO", BOOK_TITLE_TAG)
# The first tag of each field is the one that is written.
LIST_TAGS = {
    "authors": ("AU", "A1"),
    "editors": ("A2", "ED", "A3"),
    "translators": ("A4",),
    "keywords": ("KW",),
    "urls": ("UR", "L2", "LK"),
    "affiliations": ("AD",),
    "notes": ("N1", "RN"),
}
TEXT_TAGS = {
    "journal_abbreviation": ("J2", "JA", "J1"),
    "date": ("DA",),
    "volume": ("VL",),
    "issue": ("IS", "CP"),
    "doi": (DOI_TAG,),
    "accession": ("AN",),
    "publisher": ("PB",),
    "place": ("CY", "PP"),
    "series": ("T3",),
    "edition": ("ET",),
    "language": ("LA",),
    "database": ("DB",),
}
# Notes of the form "PMID: 1" for fields that have no tag, or share one with others.
PMID_NOTE, PMCID_NOTE, MESH_NOTE = "PMID", "PMCID", "MeSH"

_KNOWN_TAGS = frozenset(
    {FIRST_TAG, COUNT_TAG, FIRST_PAGE, LAST_PAGE, SERIAL_TAG, WORK_TYPE_TAG}
    | {*TITLE_TAGS, *ABSTRACT_TAGS, *YEAR_TAGS, *JOURNAL_TAGS}
    | {tag for tags in (*LIST_TAGS.values(), *TEXT_TAGS.values()) for tag in tags}
)
# Publishers write a few lines such as "Provider: …" before the first record.
_PREAMBLE = r"(?:[A-Z][A-Za-z -]{2,30}:[^\r\n]*+[\r\n]++|\s++)*+"
_HEAD = re.compile(rf"{_PREAMBLE}TY {{1,2}}-(?: |[\r\n])")
_PREAMBLE_LINE = re.compile(r"[A-Z][A-Za-z -]{2,30}:.*")
_TAG = re.compile(r"([A-Z][A-Z0-9]) {1,2}-(?: (.*))?")
_COUNT = re.compile("[0-9]{1,6}")
_NOTE = re.compile(rf"({PMID_NOTE}|{PMCID_NOTE}|{MESH_NOTE}): (\S.*)")
_PMID = re.compile("[0-9]{1,8}")
_PMCID = re.compile("PMC[0-9]+")
_PUBMED = re.compile("pubmed|medline|nlm", re.IGNORECASE)


def is_ris(opened: OpenedFile) -> bool:
    """Whether the first line starts a record, after lines such as "Provider: …"."""
    return _HEAD.match(opened.head) is not None


def read_ris_documents(opened: OpenedFile) -> Iterator[Document]:
    """The documents of the file."""
    records = read_tagged_records(opened, _TAG, FIRST_TAG, LAST_TAG, f"{FIRST_TAG}  - …", _PREAMBLE_LINE)
    return opened.reading.parse_each(noting_made_docnos(opened, _document), records)


def _docno(record: TaggedRecord, pmid: str, prefix: str) -> str:
    counts = []
    for tag in DOCNO_TAGS:
        for written in record.all(tag):
            value = plain_doi(written) if tag == DOI_TAG else written
            if tag == COUNT_TAG and _COUNT.fullmatch(value) and value != pmid:
                counts.append(value)
            elif len(value.split()) == 1:
                return value
    return f"{prefix}#{counts[0]}" if counts else f"{prefix}#ris-{record.number}"


def _document(record: TaggedRecord, prefix: str) -> Document:
    present = record.texts.keys()
    lists = {name: record.union(*tags) for name, tags in LIST_TAGS.items() if not present.isdisjoint(tags)}
    texts = {name: record.text(*tags) for name, tags in TEXT_TAGS.items() if not present.isdisjoint(tags)}
    noted = {match[1]: match[2] for match in map(_NOTE.fullmatch, lists.get("notes", ())) if match}
    if noted:
        lists["notes"] = [note for note in lists["notes"] if not _NOTE.fullmatch(note)]
        lists["mesh"] = list(filter(None, map(str.strip, split_list(noted.get(MESH_NOTE, "")))))
        terms = frozenset(lists["mesh"])
        lists["keywords"] = [keyword for keyword in lists.get("keywords", ()) if keyword not in terms]
    if SERIAL_TAG in present:
        lists["issn"], lists["isbn"] = split_serial_numbers(record.union(SERIAL_TAG))
    journal = record.text(*JOURNAL_TAGS)
    if (short := record.text("JO")) != journal:
        texts["journal_abbreviation"] = texts.get("journal_abbreviation") or short
    if not texts.get("date"):
        texts["date"] = re.sub("//+", " ", record.text("Y1", "PY").rstrip("/ "))
    title = record.text(*TITLE_TAGS)
    if not title and (title := record.text(BOOK_TITLE_TAG)) == journal:
        journal = ""
    others = record.others(_KNOWN_TAGS)
    pmid = noted.get(PMID_NOTE, "") or _other_pmid(record)
    fields = bibliographic_fields(
        others,
        **lists,
        **texts,
        types=record.union(FIRST_TAG, WORK_TYPE_TAG),
        journal=journal,
        year=record.text(*YEAR_TAGS),
        pages=_pages(record.text(FIRST_PAGE), record.text(LAST_PAGE)),
        pmid=pmid,
        pmcid=noted.get(PMCID_NOTE, "") or next(filter(_PMCID.fullmatch, record.all("C2")), ""),
    )
    docno = _docno(record, fields.get("pmid", ""), prefix)
    return Document(docno, title, record.text(*ABSTRACT_TAGS), fields, record.location)


def _other_pmid(record: TaggedRecord) -> str:
    """The PMID where databases put it: Scopus in `C2`, those of PubMed or MEDLINE in `AN`."""
    source = record.text("DB") or record.text("DP")
    tag = "C2" if "scopus" in source.lower() else "AN" if _PUBMED.search(source) else ""
    return next(filter(_PMID.fullmatch, record.all(tag)), "")


def _pages(first: str, last: str) -> str:
    """The first and the last page; some exports have both in the first."""
    return f"{first}-{last}" if last and first and last != first and "-" not in first else first or last
