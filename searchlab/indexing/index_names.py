"""Which index does the user mean?

Indexes live in `indexes/` of the working folder, one folder each, named after their source. Wherever an
index is asked for, a path to one will do, or the name of one in `indexes/`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from searchlab.corpus.ir_datasets import is_dataset
from searchlab.errors import IndexMissing, SettingError, StoreError
from searchlab.indexing.storage.layout import MANIFEST
from searchlab.indexing.storage.manifest import read_index_manifest

HOME = Path("indexes")


def resolve(name: str | Path) -> Path:
    """The folder for a path, or for the name of an index in `indexes/`."""
    path = Path(name)
    named = HOME / path
    if len(path.parts) == 1 and not (path / MANIFEST).exists() and (named / MANIFEST).exists():
        return named
    return path


def default_folder(sources: Sequence[str | Path]) -> Path:
    """Where an index of these sources goes if nothing else is said: `indexes/`, by the first one's name."""
    first = Path(sources[0])
    stem = first.resolve().name if first.is_dir() else first.name.split(".")[0]
    name = re.sub(r"[^\w.-]+", "-", stem).strip("-.")
    if not name:
        raise SettingError(f"{first}: makes no name for an index; choose one with -i")
    return HOME / name


def lasting_name(source: str | Path) -> str:
    """A source under a name that is right from every working folder."""
    text = str(source)
    return text if text == "-" or is_dataset(text) else str(Path(source).absolute())


def choose() -> tuple[Path, int]:
    """The index in `indexes/` that was written last, and how many there are to choose from."""
    found = sorted(HOME.glob(f"*/{MANIFEST}"), key=lambda path: path.stat().st_mtime)
    if not found:
        raise IndexMissing(f"{HOME}: no index here; `searchlab index SOURCE` makes one, -i names another place")
    return found[-1].parent, len(found)


@dataclass(frozen=True)
class IndexEntry:
    """An index in `indexes/`."""

    name: str
    folder: Path
    n_docs: int = 0
    n_shards: int = 0
    n_bytes: int = 0
    written: str = ""
    problem: str = ""


def list_indexes() -> list[IndexEntry]:
    """The indexes in `indexes/`, sorted by name."""
    return [_read_entry(path.parent) for path in sorted(HOME.glob(f"*/{MANIFEST}"))]


def _read_entry(folder: Path) -> IndexEntry:
    try:
        manifest = read_index_manifest(folder)
    except StoreError as error:
        return IndexEntry(folder.name, folder, problem=str(error))
    return IndexEntry(folder.name, folder, manifest.n_docs, len(manifest.shards), manifest.n_bytes, manifest.written)
