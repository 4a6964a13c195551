"""Threads that share an engine find what one thread alone finds."""

import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest

from searchlab.analysis.analyzer import AnalysisSettings
from searchlab.features.feature_sets import FEATURE_SETS
from searchlab.features.preprocessing.preprocessor import Preprocessor
from searchlab.indexing.storage.arrays import packed_columns
from searchlab.rankers.bundle import Bundle
from searchlab.rankers.first_stage import FirstStage
from searchlab.rankers.models.linear_model import LinearModel
from searchlab.rankers.reranking import Reranker
from searchlab.records import Document
from searchlab.retrieval.engine import SearchEngine
from searchlab.scorers.bm25 import BM25
from searchlab.scorers.bm25f import BM25F
from searchlab.scorers.dirichlet import Dirichlet
from searchlab.scorers.execution import posting_cache
from tests.retrieval.reference import random_documents

N_THREADS = 8
WORDS = [
    f"{start}{end}" for start in ("treat", "cell", "wing", "relat", "pon") for end in ("s", "ing", "ed", "ies", "")
]
QUERIES = [
    "treating cells",
    "wings",
    '"cells wing" OR pon*',
    "title:cell AND NOT ponies",
    "relates treated unknowns",
    "c",
]


@pytest.fixture(scope="module")
def folder(build):
    """Three hundred documents of many sizes, in several shards, with stems and accents."""
    drawn = random_documents(seed=5, n_docs=300, words=WORDS, longest=60)
    documents = [
        Document(own.docno, own.title, f"{own.body} {place} Café of the Wings. " * (place % 7), {"place": place})
        for place, own in enumerate(drawn)
    ]
    return build(documents, settings=AnalysisSettings(), words_per_shard=8000)


@pytest.fixture
def restless():
    """Threads take turns all the time."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(usual)


def in_threads(work):
    """What each of the threads gets, which begin together."""
    start = Barrier(N_THREADS)

    def begin(number):
        start.wait()
        return work(number)

    with ThreadPoolExecutor(N_THREADS) as pool:
        return list(pool.map(begin, range(N_THREADS)))


def in_own_order(items, number):
    return np.random.default_rng(number).permutation(len(items)).tolist()


@pytest.mark.usefixtures("restless")
def test_documents_that_many_threads_read_are_whole(folder):
    with SearchEngine(folder) as alone:
        assert len(alone.snapshot.shards) > 1
        docnos = list(alone.snapshot.docnos())
        expected = {docno: alone.document(docno) for docno in docnos}
    with SearchEngine(folder) as engine:  # not yet read from: threads open it, too

        def read(number):
            order = [docnos[place] for _ in range(5) for place in in_own_order(docnos, number)]
            return [docno for docno in order if engine.document(docno) != expected[docno]]

        assert in_threads(read) == [[]] * N_THREADS


@pytest.fixture(params=["all in memory", "little in memory"])
def memory(request, monkeypatch):
    """Room for all postings, or for so few that caches begin again while they are read."""
    if request.param == "little in memory":
        monkeypatch.setattr(packed_columns, "MAX_UNPACKED_POSTINGS", 500)
        monkeypatch.setattr(posting_cache, "MAX_POSTINGS", 500)


@pytest.mark.usefixtures("restless", "memory")
def test_searches_of_many_threads_find_what_one_finds(folder):
    features = tuple(FEATURE_SETS["letor45"])

    def open_systems():
        engine = SearchEngine(folder)
        first = FirstStage(k=50, expanded=False)
        bundle = Bundle("linear", {}, LinearModel(np.ones(45)), features, Preprocessor.named(), first_stage=first)
        return engine, Reranker(engine, bundle).pipeline()

    asked = [(query, scorer) for query in QUERIES for scorer in (BM25(), BM25F(), Dirichlet(), None)]

    def answer(systems, query, scorer):
        engine, pipeline = systems
        if scorer is None:
            hits = pipeline.search(query, k=12, syntax="full")
        else:
            hits = engine.search(query, k=12, scorer=scorer, syntax="full")
        return list(hits), hits.docnos, hits.query.unknown, hits.query.suggestions

    alone = open_systems()
    expected = [answer(alone, *own) for own in asked]
    assert all(hits for hits, *_ in expected[:-4])
    together = open_systems()

    def search(number):
        order = [place for _ in range(3) for place in in_own_order(asked, number)]
        return [asked[place] for place in order if answer(together, *asked[place]) != expected[place]]

    assert in_threads(search) == [[]] * N_THREADS
