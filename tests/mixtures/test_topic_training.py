"""Does training see what the engine scores, and does it lose less by what it learns?"""

import os

import numpy as np
import pytest

from searchlab.errors import IndexMissing, SettingError
from searchlab.mixtures.likelihood import log_likelihoods
from searchlab.mixtures.mce import MCE, mce_loss
from searchlab.mixtures.topic_training import _as_settings, _evidence, _listen, train_topics
from searchlab.records import Document, Topic
from searchlab.retrieval.engine import SearchEngine
from searchlab.scorers.plsa import PLSA, TopicModelScorer
from searchlab.topic_models.topic_model_store import build_topics, open_topics

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
def no_waiting_for_the_disk(monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


@pytest.fixture(scope="module")
def engine(build):
    texts = CARS + FRUIT
    folder = build([Document(f"d{number}", "", text) for number, text in enumerate(texts)], words_per_shard=15)
    build_topics(folder, n_topics=2)
    return SearchEngine(folder)


def listened(engine, alpha=0.6, beta=0.4):
    model = open_topics(engine.snapshot)
    return model, _listen(engine, TOPICS, QRELS, TopicModelScorer(model, alpha, beta), 20, 1, lambda *call: None)


def test_what_training_sees_is_what_the_engine_scores(engine):
    alpha, beta = 0.6, 0.4
    model, heard = listened(engine)
    assert [len(one.places) for one in heard] == [10, 10, 10]  # all documents, since all are found
    assert [len(one.good) for one in heard] == [2, 2, 2]
    weights = np.array([[alpha * beta, alpha * (1 - beta), 1 - alpha]])
    found = log_likelihoods(_evidence(heard, lambda one: one.said, None), weights).reshape(3, 10)
    numbers = {place: number for number, place in enumerate(heard[0].places)}
    shards, docs = np.array(heard[0].places).T

    def say(one):
        constant = alpha * (1 - beta) * one.said[:, :, 1] + (1 - alpha) * one.said[:, :, 2]
        return alpha * beta * one.of_terms[None] + constant[:, :, None]

    of_docs = model.topics_given_document(shards, docs)
    by_topics = log_likelihoods(_evidence(heard, say, numbers), of_docs).reshape(3, 10)
    for row, topic in enumerate((TOPICS[0], TOPICS[1], TOPICS[3])):
        hits = engine.search(topic.text, k=None, scorer=PLSA(alpha, beta))
        places = zip(hits.shards.tolist(), hits.docs.tolist(), strict=True)
        expected = dict(zip(places, hits.scores.tolist(), strict=True))
        assert found[row] == pytest.approx([expected[place] for place in heard[row].places], rel=1e-9)
        assert by_topics[row] == pytest.approx([expected[place] for place in heard[row].places], rel=1e-6)


def test_the_loss_falls_and_is_that_of_what_was_trained(engine):
    steps = MCE(iterations=40, rivals="soft", sharpness=1.0)
    trained = train_topics(engine, TOPICS, QRELS, scorer=PLSA(0.6, 0.4), settings=steps, held_out=0)
    before, weights, after = trained.losses
    assert before > weights > after
    assert (trained.n_queries, trained.n_held_out) == (3, 0)
    assert 0 < trained.alpha <= 1 and 0 <= trained.beta < 1
    # The same by the scores of the engine with the trained model.
    _, heard = listened(engine)
    evidence = _evidence(heard, lambda one: one.said, None)
    fits = []
    for row, topic in enumerate((TOPICS[0], TOPICS[1], TOPICS[3])):
        hits = engine.search(topic.text, k=None, scorer=trained.scorer)
        found = dict(zip(zip(hits.shards.tolist(), hits.docs.tolist(), strict=True), hits.scores, strict=True))
        n_words = len(topic.text.split())
        fits.append(np.array([found[place] for place in heard[row].places]) / n_words)
    losses = []
    for row, one in enumerate(heard):
        rival = np.log(np.exp(fits[row][~one.relevant]).mean())
        errors = rival - fits[row][one.relevant]
        losses.append(np.mean(1 / (1 + np.exp(-steps.alpha * errors))))
    assert after == pytest.approx(np.mean(losses), rel=1e-4)
    start = np.array([[0.24, 0.36, 0.4]])
    assert before == pytest.approx(mce_loss(evidence, start, steps).value)


def test_only_relevant_documents_learn_and_what_they_learnt_is_kept(engine):
    model = open_topics(engine.snapshot)
    trained = train_topics(engine, TOPICS, QRELS, held_out=0)
    snapshot = engine.snapshot
    good = {snapshot.locate(docno) for docno in ("d0", "d1", "d2", "d4", "d5", "d7")}
    assert set(trained.of_docs) == good
    before = model.topics_given_document(*np.array(list(trained.of_docs)).T)
    after = np.array(list(trained.of_docs.values()))
    np.testing.assert_allclose(after.sum(1), 1)
    assert np.abs(after - before).max() > 0.01
    kept = trained.save("taught")
    assert kept.trained_weights == (trained.alpha, trained.beta)
    first = engine.search("auto engine", k=None, scorer=trained.scorer)
    again = engine.search("auto engine", k=None, scorer=PLSA(topics="taught"))
    assert again.docnos == first.docnos
    assert again.scores == pytest.approx(first.scores, rel=1e-5)
    shards, docs = np.array([snapshot.locate("d3"), snapshot.locate("d8")]).T
    np.testing.assert_allclose(
        kept.topics_given_document(shards, docs), model.topics_given_document(shards, docs), atol=1e-6
    )


def test_the_weights_alone_can_be_trained(engine):
    trained = train_topics(engine, TOPICS, QRELS, documents=False, held_out=0)
    assert trained.of_docs == {}
    assert trained.losses[1] == trained.losses[2] < trained.losses[0]


def test_training_with_queries_held_out_is_the_same_in_every_run(engine):
    first, second = (train_topics(engine, TOPICS, QRELS, held_out=0.4, seed=3) for _ in range(2))
    assert (first.alpha, first.beta, first.losses) == (second.alpha, second.beta, second.losses)
    assert (first.n_queries, first.n_held_out) == (2, 1)
    assert len(first.of_docs) == 4  # of two queries; those of the third are held out
    assert first.losses[0] >= first.losses[1] > first.losses[2] - 1e-5


def test_three_weights_are_alpha_and_beta():
    # αβ = 0.12, α(1-β) = 0.48: α = 0.6, β = 0.2.
    assert _as_settings(np.array([0.12, 0.48, 0.4])) == pytest.approx((0.6, 0.2))
    alpha, beta = _as_settings(np.array([1 - 2e-9, 1e-9, 1e-9]))
    assert PLSA(alpha, beta) and alpha * (1 - beta) > 1e-4


def test_progress_is_told_by_stages(engine):
    calls = []
    train_topics(engine, TOPICS, QRELS, progress=lambda *call: calls.append(call))
    assert {stage for stage, *_ in calls} == {"searching", "training"}


def test_what_cannot_be_trained_is_told(engine, build):
    with pytest.raises(SettingError, match="none of 4 topics has relevant and irrelevant documents in the index"):
        train_topics(engine, TOPICS, {})
    with pytest.raises(SettingError, match="held_out is 1, expected 0 to less than 1"):
        train_topics(engine, TOPICS, QRELS, held_out=1)
    with pytest.raises(SettingError, match="depth is 0, expected 1 or more"):
        train_topics(engine, TOPICS, QRELS, depth=0)
    bare = SearchEngine(build([Document("a", "", "car")]))
    with pytest.raises(IndexMissing, match="no topics 'plsa'"):
        train_topics(bare, TOPICS, QRELS)
