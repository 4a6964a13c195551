"""Fields of bibliographic records, with the same names and forms for all formats.

Databases and reference managers use different tags for the same things; a document has one name for each (`LISTS`,
`TEXTS`), which docs/bibliography.md describes for users. What has no name here keeps the one that its format gives it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from searchlab.corpus.parsing.dates import iso_date, year_of
from searchlab.corpus.parsing.publication_types import name_types
from searchlab.corpus.text_cleaning import on_one_line

LISTS = (
    "authors",
    "editors",
    "translators",
    "keywords",
    "mesh",
    "types",
    "issn",
    "isbn",
    "urls",
    "affiliations",
    "notes",
)
TEXTS = (
    "journal",
    "journal_abbreviation",
    "year",
    "date",
    "volume",
    "issue",
    "pages",
    "doi",
    "pmid",
    "pmcid",
    "accession",
    "publisher",
    "place",
    "series",
    "edition",
    "language",
    "database",
)
# Parts of every document, which no field can be called.
RESERVED = frozenset({"docno", "title", "body"})

_DOI = re.compile(r"(?:https?://)?(?:(?:dx|www)\.)?doi\.org/|doi:", re.IGNORECASE)
_PMID = re.compile(r"(?:pmid:?\s*)?([0-9]+)(?:\.0)?", re.IGNORECASE)
_PMCID = re.compile(r"(?:pmcid:?\s*)?(PMC[0-9]+)\b.*", re.IGNORECASE)
_DASHES = re.compile(r"\s*(?:--+|[\u2010-\u2015\u2212])\s*")
_ISBN = re.compile(r"(?<![0-9])(?:97[89][ -]?)?(?:[0-9][ -]?){9}[0-9Xx](?![0-9])")
_ISSN = re.compile(r"(?<![0-9])([0-9]{4})-?([0-9]{3}[0-9Xx])(?![0-9])")


def bibliographic_fields(
    others: Mapping[str, Iterable[str]] | None = None, /, **written: str | Iterable[str]
) -> dict[str, Any]:
    """The fields that are not empty, by their names in LISTS and TEXTS; `others` have names of their own.

    A year without a number ("in press") stays text. One of several values of `others` is a text, more are a list.
    """
    # Most records have few of the fields, and most fields are as they should be: what is empty is left out early.
    lists = {name: _lines(values) for name in LISTS if (values := written.pop(name, ()))}
    texts = {name: on_one_line(_one(value)) for name in TEXTS if (value := written.pop(name, "")) or name == "year"}
    if written:
        raise KeyError(f"no bibliographic fields: {', '.join(written)}")
    if "types" in lists:
        lists["types"] = name_types(lists["types"])
    for name, normalise in _FORMS.items():
        if name in texts:
            texts[name] = normalise(texts[name])
    date = texts.get("date", "")
    year = year_of(texts["year"] or date)
    date = iso_date(date or texts["year"], year)
    if date != str(year):
        texts["date"] = date
    else:
        texts.pop("date", None)
    fields: dict[str, Any] = {**lists, **texts, "year": year}
    for name, values in (others or {}).items():
        lines = _lines(values)
        if name not in fields and name not in RESERVED:
            fields[name] = lines[0] if len(lines) == 1 else lines
    return {name: value for name, value in fields.items() if value}


def split_serial_numbers(written: Iterable[str]) -> tuple[list[str], list[str]]:
    """ISSNs and ISBNs in texts that may have either; a text with neither counts as an ISSN."""
    issns: list[str] = []
    isbns: list[str] = []
    for text in written:
        books = [match[0].strip() for match in _ISBN.finditer(text)]
        left = _ISBN.sub(" ", text)
        serials = [f"{first}-{last.upper()}" for first, last in _ISSN.findall(left)]
        isbns += books
        issns += serials if serials or books else [text]
    return list(dict.fromkeys(issns)), list(dict.fromkeys(isbns))


def plain_doi(written: str) -> str:
    """A DOI without the address of its resolver."""
    return _DOI.sub("", written.strip(), count=1).strip()


def split_list(written: str, separators: str = ";") -> list[str]:
    """The items of a list that is written as one text."""
    return re.split(f"[{separators}]", written)


def _lines(values: str | Iterable[str]) -> list[str]:
    return [*filter(None, map(on_one_line, [values] if isinstance(values, str) else values))]


def _one(values: str | Iterable[str]) -> str:
    return values if isinstance(values, str) else next(iter(values), "")


def _pmid(written: str) -> str:
    match = _PMID.fullmatch(written)
    return match[1] if match else written


def _pmcid(written: str) -> str:
    match = _PMCID.fullmatch(written)
    return match[1].upper() if match else written


_FORMS: dict[str, Callable[[str], str]] = {
    "doi": plain_doi,
    "pmid": _pmid,
    "pmcid": _pmcid,
    "pages": lambda written: _DASHES.sub("-", written),
}
