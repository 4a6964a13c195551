"""`searchlab run`: search an index for every topic, and write a TREC run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

import searchlab
from searchlab.cli.app import app
from searchlab.cli.collection_files import default_topics
from searchlab.cli.messages import list_names, note, warn_of_latin1
from searchlab.cli.options import IndexOption, OutputOption, TagOption, TopicsOption, choose_index, split_names
from searchlab.cli.output import destination, open_output
from searchlab.cli.progress import tracked
from searchlab.cli.rerank_options import (
    RerankOption,
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
    SyntaxOption,
    WeightsOption,
)
from searchlab.evaluation.number_text import format_count

if TYPE_CHECKING:
    from searchlab.records import Ranking


@app.command("run")
def run_command(
    context: typer.Context,
    topics: TopicsOption = None,
    output: OutputOption = "-",
    index: IndexOption = None,
    k: Annotated[int, typer.Option("-k", metavar="N", help="Number of results for each topic")] = 1000,
    scorer: ScorerOption = "bm25",
    settings: SetOption = None,
    weights: WeightsOption = None,
    stream: StreamOption = "both",
    filters: FilterOption = None,
    expand: ExpandOption = None,
    rerank: RerankOption = None,
    syntax: SyntaxOption = "plain",
    tag: TagOption = None,
    topic_format: Annotated[
        str | None,
        typer.Option(
            "--format", metavar="NAME", help="The topics' format: jsonl, smart, trec or tsv [default: detected]"
        ),
    ] = None,
    fields: Annotated[
        str | None,
        typer.Option("--fields", metavar="NAMES", help="The fields of a topic to search for, such as title,desc"),
    ] = None,
) -> None:
    """Search for every topic, and write a TREC run.

    Without --tag, the run is named by its scorer and expansion, or by the ranker of its model.
    """
    if rerank is not None:
        refuse_first_stage_options(context)
    options = SearchOptions.read(scorer, settings, stream, filters, expand, syntax=syntax, weights=weights)
    folder = choose_index(index)
    notes = searchlab.ReadingNotes()
    wanted = searchlab.read_topics(
        topics or default_topics(folder),
        format=topic_format,
        fields=split_names(fields, "--fields", "title,desc") if fields else None,
        notes=notes,
    )
    warn_of_latin1(notes)
    with searchlab.open(folder) as engine:
        if rerank is None:
            pipeline = options.for_index(engine).pipeline(engine)
            name = "-".join([scorer, *([expand.partition(":")[0]] if expand else [])])
        else:
            reranker = open_reranker(rerank, engine)
            pipeline, name = reranker.pipeline(), reranker.bundle.ranker
            warn_of_known_topics(reranker, wanted, of_collection=topics is None)
        rankings = pipeline.run(tracked(wanted), k=k, syntax=syntax, filters=options.filters)
        with open_output(output) as file:
            counted = _CountedRankings(rankings)
            searchlab.write_run(file, counted, tag or name)
    results = format_count(counted.n_results, "result")
    note(f"{format_count(len(wanted), 'topic')}, {results}{destination(output)}")
    if counted.empty:
        note(f"{format_count(len(counted.empty), 'topic')} without results: {list_names(counted.empty)}")


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
