"""Feature extraction: a table of the features of each topic's candidates.

Topic by topic, counts and measurements are taken for all candidates at once, and every feature is computed from them.
Only what the chosen features need is done: without features that need them, nothing is searched, no text is read, and
no semantic space or latent topics are opened. A search that found the candidates is reused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from searchlab.blas_threads import one_thread
from searchlab.cluster.cluster import Cluster, as_cluster
from searchlab.corpus.values.conversion import make_grades, make_topics
from searchlab.errors import DuplicateError, SettingError, unknown_name
from searchlab.features.candidate_readings import (
    MatchingDocuments,
    ProbabilityReading,
    TopicReading,
    VectorReading,
    WordReading,
)
from searchlab.features.candidates import Candidates, make_candidates
from searchlab.features.catalogue import Feature, compute_features
from searchlab.features.counts import StreamCounts
from searchlab.features.feature_sets import FeatureSet, make_feature_set
from searchlab.features.feature_table import FeatureTable
from searchlab.features.formulas.measured_features import MIXTURE_FEATURES, NEIGHBOUR_FEATURES, SEMANTIC_DIMS
from searchlab.features.formulas.stream_formula import score_stream
from searchlab.features.latent_semantics.neighbours import DenseVectors, Vectors, neighbour_means
from searchlab.features.latent_semantics.word_vectors import WordVectors
from searchlab.features.proximity import PositionReading
from searchlab.features.query_context import QueryContext, Space, TopicSpace
from searchlab.features.user_defined.external_features import require_scores
from searchlab.records import Topic
from searchlab.retrieval.composition.base_pipeline import BasePipeline
from searchlab.retrieval.composition.topic_batch import search_numbered
from searchlab.retrieval.distributed.distributed_engine import divide_shards_of
from searchlab.retrieval.document_list import DocumentList
from searchlab.retrieval.engine import SearchEngine
from searchlab.retrieval.expansion import MAX_TERMS, RM3
from searchlab.retrieval.pipeline import PipelineSearch
from searchlab.retrieval.results import Hits
from searchlab.scorers.bm25 import BM25
from searchlab.scorers.execution.mixture_components import MixtureComponents
from searchlab.scorers.plsa import PLSA
from searchlab.types import Array, Progress, no_progress

NO_SEARCHES: Mapping[str, PipelineSearch] = {}
# What to do with unjudged candidates: give them the grade 0, or leave them out.
UNJUDGED = ("zero", "drop")


def extract(
    engine: SearchEngine,
    topics: Any,
    candidates: Any,
    features: str | Path | Iterable[str | Feature] | FeatureSet,
    *,
    qrels: Any = None,
    unjudged: str = "zero",
    strict: bool = False,
    cluster: Cluster | str | None = None,
    divide: str = "auto",
    progress: Progress = no_progress,
    space: Space | None = None,
    topic_model: TopicSpace | None = None,
) -> FeatureTable:
    """The features of each topic's candidates, in the order of topics and candidates.

    Topics and judgments are anything that `make_topics` and `make_qrels` take; candidates are a pipeline, which
    searches for the topics, a Run, judgments, a dict {qid: [docno]}, or `Candidates`.
    `features` is a set or its name, a TOML file, or several sets and features, as in "semantic,field.year". Grades come
    from `qrels`; candidates that have none are graded 0 or dropped, as `unjudged` says. `strict` refuses candidates
    that the index does not hold, which are left out otherwise. With a `cluster`, or its address, its workers compute,
    each for some of the topics, or each reads its shards' documents for all of them, as `divide` says (see
    `BasePipeline.run`); the features are the same, to the last bit. The semantic space and the topic model are opened
    if they are needed and not given.
    """
    wanted = make_feature_set(features).features
    topics, qrels = make_topics(topics), None if qrels is None else make_grades(qrels)
    if unjudged not in UNJUDGED:
        raise unknown_name("way with unjudged documents", unjudged, UNJUDGED)
    with (
        nullcontext() if cluster is None else as_cluster(cluster) as connected,
        divide_shards_of(engine, connected, divide) as divided,
    ):
        if divided is not engine and isinstance(candidates, BasePipeline):
            candidates = candidates.over(divided)
        candidates = make_candidates(divided, topics, candidates)
        _check_candidates(divided, topics, candidates, wanted, strict=strict)
        found = [CandidateTopic(topic, candidates.of(topic.qid)) for topic in topics]
        if qrels is not None and unjudged == "drop":
            found = [each.only(qrels.get(each.topic.qid, {})) for each in found]
        if connected is None or divided.is_distributed:
            blocks = extract_topics(divided, found, wanted, candidates.searches, space, topic_model, progress)
        else:
            from searchlab.features.cluster_extraction import extract_on_cluster

            blocks = extract_on_cluster(connected, engine, found, wanted, progress)
    grades = None
    if qrels is not None:
        judged = [(qrels.get(each.topic.qid, {}), each.documents.docnos) for each in found]
        grades = [graded.get(docno, 0) for graded, docnos in judged for docno in docnos]
    table = FeatureTable(
        [feature.name for feature in wanted],
        [each.topic.qid for each in found for _ in each.documents.docnos],
        [docno for each in found for docno in each.documents.docnos],
        np.concatenate([np.zeros((0, len(wanted))), *blocks]),
        grades,
    )
    require_scores(table)
    return table


def _check_candidates(
    engine: SearchEngine, topics: Sequence[Topic], candidates: Candidates, features: Sequence[Feature], *, strict: bool
) -> None:
    """Raise an error unless there are candidates, and the index has what the features need."""
    if strict and candidates.only(topics).n_missing:
        raise SettingError(candidates.only(topics).describe_missing())
    _check_topics(topics, candidates)
    for feature in features:
        feature.check(engine)


class CandidateTopic(NamedTuple):
    """A topic and the documents whose features are computed."""

    topic: Topic
    documents: DocumentList

    def only(self, docnos: Collection[str]) -> CandidateTopic:
        """The topic with those of its documents that are named."""
        rows = [row for row, docno in enumerate(self.documents.docnos) if docno in docnos]
        return CandidateTopic(self.topic, self.documents.take(rows))


def extract_topics(
    engine: SearchEngine,
    topics: Sequence[CandidateTopic],
    features: Sequence[Feature],
    searches: Mapping[str, PipelineSearch] = NO_SEARCHES,
    space: Space | None = None,
    topic_model: TopicSpace | None = None,
    progress: Progress = no_progress,
) -> list[Array]:
    """The features of each topic's candidates, perhaps none; what the features need is opened, if it is not given."""
    if space is None and any(feature.needs == "semantic" for feature in features):
        space = _open_space(engine)
    if topic_model is None and any(feature.needs == "topics" for feature in features):
        topic_model = _open_topic_model(engine)

    def extract_topic(number: int) -> Array:
        topic, documents = topics[number]
        if not len(documents):
            return np.zeros((0, len(features)))
        search = searches.get(topic.qid)
        query = QueryContext(engine, topic.text, documents, space, topic_model, search, topic.qid)
        return extract_query(query, features)

    return search_numbered(
        extract_topic,
        len(topics),
        jobs=engine.topics_at_a_time,
        progress=progress,
        stop=engine.interrupt,
        stage="extracting",
    )


def _check_topics(topics: Sequence[Topic], candidates: Candidates) -> None:
    for qid, number in Counter(topic.qid for topic in topics).items():
        if number > 1:
            location = next(topic.location for topic in reversed(topics) if topic.qid == qid)
            raise DuplicateError(location or "topics", f"topic {qid} occurs {number} times, expected once")
    if len(candidates.without_any(topics)) == len(topics):
        served = ", ".join(qid for qid, documents in candidates.documents.items() if len(documents))
        raise SettingError(
            f"none of {len(topics)} topics has a candidate in the index; there are candidates for: "
            f"{served[:80] or 'no topic'}"
        )


def _open_space(engine: SearchEngine) -> Space:
    from searchlab.features.latent_semantics.semantic_space import SemanticSpace

    return SemanticSpace.open(engine.snapshot)


def _open_topic_model(engine: SearchEngine) -> TopicSpace:
    from searchlab.topic_models.topic_model_store import open_topic_model

    return open_topic_model(engine.snapshot)


def extract_query(query: QueryContext, features: Sequence[Feature]) -> Array:
    """The features of one query's candidates: a row for each, a column for each feature."""
    counted = {stream for feature in features for stream in feature.counted}
    # The same numbers on every machine, whatever the number of its cores.
    with query.engine.snapshot.report_damage(), one_thread():
        counts = query.counts.collect(query.terms, counted)
        measured: dict[str, Array] = {}
        for needs, supply in SUPPLIERS.items():
            wanted = [feature.name for feature in features if feature.needs == needs]
            if wanted:
                measured |= supply(query, wanted)
        with np.errstate(divide="ignore", invalid="ignore"):
            measured |= {feature.name: feature.measure(query) for feature in features if feature.measure is not None}
    return compute_features(features, replace(counts, measured=measured))


# A supplier measures the features of the wanted names for all candidates of a query.


def supply_positions(query: QueryContext, wanted: Collection[str]) -> dict[str, Array]:
    """How near the words of the query are to each other in the text (see `proximity`)."""
    columns = query.read(PositionReading(tuple(query.words), tuple(wanted)))
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


def supply_semantic(query: QueryContext, wanted: Collection[str]) -> dict[str, Array]:
    """Cosines in a latent semantic space, undefined where a vector is 0, and scores of the nearest candidates."""
    space = query.space or _open_space(query.engine)
    by_words = [name for name in wanted if name in NEIGHBOUR_FEATURES and NEIGHBOUR_FEATURES[name].by_words]
    in_space = [name for name in wanted if name in NEIGHBOUR_FEATURES and name not in by_words]
    measured: dict[str, Array] = {}
    for dims in SEMANTIC_DIMS:
        targets = {f"semantic.both.{what}_{dims}": target for what, target in TARGETS.items()}
        chosen = [name for name in wanted if name in targets]
        is_widest = dims == SEMANTIC_DIMS[-1]
        if not chosen and not (in_space and is_widest):
            continue
        vectors = query.read(VectorReading(space, dims))
        exact = vectors.astype(float)
        measured |= {name: _cosines(exact, targets[name](query, space, dims)) for name in chosen}
        if in_space and is_widest:
            measured |= _neighbour_features(query, in_space, DenseVectors(vectors))
    if by_words:
        vectors_by_words = WordVectors.join(len(query.documents), query.read(WordReading(space)))
        measured |= _neighbour_features(query, by_words, vectors_by_words)
    return measured


def _neighbour_features(query: QueryContext, names: Sequence[str], vectors: Vectors) -> dict[str, Array]:
    """Features of neighbours, by their names; near are candidates by these vectors."""
    features = [NEIGHBOUR_FEATURES[name] for name in names]
    numbers = [NEIGHBOUR_NUMBERS[feature.of](query) for feature in features]
    means = neighbour_means(vectors, numbers, [feature.size for feature in features])
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
    probabilities = components.add_collection(words, query.read(ProbabilityReading(words)))
    return {name: np.log(probabilities @ MIXTURE_FEATURES[name].weight_vector) @ counts for name in wanted}


def supply_topics(query: QueryContext, wanted: Collection[str]) -> dict[str, Array]:
    """How near query and document are by their latent topics; the likelihood leaves out words that no topic has."""
    model = query.topic_model or _open_topic_model(query.engine)
    of_docs = query.read(TopicReading(model))
    measured = {"topic.both.cosine": _cosines(of_docs, model.topics_given_words(query.terms))}
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


def _centroid(query: QueryContext, hits: Hits, space: Space, dims: int) -> Array:
    """The mean of the documents, weighted by their scores."""
    vectors = query.engine.read_documents(VectorReading(space, dims), hits.shards, hits.docs)
    return np.asarray(hits.scores @ vectors)


def _cosines(vectors: Array, target: Array) -> Array:
    norms = np.linalg.norm(vectors, axis=1) * np.linalg.norm(target)
    cosines: Array = np.divide(vectors @ target, norms, out=np.full(len(vectors), np.nan), where=norms > 0)
    return cosines


# The vectors that those of documents are compared with.
TARGETS: dict[str, Callable[[QueryContext, Space, int], Array]] = {
    "query": lambda query, space, dims: space.query_vector(query.terms, dims),
    "bm25": lambda query, space, dims: _centroid(query, query.best.take(slice(5)), space, dims),
    "rm3": lambda query, space, dims: _centroid(query, query.feedback.expanded(10), space, dims),
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
