"""`searchlab index`: add documents to an index."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

import searchlab
from searchlab.cli.app import app
from searchlab.cli.messages import MAX_NAMES, detail, is_verbose, note, warn, warn_of_encodings
from searchlab.cli.options import ClusterOption, JobsOption, open_cluster
from searchlab.cli.printing.index_printing import print_build_summary
from searchlab.cli.progress import reading_bar
from searchlab.cli.reading_report import reading_report
from searchlab.corpus.reading_context import MAX_RECORD_MB
from searchlab.corpus.reading_notes import COPY, DUPLICATE, NEW_DOCNO
from searchlab.corpus.text_cleaning import excerpt
from searchlab.errors import SettingError
from searchlab.evaluation.number_text import format_count

if TYPE_CHECKING:
    from searchlab.corpus import ReadingNotes


@app.command("index")
def index_command(
    sources: Annotated[
        list[str],
        typer.Argument(metavar="SOURCE", help="Files or folders of documents; - reads JSON lines from a pipe"),
    ],
    index: Annotated[
        str | None,
        typer.Option(
            "-i", "--index", metavar="INDEX", help="A folder, or a name in indexes/ [default: the name of the source]"
        ),
    ] = None,
    format: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="NAME",
            help="bibtex, csv, docx, embase, eml, endnote, epub, html, json, jsonl, markdown, mbox, nbib, odt, "
            "ohsumed, ohsumed-i, pdf, pptx, pubmed, ris, rtf, smart, text, trec, tsv, wos or xlsx [default: detected]",
        ),
    ] = None,
    mapped: Annotated[
        list[str] | None,
        typer.Option(
            "--map", metavar="NAME=COLUMN", help='Which column of a table is what, such as title="Article Title"'
        ),
    ] = None,
    language: Annotated[
        str | None,
        typer.Option(
            "--language",
            metavar="NAME",
            help="The language of the documents, with stemmer and stop list: arabic, danish, dutch, english, finnish, "
            "french, german, hungarian, italian, norwegian, portuguese, romanian, russian, spanish or swedish; "
            "without: bulgarian, catalan, chinese, croatian, czech, estonian, greek, hebrew, hindi, indonesian, "
            "japanese, korean, latvian, lithuanian, persian, polish, serbian, slovak, slovenian, thai, turkish, "
            "ukrainian, vietnamese or none; several with commas, or auto for all, are detected in each document "
            "[default: english, or the index's]",
            show_default=False,
        ),
    ] = None,
    stemmer: Annotated[
        str | None,
        typer.Option(
            "--stemmer",
            metavar="porter|snowball|none|LANGUAGE",
            help="How words are stemmed [default: as the language demands, porter for english, or the index's stemmer]",
        ),
    ] = None,
    stop_list: Annotated[
        str | None,
        typer.Option(
            "--stop",
            metavar="default|none|FILE",
            help="Words that are not indexed [default: default, or the index's stop list]",
        ),
    ] = None,
    ngrams: Annotated[
        int | None,
        typer.Option(
            "--ngrams",
            metavar="N",
            help="Also index overlapping n-grams of N characters, as the stream ngrams [default: 0, or as the index]",
            show_default=False,
        ),
    ] = None,
    analyzer: Annotated[
        str | None,
        typer.Option(
            "--analyzer",
            metavar="NAME",
            help="An analyzer of an extension, with stemmer and stop list none by default [default: the index's]",
            show_default=False,
        ),
    ] = None,
    jobs: JobsOption = None,
    on_duplicate: Annotated[
        str,
        typer.Option(
            "--on-duplicate",
            metavar="keep-all|error|keep-first|keep-last",
            help="What to do with unlike documents of the same docno; keep-all gives them docnos of their own",
        ),
    ] = "keep-all",
    deduplicate: Annotated[
        bool,
        typer.Option(
            "--deduplicate",
            help="Index only the first record of a publication: same DOI, PMID, or title, year and first author.",
        ),
    ] = False,
    report: Annotated[
        str | None,
        typer.Option("--report", metavar="FILE.csv", help="List what is not in the index, and why, and all guesses"),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Stop at a malformed record instead of leaving it out.")
    ] = False,
    max_record_mb: Annotated[
        float,
        typer.Option("--max-record-mb", metavar="N", help="Leave out records of more than N million characters"),
    ] = MAX_RECORD_MB,
    prune: Annotated[
        bool, typer.Option("--prune", help="Remove documents that the sources no longer have, if all could be read.")
    ] = False,
    rebuild: Annotated[
        bool, typer.Option("--rebuild", help="Build the index from scratch instead of updating it.")
    ] = False,
    cluster: ClusterOption = None,
) -> None:
    """Index documents: add new ones and replace changed ones.

    Documents that have not changed are left alone. Formats are detected, gzip included.
    """
    if deduplicate and report is None:
        raise SettingError("--deduplicate needs --report FILE.csv, which lists what is left out")
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
    _print_notes(notes)
    print_build_summary(summary)
    for source in sources:
        _note_collection(source)


def _parse_mapping(written: str) -> tuple[str, str]:
    name, _, column = written.partition("=")
    if not name or not column:
        raise SettingError(f"--map is {excerpt(written)}, expected NAME=COLUMN such as title=Heading")
    return name, column


def _print_notes(notes: ReadingNotes) -> None:
    """Name the files that were skipped and the records that could not be read."""
    unreadable_first = sorted(notes.skipped, key=lambda skipped: not skipped.is_unreadable)
    shown = unreadable_first if is_verbose() else unreadable_first[:MAX_NAMES]
    for skipped in shown:
        (warn if skipped.is_unreadable else note)(f"skipped {skipped.path}: {skipped.reason}")
    if len(notes.skipped) > len(shown):
        note(f"skipped {format_count(len(notes.skipped) - len(shown), 'more file')}; --report lists them all")
    for error in notes.bad_records if is_verbose() else notes.bad_records[:MAX_NAMES]:
        warn(f"bad record {error}")
    if notes.n_bad:
        warn(f"{format_count(notes.n_bad, 'bad record')} left out; --strict stops at the first")
    for event in notes.renamed if is_verbose() else notes.renamed[:MAX_NAMES]:
        warn(f"{event.location}: {event.message}")
    if n_renamed := notes.n_events[NEW_DOCNO]:
        warn(f"{format_count(n_renamed, 'document')} kept under another docno, because two had the same")
    for event in notes.left_out:
        detail(f"{event.kind} {event.location}: {event.message}")
    if n_same := notes.n_events[DUPLICATE]:
        note(f"{format_count(n_same, 'record')} of a publication that an earlier record has too; --report lists them")
    warn_of_encodings(notes)
    _note_account(notes)


def _note_account(notes: ReadingNotes) -> None:
    """If anything was left out, count all that was found."""
    n_copies = notes.n_events[COPY]
    if not notes.skipped and not notes.n_bad and not n_copies:
        return
    n_unread = sum(path.is_unreadable for path in notes.skipped)
    files = {"read": notes.n_files, "skipped": len(notes.skipped) - n_unread, "not readable": n_unread}
    records = {"documents": notes.n_documents - n_copies, "bad": notes.n_bad, "copies": n_copies}
    parts = (", ".join(f"{n:,} {what}" for what, n in counts.items() if n) for counts in (files, records))
    note(f"found: files {'; records '.join(parts)}")


def _note_collection(source: str) -> None:
    """If a source is a collection with topics, name its topics and judgments."""
    collection = searchlab.find_collection(source)
    if collection and collection.topics:
        judged = f" and judgments {collection.qrels[0].name}" if collection.qrels else ""
        note(f"{source} is a collection with topics {collection.topics[0].name}{judged}: `searchlab run` uses them")
