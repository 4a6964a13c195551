"""Where is kept what was learnt from an index, and when does a new version become true?

A semantic space and the topics of documents are artefacts: numbers made from an index, in a folder of their own
beside its shards, with a manifest and a writer's lock of their own. Making one takes minutes, and documents can be
indexed meanwhile.

    HOME/
      manifest.json               what it was made from, each file with size and CRC-32, a checksum
      writer.lock                 held by the one process that writes here
      terms-1a2b3c4d              what belongs to terms
      vectors-1a2b3c4d-SHARD      what belongs to a shard's documents, in the order of their numbers

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
from typing import Any, ClassVar, Self, TypeVar

from searchlab.errors import IndexCorrupt, IndexMissing, IndexTooNew, StoreError
from searchlab.indexing.storage.array_file import open_arrays, write_arrays
from searchlab.indexing.storage.file_sync import sync_file, sync_folder
from searchlab.indexing.storage.layout import MANIFEST, WRITER_LOCK
from searchlab.types import Array


@dataclass(frozen=True, kw_only=True)
class Record:
    """What the manifest of an artefact says; each kind adds how and from what it was made.

    `terms` is the file of what belongs to terms, `vectors` names that of each shard that has one, and `files` has each
    file's bytes and checksum.
    """

    terms: str
    vectors: dict[str, str] = field(default_factory=dict)
    files: dict[str, tuple[int, int]] = field(default_factory=dict)

    layout_version: ClassVar[int] = 1

    @classmethod
    def remedy(cls, home: Path) -> str:
        """What to do about an artefact that cannot be read."""
        raise NotImplementedError

    @classmethod
    def missing(cls, home: Path) -> str:
        """What is said where there is none."""
        raise NotImplementedError

    @property
    def n_bytes(self) -> int:
        """The size on disk."""
        return sum(size for size, _ in self.files.values())

    def to_json(self) -> dict[str, Any]:
        """The record as it is written, its checksum included."""
        record = {"layout": self.layout_version, **asdict(self)}
        return record | {"checksum": _checksum(record)}

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> Self:
        """The inverse of `to_json`; raises KeyError, TypeError or ValueError on anything else."""
        checksum = record.pop("checksum")
        if checksum != _checksum(record):
            raise ValueError("its checksum does not match")
        del record["layout"]
        return cls(**record | {"files": {name: (size, crc) for name, (size, crc) in record["files"].items()}})

    def with_file(self, home: Path, name: str, arrays: Mapping[str, Array], shard: str | None = None) -> Self:
        """Write a file, with the vectors of `shard` if one is given; the record that names it."""
        write_arrays(home / name, arrays)
        files = self.files | {name: sync_file(home / name)}
        return replace(self, files=files, vectors=self.vectors if shard is None else self.vectors | {shard: name})


R = TypeVar("R", bound=Record)


def _checksum(record: dict[str, Any]) -> int:
    return zlib.crc32(json.dumps(record, sort_keys=True).encode())


def read_record(home: Path, kind: type[R]) -> R:
    """The committed record of the artefact in `home`."""
    path = home / MANIFEST
    try:
        content = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        raise IndexMissing(kind.missing(home)) from None
    except OSError as error:
        raise IndexCorrupt(f"{path}: cannot be read ({error.strerror})") from None
    try:
        record = json.loads(content)
        layout = int(record["layout"])
        if layout <= kind.layout_version:
            return kind.from_json(record)
    except (ValueError, KeyError, TypeError, AttributeError):
        raise IndexCorrupt(f"{path}: damaged; {kind.remedy(home)}") from None
    reads = f"but this searchlab reads layout {kind.layout_version}"
    raise IndexTooNew(f"{path}: layout {layout}, {reads}; update searchlab")


def open_file(home: Path, record: Record, name: str, *, verify: bool = False) -> dict[str, Array]:
    """Map the arrays of one of an artefact's files, checking its size or, to verify it, its checksum."""
    path = home / name
    try:
        size, crc = record.files[name]
        found = path.stat().st_size
        if found != size:
            raise IndexCorrupt(f"{path}: {found} bytes, expected {size}; {record.remedy(home)}")
        if verify and sync_file(path) != (size, crc):
            raise IndexCorrupt(f"{path}: its checksum does not match; {record.remedy(home)}")
    except (KeyError, OSError):
        raise IndexCorrupt(f"{path}: missing; {record.remedy(home)}") from None
    try:
        return open_arrays(path)
    except IndexCorrupt:
        raise IndexCorrupt(f"{path}: not a readable file of vectors; {record.remedy(home)}") from None


def commit(home: Path, record: Record) -> None:
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
def swept(home: Path, kind: type[Record]) -> Iterator[None]:
    """If the work in `home` fails before its commit, remove what it has written."""
    try:
        yield
    finally:
        with suppress(StoreError):
            _sweep(home, read_record(home, kind))


def _sweep(home: Path, record: Record) -> None:
    for path in home.iterdir():
        if path.name not in {MANIFEST, WRITER_LOCK, *record.files}:
            path.unlink(missing_ok=True)
