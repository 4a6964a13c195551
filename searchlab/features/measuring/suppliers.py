"""Suppliers of measured features: positions, feedback, the semantic space, mixtures and latent topics.

A supplier measures the features of the wanted names for all candidates of a query. What it reads of all of them is
listed beside it (`READINGS`), so that everything is read at once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from searchlab.features.counts import StreamCounts
from searchlab.features.formulas.measured_features import MIXTURE_FEATURES, NEIGHBOUR_FEATURES, SEMANTIC_DIMS
from searchlab.features.formulas.stream_formula import score_stream
from searchlab.features.latent_semantics.neighbours import DenseVectors, Vectors, neighbour_means
from searchlab.features.latent_semantics.word_vectors import WordEntries, WordVectors
from searchlab.features.measuring.candidate_readings import (
    MatchingDocuments,
    VectorReading,
    WordReading,
)
from searchlab.features.measuring.proximity import PositionReading
from searchlab.features.query_context import QueryContext, Space, TopicSpace
from searchlab.retrieval.document_reading import DocumentReading
from searchlab.retrieval.engine import SearchEngine
from searchlab.retrieval.expansion import MAX_TERMS, RM3
from searchlab.retrieval.probability_reading import TopicReading, read_probabilities
from searchlab.retrieval.results import Hits
from searchlab.scorers.bm25 import BM25
from searchlab.scorers.execution.mixture_components import MixtureComponents
from searchlab.scorers.plsa import PLSA
from searchlab.types import Array


def open_space(engine: SearchEngine) -> Space:
    """The semantic space of an index."""
    from searchlab.features.latent_semantics.semantic_space import SemanticSpace

    return SemanticSpace.open(engine.snapshot)


def open_model(engine: SearchEngine) -> TopicSpace:
    """The topic model of an index."""
    from searchlab.topic_models.topic_model_store import open_topic_model

    return open_topic_model(engine.snapshot)


def read_positions(query: QueryContext, wanted: Collection[str]) -> list[DocumentReading[Any]]:
    """What `supply_positions` reads."""
    return [PositionReading(tuple(query.words), tuple(wanted))]


def supply_positions(query: QueryContext, wanted: Collection[str]) -> dict[str, Array]:
    """How near the words of the query are to each other in the text (see `proximity`)."""
    [reading] = read_positions(query, wanted)
    columns = query.reader.read(reading)
    return dict(zip(wanted, columns.T, strict=True))


def supply_rm3(query: QueryContext, wanted: Collection[str]) -> dict[str, Array]:
    """BM25 of the query expanded by RM3; 0 for a query that finds nothing, which has no terms to expand it with."""
    return dict.fromkeys(wanted, query.rm3_scores)


def supply_scope(query: QueryContext, wanted: Collection[str]) -> dict[str, Array]:
    """-ln(n/N), where n documents have any word of the query."""
    n_matching = query.engine.reader.statistics.number(MatchingDocuments(tuple(query.terms)))
    scope = -np.log(n_matching / query.engine.snapshot.n_docs) if n_matching else np.nan
    return dict.fromkeys(wanted, query.fill(float(scope)))


def supply_clarity(query: QueryContext, wanted: Collection[str]) -> dict[str, Array]:
    """How the words of the best documents differ from those of the collection: the divergence of the two models.

    Deviations from Cronen-Townsend et al.: the relevance model is that of `RM3`, of ten documents and not smoothed, and
    keeps its 1000 most telling terms.
    """
    search = query.feedback
    if not len(query.best):
        return dict.fromkeys(wanted, query.fill(np.nan))
    terms = RM3(terms=MAX_TERMS, weight=0).expand(search.query, search.relevance_model).terms
    shares = np.array([term.count for term in terms])
    shares /= shares.sum()
    background = np.array([term.stats.term_count / term.stats.n_tokens for term in terms])
    return dict.fromkeys(wanted, query.fill(float(shares @ np.log(shares / background))))


def read_semantic(query: QueryContext, wanted: Collection[str]) -> list[DocumentReading[Any]]:
    """What `supply_semantic` reads of the candidates."""
    space = query.space or open_space(query.engine)
    by_words = any(name in NEIGHBOUR_FEATURES and NEIGHBOUR_FEATURES[name].by_words for name in wanted)
    reads_words = by_words and not _has_compiled_words(query.engine)
    return [VectorReading(space, _dims_of(wanted)), *([WordReading(space)] if reads_words else [])]


def _has_compiled_words(engine: SearchEngine) -> bool:
    """Whether word vectors are made by compiled code: of texts that are all here."""
    return engine.compiled and not engine.is_distributed


def _word_vectors(query: QueryContext, space: Space) -> WordVectors:
    """The vectors of the candidates by their words."""
    engine, documents = query.engine, query.documents
    if _has_compiled_words(engine):
        return space.word_vectors(engine.snapshot.shard_numbers[documents.shards], documents.docs)
    entries: list[WordEntries] = query.reader.read(WordReading(space))
    return replace(WordVectors.join(len(documents), entries), compiled=engine.compiled)


def _dims_of(wanted: Collection[str]) -> tuple[int, ...]:
    """The dimensions that features need; neighbours are those in the most."""
    in_widest = any(name in NEIGHBOUR_FEATURES and not NEIGHBOUR_FEATURES[name].by_words for name in wanted)
    return tuple(
        dims
        for dims in SEMANTIC_DIMS
        if (in_widest and dims == SEMANTIC_DIMS[-1])
        or any(f"semantic.both.{what}_{dims}" in wanted for what in TARGETS)
    )


def supply_semantic(query: QueryContext, wanted: Collection[str]) -> dict[str, Array]:
    """Cosines in a latent semantic space, undefined where a vector is 0, and scores of the nearest candidates."""
    space = query.space or open_space(query.engine)
    by_words = [name for name in wanted if name in NEIGHBOUR_FEATURES and NEIGHBOUR_FEATURES[name].by_words]
    in_space = [name for name in wanted if name in NEIGHBOUR_FEATURES and name not in by_words]
    measured: dict[str, Array] = {}
    dims_of_features = _dims_of(wanted)
    by_dims: list[Array] = query.reader.read(VectorReading(space, dims_of_features))
    for dims, vectors in zip(dims_of_features, by_dims, strict=True):
        targets = {f"semantic.both.{what}_{dims}": target for what, target in TARGETS.items()}
        chosen = [name for name in wanted if name in targets]
        if chosen:
            compared = ComparedVectors(vectors.astype(float))
            candidates = CandidateVectors(query, space, dims, vectors)
            measured |= {name: compared.cosines(targets[name](candidates)) for name in chosen}
        if in_space and dims == SEMANTIC_DIMS[-1]:
            measured |= _neighbour_features(query, in_space, DenseVectors(vectors))
    if by_words:
        measured |= _neighbour_features(query, by_words, _word_vectors(query, space))
    return measured


class CandidateVectors(NamedTuple):
    """The vectors of a query's candidates in a semantic space of some dimensions."""

    query: QueryContext
    space: Space
    dims: int
    vectors: Array

    def centroid(self, hits: Hits) -> Array:
        """The mean of documents, weighted by their scores; most of them are candidates, too."""
        documents = self.query.documents
        same = (hits.shards[:, None] == documents.shards) & (hits.docs[:, None] == documents.docs)
        vectors = self.vectors[same.argmax(axis=1)]
        others = ~same.any(axis=1)
        if others.any():
            columns = hits.shards[others], hits.docs[others]
            [vectors[others]] = self.query.engine.read_documents(VectorReading(self.space, (self.dims,)), *columns)
        return np.asarray(hits.scores @ vectors)


def _neighbour_features(query: QueryContext, names: Sequence[str], vectors: Vectors) -> dict[str, Array]:
    """Features of neighbours, by their names; near are candidates by these vectors."""
    features = [NEIGHBOUR_FEATURES[name] for name in names]
    numbers = [NEIGHBOUR_NUMBERS[feature.of](query) for feature in features]
    sizes = [feature.size for feature in features]
    means = neighbour_means(vectors, numbers, sizes, compiled=query.engine.compiled)
    return {
        name: smoothed_bm25(query.query_counts, mean) if feature.of == "counts" else mean
        for name, feature, mean in zip(names, features, means, strict=True)
    }


def smoothed_bm25(counts: StreamCounts, means: Array) -> Array:
    """BM25 with the counts and lengths of candidates averaged with those of their neighbours.

    `means` has a row for each candidate: the means of its neighbours' counts of each term, then of their lengths; a
    candidate without neighbours keeps its own. A word that a document lacks and similar ones have then counts a little
    (Kurland and Lee, SIGIR 2004, smooth language models by clusters; Tao et al., HLT 2006, by the nearest documents).
    """
    own = np.vstack([counts.tf, counts.lengths])
    smoothed = (own + np.where(np.isnan(means.T), own, means.T)) / 2
    return score_stream(replace(counts, tf=smoothed[:-1], lengths=smoothed[-1]), BM25())


def supply_mixture(query: QueryContext, wanted: Collection[str]) -> dict[str, Array]:
    """The log-likelihood of the query by mixtures of more than unigrams, equal to their scores."""
    components = query.engine.reader.shared(MixtureComponents)
    words = components.words(query.engine.parse(query.text))
    counts = np.array([word.count for word in words])
    probabilities = read_probabilities(query.engine, words, query.documents.shards, query.documents.docs)
    return {name: np.log(probabilities @ MIXTURE_FEATURES[name].weight_vector) @ counts for name in wanted}


def supply_topics(query: QueryContext, wanted: Collection[str]) -> dict[str, Array]:
    """How near query and document are by their latent topics; the likelihood leaves out words that no topic has."""
    model = query.topic_model or open_model(query.engine)
    of_docs = query.reader.read(TopicReading(model))
    measured = {"topic.both.cosine": ComparedVectors(of_docs).cosines(model.topics_given_words(query.terms))}
    s = query.counts.collect(query.terms, ["both"]).streams["both"].known
    terms = [term for term in query.terms if query.engine.snapshot.term_stats("both", term).doc_freq]
    of_terms = model.term_given_topic(terms)
    topical = of_terms @ of_docs.T
    has_topic = of_terms.any(axis=1)
    undefined = query.fill(np.nan)
    with np.errstate(divide="ignore"):
        measured["topic.both.likelihood"] = (
            s.query_counts[has_topic] @ np.log(topical[has_topic]) if has_topic.any() else undefined
        )
    alpha, beta = PLSA.defaults
    background = (s.term_counts / s.n_tokens)[:, None]
    mixed = alpha * (beta * topical + (1 - beta) * background) + (1 - alpha) * s.tf / np.maximum(s.lengths, 1)
    measured["topic.both.plsa"] = s.query_counts @ np.log(mixed) if len(terms) else undefined
    return {name: measured[name] for name in wanted}


class ComparedVectors:
    """The vectors of candidates, which are compared with several others."""

    def __init__(self, rows: Array) -> None:
        self._rows = rows
        self._norms = np.linalg.norm(rows, axis=1)

    def cosines(self, target: Array) -> Array:
        """The cosine of each row with a vector, undefined where one of them is 0."""
        norms = self._norms * np.linalg.norm(target)
        undefined = np.full(len(norms), np.nan)
        cosines: Array = np.divide(self._rows @ target, norms, out=undefined, where=norms > 0)
        return cosines


# The vectors that those of documents are compared with.
TARGETS: dict[str, Callable[[CandidateVectors], Array]] = {
    "query": lambda candidates: candidates.space.query_vector(candidates.query.terms, candidates.dims),
    "bm25": lambda candidates: candidates.centroid(candidates.query.best.take(slice(5))),
    "rm3": lambda candidates: candidates.centroid(candidates.query.feedback.expanded(10)),
}

# The numbers of each candidate of which features of neighbours are made: one for each, or a row.
NEIGHBOUR_NUMBERS: dict[str, Callable[[QueryContext], Array]] = {
    "bm25": lambda query: query.bm25_scores,
    "rm3": lambda query: query.rm3_scores,
    "counts": lambda query: np.vstack([query.query_counts.tf, query.query_counts.lengths]).T,
}

SUPPLIERS: dict[str, Callable[[QueryContext, Collection[str]], dict[str, Array]]] = {
    "positions": supply_positions,
    "rm3": supply_rm3,
    "scope": supply_scope,
    "clarity": supply_clarity,
    "semantic": supply_semantic,
    "mixture": supply_mixture,
    "topics": supply_topics,
}
# What suppliers read of all candidates.
READINGS: dict[str, Callable[[QueryContext, Collection[str]], list[DocumentReading[Any]]]] = {
    "positions": read_positions,
    "semantic": read_semantic,
    "topics": lambda query, wanted: [TopicReading(query.topic_model or open_model(query.engine))],
}
