"""Artefacts: what was learnt from an index, such as a semantic space or a topic model, in a folder beside its shards.

An artefact has its own manifest and its own writer lock, because making one takes minutes and documents can be indexed
meanwhile.

    HOME/
      manifest.json               what it was made from, each file with size and CRC-32, a checksum
      writer.lock                 locked by the process that is writing here
      terms-1a2b3c4d              what belongs to terms
      vectors-1a2b3c4d-SHARD      what belongs to a shard's documents, in the order of their numbers

Files are written once. A change takes effect when a new manifest replaces the old one; files that it does not name are
removed. A reader that has opened a file can go on reading it after it is removed.
"""

from __future__ import annotations

import re
import secrets
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self, TypeVar

from searchlab.corpus.text_files import read_small_file
from searchlab.errors import IndexCorrupt, IndexMissing, IndexTooNew, StoreError, unreadable
from searchlab.indexing.storage.arrays.array_file import ArrayFile, write_arrays
from searchlab.indexing.storage.commit import describe, remove_leftovers, replace_manifest
from searchlab.indexing.storage.file_sync import sync_file
from searchlab.indexing.storage.layout import MANIFEST, SHARD_PREFIX, UNCOMMITTED_MANIFEST
from searchlab.json_records import (
    MAX_SEED,
    check_names,
    file_table,
    json_checksum,
    one_line,
    parse_record,
    table,
    whole_number,
    without_checksum,
)
from searchlab.types import Array


@dataclass(frozen=True, kw_only=True)
class ArtefactRecord(ABC):
    """The manifest of an artefact; each kind adds how and from what it was made.

    `terms` is the name of the terms' file, `vectors` has the name of the vectors' file by shard, and `files` the size
    and CRC-32 of each file.
    """

    terms: str
    vectors: dict[str, str] = field(default_factory=dict)
    files: dict[str, tuple[int, int]] = field(default_factory=dict)

    layout_version: ClassVar[int] = 1

    @classmethod
    @abstractmethod
    def remedy(cls, home: Path) -> str:
        """What to do about an artefact that cannot be read."""

    @classmethod
    @abstractmethod
    def missing(cls, home: Path) -> str:
        """The message if there is no artefact in `home`."""

    @property
    @abstractmethod
    def analysis_fingerprint(self) -> str:
        """The fingerprint of the analysis settings of the index that the artefact was made from."""

    @property
    def n_bytes(self) -> int:
        """The size of all files on disk."""
        return sum(size for size, _ in self.files.values())

    def to_json(self) -> dict[str, Any]:
        """The record as it is written, with its checksum."""
        record = {"layout": self.layout_version, **asdict(self)}
        return record | {"checksum": json_checksum(record)}

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> Self:
        """The inverse of `to_json`; raises ValueError for anything else, and for names outside the artefact."""
        record = without_checksum(record)
        del record["layout"]
        check_names(record, (field.name for field in fields(cls)))
        files = file_table(record, "files")
        vectors = {shard: one_line(vectors, shard) for vectors in [table(record, "vectors")] for shard in vectors}
        terms = one_line(record, "terms")
        if not {terms, *vectors.values()} <= files.keys() or any("/" in name for name in files):
            raise ValueError("found other files than those of an artefact")
        return cls(**{**record, **cls.checked(record), "terms": terms, "vectors": vectors, "files": files})

    @classmethod
    @abstractmethod
    def checked(cls, record: dict[str, Any]) -> dict[str, Any]:
        """The values of the fields that a kind adds; raises ValueError if one is impossible."""

    def with_file(self, file: WrittenFile) -> Self:
        """The record that also names a file."""
        vectors = self.vectors if file.shard is None else self.vectors | {file.shard: file.name}
        return replace(self, files=self.files | {file.name: file.size_and_crc}, vectors=vectors)


class WrittenFile(NamedTuple):
    """A file of an artefact, and the shard of its vectors if it has such."""

    name: str
    size_and_crc: tuple[int, int]
    shard: str | None


def write_artefact_file(home: Path, name: str, arrays: Mapping[str, Array], shard: str | None = None) -> WrittenFile:
    """Write a file (the vectors of `shard` if one is given); it appears when it is complete.

    Two workers of a cluster may write the same file, with the same content, if one was believed to be lost.
    """
    unfinished = home / f"{name}-{secrets.token_hex(4)}"
    write_arrays(unfinished, arrays)
    size_and_crc = sync_file(unfinished)
    unfinished.replace(home / name)
    return WrittenFile(name, size_and_crc, shard)


def checked_origin(record: dict[str, Any]) -> dict[str, Any]:
    """The values that every kind has: when and by which seed it was made, from how many documents and terms."""
    return {
        "seed": whole_number(record, "seed", most=MAX_SEED),
        "made": one_line(record, "made"),
        "n_docs": whole_number(record, "n_docs"),
        "n_terms": whole_number(record, "n_terms"),
    }


R = TypeVar("R", bound=ArtefactRecord)

# The folder of a computation on a cluster.
WORKSPACE_PREFIX = "workspace-"
# The names of the files of artefacts, which writers give them, and of such folders.
_FILE_NAME = re.compile(
    rf"terms-[0-9a-f]{{8}}(-[0-9a-f]{{8}})?|vectors-[0-9a-f]{{8}}-{SHARD_PREFIX}.*|{WORKSPACE_PREFIX}[0-9a-f]{{8}}"
)


def read_artefact_record(home: Path, kind: type[R]) -> R:
    """The committed record of the artefact in `home`."""
    path = home / MANIFEST
    try:
        content = read_small_file(path)
    except (FileNotFoundError, NotADirectoryError):
        raise IndexMissing(kind.missing(home)) from None
    except OSError as error:
        raise unreadable(path, error) from None
    try:
        record = parse_record(content)
        layout = whole_number(record, "layout")
        if layout <= kind.layout_version:
            return kind.from_json(record)
    except ValueError:
        raise IndexCorrupt(f"{path}: damaged; {kind.remedy(home)}") from None
    reads = f"but this searchlab reads layout {kind.layout_version}"
    raise IndexTooNew(f"{path}: layout {layout}, {reads}; update searchlab")


def open_artefact_file(home: Path, record: ArtefactRecord, name: str, *, verify: bool = False) -> ArrayFile:
    """Map the arrays of one of an artefact's files; its size is checked, with `verify` also its checksum."""
    path = home / name
    try:
        size, crc = record.files[name]
        n_bytes = path.stat().st_size
        if n_bytes != size:
            raise IndexCorrupt(f"{path}: {n_bytes} bytes, expected {size}; {record.remedy(home)}")
        if verify and sync_file(path) != (size, crc):
            raise IndexCorrupt(f"{path}: its checksum does not match; {record.remedy(home)}")
    except (KeyError, FileNotFoundError, NotADirectoryError):
        raise IndexCorrupt(f"{path}: missing; {record.remedy(home)}") from None
    except OSError as error:
        raise unreadable(path, error) from None
    return ArrayFile(path, record.remedy(home))


def commit_artefact(home: Path, record: ArtefactRecord) -> list[str]:
    """Replace the manifest in `home` atomically, then remove the files that the new one does not name.

    An error is raised only if the change was not committed; what fails after the commit is returned as warnings.
    """
    return [*replace_manifest(home, record.to_json()), *_remove_unreferenced(home, record)]


@contextmanager
def remove_uncommitted(home: Path, kind: type[ArtefactRecord]) -> Iterator[None]:
    """Afterwards remove the files that the manifest in `home` does not name: those of a block that failed."""
    try:
        yield
    finally:
        with suppress(StoreError):
            _remove_unreferenced(home, read_artefact_record(home, kind))


def _remove_unreferenced(home: Path, record: ArtefactRecord) -> list[str]:
    try:
        paths = list(home.iterdir())
    except OSError as error:
        return [f"{home}: leftovers cannot be removed ({describe(error)}); the next run tries again"]
    # Nothing else: the folder may be a link to a folder with other files.
    return remove_leftovers(
        path
        for path in paths
        if path.name not in record.files and (path.name == UNCOMMITTED_MANIFEST or _FILE_NAME.fullmatch(path.name))
    )
