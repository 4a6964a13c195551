"""Locks on an index: one writer at a time, and shards that readers keep from being removed.

A writer locks `writer.lock` of the index; readers need no lock to open it. A reader holds a shared lock on the file
`in-use` of each of its shards, and a writer removes a shard only if it can lock that file exclusively. Both are `flock`
locks, which end with the process however it ends.
"""

from __future__ import annotations

import errno
import fcntl
import getpass
import os
import platform
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path

from searchlab.errors import REBUILD, IndexCorrupt, IndexLocked, WriteFailed
from searchlab.indexing.storage.layout import IN_USE, MANIFEST, WRITER_LOCK


@contextmanager
def writer_lock(folder: Path) -> Iterator[None]:
    """Lock the index in `folder` for writing; a new folder that ends up without an index is removed.

    Raises IndexLocked if another process is writing. An OSError in the block becomes WriteFailed.
    """
    existed = folder.exists()
    with _write_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(folder / WRITER_LOCK, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        _lock(descriptor, folder)
        try:
            with _write_errors(folder):
                yield
        finally:
            os.ftruncate(descriptor, 0)
            if not existed and not (folder / MANIFEST).exists():
                shutil.rmtree(folder, ignore_errors=True)
    finally:
        os.close(descriptor)


def _lock(descriptor: int, folder: Path) -> None:
    """Lock the file and write into it who holds the lock."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
            raise WriteFailed(f"{folder}: cannot be locked ({error.strerror})") from None
        holder = os.pread(descriptor, 1000, 0).decode("utf-8", "replace").strip()
        raise IndexLocked(f"{folder}: being written by {holder or 'another process'}; try again later") from None
    now = datetime.now().strftime("%Y-%m-%d %H:%M:%S")
    note = f"process {os.getpid()} ({_user()} on {platform.node()}) since {now}\n"
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, note.encode(), 0)


def _user() -> str:
    with suppress(OSError, KeyError):
        return getpass.getuser()
    return f"user {os.getuid()}"


@contextmanager
def _write_errors(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        path = error.filename or folder
        raise WriteFailed(f"{path}: cannot be written ({error.strerror or error}); the index is unchanged") from error


def lock_shard(shard: Path, *, exclusive: bool = False) -> int:
    """Lock a shard, shared with other readers or exclusively; returns the file descriptor, to be closed by the caller.

    Raises BlockingIOError if an exclusive lock is asked for while the shard is in use.
    """
    try:
        descriptor = os.open(shard / IN_USE, os.O_RDONLY)
    except OSError:
        raise IndexCorrupt(f"{shard / IN_USE}: missing; {REBUILD}") from None
    try:
        fcntl.flock(descriptor, (fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH) | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        if exclusive:
            raise
        raise IndexCorrupt(f"{shard}: is being removed; {REBUILD}") from None
    return descriptor
