"""`searchlab query`: search an index for one query, or for the lines of a session."""

from __future__ import annotations

import json
import sys
from typing import Annotated

import typer

import searchlab
from searchlab.cli.app import app
from searchlab.cli.options import IndexOption, JsonOption, choose_index
from searchlab.cli.printing.explanation_printing import (
    contribution_records,
    note_scaling,
    print_contributions,
    print_terms,
    term_records,
)
from searchlab.cli.printing.hit_printing import hits_record, note_outcome, print_hit
from searchlab.cli.rerank_options import RerankOption, explain_hits, open_reranker, refuse_first_stage_options
from searchlab.cli.search_options import (
    ExpandOption,
    FilterOption,
    ScorerOption,
    SearchOptions,
    SetOption,
    StreamOption,
    SyntaxOption,
    WeightsOption,
)
from searchlab.errors import SettingError


@app.command("query")
def query_command(
    context: typer.Context,
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="QUERY", help="Words to search for [default: queries are read line by line]"),
    ] = None,
    index: IndexOption = None,
    k: Annotated[int, typer.Option("-k", metavar="N", help="Number of results")] = 10,
    scorer: ScorerOption = "bm25",
    settings: SetOption = None,
    weights: WeightsOption = None,
    stream: StreamOption = "both",
    filters: FilterOption = None,
    expand: ExpandOption = None,
    rerank: RerankOption = None,
    syntax: SyntaxOption = "full",
    explain: Annotated[
        bool, typer.Option("--explain", help="Show what each term, or feature of a model, adds to each score.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Search, and print the best documents.

    Prints rank, score, docno, title, and a snippet with the matched words marked. Without a query a session begins,
    which reads queries and commands such as :help, from the terminal or a pipe.
    """
    options = SearchOptions.read(scorer, settings, stream, filters, expand, syntax=syntax, weights=weights)
    if rerank is not None:
        refuse_first_stage_options(context)
    # Several words need no quotes; an empty query is a query, too.
    query = " ".join(words) if words else None
    if query is None:
        if explain or as_json:
            raise SettingError("--explain and --json need a query; a session has :explain")
        if rerank is not None:
            raise SettingError("--rerank needs a query; a session ranks by a scorer")
        _start_session(options, index, k)
    elif rerank is None:
        _query_by_scorer(options, query, index, k, explain=explain, as_json=as_json)
    else:
        _query_by_model(rerank, options, query, index, k, explain=explain, as_json=as_json)


def _start_session(options: SearchOptions, index: str | None, k: int) -> None:
    from searchlab.cli.session.session_loop import Session

    # At a terminal, loading the compiled kernels takes longer than they save.
    with searchlab.open(choose_index(index), compiled=not sys.stdin.isatty()) as engine:
        Session(engine, options.for_index(engine), k).run()


def _query_by_scorer(
    options: SearchOptions, query: str, index: str | None, k: int, *, explain: bool, as_json: bool
) -> None:
    """Print the hits of a scorer."""
    with searchlab.open(choose_index(index), compiled=False) as engine:
        pipeline = options.for_index(engine).pipeline(engine)
        hits = pipeline.search(query, k=k, syntax=options.syntax, filters=options.filters).with_expanded_query()
        explanations = pipeline.explain(hits, hits.docnos) if explain else [None] * len(hits)
        if as_json:
            records = [term_records(each) if each else None for each in explanations]
            _print_json(hits_record(hits, engine, options.scorer_name, records))
        else:
            for hit, explanation in zip(hits, explanations, strict=True):
                print_hit(hit)
                if explanation:
                    print_terms(explanation)
        note_outcome(hits, engine)
    if not hits:
        raise typer.Exit(1)


def _query_by_model(
    model: str, options: SearchOptions, query: str, index: str | None, k: int, *, explain: bool, as_json: bool
) -> None:
    """Print the hits of a scorer in the order of a model."""
    with searchlab.open(choose_index(index), compiled=False) as engine:
        reranker = open_reranker(model, engine)
        hits = reranker.pipeline().search(query, k=k, syntax=options.syntax, filters=options.filters)
        explanations = explain_hits(hits) if explain else [None] * len(hits)
        if as_json:
            records = [contribution_records(each) if each else None for each in explanations]
            _print_json(hits_record(hits, engine, reranker.first_stage.scorer, records) | {"model": model})
        else:
            for hit, explanation in zip(hits, explanations, strict=True):
                print_hit(hit)
                if explanation:
                    print_contributions(explanation, reranker.bundle)
            if explain and hits:
                note_scaling(reranker.bundle)
        note_outcome(hits, engine)
    if not hits:
        raise typer.Exit(1)


def _print_json(record: dict[str, object]) -> None:
    print(json.dumps(record, ensure_ascii=False, indent=2))
