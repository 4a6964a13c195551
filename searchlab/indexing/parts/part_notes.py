"""Notes of parts: what was noted while parts were read, added up as if one process had read the whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from searchlab.corpus.document_parts import DocumentPart
from searchlab.corpus.documents import no_documents
from searchlab.corpus.reading_notes import COLUMNS, ENCODING, ReadingEvent, ReadingNotes
from searchlab.corpus.sources import Source


class PartNotes:
    """Adds the notes of parts, in their order, to those of the whole."""

    def __init__(self, notes: ReadingNotes) -> None:
        self._notes = notes
        self._n_documents: Counter[int] = Counter()
        self._divided: set[Path] = set()
        self._once: set[tuple[str, str, str]] = set()

    def add(
        self, part: DocumentPart, notes: ReadingNotes, events: Sequence[ReadingEvent], n_documents: Mapping[int, int]
    ) -> None:
        """Add the notes and events of a part; `n_documents` counts the documents of each source, by its number."""
        self._notes.absorb(notes)
        self._n_documents.update(n_documents)
        if part.format is not None and notes.n_files:
            # A file is counted once, not each of its ranges.
            path = part.files[0].file.path
            self._notes.n_files -= path in self._divided
            self._divided.add(path)
        for event in events:
            if event.kind in (ENCODING, COLUMNS):
                key = (event.kind, event.location, event.message)
                if key in self._once:
                    continue  # each range of a file says so
                self._once.add(key)
            if self._notes.listener is not None:
                self._notes.listener.add(event)

    def require_documents(self, sources: Sequence[Source]) -> None:
        """Raise SourceError if a source has no documents, after all parts were added."""
        for number, source in enumerate(sources):
            if not self._n_documents[number]:
                names = {file.name for file in source.files}
                skipped = [each for each in self._notes.skipped if each.path in names]
                raise no_documents(source.name, skipped, self._notes, 0)
