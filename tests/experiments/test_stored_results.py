"""Results of experiments are read back from their folders, and folders that are not as expected are refused."""

import json

import pytest

from searchlab.errors import SettingError, SourceError
from searchlab.experiments.experiment import run_experiment
from searchlab.experiments.inputs import make_inputs
from searchlab.experiments.stored_results import read_experiment
from searchlab.experiments.system_plans import plan_systems
from searchlab.records import Topic
from searchlab.retrieval.engine import SearchEngine
from tests.web.judged_app import title_documents, title_grades

TOPICS = [Topic(str(number), f"w{number}") for number in range(6)]


@pytest.fixture(scope="module")
def stored(build, tmp_path_factory):
    home = tmp_path_factory.mktemp("stored")
    plan = plan_systems("BM25F > BM25?", home / "it.experiments" / "one", ["bm25", "bm25f"], [], ["nDCG@10", "AP"])
    with SearchEngine(build(title_documents(6), folder=home / "it")) as engine:
        grades = {topic.qid: title_grades(topic.qid) for topic in TOPICS}
        return run_experiment(plan, inputs=make_inputs(engine, TOPICS, grades, plan), n_jobs=1).folder


def test_what_was_written_is_read(stored):
    experiment = read_experiment(stored)
    assert (experiment.name, experiment.title, experiment.index) == ("one", "BM25F > BM25?", "it")
    assert experiment.topics == {topic.qid: topic.text for topic in TOPICS}
    assert [system.name for system in experiment.systems] == ["BM25", "BM25F"]
    baseline, other = experiment.systems
    of_topics = [values["BM25F"]["AP"] for values in experiment.values.values()]
    assert other.means["AP"] == pytest.approx(sum(of_topics) / 6)
    assert (baseline.significance, other.significance) == ({}, {"nDCG@10": 0, "AP": 0})
    # Each of the eight documents of a topic has its word.
    assert len(experiment.ranking(other, "3", 10)) == 8
    assert all(docno.startswith("3-") for docno in experiment.ranking(other, "3", 3))
    assert experiment.ranking(other, "none", 3) == []
    assert experiment.figure("means").startswith("<svg")
    assert experiment.figure("../manifest") is None


@pytest.mark.parametrize(("difference", "expected"), [(0.25, 1), (-0.25, -1)])
def test_significant_differences_have_a_direction(stored, tmp_path, difference, expected):
    manifest = json.loads((stored / "manifest.json").read_text())
    manifest["systems"][1]["against_baseline"]["AP"] |= {"significant": True, "difference": difference}
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    assert read_experiment(tmp_path).systems[1].significance == {"nDCG@10": 0, "AP": expected}


@pytest.mark.parametrize(
    "changes",
    [
        {"title": 7},
        {"systems": [{"name": "BM25"}]},
        {"systems": {}},
        {"topics": {"1": 2}},
        {"plan": None},
        {"times": {"started": "a\nb"}},
    ],
)
def test_a_manifest_that_is_not_as_expected_is_refused(stored, tmp_path, changes):
    manifest = json.loads((stored / "manifest.json").read_text())
    (tmp_path / "manifest.json").write_text(json.dumps(manifest | changes))
    if changes == {"systems": {}}:
        assert read_experiment(tmp_path).systems == ()
        return
    with pytest.raises(SourceError, match="not the manifest of an experiment"):
        read_experiment(tmp_path)


def test_values_of_topics_that_are_no_numbers_are_refused(stored, tmp_path):
    (tmp_path / "manifest.json").write_text((stored / "manifest.json").read_text())
    (tmp_path / "per-query.csv").write_text("qid,fold,system,nDCG@10,AP\n1,1,BM25,much,0.5\n")
    with pytest.raises(SourceError, match="expected columns qid, system, nDCG@10, AP"):
        _ = read_experiment(tmp_path).values
    with pytest.raises(SourceError, match="found no manifest"):
        read_experiment(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("systems", "rankers", "measures", "message"),
    [
        (["bm25"], [], ["AP"], "found 1 systems"),
        (["bm52", "bm25"], [], ["AP"], "did you mean bm25"),
        (["bm25", "model:mine"], [], ["AP"], "found a trained model"),
        (["bm25"], ["linear"], ["AP"], "unknown ranker 'linear'"),
        (["bm25", "jm"], [], ["APP"], "APP"),
        (["bm25", "jm"], [], [], "found no measures"),
    ],
)
def test_plans_of_unknown_systems_are_refused(tmp_path, systems, rankers, measures, message):
    with pytest.raises(SettingError, match=message):
        plan_systems("title", tmp_path, systems, rankers, measures)


def test_a_plan_has_settings_and_expansion_of_its_names(tmp_path):
    plan = plan_systems("title", tmp_path, ["bm25:k1=0.9+rm3"], ["softmax"], ["AP"])
    scorer, ranker = plan.systems
    assert (scorer.scorer, dict(scorer.settings), scorer.expansion is not None) == ("bm25", {"k1": "0.9"}, True)
    assert (ranker.recipe.ranker_name, plan.measures, plan.baseline) == ("softmax", ("AP",), "bm25:k1=0.9+rm3")
