"""Where do topics and judgments come from, if none are named? From the collection that was indexed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from searchlab.cli.app import note
from searchlab.errors import SettingError

if TYPE_CHECKING:
    from searchlab.corpus import ReadingNotes
    from searchlab.records import Qrels


def own_topics(folder: Path) -> str:
    """The topics of the collection that an index was made from."""
    from searchlab.indexing.source_collection import source_collection

    collection = source_collection(folder)
    if collection is None:
        raise SettingError(f"{folder}: its sources have no topics; expected a file of topics")
    note(f"topics: {collection.topics[0]}")
    return str(collection.topics[0])


def read_judgments(folder: Path, given: str | None, *, own: bool, notes: ReadingNotes) -> Qrels | None:
    """The judgments that are named, or those of the indexed collection if its topics are taken (`own`)."""
    from searchlab.corpus.trec.qrels import read_qrels
    from searchlab.indexing.source_collection import source_collection

    if given is not None:
        return read_qrels(given, notes=notes)
    collection = source_collection(folder) if own else None
    if collection is None or not collection.qrels:
        return None
    note(f"judgments: {collection.qrels[0]}")
    return read_qrels(collection.qrels[0], notes=notes)
