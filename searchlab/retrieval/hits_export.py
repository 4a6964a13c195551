"""Export of search results to files of reference managers and spreadsheets."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from searchlab.records import Document


@dataclass(frozen=True, slots=True)
class _Repeatable:
    """Scored documents that are read from the index each time they are iterated over."""

    read: Callable[[], Iterator[tuple[Document, float]]]

    def __iter__(self) -> Iterator[tuple[Document, float]]:
        return self.read()


class HitsExport:
    """Hits that can be written in the formats of `corpus/export/`."""

    @abstractmethod
    def scored_documents(self) -> Iterator[tuple[Document, float]]:
        """The documents with their scores, best first."""

    def export(self, path: str | Path) -> None:
        """Write the hits to a file, which appears when it is complete: .ris, .csv, .bib, .jsonl or .run."""
        from searchlab.atomic_file import open_atomic
        from searchlab.corpus.export.export_formats import export_format

        chosen = export_format(path)
        with open_atomic(path) as file:
            file.writelines(chosen.write(_Repeatable(self.scored_documents)))

    def exported(self, format: str) -> Iterator[str]:
        """The text of the hits in a format (ris, csv, bib, jsonl or run), piece by piece."""
        from searchlab.corpus.export.export_formats import EXPORT_FORMATS
        from searchlab.errors import unknown_name

        if format not in EXPORT_FORMATS:
            raise unknown_name("format of results", format, EXPORT_FORMATS)
        return EXPORT_FORMATS[format].write(_Repeatable(self.scored_documents))

    def to_ris(self) -> str:
        """The hits as RIS, for reference managers."""
        return "".join(self.exported("ris"))

    def to_bibtex(self) -> str:
        """The hits as BibTeX."""
        return "".join(self.exported("bib"))
