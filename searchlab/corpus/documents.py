"""How do files become documents?

The sources are listed at once, so that a missing file is known before the work begins; the documents
are then streamed, one in memory at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from searchlab.corpus.files import OpenedFile, SourceFile, open_file
from searchlab.corpus.formats import Format, detect_format, named_format, unrecognised, why_unrecognised
from searchlab.corpus.jsonl import is_jsonl, read_jsonl_documents
from searchlab.corpus.notes import Notes, SkippedFile
from searchlab.corpus.smart import is_smart, read_smart_documents
from searchlab.corpus.sources import Source, list_source
from searchlab.corpus.text import is_text, read_text_document
from searchlab.corpus.trec import is_trec_documents, read_trec_documents
from searchlab.errors import SourceError
from searchlab.records import Document

# The order matters: anything may be plain text, so it is tried last.
DOCUMENT_FORMATS: dict[str, Format[Document]] = {
    "jsonl": Format("JSON, one object a line", is_jsonl, read_jsonl_documents),
    "trec": Format("TREC SGML, <DOC> … </DOC>", is_trec_documents, read_trec_documents),
    "smart": Format("SMART, as Cranfield and CISI: .I .T .A .W", is_smart, read_smart_documents),
    "text": Format("plain text, one document a file", is_text, read_text_document),
}


def read_documents(
    sources: str | Path | Iterable[str | Path], *, format: str | None = None, notes: Notes | None = None
) -> Iterator[Document]:
    """Stream the documents of files and folders (a single one may be given by itself).

    `format` is a key of DOCUMENT_FORMATS; by default each file's content decides. In a folder, a file
    of no known format is skipped and noted in `notes`; named directly, it is an error.
    """
    notes = Notes() if notes is None else notes
    chosen = named_format(format, DOCUMENT_FORMATS)
    given = [sources] if isinstance(sources, str | Path) else sources
    listed = [list_source(source, notes) for source in given]
    notes.bytes_total += sum(file.size for source in listed for file in source.files)
    return _read_sources(listed, chosen, notes)


def _read_sources(sources: list[Source], chosen: Format[Document] | None, notes: Notes) -> Iterator[Document]:
    for source in sources:
        n_documents, n_skipped = notes.n_documents, len(notes.skipped)
        for file in source.files:
            yield from _read_file(file, source.mixed, chosen, notes)
        if notes.n_documents == n_documents:
            raise SourceError(source.name, "holds no documents" + _reason(notes.skipped[n_skipped:]))


def _read_file(file: SourceFile, may_skip: bool, chosen: Format[Document] | None, notes: Notes) -> Iterator[Document]:
    bytes_before, n_before = notes.bytes_read, notes.n_documents
    with open_file(file, notes) as opened:
        format = chosen or detect_format(opened, DOCUMENT_FORMATS)
        if format is not None:
            yield from _counted(format, opened, notes)
        elif not may_skip and not opened.is_blank:
            raise unrecognised(opened, DOCUMENT_FORMATS)
        if notes.n_documents > n_before:
            notes.n_files += 1
        elif may_skip:
            reason = "no documents" if format else why_unrecognised(opened)
            notes.skipped.append(SkippedFile(file.name, reason))
            notes.bytes_read = bytes_before + file.size


def _counted(format: Format[Document], opened: OpenedFile, notes: Notes) -> Iterator[Document]:
    for document in format.read(opened):
        notes.n_documents += 1
        yield document


def _reason(skipped: list[SkippedFile]) -> str:
    if not skipped:
        return ""
    first = skipped[0]
    return f"; {len(skipped)} of its files skipped, first {first.path} ({first.reason})"
