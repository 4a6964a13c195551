"""Columns of tables of documents: which one is the docno, the title, the text, or a bibliographic field.

A table with a column that is called as the docno of JSON lines is read as they are. Other tables are taken for exports
of a database, whose names for columns are known in any case:

    PMID            PubMed               UT (Unique WOS ID), UT    Web of Science
    EID             Scopus               PUI, Accession No.        Embase, Ovid

The docno of a row is the first of its identifiers that is one word; without one, it is made of the path of the file and
the number of the row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from searchlab.corpus.parsing.bibliographic_fields import bibliographic_fields
from searchlab.corpus.parsing.identifiers import check_name, is_column
from searchlab.corpus.parsing.keyed_records import BODY_KEYS, DOCNO_KEYS, TITLE_KEY, keyed_document
from searchlab.corpus.text_cleaning import excerpt, on_one_line
from searchlab.records import Document

# In the order of preference; identifiers of databases come before the DOI, which belongs to several editions.
ID_COLUMNS = (
    "pmid",
    "eid",
    "ut (unique wos id)",
    "ut (unique id)",
    "ut",
    "pui",
    "accession no.",
    "accession no",
    "accession number",
    "embase accession id",
    "doi",
    "di",
)
TITLE_COLUMNS = (TITLE_KEY, "article title", "document title", "ti")
BODY_COLUMNS = (*BODY_KEYS, "ab", "abstract note", "summary")
FIELD_COLUMNS = {
    "authors": ("authors", "author", "author names", "author(s)", "au"),
    "journal": ("journal", "journal/book", "source title", "publication title", "journal title", "source", "so"),
    "year": ("year", "publication year", "py", "date of publication"),
    "doi": ("doi", "di"),
    "keywords": ("author keywords", "keywords", "de"),
}
PMID_COLUMNS = ("pmid", "pubmed id", "medline pmid", "pm")

_KNOWN = frozenset({*DOCNO_KEYS, TITLE_KEY, *BODY_KEYS})


@dataclass(frozen=True, slots=True)
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
        if self._find(TITLE_COLUMNS) is None and self._find(BODY_COLUMNS) is None:
            listed = ", ".join(self.names)
            shown = listed if len(listed) <= 200 else listed[:200] + "…"
            expected = "a table without a column for the title or the text"
            return f"{expected} (it has {shown}); --map title=COLUMN names one"
        return None

    @property
    def has_docno(self) -> bool:
        """Whether a column is called as the docno of JSON lines."""
        return any(key in self.names for key in DOCNO_KEYS)

    def document(self, values: Sequence[str], location: str, made_docno: str) -> Document:
        """The document of a row; `made_docno` is for one without an identifier."""
        record = dict(zip(self.names, values, strict=True))
        if self.has_docno:
            return keyed_document(location, record)
        identifiers = (record[name].strip() for name in self._all(ID_COLUMNS))
        docno = next((value for value in identifiers if is_column(value)), made_docno)
        title, body = (record.pop(self._find(names) or "", "") for names in (TITLE_COLUMNS, BODY_COLUMNS))
        known = {field: record.pop(self._find(names) or "", "") for field, names in FIELD_COLUMNS.items()}
        pmid = record.pop(self._find(PMID_COLUMNS) or "", "").strip()
        fields = bibliographic_fields(
            authors=known["authors"].split(";"),
            keywords=known["keywords"].split(";"),
            journal=known["journal"],
            year=known["year"],
            doi=known["doi"],
        )
        others = {name: value for name, value in record.items() if value.strip() and name not in fields}
        return Document(
            check_name("docno", docno, location),
            on_one_line(title),
            body,
            fields | ({"pmid": pmid} if pmid else {}) | others,
            location,
        )

    def _find(self, known: Sequence[str]) -> str | None:
        return next(iter(self._all(known)), None)

    def _all(self, known: Sequence[str]) -> list[str]:
        """The columns with known names, in the order of these."""
        by_name = {name.lower(): name for name in reversed(self.names)}
        return [by_name[name] for name in known if name in by_name]


def _is_number(name: str) -> bool:
    return name.replace(".", "", 1).replace("-", "", 1).isdecimal()
