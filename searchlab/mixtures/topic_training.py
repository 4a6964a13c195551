"""Which topics should documents have had, so that relevant ones come first?

The language model of slide 9 is a mixture twice over, and each of the two is trained by minimum classification error
(`mce`), with weights that softmax keeps at 0 or more and summing to 1:

    αβ, α(1-β), 1-α    of topics, collection and document: one set for all documents
    P(T_k|D)           of the components αβ·P(q|T_k) + α(1-β)·P(q|C) + (1-α)·P(q|D): one set for each document

The former are trained first, then, with these, the topics of the documents that are relevant to some training query;
all others keep theirs. Irrelevant documents are the best of three first searches that are not judged relevant.

A part of the queries is held out: of all iterations the one that loses least on these is kept. Topics of documents are
learnt for the queries that they are relevant to, and little of that holds for other queries: expect a gain where
queries come back, and measure it on queries that were not trained on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from searchlab.errors import SettingError
from searchlab.mixtures.likelihood import Evidence, join, one_query
from searchlab.mixtures.mce import MCE, Training, train_mce
from searchlab.records import Topic
from searchlab.retrieval.engine import SearchEngine
from searchlab.retrieval.results import Query
from searchlab.scorers.plsa import PLSA, BoundTopicScorer, TopicModelScorer
from searchlab.topic_models.topic_model import TopicModel
from searchlab.topic_models.topic_model_store import open_topics, save_topics
from searchlab.types import Array, Progress, no_progress

Place = tuple[int, int]

# The rival of a relevant document is the mean of many. With the hardest one as rival most pairs are lost, whatever the
# weights, and loss is least where all documents are alike: with nothing left but the collection.
SETTINGS = MCE(rivals="soft", sharpness=1.0, step=1.0)

# Of α and of 1-β at least this is left, so that the collection always smooths.
LEAST = 1e-3
# Irrelevant documents are also found by nearly nothing but the documents, and by nearly nothing but their topics: where
# all come from one model, every other model seems to do better, since it puts these documents lower.
EXTREMES = ((0.5, 0.0), (0.95, 0.95))


@dataclass(frozen=True, eq=False)
class TrainedTopics:
    """α, β, and P(T|D) of the documents that were trained, by shard and number.

    `losses` are those of the held-out queries (of the `n_queries` trained on, if none were held out), before training,
    with the new α and β, and with the new topics too.
    """

    model: TopicModel
    alpha: float
    beta: float
    of_docs: Mapping[Place, Array]
    losses: tuple[float, float, float]
    n_queries: int
    n_held_out: int

    @property
    def scorer(self) -> TopicModelScorer:
        """The language model with all that was trained."""
        return TopicModelScorer(self.model.with_documents(self.of_docs), self.alpha, self.beta)

    def save(self, name: str) -> TopicModel:
        """Keep the topics with the index, under another name than those that they were trained from."""
        return save_topics(self.model, name, self.of_docs, self.alpha, self.beta)


@dataclass(frozen=True, eq=False)
class _Heard:
    """One query: what topics, collection and document say of its words in each document, and P(q|T)."""

    said: Array
    of_terms: Array
    counts: Array
    places: list[Place]
    relevant: Array

    @property
    def good(self) -> list[Place]:
        """The relevant documents."""
        return [place for place, relevant in zip(self.places, self.relevant.tolist(), strict=True) if relevant]


# From a query to what each component says: documents × words × components.
Say = Callable[[_Heard], Array]


def train_topics(
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
) -> TrainedTopics:
    """Train α, β and, unless `documents` is False, the topics of relevant documents, from those of `scorer`.

    `depth` is how many irrelevant documents each of the first searches gives a query, `relevance` the least grade of a
    relevant document.
    """
    if not 0 <= held_out < 1:
        raise SettingError(f"held_out is {held_out}, expected 0 to less than 1")
    if depth < 1:
        raise SettingError(f"depth is {depth}, expected 1 or more")
    scorer, settings = scorer or PLSA(), settings or SETTINGS
    model = open_topics(engine.snapshot, scorer.topics)
    alpha, beta = scorer.weights(model)
    heard = _listen(engine, list(topics), qrels, TopicModelScorer(model, alpha, beta), depth, relevance, progress)
    order = np.random.default_rng(seed).permutation(len(heard))
    n_held = int(held_out * len(heard))
    kept, held = sorted(order[n_held:].tolist()), sorted(order[:n_held].tolist())

    def train(say: Say, start: Array, numbers: Mapping[Place, int] | None) -> Training:
        evidence = _evidence([heard[number] for number in kept], say, numbers)
        watched = _evidence([heard[number] for number in held], say, numbers) if held else None
        return train_mce(evidence, start, settings, held_out=watched, rivals_learn=numbers is None, progress=progress)

    first = train(lambda one: one.said, np.array([[alpha * beta, alpha * (1 - beta), 1 - alpha]]), None)
    losses = first.held_out or first.losses
    alpha, beta = _as_settings(first.weights[0])
    if not documents:
        ends = (losses[0], losses[first.best], losses[first.best])
        return TrainedTopics(model, alpha, beta, {}, ends, len(kept), len(held))

    def say_by_topics(one: _Heard) -> Array:
        constant = alpha * (1 - beta) * one.said[:, :, 1] + (1 - alpha) * one.said[:, :, 2]
        return np.asarray(alpha * beta * one.of_terms[None] + constant[:, :, None])

    numbers: dict[Place, int] = {}
    for one in heard:
        for place in one.places:
            numbers.setdefault(place, len(numbers))
    shards, docs = np.array(list(numbers), np.int64).T
    second = train(say_by_topics, model.topics_given_document(shards, docs), numbers)
    taught = {place for number in kept for place in heard[number].good}
    of_docs = {place: second.weights[numbers[place]] for place in sorted(taught)}
    ends = (losses[0], losses[first.best], (second.held_out or second.losses)[second.best])
    return TrainedTopics(model, alpha, beta, of_docs, ends, len(kept), len(held))


def _as_settings(weights: Array) -> tuple[float, float]:
    """α and β of three weights."""
    alpha = min(max(float(weights[0] + weights[1]), LEAST), 1.0)
    return alpha, min(float(weights[0]) / alpha, 1 - LEAST)


def _evidence(heard: Sequence[_Heard], say: Say, numbers: Mapping[Place, int] | None) -> Evidence:
    """What components say of the words of queries; with `numbers`, each document is a group."""
    pieces = []
    for one in heard:
        groups = None if numbers is None else np.array([numbers[place] for place in one.places])
        pieces.append(one_query(say(one), one.counts, one.relevant, groups))
    return join(pieces)


def _listen(
    engine: SearchEngine,
    topics: list[Topic],
    qrels: Mapping[str, Mapping[str, float]],
    scorer: TopicModelScorer,
    depth: int,
    relevance: float,
    progress: Progress,
) -> list[_Heard]:
    """The queries that have relevant documents and irrelevant ones, with what is said of their words."""
    weigher = engine.reader.bind(scorer, "both")
    searches = [scorer, *(TopicModelScorer(scorer.model, *extreme) for extreme in EXTREMES)]
    heard = []
    for number, topic in enumerate(topics):
        progress("searching", number, len(topics))
        query = engine.parse(topic.text)
        good: set[Place] = set()
        for docno, grade in qrels.get(topic.qid, {}).items():
            if grade >= relevance:
                with suppress(SettingError):  # a judged document that the index does not hold
                    good.add(engine.snapshot.locate(docno))
        if not good or not query.terms:
            continue
        bad: set[Place] = set()
        for search in searches:
            hits = engine.search(query, k=depth + len(good), scorer=search)
            found = zip(hits.shards.tolist(), hits.docs.tolist(), strict=True)
            bad.update([place for place in found if place not in good][:depth])
        if bad:
            heard.append(_hear(weigher, query, sorted(good | bad), good))
    if not heard:
        raise SettingError(f"none of {len(topics)} topics has relevant and irrelevant documents in the index")
    return heard


def _hear(weigher: BoundTopicScorer, query: Query, places: list[Place], good: set[Place]) -> _Heard:
    """What is said of the words of a query in documents, which are given in ascending order."""
    shards, docs = np.array(places, np.int64).T
    pieces = []
    for shard in np.unique(shards).tolist():
        topical, background, own = weigher.components(query, shard, docs[shards == shard])
        pieces.append(np.stack([topical.T, np.broadcast_to(background, topical.shape).T, own.T], axis=2))
    counts = np.array([term.count for term in query.terms], float)
    relevant = np.array([place in good for place in places])
    return _Heard(np.concatenate(pieces), weigher.term_given_topic(query), counts, places, relevant)
