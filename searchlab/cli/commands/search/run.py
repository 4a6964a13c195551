"""`searchlab run`: search an index for every topic, and write a TREC run."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

import searchlab
from searchlab.cli.app import app
from searchlab.cli.collection_files import default_topics
from searchlab.cli.external_options import ExternalOption, read_external
from searchlab.cli.messages import list_names, note, warn_of_encodings
from searchlab.cli.options import (
    ClusterOption,
    DivideOption,
    IndexOption,
    OutputOption,
    TagOption,
    TopicIdsOption,
    TopicsOption,
    choose_index,
    open_cluster,
    split_names,
)
from searchlab.cli.output import destination, open_output
from searchlab.cli.progress import stage_bar
from searchlab.cli.rerank_options import (
    RerankOption,
    open_ranking,
    refuse_first_stage_options,
    warn_of_known_topics,
)
from searchlab.cli.search_options import (
    ExpandOption,
    FilterOption,
    LanguageOption,
    ScorerOption,
    SearchOptions,
    SetOption,
    SynonymsOption,
    SyntaxOption,
    WeightsOption,
)
from searchlab.errors import SettingError, unknown_name
from searchlab.evaluation.number_text import format_count

if TYPE_CHECKING:
    from searchlab.records import Ranking


@app.command("run")
def run_command(
    context: typer.Context,
    topics: TopicsOption = None,
    topic_ids: TopicIdsOption = "written",
    output: OutputOption = "-",
    index: IndexOption = None,
    k: Annotated[int, typer.Option("-k", metavar="N", help="Number of results for each topic")] = 1000,
    scorer: ScorerOption = "bm25",
    settings: SetOption = None,
    weights: WeightsOption = None,
    stream: Annotated[
        str,
        typer.Option(
            "--stream",
            metavar="title|body|both|ngrams",
            help="The text of documents that is searched; several, separated by commas, are searched and fused",
        ),
    ] = "both",
    fusion: Annotated[
        str,
        typer.Option(
            "--fuse", metavar="rrf|combsum|combmnz|borda", help="How the rankings of several streams are fused"
        ),
    ] = "rrf",
    filters: FilterOption = None,
    expand: ExpandOption = None,
    rerank: RerankOption = None,
    external: ExternalOption = None,
    syntax: SyntaxOption = "plain",
    language: LanguageOption = None,
    synonyms: SynonymsOption = None,
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
    cluster: ClusterOption = None,
    divide: DivideOption = "auto",
) -> None:
    """Search for every topic, and write a TREC run.

    Without --tag, the run is named by its scorer, expansion and fusion, or by the ranker of its model.
    """
    from searchlab.retrieval.distributed.shard_division import require_division
    from searchlab.retrieval.fusion import METHODS

    require_division(divide)
    if rerank is not None:
        refuse_first_stage_options(context)
    elif external:
        raise SettingError("--external gives a model its scores: expected --rerank MODEL")
    streams = split_names(stream, "--stream", "both,ngrams")
    options = SearchOptions.read(scorer, settings, streams[0], filters, expand, syntax=syntax, weights=weights)
    if fusion not in METHODS:
        raise unknown_name("method of fusion", fusion, METHODS)
    folder = choose_index(index)
    notes = searchlab.ReadingNotes()
    wanted = searchlab.read_topics(
        topics or default_topics(folder),
        format=topic_format,
        fields=split_names(fields, "--fields", "title,desc") if fields else None,
        notes=notes,
        topic_ids=topic_ids,
    )
    warn_of_encodings(notes)
    with searchlab.open(folder, language=language, synonyms=synonyms) as engine:
        if rerank is None:
            options = options.for_index(engine)
            pipelines = [replace(options, stream=each).pipeline(engine) for each in streams]
            parts = [scorer, *([expand.partition(":")[0]] if expand else []), *([fusion] if len(streams) > 1 else [])]
            name = "-".join(parts)
        else:
            ranking = open_ranking(rerank, engine, read_external(external), wanted)
            pipelines, name = [ranking.pipeline], ranking.name
            if ranking.reranker is not None:
                warn_of_known_topics(ranking.reranker, wanted, of_collection=topics is None)
        with open_cluster(cluster) as connected, stage_bar() as progress, warnings.catch_warnings():
            warnings.simplefilter("ignore", searchlab.QueryWarning)
            warnings.simplefilter("ignore", searchlab.TrainingTopicsWarning)  # said above
            runs = [
                each.run(
                    wanted,
                    k,
                    syntax=syntax,
                    filters=options.filters,
                    cluster=connected,
                    divide=divide,
                    progress=progress,
                )
                for each in pipelines
            ]
        rankings = runs[0] if len(runs) == 1 else searchlab.fuse(runs, fusion, k=k)
        with open_output(output) as file:
            counted = _CountedRankings(rankings)
            searchlab.write_run(file, counted, tag or name)
    results = format_count(counted.n_results, "result")
    note(f"{format_count(len(wanted), 'topic')}, {results}{destination(output)}")
    if counted.empty:
        note(f"{format_count(len(counted.empty), 'topic')} without results: {list_names(counted.empty)}")


class _CountedRankings:
    """Rankings that are counted as they are written."""

    def __init__(self, rankings: Iterable[Ranking]) -> None:
        self._rankings = rankings
        self.n_results = 0
        self.empty: list[str] = []

    def __iter__(self) -> Iterator[Ranking]:
        for ranking in self._rankings:
            self.n_results += len(ranking.docnos)
            if not ranking.docnos:
                self.empty.append(ranking.qid)
            yield ranking
