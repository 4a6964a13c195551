r"""Documents as BibTeX; reading it again gives the same fields.

The key is the docno, with `_` for characters that a key cannot have. Signs with a meaning in LaTeX are escaped, so that
a document cannot contain commands. Lists of words are joined by semicolons; notes and affiliations are paragraphs.
Fields that are neither bibliographic nor can be the name of a value are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from searchlab.corpus.export.ris_writer import items_of
from searchlab.corpus.formats.bibliography.bibtex_fields import (
    MORE_URLS,
    PARAGRAPH_NAMES,
    PEOPLE_NAMES,
    TEXT_NAMES,
)
from searchlab.corpus.parsing.bibliographic_fields import LISTS, TEXTS
from searchlab.corpus.parsing.publication_types import find_type
from searchlab.records import Document

GENERAL_TYPE = "misc"
PARAGRAPH = r" \par "
# What holds an entry, and who publishes it, is called differently for some kinds.
CONTAINER_NAMES = {"incollection": "booktitle", "inproceedings": "booktitle"}
PUBLISHER_NAMES = {"phdthesis": "school", "techreport": "institution"}

_ESCAPES = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{sign: f"\\{sign}" for sign in "{}$&%#_"},
}
# Two hyphens in a row would become a dash, two apostrophes a quotation mark.
_SPECIAL = re.compile(r"[\\~^{}$&%#_]|-(?=-)|'(?=')|`(?=`)")
_NOT_IN_KEY = re.compile(r"[\s,{}\"#%~\\()='@]")
_NAME = re.compile("[a-z][a-z0-9_-]*")
_AND = re.compile(r"\band\b", re.IGNORECASE)


def write_bibtex(documents: Iterable[Document]) -> Iterator[str]:
    """The entries, one after the other; a second document with the same key gets a number."""
    used: dict[str, int] = {}
    for document in documents:
        key = _NOT_IN_KEY.sub("_", document.docno)
        used[key] = used.get(key, 0) + 1
        yield _entry(document, key if used[key] == 1 else f"{key}_{used[key]}")


def _entry(document: Document, key: str) -> str:
    types = items_of(document.fields.get("types"))
    known = find_type(types[0]) if types else None
    kind = known.bibtex if known and known.bibtex else GENERAL_TYPE
    others = types if kind == GENERAL_TYPE else types[1:]
    values = "".join(f",\n  {name} = {{{value}}}" for name, value in _values(document, kind, others) if value)
    return f"@{kind}{{{key}{values}\n}}\n\n"


def _values(document: Document, kind: str, types: list[str]) -> Iterator[tuple[str, str]]:
    fields = {name: items_of(value) for name, value in document.fields.items()}
    yield "title", escape_bibtex(document.title)
    for field, name in PEOPLE_NAMES.items():
        yield name, " and ".join(map(_person, fields.get(field, ())))
    yield CONTAINER_NAMES.get(kind, "journal"), _joined(fields.get("journal", ()))
    for field in ("year", "date"):
        yield field, _joined(fields.get(field, ()))
    for field, names in TEXT_NAMES.items():
        name = PUBLISHER_NAMES.get(kind, names[0]) if field == "publisher" else names[0]
        value = _joined(fields.get(field, ()))
        yield name, value.replace("-", "--") if field == "pages" else value
    for name in ("issn", "isbn", "pmid", "mesh"):
        yield name, _joined(fields.get(name, ()))
    for field, name in PARAGRAPH_NAMES.items():
        yield name, PARAGRAPH.join(map(escape_bibtex, fields.get(field, ())))
    keywords = _joined(fields.get("keywords", ()))
    # A single keyword with a comma would be taken for two.
    yield "keywords", f"{keywords};" if "," in keywords and ";" not in keywords else keywords
    yield "type", _joined(types)
    urls = fields.get("urls", [])
    for name, items in {"doi": fields.get("doi", []), "url": urls[:1], MORE_URLS: urls[1:]}.items():
        # These are not escaped, but the braces of a value must match.
        yield name, " ".join(items).replace("{", "%7B").replace("}", "%7D").replace("\\", "%5C")
    for name, items in fields.items():
        if name not in LISTS and name not in TEXTS and _NAME.fullmatch(name):
            yield name, _joined(items)
    yield "abstract", escape_bibtex(" ".join(document.body.split()))


def escape_bibtex(text: str) -> str:
    """`text` such that LaTeX prints it as it is."""
    return _SPECIAL.sub(lambda sign: _ESCAPES.get(sign[0]) or f"{sign[0]}{{}}", text)


def _joined(items: Iterable[str]) -> str:
    return "; ".join(map(escape_bibtex, items))


def _person(name: str) -> str:
    """A name; one that is not "Family, Given", or has an "and" in it, is kept together by braces."""
    escaped = escape_bibtex(name)
    return f"{{{escaped}}}" if ("," not in name and " " in name) or _AND.search(name) else escaped
