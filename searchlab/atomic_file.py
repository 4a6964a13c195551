"""Atomic file writing: a file appears under its name only when it is complete, and stays there if the machine crashes.

A file is written under a temporary name in the same folder, synced and renamed; then the folder is synced. What fails
before the rename leaves the file as it was. If only the last sync fails, the file is written, and a DurabilityWarning
says that a power failure could undo it.

The temporary file is locked (`flock`) while it is written. So the next writer of the same file recognises, and removes,
one whose process was killed.
"""

from __future__ import annotations

import errno
import fcntl
import gzip
import io
import os
import re
import secrets
import stat
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, TextIO

from searchlab.errors import DurabilityWarning, WriteFailed

TEMPORARY_SUFFIX = ".part"
# How a file system says that folders cannot be synced, which then needs no syncing.
CANNOT_SYNC_FOLDERS = (errno.EINVAL, errno.ENOTSUP)


@contextmanager
def open_atomic(path: str | Path, *, compress: bool = False) -> Iterator[TextIO]:
    """A UTF-8 text file that replaces `path` when the block ends; if the block fails, `path` is unchanged.

    With `compress` it is gzipped. A pipe or a device is written to directly.
    """
    path = Path(path)
    with _write_errors(path):
        if not path.name or path.is_dir():
            raise WriteFailed(f"{path}: cannot be written (a folder, expected a file)")
        is_device = path.exists() and not path.is_file()
    if is_device:
        with path.open("wb") as device, _text(device, compress) as file:
            yield file
        return
    with (
        _replacing(path, durable=True) as (descriptor, _),
        open(descriptor, "wb", closefd=False) as written,
        _text(written, compress) as file,
    ):
        yield file


@contextmanager
def _text(binary: BinaryIO, compress: bool) -> Iterator[TextIO]:
    """A text file over a binary one, which stays open; compressed bytes depend only on the text."""
    stream: Any = gzip.GzipFile("", "wb", fileobj=binary, mtime=0) if compress else binary
    text = io.TextIOWrapper(stream, encoding="utf-8", newline="\n")
    yield text
    text.flush()
    text.detach()
    if compress:
        stream.close()


@contextmanager
def open_atomic_binary(path: Path) -> Iterator[BinaryIO]:
    """The same for bytes, without syncing to disk: for caches, which can be computed again."""
    with _replacing(path, durable=False) as (descriptor, _), open(descriptor, "wb", closefd=False) as file:
        yield file


@contextmanager
def replace_atomically(path: Path) -> Iterator[Path]:
    """The path of an empty file to write to, which becomes `path` at the end, synced: for writers that take a path."""
    with _replacing(path, durable=True) as (_, temporary):
        yield temporary


def make_folders(folder: Path) -> bool:
    """Create a folder and its missing parents, and sync the folders they are in; returns whether `folder` is new."""
    if folder.is_dir():
        return False
    if folder.parent != folder:
        make_folders(folder.parent)
    try:
        folder.mkdir()
    except FileExistsError:
        if not folder.is_dir():
            raise
        return False
    try:
        sync_folder(folder.parent)
    except OSError:
        with suppress(OSError):
            folder.rmdir()
        raise
    return True


def sync_folder(folder: Path) -> None:
    """Sync the entries of a folder, but not the content of its files, to disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in CANNOT_SYNC_FOLDERS:
            raise
    finally:
        os.close(descriptor)


@contextmanager
def _write_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise WriteFailed(f"{path}: cannot be written ({error.strerror or error})") from None


@contextmanager
def _replacing(path: Path, *, durable: bool) -> Iterator[tuple[int, Path]]:
    """The descriptor and path of a temporary file in the same folder, which is renamed to `path` at the end."""
    with _write_errors(path):
        descriptor, temporary = _create_temporary(path)
        try:
            yield descriptor, temporary
            if durable:
                os.fsync(descriptor)
            _rename(descriptor, temporary, path)
        except BaseException:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
            raise
        finally:
            with suppress(OSError):
                os.close(descriptor)
    if durable:
        try:
            sync_folder(path.parent)
        except OSError as error:
            problem = f"its folder cannot be synced ({error.strerror or error})"
            message = f"{path}: written, but {problem}: a power failure could undo it"
            warnings.warn(message, DurabilityWarning, stacklevel=2)


def _rename(descriptor: int, temporary: Path, path: Path) -> None:
    try:
        temporary.replace(path)
    except OSError:
        # A network file system can report an error for a rename that was carried out.
        with suppress(OSError):
            if os.path.samestat(os.fstat(descriptor), path.stat()):
                return
        raise


def _create_temporary(path: Path) -> tuple[int, Path]:
    """Create and lock a temporary file for `path`; those that killed processes left are removed."""
    _remove_abandoned(path)
    while True:
        temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}{TEMPORARY_SUFFIX}")
        # O_EXCL: a file or a symbolic link that is already there is never opened.
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o666)
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if not os.fstat(descriptor).st_nlink:  # another writer took it for abandoned before it was locked
                os.close(descriptor)
                continue
        # Where files cannot be locked, no writer takes one for abandoned.
        return descriptor, temporary


def _remove_abandoned(path: Path) -> None:
    """Remove the temporary files of `path` that no process has locked, as far as possible."""
    is_temporary = re.compile(rf"\.{re.escape(path.name)}\.[0-9a-f]{{8}}{re.escape(TEMPORARY_SUFFIX)}").fullmatch
    with suppress(OSError):
        for other in path.parent.iterdir():
            if is_temporary(other.name):
                with suppress(OSError):
                    _remove_unlocked(other)


def _remove_unlocked(temporary: Path) -> None:
    descriptor = os.open(temporary, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            temporary.unlink()
    finally:
        os.close(descriptor)
