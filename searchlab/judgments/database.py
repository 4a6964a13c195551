"""Where are judgments kept, and what if the disk refuses?

A SQLite database in WAL mode: readers never wait, and of several writers, in threads or processes, one writes at a time
while the others wait for it. A write is one transaction, and is on the disk before it is answered (synchronous=FULL):
killing the process, or the power failing, takes nothing back.

    topics    sets of topics, in the order in which they came
    acts      a judge gave a document a grade for a topic (NULL: took the grade back), with a note
    undone    acts that were taken back by `undo`
    last      of each judge and document, the last act that was not undone: this is what is valid
    queries   what was searched for, for suggestions

Topics, acts and undone are only ever added to. `last` follows from them, by triggers, so that it cannot be forgotten;
to derive it anew for each reading would take several times as long.

Reading a file that does not exist finds nothing and makes nothing; the first write makes it.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

from searchlab.corpus.text_cleaning import excerpt, shown_path
from searchlab.errors import IndexCorrupt, IndexLocked, IndexTooNew, SettingError, StoreError, WriteFailed

# "SLJ" and a number, by which `file` and we know our own.
APPLICATION_ID = 0x534C4A01
SCHEMA_VERSION = 1
# So long a writer waits for others, in seconds.
LOCK_TIMEOUT_SECONDS = 10.0

SCHEMA = """
CREATE TABLE topics (
    id INTEGER PRIMARY KEY AUTOINCREMENT, set_name TEXT NOT NULL, qid TEXT NOT NULL, text TEXT NOT NULL,
    folded TEXT NOT NULL, UNIQUE (set_name, qid)
);

CREATE INDEX topics_by_text ON topics (folded);

CREATE TABLE acts (
    id INTEGER PRIMARY KEY AUTOINCREMENT, topic INTEGER NOT NULL REFERENCES topics, docno TEXT NOT NULL,
    judge TEXT NOT NULL, grade INTEGER, note TEXT NOT NULL, made TEXT NOT NULL, imported INTEGER NOT NULL
);

CREATE INDEX acts_by_document ON acts (topic, judge, docno, id);

CREATE INDEX acts_by_judge ON acts (judge, id);

CREATE TABLE undone (
    id INTEGER PRIMARY KEY AUTOINCREMENT, act INTEGER NOT NULL UNIQUE REFERENCES acts, made TEXT NOT NULL
);

CREATE TABLE last (
    topic INTEGER NOT NULL, judge TEXT NOT NULL, docno TEXT NOT NULL, grade INTEGER,
    act INTEGER NOT NULL REFERENCES acts, PRIMARY KEY (topic, judge, docno)
) WITHOUT ROWID;

CREATE TRIGGER done AFTER INSERT ON acts BEGIN
    INSERT OR REPLACE INTO last VALUES (new.topic, new.judge, new.docno, new.grade, new.id);
END;

CREATE TRIGGER taken_back AFTER INSERT ON undone BEGIN
    DELETE FROM last WHERE (topic, judge, docno) = (SELECT topic, judge, docno FROM acts WHERE id = new.act);
    INSERT INTO last
        SELECT topic, judge, docno, grade, id FROM acts
        WHERE (topic, judge, docno) = (SELECT topic, judge, docno FROM acts WHERE id = new.act)
        AND id NOT IN (SELECT act FROM undone) ORDER BY id DESC LIMIT 1;
END;

CREATE TABLE queries (id INTEGER PRIMARY KEY AUTOINCREMENT, folded TEXT NOT NULL UNIQUE, text TEXT NOT NULL);
"""


class Database:
    """One file; connections are lent, each to one thread at a time, and kept for the next."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._idle: list[tuple[sqlite3.Connection, int | None]] = []
        self._closed = False

    def __del__(self) -> None:
        # A connection is not closed by being forgotten, since it is part of a cycle.
        self.close()

    def close(self) -> None:
        """Close what is not in use now; what is in use is closed when it comes back."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for connection, _ in idle:
            connection.close()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection | None]:
        """A connection that sees one state of the database; None if there is nothing in it yet."""
        with self._told("read"):
            inode = self._inode()
            if inode is None:
                yield None
                return
            with self._lent(inode) as connection, self._one_state(connection):
                yield connection if self._is_ours(connection) else None

    @contextmanager
    def writing(self, *, durable: bool = True) -> Iterator[sqlite3.Connection]:
        """A connection whose changes become true together at the end, or not at all if anything fails.

        They are on the disk then; if not `durable`, they outlive the process, but perhaps not a failure of the power.
        """
        with self._told("written"), self._lent(self._inode()) as connection:
            with self._one_state(connection):
                self._is_ours(connection)  # what is not ours stays as it is, its mode too
            self._be_wal(connection)
            connection.execute(f"PRAGMA synchronous={'FULL' if durable else 'NORMAL'}")
            connection.execute("BEGIN IMMEDIATE")
            try:
                if not self._is_ours(connection):
                    self._create(connection)
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                # A full disk may have ended the transaction already.
                with suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")
                raise

    @contextmanager
    def _one_state(self, connection: sqlite3.Connection) -> Iterator[None]:
        """All that is read sees one state, whatever others commit meanwhile."""
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
    def _lent(self, inode: int | None) -> Iterator[sqlite3.Connection]:
        """A connection to the file that has this inode now: one that was removed is no longer written to."""
        with self._lock:
            if self._closed:
                raise StoreError(f"{shown_path(self.path)}: closed already")
            stale = [connection for connection, own in self._idle if own != inode]
            self._idle = [(connection, own) for connection, own in self._idle if own == inode]
            connection = self._idle.pop()[0] if self._idle else None
        for old in stale:
            old.close()
        lasting = True
        if connection is None:
            connection, lasting = self._open(exists=inode is not None)
            inode = self._inode()
        sound = False
        try:
            yield connection
            sound = True
        finally:
            with self._lock:
                keep = sound and lasting and not self._closed
                if keep:
                    self._idle.append((connection, inode))
            if not keep:
                connection.close()

    def _open(self, *, exists: bool) -> tuple[sqlite3.Connection, bool]:
        """A connection, and whether it may be kept."""
        try:
            connection = self._connect("mode=rw" if exists else "mode=rwc")
        except sqlite3.OperationalError as error:
            # Where nothing can be written, SQLite reads only what it is told not to change. What is still in the log
            # beside the file would be left out then.
            refused = error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)
            if not exists or not refused or Path(f"{self.path}-wal").exists():
                raise
            return self._connect("mode=ro&immutable=1"), False
        # One that may only read stays so, though the file should become writable.
        return connection, os.access(self.path, os.W_OK, effective_ids=os.access in os.supports_effective_ids)

    def _connect(self, how: str) -> sqlite3.Connection:
        address = f"file:{quote(str(self.path.absolute()))}?{how}"
        connection = sqlite3.connect(
            address,
            uri=True,
            timeout=LOCK_TIMEOUT_SECONDS,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=64,
        )
        try:
            connection.execute("PRAGMA foreign_keys=ON")
            # The first look at the file: says whether it is a database at all.
            connection.execute("PRAGMA user_version").fetchone()
        except BaseException:
            connection.close()
            raise
        return connection

    def _be_wal(self, connection: sqlite3.Connection) -> None:
        """Two that make the database at once may hinder each other here, without SQLite waiting of its own accord.

        A disk that cannot do it leaves the mode as it is: safe too, but readers and the writer wait for each other.
        """
        patient_until = time.monotonic() + LOCK_TIMEOUT_SECONDS
        while True:
            try:
                if connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
                    connection.execute("PRAGMA journal_mode=WAL")
                return
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > patient_until:
                    raise
                time.sleep(0.01)

    def _is_ours(self, connection: sqlite3.Connection) -> bool:
        """Whether the tables are there; False if nothing is. Anything else is refused."""
        version = int(connection.execute("PRAGMA user_version").fetchone()[0])
        application = int(connection.execute("PRAGMA application_id").fetchone()[0])
        if application == APPLICATION_ID:
            if version > SCHEMA_VERSION:
                told = f"layout {version}, but this searchlab reads layout {SCHEMA_VERSION}; use a newer searchlab"
                raise IndexTooNew(f"{shown_path(self.path)}: {told}")
            return True
        if application or version or connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchone():
            raise IndexCorrupt(f"{shown_path(self.path)}: a database, but not one of judgments")
        return False

    def _create(self, connection: sqlite3.Connection) -> None:
        for statement in SCHEMA.strip().split("\n\n"):
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version={SCHEMA_VERSION}")

    @contextmanager
    def _told(self, what: str) -> Iterator[None]:
        """What SQLite objects to, in the words of searchlab."""
        try:
            yield
        except sqlite3.Error as error:
            raise self._error(error, what) from error
        except UnicodeEncodeError as error:
            raise SettingError(f"found {excerpt(error.object)}, expected characters that UTF-8 can write") from None
        except OSError as error:
            raise StoreError(f"{shown_path(self.path)}: cannot be {what} ({error.strerror})") from error

    def _error(self, error: sqlite3.Error, what: str) -> StoreError:
        path, code = shown_path(self.path), getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code == sqlite3.SQLITE_NOTADB:
            return IndexCorrupt(f"{path}: not a database of judgments; move it away to begin anew")
        if code == sqlite3.SQLITE_CORRUPT:
            return IndexCorrupt(f"{path}: damaged ({error}); `sqlite3 FILE .recover` may save what is left")
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return IndexLocked(
                f"{path}: another process has been writing for {LOCK_TIMEOUT_SECONDS:.0f} seconds; try again"
            )
        reason = str(error)
        if self.path.is_dir() or not self.path.parent.is_dir():
            reason = "a folder" if self.path.is_dir() else "no such folder"
        return (WriteFailed if what == "written" else StoreError)(f"{path}: cannot be {what} ({reason})")
