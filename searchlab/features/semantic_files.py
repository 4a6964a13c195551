"""Where is a semantic space kept, and when does a new one become true?

In a folder `semantic` of the index, beside the shards, with a manifest and a writer's lock of its own: making a space
takes minutes, and documents can be indexed meanwhile.

    semantic/
      manifest.json               what the space was made from, each file with size and CRC-32, a checksum
      writer.lock                 held by the one process that writes here
      terms-1a2b3c4d              the terms, their idf, and V
      vectors-1a2b3c4d-SHARD      the vectors of a shard's documents, U·Σ, in the order of their numbers

Files are written once. A change becomes true when a new manifest replaces the old one; what it does not name is
removed. A reader that has opened a file keeps it, removed or not.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from searchlab.errors import IndexCorrupt, IndexMissing, IndexTooNew, StoreError
from searchlab.indexing.archive import open_arrays, write_arrays
from searchlab.indexing.shard import seal, sync_folder
from searchlab.indexing.store import LOCK, MANIFEST
from searchlab.indexing.strings import Array

FOLDER = "semantic"
LAYOUT_VERSION = 1


@dataclass(frozen=True)
class SpaceRecord:
    """What the manifest says of a space: how and from what it was made, and its files.

    `vectors` names the file of each shard that has one; `files` each file's bytes and checksum.
    """

    dims: int
    seed: int
    made: str
    fingerprint: str
    n_docs: int
    n_terms: int
    mean_length: float
    terms: str
    vectors: dict[str, str] = field(default_factory=dict)
    files: dict[str, tuple[int, int]] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The record as it is written, its checksum included."""
        record = {"layout": LAYOUT_VERSION, **asdict(self)}
        return record | {"checksum": _checksum(record)}

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> SpaceRecord:
        """The inverse of `to_json`; raises KeyError, TypeError or ValueError on anything else."""
        checksum = record.pop("checksum")
        if checksum != _checksum(record):
            raise ValueError("its checksum does not match")
        del record["layout"]
        return cls(**record | {"files": {name: (size, crc) for name, (size, crc) in record["files"].items()}})

    def with_file(self, home: Path, name: str, arrays: Mapping[str, Array], shard: str | None = None) -> SpaceRecord:
        """Write a file, with the vectors of `shard` if one is given; the record that names it."""
        write_arrays(home / name, arrays)
        files = self.files | {name: seal(home / name)}
        return replace(self, files=files, vectors=self.vectors if shard is None else self.vectors | {shard: name})


def _checksum(record: dict[str, Any]) -> int:
    return zlib.crc32(json.dumps(record, sort_keys=True).encode())


def remedy(home: Path) -> str:
    """What to do about a space that cannot be read."""
    return f"`searchlab semantic -i {home.parent}` makes it anew"


def read_record(home: Path) -> SpaceRecord:
    """The committed record of the space in `home`."""
    path = home / MANIFEST
    try:
        content = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        raise IndexMissing(
            f"{home.parent}: no semantic space; `searchlab semantic -i {home.parent}` makes one"
        ) from None
    except OSError as error:
        raise IndexCorrupt(f"{path}: cannot be read ({error.strerror})") from None
    try:
        record = json.loads(content)
        layout = int(record["layout"])
        if layout <= LAYOUT_VERSION:
            return SpaceRecord.from_json(record)
    except (ValueError, KeyError, TypeError, AttributeError):
        raise IndexCorrupt(f"{path}: damaged; {remedy(home)}") from None
    raise IndexTooNew(f"{path}: layout {layout}, but this searchlab reads layout {LAYOUT_VERSION}; update searchlab")


def open_file(home: Path, record: SpaceRecord, name: str, *, verify: bool = False) -> dict[str, Array]:
    """Map the arrays of one of the space's files, checking its size or, to verify it, its checksum."""
    path = home / name
    try:
        size, crc = record.files[name]
        found = path.stat().st_size
        if found != size:
            raise IndexCorrupt(f"{path}: {found} bytes, expected {size}; {remedy(home)}")
        if verify and seal(path) != (size, crc):
            raise IndexCorrupt(f"{path}: its checksum does not match; {remedy(home)}")
    except (KeyError, OSError):
        raise IndexCorrupt(f"{path}: missing; {remedy(home)}") from None
    try:
        return open_arrays(path)
    except IndexCorrupt:
        raise IndexCorrupt(f"{path}: not a readable file of vectors; {remedy(home)}") from None


def commit(home: Path, record: SpaceRecord) -> None:
    """Make `record` the truth, atomically, and remove the files that it does not name."""
    aside = home / f"{MANIFEST}.new"
    with aside.open("w", encoding="utf-8") as file:
        json.dump(record.to_json(), file, indent=1)
        file.flush()
        os.fsync(file.fileno())
    sync_folder(home)
    aside.replace(home / MANIFEST)
    sync_folder(home)
    _sweep(home, record)


@contextmanager
def swept(home: Path) -> Iterator[None]:
    """If the work in `home` fails before its commit, remove what it has written."""
    try:
        yield
    finally:
        with suppress(StoreError):
            _sweep(home, read_record(home))


def _sweep(home: Path, record: SpaceRecord) -> None:
    for path in home.iterdir():
        if path.name not in {MANIFEST, LOCK, *record.files}:
            path.unlink(missing_ok=True)
