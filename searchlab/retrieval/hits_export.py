"""Export of search results to files of reference managers and spreadsheets, and as the columns of a table."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from searchlab.errors import SettingError, unknown_name
from searchlab.records import Document

if TYPE_CHECKING:
    from searchlab.retrieval.results import Hit


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

        if format not in EXPORT_FORMATS:
            raise unknown_name("format of results", format, EXPORT_FORMATS)
        return EXPORT_FORMATS[format].write(_Repeatable(self.scored_documents))

    def to_ris(self) -> str:
        """The hits as RIS, for reference managers."""
        return "".join(self.exported("ris"))

    def to_bibtex(self) -> str:
        """The hits as BibTeX."""
        return "".join(self.exported("bib"))


def columns_of_hits(hits: Sequence[Hit], fields: str | Sequence[str], known: Collection[str]) -> dict[str, Any]:
    """The columns of hits: rank, docno, score, title, and one or several of the fields that are known."""
    from searchlab.dataframes import objects

    names = [fields] if isinstance(fields, str) else fields
    if not isinstance(names, Iterable):
        raise SettingError(f"fields is {fields!r}, expected the name of a field, or a list of names")
    listed = list(hits)
    columns: dict[str, Any] = {
        "rank": np.arange(1, len(listed) + 1),
        "docno": objects([hit.docno for hit in listed]),
        "score": np.array([hit.score for hit in listed], np.float64),
        "title": objects([hit.title for hit in listed]),
    }
    wanted = [name for name in names if name not in columns]
    for name in wanted:
        if name not in known:
            raise unknown_name("field", name, known)
    return columns | {name: [hit.fields.get(name) for hit in listed] for name in wanted}
