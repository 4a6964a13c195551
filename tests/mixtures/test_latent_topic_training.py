"""Training of latent topics: its evidence is what the engine scores, and the loss falls."""

import os

import numpy as np
import pytest

from searchlab.errors import IndexMissing, SettingError
from searchlab.mixtures.latent_topic_training import (
    _alpha_and_beta,
    _collect_queries,
    _join_evidence,
    train_latent_topics,
)
from searchlab.mixtures.likelihood import log_likelihoods
from searchlab.mixtures.mce import MCE, mce_loss
from searchlab.records import Document, Topic
from searchlab.retrieval.engine import SearchEngine
from searchlab.scorers.plsa import PLSA, TopicModelScorer
from searchlab.topic_models.topic_model_store import build_topic_model, open_topic_model

CARS = ["car engine wheel road", "auto engine wheel road", "car road engine", "auto wheel road", "road tree car"]
FRUIT = ["fruit tree juice sweet", "apple tree juice sweet", "fruit sweet juice", "apple tree sweet", "fruit road"]
TOPICS = [Topic("1", "auto engine"), Topic("2", "apple juice"), Topic("3", "nowhere"), Topic("4", "car road road")]
QRELS = {
    "1": {"d0": 1, "d2": 2, "d9": 0, "lost": 1},
    "2": {"d5": 1, "d7": 1},
    "3": {"d0": 1},
    "4": {"d1": 1, "d4": 1},
    "5": {"d1": 1},
}


@pytest.fixture(autouse=True)
def no_fsync(monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


@pytest.fixture(scope="module")
def engine(build):
    texts = CARS + FRUIT
    folder = build([Document(f"d{number}", "", text) for number, text in enumerate(texts)], words_per_shard=15)
    build_topic_model(folder, n_topics=2)
    return SearchEngine(folder)


def collect_queries(engine, alpha=0.6, beta=0.4):
    model = open_topic_model(engine.snapshot)
    return model, _collect_queries(
        engine, TOPICS, QRELS, TopicModelScorer(model, alpha, beta), 20, 1, lambda *call: None
    )


def test_the_evidence_is_what_the_engine_scores(engine):
    alpha, beta = 0.6, 0.4
    model, queries = collect_queries(engine)
    assert [len(query.docs) for query in queries] == [10, 10, 10]  # all documents, since all are found
    assert [len(query.relevant_docs) for query in queries] == [2, 2, 2]
    weights = np.array([[alpha * beta, alpha * (1 - beta), 1 - alpha]])
    evidence = _join_evidence(queries, lambda query: query.probabilities, None)
    by_components = log_likelihoods(evidence, weights).reshape(3, 10)
    groups = {doc: number for number, doc in enumerate(queries[0].docs)}
    shards, docs = np.array(queries[0].docs).T

    def topic_components(query):
        constant = alpha * (1 - beta) * query.probabilities[:, :, 1] + (1 - alpha) * query.probabilities[:, :, 2]
        return alpha * beta * query.of_terms[None] + constant[:, :, None]

    of_docs = model.topics_given_document(shards, docs)
    by_topics = log_likelihoods(_join_evidence(queries, topic_components, groups), of_docs).reshape(3, 10)
    for row, topic in enumerate((TOPICS[0], TOPICS[1], TOPICS[3])):
        hits = engine.search(topic.text, k=None, scorer=PLSA(alpha, beta))
        addresses = zip(hits.shards.tolist(), hits.docs.tolist(), strict=True)
        scores = dict(zip(addresses, hits.scores.tolist(), strict=True))
        assert by_components[row] == pytest.approx([scores[doc] for doc in queries[row].docs], rel=1e-9)
        assert by_topics[row] == pytest.approx([scores[doc] for doc in queries[row].docs], rel=1e-6)


def test_the_loss_falls_and_is_that_of_what_was_trained(engine):
    steps = MCE(iterations=40, rivals="soft", sharpness=1.0)
    trained = train_latent_topics(engine, TOPICS, QRELS, scorer=PLSA(0.6, 0.4), settings=steps, held_out=0)
    before, weights, after = trained.losses
    assert before > weights > after
    assert (trained.n_queries, trained.n_held_out) == (3, 0)
    assert 0 < trained.alpha <= 1 and 0 <= trained.beta < 1
    # The same by the scores of the engine with the trained model.
    _, queries = collect_queries(engine)
    evidence = _join_evidence(queries, lambda query: query.probabilities, None)
    fits = []
    for row, topic in enumerate((TOPICS[0], TOPICS[1], TOPICS[3])):
        hits = engine.search(topic.text, k=None, scorer=trained.scorer)
        scores = dict(zip(zip(hits.shards.tolist(), hits.docs.tolist(), strict=True), hits.scores, strict=True))
        n_words = len(topic.text.split())
        fits.append(np.array([scores[doc] for doc in queries[row].docs]) / n_words)
    losses = []
    for row, query in enumerate(queries):
        rival = np.log(np.exp(fits[row][~query.relevant]).mean())
        errors = rival - fits[row][query.relevant]
        losses.append(np.mean(1 / (1 + np.exp(-steps.alpha * errors))))
    assert after == pytest.approx(np.mean(losses), rel=1e-4)
    start = np.array([[0.24, 0.36, 0.4]])
    assert before == pytest.approx(mce_loss(evidence, start, steps).value)


def test_only_relevant_documents_are_trained_and_their_latent_topics_are_saved(engine):
    model = open_topic_model(engine.snapshot)
    trained = train_latent_topics(engine, TOPICS, QRELS, held_out=0)
    snapshot = engine.snapshot
    relevant = {snapshot.locate(docno) for docno in ("d0", "d1", "d2", "d4", "d5", "d7")}
    assert set(trained.of_docs) == relevant
    before = model.topics_given_document(*np.array(list(trained.of_docs)).T)
    after = np.array(list(trained.of_docs.values()))
    np.testing.assert_allclose(after.sum(1), 1)
    assert np.abs(after - before).max() > 0.01
    saved = trained.save("trained")
    assert saved.trained_weights == (trained.alpha, trained.beta)
    first = engine.search("auto engine", k=None, scorer=trained.scorer)
    again = engine.search("auto engine", k=None, scorer=PLSA(topics="trained"))
    assert again.docnos == first.docnos
    assert again.scores == pytest.approx(first.scores, rel=1e-5)
    shards, docs = np.array([snapshot.locate("d3"), snapshot.locate("d8")]).T
    np.testing.assert_allclose(
        saved.topics_given_document(shards, docs), model.topics_given_document(shards, docs), atol=1e-6
    )


def test_the_weights_alone_can_be_trained(engine):
    trained = train_latent_topics(engine, TOPICS, QRELS, documents=False, held_out=0)
    assert trained.of_docs == {}
    assert trained.losses[1] == trained.losses[2] < trained.losses[0]


def test_training_with_queries_held_out_is_the_same_in_every_run(engine):
    first, second = (train_latent_topics(engine, TOPICS, QRELS, held_out=0.4, seed=3) for _ in range(2))
    assert (first.alpha, first.beta, first.losses) == (second.alpha, second.beta, second.losses)
    assert (first.n_queries, first.n_held_out) == (2, 1)
    assert len(first.of_docs) == 4  # of two queries; those of the third are held out
    assert first.losses[0] >= first.losses[1] > first.losses[2] - 1e-5


def test_alpha_and_beta_follow_from_the_three_weights():
    # αβ = 0.12, α(1-β) = 0.48: α = 0.6, β = 0.2.
    assert _alpha_and_beta(np.array([0.12, 0.48, 0.4])) == pytest.approx((0.6, 0.2))
    alpha, beta = _alpha_and_beta(np.array([1 - 2e-9, 1e-9, 1e-9]))
    assert PLSA(alpha, beta) and alpha * (1 - beta) > 1e-4


def test_progress_is_reported_by_stage(engine):
    calls = []
    train_latent_topics(engine, TOPICS, QRELS, progress=lambda *call: calls.append(call))
    assert {stage for stage, *_ in calls} == {"searching", "training"}


def test_what_cannot_be_trained_is_refused(engine, build):
    with pytest.raises(SettingError, match="none of 4 topics has relevant and irrelevant documents in the index"):
        train_latent_topics(engine, TOPICS, {})
    with pytest.raises(SettingError, match="held_out is 1, expected 0 to less than 1"):
        train_latent_topics(engine, TOPICS, QRELS, held_out=1)
    with pytest.raises(SettingError, match="depth is 0, expected 1 or more"):
        train_latent_topics(engine, TOPICS, QRELS, depth=0)
    bare = SearchEngine(build([Document("a", "", "car")]))
    with pytest.raises(IndexMissing, match="no topic model 'plsa'"):
        train_latent_topics(bare, TOPICS, QRELS)
