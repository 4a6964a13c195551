"""Indexes of collections with judgments: in the report's folder, or in indexes/ without a report."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import searchlab
from searchlab.cli.messages import warn_of_encodings
from searchlab.cli.progress import reading_bar

if TYPE_CHECKING:
    from searchlab.corpus import Collection, Qrels
    from searchlab.records import Topic
    from searchlab.retrieval.engine import SearchEngine


@contextmanager
def open_collection(
    name: str, collection: Collection, output: str | None
) -> Iterator[tuple[SearchEngine, list[Topic], Qrels]]:
    """Index a collection, or update its index; its engine, topics and judgments."""
    from searchlab.indexing.index_names import default_folder
    from searchlab.reproduction.judged_collections import refuse_index_of_other_source

    source = str(collection.folder)
    folder = default_folder([source]) if output is None else Path(output) / "indexes" / name
    refuse_index_of_other_source(folder, source)
    notes = searchlab.ReadingNotes()
    with reading_bar(notes) as reading:
        searchlab.index([source], folder, notes=notes, progress=reading)
    topics = searchlab.read_topics(collection.topics[0], notes=notes)
    qrels = searchlab.read_qrels(collection.qrels[0], notes=notes)
    warn_of_encodings(notes)
    with searchlab.open(folder) as engine:
        yield engine, topics, qrels
