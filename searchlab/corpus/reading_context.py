"""What becomes of a malformed record?

Strict reading ends at the first one. Otherwise it is noted, and the reader goes on with the next record:
a reader is a generator, which could not go on if it raised by itself, so it hands the error over to here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from searchlab.corpus.reading_notes import ReadingNotes
from searchlab.errors import RecordError

Piece = TypeVar("Piece")
Record = TypeVar("Record")


@dataclass(frozen=True, slots=True)
class ReadingContext:
    """How the caller wants to read: where things are noted, and whether a bad record is the end."""

    notes: ReadingNotes
    strict: bool = True

    def reject(self, error: RecordError) -> None:
        """Raise `error` if the reading is strict; note it if not, and the reader goes on."""
        if self.strict:
            raise error
        self.notes.add_bad_record(error)

    def parse_each(self, build: Callable[[Piece], Record], pieces: Iterable[Piece]) -> Iterator[Record]:
        """What `build` makes of the pieces; one for which it raises a RecordError is a bad record."""
        for piece in pieces:
            try:
                record = build(piece)
            except RecordError as error:
                self.reject(error)
            else:
                yield record
