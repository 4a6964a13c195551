"""Bibliographic records that are the same publication under different docnos.

Two records are the same if they have the same DOI or the same PMID; or else the same title, year and first author,
unless their DOIs or their PMIDs differ. Titles are compared by their letters and digits alone, authors by their first
word, which is the same in "Ting, Yi Li" and "Ting YL". All records of a publication form a group, named by the docno of
its first record.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from searchlab.corpus.parsing.bibliographic_fields import plain_doi
from searchlab.corpus.reading_notes import DUPLICATE, ReadingNotes
from searchlab.indexing.building.key_table import KeyTable, hash_key
from searchlab.records import Document

DOI, PMID, DESCRIPTION = "DOI", "PMID", "title, year and first author"

_NOT_WORD = re.compile(r"[\W_]+")


def hash_keys(document: Document) -> dict[str, int]:
    """What records of one publication share, as numbers by kind; none for documents that are no such records."""
    return {kind: hash_key(*key) for kind, *key in publication_keys(document)}


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
    groups = _Groups()
    for document in documents:
        keys = keys_of(document)
        same = groups.find(keys)
        if same is None:
            if keys:
                groups.add(document.docno, keys)
            yield document
            continue
        kind, group = same
        groups.extend(group, keys)
        done = "left out" if leave_out else "kept"
        message = f"{document.docno} has the same {kind} as {groups.docno(group)}: {done}"
        notes.add(DUPLICATE, document.location, message)
        if not leave_out:
            yield document


class _Groups:
    """The publications so far, each by its number: the docno of its first record, and its DOI and PMID as numbers."""

    def __init__(self) -> None:
        self._by_key = {kind: KeyTable() for kind in (DOI, PMID, DESCRIPTION)}
        # 0 where a publication has none.
        self._identifiers = {kind: array("Q") for kind in (DOI, PMID)}
        self._docnos = bytearray()
        self._docno_ends = array("Q")

    def find(self, keys: Mapping[str, int]) -> tuple[str, int] | None:
        """The kind of the first key that a group has too, and the group; None if there is no such group."""
        for kind, key in keys.items():
            group = self._by_key[kind].get(key)
            if group is not None and (kind != DESCRIPTION or not self._differs(group, keys)):
                return kind, group
        return None

    def _differs(self, group: int, keys: Mapping[str, int]) -> bool:
        """Whether a record has an identifier other than that of a group."""
        return any(kind in keys and known[group] not in (0, keys[kind]) for kind, known in self._identifiers.items())

    def add(self, docno: str, keys: Mapping[str, int]) -> None:
        """Start a group with a record."""
        for known in self._identifiers.values():
            known.append(0)
        self._docnos += docno.encode("utf-8", "surrogatepass")
        self._docno_ends.append(len(self._docnos))
        self.extend(len(self._docno_ends) - 1, keys)

    def extend(self, group: int, keys: Mapping[str, int]) -> None:
        """Add the keys of a record to a group."""
        for kind, key in keys.items():
            self._by_key[kind].set_default(key, group)
        for kind, known in self._identifiers.items():
            known[group] = known[group] or keys.get(kind, 0)

    def docno(self, group: int) -> str:
        """The docno of the first record of a group."""
        start = self._docno_ends[group - 1] if group else 0
        return self._docnos[start : self._docno_ends[group]].decode("utf-8", "surrogatepass")


def publication_keys(document: Document) -> Iterator[tuple[str, ...]]:
    """What records of one publication share: DOI, PMID, or title, year and first author, each after its kind."""
    fields = document.fields
    if doi := plain_doi(_text(fields.get("doi")).lower()):
        yield DOI, doi
    if pmid := _text(fields.get("pmid")):
        yield PMID, pmid
    title, year = _NOT_WORD.sub("", document.title.casefold()), _text(fields.get("year"))
    author = _NOT_WORD.split(_text(fields.get("authors")).casefold().strip(), maxsplit=1)[0]
    if title and year and author:
        yield DESCRIPTION, title, year, author


def _text(value: Any) -> str:
    """A value as text; of a list the first item."""
    first = next(iter(value), "") if isinstance(value, list) else value
    return "" if first is None else str(first).strip()
