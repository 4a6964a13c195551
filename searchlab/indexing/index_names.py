"""Which index does the user mean?

Indexes live in `indexes/` of the working folder, one folder each, named after their source. Wherever an
index is asked for, a path to one will do, or the name of one in `indexes/`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from searchlab.corpus.ir_datasets import is_dataset
from searchlab.errors import IndexMissing, SettingError
from searchlab.indexing.storage.layout import MANIFEST

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
