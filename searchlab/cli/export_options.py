"""The option --export: results as a file of reference managers or spreadsheets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from searchlab.cli.messages import note
from searchlab.cli.output import require_writable_file
from searchlab.evaluation.number_text import format_count

if TYPE_CHECKING:
    from searchlab.retrieval.results import Hits

ExportOption = Annotated[
    str | None,
    typer.Option("--export", metavar="FILE", help="Also write the results to a file: .ris, .bib, .csv, .jsonl or .run"),
]


def require_exportable(path: str | None) -> None:
    """Refuse a file of no known format, or that cannot be written, before the search."""
    if path is not None:
        from searchlab.corpus.export.export_formats import export_format

        export_format(path)
        require_writable_file(path)


def export_hits(hits: Hits, path: str | None) -> None:
    """Write the hits to a file, if one is named, and say so."""
    if path is None:
        return
    hits.export(path)
    more = hits.n_matches - len(hits)
    rest = f"; {more:,} more match, which a larger -k exports" if more else ""
    note(f"{format_count(len(hits), 'record')} exported to {path}{rest}")
