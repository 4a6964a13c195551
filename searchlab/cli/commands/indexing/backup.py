"""`searchlab backup`: make, list and restore backups of an index with all that belongs to it."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from searchlab.cli.app import add_group
from searchlab.cli.messages import note, warn
from searchlab.cli.options import IndexOption, JsonOption, choose_index
from searchlab.cli.printing.terminal_text import local_time, megabytes, print_columns
from searchlab.cli.progress import stage_bar
from searchlab.errors import IndexCorrupt
from searchlab.evaluation.number_text import format_count

NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="The name of the backup")]

backup_app = add_group("backup", "Make, list and restore backups of an index.")


@backup_app.command("create")
def backup_create_command(
    name: NameArgument,
    index: IndexOption = None,
    copy: Annotated[
        bool, typer.Option("--copy", help="Copy every file, where hard links would share the disk with the index.")
    ] = False,
) -> None:
    """Back up an index with its judgments, models, topic models and semantic space.

    Also while it is being changed, judged and searched. Every file is verified.
    """
    from searchlab.backups.backup_files import backups_of
    from searchlab.backups.index_backup import create_backup

    folder = choose_index(index)
    with stage_bar() as progress:
        record = create_backup(folder, name, link=not copy, progress=progress)
    documents = format_count(record.n_docs, "document")
    print(f"{backups_of(folder) / name}: {documents}, {megabytes(record.n_bytes)}; {', '.join(record.parts)}")


@backup_app.command("list")
def backup_list_command(index: IndexOption = None, as_json: JsonOption = False) -> None:
    """List the backups of an index, the oldest first."""
    from searchlab.backups.backup_files import backups_of
    from searchlab.backups.index_backup import list_backups

    folder = choose_index(index)
    found = list_backups(folder)
    records = [record for _, record in found if not isinstance(record, IndexCorrupt)]
    if as_json:
        rows = [
            {"name": each.name, "made": each.made, "n_docs": each.n_docs, "n_bytes": each.n_bytes, "parts": each.parts}
            for each in records
        ]
        print(json.dumps(rows, ensure_ascii=False, indent=2))
    elif records:
        table = [["backup", "documents", "size", "made", "parts"]]
        for each in records:
            sizes = [f"{each.n_docs:,}", megabytes(each.n_bytes)]
            table.append([each.name, *sizes, local_time(each.made), ", ".join(each.parts)])
        print_columns(table)
    else:
        note(f"no backup in {backups_of(folder)}: `searchlab backup create NAME` makes one")
    for _, problem in found:
        if isinstance(problem, IndexCorrupt):
            warn(str(problem))


@backup_app.command("restore")
def backup_restore_command(
    name: NameArgument,
    index: IndexOption = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace an index, judgments and models that exist already.")
    ] = False,
) -> None:
    """Put a backup in the place of the index, or where there is none.

    Every file is verified first; if anything fails, everything stays as it was.
    """
    from searchlab.backups.index_backup import restore_backup

    folder = choose_index(index)
    with stage_bar() as progress:
        record, kept = restore_backup(folder, name, force=force, progress=progress)
    print(f"{folder}: {format_count(record.n_docs, 'document')} restored; {', '.join(record.parts)}")
    if kept is not None:
        note(f"the replaced judgments are kept as {kept}")
