"""An engine whose shards are searched apart gives the hits of one engine, to the last bit, however they are divided."""

import random
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import searchlab
from searchlab.corpus.trec.packed_docnos import PackedDocnos
from searchlab.errors import ClusterError, ClusterTimeout, IndexCorrupt
from searchlab.records import Document
from searchlab.retrieval.distributed import request_batches, shard_requests
from searchlab.retrieval.distributed.distributed_engine import DistributedEngine
from searchlab.retrieval.distributed.shard_requests import PackedRanking, merge_best
from searchlab.scorers.execution.posting_scoring import PostingQueryScorer
from searchlab.scorers.registry import SCORERS

WORDS = ["heat", "heats", "flow", "wing", "wings", "shock", "wave", "cell", "plate", "jet", "lift", "drag"]
SINGLE = [name for name, kind in SCORERS.items() if not kind.needs_topic_model]


def draw_documents(n: int) -> list[Document]:
    draw = random.Random(3)
    return [
        Document(
            f"d{number:03}",
            draw.choice(WORDS),
            " ".join(draw.choices(WORDS, k=draw.randint(0, 9))),
            {"year": 1990 + number % 5, "author": draw.choice(["ada flow", "bo wing"])},
        )
        for number in range(n)
    ]


@pytest.fixture(scope="module")
def engine(build):
    """An index of many shards, some of whose documents are deleted, all of one shard's among them."""
    folder = build(draw_documents(120), words_per_shard=80)
    with searchlab.open(folder) as before:
        shard = before.snapshot.shards[1]
        gone = [*shard.columns.docnos.take(np.arange(shard.columns.n_docs)), "d007", "d050"]
    searchlab.delete(folder, gone)
    with searchlab.open(folder, synonyms=[["heat", "shock wave"]]) as opened:
        assert len(opened.snapshot.shards) > 6
        yield opened


@pytest.fixture(params=[1, 2, 3, 5])
def distributed(request, engine, inline_cluster):
    found = DistributedEngine(engine, inline_cluster(request.param))
    yield found
    found.end_requests()


def assert_equal_hits(found, expected) -> None:
    assert found.docnos == expected.docnos
    assert found.scores.tobytes() == expected.scores.tobytes()
    assert (found.shards.tolist(), found.docs.tolist()) == (expected.shards.tolist(), expected.docs.tolist())
    assert found.n_matches == expected.n_matches


@pytest.mark.parametrize("scorer", SINGLE)
def test_hits_of_every_scorer_are_those_of_one_engine(engine, distributed, scorer):
    for text, k in (("heat flow wing", 5), ("heats heats jet", 20), ("cell", None), ("unknown", 5), ("", 5)):
        assert_equal_hits(distributed.search(text, k, scorer=scorer), engine.search(text, k, scorer=scorer))


QUERIES = [
    '"heat flow" OR "wing lift"~2',
    "hea* AND NOT jet",
    "wingz~1 title:shock^3",
    "author:wing drag",
    "year:[1991 TO 1993] AND flow",
    "docno:d01*",
    "heat",
]


@pytest.mark.parametrize("query", QUERIES)
def test_structured_queries_filters_and_synonyms(engine, distributed, query):
    for options in ({}, {"filters": ["year=1991"]}, {"scorer": "bm25f"}, {"scorer": "dirichlet"}, {"sort": "author"}):
        expected = engine.search(query, 15, syntax="full", **options)
        assert_equal_hits(distributed.search(query, 15, syntax="full", **options), expected)
    plain = distributed.without_synonyms()
    assert_equal_hits(plain.search(query, syntax="full"), engine.without_synonyms().search(query, syntax="full"))


def test_expansion_sorting_facets_fields_and_explanations(engine, distributed):
    expected, found = (each.search("wing drag", 12, expansion="rm3") for each in (engine, distributed))
    assert_equal_hits(found, expected)
    expected, found = (each.search("wing drag", 12, sort="year:desc") for each in (engine, distributed))
    assert_equal_hits(found, expected)
    assert found.facets("year", "author") == expected.facets("year", "author")
    offered = [each.search("ada flow").other_fields for each in (engine, distributed)]
    assert offered[0] == offered[1]
    assert {each.field for each in offered[0]} == {"author"}
    docno = expected.docnos[0]
    assert distributed.explain("wing drag", docno) == engine.explain("wing drag", docno)
    assert distributed.document(docno) == engine.document(docno)
    assert [hit.to_json() for hit in found] == [hit.to_json() for hit in expected]


def test_workers_read_their_own_shards_alone(engine, inline_cluster):
    cluster = inline_cluster(3)
    distributed = DistributedEngine(engine, cluster)
    for _ in range(3):
        distributed.search("wing drag", 5)
    shards = {worker: {shards for name, shards in cluster.called if name == worker} for worker in cluster.workers}
    assert all(len(asked) == 1 for asked in shards.values())  # the same ones each time
    assert sorted(shard for asked in shards.values() for group in asked for shard in group) == list(
        range(len(engine.snapshot.shards))
    )


def test_a_scorer_that_does_not_say_what_it_needs_is_searched_by_one_worker(engine, inline_cluster, monkeypatch):
    monkeypatch.setattr(PostingQueryScorer, "statistics", lambda query: None)
    cluster = inline_cluster(3)
    distributed = DistributedEngine(engine, cluster)
    assert_equal_hits(distributed.search("cell flow", 9), engine.search("cell flow", 9))
    assert {len(shards) for _, shards in cluster.called} == {len(engine.snapshot.shards)}


def test_terms_are_counted_once(engine, inline_cluster):
    cluster = inline_cluster(2)
    distributed = DistributedEngine(engine, cluster)
    distributed.search("hea* wing", 5, syntax="full")
    n_before = len(cluster.called)
    distributed.search("hea* wing", 5, syntax="full")
    assert len(cluster.called) == n_before + 2  # one request to each worker


def test_an_error_in_a_worker_is_that_of_one_machine(engine, inline_cluster, monkeypatch):
    def fail(self, part):
        raise IndexCorrupt("shard-1: a column is damaged")

    monkeypatch.setattr(shard_requests.BestRequest, "answer", fail)
    with pytest.raises(IndexCorrupt, match="a column is damaged"):
        DistributedEngine(engine, inline_cluster(2)).search("wing")


def test_while_a_batch_is_on_its_way_requests_wait_until_they_are_enough(engine, inline_cluster):
    cluster = inline_cluster(1)
    sizes, first_begun, first_may_end, run = [], threading.Event(), threading.Event(), cluster.run

    def run_slowly(function, calls, **options):
        sizes.append(len(calls[0][2]))
        if len(sizes) == 1:
            first_begun.set()
            assert first_may_end.wait(60)
        return run(function, calls, **options)

    cluster.run = run_slowly
    batches = request_batches.RequestBatches(cluster, engine, enough=3)
    request = shard_requests.TermRequest("both", ("wing",))
    requests = {batches.groups[0]: request}
    with ThreadPoolExecutor(6) as threads:
        first = threads.submit(batches.ask, requests)
        assert first_begun.wait(60)
        # Two wait for the first batch to end; with a third, there are enough for another one.
        others = [threads.submit(batches.ask, requests) for _ in range(3)]
        assert len({future.result(60)[0] for future in others}) == 1
        assert sizes == [1, 3]
        last = threads.submit(batches.ask, requests)
        first_may_end.set()
        assert first.result(60) == last.result(60) == others[0].result()
    assert sizes == [1, 3, 1]
    batches.close()


def test_without_an_answer_in_time_it_is_an_error(engine, inline_cluster, monkeypatch):
    monkeypatch.setattr(request_batches.RequestBatches, "_send_waiting", lambda batches: None)
    with pytest.raises(ClusterTimeout, match=r"have not answered within 0\.01 s"):
        DistributedEngine(engine, inline_cluster(2), seconds=0.01).search("wing")


def test_tasks_that_take_long_are_sent_again_to_workers_that_are_there(engine, inline_cluster, monkeypatch):
    monkeypatch.setattr(request_batches, "WORKERS_SECONDS", 0.0)
    cluster = inline_cluster(2)
    distributed = DistributedEngine(engine, cluster)
    expected = engine.search("wing drag")
    assert_equal_hits(distributed.search("wing drag"), expected)
    gone, *cluster.workers = cluster.workers
    cluster.n_silent = 2
    cluster.seconds.clear()
    assert_equal_hits(distributed.search("wing drag"), expected)
    assert cluster.seconds[:3] == [5.0, 10.0, 20.0]
    cluster.workers = []
    assert_equal_hits(distributed.search("wing drag"), expected)  # whichever worker comes may answer
    assert cluster.called[-1][0] is None
    assert gone not in {worker for worker, _ in cluster.called[-4:]}


def test_the_deadline_bounds_all_attempts(engine, inline_cluster):
    cluster = inline_cluster(2)
    cluster.n_silent = 1
    with pytest.raises(ClusterTimeout):
        DistributedEngine(engine, cluster, seconds=3.0).search("wing")
    assert len(cluster.seconds) == 1
    assert cluster.seconds[0] <= 3.0


def test_a_deadline_that_has_passed_before_a_worker_was_free_asks_none(engine, inline_cluster):
    cluster = inline_cluster(2)
    with pytest.raises(ClusterTimeout):
        DistributedEngine(engine, cluster, seconds=1e-9).search("wing")
    assert cluster.seconds == []


def test_no_worker_and_no_more_requests_are_errors(engine, inline_cluster):
    with pytest.raises(ClusterError, match="has no worker"):
        DistributedEngine(engine, inline_cluster(0)).search("wing")
    distributed = DistributedEngine(engine, inline_cluster(1))
    distributed.end_requests()
    with pytest.raises(ClusterError, match="ended"):
        distributed.search("wing")


def test_equal_scores_of_several_workers_are_ordered_by_docno_in_byte_order():
    draw = random.Random(1)
    docnos = [f"{draw.choice('aé日z')}{number}" for number in range(60)]
    scores = [float(draw.randint(0, 3)) for _ in docnos]
    answers = []
    for part in range(3):
        rows = sorted(range(part, 60, 3), key=lambda row: (scores[row], docnos[row].encode()), reverse=True)
        packed = PackedDocnos.pack(docnos[row] for row in rows)
        answers.append(PackedRanking(np.full(20, part), np.array(rows), np.array([scores[r] for r in rows]), packed))
    expected = sorted(range(60), key=lambda row: (scores[row], docnos[row].encode()), reverse=True)
    for limit in (1, 7, 59, 60, 100):
        best = merge_best(answers, limit)
        assert best.docs.tolist() == expected[:limit]
        assert best.docnos.strings() == [docnos[row] for row in expected[:limit]]
