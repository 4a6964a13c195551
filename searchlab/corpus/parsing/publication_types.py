"""Types of publications: one name for each, and what formats call it.

A journal article is JOUR in RIS, `article` in BibTeX, `article-journal` in CSL-JSON and "Journal Article" in PubMed. A
document has the same name for all of them, so that one filter finds them all, and an export can write any of these.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PublicationType:
    """A type of publication: its name, its codes in RIS, BibTeX and CSL-JSON, and further names, all in lower case.

    Where a format has no code, that of its general type is written instead, and the name beside it.
    """

    name: str
    ris: str
    bibtex: str = ""
    csl: str = ""
    also: tuple[str, ...] = ()


# The types of RIS, of BibTeX and BibLaTeX, of CSL-JSON and of EndNote.
PUBLICATION_TYPES = (
    PublicationType("journal article", "JOUR", "article", "article-journal", ("journalarticle", "j")),
    PublicationType("abstract", "ABST"),
    PublicationType("aggregated database", "AGGR", also=("aggregateddatabase",)),
    PublicationType("ancient text", "ANCIENT", also=("classic",)),
    PublicationType("artwork", "ART", "artwork", "graphic"),
    PublicationType("audiovisual material", "ADVS", "audio", also=("broadcast",)),
    PublicationType("bill", "BILL", "", "bill"),
    PublicationType("blog post", "BLOG", "", "post-weblog", ("blog", "blogpost")),
    PublicationType("book", "BOOK", "book", "book", ("mvbook", "b")),
    PublicationType("book section", "CHAP", "incollection", "chapter", ("inbook", "book chapter", "bookinbook")),
    PublicationType("case", "CASE", "jurisdiction", "legal_case"),
    PublicationType("catalog", "CTLG", also=("catalogue",)),
    PublicationType("chart or table", "CHART"),
    PublicationType("classical work", "CLSWK", "", "classic"),
    PublicationType("computer program", "COMP", "software", "software"),
    PublicationType("conference paper", "CPAPER", "inproceedings", "paper-conference", ("conference",)),
    PublicationType("conference proceedings", "CONF", "proceedings", "", ("mvproceedings",)),
    PublicationType("dataset", "DATA", "dataset", "dataset", ("data file",)),
    PublicationType("dictionary", "DICT", "", "entry-dictionary"),
    PublicationType("edited book", "EDBOOK", "collection", "", ("mvcollection",)),
    PublicationType("electronic article", "EJOUR"),
    PublicationType("electronic book", "EBOOK"),
    PublicationType("electronic book section", "ECHAP"),
    PublicationType("encyclopedia", "ENCYC", "inreference", "entry-encyclopedia", ("entry",)),
    PublicationType("equation", "EQUA"),
    PublicationType("figure", "FIGURE", "image", "figure"),
    PublicationType("government document", "GOVDOC"),
    PublicationType("grant", "GRANT", also=("grnt",)),
    PublicationType("hearing", "HEAR", "", "hearing"),
    PublicationType("in press article", "INPR"),
    PublicationType("internet communication", "ICOMM", "", "post"),
    PublicationType("interview", "INTV", "", "interview"),
    PublicationType("journal", "JFULL", "periodical", "periodical"),
    PublicationType("legal rule", "LEGAL", "legislation", "regulation", ("legal rule or regulation",)),
    PublicationType("magazine article", "MGZN", "", "article-magazine"),
    PublicationType("manuscript", "MANSCPT", "", "manuscript"),
    PublicationType("map", "MAP", "", "map"),
    PublicationType("motion picture", "MPCT", "movie", "motion_picture", ("film or broadcast",)),
    PublicationType("online multimedia", "MULTI", also=("multimedia",)),
    PublicationType("music", "MUSIC", "music", "musical_score"),
    PublicationType("newspaper article", "NEWS", "", "article-newspaper"),
    PublicationType("online database", "DBASE"),
    PublicationType("pamphlet", "PAMP", "booklet", "pamphlet"),
    PublicationType("patent", "PAT", "patent", "patent", ("p",)),
    PublicationType("personal communication", "PCOMM", "letter", "personal_communication"),
    PublicationType("podcast", "POD"),
    PublicationType("press release", "PRESS"),
    PublicationType("report", "RPRT", "techreport", "report", ("technical report",)),
    PublicationType("serial", "SER"),
    PublicationType("slide", "SLIDE"),
    PublicationType("sound recording", "SOUND", "", "song"),
    PublicationType("standard", "STAND", "standard", "standard", ("std",)),
    PublicationType("statute", "STAT", "", "legislation"),
    PublicationType("thesis", "THES", "phdthesis", "thesis", ("mastersthesis", "mathesis", "bathesis")),
    PublicationType("unenacted bill", "UNBILL"),
    PublicationType("unpublished work", "UNPB", "unpublished", "", ("unpd",)),
    PublicationType("video recording", "VIDEO", "video"),
    PublicationType("web page", "WEB", "online", "webpage", ("elec", "electronic", "www", "web site")),
)
# What formats call a record that has no type of its own.
GENERAL_TYPES = frozenset({"gen", "generic", "misc", "document", "other"})


def _known_names() -> dict[str, PublicationType]:
    """The type for each name and code; where two types claim one, the first does."""
    known: dict[str, PublicationType] = {kind.name: kind for kind in PUBLICATION_TYPES}
    for codes in ("ris", "bibtex", "csl"):
        for kind in PUBLICATION_TYPES:
            known.setdefault(getattr(kind, codes).lower(), kind)
    for kind in PUBLICATION_TYPES:
        for name in kind.also:
            known.setdefault(name, kind)
    del known[""]
    return known


_KNOWN = _known_names()


def find_type(name: str) -> PublicationType | None:
    """The type with this name or code, in any case; None if it is not known."""
    return _KNOWN.get(name.lower())


def name_types(written: Iterable[str]) -> list[str]:
    """The names of types, each once, a known type first; an unknown one stays as it is written."""
    known, unknown = [], []
    for text in written:
        kind = find_type(text)
        if kind is not None:
            known.append(kind.name)
        elif text.lower() not in GENERAL_TYPES:
            unknown.append(text)
    return list(dict.fromkeys(known + unknown))
