"""Parts of sources: files, or ranges of large files, that are read independently and have the documents of the whole.

A part is a few plain values, so that it can be sent to another process. Parts are in the order in which the documents
would be read by one process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from searchlab.corpus.detection import detect_format, named_format
from searchlab.corpus.documents import DOCUMENT_FORMATS, formats_to_detect, read_files
from searchlab.corpus.extraction.pool import ExtractionPool
from searchlab.corpus.file_ranges import (
    FileRange,
    SplitFile,
    count_lines,
    number_lines,
    split_lines,
    split_trec_documents,
)
from searchlab.corpus.ir_datasets import is_dataset
from searchlab.corpus.reading_context import ReadingContext
from searchlab.corpus.reading_notes import ENCODING, FORMAT, ReadingNotes
from searchlab.corpus.source_files import STANDARD_INPUT, SourceFile, open_source_file
from searchlab.corpus.sources import Source, list_source
from searchlab.errors import SettingError, SourceError
from searchlab.records import Document

# What `divide_texts` asks for: files of which most are smaller are opened faster by one process.
MAX_DETECTED_FILES = 2000
MIN_DETECTED_BYTES = 2**18
MIN_TEXT_SHARE = 0.9

# The arguments of `count_lines` for each range, and their numbers of lines.
CountAll = Callable[[Sequence[tuple[str, int, int]]], Sequence[int]]


@dataclass(frozen=True)
class ReadingSettings:
    """How documents are read: the arguments of `read_documents` that each part needs."""

    format: str | None = None
    strict: bool = True
    max_record_mb: float = 64
    fields: Mapping[str, str] | None = None

    def context(self, notes: ReadingNotes) -> ReadingContext:
        """A context to read with; binary documents are extracted by one process."""
        return ReadingContext(notes, self.strict, self.max_record_mb, self.fields or {}, ExtractionPool(1))


@dataclass(frozen=True)
class PartFile:
    """A file of a part, the number of its source, and whether it may be skipped if it is of no known format."""

    file: SourceFile
    source: int
    may_skip: bool


@dataclass(frozen=True)
class DocumentPart:
    """Files that are read one after the other; or one range of a file, whose `format` is then known."""

    files: tuple[PartFile, ...]
    format: str | None = None

    @property
    def n_bytes(self) -> int:
        """The size on disk."""
        return sum(each.file.size for each in self.files)

    def read(self, settings: ReadingSettings, notes: ReadingNotes) -> Iterator[tuple[PartFile, Document]]:
        """The documents of the part, each with its file."""
        chosen = named_format(self.format or settings.format, DOCUMENT_FORMATS)
        files = [(each.file, each.may_skip) for each in self.files]
        for number, document in read_files(files, chosen, settings.context(notes)):
            yield self.files[number], document


def list_sources(names: Sequence[str | Path], settings: ReadingSettings, notes: ReadingNotes) -> list[Source]:
    """The files of sources that other processes can read too."""
    for name in names:
        if str(name) == STANDARD_INPUT.name:
            raise SettingError("standard input cannot be read on a cluster, expected files or folders")
        if is_dataset(name):
            raise SettingError(f"{name} cannot be read on a cluster, expected files or folders")
    named_format(settings.format, DOCUMENT_FORMATS)
    sources = [list_source(name, notes) for name in names]
    if settings.strict and (unreadable := [skipped for skipped in notes.skipped if skipped.is_unreadable]):
        raise SourceError(unreadable[0].path, unreadable[0].reason)
    notes.bytes_total += sum(file.size for source in sources for file in source.files)
    return sources


def _count_here(ranges: Sequence[tuple[str, int, int]]) -> list[int]:
    return [count_lines(*each) for each in ranges]


def divide_sources(
    sources: Sequence[Source],
    settings: ReadingSettings,
    notes: ReadingNotes,
    part_bytes: int,
    count_all: CountAll | None = _count_here,
) -> list[DocumentPart]:
    """Parts of about `part_bytes` each: small files together, ranges of large ones.

    Without `count_all` the lines of ranges are still to be numbered, except those of tables.
    """
    parts: list[DocumentPart] = []
    waiting: list[PartFile] = []

    def close() -> None:
        if waiting:
            parts.append(DocumentPart(tuple(waiting)))
            waiting.clear()

    for number, source in enumerate(sources):
        for file in source.files:
            here = replace(file, path=file.path.absolute())
            name, ranges = _divide_file(here, settings, notes, part_bytes, count_all)
            if len(ranges) > 1:
                close()
                pieces = [replace(here, size=each.n_bytes, range=each) for each in ranges]
                parts += [DocumentPart((PartFile(piece, number, source.mixed),), name) for piece in pieces]
                continue
            if waiting and sum(each.file.size for each in waiting) + file.size > part_bytes:
                close()
            waiting.append(PartFile(here, number, source.mixed))
    close()
    return parts


def divide_texts(
    sources: Sequence[Source], settings: ReadingSettings, notes: ReadingNotes, part_bytes: int
) -> Iterator[DocumentPart] | None:
    """Parts whose lines are numbered when they are asked for; None if reading them one by one is not worth it.

    It is where nearly all bytes are in files that are divided without being read, JSON lines and TREC documents; two
    parts are read before other processes could start.
    """
    files = [file for source in sources for file in source.files]
    n_bytes = sum(file.size for file in files)
    if n_bytes <= 2 * part_bytes or len(files) > MAX_DETECTED_FILES:
        return None
    large = [file for file in files if file.size >= MIN_DETECTED_BYTES]
    splits = (split_lines, split_trec_documents)
    n_text_bytes = sum(file.size for file in large if _find_format(file, settings)[1] in splits)
    if n_text_bytes < MIN_TEXT_SHARE * n_bytes:
        return None
    return _number_each(divide_sources(sources, settings, notes, part_bytes, count_all=None))


def _number_each(parts: Sequence[DocumentPart]) -> Iterator[DocumentPart]:
    """The parts, with the number of lines before each range."""
    path, n_lines = None, 0
    for part in parts:
        file = part.files[0].file
        if file.range is None or file.range.header_end:
            yield part
            continue
        n_lines = n_lines if file.path == path else 0
        path = file.path
        numbered = replace(file, range=replace(file.range, n_lines_skipped=n_lines))
        yield replace(part, files=(replace(part.files[0], file=numbered),))
        try:
            n_lines += count_lines(path, file.range.start, file.range.end)
        except OSError as error:
            raise SourceError(file.name, error.strerror or str(error)) from error


def _divide_file(
    file: SourceFile, settings: ReadingSettings, notes: ReadingNotes, part_bytes: int, count_all: CountAll | None
) -> tuple[str | None, list[FileRange]]:
    """The format of a large file and its ranges; none if it is read as a whole."""
    if file.size <= part_bytes:
        return None, []
    name, split = _find_format(file, settings)
    if split is None:
        return None, []
    try:
        ranges = split(file.path, part_bytes, settings.max_record_mb)
    except OSError as error:
        raise SourceError(file.name, error.strerror or str(error)) from error
    if count_all is not None and len(ranges) > 1 and not ranges[-1].header_end:
        counts = count_all([(str(file.path), each.start, each.end) for each in ranges])
        ranges = number_lines(ranges, counts)
    if len(ranges) > 1 and settings.format is None:
        notes.add(FORMAT, file.name, f"read as {name}")
    return name, ranges


def _find_format(file: SourceFile, settings: ReadingSettings) -> tuple[str | None, SplitFile | None]:
    """The format of a file whose bytes are its text, and how it is divided; None and None for all others."""
    scratch = ReadingNotes()
    try:
        with open_source_file(file, settings.context(scratch)) as opened:
            chosen = named_format(settings.format, DOCUMENT_FORMATS) or detect_format(opened, formats_to_detect())
            if chosen is None or not opened.is_plain or scratch.n_events[ENCODING]:
                return None, None
    except SourceError:
        return None, None  # the reader reports why
    return next(name for name, known in DOCUMENT_FORMATS.items() if known is chosen), chosen.split
