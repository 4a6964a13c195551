"""Columns of tables of documents: which one is the docno, the title, the text, or a bibliographic field.

The docno is in a column that is called as the docno of JSON lines. Without one, a table is taken for an export of a
database, and the docno of a row is the first of its identifiers that is one word; a row without an identifier gets one
made of the path of the file and the number of the row. Names of columns are known in any case:

    PMID            PubMed               UT (Unique WOS ID), UT    Web of Science
    EID             Scopus               PUI, Accession No.        Embase, Ovid

In a table without a column for the title or the text, all values that are not numbers are the text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from searchlab.corpus.parsing.bibliographic_fields import (
    LISTS,
    TEXTS,
    bibliographic_fields,
    split_list,
    split_serial_numbers,
)
from searchlab.corpus.parsing.identifiers import check_name, is_column
from searchlab.corpus.parsing.keyed_records import BODY_KEYS, DOCNO_KEYS, TITLE_KEY
from searchlab.corpus.text_cleaning import excerpt, on_one_line
from searchlab.records import Document

# Identifiers of databases, in the order of preference.
ACCESSION_COLUMNS = (
    "eid",
    "ut (unique wos id)",
    "ut (unique id)",
    "ut",
    "pui",
    "accession no.",
    "accession no",
    "accession number",
    "embase accession id",
    "accession",
)
PMID_COLUMNS = ("pmid", "pubmed id", "medline pmid", "pm")
# Those of databases come before the DOI, which belongs to several editions.
ID_COLUMNS = ("pmid", *ACCESSION_COLUMNS, "doi", "di", "key")
TITLE_COLUMNS = (TITLE_KEY, "article title", "document title", "ti")
BODY_COLUMNS = (*BODY_KEYS, "ab", "abstract note", "summary")
# The names of databases and reference managers for the fields, apart from the fields' own names.
FIELD_COLUMNS = {
    "authors": ("author", "author names", "author(s)", "au"),
    "editors": ("editor", "book editors", "be"),
    "translators": ("translator",),
    "keywords": ("author keywords", "de", "manual tags"),
    "mesh": ("mesh terms",),
    "types": ("type", "document type", "publication type", "item type", "dt", "pt"),
    "issn": ("sn", "eissn"),
    "isbn": ("isbns", "bn"),
    "urls": ("url", "link", "full text link"),
    "affiliations": ("affiliation", "addresses", "author addresses", "c1"),
    "notes": ("note",),
    "journal": ("journal/book", "source title", "publication title", "journal title", "source", "so"),
    "journal_abbreviation": ("journal abbreviation", "abbreviated source title", "journal iso abbreviation", "ji"),
    "year": ("publication year", "py"),
    "date": ("publication date", "date of publication", "pd"),
    "volume": ("vl",),
    "issue": ("issue number", "is"),
    "pages": ("page range",),
    "doi": ("di",),
    "pmid": PMID_COLUMNS[1:],
    "pmcid": ("pmc",),
    "accession": ACCESSION_COLUMNS,
    "publisher": ("pu", "book publisher"),
    "place": ("publisher city", "pi"),
    "series": ("series title", "se"),
    "edition": (),
    "language": ("language of original document", "language of article", "article language", "la"),
    "database": (),
}
FIRST_PAGES, LAST_PAGES = ("page start", "start page", "bp"), ("page end", "end page", "ep")
# The columns of judgments, which are no documents.
JUDGMENTS = frozenset({"query-id", "corpus-id"})

_KNOWN = frozenset({*DOCNO_KEYS, TITLE_KEY, *BODY_KEYS})
# PubMed separates authors by commas: "Ting YL, Doe J."
_COMMA_AUTHORS = re.compile(r"(?:[^\s,]++ )++[A-Z]{1,4}(?:, (?:[^\s,]++ )++[A-Z]{1,4})++\.?")
# What a spreadsheet would take for a formula is written after an apostrophe.
_GUARDED = re.compile(r"'(?=[\t\r\n]|\s*[=+\-@])")


@dataclass(frozen=True)
class DocumentColumns:
    """The columns of a table of documents."""

    names: tuple[str, ...]

    @classmethod
    def from_header(cls, header: Sequence[str], fields: Mapping[str, str]) -> DocumentColumns:
        """The columns that a header names; `fields` has the column of the docno, the title or a field, by its name."""
        renamed = {column: name for name, column in fields.items()}
        names = []
        for number, value in enumerate(header, start=1):
            name = on_one_line(value)
            known = name.lower() if name.lower() in _KNOWN else name
            names.append(renamed.get(name) or known or f"column_{number}")
        return cls(tuple(names))

    @property
    def problem(self) -> str | None:
        """Why the table cannot be read, None if it can."""
        number = next((name for name in self.names if _is_number(name)), None)
        if number is not None:
            return f"a table without a header line, found {excerpt(number)} in its first line"
        twice = next((name for name in self.names if self.names.count(name) > 1), None)
        if twice is not None:
            return f"expected every column once, found {excerpt(twice)} more than once"
        return "a table of judgments, not of documents" if set(self.names) >= JUDGMENTS else None

    @property
    def has_text(self) -> bool:
        """Whether a column is known to be the title or the text."""
        return self._find((*TITLE_COLUMNS, *BODY_COLUMNS)) is not None

    @property
    def is_export(self) -> bool:
        """Whether the table has a title or a text, and an identifier, under names that databases use."""
        return self.has_text and self._find((*DOCNO_KEYS, *ID_COLUMNS)) is not None

    def document(self, values: Sequence[str], location: str, made_docno: str) -> Document:
        """The document of a row; `made_docno` is for one without an identifier."""
        record = {name: _GUARDED.sub("", value) for name, value in zip(self.names, values, strict=True)}
        docno = self._docno(record, made_docno)
        if self.has_text:
            title, body = (record.pop(self._find(names) or "", "") for names in (TITLE_COLUMNS, BODY_COLUMNS))
        else:
            title, body = "", "\n".join(value for value in record.values() if value.strip() and not _is_number(value))
        fields = self._fields(record)
        return Document(check_name("docno", docno, location), on_one_line(title), body, fields, location)

    def _docno(self, record: dict[str, str], made: str) -> str:
        key = next((key for key in DOCNO_KEYS if key in record), None)
        if key is not None:
            return record.pop(key)
        identifiers = (record[name].strip() for name in self._all(ID_COLUMNS))
        return next((value for value in identifiers if is_column(value)), made)

    def _fields(self, record: dict[str, str]) -> dict[str, Any]:
        """The bibliographic fields of a row, and all other values that are not empty."""
        texts: dict[str, str] = {}
        for field, names in self._field_columns.items():
            present = [name for name in names if record.get(name, "").strip()]
            if present:
                texts[field] = record.pop(present[0])
        if not self._has_docno and "pages" not in texts:
            first, last = (record.pop(self._find(names) or "", "") for names in (FIRST_PAGES, LAST_PAGES))
            texts["pages"] = "-".join(filter(None, [first, last]))
        lists: dict[str, list[str]] = {field: split_list(texts[field]) for field in LISTS if field in texts}
        for field in ("authors", "editors", "translators"):
            if field in lists and _COMMA_AUTHORS.fullmatch(texts[field].strip()):
                lists[field] = texts[field].strip().rstrip(".").split(",")
        numbers = [number.strip() for field in ("issn", "isbn") for number in lists.get(field, ()) if number.strip()]
        lists["issn"], lists["isbn"] = split_serial_numbers(numbers)
        fields = bibliographic_fields(**lists, **{field: texts[field] for field in TEXTS if field in texts})
        others = {name: value for name, value in record.items() if value.strip() and name not in fields}
        return fields | others

    def _find(self, known: Sequence[str]) -> str | None:
        return next(iter(self._all(known)), None)

    def _all(self, known: Sequence[str]) -> list[str]:
        """The columns with known names, in the order of these."""
        return [self._by_name[name] for name in known if name in self._by_name]

    @cached_property
    def _by_name(self) -> dict[str, str]:
        return {name.lower(): name for name in reversed(self.names)}

    @cached_property
    def _has_docno(self) -> bool:
        """Whether a column is called as the docno of JSON lines."""
        return any(key in self.names for key in DOCNO_KEYS)

    @cached_property
    def _field_columns(self) -> dict[str, list[str]]:
        """The columns of each field; in a table that is no export of a database only those that have its name."""
        names = {field: (field, *(() if self._has_docno else known)) for field, known in FIELD_COLUMNS.items()}
        return {field: self._all(known) for field, known in names.items() if self._all(known)}


def _is_number(name: str) -> bool:
    return name.strip().replace(".", "", 1).replace("-", "", 1).isdecimal()
