"""`searchlab index`: add documents to an index."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import typer

import searchlab
from searchlab.cli.app import app
from searchlab.cli.indexing_options import (
    AnalyzerOption,
    DeduplicateOption,
    FormatOption,
    LanguageOption,
    MapOption,
    MaxRecordOption,
    NewIndexOption,
    NgramsOption,
    OnDuplicateOption,
    PruneOption,
    RebuildOption,
    ReportOption,
    SourcesArgument,
    StemmerOption,
    StopListOption,
    StrictOption,
)
from searchlab.cli.messages import is_verbose, note
from searchlab.cli.options import ClusterOption, JobsOption, given_options, open_cluster
from searchlab.cli.printing.index_printing import print_build_summary
from searchlab.cli.printing.reading_printing import print_notes
from searchlab.cli.progress import reading_bar
from searchlab.cli.reading_report import reading_report
from searchlab.corpus.reading_context import MAX_RECORD_MB
from searchlab.corpus.text_cleaning import excerpt
from searchlab.errors import SettingError


@app.command("index")
def index_command(
    context: typer.Context,
    sources: SourcesArgument,
    index: NewIndexOption = None,
    format: FormatOption = None,
    mapped: MapOption = None,
    language: LanguageOption = None,
    stemmer: StemmerOption = None,
    stop_list: StopListOption = None,
    ngrams: NgramsOption = None,
    analyzer: AnalyzerOption = None,
    jobs: JobsOption = None,
    on_duplicate: OnDuplicateOption = "keep-all",
    deduplicate: DeduplicateOption = False,
    report: ReportOption = None,
    strict: StrictOption = False,
    max_record_mb: MaxRecordOption = MAX_RECORD_MB,
    prune: PruneOption = False,
    rebuild: RebuildOption = False,
    cluster: ClusterOption = None,
) -> None:
    """Index documents: add new ones and replace changed ones.

    Documents that have not changed are left alone. Formats are detected, gzip included.
    """
    if deduplicate and report is None:
        raise SettingError("--deduplicate needs --report FILE.csv, which lists what is left out")
    if cluster and "cluster" not in given_options(context) and (local := _find_local(sources)):
        note(f"{local} is read by this machine, not by the cluster of SEARCHLAB_CLUSTER")
        cluster = None
    notes = searchlab.ReadingNotes()
    if is_verbose():
        notes.max_kept = sys.maxsize
    with open_cluster(cluster) as connected, reading_report(report, notes), reading_bar(notes) as progress:
        summary = searchlab.index(
            sources,
            index,
            fields=dict(map(_parse_mapping, mapped or ())),
            format=format,
            language=language,
            stemmer=stemmer,
            stop_list=stop_list,
            ngrams=ngrams,
            analyzer=analyzer,
            jobs=jobs,
            on_duplicate=on_duplicate,
            deduplicate=deduplicate,
            strict=strict,
            max_record_mb=max_record_mb,
            prune=prune,
            rebuild=rebuild,
            cluster=connected,
            notes=notes,
            progress=progress,
        )
    print_notes(notes)
    print_build_summary(summary)
    for source in sources:
        _note_collection(source)


def _find_local(sources: Sequence[str]) -> str:
    """The first source that only this machine can read; empty if there is none."""
    from searchlab.corpus.ir_datasets import is_dataset

    found = next((source for source in sources if source == "-" or is_dataset(source)), "")
    return "standard input" if found == "-" else found


def _parse_mapping(written: str) -> tuple[str, str]:
    name, _, column = written.partition("=")
    if not name or not column:
        raise SettingError(f"--map is {excerpt(written)}, expected NAME=COLUMN such as title=Heading")
    return name, column


def _note_collection(source: str) -> None:
    """If a source is a collection with topics, name its topics and judgments."""
    collection = searchlab.find_collection(source)
    if collection and collection.topics:
        judged = f" and judgments {collection.qrels[0].name}" if collection.qrels else ""
        note(f"{source} is a collection with topics {collection.topics[0].name}{judged}: `searchlab run` uses them")
