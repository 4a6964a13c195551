"""The topics and judgments of the indexed collection, and whether a model has learnt from given topics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from searchlab.corpus.trec.qrels import read_qrels
from searchlab.corpus.trec.topics import read_topics
from searchlab.errors import InputError, StoreError
from searchlab.indexing.source_collection import source_collection
from searchlab.rankers.bundle import Bundle
from searchlab.records import Topic
from searchlab.web.state.open_index import OpenIndex


@dataclass(frozen=True)
class CollectionTopics:
    """The topics of a collection, and the grades of its documents by qid, then docno."""

    topics: tuple[Topic, ...]
    grades: dict[str, dict[str, int]]

    @property
    def n_judgments(self) -> int:
        """The number of judged pairs of topic and document."""
        return sum(map(len, self.grades.values()))


def own_topics(opened: OpenIndex) -> CollectionTopics | None:
    """The topics of the indexed collection; None if it has none, is gone, or cannot be read."""
    return opened.cached("collection topics", lambda: _read(opened))


def has_learnt_from(opened: OpenIndex, bundle: Bundle, topics: Sequence[Topic]) -> bool:
    """Whether a model was trained on any of these topics, as far as its file tells."""

    def collection_topics() -> tuple[Topic, ...]:
        own = own_topics(opened)
        return () if own is None else own.topics

    return bundle.has_learnt_from(topics, opened.name, collection_topics)


def _read(opened: OpenIndex) -> CollectionTopics | None:
    try:
        collection = source_collection(opened.folder)
        if collection is None:
            return None
        asked = read_topics(collection.topics[0])
        grades = read_qrels(collection.qrels[0]) if collection.qrels else {}
    except (InputError, StoreError):
        return None
    known = {topic.qid: dict(grades[topic.qid]) for topic in asked if topic.qid in grades}
    return CollectionTopics(tuple(Topic(topic.qid, topic.text) for topic in asked), known)
