"""Which topics and judgments came with the documents of an index, and has a model learnt from some topics?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from searchlab.corpus.trec.qrels import read_qrels
from searchlab.corpus.trec.topics import read_topics
from searchlab.errors import InputError, StoreError
from searchlab.indexing.source_collection import source_collection
from searchlab.rankers.bundle import Bundle
from searchlab.records import Topic
from searchlab.web.state.open_indexes import Opened
from searchlab.web.state.result_cache import Memory

_REMEMBERED = Memory(8)


@dataclass(frozen=True)
class Own:
    """The topics of a collection, and the grades of its documents by qid, then docno."""

    topics: tuple[Topic, ...]
    grades: dict[str, dict[str, int]]

    @property
    def n_judgments(self) -> int:
        """How many pairs of topic and document were judged."""
        return sum(map(len, self.grades.values()))


def own_topics(opened: Opened) -> Own | None:
    """What the collection has that the index was made from; None if it has nothing, is gone, or cannot be read."""
    return _REMEMBERED.get(opened, "own", lambda: _read(opened))


def has_learnt_from(opened: Opened, bundle: Bundle, topics: Sequence[Topic]) -> bool:
    """Whether a model was trained on any of these topics, as far as its file tells."""

    def collection_topics() -> tuple[Topic, ...]:
        own = own_topics(opened)
        return () if own is None else own.topics

    return bundle.has_learnt_from(topics, opened.name, collection_topics)


def _read(opened: Opened) -> Own | None:
    try:
        collection = source_collection(opened.folder)
        if collection is None:
            return None
        asked = read_topics(collection.topics[0])
        grades = read_qrels(collection.qrels[0]) if collection.qrels else {}
    except (InputError, StoreError):
        return None
    known = {topic.qid: dict(grades[topic.qid]) for topic in asked if topic.qid in grades}
    return Own(tuple(Topic(topic.qid, topic.text) for topic in asked), known)
