"""Mixtures and topic models, whose shards are searched apart, give the hits of one engine, to the last bit."""

import pickle
import random
from typing import Any

import numpy as np
import pytest

import searchlab
from searchlab.analysis.analyzer import AnalysisSettings
from searchlab.errors import StoreError
from searchlab.indexing.merging import merge
from searchlab.records import Document
from searchlab.retrieval.distributed.distributed_engine import DistributedEngine
from searchlab.retrieval.engine import SearchEngine
from searchlab.scorers.plsa import PLSA, TopicModelScorer
from searchlab.scorers.trained_mixture import DocumentWeights, TrainedMixture
from searchlab.topic_models.topic_model_store import build_topic_model, open_topic_model

WORDS = ["heat", "flow", "wing", "shock", "wave", "cell", "plate", "jet", "lift", "drag"]
QUERIES = ["heat flow wing", "flow heat heat jet", "cell unknown wave plate", "drag", "unknown", "", "flow he"]


def draw_documents(first: int, last: int) -> list[Document]:
    draw = random.Random(first)
    texts = [(draw.choice(WORDS), " ".join(draw.choices(WORDS, k=draw.randint(0, 9)))) for _ in range(first, last)]
    return [Document(f"d{first + number:03}", *text) for number, text in enumerate(texts)]


@pytest.fixture(scope="module")
def folder(build):
    """An index of many shards with n-grams; some documents are deleted, some were updated after topics were learnt."""
    settings = AnalysisSettings("none", "none", frozenset(), ngrams=2)
    folder = build(draw_documents(0, 90), settings=settings, words_per_shard=80)
    for method in ("plsa", "wtm"):
        build_topic_model(folder, method=method, n_topics=4)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(merge, "SHARDS_PER_TIER", 1000)
        searchlab.delete(folder, ["d007", "d050", "d089"])
        build(
            [*draw_documents(85, 100), Document("d010", "jet", "lift drag jet")],
            settings=settings,
            folder=folder,
            rebuild=False,
        )
    return folder


@pytest.fixture(scope="module")
def engine(folder):
    with searchlab.open(folder) as opened:
        assert len(opened.snapshot.shards) > 5
        yield opened


class SeparateProcesses:
    """A cluster whose workers know of each other, and of the client, only what they are sent."""

    def __init__(self, cluster) -> None:
        self._cluster = cluster
        self.workers, self.address = cluster.workers, cluster.address
        self._seen: dict[str | None, SearchEngine] = {}

    @property
    def called(self):
        return self._cluster.called

    def run(self, function, calls, *, workers, seconds):
        answers = []
        for call, worker in zip(calls, workers, strict=True):
            engine, *arguments = pickle.loads(pickle.dumps(call))
            if worker not in self._seen:
                apart: Any = searchlab.open(engine.snapshot.folder)
                # Nothing is counted over shards that are not the worker's.
                apart.reader.statistics._reader = None
                apart.snapshot.count_term = None
                self._seen[worker] = apart
            sent = [(self._seen[worker], *arguments)]
            answers += self._cluster.run(function, sent, workers=[worker], seconds=seconds)
        return answers


@pytest.fixture(params=[1, 3])
def distributed(request, engine, inline_cluster):
    found = DistributedEngine(engine, SeparateProcesses(inline_cluster(request.param)))
    yield found
    found.end_requests()


def weigh_documents(engine, **shared) -> DocumentWeights:
    docnos = ("d003", "d010", "d044", "d095", "missing")
    names = ("document", "corpus", "document_bigram", "corpus_bigram", "title", "body", "topics")
    rows = np.array([[0.1, 0.3, 0.2, 0.1, 0.1, 0.1, 0.1], [0.6, 0.4, 0, 0, 0, 0, 0]] * 3)[: len(docnos)]
    if not shared.get("topics"):
        rows[:, 0] += rows[:, 6]
        rows[:, 6] = 0
    assert len(names) == rows.shape[1]
    return DocumentWeights(docnos, np.hstack([rows, np.zeros((len(docnos), 2))]))


SCORERS = {
    "bigrams": lambda engine: searchlab.Mixture(document=0.3, corpus=0.2, document_bigram=0.4, corpus_bigram=0.1),
    "fields": lambda engine: searchlab.Mixture(document=0.2, corpus=0.6, title=0.1, body=0.1),
    "title alone": lambda engine: searchlab.Mixture(document=0, corpus=0.6, title=0.4),
    "n-grams": lambda engine: searchlab.Mixture(document=0.4, corpus=0.2, ngram_document=0.2, ngram_corpus=0.2),
    "documents": lambda engine: TrainedMixture(document_weights=weigh_documents(engine)),
    "topics": lambda engine: TrainedMixture(
        document=0.3,
        corpus=0.2,
        document_bigram=0.2,
        topics=0.3,
        topic_model=open_topic_model(engine.snapshot),
        document_weights=weigh_documents(engine, topics=0.3),
    ),
    "plsa": lambda engine: PLSA(),
    "wtm": lambda engine: searchlab.WTM(alpha=0.8),
    "an open model": lambda engine: TopicModelScorer(open_topic_model(engine.snapshot), 0.7, 0.4),
    "a changed model": lambda engine: TopicModelScorer(
        open_topic_model(engine.snapshot).with_documents({(0, 1): np.array([0.7, 0.1, 0.1, 0.1])}), 0.7, 0.4
    ),
}


def assert_equal_hits(found, expected) -> None:
    assert found.docnos == expected.docnos
    assert found.scores.tobytes() == expected.scores.tobytes()
    assert found.n_matches == expected.n_matches


@pytest.mark.parametrize("name", SCORERS)
def test_hits_are_those_of_one_engine(engine, distributed, name):
    scorer = SCORERS[name](engine)
    n_found = 0
    for text in QUERIES:
        for k in (5, None):
            expected = engine.search(text, k, scorer=scorer)
            assert_equal_hits(distributed.search(text, k, scorer=scorer), expected)
            n_found += len(expected)
    assert n_found > 200
    groups = {shards for _, shards in distributed._batches._cluster.called}
    n_shards = len(engine.snapshot.shards)
    assert sorted(shard for shards in groups for shard in shards) == list(range(n_shards))  # each by one worker


@pytest.mark.parametrize("name", SCORERS)
def test_further_searches(engine, distributed, name):
    scorer = SCORERS[name](engine)
    for options in ({"syntax": "full"}, {"expansion": "rm3"}, {"filters": ["docno=d010"]}):
        text = '"heat flow" OR title:wing^2 OR sh*' if "syntax" in options else "wing drag jet"
        expected = engine.search(text, 12, scorer=scorer, **options)
        assert len(expected)
        assert_equal_hits(distributed.search(text, 12, scorer=scorer, **options), expected)
    docno = engine.search("heat flow", 1, scorer=scorer).docnos[0]
    assert distributed.explain("heat flow", docno, scorer=scorer) == engine.explain("heat flow", docno, scorer=scorer)


def test_numbers_of_the_collection_are_asked_for_once(engine, distributed):
    scorer = SCORERS["bigrams"](engine)
    distributed.search("heat flow wing", 5, scorer=scorer)
    called = distributed._batches._cluster.called
    n_before, n_groups = len(called), len(distributed._batches.groups)
    distributed.search("heat flow wing", 5, scorer=scorer)
    assert len(called) == n_before + n_groups


def test_a_topic_model_that_was_made_again_is_not_mixed_with_the_old_one(build, inline_cluster):
    folder = build(draw_documents(0, 60), words_per_shard=80)
    build_topic_model(folder, n_topics=3)
    with searchlab.open(folder) as engine:
        scorer = PLSA().pinned(engine.reader)
        distributed = DistributedEngine(engine, inline_cluster(2))
        expected = engine.search("heat flow", 9, scorer="plsa")
        assert_equal_hits(distributed.search("heat flow", 9, scorer=scorer), expected)
        build_topic_model(folder, n_topics=5, seed=3)
        with searchlab.open(folder) as newer, pytest.raises(StoreError, match="made again"):
            newer.search("heat flow", 9, scorer=scorer)


def test_a_topic_model_goes_to_other_processes_as_its_files(engine):
    model = open_topic_model(engine.snapshot)
    sent = pickle.dumps(model)
    assert len(sent) < 4000
    there = pickle.loads(sent)
    assert there is pickle.loads(sent)
    places = np.array([0, 1]), np.array([1, 0])
    assert there.topics_given_document(*places).tobytes() == model.topics_given_document(*places).tobytes()
    changed = pickle.loads(pickle.dumps(model.with_documents({(0, 1): np.array([1.0, 0, 0, 0])})))
    assert changed.topics_given_document(*places)[0].tolist() == [1, 0, 0, 0]
