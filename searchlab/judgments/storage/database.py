"""The SQLite database of judgments.

The database is in WAL mode: readers never wait, and one of several writers, in threads or processes, writes at a time
while the others wait. A write is one transaction, and is on disk before the call returns (synchronous=FULL): neither a
killed process nor a power failure loses it. Its tables are in `schema.py`.

Reading from a file that does not exist finds nothing and creates nothing; the first write creates it. A file may come
from a stranger, or be damaged: its schema must be exactly this one, and a process verifies the whole file when it first
uses it. Files of earlier layouts are read, and the first write adds what they lack.
"""

from __future__ import annotations

import os
import sqlite3
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

from searchlab.corpus.text_cleaning import excerpt, shown_path
from searchlab.errors import IndexCorrupt, IndexLocked, IndexTooNew, SettingError, StoreError, WriteFailed
from searchlab.judgments.storage.integrity import (
    LATER_TABLES,
    Damage,
    Seals,
    extend_seals,
    read_seals,
    require_schema,
    verify_all,
    verify_seals,
)
from searchlab.judgments.storage.schema import (
    DROPPED_VIEWS,
    EARLIER_VIEWS,
    FIRST_CHANGEABLE_VERSION,
    FIRST_SEALED_VERSION,
    LAYOUTS,
    SCHEMA_VERSION,
    UPGRADE,
)

# "SLJ" and a number, by which the file is recognised.
APPLICATION_ID = 0x534C4A01
# How long a writer waits for other writers.
LOCK_TIMEOUT_SECONDS = 10.0
# The longest value: the grades of millions of documents as JSON.
MAX_VALUE_BYTES = 2**28


class Connection(sqlite3.Connection):
    """A connection, and the state of the file in which it was found readable."""

    # What was verified of the file, and SQLite's number of its changes by other connections.
    readable: tuple[tuple[int, int, Seals], int] | None = None


class Database:
    """One database file and a pool of connections, each used by one thread at a time."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._idle: list[tuple[Connection, int | None]] = []
        self._closed = False
        # The file that was verified last: its inode, the version of its schema, and its seals.
        self._verified: tuple[int, int, Seals] | None = None

    def __del__(self) -> None:
        # Connections are part of a reference cycle, so that they are not closed when the last reference is dropped.
        self.close()

    def close(self) -> None:
        """Close idle connections; those in use are closed when they are returned."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for connection, _ in idle:
            connection.close()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection | None]:
        """A connection that sees one snapshot of the database; None if it does not exist or is empty."""
        with self._translate_errors("read"):
            inode = self._inode()
            if inode is None:
                yield None
                return
            with self._borrow_connection(inode) as connection, self._snapshot(connection):
                yield connection if self._is_readable(connection, inode) else None

    @contextmanager
    def writing(self, *, durable: bool = True) -> Iterator[sqlite3.Connection]:
        """A connection whose changes are committed together at the end, or not at all if anything fails.

        They are on disk then; if not `durable`, they survive the process, but possibly not a power failure.
        """
        with self._translate_errors("written"), self._borrow_connection(self._inode()) as connection:
            connection.readable = None  # SQLite does not count a connection's own changes
            with self._snapshot(connection):
                # A foreign or damaged file stays unchanged, including its mode.
                self._is_verified(connection, self._inode() or 0)
                _execute_all(connection, DROPPED_VIEWS)
            self._enable_wal(connection)
            connection.execute(f"PRAGMA synchronous={'FULL' if durable else 'NORMAL'}")
            connection.execute("BEGIN IMMEDIATE")
            try:
                self._create(connection, self._layout(connection))
                yield connection
                extend_seals(connection)
                connection.execute("COMMIT")
            except BaseException:
                # If the disk is full, SQLite may have ended the transaction already.
                with suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")
                raise

    @contextmanager
    def _snapshot(self, connection: sqlite3.Connection) -> Iterator[None]:
        """All reads see one snapshot, whatever other connections commit meanwhile."""
        connection.execute("BEGIN")
        try:
            yield
        finally:
            with suppress(sqlite3.Error):
                connection.execute("ROLLBACK")

    def _inode(self) -> int | None:
        try:
            return self.path.stat().st_ino
        except (FileNotFoundError, NotADirectoryError):
            return None

    @contextmanager
    def _borrow_connection(self, inode: int | None) -> Iterator[Connection]:
        """A connection to the file with this inode; connections to a file that was removed or replaced are closed."""
        with self._lock:
            if self._closed:
                raise StoreError(f"{shown_path(self.path)}: already closed")
            stale = [connection for connection, opened in self._idle if opened != inode]
            self._idle = [(connection, opened) for connection, opened in self._idle if opened == inode]
            connection = self._idle.pop()[0] if self._idle else None
        for old in stale:
            old.close()
        reusable = True
        if connection is None:
            connection, reusable = self._open(exists=inode is not None)
            inode = self._inode()
        succeeded = False
        try:
            yield connection
            succeeded = True
        finally:
            with self._lock:
                keep = succeeded and reusable and not self._closed
                if keep:
                    self._idle.append((connection, inode))
            if not keep:
                connection.close()

    def _open(self, *, exists: bool) -> tuple[Connection, bool]:
        """A connection, and whether it may be reused."""
        try:
            connection = self._connect("mode=rw" if exists else "mode=rwc")
        except sqlite3.OperationalError as error:
            # In a folder without write permission, SQLite opens only files declared immutable. It then ignores the
            # write-ahead log, so that a file with a log must not be opened in this way.
            not_writable = error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)
            if not exists or not not_writable or Path(f"{self.path}-wal").exists():
                raise
            return self._connect("mode=ro&immutable=1"), False
        # A read-only connection stays read-only even if the file becomes writable, so that it is not reused.
        return connection, os.access(self.path, os.W_OK, effective_ids=os.access in os.supports_effective_ids)

    def _connect(self, mode: str) -> Connection:
        address = f"file:{quote(str(self.path.absolute()))}?{mode}"
        connection = sqlite3.connect(
            address,
            uri=True,
            timeout=LOCK_TIMEOUT_SECONDS,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=64,
            factory=Connection,
        )
        try:
            _harden(connection)
            connection.execute("PRAGMA foreign_keys=ON")
            # Reads the header, and fails if the file is not a database.
            connection.execute("PRAGMA user_version").fetchone()
        except BaseException:
            connection.close()
            raise
        return connection

    def _enable_wal(self, connection: sqlite3.Connection) -> None:
        """Switch to WAL mode, and retry while another process does the same, because SQLite does not wait here.

        A file system without support for it leaves the mode unchanged: safe, but readers and writers wait for each
        other.
        """
        deadline = time.monotonic() + LOCK_TIMEOUT_SECONDS
        while True:
            try:
                if connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
                    connection.execute("PRAGMA journal_mode=WAL")
                return
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                    raise
                time.sleep(0.01)

    def verify(self) -> None:
        """Verify the whole file again; raises IndexCorrupt if it is damaged."""
        self._verified = None
        with self.reading():
            pass

    def _layout(self, connection: sqlite3.Connection) -> int:
        """The layout of the file; 0 if it is empty, an error if it has other contents."""
        version = int(connection.execute("PRAGMA user_version").fetchone()[0])
        application = int(connection.execute("PRAGMA application_id").fetchone()[0])
        if application == APPLICATION_ID and version > SCHEMA_VERSION:
            expected = f"this searchlab reads layout {SCHEMA_VERSION}; use a newer searchlab"
            raise IndexTooNew(f"{shown_path(self.path)}: layout {version}, but {expected}")
        if application == APPLICATION_ID and version in LAYOUTS:
            return version
        if application or version or connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchone():
            raise IndexCorrupt(f"{shown_path(self.path)}: a database, but not a database of judgments")
        return 0

    def _is_readable(self, connection: Connection, inode: int) -> bool:
        """Whether the tables exist, and are verified; those of an earlier layout are read as the present ones.

        Nothing is examined again while the file does not change: that takes several times as long as a short query.
        """
        changes = int(connection.execute("PRAGMA data_version").fetchone()[0])
        readable, verified = connection.readable, self._verified
        if readable is not None and readable[0] is verified and readable[1] == changes:
            return True
        if not self._is_verified(connection, inode):
            return False
        earlier = self._layout(connection) < FIRST_CHANGEABLE_VERSION
        _execute_all(connection, EARLIER_VIEWS if earlier else DROPPED_VIEWS)
        verified = self._verified
        # The views of an earlier layout end with the transaction: they are needed each time.
        connection.readable = None if earlier or verified is None else (verified, changes)
        return True

    def _is_verified(self, connection: sqlite3.Connection, inode: int) -> bool:
        """Whether the tables exist, which are then verified: all at first, later the rows that were added."""
        layout = self._layout(connection)
        if not layout:
            return False
        changeable = layout >= FIRST_CHANGEABLE_VERSION
        schema = int(connection.execute("PRAGMA schema_version").fetchone()[0])
        verified = self._verified
        try:
            if verified is None or verified[:2] != (inode, schema):
                require_schema(connection, LAYOUTS[layout])
                seals = verify_all(connection, sealed=layout >= FIRST_SEALED_VERSION, changeable=changeable)
            elif layout >= FIRST_SEALED_VERSION and read_seals(connection) != verified[2]:
                seals = verify_seals(connection, verified[2], () if changeable else LATER_TABLES)
            else:
                return True
        except Damage as damage:
            raise IndexCorrupt(damage_message(self.path, str(damage))) from None
        self._verified = inode, schema, seals
        return True

    def _create(self, connection: sqlite3.Connection, layout: int) -> None:
        """Create the tables that the file does not have yet."""
        if layout == SCHEMA_VERSION:
            return
        for statement in LAYOUTS[SCHEMA_VERSION][len(LAYOUTS.get(layout, ())) :]:
            connection.execute(statement)
        if layout:
            connection.execute(UPGRADE)
        connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version={SCHEMA_VERSION}")

    @contextmanager
    def _translate_errors(self, action: str) -> Iterator[None]:
        """Raise errors of SQLite and the file system as errors of searchlab."""
        try:
            yield
        except sqlite3.Error as error:
            raise self._store_error(error, action) from error
        except UnicodeDecodeError as error:  # raised where SQLite cannot even name the text in its own error
            raise IndexCorrupt(damage_message(self.path, "a text that is not UTF-8")) from error
        except UnicodeEncodeError as error:
            raise SettingError(f"found {excerpt(error.object)}, expected characters that UTF-8 can write") from None
        except OSError as error:
            raise StoreError(f"{shown_path(self.path)}: cannot be {action} ({error.strerror})") from error

    def _store_error(self, error: sqlite3.Error, action: str) -> StoreError:
        path, code = shown_path(self.path), getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code == sqlite3.SQLITE_NOTADB:
            return IndexCorrupt(damage_message(self.path, "not a database of judgments"))
        if code == sqlite3.SQLITE_CORRUPT:
            return IndexCorrupt(damage_message(self.path, str(error)))
        if "Could not decode" in str(error):
            return IndexCorrupt(damage_message(self.path, "a text that is not UTF-8"))
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return IndexLocked(
                f"{path}: another process has been writing for {LOCK_TIMEOUT_SECONDS:.0f} seconds; try again"
            )
        reason = str(error)
        if self.path.is_dir() or not self.path.parent.is_dir():
            reason = "a folder" if self.path.is_dir() else "no such folder"
        return (WriteFailed if action == "written" else StoreError)(f"{path}: cannot be {action} ({reason})")


def _execute_all(connection: sqlite3.Connection, statements: tuple[str, ...]) -> None:
    for statement in statements:
        connection.execute(statement)


def _harden(connection: sqlite3.Connection) -> None:
    """Settings for a file that may come from a stranger; they must precede the first use of its schema."""
    connection.execute("PRAGMA trusted_schema=OFF")
    connection.execute("PRAGMA cell_size_check=ON")
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES)
    if sys.version_info >= (3, 12):
        connection.setconfig(sqlite3.SQLITE_DBCONFIG_DEFENSIVE, True)


def damage_message(path: Path, problem: str) -> str:
    """The message about a damaged file, which names the command for its backups and their folder."""
    folder = shown_path(backups_folder(path))
    remedy = f"`searchlab judgments restore` replaces it by the last good backup in {folder}"
    return f"{shown_path(path)}: damaged ({problem}); {remedy}, and `sqlite3 FILE .recover` may recover some of it"


def backups_folder(path: Path) -> Path:
    """The folder of the backups of a file of judgments: beside it."""
    return path.with_name(f"{path.name.removesuffix('.sqlite')}.backups")
