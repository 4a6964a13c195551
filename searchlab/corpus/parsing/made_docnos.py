"""Docnos that have to be made, because a record has no identifier: the path of its file, and a number."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from searchlab.corpus.parsing.identifiers import path_docno
from searchlab.corpus.reading_notes import MADE_DOCNO
from searchlab.corpus.source_files import OpenedFile
from searchlab.records import Document

Piece = TypeVar("Piece")


def noting_made_docnos(opened: OpenedFile, build: Callable[[Piece, str], Document]) -> Callable[[Piece], Document]:
    """`build` for a file: it gets the beginning of docnos that it has to make, and each such docno is noted."""
    prefix = path_docno(opened.file.relative)

    def document(piece: Piece) -> Document:
        found = build(piece, prefix)
        if found.docno.startswith(f"{prefix}#"):
            opened.reading.notes.add(MADE_DOCNO, found.location, found.docno)
        return found

    return document
