"""Atomic file writing: a file appears under its name only when it is complete."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, TextIO

from searchlab.errors import WriteFailed


@contextmanager
def open_atomic(path: str | Path) -> Iterator[TextIO]:
    """A UTF-8 text file that replaces `path` when the block ends; if the block fails, `path` is unchanged.

    A pipe or a device is written to directly.
    """
    path = Path(path)
    if not path.name or path.is_dir():
        raise WriteFailed(f"{path}: cannot be written (a folder, expected a file)")
    if path.exists() and not path.is_file():
        with path.open("w", encoding="utf-8", newline="\n") as file:
            yield file
        return
    with _replacing(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def open_atomic_binary(path: Path) -> Iterator[BinaryIO]:
    """The same for bytes, without syncing to disk: for caches, which can be computed again."""
    with _replacing(path) as temporary, temporary.open("wb") as file:
        yield file


@contextmanager
def _replacing(path: Path) -> Iterator[Path]:
    """A temporary name in the same folder, renamed to `path` at the end."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        try:
            yield temporary
            temporary.replace(path)
        except OSError as error:
            raise WriteFailed(f"{path}: cannot be written ({error.strerror})") from None
    finally:
        temporary.unlink(missing_ok=True)
