"""Rules for documents with the same docno: keep all, refuse them, keep the first, or keep the last.

Two documents with one docno and the same content are copies, and one of them is left out. If all are kept, one with
other content gets a docno of its own, `docno~name-of-its-file`: the same in every run over the same files, so that an
update finds it again.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import PurePath

from searchlab.corpus.parsing.identifiers import path_docno
from searchlab.corpus.reading_notes import COPY, NEW_DOCNO, ReadingNotes
from searchlab.errors import DuplicateError
from searchlab.records import Document

# Reads all documents; each call starts at the beginning.
ReadDocuments = Callable[[], Iterable[Document]]
# Reads documents and notes each one that is left out or gets another docno.
DuplicateRule = Callable[[ReadDocuments, ReadingNotes], Iterator[Document]]

# Between a docno and the name of the file of another document that had it.
RENAMED = "~"

_LINE = re.compile(r":[0-9]+$")


def _keep_all(read: ReadDocuments, notes: ReadingNotes) -> Iterator[Document]:
    """Holds a number for each document, as a hash of its content."""
    contents: dict[str, int] = {}
    others: defaultdict[str, set[int]] = defaultdict(set)
    numbers: Counter[str] = Counter()
    for document in read():
        content = hash((document.title, document.body, repr(document.fields)))
        docno = document.docno
        if docno not in contents:
            contents[docno] = content
            yield document
        elif contents[docno] == content or content in others[docno]:
            notes.add(COPY, document.location, f"the same content as another document with the docno {docno}")
        else:
            others[docno].add(content)
            new = _distinct_docno(document, contents, numbers)
            contents[new] = content
            notes.add(NEW_DOCNO, document.location, f"docno {docno} has other content elsewhere: kept as {new}")
            yield replace(document, docno=new)


def _distinct_docno(document: Document, taken: dict[str, int], numbers: Counter[str]) -> str:
    """A docno with the name of the file, and with a number where the file has several documents of this docno."""
    name = PurePath(_LINE.sub("", document.location)).name
    stem = f"{document.docno}{RENAMED}{path_docno(name)}"
    while True:
        numbers[stem] += 1
        docno = stem if numbers[stem] == 1 else f"{stem}{RENAMED}{numbers[stem]}"
        if docno not in taken:
            return docno


def _refuse_duplicates(read: ReadDocuments, notes: ReadingNotes) -> Iterator[Document]:
    locations: dict[str, str] = {}
    for document in read():
        if document.docno in locations:
            raise DuplicateError(
                document.location,
                f"docno {document.docno!r} was read already at {locations[document.docno]}; make it unique, "
                "or choose keep-all, keep-first or keep-last by on_duplicate=… (--on-duplicate)",
            )
        locations[document.docno] = document.location
        yield document


def _keep_first(read: ReadDocuments, notes: ReadingNotes) -> Iterator[Document]:
    seen: set[str] = set()
    for document in read():
        if document.docno in seen:
            notes.add(COPY, document.location, f"an earlier document has the docno {document.docno}")
        else:
            seen.add(document.docno)
            yield document


def _keep_last(read: ReadDocuments, notes: ReadingNotes) -> Iterator[Document]:
    """Reads twice: the first time to find the last document of each docno."""
    last = {document.docno: number for number, document in enumerate(read())}
    for number, document in enumerate(read()):
        if last.get(document.docno) == number:
            yield document
        else:
            notes.add(COPY, document.location, f"a later document has the docno {document.docno}")


DUPLICATE_RULES: dict[str, DuplicateRule] = {
    "keep-all": _keep_all,
    "error": _refuse_duplicates,
    "keep-first": _keep_first,
    "keep-last": _keep_last,
}
