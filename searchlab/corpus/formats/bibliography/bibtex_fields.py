"""What the values of BibTeX and BibLaTeX entries mean.

An entry inherits what it lacks from the entry that `crossref` or `xdata` names: the title of a book is the booktitle of
its chapters. BibTeX puts such an entry after those that refer to it, so these wait for it; what waits and what is
remembered is bounded, and beyond that an entry stays as it is written.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from searchlab.corpus.formats.bibliography.latex import plain_latex
from searchlab.corpus.parsing.bibliographic_fields import bibliographic_fields, split_list, split_serial_numbers
from searchlab.corpus.text_cleaning import on_one_line
from searchlab.records import Document

# The names of values for each field; the first one is the one that is written.
TEXT_NAMES = {
    "journal_abbreviation": ("shortjournal",),
    "volume": ("volume",),
    "issue": ("number", "issue"),
    "pages": ("pages", "eid"),
    "pmcid": ("pmcid",),
    "accession": ("accession",),
    "publisher": ("publisher", "institution", "school", "organization"),
    "place": ("address", "location"),
    "series": ("series",),
    "edition": ("edition",),
    "language": ("language", "langid"),
    "database": ("database",),
}
JOURNAL_NAMES = ("journal", "journaltitle", "booktitle", "maintitle")
# Names of people, joined by "and".
PEOPLE_NAMES = {"authors": "author", "editors": "editor", "translators": "translator"}
# Lists of texts, each a paragraph.
PARAGRAPH_NAMES = {"notes": "note", "affiliations": "affiliation"}
# BibTeX has one address, and the export a name for more.
MORE_URLS = "urls"
DATE_NAMES = frozenset({"date", "year", "month", "day"})
REFERENCES = ("crossref", "xdata")
# Entries that others refer to, and the entries that are parts of them.
CONTAINERS = frozenset(
    {"book", "mvbook", "collection", "mvcollection", "proceedings", "mvproceedings", "reference", "periodical", "xdata"}
)
PARTS = frozenset(
    {"inbook", "incollection", "inproceedings", "conference", "suppbook", "inreference", "suppcollection"}
)
# What belongs to the entry itself, and no other inherits it.
OWN_NAMES = frozenset(
    {"title", "subtitle", "abstract", "keywords", "doi", "url", "pages", "eid", "eprint", "pmid", "pmcid", "file"}
    | {"note", "annotation", "crossref", "xdata", "ids", "options", "shorthand", "label", "sortkey", "accession"}
)
# Characters of entries that are remembered for others, or wait for others.
MAX_REMEMBERED = 8_000_000

_KNOWN = frozenset(
    {name for names in TEXT_NAMES.values() for name in names}
    | {*JOURNAL_NAMES, *PEOPLE_NAMES.values(), *PARAGRAPH_NAMES.values(), *REFERENCES}
    | {
        "title",
        "subtitle",
        "booksubtitle",
        "journalsubtitle",
        "abstract",
        "keywords",
        "type",
        "issn",
        "isbn",
        "pmid",
        "doi",
    }
    | {"url", MORE_URLS, "mesh"}
    | DATE_NAMES
)
_AND = re.compile(" and ", re.IGNORECASE)
_PARAGRAPH = re.compile(r"\\par\b")
_ESCAPED = re.compile(r"\\([_%&#$~{}])")
_BRACED = re.compile(r"\{(?:[^{}]|\{[^{}]*+\})*+\}")


@dataclass(frozen=True, slots=True)
class BibtexEntry:
    """An entry: its kind and its values by their names, both in lower case."""

    location: str
    kind: str
    docno: str
    values: dict[str, str]

    @property
    def references(self) -> list[str]:
        """The keys of the entries that it inherits from, in lower case."""
        keys = [key for name in REFERENCES for key in self.values.get(name, "").split(",")]
        return [key.strip().lower() for key in keys if key.strip()]

    def inherit(self, parent: BibtexEntry) -> BibtexEntry:
        """The entry with the values of another that it lacks itself."""
        given = {name: value for name, value in parent.values.items() if name not in OWN_NAMES}
        if parent.kind == "xdata":
            given = parent.values
        elif self.kind in PARTS:
            titles = {"booktitle": "title", "booksubtitle": "subtitle"}
            given |= {name: parent.values[own] for name, own in titles.items() if own in parent.values}
        if DATE_NAMES & self.values.keys():
            given = {name: value for name, value in given.items() if name not in DATE_NAMES}
        return replace(self, values=given | self.values)

    @property
    def size(self) -> int:
        """The number of its characters."""
        return sum(map(len, self.values.values())) + len(self.docno)


def inherit_values(entries: Iterable[BibtexEntry]) -> Iterator[BibtexEntry]:
    """The entries with what they inherit, without those that only hold data for others."""
    containers: dict[str, BibtexEntry] = {}
    waiting: list[BibtexEntry] = []
    room = MAX_REMEMBERED
    for entry in entries:
        if entry.kind in CONTAINERS and room > entry.size:
            shared = {name: value for name, value in entry.values.items() if name != "abstract"}
            containers[entry.docno.lower()] = replace(entry, values=shared)
            room -= entry.size
        if entry.kind == "xdata":
            continue
        if any(key not in containers for key in entry.references) and room > entry.size:
            waiting.append(entry)
            room -= entry.size
        else:
            yield _inherited(entry, containers)
    for entry in waiting:
        yield _inherited(entry, containers)


def _inherited(entry: BibtexEntry, containers: dict[str, BibtexEntry]) -> BibtexEntry:
    for key in entry.references:
        if key in containers:
            entry = entry.inherit(containers[key])
    return entry


def entry_document(entry: BibtexEntry) -> Document:
    """The document of an entry."""
    values = entry.values
    plain = {
        name: on_one_line(plain_latex(value)) for name, value in values.items() if name not in PEOPLE_NAMES.values()
    }
    texts = {field: _first(plain, names) for field, names in TEXT_NAMES.items()}
    issn, isbn = split_serial_numbers(filter(None, [plain.get("issn", ""), plain.get("isbn", "")]))
    is_pubmed = plain.get("eprinttype", plain.get("archiveprefix", "")).lower() == "pubmed"
    year = plain.get("year", "")
    fields = bibliographic_fields(
        {name: [value] for name, value in plain.items() if name not in _KNOWN},
        **texts,
        **{field: _people(values.get(name, "")) for field, name in PEOPLE_NAMES.items()},
        **{field: _paragraphs(values.get(name, "")) for field, name in PARAGRAPH_NAMES.items()},
        mesh=split_list(plain.get("mesh", "")),
        keywords=split_keywords(plain.get("keywords", "")),
        types=[entry.kind, *split_list(plain.get("type", ""))],
        urls=[_verbatim(values.get("url", "")), *_verbatim(values.get(MORE_URLS, "")).split()],
        issn=issn,
        isbn=isbn,
        journal=_journal(plain),
        year=year or plain.get("date", ""),
        date=plain.get("date", "") or _date(year, plain.get("month", ""), plain.get("day", "")),
        doi=_verbatim(values.get("doi", "")),
        pmid=plain.get("pmid") or (plain.get("eprint", "") if is_pubmed else ""),
    )
    title = _with_subtitle(plain.get("title", ""), plain.get("subtitle", ""))
    return Document(entry.docno, title, plain.get("abstract", ""), fields, entry.location)


def split_keywords(written: str) -> list[str]:
    """Keywords, separated by semicolons or, if there are none, by commas."""
    return split_list(written, ";" if ";" in written else ",")


def _first(values: dict[str, str], names: Iterable[str]) -> str:
    return next((values[name] for name in names if values.get(name)), "")


def _journal(plain: dict[str, str]) -> str:
    name = next((name for name in JOURNAL_NAMES if plain.get(name)), "")
    subtitles = {"journaltitle": "journalsubtitle", "booktitle": "booksubtitle"}
    return _with_subtitle(plain.get(name, ""), plain.get(subtitles.get(name, ""), ""))


def _with_subtitle(title: str, subtitle: str) -> str:
    return f"{title}: {subtitle}" if title and subtitle else title


def _date(year: str, month: str, day: str) -> str:
    if not month:
        return year
    separator = "-" if month.isdecimal() else " "
    return separator.join(filter(None, [year, month, day]))


def _paragraphs(written: str) -> list[str]:
    return [plain_latex(paragraph) for paragraph in _PARAGRAPH.split(written)]


def _verbatim(written: str) -> str:
    return _ESCAPED.sub(r"\1", on_one_line(written.replace(r"{\_}", "_")))


def _people(written: str) -> list[str]:
    # An "and" within braces is part of a name: {Barnes and Noble}.
    marked = re.sub(r"\{[^{}]*+\}", lambda inner: _AND.sub(" \0 ", inner[0]), on_one_line(written))
    names = [name.replace("\0", "and").strip() for name in _AND.split(marked)]
    return [_family_first(name) for name in names if name != "others"]


def _family_first(name: str) -> str:
    """A name as "Beethoven, Ludwig"; a name in braces, or of one word, as it is."""
    plain = plain_latex(name)
    words = plain.split()
    if "," in plain or len(words) < 2 or _BRACED.fullmatch(name):
        return plain
    # A particle in lower case begins the family name: Ludwig van Beethoven.
    start = next((at for at, word in enumerate(words[:-1]) if at and word[0].islower()), len(words) - 1)
    return f"{' '.join(words[start:])}, {' '.join(words[:start])}"
