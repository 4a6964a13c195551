"""What workers read of candidates in their shards gives the features, models and runs of one machine, byte by byte."""

import io
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import searchlab
from benchmarks.cluster_faults import WorkerKills
from searchlab.experiments.scorer_tuning import tune
from searchlab.features.candidates import judged
from searchlab.features.feature_sets import FEATURE_SETS
from searchlab.features.latent_semantics.semantic_space import build_space
from searchlab.indexing.merging import merge
from searchlab.records import Document
from searchlab.reproduction.retrieval import run_retrieval
from searchlab.retrieval.distributed.distributed_engine import DistributedEngine
from searchlab.topic_models.topic_model_store import build_topic_model
from searchlab.training.recipe import Recipe
from tests.hypothesis_profiles import examples

FEATURES = ["full", *(name for name in FEATURE_SETS["topics"] if name.startswith("topic."))]
COMPARED = ["table1", "score.both.rm3", "semantic.both.rm3_50", "neighbours.both.bm25_words_3"]
FEATURES += ["mixture.both.bigrams", "mixture.both.fields", "field.year", "field.year.age"]


@pytest.fixture(scope="module")
def folder(build, documents, topics) -> Path:
    """An index of several shards with deleted, updated and new documents, some later than what was learnt from it."""
    dated = [Document(each.docno, each.title, each.body, {"year": 1990 + n % 7}) for n, each in enumerate(documents)]
    folder = build(dated, words_per_shard=400)
    build_space(folder)
    build_topic_model(folder, n_topics=4)
    changed = [Document(f"d{n:03}", "word1 word2", f"word{n % 60} word3 word4", {"year": 2001}) for n in (5, 50, 150)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(merge, "SHARDS_PER_TIER", 1000)
        searchlab.delete(folder, ["d001", "d060", "copy-d100"])
        build([*changed, Document("new", "word5", "word6 word7 word5 word8")], folder=folder, rebuild=False)
    return folder


@pytest.fixture(scope="module")
def engine(folder):
    with searchlab.open(folder) as opened:
        assert len(opened.snapshot.shards) > 4
        assert any(shard.live is not None for shard in opened.snapshot.shards)
        yield opened


@pytest.fixture(scope="module")
def qrels(topics):
    """Judgments, read-only as those of a file."""
    grades = {
        topic.qid: {f"d{number:03}": number % 3 for number in range(int(topic.qid), 300, 13)} for topic in topics[:12]
    }
    return searchlab.Qrels.from_dict(grades)


def assert_equal_tables(found, expected) -> None:
    assert found.names == expected.names
    assert found.qids.tolist() == expected.qids.tolist()
    assert found.docnos.tolist() == expected.docnos.tolist()
    assert found.values.tobytes() == expected.values.tobytes()


def test_features_are_those_of_one_machine_to_the_last_bit(engine, topics, cluster):
    candidates = (engine.retriever("bm25") >> searchlab.RM3()) % 20
    expected = searchlab.extract(engine, topics, candidates, FEATURES)
    assert expected.n_rows > 500
    undefined = np.isnan(expected.values).all(axis=0)
    assert np.array(expected.names)[undefined].tolist() == ["near.title.distance"]  # titles are single words
    assert_equal_tables(
        searchlab.extract(engine, topics, candidates, FEATURES, cluster=cluster, divide="shards"), expected
    )


def test_judged_candidates_and_features_of_ones_own(engine, topics, qrels, cluster):
    outside = searchlab.external_feature("own", {topic.qid: {"d001": 0.5, "d002": 0.25} for topic in topics[:12]})
    options = {"qrels": qrels, "unjudged": "drop"}
    one, many = (
        searchlab.extract(engine, topics[:12], qrels, ["letor45", outside], cluster=where, divide="shards", **options)
        for where in (None, cluster)
    )
    assert_equal_tables(many, one)
    assert many.grades.tolist() == one.grades.tolist()


def test_the_client_reads_no_document(folder, engine, topics, qrels, cluster):
    candidates = judged(engine, qrels)
    expected = searchlab.extract(engine, topics[:12], candidates, FEATURES)
    with searchlab.open(folder) as client:
        for shard in client.snapshot.shards:
            # Statistics of terms need the postings of shards with deleted documents.
            unread = ("docs", "tfs", "lengths", "uniques") if shard.live is None else ("uniques",)
            streams = {name: replace(stream, **dict.fromkeys(unread)) for name, stream in shard.columns.streams.items()}
            n_tokens = range(len(shard.columns.tokens))  # how many there are is known without reading them
            shard.columns = replace(shard.columns, streams=streams, tokens=n_tokens, token_offsets=None, fields=None)
            shard.stored = None  # type: ignore[assignment]
        distributed = DistributedEngine(client, cluster)
        found = searchlab.extract(distributed, topics[:12], candidates, FEATURES)
        distributed.end_requests()
    assert_equal_tables(found, expected)


@pytest.mark.filterwarnings("ignore::searchlab.TrainingTopicsWarning")
def test_a_model_is_that_of_one_machine(engine, topics, qrels, cluster, tmp_path):
    recipe = Recipe.for_search("rsvm", n_folds=3, n_parts=2, n_repeats=1)
    models = []
    for name, where in (("one", None), ("many", cluster)):
        bundle = searchlab.train_from_index(
            engine, topics[:8], qrels, COMPARED, recipe=recipe, cluster=where, divide="shards"
        )
        bundle.save(tmp_path / name)
        models.append(json.loads((tmp_path / name).read_text()))
    for model in models:
        model.pop("written", None)
    assert models[0] == models[1]
    run = [
        run_file(
            searchlab.Reranker(engine, tmp_path / "one").pipeline().run(topics[:12], 30, cluster=where, divide=divide)
        )
        for where, divide in ((None, "auto"), (cluster, "topics"), (cluster, "shards"))
    ]
    assert run[0] == run[1] == run[2]


def run_file(run) -> str:
    file = io.StringIO()
    searchlab.write_run(file, run, "tag")
    return file.getvalue()


def test_a_learning_curve_and_tuning_are_those_of_one_machine(engine, topics, qrels, cluster):
    recipe = Recipe.for_search("softmax", n_folds=3)
    options = {"recipe": recipe, "sizes": [2, 8], "divide": "shards"}
    one, many = (
        searchlab.learning_curve(engine, topics[:12], qrels, "table1", cluster=where, **options)
        for where in (None, cluster)
    )
    assert one.to_json() == many.to_json()
    grid = {"k1": ["0.5", "1.2"]}
    tuned, tuned_there = (
        tune(engine, topics[:12], qrels, "bm25", grid, n_folds=3, cluster=where, divide="shards")
        for where in (None, cluster)
    )
    assert tuned.values.tobytes() == tuned_there.values.tobytes()


@pytest.mark.parametrize("divide", ["topics", "shards"])
def test_the_comparison_of_systems_is_that_of_one_machine(engine, topics, qrels, cluster, divide):
    options = {"name": "few", "features": ["table1"], "rankers": ["rsvm"], "n_folds": 3, "divide": divide}
    one, many = (run_retrieval(engine, topics[:12], qrels, cluster=where, **options) for where in (None, cluster))
    assert one.to_json() == many.to_json()
    assert {system.name for system in one.systems} >= {"BM25", "RM3", "mixture, trained (MCE)"}


MODELS = {
    "bigrams": searchlab.Mixture(document=0.3, corpus=0.3, document_bigram=0.3, title=0.1),
    "plsa": searchlab.PLSA(),
}


@pytest.mark.parametrize("name", MODELS)
def test_runs_of_mixtures_and_topic_models(engine, topics, cluster, name):
    pipeline = engine.retriever(MODELS[name]) >> searchlab.RM3()
    expected = run_file(pipeline.run(topics, 20))
    for divide in ("topics", "shards"):
        assert run_file(pipeline.run(topics, 20, cluster=cluster, divide=divide)) == expected, divide


def test_a_topic_model_that_is_made_again_is_used_by_workers_that_knew_the_old_one(build, documents, topics, cluster):
    folder = build(documents[:80], words_per_shard=200)
    runs = set()
    for seed in (1, 2):
        build_topic_model(folder, n_topics=3, seed=seed)
        with searchlab.open(folder) as engine:
            expected = run_file(engine.search_many(topics, scorer="plsa"))
            for divide in ("topics", "shards"):
                found = engine.search_many(topics, scorer="plsa", cluster=cluster, divide=divide)
                assert run_file(found) == expected, (seed, divide)
        runs.add(expected)
    assert len(runs) == 2


def test_the_commands_write_the_same_files(here, run_cli, cluster):
    place = ["--cluster", cluster._processes.scheduler_file, "--divide", "shards"]
    features = ["features", "--topics", "topics.tsv", "-k", 10]
    assert run_cli(*features, "-o", "one.txt")[0] == 0
    code, _, errors = run_cli(*features, "-o", "many.txt", *place)
    assert (code, "cluster: 2 workers" in errors) == (0, True)
    assert (here / "many.txt").read_text() == (here / "one.txt").read_text()


@pytest.mark.parametrize("command", [["features"], ["train", "-o", "m"], ["tune"], ["experiment", "plan.toml"]])
def test_what_is_no_division_is_refused(here, run_cli, command):
    code, _, errors = run_cli(*command, "--divide", "documents")
    assert code == 2
    assert "auto, shards, topics" in errors


def test_killed_workers_change_no_feature_and_no_model(engine, topics, qrels):
    recipe = Recipe.for_search("rsvm", n_folds=2, n_parts=2, n_repeats=1)
    features = ["letor45", "score.both.rm3", "semantic.both.rm3_50"]

    def extract(where) -> bytes:
        candidates = engine.retriever("bm25") % 20
        return searchlab.extract(engine, topics, candidates, features, cluster=where, divide="shards").values.tobytes()

    def train(where) -> str:
        options = {"recipe": recipe, "cluster": where, "divide": "shards"}
        record = searchlab.train_from_index(engine, topics[:12], qrels, "table1", **options).to_json()
        return json.dumps({name: value for name, value in record.items() if name != "written"})

    with searchlab.Cluster("local:2") as own:
        for operation in (extract, train):
            expected = operation(None)
            with WorkerKills(own, examples(2), seed=5, seconds=0.4).going_on() as kills:
                while not kills.is_done:
                    assert operation(own) == expected
            assert kills.n_kills == examples(2)
