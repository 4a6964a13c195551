"""Reading context: what a reader does about a malformed record.

Strict reading stops at the first one. Otherwise it is noted, and reading continues with the next record. A reader is a
generator, which could not continue after raising, so it passes the error to its context instead.

A record over the limit of its size is malformed too. Without a limit, a line without an end, or a small gzip file that
unpacks to gigabytes, would fill the memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from searchlab.corpus.extraction.pool import ExtractionPool
from searchlab.corpus.reading_notes import ReadingNotes
from searchlab.errors import RecordError, SettingError

# More than any document has: a book has about one megabyte.
MAX_RECORD_MB = 64
CHARACTERS_PER_MB = 2**20

Piece = TypeVar("Piece")
Record = TypeVar("Record")


@dataclass(frozen=True, slots=True)
class ReadingContext:
    """The notes of a reading, whether a bad record stops it, and the limit of a record in megabytes (characters).

    `fields` has the column of a table that is the docno, the title, the body or another field, by its name.
    `extraction` has the processes that extract binary documents.
    """

    notes: ReadingNotes
    strict: bool = True
    max_record_mb: float = MAX_RECORD_MB
    fields: Mapping[str, str] = field(default_factory=dict)
    extraction: ExtractionPool = field(default_factory=ExtractionPool)

    def __post_init__(self) -> None:
        if not 0 < self.max_record_mb <= 1e6:
            expected = "expected a number of megabytes above 0, at most a million"
            raise SettingError(f"max_record_mb is {self.max_record_mb:g}, {expected}")

    @property
    def max_record_length(self) -> int:
        """The number of characters that a record may have."""
        return max(1, int(self.max_record_mb * CHARACTERS_PER_MB))

    def too_long(self, location: str) -> RecordError:
        """The error for a record that is longer than the limit."""
        return RecordError(location, f"expected a record of at most {self.max_record_mb:g} MB, found a longer one")

    def reject(self, error: RecordError) -> None:
        """Raise `error` if reading is strict, otherwise note it."""
        if self.strict:
            raise error
        self.notes.add_bad_record(error)

    def parse_each(self, build: Callable[[Piece], Record], pieces: Iterable[Piece]) -> Iterator[Record]:
        """The results of `build` for the pieces; a piece for which it raises a RecordError is a bad record."""
        for piece in pieces:
            try:
                record = build(piece)
            except RecordError as error:
                self.reject(error)
            else:
                yield record
