"""`searchlab query`: search an index for one query, or for the lines of a session."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

import searchlab
from searchlab.cli.app import app
from searchlab.cli.options import IndexOption, JsonOption, choose_index
from searchlab.cli.printing.explanation_printing import note_scaling, print_explanation
from searchlab.cli.printing.hit_printing import hits_record, note_outcome, print_hit
from searchlab.cli.rerank_options import RerankOption, explain_hits, open_reranker, refuse_first_stage_options
from searchlab.cli.search_options import (
    ExpandOption,
    FilterOption,
    LanguageOption,
    ScorerOption,
    SearchOptions,
    SetOption,
    StreamOption,
    SynonymsOption,
    SyntaxOption,
    WeightsOption,
)
from searchlab.errors import SettingError

if TYPE_CHECKING:
    from searchlab.rankers.bundle import Bundle
    from searchlab.retrieval.results import Explanation, Hits


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
    language: LanguageOption = None,
    synonyms: SynonymsOption = None,
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
        _start_session(options, index, k, language, synonyms)
    else:
        _search_once(options, rerank, query, index, k, language, synonyms, explain=explain, as_json=as_json)


def _start_session(
    options: SearchOptions, index: str | None, k: int, language: str | None, synonyms: str | None
) -> None:
    from searchlab.cli.session.session_loop import Session

    # At a terminal, loading the compiled kernels takes longer than they save.
    with searchlab.open(
        choose_index(index), compiled=not sys.stdin.isatty(), language=language, synonyms=synonyms
    ) as engine:
        Session(engine, options.for_index(engine), k).run()


def _search_once(
    options: SearchOptions,
    model: str | None,
    query: str,
    index: str | None,
    k: int,
    language: str | None,
    synonyms: str | None,
    *,
    explain: bool,
    as_json: bool,
) -> None:
    """Print the hits of one query, in the order of the model if there is one."""
    with searchlab.open(choose_index(index), compiled=False, language=language, synonyms=synonyms) as engine:
        reranker = open_reranker(model, engine) if model is not None else None
        pipeline = reranker.pipeline() if reranker else options.for_index(engine).pipeline(engine)
        hits = pipeline.start(query, syntax=options.syntax, filters=options.filters).hits(k)
        if reranker is None:
            hits = hits.with_expanded_query()
        explanations = explain_hits(hits) if explain else [None] * len(hits)
        if as_json:
            scorer = reranker.first_stage.scorer if reranker else options.scorer_name
            record = hits_record(hits, engine, scorer, explanations) | ({"model": model} if reranker else {})
            print(json.dumps(record, ensure_ascii=False, indent=2))
        else:
            _print_hits(hits, explanations, reranker.bundle if reranker else None)
        note_outcome(hits, engine)
    if not hits:
        raise typer.Exit(1)


def _print_hits(hits: Hits, explanations: Sequence[Explanation | None], bundle: Bundle | None) -> None:
    for hit, explanation in zip(hits, explanations, strict=True):
        print_hit(hit)
        if explanation is not None:
            print_explanation(explanation, bundle)
    if bundle is not None and any(explanations):
        note_scaling(bundle)
