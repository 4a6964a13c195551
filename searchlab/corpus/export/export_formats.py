"""The formats in which results can be taken away, by the suffix of their files."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from searchlab.corpus.export.bibtex_writer import write_bibtex
from searchlab.corpus.export.csv_writer import write_csv
from searchlab.corpus.export.ris_writer import write_ris
from searchlab.corpus.trec.runs import write_run
from searchlab.errors import SettingError
from searchlab.records import Document, Ranking

# Documents with their scores, best first; some formats iterate over them twice.
ScoredDocuments = Iterable[tuple[Document, float]]


@dataclass(frozen=True, slots=True)
class ExportFormat:
    """A format of results: its name for people, its type on the web, and the pieces of the text of documents."""

    label: str
    media_type: str
    write: Callable[[ScoredDocuments], Iterator[str]]


def _write_jsonl(documents: Iterable[Document]) -> Iterator[str]:
    for document in documents:
        record = {"docno": document.docno, "title": document.title, "body": document.body}
        others = {name: value for name, value in document.fields.items() if name not in record}
        yield json.dumps(record | others, ensure_ascii=False) + "\n"


def _without_scores(write: Callable[[Iterable[Document]], Iterator[str]]) -> Callable[[ScoredDocuments], Iterator[str]]:
    return lambda documents: write(document for document, _ in documents)


def _write_run(documents: ScoredDocuments) -> Iterator[str]:
    """The lines of a TREC run, of a topic with the qid 1."""
    found = [(document.docno, score) for document, score in documents]
    file = StringIO()
    write_run(file, [Ranking("1", [docno for docno, _ in found], [score for _, score in found])])
    yield file.getvalue()


EXPORT_FORMATS = {
    "ris": ExportFormat("RIS", "application/x-research-info-systems", _without_scores(write_ris)),
    "csv": ExportFormat("CSV", "text/csv", write_csv),
    "bib": ExportFormat("BibTeX", "application/x-bibtex", _without_scores(write_bibtex)),
    "jsonl": ExportFormat("JSON lines", "application/x-ndjson", _without_scores(_write_jsonl)),
    "run": ExportFormat("TREC run", "text/plain", _write_run),
}


def export_format(path: str | Path) -> ExportFormat:
    """The format of a file with this name."""
    suffix = Path(path).suffix.lower().removeprefix(".")
    if suffix not in EXPORT_FORMATS:
        known = ", ".join(f".{name}" for name in EXPORT_FORMATS)
        raise SettingError(f"cannot export to {str(path)!r}, expected a name that ends in {known}")
    return EXPORT_FORMATS[suffix]
