"""`searchlab fuse`: fuse several runs into one."""

from __future__ import annotations

from typing import Annotated

import typer

import searchlab
from searchlab.cli.app import app
from searchlab.cli.messages import note, warn_of_encodings
from searchlab.cli.options import OutputOption, TagOption
from searchlab.cli.output import destination, open_output
from searchlab.errors import SettingError, unknown_name
from searchlab.evaluation.number_text import format_count


@app.command("fuse")
def fuse_command(
    runs: Annotated[list[str], typer.Argument(metavar="RUN", help="TREC runs; - is standard input")],
    method: Annotated[
        str,
        typer.Option(
            "--method",
            metavar="rrf|combsum|combmnz|borda",
            help="Reciprocal ranks (rrf), normalised scores (combsum, combmnz) or Borda count",
        ),
    ] = "rrf",
    k: Annotated[int, typer.Option("-k", metavar="N", help="Number of results for each topic")] = 1000,
    weights: Annotated[
        str | None,
        typer.Option("--weights", metavar="NUMBERS", help="A weight for each run, such as .7,.3 [default: all 1]"),
    ] = None,
    output: OutputOption = "-",
    tag: TagOption = None,
) -> None:
    """Fuse several runs into one."""
    from searchlab.retrieval.fusion import METHODS, check_run_weights

    if method not in METHODS:
        raise unknown_name("method", method, METHODS)
    if len(runs) < 2:
        raise SettingError("found 1 run, expected at least two to fuse")
    numbers = None if weights is None else check_run_weights(_read_weights(weights), len(runs))
    notes = searchlab.ReadingNotes()
    fused = searchlab.fuse([searchlab.read_run(run, notes=notes) for run in runs], method, k=k, weights=numbers)
    warn_of_encodings(notes)
    with open_output(output) as file:
        searchlab.write_run(file, fused, tag or method)
    results = format_count(sum(len(ranking.docnos) for ranking in fused), "result")
    topics = format_count(len(fused), "topic")
    note(f"{format_count(len(runs), 'run')} fused by {method}: {topics}, {results}{destination(output)}")


def _read_weights(text: str) -> list[float]:
    try:
        return [float(weight) for weight in text.split(",")]
    except ValueError:
        raise SettingError(f"--weights is {text!r}, expected numbers with commas between them, such as .7,.3") from None
