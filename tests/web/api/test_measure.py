"""Are rankers measured on what was judged, compared, and is a model that has learnt from it told apart?"""

import json
import shutil
from dataclasses import replace

import pytest

from searchlab.errors import SettingError
from searchlab.evaluation.run_evaluation import evaluate_run
from searchlab.judgments.judgment_store import judgments_file
from searchlab.rankers.bundle import load_bundle
from searchlab.records import Ranking, Topic
from searchlab.web.api import collection_topics as own_module
from searchlab.web.api import measure as measure_api
from searchlab.web.api import pool, topic_rankings
from searchlab.web.api.collection_topics import Own, has_learnt_from
from searchlab.web.http_errors import Failure
from searchlab.web.jobs.training_process import Lesson, learn
from searchlab.web.limits import Limits
from searchlab.web.state.open_indexes import models_folder
from tests.web.judged_app import N_TOPICS, judge_topics, make_desk, title_documents, title_grades


@pytest.fixture(scope="module")
def folder(build):
    return build(title_documents())


@pytest.fixture(scope="module")
def model(folder):
    """What was learnt from the first ten topics."""
    made = []
    topics, qrels = ({str(n): own(n) for n in range(10)} for own in ("w{}".format, title_grades))
    lesson = Lesson(str(folder), "", "mine", topics, qrels, ranker="rsvm", features="table1", k=20)
    learn(lesson, lambda *step: None, made.append)
    return made[0]


@pytest.fixture
def desk(folder, tmp_path):
    made = make_desk(folder, reports_folder=tmp_path)
    yield made
    made.close()
    for path in folder.parent.glob(f"{judgments_file(folder).name}*"):
        path.unlink()
    shutil.rmtree(models_folder(folder), ignore_errors=True)


def add(folder, bundle, name="learnt"):
    models_folder(folder).mkdir(exist_ok=True)
    bundle.save(models_folder(folder) / f"{name}.json")


def measure(desk, set="mine", **settings):
    return measure_api.measure(desk, index=None, set=set, **settings)


# Measures.


def test_rankers_are_measured_as_runs_are(desk):
    judge_topics(desk)
    found = measure(desk, rankers=["bm25", "dirichlet+rm3"], measures=["AP", "nDCG@10"])
    assert (found["index"], found["set"], found["measures"]) == ("it", "mine", ["AP", "nDCG@10"])
    qrels = {str(n): title_grades(n) for n in range(N_TOPICS)}
    opened = desk.shelf.get(None)
    for name, told in zip(("bm25", "dirichlet+rm3"), found["rankers"], strict=True):
        system = opened.system(name)
        hits = {qid: system.search(f"w{qid}", k=1000, syntax="plain") for qid in qrels}
        run = [Ranking(qid, own.docnos, own.scores.tolist()) for qid, own in hits.items()]
        expected = evaluate_run(qrels, run, ["AP", "nDCG@10", "Judged@10"])
        assert told["means"] == {"AP": expected.mean("AP"), "nDCG@10": expected.mean("nDCG@10")}
        assert told["judged"] == expected.mean("Judged@10")
        assert (told["name"], told["label"], told["kind"]) == (name, system.label, "scorer")
        assert (told["learnt_from_these"], told["cross_validated"]) == (False, None)
        values = {topic["qid"]: topic["values"][name] for topic in found["topics"]}
        assert values == dict(zip(expected.qids, expected.of("AP").tolist(), strict=True))
    json.dumps(found)


def test_topics_stand_by_how_much_is_gained(desk):
    judge_topics(desk)
    found = measure(desk, rankers=["bm25", "tfidf"], measures=["AP"])
    assert (found["baseline"], found["against"]) == ("bm25", "tfidf")
    differences = [topic["difference"] for topic in found["topics"]]
    assert differences == [topic["values"]["tfidf"] - topic["values"]["bm25"] for topic in found["topics"]]
    assert differences == sorted(differences, reverse=True)
    assert {topic["text"] for topic in found["topics"]} == {f"w{n}" for n in range(N_TOPICS)}


def test_which_differences_are_told_can_be_chosen(desk):
    judge_topics(desk)
    rankers = ["bm25", "tfidf", "jm"]
    found = measure(desk, rankers=rankers, measures=["AP"], against="jm")
    assert found["against"] == "jm"
    assert all(each["difference"] == each["values"]["jm"] - each["values"]["bm25"] for each in found["topics"])
    best = measure(desk, rankers=rankers, measures=["AP"])
    means = {each["name"]: each["means"]["AP"] for each in best["rankers"]}
    assert means[best["against"]] == max(means["tfidf"], means["jm"])
    with pytest.raises(SettingError, match="'dirichlet'"):
        measure(desk, rankers=rankers, against="dirichlet")


def test_wins_and_losses_are_counted_and_tested(desk):
    judge_topics(desk, grades=lambda qid: {f"{qid}-bad7": 2, f"{qid}-bad6": 1, f"{qid}-good1": 0})
    found = measure(desk, rankers=["bm25", "jm", "bm25:k1=0.9"], measures=["AP"])
    assert [each["name"] for each in found["comparisons"]] == ["jm", "bm25:k1=0.9"]
    for told in found["comparisons"]:
        differences = [topic["values"][told["name"]] - topic["values"]["bm25"] for topic in found["topics"]]
        assert told["wins"] == sum(each > 1e-12 for each in differences)
        assert told["losses"] == sum(each < -1e-12 for each in differences)
        assert told["ties"] == N_TOPICS - told["wins"] - told["losses"]
        assert told["difference"] == pytest.approx(sum(differences) / N_TOPICS)
        assert 0 <= told["p"] <= 1
    assert found["comparisons"][0]["sentence"].startswith("Jelinek–Mercer ")
    assert " BM25 " in found["comparisons"][1]["sentence"]


def test_p_is_corrected_for_several_comparisons(desk):
    judge_topics(desk)
    pairs = [measure(desk, rankers=["bm25", name], measures=["AP"])["comparisons"][0] for name in ("jm", "tfidf")]
    both = measure(desk, rankers=["bm25", "jm", "tfidf"], measures=["AP"])["comparisons"]
    assert min(each["p"] for each in both) == min(1.0, 2 * min(each["p"] for each in pairs))


def test_one_ranker_alone_is_measured(desk):
    judge_topics(desk, n_topics=2)
    found = measure(desk, rankers=["bm25"])
    assert (found["baseline"], found["against"], found["comparisons"]) == ("bm25", None, [])
    assert [topic["difference"] for topic in found["topics"]] == [0, 0]


def test_judgments_of_one_judge_are_measured_by(desk):
    judge_topics(desk, n_topics=3)
    judge_topics(desk, n_topics=1, judge="bob", grades=lambda qid: {"0-bad7": 1})
    assert measure(desk, judge="bob")["n_topics"] == 1
    assert measure(desk, judge="ann")["n_topics"] == 3
    # Of two judges, the lower grade counts: what only one calls relevant is judged by one.
    assert desk.store(None).grades("mine")["0"]["0-bad7"] == 1
    assert (measure(desk)["judge"], measure(desk, judge="bob")["judge"]) == ("", "bob")


def test_topics_that_are_not_judged_do_not_count(desk):
    judge_topics(desk, n_topics=3, grades=lambda qid: {f"{qid}-bad4": int(qid != "1")})
    desk.store(None).add_topic("mine", "w9", "9")
    found = measure(desk, rankers=["bm25"])
    assert (found["n_topics"], found["n_without_relevant"], found["n_unjudged_topics"]) == (3, 1, 1)


def test_without_judgments_nothing_is_measured(desk):
    desk.store(None).add_topic("mine", "w9", "9")
    found = measure(desk)
    assert (found["n_topics"], found["rankers"], found["comparisons"], found["topics"]) == (0, [], [], [])
    with pytest.raises(Failure, match="no set of topics 'none'") as refused:
        measure(desk, set="none")
    assert refused.value.status == 404


@pytest.mark.parametrize("measures", [["NumRel"], ["GMAP"], ["nonsense"], ["AP", "nDGC@10"]])
def test_only_means_are_compared(desk, measures):
    judge_topics(desk, n_topics=2)
    with pytest.raises(SettingError):
        measure(desk, measures=measures)


# Models, and what they have seen.


def test_a_model_that_has_learnt_from_these_topics_is_told_apart(desk, folder, model):
    judge_topics(desk, n_topics=10)
    add(folder, model)
    found = measure(desk)
    assert [each["name"] for each in found["rankers"]] == ["bm25", "bm25+rm3", "model:learnt"]
    learnt = found["rankers"][-1]
    assert learnt["learnt_from_these"]
    assert learnt["cross_validated"] == {name: model.trial["means"]["rsvm"][name] for name in found["measures"]}
    told = found["comparisons"][-1]
    assert told["name"] == "model:learnt"
    assert told["p"] is None
    assert told["sentence"] == (
        "learnt (rsvm) has learnt from these topics, so that measuring it by them is no test; its cross-validation "
        f"says: {model.trial['verdict']}"
    )
    assert found["against"] == "bm25+rm3"
    # It does not count in the correction of the others.
    alone = measure(desk, rankers=["bm25", "bm25+rm3"])
    assert found["comparisons"][0] == alone["comparisons"][0]


def test_cross_validation_by_other_topics_or_judgments_does_not_stand_beside_these_means(desk, folder, model):
    add(folder, model)
    judge_topics(desk, n_topics=10)
    validated = model.trial["means"]["rsvm"]["AP"]

    def measured(**options):
        found = measure(desk, rankers=["bm25", "model:learnt"], measures=["AP"], **options)
        return found["rankers"][1]["cross_validated"], found["comparisons"][0]["sentence"]

    assert measured()[0] == {"AP": pytest.approx(validated)}
    # A topic that was not learnt from, as nothing is relevant to it, scores 0 by any ranker.
    store = desk.store(None)
    store.import_all("mine", [Topic("none", "w11")], {"none": {"11-bad4": 0}}, judge="ann")
    assert measured()[0] == {"AP": pytest.approx(validated * 10 / 11)}
    # By another judgment, another topic, or another judge the others have other means.
    store.judge("mine", "3", "3-bad5", judge="ann", grade=1)
    then, told = measured()
    assert then is None
    assert f"its cross-validation, by the topics and judgments of then, says: {model.trial['verdict']}" in told
    store.undo("ann")
    assert measured()[0] is not None
    store.judge("mine", "3", "3-bad5", judge="bob", grade=1)
    assert measured(judge="bob")[0] is None
    store.undo("bob")
    store.import_all("mine", [Topic("more", "w10")], {"more": title_grades(10)}, judge="ann")
    assert measured()[0] is None


def test_a_difference_that_is_rounding_is_none():
    assert measure_api._difference(0.1 + 0.2, 0.3) == 0
    assert measure_api._difference(0.3, 0.1) == pytest.approx(0.2)


def test_a_model_that_has_not_seen_these_topics_is_compared(desk, folder, model):
    store = desk.store(None)
    store.import_all("new", [Topic(str(n), f"w{n}") for n in (10, 11)], {"10": title_grades(10)}, judge="ann")
    store.judge("new", "11", "11-good0", judge="ann", grade=1)
    add(folder, model)
    found = measure(desk, "new", rankers=["bm25", "model:learnt"], measures=["AP"])
    assert not found["rankers"][1]["learnt_from_these"]
    assert found["rankers"][1]["means"]["AP"] > found["rankers"][0]["means"]["AP"]
    assert found["comparisons"][0]["sentence"].startswith("learnt (rsvm) is better than BM25 on 2 of 2 topics")
    assert found["comparisons"][0]["p"] is not None


def test_what_to_judge_next_says_who_has_learnt_from_the_topics(desk, folder, model):
    add(folder, model)
    judge_topics(desk, n_topics=2)
    desk.store(None).add_topic("new", "w10", "10")
    asked = {"index": None, "left": "bm25", "right": "model:learnt"}
    found = pool.what_next(desk, **asked, set="mine")
    assert (found["left"]["learnt_from_these"], found["right"]["learnt_from_these"]) == (False, True)
    assert not pool.what_next(desk, **asked, set="new")["right"]["learnt_from_these"]


def test_the_words_of_topics_tell_not_the_name_of_the_set(desk, folder, model):
    desk.store(None).import_all("other", [Topic("x", " W3 ")], {"x": title_grades(3)}, judge="ann")
    add(folder, model)
    assert measure(desk, "other", rankers=["bm25", "model:learnt"])["rankers"][1]["learnt_from_these"]


def test_a_baseline_has_not_learnt_from_these_topics(desk, folder, model):
    judge_topics(desk)
    add(folder, model)
    assert measure(desk, rankers=["model:learnt", "jm"])["baseline"] == "jm"
    add(folder, model, "again")
    found = measure(desk, rankers=["model:learnt", "model:again"])
    assert (found["baseline"], found["comparisons"][0]["p"]) == ("model:learnt", None)


def test_without_cross_validation_nothing_is_claimed(desk, folder, model):
    judge_topics(desk)
    add(folder, replace(model, trial=None))
    found = measure(desk, rankers=["bm25", "model:learnt"])
    assert found["rankers"][1]["cross_validated"] is None
    assert found["comparisons"][0]["sentence"].endswith("measuring it by them is no test.")


def test_models_of_former_versions_say_whether_topics_were_those_of_the_collection(desk, folder, model, monkeypatch):
    judge_topics(desk)
    training = {name: value for name, value in model.training.items() if name != "topics"}
    opened, topics = desk.shelf.get(None), [Topic("1", "w1")]
    own = replace(model, training=training | {"source": "topics of its collection, judgments of its collection"})
    monkeypatch.setattr(own_module, "own_topics", lambda opened: Own((Topic("7", "W1"),), {}))
    assert has_learnt_from(opened, own, topics)
    assert not has_learnt_from(opened, own, [Topic("1", "w2")])
    assert not has_learnt_from(opened, replace(own, training=own.training | {"index": None}), topics)
    assert not has_learnt_from(opened, replace(own, training=training | {"source": "topics x"}), topics)


# What is remembered, and what takes too long.


def test_an_answer_is_remembered_until_something_changes(desk, folder, model, monkeypatch):
    judge_topics(desk)
    add(folder, model)
    n = []
    evaluate = measure_api.evaluate_run
    monkeypatch.setattr(measure_api, "evaluate_run", lambda *a, **k: n.append(1) or evaluate(*a, **k))
    first = measure(desk, rankers=["bm25"])
    assert measure(desk, rankers=["bm25"]) == first
    assert len(n) == 1
    first["rankers"].clear()
    assert len(measure(desk, rankers=["bm25"])["rankers"]) == 1
    desk.store(None).judge("mine", "0", "0-bad7", judge="ann", grade=1)
    assert measure(desk, rankers=["bm25"])["rankers"][0]["judged"] > 0
    assert len(n) == 2
    before = measure(desk, rankers=["bm25", "model:learnt"])["rankers"][1]["means"]
    weights = load_bundle(models_folder(folder) / "learnt.json").model
    add(folder, replace(model, model=replace(weights, weights=-weights.weights)))
    assert measure(desk, rankers=["bm25", "model:learnt"])["rankers"][1]["means"] != before


def test_what_takes_too_long_is_given_up_and_goes_on_the_next_time(desk, monkeypatch):
    judge_topics(desk)
    now = [0.0]
    monkeypatch.setattr(topic_rankings.time, "monotonic", lambda: now[0])
    rank = topic_rankings.rank_topic
    seen = set()

    def slowly(opened, name, topic, depth):
        now[0] += 0.0 if topic.qid in seen else 1.0
        seen.add(topic.qid)
        return rank(opened, name, topic, depth)

    monkeypatch.setattr(topic_rankings, "rank_topic", slowly)
    object.__setattr__(desk, "limits", Limits(seconds_slow=10.0))
    with pytest.raises(Failure, match="9 of 12 rankings are done, ask again") as refused:
        measure(desk, rankers=["bm25"])
    assert refused.value.status == 503
    assert measure(desk, rankers=["bm25"])["n_topics"] == 12


def test_of_very_many_topics_the_first_are_measured(desk, monkeypatch):
    judge_topics(desk)
    monkeypatch.setattr(measure_api, "MOST_TOPICS", 5)
    found = measure(desk, rankers=["bm25"])
    assert (found["n_topics"], found["n_left_out"]) == (5, 7)
    assert sorted(topic["qid"] for topic in found["topics"]) == list("01234")


def test_reports_of_experiments_are_listed_with_their_titles(desk, tmp_path):
    judge_topics(desk, n_topics=2)
    for name, text in (("b", "<html><title>Stopping &amp; stemming</title>"), ("a", "no title")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "report.html").write_text(text)
    expected = [{"name": "a", "title": "a"}, {"name": "b", "title": "Stopping & stemming"}]
    assert measure(desk)["reports"] == expected
    shutil.rmtree(tmp_path / "a")
    assert measure(desk)["reports"] == expected[1:]
