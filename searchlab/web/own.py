"""Which topics and judgments came with the documents of an index?"""

from __future__ import annotations

from dataclasses import dataclass

from searchlab.corpus.qrels import read_qrels
from searchlab.corpus.topics import read_topics
from searchlab.errors import InputError
from searchlab.indexing.places import collections_of
from searchlab.records import Topic
from searchlab.web.memory import Memory
from searchlab.web.shelf import Opened

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


def _read(opened: Opened) -> Own | None:
    try:
        collection = next((each for each in collections_of(opened.folder) if each.topics), None)
        if collection is None:
            return None
        asked = read_topics(collection.topics[0])
        grades = read_qrels(collection.qrels[0]) if collection.qrels else {}
    except InputError:
        return None
    known = {topic.qid: dict(grades[topic.qid]) for topic in asked if topic.qid in grades}
    return Own(tuple(Topic(topic.qid, topic.text) for topic in asked), known)
