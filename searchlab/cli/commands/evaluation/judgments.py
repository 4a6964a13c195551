"""`searchlab judgments`: show, export and import judgments, and see how far judges agree."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import searchlab
from searchlab.cli.app import add_group
from searchlab.cli.messages import note, warn_of_encodings
from searchlab.cli.options import IndexOption, OutputOption, choose_index
from searchlab.cli.output import destination, open_output
from searchlab.cli.printing.terminal_text import print_columns, printable
from searchlab.errors import SettingError, unknown_name
from searchlab.evaluation.number_text import format_count

if TYPE_CHECKING:
    from searchlab.judgments.agreement import Agreement
    from searchlab.judgments.judgment_store import JudgmentStore

# The judge of judgments that came with a collection, or in a file that names none.
COLLECTION = "collection"
# Longer texts of topics are cut in tables.
MAX_TEXT_LENGTH = 60
EXPORTS = ("qrels", "topics")

TopicSetOption = Annotated[
    str | None, typer.Option("--topic-set", metavar="NAME", help="A topic set [default: the only one there is]")
]

judgments_app = add_group("judgments", "Show, export and import judgments.")


@judgments_app.command("show")
def judgments_show_command(
    index: IndexOption = None,
    topic_set: Annotated[
        str | None,
        typer.Option("--topic-set", metavar="NAME", help="Print the topics of this topic set [default: all sets]"),
    ] = None,
) -> None:
    """Print the topic sets, and how much of each is judged.

    With --topic-set its topics.
    """
    with _open_store(choose_index(index)) as store:
        sets = store.topic_sets()
        if not sets:
            note("nothing judged yet: judge in the page of `searchlab serve`, or use `searchlab judgments import`")
        elif topic_set is None:
            rows = [["topic set", "judges", "topics", "judged topics", "judgments", "relevant"]]
            for each in sets:
                counts = [each.n_topics, each.n_judged_topics, each.n_judgments, each.n_relevant]
                rows.append([each.name, ", ".join(each.judges) or "-", *(f"{n:,}" for n in counts)])
            print_columns(rows, n_labels=2)
        else:
            rows = [["topic", "text", "judged", "relevant"]]
            for topic in store.topics(_choose_topic_set(store, topic_set)):
                is_short = len(topic.text) <= MAX_TEXT_LENGTH
                text = topic.text if is_short else f"{topic.text[: MAX_TEXT_LENGTH - 1]}…"
                rows.append([topic.qid, text, f"{topic.n_judged:,}", f"{topic.n_relevant:,}"])
            print_columns(rows, n_labels=2)


@judgments_app.command("export")
def judgments_export_command(
    what: Annotated[str, typer.Argument(metavar="qrels|topics", help="Export the judgments, or their topics")],
    index: IndexOption = None,
    topic_set: TopicSetOption = None,
    judge: Annotated[
        str | None,
        typer.Option("--judge", metavar="NAME", help="Only the grades of this judge [default: the lower median]"),
    ] = None,
    output: OutputOption = "-",
) -> None:
    """Write judgments as TREC qrels, or their topics.

    Qrels have lines of qid, 0, docno and grade; topics have lines of qid, tab and text.
    """
    from searchlab.judgments.exchange.trec_exchange import format_qrels, format_topics

    if what not in EXPORTS:
        raise unknown_name("export", what, EXPORTS)
    if what == "topics" and judge is not None:
        raise SettingError("--judge goes with qrels: topics have no judge")
    with _open_store(choose_index(index)) as store:
        name = _choose_topic_set(store, topic_set)
        judges = next(each.judges for each in store.topic_sets() if each.name == name)
        if judge is not None and judge not in judges:
            raise unknown_name("judge", judge, judges)
        text = format_topics(store, name) if what == "topics" else format_qrels(store, name, judge)
    if not text:
        raise SettingError(f"nothing in the topic set {name} is judged")
    with open_output(output) as file:
        file.write(text)
    lines = format_count(text.count("\n"), "topic" if what == "topics" else "judgment")
    note(f"{lines} of {name}{destination(output)}")


@judgments_app.command("import")
def judgments_import_command(
    index: IndexOption = None,
    topics: Annotated[
        str | None,
        typer.Option("--topics", metavar="FILE", help="Topics [default: the collection's, if no file is named]"),
    ] = None,
    qrels: Annotated[
        str | None,
        typer.Option("--qrels", metavar="FILE", help="Judgments [default: the collection's, if no file is named]"),
    ] = None,
    topic_set: Annotated[
        str | None,
        typer.Option("--topic-set", metavar="NAME", help="The topic set to add them to [default: the index's name]"),
    ] = None,
    judge: Annotated[str, typer.Option("--judge", metavar="NAME", help="Who judged")] = COLLECTION,
) -> None:
    """Add topics and judgments to those stored next to an index.

    All of them, or none if anything is wrong.
    """
    folder = choose_index(index)
    if topics is None and qrels is None:
        topics, qrels = _collection_files(folder)
    notes = searchlab.ReadingNotes()
    new_topics = searchlab.read_topics(topics, notes=notes) if topics else []
    grades = searchlab.read_qrels(qrels, notes=notes) if qrels else {}
    warn_of_encodings(notes)
    name = folder.resolve().name if topic_set is None else topic_set
    with _open_store(folder) as store:
        done = store.import_judgments(name, new_topics, grades, judge=judge)
    added = f"{format_count(done.n_topics, 'topic')} and {format_count(done.n_judgments, 'judgment')} added to"
    print(f"{added} {printable(name)}", end="")
    if done.n_topics_same or done.n_judgments_same:
        same = f"{format_count(done.n_topics_same, 'topic')} and {format_count(done.n_judgments_same, 'judgment')}"
        print(f"; {same} were there already", end="")
    print()


@judgments_app.command("agree")
def judgments_agree_command(index: IndexOption = None, topic_set: TopicSetOption = None) -> None:
    """Print how far each two judges agree.

    Agreement and Cohen's κ, plain and weighted, on the documents that both judged.
    """
    from searchlab.judgments.agreement import compare_judges

    with _open_store(choose_index(index)) as store:
        found = compare_judges(store, _choose_topic_set(store, topic_set))
    if not found:
        note("fewer than two people have judged: agreement needs two")
        return
    print_columns([["judges", "both judged", "agree", "κ", "weighted κ"], *map(_agreement_row, found)])
    note("κ: 1 is full agreement, 0 what chance gives; weighted, 0 and 2 are further apart than 1 and 2")


@judgments_app.command("backup")
def judgments_backup_command(
    index: IndexOption = None,
    output: Annotated[
        str | None,
        typer.Option("-o", "--output", metavar="FILE", help="The copy [default: a new one in INDEX.judgments.backups]"),
    ] = None,
) -> None:
    """Copy the judgments, also while a server is judging.

    The copy is one consistent state, and is verified.
    """
    from searchlab.judgments.storage.judgment_backup import back_up

    with _open_store(choose_index(index)) as store:
        print(back_up(store.path, None if output is None else Path(output)))


@judgments_app.command("restore")
def judgments_restore_command(
    backup: Annotated[
        str | None, typer.Argument(metavar="FILE", help="A backup [default: the last good one of the index]")
    ] = None,
    index: IndexOption = None,
) -> None:
    """Replace the judgments by a backup.

    The replaced file is kept beside it.
    """
    from searchlab.judgments.storage.judgment_backup import restore_judgments

    with _open_store(choose_index(index)) as store:
        path = store.path
    restored, kept = restore_judgments(path, None if backup is None else Path(backup))
    print(f"{path}: restored from {restored}")
    if kept is not None:
        note(f"the replaced file is kept as {kept}")


def _agreement_row(agreement: Agreement) -> list[str]:
    numbers = [f"{agreement.agreement:.1%}" if agreement.agreement is not None else "-"]
    numbers += ["-" if kappa is None else f"{kappa:.3f}" for kappa in (agreement.kappa, agreement.weighted_kappa)]
    return [" and ".join(agreement.judges), f"{agreement.n:,}", *numbers]


def _open_store(folder: Path) -> JudgmentStore:
    """The judgments stored next to an index, which must exist."""
    from searchlab.indexing.storage.manifest import read_index_manifest
    from searchlab.judgments.judgment_store import JudgmentStore, judgments_file

    read_index_manifest(folder)
    return JudgmentStore(judgments_file(folder))


def _choose_topic_set(store: JudgmentStore, name: str | None) -> str:
    """The named topic set; without a name, the only one."""
    names = [each.name for each in store.topic_sets()]
    if name is not None and name in names:
        return name
    if not names:
        raise SettingError(f"{store.path}: nothing judged yet")
    if name is not None:
        raise unknown_name("topic set", name, names)
    if len(names) > 1:
        raise SettingError(f"several topic sets: {', '.join(names)}; choose one with --topic-set")
    return names[0]


def _collection_files(folder: Path) -> tuple[str, str | None]:
    """Topics and judgments of the indexed collection."""
    from searchlab.indexing.source_collection import source_collection

    collection = source_collection(folder)
    if collection is None:
        raise SettingError(f"{folder}: its sources have no topics; expected --topics, --qrels or both")
    topics, qrels = str(collection.topics[0]), str(collection.qrels[0]) if collection.qrels else None
    note(f"topics: {topics}")
    if qrels:
        note(f"judgments: {qrels}")
    return topics, qrels
