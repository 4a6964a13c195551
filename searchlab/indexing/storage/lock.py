"""Locks on an index: one writer at a time, and shards that readers keep from being removed.

A writer locks `writer.lock` of the index; readers need no lock to open it. A reader holds a shared lock on the file
`in-use` of each of its shards, and a writer removes a shard only if it can lock that file exclusively. Both are `flock`
locks, which end with the process however it ends.

Whoever can open a file can lock it, so nobody's work may depend on a lock that a stranger can take. `writer.lock` can
be opened by its owner alone. `in-use` can be opened by every reader: a writer that finds it locked leaves the shard for
later, and a reader that finds it locked reads without a lock.
"""

from __future__ import annotations

import errno
import fcntl
import getpass
import os
import platform
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path

from searchlab.atomic_file import make_folders
from searchlab.errors import REBUILD, IndexCorrupt, IndexLocked, StoreError, WriteFailed
from searchlab.indexing.storage.commit import UNCHANGED, CommittedState
from searchlab.indexing.storage.layout import IN_USE, WRITER_LOCK

# Only the owner can open, and therefore lock, the file.
LOCK_MODE = 0o600


@contextmanager
def writer_lock(folder: Path) -> Iterator[None]:
    """Lock the index in `folder` for writing; a new folder that ends up without an index is removed.

    Raises IndexLocked if another process is writing. An OSError in the block becomes WriteFailed, which says whether
    the change was committed; so does every other StoreError, and a KeyboardInterrupt, of a block that has committed.
    """
    is_new, descriptor = _make_and_lock(folder)
    try:
        with _report_outcome(folder):
            yield
    finally:
        with suppress(OSError):
            os.ftruncate(descriptor, 0)
        if is_new and CommittedState(folder).is_missing:
            shutil.rmtree(folder, ignore_errors=True)
        unlock(descriptor)


def _make_and_lock(folder: Path) -> tuple[bool, int]:
    """Create the folder, if there is none, and lock it; returns whether it is new, and the descriptor of the lock."""
    is_new = False
    try:
        while True:
            is_new = make_folders(folder)
            descriptor = _open_lock(folder)
            try:
                _lock(descriptor, folder)
                if _is_lock_of(folder, descriptor):
                    break
            except BaseException:
                unlock(descriptor)
                raise
            unlock(descriptor)
    except (OSError, KeyboardInterrupt) as error:
        if is_new:
            with suppress(OSError):
                (folder / WRITER_LOCK).unlink(missing_ok=True)
                folder.rmdir()
        if isinstance(error, OSError):
            raise _write_failed(error, folder, UNCHANGED) from error
        raise
    return is_new, descriptor


def _is_lock_of(folder: Path, descriptor: int) -> bool:
    """Whether the locked file is still that of the folder: a backup may have been restored before it was locked."""
    try:
        return os.path.samestat(os.fstat(descriptor), (folder / WRITER_LOCK).lstat())
    except (FileNotFoundError, NotADirectoryError):
        return False


def unlock(descriptor: int) -> None:
    """Close a locked file; that the system reports an error changes nothing."""
    with suppress(OSError):
        os.close(descriptor)


def _open_lock(folder: Path) -> int:
    """Open the lock file, made if there is none; a symbolic link or a device is refused."""
    path = str(folder / WRITER_LOCK)
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, LOCK_MODE)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise OSError(errno.ELOOP, "a symbolic link, expected a file", path) from None
        raise
    try:
        mode = os.fstat(descriptor).st_mode
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "a pipe or a device, expected a file", path)
        if stat.S_IMODE(mode) != LOCK_MODE:
            with suppress(PermissionError):  # a file of another owner
                os.fchmod(descriptor, LOCK_MODE)
    except BaseException:
        unlock(descriptor)
        raise
    return descriptor


def _lock(descriptor: int, folder: Path) -> None:
    """Lock the file and write into it who holds the lock."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = ""
        with suppress(OSError):
            holder = os.pread(descriptor, 1000, 0).decode("utf-8", "replace").strip()
        raise IndexLocked(f"{folder}: being written by {holder or 'another process'}; try again later") from None
    except OSError as error:
        raise OSError(error.errno, f"no lock: {error.strerror}", str(folder / WRITER_LOCK)) from None
    now = datetime.now().strftime("%Y-%m-%d %H:%M:%S")
    note = f"process {os.getpid()} ({_user()} on {platform.node()}) since {now}\n"
    with suppress(OSError):  # the lock holds without the note, as on a full disk
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, note.encode(), 0)


def _user() -> str:
    with suppress(OSError, KeyError):
        return getpass.getuser()
    return f"user {os.getuid()}"


@contextmanager
def _report_outcome(folder: Path) -> Iterator[None]:
    """Let errors of the block say whether the index in `folder` has changed."""
    before = CommittedState(folder)
    try:
        yield
    except OSError as error:
        raise _write_failed(error, folder, before.outcome()) from error
    except StoreError as error:
        outcome = before.outcome()
        if outcome == UNCHANGED:
            raise
        raise type(error)(f"{error}; {outcome}") from error
    except (KeyboardInterrupt, SystemError) as error:
        # Compiled code that is interrupted raises SystemError.
        interrupted = isinstance(error, KeyboardInterrupt) or isinstance(error.__cause__, KeyboardInterrupt)
        outcome = before.outcome()
        if not interrupted or outcome == UNCHANGED:
            raise
        raise KeyboardInterrupt(f"{folder}: {outcome}") from error


def _write_failed(error: OSError, folder: Path, outcome: str) -> WriteFailed:
    return WriteFailed(f"{error.filename or folder}: cannot be written ({error.strerror or error}); {outcome}")


def _open_in_use(shard: Path) -> int:
    return os.open(shard / IN_USE, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)


def lock_shard(shard: Path) -> int | None:
    """Lock a shard, shared with other readers; returns the file descriptor, to be closed by the caller.

    Returns None if there is no lock to be had: a writer is removing the shard, a stranger has locked it, or the file
    system has no locks.
    """
    try:
        descriptor = _open_in_use(shard)
    except (FileNotFoundError, NotADirectoryError):
        raise IndexCorrupt(f"{shard / IN_USE}: missing; {REBUILD}") from None
    except OSError as error:
        raise StoreError(f"{shard / IN_USE}: cannot be opened ({error.strerror})") from None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        unlock(descriptor)
        return None
    return descriptor


def lock_shard_exclusively(shard: Path) -> int:
    """Lock a shard for its removal; returns the file descriptor, to be closed by the caller.

    Raises BlockingIOError while the shard is in use.
    """
    descriptor = _open_in_use(shard)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        unlock(descriptor)
        raise
    return descriptor
