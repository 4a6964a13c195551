"""Commits: how the manifest of an index or of an artefact is replaced, and what can be said about a change that failed.

A change takes effect when the new manifest is renamed to `manifest.json`. An error before that leaves everything as it
was. After it the change is made, and nothing takes it back: what fails then is returned as warnings.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from searchlab.atomic_file import sync_folder
from searchlab.indexing.storage.layout import MANIFEST, UNCOMMITTED_MANIFEST

UNCHANGED = "the index is unchanged"
COMMITTED = "the change was committed"
UNKNOWN = "whether the change was committed cannot be read; `searchlab doctor` examines the index"


def replace_manifest(folder: Path, record: Mapping[str, Any]) -> list[str]:
    """Replace the manifest in `folder` atomically, after everything in the folder is on disk; returns warnings."""
    temporary = folder / UNCOMMITTED_MANIFEST
    try:
        temporary.unlink(missing_ok=True)
        # Mode x: a symbolic link of this name is not followed.
        with temporary.open("x", encoding="utf-8") as file:
            json.dump(record, file, indent=1)
            file.flush()
            os.fsync(file.fileno())
        sync_folder(folder)
        temporary.replace(folder / MANIFEST)
    except BaseException:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise
    try:
        sync_folder(folder)
    except OSError as error:
        problem = f"the folder cannot be synced ({describe(error)})"
        return [f"{folder}: {COMMITTED}, but {problem}: a power failure could undo it"]
    return []


class CommittedState:
    """The committed manifest at one time, to be compared with that of a later time."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / MANIFEST
        self._content = self._read()

    def _read(self) -> bytes | OSError | None:
        try:
            return self._path.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            return error

    @property
    def is_missing(self) -> bool:
        """Whether there was no manifest."""
        return self._content is None

    def outcome(self) -> str:
        """What became of a change since: UNCHANGED, COMMITTED or UNKNOWN."""
        now = self._read()
        if isinstance(now, OSError) or isinstance(self._content, OSError):
            return UNKNOWN
        return UNCHANGED if now == self._content else COMMITTED


def describe(error: BaseException) -> str:
    """An error in one line, an OSError with its file."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error) or type(error).__name__


def remove_leftovers(paths: Iterable[Path]) -> list[str]:
    """Remove files and folders; returns a warning for each that cannot be removed."""
    warnings = []
    for path in paths:
        try:
            _remove(path)
        except OSError as error:
            warnings.append(f"{path}: a leftover that cannot be removed ({describe(error)}); the next run tries again")
    return warnings


def _remove(path: Path) -> None:
    try:
        if path.is_symlink() or not path.is_dir():
            path.unlink(missing_ok=True)
        else:
            # As much as possible first: the second pass stops at the first error, and reports it.
            shutil.rmtree(path, ignore_errors=True)
            shutil.rmtree(path)
    except FileNotFoundError:
        return
