"""Backups of judgments: copies of the database, in a folder beside it.

    NAME.judgments.sqlite
    NAME.judgments.backups/20261118-051500.sqlite

A backup is made by SQLite's backup interface, and so is one consistent state, whatever is judged meanwhile. It is
verified, and appears under its name when it is complete. A restored backup replaces the file; a damaged file is kept
beside it, since some of it may be recovered.
"""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from searchlab.atomic_file import replace_atomically
from searchlab.corpus.text_cleaning import shown_path
from searchlab.errors import IndexCorrupt, SourceError, StoreError, WriteFailed
from searchlab.judgments.storage.database import Database, backups_folder

# The files that SQLite keeps beside a database; those of another database would be mistaken for its own.
SIDE_FILES = ("-wal", "-shm", "-journal")


def back_up(path: Path, output: Path | None = None) -> Path:
    """Copy the judgments in `path` to `output`, by default into the folder of backups; returns the copy."""
    with closing(Database(path)) as database:
        return copy_database(database, backups_folder(path) / f"{_stamp()}.sqlite" if output is None else output)


def copy_database(database: Database, output: Path) -> Path:
    """Copy the current state of a database, and verify the copy."""
    if output.resolve() == database.path.resolve():
        raise WriteFailed(f"{shown_path(output)}: cannot be written (it is the file of judgments itself)")
    if output.is_dir():
        raise WriteFailed(f"{shown_path(output)}: cannot be written (a folder, expected a file)")
    with database.reading() as source:
        if source is None:
            raise SourceError(shown_path(database.path), "nothing judged yet, so there is nothing to back up")
        try:
            output.parent.mkdir(parents=True, exist_ok=True)
            with replace_atomically(output) as temporary:
                with closing(sqlite3.connect(temporary, isolation_level=None)) as copy:
                    source.backup(copy)
                    # A copy in one file: without WAL there are no files beside it.
                    copy.execute("PRAGMA journal_mode=DELETE")
                with closing(Database(temporary)) as written:
                    written.verify()
        except (OSError, sqlite3.Error) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise WriteFailed(f"{shown_path(output)}: cannot be written ({reason})") from error
    return output


def last_good_backup(path: Path) -> Path | None:
    """The newest backup of the judgments in `path` that is not damaged; None if there is none."""
    for backup in sorted(backups_folder(path).glob("*.sqlite"), reverse=True):
        try:
            with closing(Database(backup)) as database:
                database.verify()
        except StoreError:
            continue
        return backup
    return None


def restore_judgments(path: Path, backup: Path | None = None) -> tuple[Path, Path | None]:
    """Replace the judgments in `path` by a backup, by default the last good one.

    Returns the backup, and the name under which the replaced file is kept (None if there was none).
    """
    chosen = last_good_backup(path) if backup is None else backup
    if chosen is None:
        raise SourceError(
            shown_path(backups_folder(path)), "no good backup here; `searchlab judgments backup` makes one"
        )
    if not chosen.is_file():
        raise SourceError(shown_path(chosen), "no such file")
    kept = path.with_name(f"{path.name.removesuffix('.sqlite')}.replaced-{_stamp()}.sqlite")
    with closing(Database(chosen)) as database:
        new = copy_database(database, path.with_name(f".{path.name}.restored"))
    try:
        existed = path.exists()
        if existed:
            for suffix in ("", *SIDE_FILES):
                if (old := Path(f"{path}{suffix}")).exists():
                    shutil.copyfile(old, f"{kept}{suffix}")
            for suffix in SIDE_FILES:
                Path(f"{path}{suffix}").unlink(missing_ok=True)
        new.replace(path)
    except OSError as error:
        new.unlink(missing_ok=True)
        raise WriteFailed(f"{shown_path(path)}: cannot be written ({error.strerror})") from error
    return chosen, kept if existed else None


def examine_judgments(path: Path) -> str | None:
    """What is wrong with the judgments in `path`; None if nothing is, or if there are none."""
    try:
        with closing(Database(path)) as database:
            database.verify()
    except IndexCorrupt as error:
        backup = last_good_backup(path)
        return f"{error}; last good backup: {'none' if backup is None else shown_path(backup)}"
    return None


def _stamp() -> str:
    return datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
