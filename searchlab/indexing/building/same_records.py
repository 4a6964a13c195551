"""Bibliographic records that are the same publication under different docnos.

Two records are the same if they have the same DOI, the same PMID, or the same title, year and first author. Titles are
compared by their letters and digits alone, authors by their first word, which is the same in "Ting, Yi Li" and
"Ting YL". All records of a publication form a group, named by the docno of its first record.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from searchlab.corpus.reading_notes import DUPLICATE, ReadingNotes
from searchlab.records import Document

_NOT_WORD = re.compile(r"[\W_]+")
_DOI_PREFIX = re.compile(r"(?:https?://(?:dx\.)?doi\.org/|doi:)\s*")


def find_same_records(
    documents: Iterable[Document], notes: ReadingNotes, *, leave_out: bool = False
) -> Iterator[Document]:
    """The documents; each that is the same publication as an earlier one is noted, and dropped if `leave_out`.

    Holds a few numbers for each bibliographic record, and nothing for other documents.
    """
    groups: dict[int, str] = {}
    for document in documents:
        keys = {hash(key): key for key in publication_keys(document)}
        same = next((number for number in keys if number in groups), None)
        group = document.docno if same is None else groups[same]
        for number in keys:
            groups.setdefault(number, group)
        if same is None:
            yield document
            continue
        done = "left out" if leave_out else "kept"
        message = f"{document.docno} has the same {keys[same][0]} as {group}: {done}"
        notes.add(DUPLICATE, document.location, message)
        if not leave_out:
            yield document


def publication_keys(document: Document) -> Iterator[tuple[str, ...]]:
    """What records of one publication share: DOI, PMID, or title, year and first author, each after its name."""
    fields = document.fields
    if doi := _DOI_PREFIX.sub("", _text(fields.get("doi")).lower()):
        yield "DOI", doi
    if pmid := _text(fields.get("pmid")):
        yield "PMID", pmid
    title, year = _NOT_WORD.sub("", document.title.casefold()), _text(fields.get("year"))
    author = _NOT_WORD.split(_text(fields.get("authors")).casefold().strip(), maxsplit=1)[0]
    if title and year and author:
        yield "title, year and first author", title, year, author


def _text(value: Any) -> str:
    """A value as text; of a list the first item."""
    first = next(iter(value), "") if isinstance(value, list) else value
    return "" if first is None else str(first).strip()
