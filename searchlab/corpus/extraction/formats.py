"""The formats of binary documents: readers that have the files extracted and make documents of what is sent back.

Text, title and fields of a document come from a worker process (see `pool`). The docno is the path, as for plain text.
Pages are separated by a form feed in the body, so that a passage has a page number.
"""

from __future__ import annotations

import io
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import partial

from searchlab.corpus.detection import Format
from searchlab.corpus.extraction.extracted import DOCUMENT, FAILED, NO_TEXT, ROWS, SHEET, TOO_LONG, UNREAD, Message
from searchlab.corpus.extraction.limits import MAX_HELD_MB, MEGABYTE
from searchlab.corpus.extraction.pool import LOOK_AHEAD, Payload
from searchlab.corpus.extraction.recognition import KINDS, recognise
from searchlab.corpus.parsing.identifiers import path_docno
from searchlab.corpus.parsing.table_documents import TableDocuments
from searchlab.corpus.reading_context import ReadingContext
from searchlab.corpus.source_files import OpenedFile, SourceFile
from searchlab.errors import EmptySource, RecordError, SourceError
from searchlab.records import Document

# Workbooks may have any number of rows, and are extracted only when they are read.
STREAMED = frozenset({"xlsx"})
# A message may have attachments beside its text.
MAX_MESSAGE_BYTES_PER_CHARACTER = 4
MBOX_START = re.compile(rb"From \S{1,300}[^\n]{0,200}[0-9]{4}[^\n]{0,20}\n")


def look_ahead(files: Iterable[SourceFile], reading: ReadingContext) -> Iterator[SourceFile]:
    """The files; those that seem to be binary documents are extracted before their turn comes."""
    waiting = deque[SourceFile]()
    held, problem = 0, None
    source = iter(files)
    try:
        while True:
            # An entry of an archive that is not held has to be read before the next one.
            while (
                problem is None
                and len(waiting) < LOOK_AHEAD
                and held < MAX_HELD_MB * MEGABYTE
                and not (waiting and _is_open(waiting[-1]))
            ):
                try:
                    file = next(source, None)
                except SourceError as error:
                    # The files before it are read first.
                    problem = error
                    break
                if file is None:
                    break
                held += len(file.content or b"")
                waiting.append(file)
                _prepare(file, reading)
            if not waiting and problem is not None:
                raise problem
            if not waiting:
                return
            current = waiting.popleft()
            held -= len(current.content or b"")
            yield current
            reading.extraction.forget(id(current))
    finally:
        for file in waiting:
            reading.extraction.forget(id(file))


def _is_open(file: SourceFile) -> bool:
    return file.open_entry is not None and file.content is None


def may_be_held(file: SourceFile) -> bool:
    """Whether an entry of an archive seems to be a binary document that fits into memory."""
    return file.suffix in KINDS and file.size <= MAX_HELD_MB * MEGABYTE


def _prepare(file: SourceFile, reading: ReadingContext) -> None:
    kind = KINDS.get(file.suffix)
    if kind is None or kind in STREAMED or _is_open(file) or file.path.name.lower().endswith(".gz"):
        return
    path = "" if file.content is not None else str(file.path.absolute())
    reading.extraction.prepare(id(file), Payload(kind, path, file.content, reading.max_record_length))


def _messages(kind: str, opened: OpenedFile) -> Iterator[Message]:
    """What is extracted from a file; parts that were not read are noted, and failures raised."""
    reading = opened.reading
    messages = reading.extraction.take_prepared(id(opened.file), kind)
    if messages is None:
        # Not the stream, which may be recoded: documents have encodings of their own.
        content = opened.file.content if opened.is_plain else opened.read_content(MAX_HELD_MB * MEGABYTE)
        path = str(opened.file.path.absolute()) if content is None else ""
        messages = reading.extraction.extract(Payload(kind, path, content, reading.max_record_length))
    for message in messages:
        if message[0] == FAILED:
            raise SourceError(opened.name, _reason(message[1], reading))
        if message[0] == NO_TEXT:
            raise EmptySource(opened.name, message[1])
        if message[0] == UNREAD:
            reading.notes.skip_file(f"{opened.name}#{message[1]}", message[2])
        else:
            yield message


def _reason(written: str, reading: ReadingContext) -> str:
    return reading.too_long("").message if written == TOO_LONG else written


def _read_document(kind: str, opened: OpenedFile) -> Iterator[Document]:
    """The document of the file."""
    for message in _messages(kind, opened):
        if message[0] == DOCUMENT:
            _, title, body, fields = message
            if not title and not body.strip():
                raise EmptySource(opened.name, "no text")
            yield Document(path_docno(opened.file.relative), title, body, fields, opened.name)


def read_workbook_documents(opened: OpenedFile) -> Iterator[Document]:
    """The documents of the tables in a workbook, one for each row below the first one of each sheet."""
    prefix = path_docno(opened.file.relative)
    sheet, table = "", None
    n_tables, problem = 0, ""
    is_header, n_rows = False, 0
    for message in _messages("xlsx", opened):
        if message[0] == SHEET:
            sheet, table, is_header, n_rows = message[1], None, True, 0
        elif message[0] == ROWS:
            for number, values in message[1]:
                location = f"{opened.name}#{sheet}:{number}"
                if is_header:
                    is_header = False
                    try:
                        name = prefix if not n_tables else f"{prefix}#{path_docno(sheet)}"
                        table = TableDocuments(opened.reading, values, location, name)
                        n_tables += 1
                    except SourceError as error:
                        problem = problem or error.message
                        opened.reading.notes.skip_file(f"{opened.name}#{sheet}", error.message)
                elif table is not None:
                    n_rows += 1
                    padded = values + [""] * (table.width - len(values))
                    make = partial(table.document, location=location, number=n_rows)
                    yield from opened.reading.parse_each(make, [padded])
    if not n_tables:
        raise SourceError(opened.name, problem or "a workbook without cells")


def read_mbox_documents(opened: OpenedFile) -> Iterator[Document]:
    """The documents of a file of messages, each of which begins with a line `From …`."""
    reading = opened.reading
    prefix = path_docno(opened.file.relative)
    payloads = (Payload("eml", "", content, reading.max_record_length) for content in _split_mbox(opened))
    for number, messages in enumerate(reading.extraction.extract_each(payloads), start=1):
        location = f"{opened.name}#{number}"
        for message in messages:
            if message[0] == FAILED:
                reading.reject(RecordError(location, _reason(message[1], reading)))
            elif message[0] == UNREAD:
                reading.notes.skip_file(f"{location}#{message[1]}", message[2])
            elif message[0] == DOCUMENT and not message[1] and not message[2]:
                reading.reject(RecordError(location, "expected a message, found one without subject and text"))
            elif message[0] == DOCUMENT:
                yield Document(f"{prefix}#{number}", message[1], message[2], message[3], location)


def _split_mbox(opened: OpenedFile) -> Iterator[bytes]:
    """The messages of the file; of one that is too long only the beginning, which is then too long too."""
    limit = MAX_MESSAGE_BYTES_PER_CHARACTER * opened.reading.max_record_length + 1
    lines: list[bytes] = []
    length, is_new_line, after_blank = 0, True, True
    while line := opened.stream.readline(io.DEFAULT_BUFFER_SIZE):
        if is_new_line and after_blank and MBOX_START.fullmatch(line):
            if lines:
                yield b"".join(lines)
            lines, length = [], 0
        elif length <= limit:
            lines.append(line[1:] if is_new_line and line.startswith(b">From ") else line)
            length += len(line)
        after_blank = is_new_line and not line.strip()
        is_new_line = line.endswith(b"\n")
    if lines:
        yield b"".join(lines)


def _is(kind: str) -> Callable[[OpenedFile], bool]:
    return lambda opened: recognise(opened) == kind


def _one_document(kind: str, description: str) -> Format[Document]:
    return Format(description, _is(kind), partial(_read_document, kind), one_document=True)


EXTRACTED_FORMATS: dict[str, Format[Document]] = {
    "pdf": _one_document("pdf", "PDF, one document a file"),
    "docx": _one_document("docx", "Word, one document a file"),
    "odt": _one_document("odt", "OpenDocument text or presentation, one document a file"),
    "rtf": _one_document("rtf", "RTF, one document a file"),
    "epub": _one_document("epub", "EPUB, one document a book"),
    "pptx": _one_document("pptx", "PowerPoint, one document a file"),
    "xlsx": Format("Excel, a document a row below the header of each sheet", _is("xlsx"), read_workbook_documents),
    "eml": _one_document("eml", "a mail message"),
    "mbox": Format("mail messages in a file, each after a line From …", _is("mbox"), read_mbox_documents),
}
