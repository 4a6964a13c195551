"""Reading notes: what readers skipped or repaired, and how far they have read.

Reading continues where possible (a picture among text files, a line that is not UTF-8, a bad record if the caller
allows it), but never silently: readers record it here, and the caller reports it to the user.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Protocol

from searchlab.errors import RecordError

# A file of the wrong kind can consist of bad records only.
MAX_KEPT_BAD_RECORDS = 20

# Kinds of events: what is not in the index, and what was guessed.
SKIPPED_FILE = "skipped file"
UNREADABLE_FILE = "unreadable file"
HIDDEN = "hidden"
BAD_RECORD = "bad record"
COPY = "copy"
DUPLICATE = "duplicate"
NEW_DOCNO = "new docno"
MADE_DOCNO = "made docno"
ENCODING = "encoding"
FORMAT = "format"
COLUMNS = "columns"


@dataclass(frozen=True, slots=True)
class SkippedFile:
    """A file of a folder that was skipped, and why; `is_unreadable` if it may hold documents, or one with `docno`."""

    path: str
    reason: str
    is_unreadable: bool = False
    docno: str | None = None


@dataclass(frozen=True, slots=True)
class ReadingEvent:
    """Something that is not in the index, or that was guessed: its kind, the place in a file, and what happened."""

    kind: str
    location: str
    message: str


class ReadingListener(Protocol):
    """Receives the events of a reading one by one, so that a list of any length needs no memory."""

    def add(self, event: ReadingEvent) -> None:
        """Receive an event."""

    def clear(self) -> None:
        """Forget all events, because the same sources are read again."""


class ReadingEvents(list[ReadingEvent]):
    """The events of a reading in a list."""

    def add(self, event: ReadingEvent) -> None:
        """Receive an event."""
        self.append(event)


@dataclass(slots=True)
class ReadingNotes:
    """A mutable record that is passed to readers and can be read while they work.

    `bytes_total` is the size on disk of all files, known as soon as `read_documents` has returned; `bytes_read` grows
    towards it as documents are read (a skipped file counts as read). `latin1_lines` counts for each file the lines that
    were not valid UTF-8, and `guessed_encodings` has the encoding of each file for which it was guessed. `n_bad` counts
    the malformed records that were skipped; `bad_records` has the first of them. `regrouped` has the names of feature
    files whose queries were interleaved. `n_events` counts the events of each kind, and `listener` receives them;
    `mapped` has the fields whose column was found, `renamed` the first documents whose docno another document had,
    and `left_out` the first copies and records of a publication that an earlier record has; `max_kept` says how many.
    `unread_docnos` has the docnos of unreadable files, and `n_unknown` counts the unreadable files whose docnos are not
    known.
    """

    n_files: int = 0
    n_documents: int = 0
    bytes_read: int = 0
    bytes_total: int = 0
    skipped: list[SkippedFile] = field(default_factory=list)
    latin1_lines: Counter[str] = field(default_factory=Counter)
    guessed_encodings: dict[str, str] = field(default_factory=dict)
    n_bad: int = 0
    bad_records: list[RecordError] = field(default_factory=list)
    regrouped: list[str] = field(default_factory=list)
    mapped: set[str] = field(default_factory=set)
    renamed: list[ReadingEvent] = field(default_factory=list)
    left_out: list[ReadingEvent] = field(default_factory=list)
    max_kept: int = MAX_KEPT_BAD_RECORDS
    n_events: Counter[str] = field(default_factory=Counter)
    unread_docnos: set[str] = field(default_factory=set)
    n_unknown: int = 0
    listener: ReadingListener | None = None

    def add(self, kind: str, location: str, message: str) -> None:
        """Count an event, and pass it to the listener."""
        self.n_events[kind] += 1
        kept = {NEW_DOCNO: self.renamed, COPY: self.left_out, DUPLICATE: self.left_out}.get(kind)
        is_kept = kept is not None and len(kept) < self.max_kept
        if self.listener is None and not is_kept:
            return
        event = ReadingEvent(kind, location, message)
        if self.listener is not None:
            self.listener.add(event)
        if kept is not None and is_kept:
            kept.append(event)

    def skip_file(self, path: str, reason: str) -> None:
        """Note a file that is not read."""
        self.skipped.append(SkippedFile(path, reason))
        self.add(SKIPPED_FILE, path, reason)

    def add_unreadable(self, path: str, reason: str, docno: str | None = None) -> None:
        """Note a file or folder that could not be read, or not to its end, and may thus hold more documents.

        `docno` is that of its only document, if it is known to have only one.
        """
        if docno is None:
            self.n_unknown += 1
        else:
            self.unread_docnos.add(docno)
        self.skipped.append(SkippedFile(path, reason, is_unreadable=True, docno=docno))
        self.add(UNREADABLE_FILE, path, reason)

    def add_bad_record(self, error: RecordError) -> None:
        """Count a malformed record, and keep its error if it is one of the first."""
        self.n_bad += 1
        self.add(BAD_RECORD, error.location, error.message)
        if len(self.bad_records) < self.max_kept:
            # A copy, since the raised error refers to its frames and thereby to the record.
            self.bad_records.append(RecordError(error.location, error.message))

    def absorb(self, other: ReadingNotes) -> None:
        """Add the notes of a later part of the same reading; `bytes_total` and `listener` stay."""
        self.n_files += other.n_files
        self.n_documents += other.n_documents
        self.bytes_read += other.bytes_read
        self.skipped += other.skipped
        self.latin1_lines += other.latin1_lines
        self.guessed_encodings |= other.guessed_encodings
        self.n_bad += other.n_bad
        self.bad_records += other.bad_records[: max(0, self.max_kept - len(self.bad_records))]
        self.mapped |= other.mapped
        self.n_events += other.n_events
        self.unread_docnos |= other.unread_docnos
        self.n_unknown += other.n_unknown

    @property
    def is_complete(self) -> bool:
        """Whether the docnos of all documents are known: of each record, and of what is in unreadable files."""
        return not self.n_bad and not self.n_unknown

    def clear(self) -> None:
        """Reset everything, before the same sources are read again."""
        self.n_files = self.n_documents = self.bytes_read = self.bytes_total = self.n_bad = self.n_unknown = 0
        self.unread_docnos.clear()
        self.skipped.clear()
        self.latin1_lines.clear()
        self.guessed_encodings.clear()
        self.bad_records.clear()
        self.regrouped.clear()
        self.mapped.clear()
        self.renamed.clear()
        self.left_out.clear()
        self.n_events.clear()
        if self.listener is not None:
            self.listener.clear()
