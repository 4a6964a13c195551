"""Features computed on a cluster are those of one machine, to the last bit."""

import numpy as np
import pytest

import searchlab
from searchlab.errors import SettingError
from searchlab.features.latent_semantics.semantic_space import build_space
from searchlab.records import Topic


@pytest.fixture(scope="module")
def engine(folder):
    build_space(folder)
    with searchlab.open(folder) as opened:
        yield opened


@pytest.mark.parametrize("features", ["letor45", "compact", "full", "semantic"])
def test_features_are_those_of_one_machine_to_the_last_bit(engine, topics, cluster, features):
    candidates = engine.retriever("bm25") >> searchlab.RM3()
    expected = searchlab.extract(engine, topics, candidates % 20, features)
    found = searchlab.extract(engine, topics, candidates % 20, features, cluster=cluster)
    assert expected.n_rows > 500
    assert found.names == expected.names
    assert found.qids.tolist() == expected.qids.tolist()
    assert found.docnos.tolist() == expected.docnos.tolist()
    assert found.values.tobytes() == expected.values.tobytes()


def test_candidates_are_searched_by_the_workers(engine, topics, cluster, work):
    """The client counts its own work; without a cluster it searches for every topic."""
    bm25 = engine.retriever("bm25") % 20
    found = searchlab.extract(engine, topics, bm25, "table1", cluster=cluster, divide="topics")
    assert work["searches"] == 0
    expected = searchlab.extract(engine, topics, bm25, "table1")
    assert work["searches"] == len(topics)
    assert found.docnos.tolist() == expected.docnos.tolist()


def test_judged_candidates_and_their_grades(engine, topics, cluster):
    qrels = {topic.qid: {f"d{number:03}": number % 3 for number in range(int(topic.qid), 300, 40)} for topic in topics}
    tables = [
        searchlab.extract(engine, topics, qrels, "letor45", qrels=qrels, unjudged="drop", cluster=where)
        for where in (None, cluster)
    ]
    assert np.array_equal(tables[0].grades, tables[1].grades)
    assert tables[0].values.tobytes() == tables[1].values.tobytes()


def test_scores_computed_elsewhere_go_with_the_topics(engine, topics, cluster):
    outside = searchlab.external_feature("own", {topic.qid: {"d001": 0.5, "d002": 0.25} for topic in topics})
    candidates = {topic.qid: ["d002", "d001", "d003"] for topic in topics}
    found = searchlab.extract(engine, topics, candidates, [outside], cluster=cluster)
    assert found.values[:3, 0].tolist()[:2] == [0.25, 0.5]
    assert np.isnan(found.values[2, 0])


def test_topics_without_candidates_are_refused_as_on_one_machine(engine, cluster):
    with pytest.raises(SettingError, match="none of 1 topics"):
        searchlab.extract(engine, [Topic("1", "word1")], {}, "letor45", cluster=cluster)


def test_the_command_writes_the_same_file(here, run_cli, cluster, work):
    arguments = ["features", "--topics", "topics.tsv", "-k", 10]
    assert run_cli(*arguments, "-o", "one.txt")[0] == 0
    assert work["searches"] == 3
    code, _, errors = run_cli(*arguments, "-o", "many.txt", "--cluster", cluster._processes.scheduler_file)
    assert work["searches"] == 3
    assert (code, "cluster: 2 workers" in errors) == (0, True)
    assert (here / "many.txt").read_text() == (here / "one.txt").read_text()
