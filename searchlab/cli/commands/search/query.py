"""The commands query and run: searching an index for one query, or for all topics of a file."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from typing import TYPE_CHECKING, Annotated

import typer

from searchlab.cli.app import app
from searchlab.cli.collection_files import default_topics as own_topics
from searchlab.cli.commands.search.explain import explanation_record, print_model_explanation, print_scale
from searchlab.cli.messages import note, warn_of_latin1
from searchlab.cli.options import IndexOption, choose_index
from searchlab.cli.printing.hit_printing import as_record, comment, print_explanation, print_hit
from searchlab.cli.printing.terminal_text import pluralize as count
from searchlab.cli.progress import tracked
from searchlab.cli.rerank_options import (
    RerankOption,
    explain_hits,
    open_reranker,
    refuse_first_stage_options,
    warn_of_known_topics,
)
from searchlab.cli.search_options import (
    ExpandOption,
    FilterOption,
    ScorerOption,
    SearchOptions,
    SetOption,
    StreamOption,
    WeightsOption,
)
from searchlab.errors import SettingError

if TYPE_CHECKING:
    from pathlib import Path

    from searchlab.records import Ranking
    from searchlab.retrieval.engine import SearchEngine
    from searchlab.retrieval.results import Explanation


@app.command("query")
def query_command(
    context: typer.Context,
    text: Annotated[
        str | None, typer.Argument(metavar="QUERY", help="What to search for [default: read queries one by one]")
    ] = None,
    index: IndexOption = None,
    k: Annotated[int, typer.Option("-k", help="How many results")] = 10,
    scorer: ScorerOption = "bm25",
    settings: SetOption = None,
    weights: WeightsOption = None,
    stream: StreamOption = "both",
    filters: FilterOption = None,
    expand: ExpandOption = None,
    rerank: RerankOption = None,
    plain: Annotated[
        bool, typer.Option("--plain", help='Take the query for plain words: no "phrases", AND, title: or wild*cards.')
    ] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Show what each term adds to each score.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the results as JSON.")] = False,
) -> None:
    """Search, and print rank, score, docno, title and a snippet with the matched words marked."""
    options = SearchOptions.read(scorer, settings, stream, filters, expand, full=not plain, weights=weights)
    if text is None and (explain or as_json):
        raise SettingError("--explain and --json need a query; a session has :explain")
    if rerank is not None:
        refuse_first_stage_options(context)
        if text is None:
            raise SettingError("--rerank needs a query: a session orders by a scorer")
        _query_reranked(rerank, options, text, index, k, explain=explain, as_json=as_json)
        return
    # At a terminal, the time to load the compiled kernels would be noticed, the time that they save would not.
    engine = _open(choose_index(index), compiled=text is None and not sys.stdin.isatty())
    options = options.for_index(engine)
    if text is None:
        from searchlab.cli.session.session_loop import Session

        Session(engine, options, k).run()
        return
    pipeline = options.pipeline(engine)
    hits = pipeline.search(text, k=k, syntax=options.syntax, filters=options.filters).with_expanded_query()
    explanations: list[Explanation | None] = pipeline.explain(hits, hits.docnos) if explain else [None] * len(hits)
    if as_json:
        print(json.dumps(as_record(hits, explanations, engine, scorer), ensure_ascii=False, indent=2))
    else:
        for hit, explanation in zip(hits, explanations, strict=True):
            print_hit(hit)
            if explanation:
                print_explanation(explanation)
    comment(hits, engine)
    if not hits:
        raise typer.Exit(1)


def _query_reranked(
    model: str, options: SearchOptions, text: str, index: str | None, k: int, *, explain: bool, as_json: bool
) -> None:
    """Search, and print the hits as a model orders them."""
    engine = _open(choose_index(index), compiled=False)
    reranker = open_reranker(model, engine)
    hits = reranker.pipeline().search(text, k=k, syntax=options.syntax, filters=options.filters)
    explanations = explain_hits(hits) if explain else [None] * len(hits)
    if as_json:
        record = as_record(hits, [None] * len(hits), engine, reranker.first_stage.scorer) | {"model": model}
        for hit_record, explanation in zip(record["hits"], explanations, strict=True):
            hit_record |= {"explanation": explanation_record(explanation)} if explanation else {}
        print(json.dumps(record, ensure_ascii=False, indent=2))
    else:
        for hit, explanation in zip(hits, explanations, strict=True):
            print_hit(hit)
            if explanation:
                print_model_explanation(explanation, reranker.bundle)
    if explain and hits and not as_json:
        print_scale(reranker.bundle)
    comment(hits, engine)
    if not hits:
        raise typer.Exit(1)


@app.command("run")
def run_command(
    context: typer.Context,
    topics: Annotated[
        str | None,
        typer.Argument(
            metavar="TOPICS",
            help="A file of topics: TSV, TREC, SMART or JSONL [default: those of the collection that was indexed]",
        ),
    ] = None,
    output: Annotated[str, typer.Option("-o", "--output", metavar="FILE", help="- is standard output")] = "-",
    index: IndexOption = None,
    k: Annotated[int, typer.Option("-k", help="How many results for each topic")] = 1000,
    scorer: ScorerOption = "bm25",
    settings: SetOption = None,
    weights: WeightsOption = None,
    stream: StreamOption = "both",
    filters: FilterOption = None,
    expand: ExpandOption = None,
    rerank: RerankOption = None,
    syntax: Annotated[
        bool, typer.Option("--syntax", help="Topics are queries with phrases, operators and fields, not plain words.")
    ] = False,
    tag: Annotated[
        str | None, typer.Option("--tag", help="The run's name [default: the scorer's, and the expansion's]")
    ] = None,
    topic_format: Annotated[
        str | None, typer.Option("--format", help="jsonl, smart, trec or tsv [default: detected]")
    ] = None,
    fields: Annotated[
        str | None, typer.Option("--fields", help="The parts of a topic to search for, such as title,desc")
    ] = None,
) -> None:
    """Search for every topic, and write a TREC run."""
    import searchlab
    from searchlab.atomic_file import open_atomic

    if rerank is not None:
        refuse_first_stage_options(context)
    options = SearchOptions.read(scorer, settings, stream, filters, expand, full=syntax, weights=weights)
    folder = choose_index(index)
    parts = fields.split(",") if fields else None
    notes = searchlab.ReadingNotes()
    wanted = searchlab.read_topics(topics or own_topics(folder), format=topic_format, fields=parts, notes=notes)
    warn_of_latin1(notes)
    engine = _open(folder)
    options = options.for_index(engine)
    if rerank is None:
        pipeline = options.pipeline(engine)
        name = "-".join([scorer, *([expand.partition(":")[0]] if expand else [])])
    else:
        reranker = open_reranker(rerank, engine)
        pipeline, name = reranker.pipeline(), reranker.bundle.ranker
        warn_of_known_topics(reranker, wanted, of_collection=topics is None)
    with nullcontext(sys.stdout) if output == "-" else open_atomic(output) as file:
        counted = _CountedRankings(pipeline.run(tracked(wanted), k=k, syntax=options.syntax, filters=options.filters))
        searchlab.write_run(file, counted, tag or name)
    where = "" if output == "-" else f" → {output}"
    note(f"{count(len(wanted), 'topic')}, {count(counted.n_results, 'result')}{where}")
    if counted.empty:
        more = ", …" if len(counted.empty) > 10 else ""
        note(f"{count(len(counted.empty), 'topic')} without results: {', '.join(counted.empty[:10])}{more}")


class _CountedRankings:
    """Rankings that are counted as they are written."""

    def __init__(self, rankings: Iterator[Ranking]) -> None:
        self._rankings = rankings
        self.n_results = 0
        self.empty: list[str] = []

    def __iter__(self) -> Iterator[Ranking]:
        for ranking in self._rankings:
            self.n_results += len(ranking.docnos)
            if not ranking.docnos:
                self.empty.append(ranking.qid)
            yield ranking


def _open(folder: Path, *, compiled: bool = True) -> SearchEngine:
    import searchlab

    return searchlab.open(folder, compiled=compiled)
