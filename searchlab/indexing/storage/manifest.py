"""Where does an index live, and when does a change become true?

An index is a folder: `manifest.json` names the shards that it consists of, each a folder beside it. All
writing happens in new shard folders; the change becomes true at one instant, when a new manifest takes
the place of the old one (written aside, brought to disk, renamed). Whatever happens before leaves the
index as it was, and the next writer sweeps away shards that no manifest names. One writer at a time
holds `writer.lock`; readers need no lock.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from searchlab.analysis.analyzer import AnalysisSettings
from searchlab.errors import (
    REBUILD,
    IndexCorrupt,
    IndexMissing,
    IndexOutdated,
    IndexTooNew,
    StoreError,
)
from searchlab.indexing.storage.file_sync import sync_folder
from searchlab.indexing.storage.layout import DELETED_PREFIX, LAYOUT_VERSION, MANIFEST, SHARD_PREFIX
from searchlab.indexing.storage.lock import lock_shard
from searchlab.indexing.storage.shard import ShardRecord


@dataclass(frozen=True)
class Manifest:
    """What an index consists of."""

    settings: AnalysisSettings
    shards: tuple[ShardRecord, ...]
    sources: tuple[str, ...] = ()
    generation: int = 1
    written: str = ""

    def next(self, shards: Iterable[ShardRecord], sources: Iterable[str] | None = None) -> Manifest:
        """The manifest that follows this one."""
        kept = self.sources if sources is None else tuple(sources)
        return Manifest(self.settings, tuple(shards), kept, self.generation + 1)

    @property
    def n_docs(self) -> int:
        """The number of live documents."""
        return sum(shard.n_live for shard in self.shards)

    @property
    def n_bytes(self) -> int:
        """The size on disk."""
        return sum(shard.n_bytes for shard in self.shards)

    def to_json(self) -> dict[str, Any]:
        """The manifest as it is written, its checksum included."""
        record: dict[str, Any] = {
            "layout": LAYOUT_VERSION,
            "generation": self.generation,
            "written": self.written,
            "sources": list(self.sources),
            "analysis": self.settings.to_json(),
            "analysis_fingerprint": self.settings.fingerprint,
            "shards": [shard.to_json() for shard in self.shards],
        }
        return record | {"checksum": _checksum(record)}

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> Manifest:
        """The inverse of `to_json`; raises KeyError, TypeError or ValueError on anything else."""
        checksum = record.pop("checksum")
        if checksum != _checksum(record):
            raise ValueError("its checksum does not match")
        return cls(
            AnalysisSettings.from_json(record["analysis"]),
            tuple(ShardRecord.from_json(shard) for shard in record["shards"]),
            tuple(record["sources"]),
            int(record["generation"]),
            str(record["written"]),
        )


def _checksum(record: dict[str, Any]) -> int:
    return zlib.crc32(json.dumps(record, sort_keys=True).encode())


def read_manifest(folder: Path) -> Manifest:
    """The committed manifest of the index in `folder`."""
    path = folder / MANIFEST
    try:
        content = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        raise IndexMissing(f"{folder}: no index here; `searchlab index SOURCE` makes one") from None
    except OSError as error:
        raise IndexCorrupt(f"{path}: cannot be read ({error.strerror})") from None
    try:
        record = json.loads(content)
        layout = int(record["layout"])
    except (ValueError, KeyError, TypeError):
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
        raise IndexCorrupt(f"{path}: damaged ({error}); {REBUILD}") from None


def commit(folder: Path, manifest: Manifest) -> None:
    """Make `manifest` the truth, atomically, and sweep away what it no longer names."""
    stamped = manifest.to_json() if manifest.written else _stamp(manifest).to_json()
    aside = folder / f"{MANIFEST}.new"
    with aside.open("w", encoding="utf-8") as file:
        json.dump(stamped, file, indent=1)
        file.flush()
        os.fsync(file.fileno())
    aside.replace(folder / MANIFEST)
    sync_folder(folder)
    sweep(folder, manifest)


def _stamp(manifest: Manifest) -> Manifest:
    return replace(manifest, written=datetime.now(UTC).isoformat(timespec="seconds"))


def sweep(folder: Path, manifest: Manifest | None) -> None:
    """Remove shards, lists of the dead, and half-written manifests, that the manifest does not name."""
    named = {shard.name: shard for shard in manifest.shards} if manifest else {}
    for path in folder.glob(f"{SHARD_PREFIX}*"):
        if path.name not in named:
            _remove_unless_in_use(path)
            continue
        # Readers have read such a list when they opened the index, and do not come back to it.
        for old in path.glob(f"{DELETED_PREFIX}*"):
            if old.name != named[path.name].dead:
                old.unlink(missing_ok=True)
    (folder / f"{MANIFEST}.new").unlink(missing_ok=True)


@contextmanager
def new_shards(folder: Path) -> Iterator[str]:
    """A name for new shards to begin with; if the work on them fails before its commit, they are removed."""
    name = f"{SHARD_PREFIX}{secrets.token_hex(4)}"
    try:
        yield name
    except BaseException:
        if not _is_committed(folder, name):
            for leftover in folder.glob(f"{name}*"):
                shutil.rmtree(leftover, ignore_errors=True)
            with suppress(StoreError):
                sweep(folder, read_manifest(folder))  # new lists of the dead
        raise


def _is_committed(folder: Path, name: str) -> bool:
    with suppress(StoreError):
        return any(shard.name.startswith(name) for shard in read_manifest(folder).shards)
    return False


def _remove_unless_in_use(shard: Path) -> None:
    """Remove a shard; one that a reader still holds is left for the sweep of a later writer."""
    try:
        held = lock_shard(shard, exclusive=True)
    except IndexCorrupt:
        shutil.rmtree(shard, ignore_errors=True)  # half-written: it has no readers
        return
    except OSError:
        return
    try:
        shutil.rmtree(shard, ignore_errors=True)
    finally:
        os.close(held)
