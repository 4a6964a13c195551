"""Reading documents from files, folders and datasets.

All sources are listed first, so that a missing file is reported before any work is done; the documents are then
streamed, one in memory at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import NoReturn

from searchlab.corpus.archives.entries import is_archive, read_entries
from searchlab.corpus.detection import (
    Format,
    detect_format,
    named_format,
    recognises_never,
    unrecognised_error,
    unrecognised_reason,
)
from searchlab.corpus.extraction.formats import EXTRACTED_FORMATS, look_ahead, may_be_held
from searchlab.corpus.extraction.pool import ExtractionPool
from searchlab.corpus.file_ranges import split_lines, split_trec_documents
from searchlab.corpus.formats.bibliography.bibtex import is_bibtex, read_bibtex_documents
from searchlab.corpus.formats.bibliography.embase_rows import is_embase_rows, read_embase_rows
from searchlab.corpus.formats.bibliography.endnote_xml import is_endnote, read_endnote_documents
from searchlab.corpus.formats.bibliography.nbib import is_nbib, read_nbib_documents
from searchlab.corpus.formats.bibliography.pubmed import is_pubmed, read_pubmed_documents
from searchlab.corpus.formats.bibliography.ris import is_ris, read_ris_documents
from searchlab.corpus.formats.bibliography.web_of_science import is_web_of_science, read_web_of_science_documents
from searchlab.corpus.formats.delimited import (
    explain_table,
    is_csv_table,
    is_tsv_table,
    read_table_documents,
    split_table,
)
from searchlab.corpus.formats.html import is_html, read_html_document
from searchlab.corpus.formats.json_array import is_json_array, read_json_documents
from searchlab.corpus.formats.jsonl import is_jsonl, read_jsonl_documents
from searchlab.corpus.formats.markdown import is_markdown, read_markdown_document
from searchlab.corpus.formats.ohsumed import is_ohsumed, read_ohsumed_by_sequence, read_ohsumed_documents
from searchlab.corpus.formats.plain_text import is_text, read_text_document
from searchlab.corpus.formats.smart import is_smart, read_smart_documents
from searchlab.corpus.formats.trec_sgml import is_trec_documents, read_trec_documents
from searchlab.corpus.ir_datasets import Dataset, find_dataset, is_dataset, read_dataset_documents
from searchlab.corpus.parsing.identifiers import path_docno
from searchlab.corpus.reading_context import MAX_RECORD_MB, ReadingContext
from searchlab.corpus.reading_notes import FORMAT, ReadingNotes, SkippedFile
from searchlab.corpus.source_files import STANDARD_INPUT, SourceFile, open_source_file
from searchlab.corpus.sources import Source, list_source
from searchlab.errors import EmptySource, SourceError, name_some
from searchlab.extensions import origin_of
from searchlab.records import Document

# The order matters, because the first format that recognises a file is used: binary documents are what their content
# says, OHSUMED looks like SMART, pages of any content are recognised by their suffix, and anything may be plain text,
# so these come last.
DOCUMENT_FORMATS: dict[str, Format[Document]] = {
    **EXTRACTED_FORMATS,
    "json": Format("JSON: an array of objects, CSL-JSON", is_json_array, read_json_documents),
    "jsonl": Format("JSON, one object a line", is_jsonl, read_jsonl_documents, split=split_lines),
    "trec": Format("TREC SGML, <DOC> … </DOC>", is_trec_documents, read_trec_documents, split=split_trec_documents),
    "ohsumed": Format("OHSUMED: .I .U .S .M .T .P .W .A; .U is the docno", is_ohsumed, read_ohsumed_documents),
    "ohsumed-i": Format("OHSUMED, but .I is the docno", recognises_never, read_ohsumed_by_sequence),
    "smart": Format("SMART, as Cranfield and CISI: .I .T .A .W", is_smart, read_smart_documents),
    "nbib": Format("MEDLINE as PubMed exports it: PMID- TI AB", is_nbib, read_nbib_documents),
    "ris": Format("RIS, TY … ER", is_ris, read_ris_documents),
    "wos": Format("Web of Science: FN VR PT … ER EF", is_web_of_science, read_web_of_science_documents),
    "endnote": Format("EndNote XML, <records> <record> … </record>", is_endnote, read_endnote_documents),
    "embase": Format("Embase with one field a row, suffix .csv", is_embase_rows, read_embase_rows),
    "bibtex": Format("BibTeX, @article{key, …}", is_bibtex, read_bibtex_documents),
    "csv": Format(
        "a table with a header line, suffix .csv", is_csv_table, read_table_documents, explain_table, split=split_table
    ),
    "tsv": Format("a table with a header line, suffix .tsv", is_tsv_table, read_table_documents, split=split_table),
    "html": Format("HTML, one document a file", is_html, read_html_document, one_document=True),
    "pubmed": Format("PubMed XML, <PubmedArticle> … </PubmedArticle>", is_pubmed, read_pubmed_documents),
    "markdown": Format("Markdown, one document a file", is_markdown, read_markdown_document, one_document=True),
    "text": Format("plain text, one document a file", is_text, read_text_document, one_document=True),
}
# The kind of thing in the registry of extensions.
DOCUMENT_FORMAT = "document format"
# Standard input has no name to detect the format by, and a plain text in it would have no docno.
STANDARD_INPUT_FORMAT = "jsonl"


def read_documents(
    sources: str | Path | Iterable[str | Path],
    *,
    format: str | None = None,
    notes: ReadingNotes | None = None,
    strict: bool = True,
    max_record_mb: float = MAX_RECORD_MB,
    fields: Mapping[str, str] | None = None,
    jobs: int | None = None,
) -> Iterator[Document]:
    """Stream the documents of one or several files and folders.

    `-` is standard input (JSON lines unless `format` is given), and `ir_datasets:…` a dataset of that package. `format`
    is a key of DOCUMENT_FORMATS; by default the content of each file decides. In a folder, a file of no known format is
    skipped and noted in `notes`; named directly, it is an error. A malformed record is an error too, unless `strict` is
    false: then it is noted and skipped. So is a record of more than `max_record_mb` megabytes (2^20 characters).
    `fields` says which column of a table is the docno, the title, the body or another field: {"title": "Heading"}.
    Archives are read as folders. `jobs` is the number of processes that extract binary documents, by default that of
    the cores.
    """
    reading = ReadingContext(
        ReadingNotes() if notes is None else notes, strict, max_record_mb, fields or {}, ExtractionPool(jobs)
    )
    chosen = named_format(format, DOCUMENT_FORMATS)
    names = [sources] if isinstance(sources, str | Path) else sources
    listed = [find_dataset(name) if is_dataset(name) else list_source(name, reading.notes) for name in names]
    if strict and (unreadable := [skipped for skipped in reading.notes.skipped if skipped.is_unreadable]):
        raise SourceError(unreadable[0].path, unreadable[0].reason)
    files = [file for source in listed if isinstance(source, Source) for file in source.files]
    reading.notes.bytes_total += sum(file.size for file in files)
    return _read_sources(listed, chosen, reading)


def _read_sources(
    sources: list[Source | Dataset], chosen: Format[Document] | None, reading: ReadingContext
) -> Iterator[Document]:
    notes = reading.notes
    files = chain.from_iterable(source.files for source in sources if isinstance(source, Source))
    with closing(reading.extraction):
        # Documents are extracted ahead across sources, of which each may be a single file.
        ahead = _look_ahead(files, chosen, reading)
        for source in sources:
            n_documents, n_skipped, n_bad = notes.n_documents, len(notes.skipped), notes.n_bad
            if isinstance(source, Dataset):
                yield from _count_documents(read_dataset_documents(source, reading), notes)
            else:
                for file in islice(ahead, len(source.files)):
                    yield from _read_file(file, source.mixed, chosen, reading)
            if notes.n_documents == n_documents:
                raise no_documents(source.name, notes.skipped[n_skipped:], notes, n_bad)
    if missing := missing_columns(reading.fields, notes):
        raise SourceError("fields", f"no table has the column {name_some(missing)}")


def read_files(
    files: Sequence[tuple[SourceFile, bool]], chosen: Format[Document] | None, reading: ReadingContext
) -> Iterator[tuple[int, Document]]:
    """The documents of files, each after the number of its file; `True` marks files that may be skipped."""
    with closing(reading.extraction):
        ahead = _look_ahead((file for file, _ in files), chosen, reading)
        for number, (file, (_, may_skip)) in enumerate(zip(ahead, files, strict=True)):
            for document in _read_file(file, may_skip, chosen, reading):
                yield number, document


def missing_columns(reading_fields: Mapping[str, str], notes: ReadingNotes) -> list[str]:
    """The columns that a user has named and that no table has."""
    return [column for name, column in reading_fields.items() if name not in notes.mapped]


def no_documents(source: str, skipped: Sequence[SkippedFile], notes: ReadingNotes, n_bad_before: int) -> SourceError:
    """The error for a source without documents, of which `skipped` were skipped."""
    return SourceError(source, "holds no documents" + _skipped_reason(skipped) + _bad_reason(notes, n_bad_before))


def _look_ahead(
    files: Iterable[SourceFile], chosen: Format[Document] | None, reading: ReadingContext
) -> Iterator[SourceFile]:
    return look_ahead(files, reading) if chosen is None else iter(files)


def _read_file(
    file: SourceFile, may_skip: bool, chosen: Format[Document] | None, reading: ReadingContext
) -> Iterator[Document]:
    """The documents of a file; one of a folder that cannot be read is noted, and stops the reading only if strict."""
    notes = reading.notes
    bytes_before, n_before, n_skipped = notes.bytes_read, notes.n_documents, len(notes.skipped)
    assumed = DOCUMENT_FORMATS[STANDARD_INPUT_FORMAT] if file is STANDARD_INPUT else None
    reason, format, is_container = "no documents", chosen, False
    try:
        with open_source_file(file, reading) as opened:
            format = chosen or assumed or detect_format(opened, formats_to_detect())
            is_container = is_archive(opened) and chosen not in EXTRACTED_FORMATS.values()
            if is_container:
                for entry in _look_ahead(_hold_binary(read_entries(opened)), chosen, reading):
                    yield from _read_file(entry, True, chosen, reading)
            elif format is not None:
                if chosen is None:
                    name = next(name for name, known in DOCUMENT_FORMATS.items() if known is format)
                    notes.add(FORMAT, file.name, f"read as {name}")
                yield from _count_documents(format.read(opened), notes)
            elif not may_skip and not opened.is_blank:
                raise unrecognised_error(opened, DOCUMENT_FORMATS)
            else:
                reason = unrecognised_reason(opened, DOCUMENT_FORMATS)
    except EmptySource as error:
        if not may_skip:
            raise
        notes.skip_file(error.location, error.message)
    except SourceError as error:
        if not may_skip or reading.strict:
            raise
        n_read = notes.n_documents - n_before
        read = f"; only {n_read:,} of its documents could be read" if n_read else ""
        docno = path_docno(file.relative) if format is not None and format.one_document else None
        notes.add_unreadable(error.location, error.message + read, docno)
    else:
        if notes.n_documents > n_before:
            notes.n_files += not is_container
        elif may_skip and len(notes.skipped) == n_skipped and file.range is None:
            notes.skip_file(file.name, reason)
    if file.unpacking is None and file is not STANDARD_INPUT:
        notes.bytes_read = bytes_before + file.size


def _hold_binary(entries: Iterable[SourceFile]) -> Iterator[SourceFile]:
    """The entries of an archive, with the content of those that are to be extracted ahead."""
    for entry in entries:
        if entry.open_entry is None or not may_be_held(entry):
            yield entry
            continue
        try:
            with entry.open_entry() as stream:
                yield replace(entry, content=stream.read())
        except SourceError as error:
            yield replace(entry, open_entry=partial(_fail, error))


def _fail(error: SourceError) -> NoReturn:
    raise error


def formats_to_detect() -> dict[str, Format[Document]]:
    """Those of extensions first: they were loaded to be used, and anything may be plain text."""
    own = {name: format for name, format in DOCUMENT_FORMATS.items() if origin_of(DOCUMENT_FORMAT, name) is not None}
    return own | DOCUMENT_FORMATS


def _count_documents(documents: Iterator[Document], notes: ReadingNotes) -> Iterator[Document]:
    for document in documents:
        notes.n_documents += 1
        yield document


def _skipped_reason(skipped: Sequence[SkippedFile]) -> str:
    if not skipped:
        return ""
    first = skipped[0]
    return f"; {len(skipped)} of its files skipped, first {first.path} ({first.reason})"


def _bad_reason(notes: ReadingNotes, n_before: int) -> str:
    n_bad = notes.n_bad - n_before
    if not n_bad:
        return ""
    first = f", first {notes.bad_records[n_before]}" if n_before < len(notes.bad_records) else ""
    return f"; {n_bad} bad record{'s' * (n_bad > 1)}{first}"
