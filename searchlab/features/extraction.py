"""How does an index become a table of features?

Topic by topic: what is needed of the candidates is counted and measured, each time for all of them at once, and every
feature is computed from that. Only what the chosen features need is done: no search is made again, no text is read,
no semantic space or topics are opened if none of them asks for these.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Protocol

import numpy as np

from searchlab.errors import DuplicateError, SettingError, unknown_name
from searchlab.features.candidates import Candidates, Chosen
from searchlab.features.catalogue import DIMS, MIXTURES, Feature, compute, score
from searchlab.features.counts import count
from searchlab.features.feature_table import FeatureTable
from searchlab.features.proximity import measure_positions
from searchlab.features.sets import FeatureSet, make_set
from searchlab.records import Topic
from searchlab.retrieval.engine import SearchEngine
from searchlab.retrieval.expansion import MOST_TERMS, RM3
from searchlab.retrieval.results import Hits, Query
from searchlab.scorers.bm25 import BM25
from searchlab.scorers.execution.mixture_components import MixtureComponents
from searchlab.scorers.plsa import PLSA
from searchlab.types import Array, Progress, no_progress

# What becomes of candidates that nobody judged: they have the grade 0, or are left out.
UNJUDGED = ("zero", "drop")


class Space(Protocol):
    """What is asked of a semantic space: vectors of length 1, or 0."""

    def vectors(self, shards: Array, docs: Array, dims: int) -> Array:
        """One row for each document."""

    def query_vector(self, terms: Mapping[str, float], dims: int) -> Array:
        """The vector of terms with their counts."""


class TopicSpace(Protocol):
    """What is asked of a topic model."""

    def term_given_topic(self, terms: Sequence[str]) -> Array:
        """P(w|T), a row for each term."""

    def topics_given_document(self, shards: Array, docs: Array) -> Array:
        """P(T|D), a row for each document."""

    def topics_given_words(self, terms: Mapping[str, float]) -> Array:
        """P(T) of terms with their counts."""


def extract(
    engine: SearchEngine,
    topics: Iterable[Topic],
    candidates: Candidates,
    features: str | Path | Iterable[str] | FeatureSet,
    *,
    qrels: Mapping[str, Mapping[str, float]] | None = None,
    unjudged: str = "zero",
    strict: bool = False,
    progress: Progress = no_progress,
    space: Space | None = None,
    topic_model: TopicSpace | None = None,
) -> FeatureTable:
    """The features of each topic's candidates, in the order of topics and candidates.

    `features` is a set or its name, a TOML file, or names of features. Grades come from `qrels`; candidates that have
    none are graded 0 or dropped, as `unjudged` says. `strict` refuses candidates that the index does not hold, which
    are left out otherwise. `space` is the semantic space and `topic_model` the topics, which are opened if they are
    needed and not given.
    """
    chosen = make_set(features).features
    asked = list(topics)
    if unjudged not in UNJUDGED:
        raise unknown_name("way with unjudged documents", unjudged, UNJUDGED)
    if strict and candidates.only(asked).n_missing:
        raise SettingError(candidates.only(asked).describe_missing())
    _check_topics(asked, candidates)
    if space is None and any(feature.needs == "semantic" for feature in chosen):
        space = _open_space(engine)
    if topic_model is None and any(feature.needs == "topics" for feature in chosen):
        topic_model = _open_topics(engine)
    qids: list[str] = []
    docnos: list[str] = []
    grades: list[float] = []
    blocks = [np.zeros((0, len(chosen)))]
    for number, topic in enumerate(asked):
        progress("extracting", number, len(asked))
        documents = candidates.of(topic.qid)
        if qrels is not None:
            known = qrels.get(topic.qid, {})
            if unjudged == "drop":
                documents = documents.take([row for row, docno in enumerate(documents.docnos) if docno in known])
            grades += [known.get(docno, 0) for docno in documents.docnos]
        if len(documents):
            blocks.append(extract_query(engine, topic.text, documents, chosen, space, topic_model))
            qids += [topic.qid] * len(documents)
            docnos += documents.docnos
    progress("extracting", len(asked), len(asked))
    names = [feature.name for feature in chosen]
    return FeatureTable(names, qids, docnos, np.concatenate(blocks), None if qrels is None else grades)


def _check_topics(topics: list[Topic], candidates: Candidates) -> None:
    for qid, number in Counter(topic.qid for topic in topics).items():
        if number > 1:
            place = next(topic.place for topic in reversed(topics) if topic.qid == qid)
            raise DuplicateError(place or "topics", f"topic {qid} occurs {number} times, expected once")
    if len(candidates.without_any(topics)) == len(topics):
        known = ", ".join(qid for qid, chosen in candidates.chosen.items() if len(chosen))
        raise SettingError(
            f"none of {len(topics)} topics has a candidate in the index; there are candidates for: "
            f"{known[:80] or 'no topic'}"
        )


def _open_space(engine: SearchEngine) -> Space:
    from searchlab.features.latent_semantics.semantic_space import SemanticSpace

    return SemanticSpace.open(engine.snapshot)


def _open_topics(engine: SearchEngine) -> TopicSpace:
    from searchlab.topic_models.topic_model_store import open_topics

    return open_topics(engine.snapshot)


def extract_query(
    engine: SearchEngine,
    text: str,
    documents: Chosen,
    features: Sequence[Feature],
    space: Space | None = None,
    topic_model: TopicSpace | None = None,
) -> Array:
    """The features of one query's candidates: a row for each, a column for each feature."""
    question = Question(engine, text, documents, space, topic_model)
    counted = {stream for feature in features for stream in feature.counted}
    with engine.snapshot.damage_told():
        counts = count(engine.snapshot, question.terms, documents.shards, documents.docs, counted)
        measured: dict[str, Array] = {}
        for needs, supply in SUPPLIERS.items():
            wanted = [feature.name for feature in features if feature.needs == needs]
            if wanted:
                measured |= supply(question, wanted)
    return compute(features, replace(counts, measured=measured))


@dataclass(frozen=True)
class Question:
    """One query with its candidates, and the searches that suppliers share."""

    engine: SearchEngine
    text: str
    documents: Chosen
    space: Space | None
    topic_model: TopicSpace | None

    @cached_property
    def words(self) -> list[str]:
        """The terms of the query in its order, repeats included."""
        return self.engine.snapshot.analyzer.terms(self.text)

    @cached_property
    def terms(self) -> dict[str, float]:
        """The distinct terms of the query, and how often it has each."""
        return dict(Counter(self.words))

    @cached_property
    def best(self) -> Hits:
        """The best documents by BM25, from which RM3 learns."""
        return self.engine.search(self.text, k=RM3().documents)

    @cached_property
    def expanded(self) -> Query:
        """The query that RM3 makes of it."""
        return RM3().learn(self.engine, self.best)

    @cached_property
    def best_of_expanded(self) -> Hits:
        """The best documents by RM3."""
        return self.engine.search(self.expanded, k=10)

    def fill(self, number: float) -> Array:
        """The same number for each candidate."""
        return np.full(len(self.documents), number)


# A supplier measures the features of some names for all candidates of a question.


def supply_positions(question: Question, wanted: Collection[str]) -> dict[str, Array]:
    """How near the words of the query stand to each other (see `proximity`)."""
    own = question.documents
    return measure_positions(question.engine.snapshot, question.words, own.shards, own.docs, wanted)


def supply_rm3(question: Question, wanted: Collection[str]) -> dict[str, Array]:
    """BM25 of the expanded query; a query that finds nothing is not expanded, and nothing scores 0."""
    query = {term.text: term.count for term in question.expanded.terms}
    own = question.documents
    counts = count(question.engine.snapshot, query, own.shards, own.docs, ["both"])
    return dict.fromkeys(wanted, score(counts.streams["both"].known, BM25()))


def supply_scope(question: Question, wanted: Collection[str]) -> dict[str, Array]:
    """-ln(n/N), n the documents that have any word of the query."""
    snapshot = question.engine.snapshot
    n_found = 0
    for place, shard in enumerate(snapshot.shards):
        column = shard.columns.streams["both"]
        found = np.zeros(shard.columns.n_docs, bool)
        for term in question.terms:
            number = snapshot.find_term(term)[place]
            if number >= 0:
                found[column.docs[column.offsets[number] : column.offsets[number + 1]]] = True
        n_found += int(np.count_nonzero(found if shard.alive is None else found & shard.alive))
    scope = -np.log(n_found / snapshot.n_docs) if n_found else np.nan
    return dict.fromkeys(wanted, question.fill(float(scope)))


def supply_clarity(question: Question, wanted: Collection[str]) -> dict[str, Array]:
    """How the words of the best documents differ from those of the collection: the divergence of the two models.

    Deviations from Cronen-Townsend et al.: the relevance model is that of `RM3`, of ten documents and not smoothed, and
    keeps its 1000 most telling terms.
    """
    model = RM3(terms=MOST_TERMS, weight=0).learn(question.engine, question.best)
    if not len(question.best):
        return dict.fromkeys(wanted, question.fill(np.nan))
    shares = np.array([term.count for term in model.terms])
    shares /= shares.sum()
    background = np.array([term.stats.term_count / term.stats.n_tokens for term in model.terms])
    return dict.fromkeys(wanted, question.fill(float(shares @ np.log(shares / background))))


def supply_semantic(question: Question, wanted: Collection[str]) -> dict[str, Array]:
    """Cosines in a latent semantic space; undefined where a vector is 0."""
    space, own = question.space or _open_space(question.engine), question.documents
    measured = {}
    for dims in DIMS:
        aims = {f"semantic.both.{what}_{dims}": aim for what, aim in AIMS.items()}
        if aims.keys().isdisjoint(wanted):
            continue
        vectors = space.vectors(own.shards, own.docs, dims).astype(float)
        for name in wanted:
            if name in aims:
                measured[name] = _cosines(vectors, aims[name](question, space, dims))
    return measured


def supply_mixture(question: Question, wanted: Collection[str]) -> dict[str, Array]:
    """The log-likelihood of the query by mixtures of more than unigrams, equal to their scores."""
    components, own = question.engine.reader.shared(MixtureComponents), question.documents
    words = components.words(question.engine.parse(question.text))
    counts = np.array([word.count for word in words])
    said = components.probabilities(words, own.shards, own.docs)
    return {name: np.log(said @ MIXTURES[name].weight_vector) @ counts for name in wanted}


def supply_topics(question: Question, wanted: Collection[str]) -> dict[str, Array]:
    """How near query and document are by their topics; words that no topic says are left out of the likelihood."""
    model, own = question.topic_model or _open_topics(question.engine), question.documents
    of_docs = model.topics_given_document(own.shards, own.docs)
    measured = {"topic.both.cosine": _cosines(of_docs, model.topics_given_words(question.terms))}
    s = count(question.engine.snapshot, question.terms, own.shards, own.docs, ["both"]).streams["both"].known
    terms = [term for term in question.terms if question.engine.snapshot.term_stats("both", term).doc_freq]
    of_terms = model.term_given_topic(terms)
    topical = of_terms @ of_docs.T
    said = of_terms.any(axis=1)
    undefined = question.fill(np.nan)
    with np.errstate(divide="ignore"):
        measured["topic.both.likelihood"] = s.query_counts[said] @ np.log(topical[said]) if said.any() else undefined
    alpha, beta = PLSA.defaults
    background = (s.term_counts / s.n_tokens)[:, None]
    mixed = alpha * (beta * topical + (1 - beta) * background) + (1 - alpha) * s.tf / np.maximum(s.lengths, 1)
    measured["topic.both.plsa"] = s.query_counts @ np.log(mixed) if len(terms) else undefined
    return {name: measured[name] for name in wanted}


def _centroid(hits: Hits, n: int, space: Space, dims: int) -> Array:
    """The mean of the n best documents, weighed by their scores."""
    return np.asarray(hits.scores[:n] @ space.vectors(hits.shards[:n], hits.docs[:n], dims))


def _cosines(vectors: Array, aim: Array) -> Array:
    norms = np.linalg.norm(vectors, axis=1) * np.linalg.norm(aim)
    cosines: Array = np.divide(vectors @ aim, norms, out=np.full(len(vectors), np.nan), where=norms > 0)
    return cosines


# What the vectors of documents are compared with.
AIMS: dict[str, Callable[[Question, Space, int], Array]] = {
    "query": lambda question, space, dims: space.query_vector(question.terms, dims),
    "bm25": lambda question, space, dims: _centroid(question.best, 5, space, dims),
    "rm3": lambda question, space, dims: _centroid(question.best_of_expanded, 10, space, dims),
}

SUPPLIERS: dict[str, Callable[[Question, Collection[str]], dict[str, Array]]] = {
    "positions": supply_positions,
    "rm3": supply_rm3,
    "scope": supply_scope,
    "clarity": supply_clarity,
    "semantic": supply_semantic,
    "mixture": supply_mixture,
    "topics": supply_topics,
}
