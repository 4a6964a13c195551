"""Rules for documents with the same docno: refuse them, keep the first, or keep the last."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from searchlab.errors import DuplicateError
from searchlab.records import Document

# Reads all documents; each call starts at the beginning.
ReadDocuments = Callable[[], Iterable[Document]]
# Reads documents and calls the second argument for each one that is left out as a duplicate.
DuplicateRule = Callable[[ReadDocuments, Callable[[], None]], Iterator[Document]]


def _refuse_duplicates(read: ReadDocuments, count_duplicate: Callable[[], None]) -> Iterator[Document]:
    locations: dict[str, str] = {}
    for document in read():
        if document.docno in locations:
            raise DuplicateError(
                document.location,
                f"docno {document.docno!r} was read already at {locations[document.docno]}; make it unique, "
                "or choose keep-first or keep-last by on_duplicate=… (--on-duplicate)",
            )
        locations[document.docno] = document.location
        yield document


def _keep_first(read: ReadDocuments, count_duplicate: Callable[[], None]) -> Iterator[Document]:
    seen: set[str] = set()
    for document in read():
        if document.docno in seen:
            count_duplicate()
        else:
            seen.add(document.docno)
            yield document


def _keep_last(read: ReadDocuments, count_duplicate: Callable[[], None]) -> Iterator[Document]:
    """Reads twice: the first time to find the last document of each docno."""
    last = {document.docno: number for number, document in enumerate(read())}
    for number, document in enumerate(read()):
        if last.get(document.docno) == number:
            yield document
        else:
            count_duplicate()


DUPLICATE_RULES: dict[str, DuplicateRule] = {
    "error": _refuse_duplicates,
    "keep-first": _keep_first,
    "keep-last": _keep_last,
}
