"""Names of indexes and the folders that they stand for.

A name without a slash stands for a folder in `indexes/` of the working folder, for reading and for writing alike:
`medical` is `indexes/medical`. Anything with a slash, and a `Path`, is the folder itself; an index in the working
folder is `./medical`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from searchlab.corpus.ir_datasets import is_dataset
from searchlab.errors import IndexMissing, SettingError, StoreError, require_path
from searchlab.indexing.storage.layout import MANIFEST
from searchlab.indexing.storage.manifest import read_index_manifest

INDEXES_FOLDER = Path("indexes")


@dataclass(frozen=True)
class IndexEntry:
    """An index in `indexes/`: its size, and when it was last written (ISO 8601).

    `problem` is the reason why its manifest cannot be read; all numbers are then 0.
    """

    name: str
    folder: Path
    n_docs: int = 0
    n_shards: int = 0
    n_bytes: int = 0
    written: str = ""
    problem: str = ""


def index_folder(name: str | Path) -> Path:
    """The folder that a name or a path stands for, whether or not there is an index in it."""
    require_path("the index", name)
    if not _is_bare_name(name):
        return Path(name)
    if not name:
        raise SettingError("the name of the index is empty, expected a name or a folder")
    return INDEXES_FOLDER / name


def locate_index(name: str | Path) -> Path:
    """The folder of an index to read. Raises IndexMissing if an index is not there, but in the working folder."""
    folder = index_folder(name)
    if _is_bare_name(name) and not (folder / MANIFEST).exists() and (Path(name) / MANIFEST).exists():
        raise IndexMissing(f"{folder}: no index here, but there is one in the working folder; write ./{name}")
    return folder


def existing_index(name: str | Path) -> Path:
    """The folder of an index that is to be changed; raises IndexMissing if there is none, so that none is created."""
    folder = locate_index(name)
    read_index_manifest(folder)
    return folder


def default_folder(sources: Sequence[str | Path]) -> Path:
    """The folder of an index without a name: in `indexes/`, named after the first source."""
    first = Path(sources[0])
    stem = first.resolve().name if first.is_dir() else first.name.split(".")[0]
    name = re.sub(r"[^\w.-]+", "-", stem).strip("-.")
    if not name:
        raise SettingError(f"{first}: makes no name for an index; choose one with -i")
    return INDEXES_FOLDER / name


def latest_index() -> tuple[Path, int]:
    """The index in `indexes/` that was written last, and the number of indexes there."""
    manifests = sorted(INDEXES_FOLDER.glob(f"*/{MANIFEST}"), key=lambda path: path.stat().st_mtime)
    if not manifests:
        raise IndexMissing(f"{INDEXES_FOLDER}: no index here; `searchlab index SOURCE` makes one, -i names another")
    return manifests[-1].parent, len(manifests)


def list_indexes() -> list[IndexEntry]:
    """The indexes in `indexes/`, sorted by name."""
    return [_read_entry(path.parent) for path in sorted(INDEXES_FOLDER.glob(f"*/{MANIFEST}"))]


def _read_entry(folder: Path) -> IndexEntry:
    try:
        manifest = read_index_manifest(folder)
    except StoreError as error:
        return IndexEntry(folder.name, folder, problem=str(error))
    return IndexEntry(
        folder.name, folder, manifest.n_docs, len(manifest.shards), manifest.n_bytes, written=manifest.written
    )


def absolute_source(source: str | Path) -> str:
    """A source under a name that does not depend on the working folder."""
    text = str(source)
    return text if text == "-" or is_dataset(text) else str(Path(source).absolute())


def _is_bare_name(name: str | Path) -> bool:
    return isinstance(name, str) and "/" not in name and name not in (".", "..")
