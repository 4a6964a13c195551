"""`searchlab rerank`: rank the rows of a feature file by a model."""

from __future__ import annotations

from typing import Annotated

import typer

import searchlab
from searchlab.cli.app import app
from searchlab.cli.messages import note, warn_of_encodings
from searchlab.cli.options import ModelArgument, OutputOption, TagOption
from searchlab.cli.output import destination, open_output
from searchlab.evaluation.number_text import format_count


@app.command("rerank")
def rerank_command(
    model: ModelArgument,
    features: Annotated[str, typer.Argument(metavar="FEATURES", help="A LETOR file; - is standard input")],
    output: OutputOption = "-",
    tag: TagOption = None,
) -> None:
    """Rank the rows of a feature file by a model.

    Writes a TREC run. A row without a docno is named by query and row, such as 10-1.
    """
    from searchlab.rankers.builtin import as_bundle
    from searchlab.rankers.table_ranking import name_rows, rank_table

    bundle = as_bundle(model)
    notes = searchlab.ReadingNotes()
    table = searchlab.read_letor(features, notes=notes)
    warn_of_encodings(notes)
    rankings = rank_table(bundle, table)
    generated = [name for name, docno in zip(name_rows(table), table.docnos.tolist(), strict=True) if not docno]
    if generated:
        note(f"{format_count(len(generated), 'row')} without a docno, named by query and row, such as {generated[0]}")
    with open_output(output) as file:
        searchlab.write_run(file, rankings, tag or bundle.ranker)
    queries = format_count(table.n_queries, "query", "queries")
    note(f"{queries}, {format_count(table.n_rows, 'result')}{destination(output)}")
