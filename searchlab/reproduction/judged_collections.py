"""Collections with topics and judgments, and the indexes that are made of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from searchlab.corpus import Collection, find_collection
from searchlab.errors import SettingError, SourceError
from searchlab.indexing.index_names import absolute_source
from searchlab.indexing.storage.layout import MANIFEST
from searchlab.indexing.storage.manifest import read_index_manifest


def find_judged_collections(folders: Sequence[str]) -> dict[str, Collection]:
    """The collections in folders, by their names; each must have topics and judgments."""
    found: dict[str, Collection] = {}
    for folder in folders:
        collection = find_collection(folder)
        if collection is None:
            raise SourceError(folder, "expected a folder with one file of documents (docs.*, documents.* or corpus.*)")
        if not collection.topics or not collection.qrels:
            missing = "topics" if not collection.topics else "qrels"
            raise SourceError(folder, f"no {missing} found, expected a collection with topics and qrels")
        name = collection.folder.resolve().name
        if name in found:
            raise SettingError(f"two collections are called {name}, expected folders of different names")
        found[name] = collection
    return found


def refuse_index_of_other_source(folder: Path, source: str) -> None:
    """Refuse to update an index that was made from other sources."""
    if not (folder / MANIFEST).exists():
        return
    sources = list(read_index_manifest(folder).sources)
    if sources != [absolute_source(source)]:
        made = ", ".join(sources) or "a program"
        raise SettingError(f"{folder}: was made from {made}, expected an index of {source}; -o chooses another folder")
