"""Bibliographic records that are the same publication under different docnos.

Two records are the same if they have the same DOI, the same PMID, or the same title, year and first author; but never
if their DOIs or their PMIDs differ. Titles are compared by their letters and digits alone, authors by their first word,
which is the same in "Ting, Yi Li" and "Ting YL". All records of a publication form a group, named by the docno of its
first record.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from searchlab.corpus.parsing.bibliographic_fields import plain_doi
from searchlab.corpus.reading_notes import DUPLICATE, ReadingNotes
from searchlab.indexing.deduplication.key_table import KeyTable, hash_key
from searchlab.indexing.deduplication.text_list import TextList
from searchlab.records import Document

DOI, PMID, DESCRIPTION = "DOI", "PMID", "title, year and first author"

_NOT_WORD = re.compile(r"[\W_]+")


def hash_keys(document: Document) -> dict[str, int]:
    """The keys of a document by their kinds, as numbers."""
    # All kinds need fields.
    return {kind: hash_key(*key) for kind, *key in publication_keys(document)} if document.fields else {}


def find_same_records(
    documents: Iterable[Document],
    notes: ReadingNotes,
    *,
    leave_out: bool = False,
    keys_of: Callable[[Document], Mapping[str, int]] = hash_keys,
) -> Iterator[Document]:
    """The documents; each that is the same publication as an earlier one is noted, and dropped if `leave_out`.

    Holds a few numbers and the docno of each bibliographic record, and nothing for other documents.
    """
    publications = Publications()
    docnos = TextList()
    for document in documents:
        keys = keys_of(document)
        if not keys:
            yield document
            continue
        same = publications.find(keys)
        if same is None:
            publications.add(keys)
            docnos.append(document.docno)
            yield document
            continue
        kind, publication = same
        publications.extend(publication, keys)
        done = "left out" if leave_out else "kept"
        message = f"{document.docno} has the same {kind} as {docnos[publication]}: {done}"
        notes.add(DUPLICATE, document.location, message)
        if not leave_out:
            yield document


class Publications:
    """The publications so far, each by its number: its keys, and its DOI and PMID as numbers."""

    def __init__(self) -> None:
        self._by_key = {kind: KeyTable() for kind in (DOI, PMID, DESCRIPTION)}
        # 0 where a publication has none.
        self._identifiers = {kind: array("Q") for kind in (DOI, PMID)}

    def find(self, keys: Mapping[str, int]) -> tuple[str, int] | None:
        """The publication of a record, after the kind of key by which it is the same; None if it is a new one."""
        for kind, key in keys.items():
            publication = self._by_key[kind].get(key)
            if publication is not None and not self._differs(publication, keys):
                return kind, publication
        return None

    def _differs(self, publication: int, keys: Mapping[str, int]) -> bool:
        """Whether a record has an identifier other than that of a publication."""
        return any(
            kind in keys and known[publication] not in (0, keys[kind]) for kind, known in self._identifiers.items()
        )

    def add(self, keys: Mapping[str, int]) -> int:
        """The number of a new publication, that of a record with these keys."""
        for known in self._identifiers.values():
            known.append(0)
        publication = len(self._identifiers[DOI]) - 1
        self.extend(publication, keys)
        return publication

    def extend(self, publication: int, keys: Mapping[str, int]) -> None:
        """Add the keys of a further record to a publication."""
        for kind, key in keys.items():
            self._by_key[kind].set_default(key, publication)
        for kind, known in self._identifiers.items():
            known[publication] = known[publication] or keys.get(kind, 0)


def publication_keys(document: Document) -> Iterator[tuple[str, ...]]:
    """What records of one publication share: DOI, PMID, or title, year and first author, each after its kind."""
    fields = document.fields
    if not fields:
        return
    if doi := plain_doi(_text(fields.get("doi")).lower()):
        yield DOI, doi
    if pmid := _text(fields.get("pmid")):
        yield PMID, pmid
    if not ((year := _text(fields.get("year"))) and (authors := _text(fields.get("authors")))):
        return
    title, author = (
        _NOT_WORD.sub("", document.title.casefold()),
        _NOT_WORD.split(authors.casefold().strip(), maxsplit=1)[0],
    )
    if title and author:
        yield DESCRIPTION, title, year, author


def _text(value: Any) -> str:
    """A value as text; of a list the first item."""
    first = next(iter(value), "") if isinstance(value, list) else value
    return "" if first is None else str(first).strip()
