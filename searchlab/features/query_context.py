"""The context of feature extraction: one query with its candidates, and what several features of them share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from searchlab.errors import unknown_name
from searchlab.features.counts import CandidateCounts, StreamCounts
from searchlab.features.formulas.stream_formula import score_stream
from searchlab.features.latent_semantics.word_vectors import WordEntries, WordVectors
from searchlab.features.measuring.candidate_readings import NumberReading, StoredReading, find_greatest
from searchlab.indexing.storage.columns import STREAMS
from searchlab.records import Document
from searchlab.retrieval.document_list import DocumentList
from searchlab.retrieval.document_reading import DocumentReader
from searchlab.retrieval.engine import SearchEngine
from searchlab.retrieval.expansion import RM3
from searchlab.retrieval.pipeline import Pipeline, PipelineSearch
from searchlab.retrieval.results import Hits
from searchlab.scorers.bm25 import BM25
from searchlab.types import Array, Floats


class Space(Protocol):
    """The methods of a semantic space that features use; its vectors have length 1, or 0."""

    def vectors_by_dims(self, shards: Array, docs: Array, dims: Sequence[int]) -> list[Array]:
        """The vectors of documents, a row for each, in the spaces of so many dimensions."""

    def query_vector(self, terms: Mapping[str, float], dims: int) -> Array:
        """The vector of a text, given as terms with their counts."""

    def word_entries(self, shards: Array, docs: Array) -> list[WordEntries]:
        """The words of documents, for each shard."""

    def word_vectors(self, shards: Array, docs: Array) -> WordVectors:
        """The vectors of documents by these words, made by compiled code."""


class TopicSpace(Protocol):
    """The methods of a topic model that features use."""

    def term_given_topic(self, terms: Sequence[str]) -> Array:
        """P(w|T), a row for each term."""

    def topics_given_document(self, shards: Array, docs: Array) -> Array:
        """P(T|D), a row for each document."""

    def topics_given_words(self, terms: Mapping[str, float]) -> Array:
        """P(T) of a text, given as terms with their counts."""


@dataclass(frozen=True)
class QueryContext:
    """One query with its candidates, and the searches that suppliers share.

    `qid` is that of a topic, None for a query that is none. `search` is a search for the same text, if there was one.
    """

    engine: SearchEngine
    text: str
    documents: DocumentList
    space: Space | None = None
    topic_model: TopicSpace | None = None
    search: PipelineSearch | None = None
    qid: str | None = None

    @cached_property
    def words(self) -> list[str]:
        """The terms of the query in its order, repeats included."""
        return self.engine.snapshot.analyzer.terms(self.text)

    @cached_property
    def terms(self) -> dict[str, float]:
        """The distinct terms of the query, and how often it has each."""
        return dict(Counter(self.words))

    @cached_property
    def feedback(self) -> PipelineSearch:
        """The search that feedback features are defined by: BM25 and RM3, both with their default settings.

        If candidates come from the same first search, or from the same RM3, that is not computed again.
        """
        pipeline = Pipeline(self.engine, BM25(), expansion=RM3())
        query = pipeline.parse(self.text)
        return pipeline.start(query) if self.search is None else self.search.for_pipeline(pipeline, query)

    @property
    def best(self) -> Hits:
        """The documents that RM3 learns from."""
        return self.feedback.first(RM3().documents)

    @cached_property
    def candidates(self) -> QueryCandidates:
        """What features that a user writes in Python may see."""
        return QueryCandidates(self)

    @cached_property
    def query_counts(self) -> StreamCounts:
        """The counts of the query's terms in title and body of each candidate."""
        return self._count(self.terms)

    @cached_property
    def bm25_scores(self) -> Array:
        """BM25 of each candidate, for the query itself."""
        return score_stream(self.query_counts, BM25())

    @cached_property
    def rm3_scores(self) -> Array:
        """BM25 of each candidate, for the query expanded by RM3; 0 if the query finds nothing to expand it with."""
        weights = {term.text: term.count for term in self.feedback.expanded_query.terms}
        return score_stream(self._count(weights), BM25())

    @cached_property
    def counts(self) -> CandidateCounts:
        """The counts of terms in the candidates, which several features share."""
        return CandidateCounts(self.engine, self.documents.shards, self.documents.docs, self.reader.read)

    @cached_property
    def reader(self) -> DocumentReader:
        """What reads the candidates, each reading once; it has no reference to this context, which is freed at once."""
        return DocumentReader(self.engine, self.documents.shards, self.documents.docs)

    def _count(self, weights: Mapping[str, float]) -> StreamCounts:
        return self.counts.collect(weights, ["both"]).streams["both"].known

    def fill(self, number: float) -> Array:
        """The same number for each candidate."""
        return np.full(len(self.documents), number)


class QueryCandidates:
    """The candidates of one query, as a feature's function sees them; each part is read when it is first asked for."""

    def __init__(self, context: QueryContext) -> None:
        self._context = context
        self._counts: dict[str, StreamCounts] = {}

    def __len__(self) -> int:
        return len(self._context.documents)

    def __repr__(self) -> str:
        return f"<QueryCandidates of {self.query!r}: {len(self)} documents>"

    @property
    def query(self) -> str:
        """The text of the query."""
        return self._context.text

    @property
    def terms(self) -> Mapping[str, float]:
        """The distinct terms of the query, and how often it has each."""
        return dict(self._context.terms)

    @property
    def docnos(self) -> tuple[str, ...]:
        """The docno of each candidate."""
        return self._context.documents.docnos

    def counts(self, stream: str = "both") -> StreamCounts:
        """The counts of the query's terms in a stream: `tf[t, d]`, lengths of documents, statistics of terms."""
        if stream not in STREAMS:
            raise unknown_name("stream", stream, STREAMS)
        if stream not in self._counts:
            context = self._context
            with context.engine.snapshot.report_damage():
                counts = context.counts.collect(context.terms, [stream])
            found = self._counts[stream] = counts.streams[stream]
            for array in (found.tf, found.lengths, found.uniques, found.query_counts):
                array.flags.writeable = False  # several features see the same arrays
        return self._counts[stream]

    def numbers(self, field: str) -> Floats:
        """The number of each candidate in a stored field, NaN where it has none; dates in years."""
        _ = self.greatest(field)  # refuses a field that no document has
        return self._context.reader.read(NumberReading(field))

    def greatest(self, field: str) -> float:
        """The greatest number of all documents of the index in a stored field."""
        return find_greatest(self._context.engine, field)

    @cached_property
    def documents(self) -> tuple[Document, ...]:
        """The stored documents with title, body and fields. Reading them takes longer than all counts."""
        stored: list[Document] = self._context.reader.read(StoredReading())
        return tuple(stored)
