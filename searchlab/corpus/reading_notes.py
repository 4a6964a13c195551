"""What was noticed while reading?

Reading goes on where it can (a picture among text files, a line in Latin-1, a bad record if the caller
says so), but never silently: the readers write it down here, and the caller tells the user.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from searchlab.errors import RecordError

# A file of the wrong kind may be nothing but bad records.
MAX_KEPT_BAD_RECORDS = 20


@dataclass(frozen=True, slots=True)
class SkippedFile:
    """A file of a folder that was passed over, and why."""

    path: str
    reason: str


@dataclass(slots=True)
class ReadingNotes:
    """A collector that is passed down while reading, and may be looked at meanwhile.

    `bytes_total` is the size on disk of all files, known as soon as `read_documents` has returned;
    `bytes_read` grows towards it while the documents are drawn (a skipped file counts as dealt with).
    `latin1_lines` counts, for each file, the lines that were not valid UTF-8. `n_bad` counts the malformed
    records that were passed over; `bad_records` holds the first of them. `regrouped` names the feature files whose
    queries were interleaved.
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
        """Count a malformed record, and keep its error if there is room."""
        self.n_bad += 1
        if len(self.bad_records) < MAX_KEPT_BAD_RECORDS:
            # A copy: the error that was raised holds on to its frames, and through them to the record.
            self.bad_records.append(RecordError(error.location, error.message))

    def clear(self) -> None:
        """Begin anew, for reading the same sources again."""
        self.n_files = self.n_documents = self.bytes_read = self.bytes_total = self.n_bad = 0
        self.skipped.clear()
        self.latin1_lines.clear()
        self.bad_records.clear()
        self.regrouped.clear()
