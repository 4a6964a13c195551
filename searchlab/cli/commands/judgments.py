"""What has been judged? Judgments from the command line: to see, to export, to import, and how far judges agree."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from searchlab.cli.app import IndexOption, app, choose_index, count, note, warn_of_latin1
from searchlab.cli.model_printing import print_columns
from searchlab.cli.printing import visible
from searchlab.errors import SettingError, unknown_name

if TYPE_CHECKING:
    from searchlab.judgments.agreement import Agreement
    from searchlab.judgments.judgment_store import JudgmentStore

# Who judged what came with a collection, or in a file that does not say.
COLLECTION = "collection"
# Longer texts of topics are cut in tables.
SHOWN = 60
KINDS = ("qrels", "topics")

SetOption = Annotated[
    str | None, typer.Option("--set", metavar="NAME", help="A set of topics [default: the only one there is]")
]

judgments_app = typer.Typer(name="judgments", rich_markup_mode=None, add_completion=False)
app.add_typer(judgments_app)


@judgments_app.callback(invoke_without_command=True)
def judgments_command(context: typer.Context) -> None:
    """Show, export and import what was judged, and see how far judges agree."""
    if context.invoked_subcommand is None:
        print(context.get_help())


@judgments_app.command("show")
def show_command(
    index: IndexOption = None,
    of: Annotated[
        str | None, typer.Option("--set", metavar="NAME", help="Show the topics of this set [default: all sets]")
    ] = None,
) -> None:
    """Show which sets of topics there are, and how much of each is judged; or the topics of one set."""
    with _open(choose_index(index)) as store:
        sets = store.topic_sets()
        if not sets:
            note("nothing judged yet: judge in the page that `searchlab serve` opens, or `searchlab judgments import`")
        elif of is None:
            rows = [["set", "judges", "topics", "judged topics", "judgments", "relevant"]]
            for own in sets:
                counts = [own.n_topics, own.n_judged_topics, own.n_judgments, own.n_relevant]
                rows.append([own.name, ", ".join(own.judges) or "-", *(f"{n:,}" for n in counts)])
            print_columns(rows, n_labels=2)
        else:
            rows = [["topic", "text", "judged", "relevant"]]
            for topic in store.topics(_chosen(store, of)):
                cut = topic.text if len(topic.text) <= SHOWN else f"{topic.text[: SHOWN - 1]}…"
                rows.append([topic.qid, cut, f"{topic.n_judged:,}", f"{topic.n_relevant:,}"])
            print_columns(rows, n_labels=2)


@judgments_app.command("export")
def export_command(
    what: Annotated[str, typer.Argument(metavar="qrels|topics", help="Judgments, or the topics that they belong to")],
    index: IndexOption = None,
    of: SetOption = None,
    judge: Annotated[
        str | None,
        typer.Option("--judge", metavar="NAME", help="Only what this one judged [default: the lower median of all]"),
    ] = None,
    output: Annotated[str, typer.Option("-o", "--output", metavar="FILE", help="- is standard output")] = "-",
) -> None:
    """Write judgments as TREC qrels (qid 0 docno grade), or topics as lines of qid, tab and text."""
    from searchlab.atomic_file import open_atomic
    from searchlab.judgments.trec_exchange import format_qrels, format_topics

    if what not in KINDS:
        raise unknown_name("export", what, KINDS)
    if what == "topics" and judge is not None:
        raise SettingError("--judge goes with qrels: topics are nobody's")
    with _open(choose_index(index)) as store:
        of = _chosen(store, of)
        judges = next(own.judges for own in store.topic_sets() if own.name == of)
        if judge is not None and judge not in judges:
            raise unknown_name("judge", judge, judges)
        text = format_topics(store, of) if what == "topics" else format_qrels(store, of, judge)
    if not text:
        raise SettingError(f"nothing in the set {visible(of)} is judged")
    with nullcontext(sys.stdout) if output == "-" else open_atomic(output) as file:
        file.write(text)
    where = "" if output == "-" else f" → {output}"
    note(f"{count(text.count(chr(10)), 'topic' if what == 'topics' else 'judgment')} of {visible(of)}{where}")


@judgments_app.command("import")
def import_command(
    index: IndexOption = None,
    topics: Annotated[
        str | None,
        typer.Option("--topics", metavar="FILE", help="Topics [default: the collection's, if no file is named]"),
    ] = None,
    qrels: Annotated[
        str | None,
        typer.Option("--qrels", metavar="FILE", help="Judgments [default: the collection's, if no file is named]"),
    ] = None,
    of: Annotated[
        str | None, typer.Option("--set", metavar="NAME", help="The set to add them to [default: the index's name]")
    ] = None,
    judge: Annotated[str, typer.Option("--judge", metavar="NAME", help="Who judged them")] = COLLECTION,
) -> None:
    """Add topics and judgments to those beside an index: all of them, or none if anything is wrong."""
    import searchlab

    folder = choose_index(index)
    if topics is None and qrels is None:
        topics, qrels = _own_files(folder)
    notes = searchlab.ReadingNotes()
    wanted = searchlab.read_topics(topics, notes=notes) if topics else []
    grades = searchlab.read_qrels(qrels, notes=notes) if qrels else {}
    warn_of_latin1(notes)
    of = folder.resolve().name if of is None else of
    with _open(folder) as store:
        done = store.import_judgments(of, wanted, grades, judge=judge)
    added = f"{count(done.n_topics, 'topic')} and {count(done.n_judgments, 'judgment')} added to {visible(of)}"
    same = f"; {count(done.n_topics_same, 'topic')} and {count(done.n_judgments_same, 'judgment')} were there already"
    print(added + (same if done.n_topics_same or done.n_judgments_same else ""))


@judgments_app.command("agree")
def agree_command(index: IndexOption = None, of: SetOption = None) -> None:
    """Show how far each two judges agree on the documents that both judged: Cohen's κ, plain and weighted."""
    from searchlab.judgments.agreement import compare_judges

    with _open(choose_index(index)) as store:
        found = compare_judges(store, _chosen(store, of))
    if not found:
        note("fewer than two have judged: agreement needs two")
        return
    print_columns([["judges", "both judged", "agree", "κ", "weighted κ"], *map(_agreement_row, found)])
    note("κ: 1 is full agreement, 0 what chance gives; weighted, 0 and 2 are further apart than 1 and 2")


def _agreement_row(own: Agreement) -> list[str]:
    numbers = [f"{own.agreement:.1%}" if own.agreement is not None else "-"]
    numbers += ["-" if kappa is None else f"{kappa:.3f}" for kappa in (own.kappa, own.weighted_kappa)]
    return [" and ".join(own.judges), f"{own.n:,}", *numbers]


def _open(folder: Path) -> JudgmentStore:
    """The judgments beside an index, which must be there."""
    from searchlab.indexing.storage.manifest import read_index_manifest
    from searchlab.judgments.judgment_store import JudgmentStore, judgments_file

    read_index_manifest(folder)
    return JudgmentStore(judgments_file(folder))


def _chosen(store: JudgmentStore, name: str | None) -> str:
    """The set that is meant."""
    names = [own.name for own in store.topic_sets()]
    if name is not None and name in names:
        return name
    if not names:
        raise SettingError(f"{store.path}: nothing judged yet")
    if name is not None:
        raise unknown_name("set", name, names)
    if len(names) > 1:
        raise SettingError(f"several sets: {', '.join(names)}; choose one with --set")
    return names[0]


def _own_files(folder: Path) -> tuple[str, str | None]:
    """Topics and judgments of the collection that was indexed."""
    from searchlab.indexing.source_collection import source_collection

    collection = source_collection(folder)
    if collection is None:
        raise SettingError(f"{folder}: its sources have no topics; expected --topics, --qrels or both")
    topics, qrels = str(collection.topics[0]), str(collection.qrels[0]) if collection.qrels else None
    note(f"topics: {topics}")
    if qrels:
        note(f"judgments: {qrels}")
    return topics, qrels
