"""Systems are measured on judged topics and compared; models that have learnt from these topics are marked."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from searchlab.errors import SettingError
from searchlab.evaluation.run_evaluation import evaluate_run
from searchlab.rankers.bundle import load_bundle
from searchlab.rankers.model_store.model_files import models_folder
from searchlab.rankers.model_store.model_history import StoredModel
from searchlab.records import Ranking, Topic
from searchlab.web.api.judging import pool
from searchlab.web.api.measuring import collection_topics as collection_topics_module
from searchlab.web.api.measuring import measure as measure_api
from searchlab.web.api.measuring import topic_rankings
from searchlab.web.api.measuring.collection_topics import CollectionTopics, has_learnt_from
from searchlab.web.http_errors import HttpError
from searchlab.web.jobs.training_process import TrainingTask, train_model
from searchlab.web.limits import Limits
from searchlab.web.state.request_state import RequestState
from tests.web.judged_app import N_TOPICS, judge_topics, title_grades


@pytest.fixture(scope="module")
def model(folder):
    """A model trained on the first ten topics."""
    made = []
    topics, qrels = ({str(n): make(n) for n in range(10)} for make in ("w{}".format, title_grades))
    task = TrainingTask(str(folder), "", "mine", topics, qrels, ranker="rsvm", features="table1", k=20)

    def keep(bundle):
        made.append(bundle)
        return StoredModel(Path(), True, None)

    train_model(task, lambda *step: None, keep)
    return made[0]


def add(folder, bundle, name="learnt"):
    models_folder(folder).mkdir(exist_ok=True)
    bundle.save(models_folder(folder) / f"{name}.json")


def measure(app_state, topic_set="mine", **settings):
    return measure_api.measure_systems(RequestState(app_state), topic_set=topic_set, **settings)


# Measures


def test_systems_are_measured_as_runs_are(app_state):
    judge_topics(app_state)
    found = measure(app_state, systems=["bm25", "dirichlet+rm3"], measures=["AP", "nDCG@10"])
    assert (found["index"], found["topic_set"], found["measures"]) == ("it", "mine", ["AP", "nDCG@10"])
    qrels = {str(n): title_grades(n) for n in range(N_TOPICS)}
    opened = app_state.indexes.get()
    for name, record in zip(("bm25", "dirichlet+rm3"), found["systems"], strict=True):
        system = opened.system(name)
        hits = {qid: system.search(f"w{qid}", k=1000, syntax="plain") for qid in qrels}
        run = [Ranking(qid, found.docnos, found.scores.tolist()) for qid, found in hits.items()]
        expected = evaluate_run(qrels, run, ["AP", "nDCG@10", "Judged@10"])
        assert record["means"] == {"AP": expected.mean("AP"), "nDCG@10": expected.mean("nDCG@10")}
        assert record["judged"] == expected.mean("Judged@10")
        assert (record["name"], record["label"], record["kind"]) == (name, system.label, "scorer")
        assert (record["learnt_from_these"], record["cross_validated"]) == (False, None)
        values = {topic["qid"]: topic["values"][name] for topic in found["topics"]}
        assert values == dict(zip(expected.qids, expected.values_of("AP").tolist(), strict=True))
    json.dumps(found)


def test_topics_are_sorted_by_gain(app_state):
    judge_topics(app_state)
    found = measure(app_state, systems=["bm25", "tfidf"], measures=["AP"])
    assert (found["baseline"], found["against"]) == ("bm25", "tfidf")
    differences = [topic["difference"] for topic in found["topics"]]
    assert differences == [topic["values"]["tfidf"] - topic["values"]["bm25"] for topic in found["topics"]]
    assert differences == sorted(differences, reverse=True)
    assert {topic["text"] for topic in found["topics"]} == {f"w{n}" for n in range(N_TOPICS)}


def test_the_system_compared_topic_by_topic_can_be_chosen(app_state):
    judge_topics(app_state)
    systems = ["bm25", "tfidf", "jm"]
    found = measure(app_state, systems=systems, measures=["AP"], against="jm")
    assert found["against"] == "jm"
    assert all(each["difference"] == each["values"]["jm"] - each["values"]["bm25"] for each in found["topics"])
    best = measure(app_state, systems=systems, measures=["AP"])
    means = {each["name"]: each["means"]["AP"] for each in best["systems"]}
    assert means[best["against"]] == max(means["tfidf"], means["jm"])
    with pytest.raises(SettingError, match="'dirichlet'"):
        measure(app_state, systems=systems, against="dirichlet")


def test_the_baseline_can_be_chosen_or_be_the_best_that_learns_nothing(app_state, folder, model):
    judge_topics(app_state)
    add(folder, model)
    systems = ["jm", "bm25", "tfidf", "model:learnt"]
    found = measure(app_state, systems=systems, measures=["AP"], baseline="best")
    means = {each["name"]: each["means"]["AP"] for each in found["systems"]}
    assert means["model:learnt"] > max(means[name] for name in systems[:3])  # it does not count
    assert means[found["baseline"]] == max(means[name] for name in systems[:3])
    chosen = measure(app_state, systems=systems, measures=["AP"], baseline="tfidf")
    assert chosen["baseline"] == "tfidf"
    assert {each["name"] for each in chosen["comparisons"]} == {"jm", "bm25", "model:learnt"}
    assert measure(app_state, systems=["model:learnt"], baseline="best")["baseline"] == "model:learnt"
    with pytest.raises(SettingError, match="'dirichlet'"):
        measure(app_state, systems=systems, baseline="dirichlet")


def test_wins_and_losses_are_counted_and_tested(app_state):
    judge_topics(app_state, grades=lambda qid: {f"{qid}-bad7": 2, f"{qid}-bad6": 1, f"{qid}-good1": 0})
    found = measure(app_state, systems=["bm25", "jm", "bm25:k1=0.9"], measures=["AP"])
    assert [each["name"] for each in found["comparisons"]] == ["jm", "bm25:k1=0.9"]
    for record in found["comparisons"]:
        differences = [topic["values"][record["name"]] - topic["values"]["bm25"] for topic in found["topics"]]
        assert record["wins"] == sum(each > 1e-12 for each in differences)
        assert record["losses"] == sum(each < -1e-12 for each in differences)
        assert record["ties"] == N_TOPICS - record["wins"] - record["losses"]
        assert record["difference"] == pytest.approx(sum(differences) / N_TOPICS)
        assert 0 <= record["p"] <= 1
    assert found["comparisons"][0]["sentence"].startswith("Jelinek–Mercer ")
    assert " BM25 " in found["comparisons"][1]["sentence"]


def test_p_is_corrected_for_several_comparisons(app_state):
    judge_topics(app_state)
    pairs = [measure(app_state, systems=["bm25", name], measures=["AP"])["comparisons"][0] for name in ("jm", "tfidf")]
    both = measure(app_state, systems=["bm25", "jm", "tfidf"], measures=["AP"])["comparisons"]
    assert min(each["p"] for each in both) == min(1.0, 2 * min(each["p"] for each in pairs))


def test_a_single_system_is_measured(app_state):
    judge_topics(app_state, n_topics=2)
    found = measure(app_state, systems=["bm25"])
    assert (found["baseline"], found["against"], found["comparisons"]) == ("bm25", None, [])
    assert [topic["difference"] for topic in found["topics"]] == [0, 0]


def test_systems_are_measured_by_the_judgments_of_one_judge(app_state):
    judge_topics(app_state, n_topics=3)
    judge_topics(app_state, n_topics=1, judge="bob", grades=lambda qid: {"0-bad7": 1})
    assert measure(app_state, judge="bob")["n_topics"] == 1
    assert measure(app_state, judge="ann")["n_topics"] == 3
    # Of two judges, the lower grade counts; this document has only one judge.
    assert app_state.judgments().grades("mine")["0"]["0-bad7"] == 1
    assert (measure(app_state)["judge"], measure(app_state, judge="bob")["judge"]) == ("", "bob")


def test_topics_that_are_not_judged_do_not_count(app_state):
    judge_topics(app_state, n_topics=3, grades=lambda qid: {f"{qid}-bad4": int(qid != "1")})
    app_state.judgments().add_topic("mine", "w9", "9")
    found = measure(app_state, systems=["bm25"])
    assert (found["n_topics"], found["n_without_relevant"], found["n_unjudged_topics"]) == (3, 1, 1)


def test_without_judgments_nothing_is_measured(app_state):
    app_state.judgments().add_topic("mine", "w9", "9")
    found = measure(app_state)
    assert (found["n_topics"], found["systems"], found["comparisons"], found["topics"]) == (0, [], [], [])
    with pytest.raises(HttpError, match="no topic set 'none'") as error:
        measure(app_state, topic_set="none")
    assert error.value.status == 404


@pytest.mark.parametrize("measures", [["NumRel"], ["GMAP"], ["nonsense"], ["AP", "nDGC@10"]])
def test_only_means_are_compared(app_state, measures):
    judge_topics(app_state, n_topics=2)
    with pytest.raises(SettingError):
        measure(app_state, measures=measures)


# Models that have learnt from the topics


def test_a_model_that_has_learnt_from_these_topics_is_marked(app_state, folder, model):
    judge_topics(app_state, n_topics=10)
    add(folder, model)
    found = measure(app_state)
    assert [each["name"] for each in found["systems"]] == ["bm25", "bm25+rm3", "model:learnt"]
    learnt = found["systems"][-1]
    assert learnt["learnt_from_these"]
    assert learnt["cross_validated"] == {name: model.trial["means"]["rsvm, tuned"][name] for name in found["measures"]}
    record = found["comparisons"][-1]
    assert record["name"] == "model:learnt"
    assert record["p"] is None
    assert record["sentence"] == (
        "learnt (rsvm, tuned) has learnt from these topics, so measuring it on them is no test; its cross-validation "
        f"says: {model.trial['verdict']}"
    )
    # Topic by topic, its values are those of cross-validation, too: the best of the fair ones is compared.
    assert (learnt["held_out"], found["against"]) == (True, "model:learnt")
    held_out = dict(zip(model.trial["held_out"]["qids"], model.trial["held_out"]["values"]["rsvm, tuned"], strict=True))
    assert {topic["qid"]: topic["values"]["model:learnt"] for topic in found["topics"]} == held_out
    # It does not take part in the correction of the others.
    alone = measure(app_state, systems=["bm25", "bm25+rm3"])
    assert found["comparisons"][0] == alone["comparisons"][0]


def test_cross_validation_on_other_topics_or_judgments_is_not_shown_beside_these_means(app_state, folder, model):
    add(folder, model)
    judge_topics(app_state, n_topics=10)
    validated = model.trial["means"]["rsvm, tuned"]["AP"]

    def measured(**options):
        found = measure(app_state, systems=["bm25", "model:learnt"], measures=["AP"], **options)
        return found["systems"][1]["cross_validated"], found["comparisons"][0]["sentence"]

    assert measured()[0] == {"AP": pytest.approx(validated)}
    # A topic without relevant documents was not trained on; every system scores 0 on it.
    store = app_state.judgments()
    store.import_judgments("mine", [Topic("none", "w11")], {"none": {"11-bad4": 0}}, judge="ann")
    assert measured()[0] == {"AP": pytest.approx(validated * 10 / 11)}
    # With another judgment, topic or judge the other systems have other means.
    store.judge("mine", "3", "3-bad5", judge="ann", grade=1)
    means, sentence = measured()
    assert means is None
    assert f"its cross-validation, on the topics and judgments of that time, says: {model.trial['verdict']}" in sentence
    store.undo("ann")
    assert measured()[0] is not None
    store.judge("mine", "3", "3-bad5", judge="bob", grade=1)
    assert measured(judge="bob")[0] is None
    store.undo("bob")
    store.import_judgments("mine", [Topic("more", "w10")], {"more": title_grades(10)}, judge="ann")
    assert measured()[0] is None


def test_a_difference_within_rounding_is_zero():
    assert measure_api._difference(0.1 + 0.2, 0.3) == 0
    assert measure_api._difference(0.3, 0.1) == pytest.approx(0.2)


def test_a_model_that_has_not_seen_these_topics_is_compared(app_state, folder, model):
    store = app_state.judgments()
    store.import_judgments("new", [Topic(str(n), f"w{n}") for n in (10, 11)], {"10": title_grades(10)}, judge="ann")
    store.judge("new", "11", "11-good0", judge="ann", grade=1)
    add(folder, model)
    found = measure(app_state, "new", systems=["bm25", "model:learnt"], measures=["AP"])
    assert not found["systems"][1]["learnt_from_these"]
    assert found["systems"][1]["means"]["AP"] > found["systems"][0]["means"]["AP"]
    assert found["comparisons"][0]["sentence"].startswith("learnt (rsvm, tuned) is better than BM25 on 2 of 2 topics")
    assert found["comparisons"][0]["p"] is not None


def test_documents_to_judge_next_say_which_system_has_learnt_from_the_topics(app_state, folder, model):
    add(folder, model)
    judge_topics(app_state, n_topics=2)
    app_state.judgments().add_topic("new", "w10", "10")
    systems = {"left": "bm25", "right": "model:learnt"}
    found = pool.list_next_documents(RequestState(app_state), **systems, topic_set="mine")
    assert (found["left"]["learnt_from_these"], found["right"]["learnt_from_these"]) == (False, True)
    new = pool.list_next_documents(RequestState(app_state), **systems, topic_set="new")
    assert not new["right"]["learnt_from_these"]


def test_learnt_topics_are_recognised_by_their_texts(app_state, folder, model):
    app_state.judgments().import_judgments("other", [Topic("x", " W3 ")], {"x": title_grades(3)}, judge="ann")
    add(folder, model)
    assert measure(app_state, "other", systems=["bm25", "model:learnt"])["systems"][1]["learnt_from_these"]


def test_a_baseline_has_not_learnt_from_these_topics(app_state, folder, model):
    judge_topics(app_state)
    add(folder, model)
    assert measure(app_state, systems=["model:learnt", "jm"])["baseline"] == "jm"
    add(folder, model, "again")
    found = measure(app_state, systems=["model:learnt", "model:again"])
    assert (found["baseline"], found["comparisons"][0]["p"]) == ("model:learnt", None)


def test_without_cross_validation_nothing_is_claimed(app_state, folder, model):
    judge_topics(app_state)
    add(folder, replace(model, trial=None))
    found = measure(app_state, systems=["bm25", "model:learnt"])
    assert found["systems"][1]["cross_validated"] is None
    assert found["comparisons"][0]["sentence"].endswith("measuring it on them is no test.")


def test_models_of_earlier_versions_may_have_learnt_from_the_collection(app_state, folder, model, monkeypatch):
    judge_topics(app_state)
    training = {name: value for name, value in model.training.items() if name != "topics"}
    opened, topics = app_state.indexes.get(), [Topic("1", "w1")]
    earlier = replace(model, training=training | {"source": "topics of its collection, judgments of its collection"})
    monkeypatch.setattr(
        collection_topics_module, "own_topics", lambda opened: CollectionTopics((Topic("7", "W1"),), {})
    )
    assert has_learnt_from(opened, earlier, topics)
    assert not has_learnt_from(opened, earlier, [Topic("1", "w2")])
    assert not has_learnt_from(opened, replace(earlier, training=earlier.training | {"index": None}), topics)
    assert not has_learnt_from(opened, replace(earlier, training=training | {"source": "topics x"}), topics)


# Cached answers and time limits


def test_an_answer_is_cached_until_something_changes(app_state, folder, model, monkeypatch):
    judge_topics(app_state)
    add(folder, model)
    n = []
    evaluate = measure_api.evaluate_run  # type: ignore[attr-defined]
    monkeypatch.setattr(measure_api, "evaluate_run", lambda *a, **k: n.append(1) or evaluate(*a, **k))  # type: ignore[func-returns-value]
    first = measure(app_state, systems=["bm25"])
    assert measure(app_state, systems=["bm25"]) == first
    assert len(n) == 1
    first["systems"].clear()
    assert len(measure(app_state, systems=["bm25"])["systems"]) == 1
    app_state.judgments().judge("mine", "0", "0-bad7", judge="ann", grade=1)
    assert measure(app_state, systems=["bm25"])["systems"][0]["judged"] > 0
    assert len(n) == 2
    before = measure(app_state, systems=["bm25", "model:learnt"])["systems"][1]["means"]
    weights = load_bundle(models_folder(folder) / "learnt.json").model
    add(folder, replace(model, model=replace(weights, weights=-weights.weights)))  # type: ignore[attr-defined, type-var]
    assert measure(app_state, systems=["bm25", "model:learnt"])["systems"][1]["means"] != before


def test_a_measurement_that_takes_too_long_is_continued_by_the_next_request(app_state, monkeypatch):
    judge_topics(app_state)
    now = [0.0]
    monkeypatch.setattr(topic_rankings.time, "monotonic", lambda: now[0])  # type: ignore[attr-defined]
    rank = topic_rankings.rank_topic
    seen = set()

    def slowly(state, name, topic, depth):
        now[0] += 0.0 if topic.qid in seen else 1.0
        seen.add(topic.qid)
        return rank(state, name, topic, depth)

    monkeypatch.setattr(topic_rankings, "rank_topic", slowly)
    object.__setattr__(app_state, "limits", Limits(slow_seconds=10.0))
    with pytest.raises(HttpError, match="9 of 12 rankings are done, send the request again") as error:
        measure(app_state, systems=["bm25"])
    assert error.value.status == 503
    assert measure(app_state, systems=["bm25"])["n_topics"] == 12


def test_of_too_many_topics_the_first_are_measured(app_state, monkeypatch):
    judge_topics(app_state)
    monkeypatch.setattr(measure_api, "MAX_TOPICS", 5)
    found = measure(app_state, systems=["bm25"])
    assert (found["n_topics"], found["n_left_out"]) == (5, 7)
    assert sorted(topic["qid"] for topic in found["topics"]) == list("01234")


def test_reports_of_experiments_are_listed_with_their_titles(app_state, tmp_path):
    judge_topics(app_state, n_topics=2)
    for name, text in (("b", "<html><title>Stopping &amp; stemming</title>"), ("a", "no title")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "report.html").write_text(text)
    expected = [
        {"name": "a", "title": "a", "is_experiment": False},
        {"name": "b", "title": "Stopping & stemming", "is_experiment": False},
    ]
    assert measure(app_state)["reports"] == expected
    shutil.rmtree(tmp_path / "a")
    assert measure(app_state)["reports"] == expected[1:]
