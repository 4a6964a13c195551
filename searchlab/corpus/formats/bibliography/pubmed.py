"""PubMed XML documents.

An article is a <PubmedArticle> in a <PubmedArticleSet>, and its PMID is the docno. Elements are identified by their
name and that of the enclosing element, since corrections have a PMID too and every date has a Year. Markup within a
text (<i>, <sub>) is removed and its words are kept; the sections of an abstract keep their labels ("METHODS: …").
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator

from searchlab.corpus.parsing.bibliographic_fields import bibliographic_fields, split_serial_numbers
from searchlab.corpus.parsing.identifiers import check_name
from searchlab.corpus.parsing.xml_records import XmlRecord, XmlText, read_xml_records
from searchlab.corpus.source_files import OpenedFile
from searchlab.corpus.text_cleaning import on_one_line
from searchlab.errors import RecordError
from searchlab.records import Document

ARTICLES = frozenset({"PubmedArticle", "PubmedBookArticle"})
# (enclosing element, element): the name under which its text is collected.
WANTED = {
    ("MedlineCitation", "PMID"): "pmid",
    ("BookDocument", "PMID"): "pmid",
    ("Article", "ArticleTitle"): "title",
    ("BookDocument", "ArticleTitle"): "title",
    ("Book", "BookTitle"): "journal",
    ("Journal", "Title"): "journal",
    ("Journal", "ISOAbbreviation"): "journal_abbreviation",
    ("Journal", "ISSN"): "serial",
    ("Book", "Isbn"): "serial",
    ("JournalIssue", "Volume"): "volume",
    ("JournalIssue", "Issue"): "issue",
    ("Pagination", "MedlinePgn"): "pages",
    ("Pagination", "StartPage"): "first page",
    ("PubDate", "Year"): "year",
    ("PubDate", "Month"): "month",
    ("PubDate", "Day"): "day",
    ("PubDate", "MedlineDate"): "year",
    ("Abstract", "AbstractText"): "abstract",
    ("Author", "LastName"): "last name",
    ("Author", "ForeName"): "fore name",
    ("Author", "Initials"): "initials",
    ("Author", "CollectiveName"): "last name",
    ("AffiliationInfo", "Affiliation"): "affiliation",
    ("MeshHeading", "DescriptorName"): "mesh",
    ("KeywordList", "Keyword"): "keyword",
    ("PublicationTypeList", "PublicationType"): "type",
    ("BookDocument", "PublicationType"): "type",
    ("Article", "ELocationID"): "location",
    ("ArticleIdList", "ArticleId"): "identifier",
    ("Article", "Language"): "language",
    ("BookDocument", "Language"): "language",
    ("MedlineJournalInfo", "Country"): "place",
    ("Publisher", "PublisherName"): "publisher",
    ("Publisher", "PublisherLocation"): "place",
}
NAMES = frozenset({"last name", "fore name", "initials"})
# The lists of identifiers of the article itself; references have such lists too.
IDENTIFIED = frozenset({"PubmedData", "PubmedBookData", "BookDocument"})

_HEAD = re.compile(r"<Pubmed(?:Book)?Article(?:Set)?[\s>/]")


def is_pubmed(opened: OpenedFile) -> bool:
    """Whether the file begins with markup and has an element of PubMed in its head."""
    return opened.head.lstrip().startswith("<") and _HEAD.search(opened.head) is not None


def read_pubmed_documents(opened: OpenedFile) -> Iterator[Document]:
    """The documents of the file, up to the first mistake in the XML."""
    return opened.reading.parse_each(_document, read_xml_records(opened, ARTICLES, _is_wanted))


def _is_wanted(name: str, enclosing: list[str]) -> bool:
    key = (enclosing[-1] if enclosing else "", name)
    return key in WANTED and (key[0] != "ArticleIdList" or enclosing[-2] in IDENTIFIED)


def _document(record: XmlRecord) -> Document:
    texts: defaultdict[str, list[str]] = defaultdict(list)
    identifiers: dict[str, str] = {}
    for found in record.texts:
        name = WANTED[found.enclosing[-1], found.name]
        kind = found.attributes.get("EIdType") or found.attributes.get("IdType", "")
        if name in ("location", "identifier"):
            identifiers.setdefault(kind, found.text)
        elif found.text:
            label = on_one_line(found.attributes.get("Label", ""))
            texts[name].append(f"{label}: {found.text}" if label else found.text)
    if not texts["pmid"]:
        raise RecordError(record.location, "expected a <PMID> in the article, found none")
    text = {name: values[0] for name, values in texts.items() if values}
    issn, isbn = split_serial_numbers(texts["serial"])
    fields = bibliographic_fields(
        authors=_authors(record.texts),
        keywords=texts["keyword"],
        mesh=texts["mesh"],
        types=texts["type"],
        affiliations=dict.fromkeys(texts["affiliation"]),
        issn=issn,
        isbn=isbn,
        journal=text.get("journal", ""),
        journal_abbreviation=text.get("journal_abbreviation", ""),
        year=" ".join(text[part] for part in ("year", "month", "day") if part in text),
        volume=text.get("volume", ""),
        issue=text.get("issue", ""),
        pages=text.get("pages") or text.get("first page", ""),
        doi=identifiers.get("doi", ""),
        pmid=text["pmid"],
        pmcid=identifiers.get("pmc", ""),
        language=", ".join(texts["language"]),
        place=text.get("place", ""),
        publisher=text.get("publisher", ""),
    )
    docno = check_name("docno", text["pmid"], record.location)
    return Document(docno, text.get("title", ""), " ".join(texts["abstract"]), fields, record.location)


def _authors(texts: Iterable[XmlText]) -> list[str]:
    """Each author as "Ting, Yi Li"; an author without a first name by the initials."""
    names: defaultdict[int, dict[str, str]] = defaultdict(dict)
    for found in texts:
        part = WANTED[found.enclosing[-1], found.name]
        if part in NAMES:
            names[found.parent][part] = found.text
    return [
        ", ".join(filter(None, [name.get("last name", ""), name.get("fore name") or name.get("initials", "")]))
        for name in names.values()
    ]
