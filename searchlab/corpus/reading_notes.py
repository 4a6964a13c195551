"""Reading notes: what readers skipped or repaired, and how far they have read.

Reading continues where possible (a picture among text files, a line in Latin-1, a bad record if the caller allows it),
but never silently: readers record it here, and the caller reports it to the user.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from searchlab.errors import RecordError

# A file of the wrong kind can consist of bad records only.
MAX_KEPT_BAD_RECORDS = 20


@dataclass(frozen=True, slots=True)
class SkippedFile:
    """A file of a folder that was skipped, and why."""

    path: str
    reason: str


@dataclass(slots=True)
class ReadingNotes:
    """A mutable record that is passed to readers and can be read while they work.

    `bytes_total` is the size on disk of all files, known as soon as `read_documents` has returned; `bytes_read` grows
    towards it as documents are read (a skipped file counts as read). `latin1_lines` counts for each file the lines that
    were not valid UTF-8. `n_bad` counts the malformed records that were skipped; `bad_records` has the first of them.
    `regrouped` has the names of feature files whose queries were interleaved.
    """

    n_files: int = 0
    n_documents: int = 0
    bytes_read: int = 0
    bytes_total: int = 0
    skipped: list[SkippedFile] = field(default_factory=list)
    latin1_lines: Counter[str] = field(default_factory=Counter)
    n_bad: int = 0
    bad_records: list[RecordError] = field(default_factory=list)
    regrouped: list[str] = field(default_factory=list)

    def add_bad_record(self, error: RecordError) -> None:
        """Count a malformed record, and keep its error if it is one of the first."""
        self.n_bad += 1
        if len(self.bad_records) < MAX_KEPT_BAD_RECORDS:
            # A copy, since the raised error refers to its frames and thereby to the record.
            self.bad_records.append(RecordError(error.location, error.message))

    def clear(self) -> None:
        """Reset everything, before the same sources are read again."""
        self.n_files = self.n_documents = self.bytes_read = self.bytes_total = self.n_bad = 0
        self.skipped.clear()
        self.latin1_lines.clear()
        self.bad_records.clear()
        self.regrouped.clear()
