"""Rules for documents with the same docno: keep all, refuse them, keep the first, or keep the last.

Two documents with one docno and the same content are copies, and one of them is left out. If all are kept, one with
other content gets a docno of its own, `docno~name-of-its-file`: the same in every run over the same files, so that an
update finds it again.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import PurePath

from searchlab.corpus.parsing.identifiers import path_docno
from searchlab.corpus.reading_notes import COPY, NEW_DOCNO, ReadingNotes
from searchlab.errors import DuplicateError
from searchlab.indexing.deduplication.docno_table import DocnoTable
from searchlab.indexing.deduplication.text_list import TextList
from searchlab.records import Document

# Reads all documents; each call starts at the beginning.
ReadDocuments = Callable[[], Iterable[Document]]
# Reads documents and notes each one that is left out or gets another docno.
DuplicateRule = Callable[[ReadDocuments, ReadingNotes], Iterator[Document]]

# Between a docno and the name of the file of another document that had it.
RENAMED = "~"

_LINE = re.compile(r":[0-9]+$")


def _keep_all(read: ReadDocuments, notes: ReadingNotes) -> Iterator[Document]:
    """Holds a hash of the content of each document beside its docno."""
    docnos = DocnoTable()
    contents = array("q")
    others: defaultdict[int, set[int]] = defaultdict(set)
    numbers: Counter[str] = Counter()
    for document in read():
        content = hash((document.title, document.body, repr(document.fields) if document.fields else ""))
        docno = document.docno
        known = docnos.add(docno)
        if known == len(contents):
            contents.append(content)
            yield document
        elif contents[known] == content or content in others[known]:
            notes.add(COPY, document.location, f"the same content as another document with the docno {docno}")
        else:
            others[known].add(content)
            new = _distinct_docno(document, docnos, numbers)
            docnos.add(new)
            contents.append(content)
            notes.add(NEW_DOCNO, document.location, f"docno {docno} has other content elsewhere: kept as {new}")
            yield replace(document, docno=new)


def _distinct_docno(document: Document, taken: DocnoTable, numbers: Counter[str]) -> str:
    """A docno with the name of the file, and with a number where the file has several documents of this docno."""
    name = PurePath(_LINE.sub("", document.location)).name
    stem = f"{document.docno}{RENAMED}{path_docno(name)}"
    while True:
        numbers[stem] += 1
        docno = stem if numbers[stem] == 1 else f"{stem}{RENAMED}{numbers[stem]}"
        if docno not in taken:
            return docno


def _refuse_duplicates(read: ReadDocuments, notes: ReadingNotes) -> Iterator[Document]:
    docnos = DocnoTable()
    locations = _Locations()
    for document in read():
        known = docnos.add(document.docno)
        if known < len(locations):
            raise DuplicateError(
                document.location,
                f"docno {document.docno!r} was read already at {locations[known]}; make it unique, "
                "or choose keep-all, keep-first or keep-last by on_duplicate=… (--on-duplicate)",
            )
        locations.append(document.location)
        yield document


class _Locations:
    """Locations of documents in little memory: the name of a file once for all documents that follow each other."""

    def __init__(self) -> None:
        self._files, self._lines = TextList(), TextList()
        self._file = ""
        # The number of the first document of each file.
        self._firsts = array("Q")

    def __len__(self) -> int:
        return len(self._lines)

    def append(self, location: str) -> None:
        name, colon, line = location.rpartition(":")
        if name + colon != self._file or not self._firsts:
            self._file = name + colon
            self._files.append(self._file)
            self._firsts.append(len(self._lines))
        self._lines.append(line)

    def __getitem__(self, number: int) -> str:
        return self._files[bisect_right(self._firsts, number) - 1] + self._lines[number]


def _keep_first(read: ReadDocuments, notes: ReadingNotes) -> Iterator[Document]:
    docnos = DocnoTable()
    for document in read():
        n_before = len(docnos)
        if docnos.add(document.docno) < n_before:
            notes.add(COPY, document.location, f"an earlier document has the docno {document.docno}")
        else:
            yield document


def _keep_last(read: ReadDocuments, notes: ReadingNotes) -> Iterator[Document]:
    """Reads twice: the first time to find the last document of each docno."""
    docnos = DocnoTable()
    last = array("Q")
    for number, document in enumerate(read()):
        known = docnos.add(document.docno)
        if known == len(last):
            last.append(number)
        else:
            last[known] = number
    for number, document in enumerate(read()):
        known = docnos.find(document.docno)
        if known >= 0 and last[known] == number:
            yield document
        else:
            notes.add(COPY, document.location, f"a later document has the docno {document.docno}")


DUPLICATE_RULES: dict[str, DuplicateRule] = {
    "keep-all": _keep_all,
    "error": _refuse_duplicates,
    "keep-first": _keep_first,
    "keep-last": _keep_last,
}
