"""Readings of probabilities: those that topic models and the components of mixtures give documents and words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from searchlab.retrieval.document_reading import ArrayReading
from searchlab.retrieval.engine import SearchEngine
from searchlab.scorers.execution.mixture_components import MixtureComponents, TopicProbabilities, WordInContext
from searchlab.types import Array, Floats


class DocumentTopics(Protocol):
    """The latent topics of documents."""

    def topics_given_document(self, shards: Array, docs: Array) -> Floats:
        """P(T|D): a row for each document, given by its shard in the whole index and its number there."""


@dataclass(frozen=True)
class TopicReading(ArrayReading):
    """P(T|D) of documents by a topic model."""

    model: DocumentTopics

    def read(self, engine: SearchEngine, shards: Array, docs: Array) -> Array:
        """A row for each document."""
        return self.model.topics_given_document(engine.snapshot.shard_numbers[shards], docs)


@dataclass(frozen=True)
class ProbabilityReading(ArrayReading):
    """The probabilities that the document's components of mixtures give words."""

    words: tuple[WordInContext, ...]

    def read(self, engine: SearchEngine, shards: Array, docs: Array) -> Array:
        """Documents × words × `SPARSE_COMPONENTS`."""
        return engine.reader.shared(MixtureComponents).document_probabilities(self.words, shards, docs)


def read_probabilities(
    engine: SearchEngine,
    words: tuple[WordInContext, ...],
    shards: Array,
    docs: Array,
    topic_model: TopicProbabilities | None = None,
) -> Floats:
    """P_k of each word in some documents: documents × words × `COMPONENTS`, topics 0 without a topic model."""
    of_documents = engine.read_documents(ProbabilityReading(words), shards, docs)
    of_topics = None
    if topic_model is not None and len(docs):
        of_topics = engine.read_documents(TopicReading(topic_model), shards, docs)
    return engine.reader.shared(MixtureComponents).join_probabilities(words, of_documents, of_topics, topic_model)
