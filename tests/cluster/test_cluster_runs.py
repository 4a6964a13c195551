"""Runs on a cluster are those of one machine, to the last byte of the run file."""

import io
import shutil

import numpy as np
import pytest

import searchlab
from searchlab.errors import ClusterError, StoreError
from searchlab.features.latent_semantics.semantic_space import build_space
from searchlab.indexing.snapshot import MIN_COMPILED_DOCNOS
from searchlab.retrieval.composition.cluster_batch import divide_topics
from searchlab.retrieval.engine import SearchEngine
from tests.cluster.conftest import WORDS


def run_file(run) -> str:
    file = io.StringIO()
    searchlab.write_run(file, run, "tag")
    return file.getvalue()


PIPELINES = {
    "bm25": lambda engine: engine.retriever("bm25"),
    "title": lambda engine: engine.retriever("tfidf", stream="title"),
    "dirichlet": lambda engine: engine.retriever(searchlab.Dirichlet(mu=50)),
    "bm25f": lambda engine: engine.retriever(searchlab.BM25F()),
    "rm3": lambda engine: engine.retriever("bm25") >> searchlab.RM3(),
    "sum": lambda engine: 0.3 * engine.retriever("bm25") + engine.retriever("dirichlet"),
    "fusion": lambda engine: engine.retriever("bm25") | engine.retriever("jm") % 20,
    "builtin": lambda engine: searchlab.Reranker(engine, "builtin").pipeline(),
}


@pytest.fixture(scope="module")
def engine(folder):
    build_space(folder)
    with searchlab.open(folder) as opened:
        assert len(opened.snapshot.shards) > 3
        yield opened


@pytest.mark.parametrize("name", PIPELINES)
def test_a_run_is_that_of_one_machine_to_the_last_byte(engine, topics, cluster, name):
    pipeline = PIPELINES[name](engine)
    expected = run_file(pipeline.run(topics, 30))
    assert expected.count("\n") > 500
    for divide in ("topics", "shards"):
        assert run_file(pipeline.run(topics, 30, cluster=cluster, divide=divide)) == expected, divide


def test_all_that_match_are_found(engine, topics, cluster):
    expected = run_file(engine.search_many(topics, k=None))
    for divide in ("topics", "shards"):
        assert run_file(engine.search_many(topics, k=None, cluster=cluster, divide=divide)) == expected, divide


def test_syntax_and_filters_go_with_the_topics(build, cluster):
    documents = [searchlab.Document(f"d{n}", "heat", "flow of heat", {"year": 1980 + n % 3}) for n in range(20)]
    with searchlab.open(build(documents)) as engine:
        pipeline = engine.retriever("bm25")
        for text in ('"flow of heat" OR year:1981', "heat AND year:[1980 TO 1981]"):
            options = {"syntax": "full", "filters": ["year=1981"]}
            expected = pipeline.run({"1": text}, **options)
            assert len(expected.docnos)
            for divide in ("topics", "shards"):
                found = pipeline.run({"1": text}, cluster=cluster, divide=divide, **options)
                assert run_file(found) == run_file(expected), divide


def test_a_query_that_is_not_understood_is_warned_about(engine, cluster):
    for divide in ("topics", "shards"):
        with pytest.warns(searchlab.QueryWarning, match=r"word1 AND \("):
            engine.search_many({"1": "word1 AND ("}, syntax="full", cluster=cluster, divide=divide)


def test_an_index_that_was_changed_meanwhile_is_refused(build, documents, topics, cluster, tmp_path):
    folder = build(documents[:20], folder=tmp_path / "it")
    with searchlab.open(folder) as engine:
        build(documents[20:40], folder=folder)
        for divide in ("topics", "shards"):
            with pytest.raises(StoreError, match=r"worker tcp://.*: .*the index was changed"):
                engine.search_many(topics, cluster=cluster, divide=divide)


def test_another_index_in_the_same_folder_is_refused_before_any_search(build, documents, topics, cluster, tmp_path):
    """The client has opened an index whose folder is another one by now, as on a worker without the shared storage."""
    folder, other = build(documents[:20], folder=tmp_path / "it"), build(documents[20:40], folder=tmp_path / "other")
    with searchlab.open(folder) as engine:
        described = []
        ask_all = cluster._ask_all

        def ask_elsewhere(function, *arguments):
            if function.__name__ == "describe_contents":
                described.append(arguments)
                arguments = ([each.replace(str(folder), str(other)) for each in arguments[0]],)
                found = ask_all(function, *arguments)
                return {
                    worker: {path.replace(str(other), str(folder)): what for path, what in answer.items()}
                    for worker, answer in found.items()
                }
            return ask_all(function, *arguments)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(cluster, "_ask_all", ask_elsewhere)
            for divide in ("topics", "shards"):
                with pytest.raises(ClusterError, match=r"worker tcp.* finds .*manifest.json to be a file"):
                    engine.search_many(topics, cluster=cluster, divide=divide)
            with pytest.raises(ClusterError, match=r"worker tcp.* finds .*manifest.json to be a file"):
                searchlab.extract(engine, topics, {"0": ["d001"]}, "letor45", cluster=cluster)
        assert len(described) == 3


def test_damage_is_reported_as_on_one_machine(build, documents, topics, cluster, tmp_path):
    folder = build(documents[:50], folder=tmp_path / "it")
    with searchlab.open(folder) as engine:
        shutil.rmtree(next(folder.glob("shard-*")))
        with pytest.raises(searchlab.SearchlabError, match="missing"):
            engine.search_many(topics, cluster=cluster)


def test_each_round_of_tasks_has_half_of_the_topics_that_are_left():
    topics = list(range(1000))
    parts = divide_topics(topics, 2)
    assert np.concatenate(parts).tolist() == topics
    # The smallest have a sixteenth of the 500 topics of a worker; below that the rest is divided evenly.
    assert [len(part) for part in parts] == [250, 250, 125, 125, 62, 63, 31, 31, 31, 32]
    assert [len(part) for part in divide_topics(topics[:40], 3)] == [13, 13, 14]
    assert divide_topics(topics[:3], 2) == [topics[:3]]
    assert divide_topics([], 2) == []


def test_the_command_writes_the_same_run(here, run_cli, cluster):
    assert run_cli("run", "--topics", "topics.tsv", "-o", "one.run")[0] == 0
    file = cluster._processes.scheduler_file
    for divide in ("topics", "shards"):
        options = "--cluster", file, "--divide", divide
        code, _, errors = run_cli("run", "--topics", "topics.tsv", "-o", "many.run", *options)
        assert (code, "cluster: 2 workers" in errors) == (0, True)
        assert (here / "many.run").read_text() == (here / "one.run").read_text(), divide


def test_what_is_no_division_is_refused(here, run_cli):
    code, _, errors = run_cli("run", "--topics", "topics.tsv", "--divide", "documents")
    assert (code, errors.count("\n")) == (2, 1)
    assert "documents" in errors
    assert "auto, shards, topics" in errors


def test_the_environment_names_the_cluster(here, run_cli, monkeypatch):
    monkeypatch.setenv("SEARCHLAB_CLUSTER", "local:none")
    code, _, errors = run_cli("run", "--topics", "topics.tsv")
    assert (code, errors.count("local:none")) == (2, 1)


def test_docnos_of_many_hits_are_those_of_the_documents_one_by_one(folder):
    with searchlab.open(folder) as engine, SearchEngine(folder, compiled=False) as plain:
        query = " ".join(WORDS)
        hits, expected = engine.search(query, k=300), plain.search(query, k=300)
        assert len(hits) >= MIN_COMPILED_DOCNOS
        assert hits.docnos == expected.docnos == [hit.docno for hit in expected]
