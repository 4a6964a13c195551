"""The report of `searchlab index`: a CSV file of everything that is not in the index, and of all guesses."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from searchlab.atomic_file import open_atomic
from searchlab.csv_text import to_csv

if TYPE_CHECKING:
    from searchlab.corpus import ReadingNotes
    from searchlab.corpus.reading_notes import ReadingEvent

COLUMNS = ("kind", "location", "message")


class _CsvListener:
    """Writes each event as a row when it happens; names and texts cannot become formulas of a spreadsheet."""

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self.clear()

    def add(self, event: ReadingEvent) -> None:
        self._file.write(to_csv([(event.kind, event.location, event.message)]))

    def clear(self) -> None:
        self._file.seek(0)
        self._file.truncate()
        self._file.write(to_csv([COLUMNS]))


@contextmanager
def reading_report(path: str | None, notes: ReadingNotes) -> Iterator[None]:
    """Write the events of a reading to a file, if one is named."""
    if path is None:
        yield
        return
    with open_atomic(path) as file:
        notes.listener = _CsvListener(file)
        yield
