"""Topics and judgments of commands: the files that are named, or those of the indexed collection."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import searchlab
from searchlab.cli.messages import note, warn, warn_of_encodings
from searchlab.errors import SettingError, SourceError
from searchlab.evaluation.number_text import format_share

if TYPE_CHECKING:
    from searchlab.corpus import Qrels, ReadingNotes
    from searchlab.records import Topic


def default_topics(folder: Path) -> str:
    """The file of topics of the indexed collection."""
    from searchlab.indexing.source_collection import source_collection

    collection = source_collection(folder)
    if collection is None:
        raise SettingError(f"{folder}: its sources have no topics; expected a file of topics")
    note(f"topics: {collection.topics[0]}")
    return str(collection.topics[0])


def read_topics_and_qrels(
    folder: Path, topics_file: str | None, qrels_file: str | None, topic_ids: str
) -> tuple[list[Topic], Qrels | None]:
    """Topics and their judgments.

    Both default to the files of the indexed collection; judgments only if its topics are used. None if there are no
    judgments. A warning says if the judgments seem to number topics in another way.
    """
    notes = searchlab.ReadingNotes()
    topics = searchlab.read_topics(topics_file or default_topics(folder), notes=notes, topic_ids=topic_ids)
    if qrels_file is None and topics_file is None:
        qrels_file = _default_qrels(folder)
    qrels = None if qrels_file is None else searchlab.read_qrels(qrels_file, notes=notes)
    warn_of_encodings(notes)
    if qrels is not None:
        _warn_of_numbering(topics, qrels)
    return topics, qrels


def read_judged_topics(
    folder: Path, topics_file: str | None, qrels_file: str | None, purpose: str, *, topic_ids: str
) -> tuple[list[Topic], Qrels]:
    """The same; without judgments an error that says what they are needed for."""
    topics, qrels = read_topics_and_qrels(folder, topics_file, qrels_file, topic_ids)
    if qrels is None:
        raise SettingError(f"no judgments to {purpose}: expected --qrels FILE")
    return topics, qrels


def read_qrels_of(source: str, notes: ReadingNotes) -> Qrels:
    """The judgments in a file, or in the folder of a collection."""
    if not Path(source).is_dir():
        return searchlab.read_qrels(source, notes=notes)
    collection = searchlab.find_collection(source)
    if collection is None or not collection.qrels:
        raise SourceError(source, "expected a file of judgments, found a folder without any")
    note(f"judgments: {collection.qrels[0]}")
    return searchlab.read_qrels(collection.qrels[0], notes=notes)


def _warn_of_numbering(topics: list[Topic], qrels: Qrels) -> None:
    from searchlab.evaluation.file_checks.topic_match import explain_order

    if cause := explain_order([topic.qid for topic in topics], list(qrels)):
        n_unknown = len(set(qrels).difference(topic.qid for topic in topics))
        warn(f"{format_share(n_unknown, len(qrels), 'judged topic')} not among the topics{cause}")


def _default_qrels(folder: Path) -> str | None:
    from searchlab.indexing.source_collection import source_collection

    collection = source_collection(folder)
    if collection is None or not collection.qrels:
        return None
    note(f"judgments: {collection.qrels[0]}")
    return str(collection.qrels[0])
