"""Training of a topic model's weights and of the latent topics of documents, so that relevant documents rank first.

The language model of slide 9 contains two mixtures. Both are trained by minimum classification error (`mce`), with
weights that softmax keeps nonnegative and summing to 1:

    αβ, α(1-β), 1-α    of latent topics, collection and document: one set for all documents
    P(T_k|D)           of the components αβ·P(q|T_k) + α(1-β)·P(q|C) + (1-α)·P(q|D): one set for each document

The former are trained first, then, with these, P(T|D) of the documents that are relevant to a training query; all other
documents keep theirs. Irrelevant documents are the best of three first searches that are not judged relevant.

A share of the queries is held out; the iteration with the lowest loss on these is kept. P(T|D) is learnt for the
queries that a document is relevant to, and little of that holds for other queries: expect a gain where queries are
repeated, and measure it on queries that were not trained on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from searchlab.errors import SettingError
from searchlab.mixtures.likelihood import Evidence, join, one_query
from searchlab.mixtures.mce import MCE, MCEFit, train_mce
from searchlab.records import Topic
from searchlab.retrieval.engine import SearchEngine
from searchlab.retrieval.results import Query
from searchlab.scorers.plsa import PLSA, BoundTopicScorer, TopicModelScorer
from searchlab.topic_models.topic_model import TopicModel
from searchlab.topic_models.topic_model_store import open_topic_model, save_topic_model
from searchlab.types import Array, Progress, no_progress

# The shard index and the number of a document.
DocAddress = tuple[int, int]

# The rival of a relevant document is the mean of many. With the hardest one as rival most pairs are lost whatever the
# weights, and the loss is lowest where all documents are alike, with all weight on the collection.
DEFAULT_MCE = MCE(rivals="soft", sharpness=1.0, step=1.0)

# The minimum of α and of 1-β, so that the collection always smooths.
MIN_WEIGHT = 1e-3
# α and β of two more first searches, one mostly by the documents and one mostly by their latent topics. If all
# irrelevant documents came from one model, every other one would seem better, because it ranks these documents lower.
EXTREMES = ((0.5, 0.0), (0.95, 0.95))


@dataclass(frozen=True, eq=False)
class TrainedLatentTopics:
    """α, β, and P(T|D) of the trained documents, by shard and number.

    `losses` are those of the held-out queries (of the `n_queries` training queries if none were held out): before
    training, with the new α and β, and with the new P(T|D) too.
    """

    model: TopicModel
    alpha: float
    beta: float
    of_docs: Mapping[DocAddress, Array]
    losses: tuple[float, float, float]
    n_queries: int
    n_held_out: int

    @property
    def scorer(self) -> TopicModelScorer:
        """The language model with the trained weights and latent topics."""
        return TopicModelScorer(self.model.with_documents(self.of_docs), self.alpha, self.beta)

    def save(self, name: str) -> TopicModel:
        """Save the trained topic model with the index, under another name than the original."""
        return save_topic_model(self.model, name, self.of_docs, self.alpha, self.beta)


@dataclass(frozen=True, eq=False)
class _QueryEvidence:
    """One query: the probabilities of its words by latent topics, collection and document, and P(q|T).

    `probabilities` is an array of documents × words × these three components.
    """

    probabilities: Array
    of_terms: Array
    counts: Array
    docs: list[DocAddress]
    relevant: Array

    @property
    def relevant_docs(self) -> list[DocAddress]:
        """The relevant documents."""
        return [doc for doc, relevant in zip(self.docs, self.relevant.tolist(), strict=True) if relevant]


# From a query to the probabilities of the components to be trained: documents × words × components.
Components = Callable[[_QueryEvidence], Array]


def train_latent_topics(
    engine: SearchEngine,
    topics: Iterable[Topic],
    qrels: Mapping[str, Mapping[str, float]],
    *,
    scorer: PLSA | None = None,
    settings: MCE | None = None,
    documents: bool = True,
    held_out: float = 0.2,
    depth: int = 200,
    relevance: float = 1,
    seed: int = 1,
    progress: Progress = no_progress,
) -> TrainedLatentTopics:
    """Train α, β and, unless `documents` is False, P(T|D) of relevant documents, starting from the model of `scorer`.

    Each first search adds up to `depth` irrelevant documents to a query; `relevance` is the lowest grade of a relevant
    document.
    """
    if not 0 <= held_out < 1:
        raise SettingError(f"held_out is {held_out}, expected 0 to less than 1")
    if depth < 1:
        raise SettingError(f"depth is {depth}, expected 1 or more")
    scorer, settings = scorer or PLSA(), settings or DEFAULT_MCE
    model = open_topic_model(engine.snapshot, scorer.topics)
    alpha, beta = scorer.weights(model)
    queries = _collect_queries(
        engine, list(topics), qrels, TopicModelScorer(model, alpha, beta), depth, relevance, progress
    )
    order = np.random.default_rng(seed).permutation(len(queries))
    n_held = int(held_out * len(queries))
    training = [queries[number] for number in sorted(order[n_held:].tolist())]
    held = [queries[number] for number in sorted(order[:n_held].tolist())]

    def train(components: Components, start: Array, groups: Mapping[DocAddress, int] | None) -> MCEFit:
        evidence = _join_evidence(training, components, groups)
        watched = _join_evidence(held, components, groups) if held else None
        return train_mce(evidence, start, settings, held_out=watched, rivals_learn=groups is None, progress=progress)

    first = train(lambda query: query.probabilities, np.array([[alpha * beta, alpha * (1 - beta), 1 - alpha]]), None)
    losses = first.held_out or first.losses
    alpha, beta = _alpha_and_beta(first.weights[0])
    if not documents:
        ends = (losses[0], losses[first.best], losses[first.best])
        return TrainedLatentTopics(model, alpha, beta, {}, ends, len(training), len(held))

    def topic_components(query: _QueryEvidence) -> Array:
        _, background, document = np.moveaxis(query.probabilities, 2, 0)
        constant = alpha * (1 - beta) * background + (1 - alpha) * document
        return np.asarray(alpha * beta * query.of_terms[None] + constant[:, :, None])

    groups: dict[DocAddress, int] = {}
    for query in queries:
        for doc in query.docs:
            groups.setdefault(doc, len(groups))
    shards, docs = np.array(list(groups), np.int64).T
    second = train(topic_components, model.topics_given_document(shards, docs), groups)
    trained = {doc for query in training for doc in query.relevant_docs}
    of_docs = {doc: second.weights[groups[doc]] for doc in sorted(trained)}
    ends = (losses[0], losses[first.best], (second.held_out or second.losses)[second.best])
    return TrainedLatentTopics(model, alpha, beta, of_docs, ends, len(training), len(held))


def _alpha_and_beta(weights: Array) -> tuple[float, float]:
    """α and β from the three weights αβ, α(1-β) and 1-α."""
    alpha = min(max(float(weights[0] + weights[1]), MIN_WEIGHT), 1.0)
    return alpha, min(float(weights[0]) / alpha, 1 - MIN_WEIGHT)


def _join_evidence(
    queries: Sequence[_QueryEvidence], components: Components, groups: Mapping[DocAddress, int] | None
) -> Evidence:
    """The evidence of the queries for some components; without `groups` all documents share one group."""
    pieces = []
    for query in queries:
        of_docs = None if groups is None else np.array([groups[doc] for doc in query.docs])
        pieces.append(one_query(components(query), query.counts, query.relevant, of_docs))
    return join(pieces)


def _collect_queries(
    engine: SearchEngine,
    topics: list[Topic],
    qrels: Mapping[str, Mapping[str, float]],
    scorer: TopicModelScorer,
    depth: int,
    relevance: float,
    progress: Progress,
) -> list[_QueryEvidence]:
    """The evidence of all queries that have both relevant and irrelevant documents."""
    weigher = engine.reader.bind(scorer, "both")
    searches = [scorer, *(TopicModelScorer(scorer.model, *extreme) for extreme in EXTREMES)]
    queries = []
    for number, topic in enumerate(topics):
        progress("searching", number, len(topics))
        query = engine.parse(topic.text)
        relevant: set[DocAddress] = set()
        for docno, grade in qrels.get(topic.qid, {}).items():
            if grade >= relevance:
                with suppress(SettingError):  # a judged document that the index does not hold
                    relevant.add(engine.snapshot.locate(docno))
        if not relevant or not query.terms:
            continue
        irrelevant: set[DocAddress] = set()
        for search in searches:
            hits = engine.search(query, k=depth + len(relevant), scorer=search)
            docs = zip(hits.shards.tolist(), hits.docs.tolist(), strict=True)
            irrelevant.update([doc for doc in docs if doc not in relevant][:depth])
        if irrelevant:
            queries.append(_query_evidence(weigher, query, sorted(relevant | irrelevant), relevant))
    if not queries:
        raise SettingError(f"none of {len(topics)} topics has relevant and irrelevant documents in the index")
    return queries


def _query_evidence(
    weigher: BoundTopicScorer, query: Query, addresses: list[DocAddress], relevant: set[DocAddress]
) -> _QueryEvidence:
    """The evidence of a query in some documents, which are given in ascending order."""
    shards, docs = np.array(addresses, np.int64).T
    pieces = []
    for shard_index in np.unique(shards).tolist():
        topical, background, document = weigher.components(query, shard_index, docs[shards == shard_index])
        pieces.append(np.stack([topical.T, np.broadcast_to(background, topical.shape).T, document.T], axis=2))
    counts = np.array([term.count for term in query.terms], float)
    is_relevant = np.array([address in relevant for address in addresses])
    return _QueryEvidence(np.concatenate(pieces), weigher.term_given_topic(query), counts, addresses, is_relevant)
