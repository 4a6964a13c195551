"""References: the fields of a document as a line that cites it, links to it elsewhere, and the fields that are left.

Smith J; Jones K; Wang L and 4 more. Lancet. 1988;12(3):45–67
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlsplit

from searchlab.evaluation.number_text import format_count

MAX_AUTHORS = 3
# Longer values are texts, and no part of a citation.
MAX_PART_LENGTH = 60
MAX_URL_LENGTH = 2000
# The fields of a citation; others are shown as they are.
CITED = frozenset({"authors", "journal", "journal_abbreviation", "year", "date", "volume", "issue", "pages", "n_pages"})
IDENTIFIERS = frozenset({"doi", "pmid", "pmcid", "urls", "url"})

_DOI = re.compile(r"10\.[0-9]{4,9}/\S+")
_PMID = re.compile(r"[0-9]{1,9}")
_PMCID = re.compile(r"PMC[0-9]{1,9}")


@dataclass(frozen=True)
class Link:
    """A link to a document on another site: its words, and an address that begins with https:// or http://."""

    words: str
    address: str


@dataclass(frozen=True)
class Reference:
    """A document as it is cited.

    `authors` are the first ones, `n_more_authors` the number of the others. `place` is the part of the journal:
    volume, issue and pages. `length` is the number of pages in words. `others` are the fields that the citation and the
    links leave out, without those that repeat the docno; `docno_is_linked` if a link shows it already.
    """

    authors: tuple[str, ...]
    n_more_authors: int
    journal: str
    year: str
    place: str
    length: str
    links: tuple[Link, ...]
    others: tuple[tuple[str, Any], ...]
    docno_is_linked: bool

    @property
    def is_cited(self) -> bool:
        """Whether there is anything to cite."""
        return bool(self.authors or self.journal or self.year or self.place or self.length)


# The reference to a document without fields.
NO_REFERENCE = Reference((), 0, "", "", "", "", (), (), docno_is_linked=False)


def refer_to(docno: str, fields: Mapping[str, Any]) -> Reference:
    """The reference to a document; values that are not as expected are left among the other fields."""
    if not fields:
        return NO_REFERENCE
    authors = list(_texts(fields.get("authors")))
    texts = dict.fromkeys(CITED, "")
    texts |= {name: next(_texts(fields[name]), "") for name in CITED & fields.keys() if name != "authors"}
    year = texts["year"] or texts["date"][:10]
    place = texts["volume"] + (f"({texts['issue']})" if texts["issue"] else "")
    pages = texts["pages"].replace("-", "\u2013")
    n_pages = fields.get("n_pages")
    is_length = isinstance(n_pages, int) and not isinstance(n_pages, bool)
    used = {name for name in CITED if texts.get(name)} | ({"authors"} if authors else set())
    links = dict(_links(fields))
    return Reference(
        authors=tuple(authors[:MAX_AUTHORS]),
        n_more_authors=max(len(authors) - MAX_AUTHORS, 0),
        journal=texts["journal"] or texts["journal_abbreviation"],
        year=year,
        place=":".join(filter(None, [place, pages])),
        length=format_count(n_pages, "page") if is_length and isinstance(n_pages, int) else "",
        links=tuple(links.values()),
        others=tuple(
            (name, value)
            for name, value in fields.items()
            if name not in used and name not in links and str(value) != docno
        ),
        docno_is_linked="pmid" in links and docno == next(_texts(fields.get("pmid")), None),
    )


def _links(fields: Mapping[str, Any]) -> Iterator[tuple[str, Link]]:
    """The links of a document, each with the field that it is made from."""
    if IDENTIFIERS.isdisjoint(fields):
        return
    doi, pmid, pmcid = (next(_texts(fields.get(name), 200), "") for name in ("doi", "pmid", "pmcid"))
    if _DOI.fullmatch(doi):
        yield "doi", Link(f"DOI {doi}", f"https://doi.org/{quote(doi, safe='/')}")
    if _PMID.fullmatch(pmid):
        yield "pmid", Link(f"PMID {pmid}", f"https://pubmed.ncbi.nlm.nih.gov/{pmid}/")
    if _PMCID.fullmatch(pmcid):
        yield "pmcid", Link(pmcid, f"https://pmc.ncbi.nlm.nih.gov/articles/{pmcid}/")
    for name in ("urls", "url"):
        address = next(_texts(fields.get(name), MAX_URL_LENGTH), "")
        host = web_host(address)
        if host:
            yield name, Link(host, address)


def web_host(address: str) -> str:
    """The host of a web address; empty for any other text, such as `javascript:…`."""
    if not address.isprintable() or any(character in address for character in " \\"):
        return ""
    try:
        parts = urlsplit(address)
        return (parts.hostname or "") if parts.scheme in ("http", "https") else ""
    except ValueError:  # such as http://[
        return ""


def _texts(value: Any, max_length: int = MAX_PART_LENGTH) -> Iterator[str]:
    """The short texts and numbers of a field that has one value, or a list of them."""
    for item in value if isinstance(value, list | tuple) else [value]:
        if isinstance(item, str | int | float) and not isinstance(item, bool):
            text = str(item).strip()
            if 0 < len(text) <= max_length:
                yield text
