"""Documents in the XML of EndNote: <xml><records><record> … </record></records></xml>.

Every text can be within elements of style, which are removed. The docno is the accession number or the DOI, as in RIS;
otherwise it is made of the path of the file and the number of the record in the library.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from searchlab.corpus.parsing.bibliographic_fields import bibliographic_fields, plain_doi, split_serial_numbers
from searchlab.corpus.parsing.identifiers import check_name, is_column
from searchlab.corpus.parsing.made_docnos import noting_made_docnos
from searchlab.corpus.parsing.xml_records import XmlRecord, read_xml_records
from searchlab.corpus.source_files import OpenedFile
from searchlab.records import Document

RECORDS = frozenset({"record"})
# (enclosing element, element): the name under which its text is collected; those of the vocabulary are fields.
WANTED = {
    ("record", "rec-number"): "number",
    ("record", "ref-type"): "type",
    ("record", "work-type"): "work type",
    ("authors", "author"): "authors",
    ("secondary-authors", "author"): "editors",
    ("tertiary-authors", "author"): "editors",
    ("subsidiary-authors", "author"): "translators",
    ("titles", "title"): "title",
    ("titles", "secondary-title"): "secondary title",
    ("titles", "tertiary-title"): "series",
    ("titles", "short-title"): "short-title",
    ("periodical", "full-title"): "full title",
    ("periodical", "abbr-1"): "journal_abbreviation",
    ("record", "pages"): "pages",
    ("record", "volume"): "volume",
    ("record", "number"): "issue",
    ("record", "edition"): "edition",
    ("record", "section"): "section",
    ("record", "isbn"): "serial",
    ("record", "accession-num"): "accession",
    ("record", "electronic-resource-num"): "doi",
    ("record", "abstract"): "abstract",
    ("record", "language"): "language",
    ("record", "publisher"): "publisher",
    ("record", "pub-location"): "place",
    ("record", "auth-address"): "affiliations",
    ("record", "notes"): "notes",
    ("record", "research-notes"): "notes",
    ("record", "label"): "label",
    ("record", "caption"): "caption",
    ("record", "remote-database-name"): "database",
    ("record", "remote-database-provider"): "provider",
    **{("record", f"custom{number}"): f"custom{number}" for number in range(1, 8)},
    ("dates", "year"): "year",
    ("pub-dates", "date"): "date",
    ("keywords", "keyword"): "keywords",
    **{(f"{kind}-urls", "url"): "urls" for kind in ("related", "web", "pdf", "text", "image")},
}
FIELDS = (
    *("authors", "editors", "translators", "keywords", "urls", "affiliations", "notes", "series", "pages", "volume"),
    *("journal_abbreviation", "issue", "edition", "accession", "doi", "language", "publisher", "place", "database"),
    *("year", "date"),
)
# What has no name in the vocabulary keeps the one of its element.
OTHERS = ("short-title", "section", "label", "caption", *(f"custom{number}" for number in range(1, 8)))

_HEAD = re.compile(r"<records[\s>][^<]*+<record[\s>]")
_PMCID = re.compile("PMC[0-9]+")
_PUBMED = re.compile("pubmed|medline|nlm", re.IGNORECASE)


def is_endnote(opened: OpenedFile) -> bool:
    """Whether the file begins with markup and has a list of records in its head."""
    return opened.head.lstrip().startswith("<") and _HEAD.search(opened.head) is not None


def read_endnote_documents(opened: OpenedFile) -> Iterator[Document]:
    """The documents of the file, up to the first mistake in the XML."""
    numbered = enumerate(read_xml_records(opened, RECORDS, _is_wanted), start=1)
    return opened.reading.parse_each(noting_made_docnos(opened, _document), numbered)


def _is_wanted(name: str, enclosing: list[str]) -> bool:
    return bool(enclosing) and (enclosing[-1], name) in WANTED


def _document(numbered: tuple[int, XmlRecord], prefix: str) -> Document:
    n_records, record = numbered
    texts: defaultdict[str, list[str]] = defaultdict(list)
    for found in record.texts:
        name = WANTED[found.enclosing[-1], found.name]
        # The type is a number, and has its name as an attribute.
        if text := found.attributes.get("name", found.text) if name == "type" else found.text:
            texts[name].append(text)
    issn, isbn = split_serial_numbers(texts["serial"])
    accession = next(iter(texts["accession"]), "")
    is_pubmed = _PUBMED.search(" ".join(texts["database"] + texts["provider"])) and accession.isdecimal()
    fields = bibliographic_fields(
        {name: texts[name] for name in OTHERS if texts[name]},
        **{name: texts[name] for name in FIELDS},
        types=texts["type"] + texts["work type"],
        issn=issn,
        isbn=isbn,
        journal=texts["full title"] or texts["secondary title"],
        pmid=accession if is_pubmed else "",
        pmcid=next(filter(_PMCID.fullmatch, texts["custom2"]), ""),
    )
    number = next(filter(is_column, texts["number"]), f"record-{n_records}")
    doi = plain_doi(next(iter(texts["doi"]), ""))
    docno = next(filter(is_column, [accession, doi]), f"{prefix}#{number}")
    title = " ".join(texts["title"])
    body = " ".join(texts["abstract"])
    return Document(check_name("docno", docno, record.location), title, body, fields, record.location)
