"""A server that searches on a cluster answers as one that searches itself, or says that it cannot."""

import re
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

import searchlab
from searchlab import Cluster
from searchlab.cluster import connection
from searchlab.cluster.local_processes import LocalProcesses
from searchlab.errors import ClusterError, ClusterTimeout
from searchlab.features.latent_semantics.semantic_space import build_space
from searchlab.records import Document
from searchlab.retrieval.distributed.distributed_engine import DistributedEngine
from searchlab.web.state.app_state import AppState
from searchlab.web.state.open_indexes import OpenIndexes, distributed_engines
from tests.cluster.process_ends import kill_worker
from tests.web.search_client import client_for, client_of, get_json

# Workers that come back while the machine is busy take their time.
PATIENT = 120.0
SEARCHES = [
    {"q": "heat flow wings"},
    {"q": "heat", "system": "bm25+rm3", "k": "5", "page": "2"},
    {"q": '"heat flow" AND year:[1990 TO 1993]', "facet": "year"},
    {"q": "wing* -jet", "system": "dirichlet", "sort": "year:desc"},
    {"q": "heet wings", "filter": "year=1991"},
    {"q": "flow", "system": "model:builtin"},
    {"q": "nothing"},
]


@pytest.fixture(scope="module")
def served(build, tmp_path_factory):
    words = ["heat", "flow", "wings", "jet", "plates", "shock"]
    documents = [
        Document(
            f"d{number:03}",
            words[number % 6],
            " ".join(words[(number * step) % 6] for step in range(1, 3 + number % 5)),
            {"year": 1990 + number % 4},
        )
        for number in range(150)
    ]
    folder = build(documents, folder=tmp_path_factory.mktemp("served") / "it", words_per_shard=120)
    build_space(folder)
    with searchlab.open(folder) as engine:
        assert len(engine.snapshot.shards) > 3
    return folder


@pytest.fixture(scope="module")
def plain(served):
    with client_for(served) as client:
        yield client


@contextmanager
def client_on(cluster, folder, seconds=PATIENT):
    with client_of(AppState(OpenIndexes([folder], (), distributed_engines(cluster, seconds)))) as client:
        yield client


def search(client, parameters):
    answer = get_json(client, "/api/search", **parameters)
    assert answer.pop("seconds") > 0
    return answer


def page(client, path, **parameters) -> str:
    response = client.get(path, params=parameters)
    assert response.status_code == 200
    # Tokens of forms are random, and times differ.
    return re.sub(r'value="[^"]{40,}"|\d+(\.\d+)? (m|µ)?s\b', "", response.text)


def test_answers_and_pages_are_those_of_a_server_without_a_cluster(plain, served, cluster):
    with client_on(cluster, served) as client:
        for parameters in SEARCHES:
            assert search(client, parameters) == search(plain, parameters), parameters
            assert page(client, "/", **parameters) == page(plain, "/", **parameters), parameters
        assert len(search(plain, SEARCHES[0])["hits"]) == 10
        for path, parameters in (
            ("/api/document", {"docno": "d007", "q": "heat"}),
            ("/api/explain", {"docno": "d007", "q": "heat jet"}),
            ("/api/suggest", {"q": "pl"}),  # past queries, which are recorded in the background, begin otherwise
        ):
            assert get_json(client, path, **parameters) == get_json(plain, path, **parameters)
        similar = [get_json(each, "/api/similar", docno="d007") | {"seconds": 0} for each in (client, plain)]
        assert similar[0] == similar[1]
        assert page(client, "/document", docno="d007", q="heat") == page(plain, "/document", docno="d007", q="heat")


def test_training_and_uploads_are_refused_in_one_line(served, cluster):
    with client_on(cluster, served) as client:
        answer = client.post("/api/train", json={"topic_set": "mine"})
        assert answer.status_code == 409
        assert answer.json()["error"].startswith("this server searches on a cluster, and does not train; `searchlab")
        assert client.get("/train").status_code == 200
        assert client.get("/upload").status_code == 200


def test_killed_workers_are_a_delay_and_a_lost_scheduler_an_error(plain, served):
    expected = [search(plain, parameters) for parameters in SEARCHES]
    with Cluster("local:2") as own, client_on(own, served) as client, ThreadPoolExecutor(4) as pool:
        kill_worker(own)  # between two requests
        assert search(client, SEARCHES[1]) == expected[1]
        under_way = [pool.submit(search, client, parameters) for parameters in SEARCHES]
        kill_worker(own)
        assert [each.result() for each in under_way] == expected
        with searchlab.open(served) as engine:
            check_runs_with_kills(own, engine)
        own._processes._processes[0].kill()
        for path in ("/api/search", "/"):
            response = client.get(path, params={"q": "heat jet"})
            assert response.status_code in (503, 504)
            assert "workers that search this index" in response.text
            assert "tcp://" not in response.text
        assert client.get("/document", params={"docno": "d007"}).status_code == 200  # which the server reads itself
        with searchlab.open(served) as engine, pytest.raises(ClusterError, match="the scheduler is lost"):
            engine.search_many({"1": "heat"}, cluster=own, divide="shards")


def test_a_scheduler_that_comes_back_late_is_found_again(served, plain, tmp_path, monkeypatch):
    """Dask's client has given up; the scheduler file has the address of the new scheduler."""
    monkeypatch.setattr(connection, "CONNECT_SECONDS", 2.0)  # after which Dask gives up, too
    expected = [search(plain, parameters) for parameters in SEARCHES[:2]]
    file = tmp_path / "scheduler.json"
    processes = LocalProcesses(1)
    try:
        shutil.copy(processes.scheduler_file, file)
        with Cluster(file) as own, client_on(own, served) as client:
            assert search(client, SEARCHES[0]) == expected[0]
            processes.close()
            assert client.get("/api/search", params={"q": "heat"}).status_code in (503, 504)
            lost = own._client
            deadline = time.monotonic() + 60
            while lost.status != "closed":
                assert time.monotonic() < deadline
            processes = LocalProcesses(1)
            shutil.copy(processes.scheduler_file, file)
            assert client.get("/api/search", params=SEARCHES[1]).status_code == 503  # which begins to connect
            if (connecting := own._reconnecting) is not None:
                connecting.join(60)
            assert search(client, SEARCHES[1]) == expected[1]
            assert own._client is not lost
    finally:
        processes.close()


def check_runs_with_kills(cluster, engine) -> None:
    """A worker is killed while requests are on their way; the run is the same."""
    topics = {str(number): text for number, text in enumerate(["heat flow", "jet", "wings shock", "plates"] * 25)}
    expected = engine.search_many(topics, k=40)
    for _ in range(2):
        killed = []

        def progress(stage, n_done, n_topics, killed=killed):
            if not killed:
                killed.append(kill_worker(cluster))

        found = engine.search_many(topics, k=40, cluster=cluster, divide="shards", progress=progress)
        assert len(killed) == 1
        assert found.docnos.tolist() == expected.docnos.tolist()
        assert found.scores.tobytes() == expected.scores.tobytes()


def test_an_interrupt_cancels_the_requests_of_a_run(served, cluster):
    topics = {str(number): "heat flow" for number in range(60)}

    def interrupt(stage, n_done, n_topics):
        raise KeyboardInterrupt

    with searchlab.open(served) as engine:
        with pytest.raises(KeyboardInterrupt):
            engine.search_many(topics, cluster=cluster, divide="shards", progress=interrupt)
        assert not cluster._under_way
        assert len(engine.search_many({"1": "heat"}, k=5, cluster=cluster, divide="shards").docnos) == 5


def test_a_deadline_that_passes_is_an_error(served, cluster):
    with searchlab.open(served) as engine:
        distributed = DistributedEngine(engine, cluster, seconds=1e-6)
        with pytest.raises(ClusterTimeout):
            distributed.search("heat")
        distributed.end_requests()
