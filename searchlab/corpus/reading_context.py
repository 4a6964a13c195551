"""Reading context: what a reader does about a malformed record.

Strict reading stops at the first one. Otherwise it is noted, and reading continues with the next record. A reader is a
generator, which could not continue after raising, so it passes the error to its context instead.
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
    """The notes of a reading, and whether a bad record stops it."""

    notes: ReadingNotes
    strict: bool = True

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
