"""How are indexes made, changed and looked after from the command line?"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from searchlab.cli.app import IndexOption, app, choose_index, count, megabytes, note, warn_of_latin1
from searchlab.cli.progress import reading_bar, stage_bar
from searchlab.errors import IndexMissing, SettingError, StoreError

if TYPE_CHECKING:
    from searchlab.corpus import ReadingNotes
    from searchlab.indexing.building.indexer import BuildSummary
    from searchlab.indexing.statistics import IndexStatistics

# Files that were skipped, and records that could not be read, are named up to this number.
NAMED = 10


@app.command("index")
def index_command(
    sources: Annotated[
        list[str], typer.Argument(metavar="SOURCE...", help="Files or folders of documents, or - for JSONL from a pipe")
    ],
    index: Annotated[
        str | None,
        typer.Option("-i", "--index", metavar="INDEX", help="A folder, or a name in indexes/ [default: the source's]"),
    ] = None,
    format: Annotated[
        str | None,
        typer.Option(
            "--format",
            help="bibtex, csv, html, jsonl, markdown, nbib, ohsumed, ohsumed-i, pubmed, ris, smart, text, trec or tsv "
            "[default: detected]",
        ),
    ] = None,
    stemmer: Annotated[
        str | None, typer.Option(help="porter, snowball or none [default: porter, or what the index has]")
    ] = None,
    stop_list: Annotated[
        str | None,
        typer.Option("--stop", help="default, none or a file of words [default: default, or what the index has]"),
    ] = None,
    jobs: Annotated[int | None, typer.Option("-j", "--jobs", help="Processes [default: all cores]")] = None,
    on_duplicate: Annotated[
        str,
        typer.Option("--on-duplicate", help="Two documents with one docno: error, keep-first or keep-last"),
    ] = "error",
    strict: Annotated[
        bool, typer.Option("--strict", help="Stop at a malformed record; otherwise it is named.")
    ] = False,
    prune: Annotated[
        bool, typer.Option("--prune", help="Remove documents that the sources no longer have; implies --strict.")
    ] = False,
    rebuild: Annotated[bool, typer.Option("--rebuild", help="Make the index anew instead of updating it.")] = False,
) -> None:
    """Index documents: add new ones, replace changed ones, leave the others alone."""
    import searchlab

    notes = searchlab.ReadingNotes()
    with reading_bar(notes) as progress:
        summary = searchlab.index(
            sources,
            index,
            format=format,
            stemmer=stemmer,
            stop_list=stop_list,
            jobs=jobs,
            on_duplicate=on_duplicate,
            strict=strict,
            prune=prune,
            rebuild=rebuild,
            notes=notes,
            progress=progress,
        )
    _tell_notes(notes)
    _print_summary(summary)
    for source in sources:
        _tell_collection(source)


@app.command("delete")
def delete_command(
    docnos: Annotated[list[str], typer.Argument(metavar="DOCNO...", help="Documents, or - for one a line from a pipe")],
    index: IndexOption = None,
) -> None:
    """Remove documents from an index; if it lacks one of them, nothing is removed."""
    from searchlab.indexing.building.indexer import delete

    wanted = [line for docno in docnos for line in (sys.stdin.read().split("\n") if docno == "-" else [docno]) if line]
    if not wanted:
        raise SettingError("no docnos: expected at least one document to delete")
    with stage_bar() as progress:
        _print_summary(delete(choose_index(index), wanted, progress=progress))


@app.command("merge")
def merge_command(
    index: IndexOption = None,
    jobs: Annotated[int, typer.Option("-j", "--jobs", help="Processes, each of which writes a shard")] = 1,
) -> None:
    """Write an index anew as few large shards, without what was deleted; searches are then fastest."""
    from searchlab.indexing.building.indexer import merge

    with stage_bar() as progress:
        _print_summary(merge(choose_index(index), jobs=jobs, progress=progress))


@app.command("stats")
def stats_command(
    index: IndexOption = None,
    top: Annotated[int, typer.Option("--top", help="How many of the most frequent terms")] = 10,
    stream: Annotated[str, typer.Option("--stream", help="The stream of these terms: title, body or both")] = "both",
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Print what an index holds: documents, tokens, terms, lengths, fields, shards and its most frequent terms."""
    from searchlab.indexing.snapshot import Snapshot
    from searchlab.indexing.statistics import index_statistics

    folder = choose_index(index)
    with closing(Snapshot(folder)) as snapshot:
        statistics = index_statistics(snapshot, top=top, stream=stream)
        manifest = snapshot.manifest
    if as_json:
        about = {"index": str(folder), "generation": manifest.generation, "written": manifest.written}
        about |= {"sources": list(manifest.sources), "stemmer": manifest.settings.stemmer}
        about |= {"stop_list": manifest.settings.stop_list}
        print(json.dumps(about | asdict(statistics), ensure_ascii=False, indent=2))
        return
    print(f"{folder}: {count(statistics.n_docs, 'document')}, {megabytes(statistics.n_bytes)}")
    print(f"  made with stemmer {manifest.settings.stemmer}, stop list {manifest.settings.stop_list}")
    for source in manifest.sources:
        print(f"  from {source}")
    _print_statistics(statistics, stream)


@app.command("doctor")
def doctor_command(
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="FILE...", help="Judgments, runs, topics, features, folders of folds [default: none]"),
    ] = None,
    index: IndexOption = None,
) -> None:
    """Examine an index, or whether files fit together (and with -i, the index): what is wrong, and what to do."""
    if files:
        _examine_files(files, index)
        return
    from searchlab.indexing.checking.index_doctor import examine

    folder = choose_index(index)
    with stage_bar() as progress:
        diagnosis = examine(folder, progress)
        problems = _examine_artefacts(folder) if diagnosis.healthy else []
    for finding in diagnosis.findings:
        print(f"{finding.location}: {finding.problem}; {finding.remedy}")
    for problem in problems:
        print(problem)
    if problems:
        raise typer.Exit(1)
    if not diagnosis.healthy:
        note(f"{folder}: {count(sum(finding.serious for finding in diagnosis.findings), 'problem')} found")
        raise typer.Exit(1)
    print(f"{folder}: healthy; {count(diagnosis.n_docs, 'document')} in {count(diagnosis.n_shards, 'shard')} examined")


def _examine_files(files: list[str], index: str | None) -> None:
    from searchlab.evaluation.file_checks.checkup import examine_files
    from searchlab.indexing.snapshot import Snapshot

    docnos, name = None, ""
    if index is not None:
        name = str(choose_index(index))
        with closing(Snapshot(Path(name))) as snapshot:
            docnos = list(snapshot.docnos())
    with stage_bar() as progress:
        found = examine_files(files, docnos, index=name, progress=progress)
    for finding in found.findings:
        print(finding if finding.problem else f"note: {finding}")
    if not found.healthy:
        note(f"{count(sum(finding.problem for finding in found.findings), 'problem')} found")
        raise typer.Exit(1)
    print(f"no problems in {', '.join(found.examined)}")


def _examine_artefacts(folder: Path) -> list[str]:
    """What is wrong with the semantic space and the topics of an index, if it has any."""
    from searchlab.features.latent_semantics.semantic_space import SemanticSpace
    from searchlab.indexing.snapshot import Snapshot
    from searchlab.topic_models.topic_model_store import list_topics, open_topics

    problems = []
    with closing(Snapshot(folder)) as snapshot:
        examine: list[Callable[[], object]] = [partial(SemanticSpace.open, snapshot, verify=True)]
        examine += [partial(open_topics, snapshot, name, verify=True) for name in list_topics(folder)]
        for look in examine:
            try:
                look()
            except IndexMissing:
                continue
            except StoreError as error:
                problems.append(str(error))
    return problems


def _print_statistics(statistics: IndexStatistics, stream: str) -> None:
    print("\nstream   documents       tokens       terms  mean length   longest")
    for name, own in statistics.streams.items():
        sizes = f"{own.n_docs:>9,} {own.n_tokens:>12,} {own.n_terms:>11,}"
        print(f"{name:8} {sizes} {own.mean_length:>12,.1f} {own.longest:>9,}")
    if statistics.fields:
        print("\nfield                 documents")
        for name, n_docs in statistics.fields.items():
            print(f"{name:20.40} {n_docs:>10,}")
    if statistics.frequent:
        print(f"\nmost frequent in {stream:8}  documents  occurrences")
        for term in statistics.frequent:
            print(f"{term.term:24.40} {term.doc_freq:>11,} {term.term_count:>12,}")
    print("\nshard                    live    deleted         words         size")
    for shard in statistics.shards:
        size = megabytes(shard.n_bytes)
        print(f"{shard.name:20} {shard.n_live:>8,} {shard.n_deleted:>10,} {shard.n_words:>13,} {size:>12}")


def _tell_notes(notes: ReadingNotes) -> None:
    """What happened on the way, on standard error."""
    for skipped in notes.skipped[:NAMED]:
        note(f"skipped {skipped.path}: {skipped.reason}")
    if len(notes.skipped) > NAMED:
        note(f"skipped {count(len(notes.skipped) - NAMED, 'more file')}")
    for error in notes.bad_records[:NAMED]:
        note(f"bad record {error}")
    if notes.n_bad:
        note(f"{count(notes.n_bad, 'bad record')} left out; --strict stops at the first")
    warn_of_latin1(notes)


def _tell_collection(source: str) -> None:
    """If a source is a collection with topics, say that they are understood."""
    from searchlab.corpus import find_collection

    collection = find_collection(source)
    if collection and collection.topics:
        judged = f", judgments {collection.qrels[0].name}" if collection.qrels else ""
        note(f"{source} is a collection: topics {collection.topics[0].name}{judged}; `searchlab run` finds them")


def _print_summary(summary: BuildSummary) -> None:
    changes = {
        "added": summary.n_added,
        "updated": summary.n_updated,
        "unchanged": summary.n_unchanged,
        "removed": summary.n_removed,
        "duplicates left out": summary.n_duplicates,
    }
    if summary.n_added == summary.n_docs:
        del changes["added"]
    told = ", ".join(f"{n:,} {what}" for what, n in changes.items() if n)
    print(f"{summary.folder}: {count(summary.n_docs, 'document')}{f' ({told})' if told else ''}")
    rate = (summary.n_added + summary.n_updated) / summary.seconds
    print(f"  {summary.seconds:.1f} s{f' ({rate:,.0f}/s)' if rate >= 1 else ''}, {count(summary.n_tokens, 'token')}")
    dead = f", with {count(summary.n_deleted, 'deleted document')}" if summary.n_deleted else ""
    print(f"  {megabytes(summary.n_bytes)} in {count(summary.n_shards, 'shard')}{dead}")
