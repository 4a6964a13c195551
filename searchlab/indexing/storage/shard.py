"""What is a shard?

A folder with some of an index's documents, written once and never changed: its columns (numbers for scoring)
and the same postings, with positions and the stored documents, as a Whoosh index. Documents that were deleted
or replaced since are named in a list of the dead, a file beside these that is written anew whenever it
grows; the manifest says which list is true.
"""

from __future__ import annotations

import os
import secrets
import weakref
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from searchlab.analysis.analyzer import TermLookup
from searchlab.errors import REBUILD, IndexCorrupt
from searchlab.indexing.storage.array_file import open_arrays, write_arrays
from searchlab.indexing.storage.columns import ShardColumns, open_columns
from searchlab.indexing.storage.file_sync import sync_file, sync_folder
from searchlab.indexing.storage.layout import COLUMNS, DELETED_PREFIX, WHOOSH
from searchlab.indexing.storage.lock import lock_shard
from searchlab.indexing.whoosh.stored_documents import WhooshShard
from searchlab.records import Document
from searchlab.types import Array

# Up to so many words it is faster to read them all than to look for some thousands one by one.
WORDS_AT_ONCE = 500_000


@dataclass(frozen=True)
class ShardRecord:
    """What the manifest says of a shard: its folder, its documents and words, and each file with bytes and checksum.

    `dead` is the file that lists the dead documents, "" if there are none, and `n_dead` how many they are.
    """

    name: str
    n_docs: int
    n_words: int
    files: dict[str, tuple[int, int]]
    dead: str = ""
    n_dead: int = 0

    def to_json(self) -> dict[str, Any]:
        """The record as the manifest holds it."""
        return {
            "name": self.name,
            "n_docs": self.n_docs,
            "n_words": self.n_words,
            "dead": self.dead,
            "n_dead": self.n_dead,
            "files": {k: list(v) for k, v in self.files.items()},
        }

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> ShardRecord:
        """The inverse of `to_json`."""
        files = {name: (int(size), int(crc)) for name, (size, crc) in record["files"].items()}
        return cls(
            str(record["name"]),
            int(record["n_docs"]),
            int(record["n_words"]),
            files,
            str(record["dead"]),
            int(record["n_dead"]),
        )

    @property
    def n_live(self) -> int:
        """The documents that are not dead."""
        return self.n_docs - self.n_dead

    @property
    def n_live_words(self) -> int:
        """About how many words the live documents have."""
        return self.n_words * self.n_live // self.n_docs

    @property
    def n_bytes(self) -> int:
        """The size of the shard on disk."""
        return sum(size for size, _ in self.files.values())


class Shard:
    """A shard opened for reading; until it is closed, or forgotten, no writer removes its folder."""

    def __init__(self, folder: Path, record: ShardRecord) -> None:
        self._let_go = weakref.finalize(self, os.close, lock_shard(folder))
        for name, (size, _) in record.files.items():
            path = folder / name
            try:
                found = path.stat().st_size
            except OSError:
                raise IndexCorrupt(f"{path}: missing; {REBUILD}") from None
            if found != size:
                raise IndexCorrupt(f"{path}: {found} bytes, expected {size}; {REBUILD}")
        self.record = record
        self.folder = folder
        self.columns: ShardColumns = open_columns(folder / COLUMNS)
        self.whoosh = WhooshShard(folder / WHOOSH)
        if self.columns.n_docs != record.n_docs:
            raise IndexCorrupt(f"{folder}: {self.columns.n_docs} documents, expected {record.n_docs}")
        # Which documents are not dead; None, which saves a look at each, if all are alive.
        self.alive = read_alive(folder, record)

    def close(self) -> None:
        """Let go of the shard: a writer may then remove it."""
        self.whoosh.close()
        self._let_go()

    def document(self, number: int) -> Document:
        """The stored document with this number."""
        return self.whoosh.document(number)


def recall_largest(shards: Sequence[Shard]) -> TermLookup | None:
    """What the shard with the most words knows of them: most words of new documents have been stemmed before."""
    if not shards:
        return None
    columns = max((shard.columns for shard in shards), key=lambda columns: len(columns.words))
    return columns.all_words().__getitem__ if len(columns.words) <= WORDS_AT_ONCE else columns.term_of


def read_alive(folder: Path, record: ShardRecord) -> Array | None:
    """For each document of a shard, whether it is alive; None if all are."""
    if not record.dead:
        return None
    path = folder / record.dead
    alive = np.ones(record.n_docs, bool)
    try:
        alive[open_arrays(path)["dead"]] = False
    except (KeyError, IndexError):
        raise IndexCorrupt(f"{path}: not a list of dead documents; {REBUILD}") from None
    if np.count_nonzero(alive) != record.n_live:
        n_dead = record.n_docs - np.count_nonzero(alive)
        raise IndexCorrupt(f"{path}: {n_dead} dead documents, expected {record.n_dead}; {REBUILD}")
    return alive


def bury(folder: Path, record: ShardRecord, dead: Array) -> ShardRecord:
    """Write the list of a shard's dead documents, old and new; the shard's record with the new list."""
    name = f"{DELETED_PREFIX}{secrets.token_hex(4)}"
    write_arrays(folder / name, {"dead": np.sort(dead).astype(np.uint32)})
    files = {path: sealed for path, sealed in record.files.items() if path != record.dead}
    files[name] = sync_file(folder / name)
    sync_folder(folder)
    return replace(record, files=files, dead=name, n_dead=len(dead))
