"""Records of CSL-JSON, which Zotero, Pandoc and Crossref write.

{"id": "ting58", "type": "article-journal", "title": "Wings", "author": [{"family": "Ting", "given": "Yi Li"}],
 "issued": {"date-parts": [[1958, 1, 2]]}, "container-title": "Aeroscience", "DOI": "10.1/x"}
"""

from __future__ import annotations

import re
from typing import Any

from searchlab.corpus.formats.bibliography.bibtex_fields import split_keywords
from searchlab.corpus.parsing.bibliographic_fields import bibliographic_fields, split_serial_numbers
from searchlab.corpus.parsing.identifiers import check_name, is_column
from searchlab.corpus.parsing.publication_types import PUBLICATION_TYPES
from searchlab.corpus.text_cleaning import on_one_line
from searchlab.records import Document

TYPES = frozenset({"article", "article-journal", "document", *(kind.csl for kind in PUBLICATION_TYPES if kind.csl)})
# Names that only CSL-JSON has.
OWN_KEYS = frozenset({"issued", "container-title", "citation-key"})
PEOPLE_KEYS = {"authors": "author", "editors": "editor", "translators": "translator"}
TEXT_KEYS = {
    "journal": ("container-title",),
    "journal_abbreviation": ("container-title-short", "journalAbbreviation"),
    "volume": ("volume",),
    "issue": ("issue", "number"),
    "pages": ("page", "number-of-pages", "article-number"),
    "doi": ("DOI",),
    "pmid": ("PMID",),
    "pmcid": ("PMCID",),
    "publisher": ("publisher",),
    "place": ("publisher-place",),
    "series": ("collection-title",),
    "edition": ("edition",),
    "language": ("language",),
    "database": ("source",),
}

_KNOWN = frozenset(
    {key for keys in TEXT_KEYS.values() for key in keys[:1]}
    | {*PEOPLE_KEYS.values(), "id", "type", "title", "abstract", "issued", "keyword", "genre", "URL", "ISSN", "ISBN"}
    | {"note", "container-title-short", "journalAbbreviation"}
)
_COUNT = re.compile("[0-9]{1,6}")
# Crossref has abstracts with elements of JATS.
_MARKUP = re.compile(r"</?(?:jats:)?[a-z]{1,20}(?:\s[^<>]*+)?>")


def is_csl(record: dict[str, Any]) -> bool:
    """Whether an object is a record of CSL-JSON: it has a type of that format, and a name that only it uses."""
    people = record.get("author")
    has_names = isinstance(people, list) and people and isinstance(people[0], dict)
    return record.get("type") in TYPES and bool(has_names or OWN_KEYS & record.keys() or "DOI" in record)


def csl_document(made_docno: str, location: str, record: dict[str, Any]) -> Document:
    """The document of a record; `made_docno` is for one without an identifier."""
    texts = {
        field: next(filter(None, (_text(record.get(key)) for key in keys)), "") for field, keys in TEXT_KEYS.items()
    }
    issn, isbn = split_serial_numbers([*_texts(record.get("ISSN")), *_texts(record.get("ISBN"))])
    date = _date(record.get("issued"))
    fields = bibliographic_fields(
        {key: found for key, value in record.items() if key not in _KNOWN and (found := _texts(value))},
        **texts,
        **{field: _people(record.get(key)) for field, key in PEOPLE_KEYS.items()},
        keywords=split_keywords(_text(record.get("keyword"))),
        types=[_text(record.get("type")), _text(record.get("genre"))],
        urls=_texts(record.get("URL")),
        notes=_texts(record.get("note")),
        issn=issn,
        isbn=isbn,
        year=date,
    )
    named = _text(record.get("id"))
    identifiers = ["" if _COUNT.fullmatch(named) and named != fields.get("pmid") else named, fields.get("doi", "")]
    docno = next((name for name in identifiers if is_column(name)), made_docno)
    body = _MARKUP.sub(" ", _text(record.get("abstract")))
    title = _MARKUP.sub("", _text(record.get("title")))
    return Document(check_name("docno", docno, location), on_one_line(title), on_one_line(body), fields, location)


def _texts(value: Any) -> list[str]:
    """The texts and numbers of a value, which may be a list; nothing for other values."""
    values = value if isinstance(value, list) else [value]
    return [on_one_line(str(item)) for item in values if isinstance(item, str | int | float)]


def _text(value: Any) -> str:
    """The first of the texts of a value."""
    return next(iter(_texts(value)), "")


def _people(value: Any) -> list[str]:
    return [_name(person) for person in value if isinstance(person, dict)] if isinstance(value, list) else []


def _name(person: dict[str, Any]) -> str:
    """A name as "van Beethoven, Ludwig"; that of an organisation as it is."""
    family = " ".join(filter(None, (_text(person.get(key)) for key in ("non-dropping-particle", "family"))))
    given = " ".join(filter(None, (_text(person.get(key)) for key in ("given", "dropping-particle"))))
    return ", ".join(filter(None, [family, given])) or _text(person.get("literal")) or _text(person.get("name"))


def _date(issued: Any) -> str:
    """A date from its parts, of which the first is the year, or as it is written."""
    if not isinstance(issued, dict):
        return _text(issued)
    parts = issued.get("date-parts")
    if isinstance(parts, list) and parts and isinstance(parts[0], list):
        return "-".join(_texts(parts[0]))
    return _text(issued.get("raw")) or _text(issued.get("literal"))
