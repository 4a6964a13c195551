"""What is a shard?

A folder with some of an index's documents, written once and never changed: its columns (numbers for scoring)
and the same postings, with positions and the stored documents, as a Whoosh index.
"""

from __future__ import annotations

import fcntl
import os
import weakref
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from searchlab.errors import IndexCorrupt
from searchlab.indexing.columns import ShardColumns, open_columns
from searchlab.indexing.whoosh_reader import WhooshShard

COLUMNS = "columns"
WHOOSH = "whoosh"
IN_USE = "in-use"


def hold(folder: Path, *, alone: bool = False) -> int:
    """Hold a shard, together with other readers or alone; a descriptor, which is to be closed in the end.

    The lock belongs to the process, so that it ends with it however it ends. Raises BlockingIOError where
    the shard is in use and should be held alone.
    """
    try:
        descriptor = os.open(folder / IN_USE, os.O_RDONLY)
    except OSError:
        raise IndexCorrupt(f"{folder / IN_USE}: missing; index the source again") from None
    try:
        fcntl.flock(descriptor, (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


@dataclass(frozen=True)
class ShardRecord:
    """What the manifest says of a shard: its folder, its size, and each file with bytes and checksum."""

    name: str
    n_docs: int
    files: dict[str, tuple[int, int]]

    def to_json(self) -> dict[str, Any]:
        """The record as the manifest holds it."""
        return {
            "name": self.name,
            "n_docs": self.n_docs,
            "files": {k: list(v) for k, v in self.files.items()},
        }

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> ShardRecord:
        """The inverse of `to_json`."""
        files = {name: (int(size), int(crc)) for name, (size, crc) in record["files"].items()}
        return cls(str(record["name"]), int(record["n_docs"]), files)

    @property
    def n_bytes(self) -> int:
        """The size of the shard on disk."""
        return sum(size for size, _ in self.files.values())


class Shard:
    """A shard opened for reading; until it is closed, or forgotten, no writer removes its folder."""

    def __init__(self, folder: Path, record: ShardRecord) -> None:
        self.close = weakref.finalize(self, os.close, hold(folder))
        for name, (size, _) in record.files.items():
            path = folder / name
            try:
                found = path.stat().st_size
            except OSError:
                raise IndexCorrupt(f"{path}: missing; index the source again") from None
            if found != size:
                raise IndexCorrupt(f"{path}: {found} bytes, expected {size}; index the source again")
        self.record = record
        self.columns: ShardColumns = open_columns(folder / COLUMNS)
        self.whoosh = WhooshShard(folder / WHOOSH)
        if self.columns.n_docs != record.n_docs:
            raise IndexCorrupt(f"{folder}: {self.columns.n_docs} documents, expected {record.n_docs}")
