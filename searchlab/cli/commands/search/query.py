"""`searchlab query`: search an index for one query, or for the lines of a session."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

import searchlab
from searchlab.cli.app import app
from searchlab.cli.export_options import ExportOption, export_hits, require_exportable
from searchlab.cli.options import IndexOption, JsonOption, choose_index
from searchlab.cli.printing.explanation_printing import note_scaling, print_explanation
from searchlab.cli.printing.facet_printing import facets_record, print_facet
from searchlab.cli.printing.hit_printing import hits_record, note_outcome, print_duplicates, print_hit
from searchlab.cli.rerank_options import RerankOption, explain_hits, open_ranking, refuse_first_stage_options
from searchlab.cli.search_options import (
    ExpandOption,
    FacetOption,
    FilterOption,
    GroupOption,
    LanguageOption,
    ScorerOption,
    SearchOptions,
    SetOption,
    SortOption,
    StreamOption,
    SynonymsOption,
    SyntaxOption,
    WeightsOption,
)
from searchlab.errors import SettingError

if TYPE_CHECKING:
    from searchlab.rankers.bundle import Bundle
    from searchlab.retrieval.engine import SearchEngine
    from searchlab.retrieval.near_duplicates import Duplicate
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
    sort: SortOption = None,
    facet: FacetOption = None,
    group_duplicates: GroupOption = False,
    language: LanguageOption = None,
    synonyms: SynonymsOption = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show what each term, or feature of a model, adds to each score.")
    ] = False,
    as_json: JsonOption = False,
    export: ExportOption = None,
) -> None:
    """Search, and print the best documents.

    Prints rank, score, docno, title, and a snippet with the matched words marked. Without a query a session begins,
    which reads queries and commands such as :help, from the terminal or a pipe.
    """
    options = SearchOptions.read(
        scorer, settings, stream, filters, expand, syntax=syntax, weights=weights, sort=sort, facets=facet
    )
    if rerank is not None:
        refuse_first_stage_options(context)
    # Several words need no quotes; an empty query is a query, too.
    query = " ".join(words) if words else None
    if query is None:
        if explain or as_json or group_duplicates or export:
            needing = "--explain, --json, --group-duplicates and --export"
            raise SettingError(f"{needing} need a query; a session has :explain")
        if rerank is not None:
            raise SettingError("--rerank needs a query; a session ranks by a scorer")
        _start_session(options, index, k, language, synonyms)
    else:
        require_exportable(export)
        began = time.perf_counter()
        with searchlab.open(choose_index(index), compiled=False, language=language, synonyms=synonyms) as engine:
            request = _Request(query, k, rerank, export, explain=explain, as_json=as_json, grouped=group_duplicates)
            n_found = _search_once(engine, options, request, began)
        if not n_found:
            raise typer.Exit(1)


class _Request(NamedTuple):
    """A query, and what is wanted of its results."""

    query: str
    k: int
    model: str | None
    export: str | None
    explain: bool
    as_json: bool
    grouped: bool


def _start_session(
    options: SearchOptions, index: str | None, k: int, language: str | None, synonyms: str | None
) -> None:
    from searchlab.cli.session.session_loop import Session

    # At a terminal, loading the compiled kernels takes longer than they save.
    with searchlab.open(
        choose_index(index), compiled=not sys.stdin.isatty(), language=language, synonyms=synonyms
    ) as engine:
        Session(engine, options.for_index(engine), k).run()


def _search_once(engine: SearchEngine, options: SearchOptions, request: _Request, began: float) -> int:
    """Print the hits of one query, in the order of the model if there is one; returns their number."""
    import numpy as np

    from searchlab.retrieval.near_duplicates import examined_depth

    model, grouped, k = request.model, request.grouped, request.k
    ranking = open_ranking(model, engine) if model is not None else None
    reranker = ranking.reranker if ranking else None
    pipeline = ranking.pipeline if ranking else options.for_index(engine).pipeline(engine)
    search = pipeline.start(request.query, syntax=options.syntax, filters=options.filters)
    hits = options.find(search, examined_depth(k) if grouped and k > 0 else k)
    duplicates: list[tuple[Duplicate, ...]] = [()] * len(hits)
    if grouped:
        groups = hits.group_duplicates(k)
        hits, duplicates = hits.take(np.array([g.row for g in groups], np.int64)), [g.duplicates for g in groups]
    if reranker is None:
        hits = hits.with_expanded_query()
    facets = hits.facets(*options.facets)
    explanations = explain_hits(hits) if request.explain else [None] * len(hits)
    if request.as_json:
        scorer = reranker.first_stage.scorer if reranker else ranking.name if ranking else options.scorer_name
        record = hits_record(hits, engine, scorer, explanations) | ({"model": model} if reranker else {})
        record |= facets_record(facets)
        for hit, others in zip(record["hits"], duplicates, strict=True):
            hit |= {"duplicates": [each.to_json() for each in others]} if grouped else {}
        record["seconds"] = round(time.perf_counter() - began, 6)
        print(json.dumps(record, ensure_ascii=False, indent=2))
    else:
        _print_hits(hits, explanations, duplicates, reranker.bundle if reranker else None)
        for facet in facets.values():
            print_facet(facet)
    note_outcome(hits, engine, began)
    export_hits(hits, request.export)
    return len(hits)


def _print_hits(
    hits: Hits,
    explanations: Sequence[Explanation | None],
    duplicates: Sequence[Sequence[Duplicate]],
    bundle: Bundle | None,
) -> None:
    for hit, explanation, others in zip(hits, explanations, duplicates, strict=True):
        print_hit(hit)
        print_duplicates(others)
        if explanation is not None:
            print_explanation(explanation, bundle)
    if bundle is not None and any(explanations):
        note_scaling(bundle)
