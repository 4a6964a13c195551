"""Documents of the rows of a table, whatever file the table is in."""

from __future__ import annotations

from collections.abc import Sequence

from searchlab.corpus.parsing.document_columns import DocumentColumns
from searchlab.corpus.reading_context import ReadingContext
from searchlab.corpus.reading_notes import COLUMNS, MADE_DOCNO
from searchlab.corpus.text_cleaning import excerpt
from searchlab.errors import RecordError, SourceError
from searchlab.records import Document


class TableDocuments:
    """Makes documents of rows; those without a docno get one of `prefix` and the number of the row.

    Raises SourceError if the header cannot be used.
    """

    def __init__(self, reading: ReadingContext, header: Sequence[str], location: str, prefix: str) -> None:
        self._columns = DocumentColumns.from_header(header, reading.fields)
        if self._columns.problem:
            raise SourceError(location, self._columns.problem)
        reading.notes.mapped.update(name for name in reading.fields if name in self._columns.names)
        if not self._columns.has_text:
            named = excerpt(", ".join(self._columns.names), 200)
            guess = f"no column is called title or text: all that are no numbers are the text (found {named})"
            reading.notes.add(COLUMNS, location, guess)
        self._notes = reading.notes
        self._prefix = prefix

    @property
    def width(self) -> int:
        """The number of columns."""
        return len(self._columns.names)

    def document(self, values: Sequence[str], location: str, number: int, separator: str = "") -> Document:
        """The document of the row with this number; `separator` says what separates its values."""
        if len(values) != self.width:
            separated = f" (separated by {separator})" if separator else ""
            raise RecordError(location, f"expected {self.width} columns, found {len(values)}{separated}")
        made = f"{self._prefix}#row-{number}"
        found = self._columns.document(values, location, made)
        if found.docno == made:
            self._notes.add(MADE_DOCNO, location, made)
        return found
