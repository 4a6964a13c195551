"""The manifest of an index: which shards it consists of, and how a change is committed.

All writing happens in new shard folders. A change takes effect at one instant, when a new manifest replaces the old one
(written to a temporary file, synced, renamed). Whatever fails before that leaves the index unchanged; whatever fails
after it is a warning. Shards that no manifest names are removed by the writer that failed, or else by the next one.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from searchlab.analysis.analyzer import AnalysisSettings
from searchlab.corpus.text_files import read_small_file
from searchlab.errors import (
    REBUILD,
    IndexCorrupt,
    IndexMissing,
    IndexOutdated,
    IndexTooNew,
    StoreError,
    unreadable,
)
from searchlab.indexing.storage.commit import (
    UNCHANGED,
    CommittedState,
    describe,
    remove_leftovers,
    replace_manifest,
)
from searchlab.indexing.storage.layout import (
    DELETED_PREFIX,
    LAYOUT_VERSION,
    MANIFEST,
    SHARD_PREFIX,
    UNCOMMITTED_MANIFEST,
)
from searchlab.indexing.storage.lock import lock_shard_exclusively, unlock
from searchlab.indexing.storage.shard import ShardRecord
from searchlab.json_records import json_checksum, one_line, parse_record, texts, whole_number, without_checksum


@dataclass(frozen=True)
class Manifest:
    """The settings, shards and sources of an index; each commit has the next generation number."""

    settings: AnalysisSettings
    shards: tuple[ShardRecord, ...]
    sources: tuple[str, ...] = ()
    generation: int = 1
    written: str = ""

    def next(self, shards: Iterable[ShardRecord], sources: Iterable[str] | None = None) -> Manifest:
        """The manifest of the next generation."""
        sources = self.sources if sources is None else tuple(sources)
        return Manifest(self.settings, tuple(shards), sources, self.generation + 1)

    @property
    def n_docs(self) -> int:
        """The number of live documents."""
        return sum(shard.n_live for shard in self.shards)

    @property
    def n_bytes(self) -> int:
        """The size of all shards on disk."""
        return sum(shard.n_bytes for shard in self.shards)

    def to_json(self) -> dict[str, Any]:
        """The manifest as it is written, with its checksum."""
        record: dict[str, Any] = {
            "layout": LAYOUT_VERSION,
            "generation": self.generation,
            "written": self.written,
            "sources": list(self.sources),
            "analysis": self.settings.to_json(),
            "analysis_fingerprint": self.settings.fingerprint,
            "shards": [shard.to_json() for shard in self.shards],
        }
        return record | {"checksum": json_checksum(record)}

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> Manifest:
        """The inverse of `to_json`; raises KeyError, TypeError or ValueError for anything else."""
        record = without_checksum(record)
        if not isinstance(record["shards"], list):
            raise ValueError("expected a list of shards")
        shards = tuple(ShardRecord.from_json(shard) for shard in record["shards"])
        if len({shard.name for shard in shards}) < len(shards):
            raise ValueError("found a shard twice")
        return cls(
            AnalysisSettings.from_json(record["analysis"]),
            shards,
            texts(record, "sources"),
            whole_number(record, "generation"),
            one_line(record, "written"),
        )


def read_index_manifest(folder: Path) -> Manifest:
    """The committed manifest of the index in `folder`."""
    path = folder / MANIFEST
    try:
        content = read_small_file(path)
    except (FileNotFoundError, NotADirectoryError):
        raise IndexMissing(f"{folder}: no index here; `searchlab index SOURCE` makes one") from None
    except OSError as error:
        raise unreadable(path, error) from None
    try:
        record = parse_record(content)
        layout = whole_number(record, "layout")
    except ValueError:
        raise IndexCorrupt(f"{path}: not a manifest; {REBUILD}") from None
    if layout < LAYOUT_VERSION:
        raise IndexOutdated(f"{path}: layout {layout}, but this searchlab reads layout {LAYOUT_VERSION}; {REBUILD}")
    if layout > LAYOUT_VERSION:
        raise IndexTooNew(
            f"{path}: layout {layout}, but this searchlab reads layout {LAYOUT_VERSION}; update searchlab"
        )
    try:
        return Manifest.from_json(record)
    except IndexOutdated as error:
        raise IndexOutdated(f"{path}: {error}") from None
    except (ValueError, KeyError, TypeError) as error:
        raise IndexCorrupt(f"{path}: damaged ({describe(error)}); {REBUILD}") from None


def commit_manifest(folder: Path, manifest: Manifest) -> list[str]:
    """Replace the manifest in `folder` atomically, then remove what the new one no longer names.

    An error is raised only if the change was not committed; what fails after the commit is returned as warnings.
    """
    record = manifest.to_json() if manifest.written else _stamp(manifest).to_json()
    return [*replace_manifest(folder, record), *remove_unreferenced(folder, manifest)]


def _stamp(manifest: Manifest) -> Manifest:
    return replace(manifest, written=datetime.now(UTC).isoformat(timespec="seconds"))


def remove_unreferenced(folder: Path, manifest: Manifest | None) -> list[str]:
    """Remove shards and lists of deleted documents that the manifest does not name, and uncommitted manifests.

    Returns a warning for each that cannot be removed. A shard that a reader uses is left for a later writer.
    """
    named = {shard.name: shard for shard in manifest.shards} if manifest else {}
    try:
        shards = _names_beginning_with(SHARD_PREFIX, folder)
        # Readers read such a list once, when they open the index.
        lists = [
            path
            for name, shard in named.items()
            # A link to a folder is a stranger's: the files in it are not those of a shard.
            if not (folder / name).is_symlink()
            for path in _names_beginning_with(DELETED_PREFIX, folder / name)
            if path.name != shard.deleted_file
        ]
    except OSError as error:
        return [f"{folder}: leftovers cannot be removed ({describe(error)}); the next run tries again"]
    warnings = remove_leftovers([*lists, folder / UNCOMMITTED_MANIFEST])
    for shard_folder in shards:
        if shard_folder.name not in named:
            warnings += _remove_unless_in_use(shard_folder)
    return warnings


def _names_beginning_with(prefix: str, folder: Path) -> list[Path]:
    """The files and folders in a folder whose names begin so; unlike glob, it raises if the folder cannot be read."""
    return [path for path in folder.iterdir() if path.name.startswith(prefix)]


@contextmanager
def new_shard_prefix(folder: Path) -> Iterator[str]:
    """A new prefix for names of shards; if the block fails before its commit, shards with this prefix are removed.

    If it cannot be read whether there was a commit, they are left for the next writer.
    """
    prefix = f"{SHARD_PREFIX}{secrets.token_hex(4)}"
    before = CommittedState(folder)
    try:
        yield prefix
    except BaseException:
        if before.outcome() == UNCHANGED:
            with suppress(OSError):
                remove_leftovers(_names_beginning_with(prefix, folder))
            with suppress(StoreError):
                # Also lists of deleted documents that were just written.
                remove_unreferenced(folder, read_index_manifest(folder))
        raise


def _remove_unless_in_use(shard: Path) -> list[str]:
    """Remove a shard; one that a reader still uses is left for a later writer to remove."""
    try:
        descriptor = lock_shard_exclusively(shard)
    except BlockingIOError:
        return []
    except (FileNotFoundError, NotADirectoryError):
        return remove_leftovers([shard])  # half-written, so it has no readers
    except OSError as error:
        return [f"{shard}: a leftover that cannot be locked ({describe(error)}); the next run tries again"]
    try:
        return remove_leftovers([shard])
    finally:
        unlock(descriptor)
