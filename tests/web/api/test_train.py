"""Is a model trained on what was judged, told honestly, and there to be searched with?"""

import json
import shutil

import numpy as np
import pytest

from searchlab.features.preprocessing.preprocessor import Preparation
from searchlab.judgments.judgment_store import judgments_file
from searchlab.rankers.bundle import Bundle, load_bundle
from searchlab.rankers.models import LinearModel
from searchlab.web.api import train as train_api
from searchlab.web.api.parameters import read_body
from searchlab.web.api.search import search
from searchlab.web.http_errors import Failure, NotFound
from searchlab.web.jobs.training_jobs import Jobs
from searchlab.web.state.open_indexes import models_folder
from tests.web.judged_app import N_TOPICS, judge_topics, make_desk, title_documents, title_grades

LONG = 60.0
QUICK = {"ranker": "rsvm", "features": "table1", "k": 20}


@pytest.fixture(scope="module")
def folder(build):
    return build(title_documents())


@pytest.fixture
def desk(folder):
    """A desk without judgments and models."""
    made = make_desk(folder)
    yield made
    made.close()
    for path in folder.parent.glob(f"{judgments_file(folder).name}*"):
        path.unlink()
    shutil.rmtree(models_folder(folder), ignore_errors=True)


class Idle(Jobs):
    """Takes down what should be trained."""

    def __init__(self):
        super().__init__(["false"])
        self.lessons = []

    def start(self, index, name, lesson):
        self.lessons.append(lesson)
        return super().start(index, name, lesson)


@pytest.fixture
def idle(desk):
    """A desk at which nothing is trained."""
    object.__setattr__(desk, "jobs", Idle())
    return desk


def train(desk, set="mine", **settings):
    return train_api.train(desk, index=None, set=set, **QUICK | settings)


def refused(status, function, *arguments, **settings):
    with pytest.raises(Failure) as failure:
        function(*arguments, **settings)
    assert failure.value.status == status
    return failure.value.message


# The whole way.


def test_what_was_judged_is_learnt_and_used(desk, folder):
    judge_topics(desk)
    assert train_api.models(desk, index=None) == {"index": "it", "models": []}
    before = search(desk, index=None, q="w3", ranker="bm25", k=3, page=1, filter=[], judge="")
    job = train(desk)
    assert (job["id"], job["index"], job["set"], job["ranker"]) == ("1", "it", "mine", "rsvm")
    assert (job["name"], job["state"], job["error"]) == ("mine-rsvm", "waiting", None)
    desk.jobs.wait("1", LONG)
    ended = train_api.job(desk, id="1")
    assert (ended["state"], ended["error"]) == ("done", None)
    assert ended["advice"]["kind"] == "helps"
    assert ended["advice"]["sentence"].endswith(": use it.")
    assert ended["means"]["rsvm"]["nDCG@10"] > ended["means"]["BM25"]["nDCG@10"]
    assert train_api.jobs(desk) == {"jobs": [ended]}

    (model,) = train_api.models(desk, index=None)["models"]
    assert model == {
        "name": "mine-rsvm",
        "label": "mine-rsvm (rsvm)",
        "ranker": "rsvm",
        "n_topics": N_TOPICS,
        "n_features": 7,
        "set": "mine",
        "verdict": ended["verdict"],
        "helps": True,
        "means": ended["means"],
        "advice": ended["advice"],
        "fits": True,
        "why_not": None,
    }
    assert ("model:mine-rsvm", "mine-rsvm (rsvm)", "model") in desk.shelf.get(None).systems()
    after = search(desk, index=None, q="w3", ranker="model:mine-rsvm", k=3, page=1, filter=[], judge="")
    assert {result["id"] for result in after["results"]} == {"3-good0", "3-good1", "3-good2"}
    assert {result["id"] for result in before["results"]} != {result["id"] for result in after["results"]}
    json.dumps([ended, model])
    assert load_bundle(models_folder(folder) / "mine-rsvm.json").training["source"] == "judgments mine"


def test_a_training_is_cancelled(desk, folder):
    judge_topics(desk)
    job = train(desk, ranker="rankboost")
    with desk.jobs._changed:
        assert desk.jobs._changed.wait_for(lambda: desk.jobs.get(job["id"]).stage == "cross-validating", LONG)
    assert train_api.cancel(desk, id=job["id"])["state"] == "cancelled"
    assert train_api.models(desk, index=None)["models"] == []
    assert not models_folder(folder).exists()


# What is learnt from.


def test_only_topics_with_a_relevant_document_are_learnt_from(idle):
    judge_topics(idle, n_topics=6)
    store = idle.store(None)
    store.add_topic("mine", "w7", "7")
    store.judge("mine", "7", "7-good0", judge="ann", grade=0)
    store.add_topic("mine", "w8", "8")
    train(idle, k=50)
    (lesson,) = idle.jobs.lessons
    assert lesson.topics == {str(n): f"w{n}" for n in range(6)}
    assert lesson.qrels == {str(n): title_grades(n) for n in range(6)}
    assert (lesson.set, lesson.ranker, lesson.features, lesson.k) == ("mine", "rsvm", "table1", 50)


def test_of_several_judges_the_lower_median_is_learnt(idle):
    judge_topics(idle, n_topics=6)
    idle.store(None).judge("mine", "0", "0-good0", judge="bob", grade=0)
    train(idle)
    assert idle.jobs.lessons[0].qrels["0"]["0-good0"] == 0


@pytest.mark.parametrize(("n_topics", "n_more"), [(1, 3), (3, 1)])
def test_too_few_judgments_are_told_before_anything_is_trained(idle, n_topics, n_more):
    judge_topics(idle, n_topics=n_topics)
    told = refused(409, train, idle)
    assert told.startswith(f"Too few judgments: {n_topics} topic")
    assert f"judge {n_more} more topic" in told
    assert f"(about {4 * n_more} judgments at the rate so far)" in told
    assert idle.jobs.lessons == []
    ready = train_api.readiness(idle, index=None, set="mine")
    assert ready["advice"] == {"kind": "too few", "sentence": told, "n_more": n_more}
    assert (ready["n_topics"], ready["n_useful_topics"], ready["n_judgments"]) == (n_topics, n_topics, 4 * n_topics)


def test_enough_judgments_are_ready(desk):
    judge_topics(desk, n_topics=4)
    assert train_api.readiness(desk, index=None, set="mine")["advice"] is None


def test_an_unknown_set_is_not_found(idle):
    assert "no set of topics 'none'" in refused(404, train, idle, set="none")


# Names.


def test_a_model_is_named_after_its_set_unless_it_is_named(idle, folder):
    judge_topics(idle, "Mine / 2!")
    assert train(idle, set="Mine / 2!")["name"] == "Mine-2-rsvm"
    assert train(idle, set="Mine / 2!", name="B.2_c-d")["name"] == "B.2_c-d"
    judge_topics(idle, "…")
    assert train(idle, set="…")["name"] == "rsvm"
    home = models_folder(folder).absolute()
    assert [lesson.output for lesson in idle.jobs.lessons] == [
        str(home / f"{name}.json") for name in ("Mine-2-rsvm", "B.2_c-d", "rsvm")
    ]


@pytest.mark.parametrize("name", ["../x", "a/b", ".hidden", "a b", "ä", "x" * 61, "a\n", "-a", "a:b", "a\\b"])
def test_no_name_leads_elsewhere(idle, name):
    judge_topics(idle)
    assert "name is " in refused(400, train, idle, name=f"{name}x" if name.endswith("\n") else name)
    assert idle.jobs.lessons == []


def constant(features=("letor.both.bm25",), **told) -> Bundle:
    return Bundle("linear", {}, LinearModel(np.ones(len(features))), features, Preparation.named(), **told)


def test_a_model_from_elsewhere_is_not_replaced(idle, folder):
    judge_topics(idle)
    own = folder.with_name(f"{folder.name}.model.json")
    constant().save(own)
    try:
        assert "not trained here" in refused(409, train, idle, name="model")
    finally:
        own.unlink()


def test_a_model_that_was_trained_here_is_replaced(idle, folder):
    judge_topics(idle)
    models_folder(folder).mkdir()
    constant().save(models_folder(folder) / "again.json")
    assert train(idle, name="again")["name"] == "again"


def test_only_what_is_known_can_be_asked_for():
    parameters = next(each.parameters for each in train_api.ENDPOINTS if each.path == "/api/train")
    asked = read_body(parameters, {"set": "mine"})
    assert (asked["ranker"], asked["features"], asked["name"], asked["k"]) == ("rsvm-ir", "semantic", "", 200)
    for wrong in ({"ranker": "single"}, {"features": "/etc/passwd.toml"}, {"k": 0}, {"k": 1001}, {"output": "x"}):
        with pytest.raises(Failure):
            read_body(parameters, {"set": "mine"} | wrong)


# Models that are there.


def test_models_tell_what_they_know_of_themselves(desk, folder):
    home = models_folder(folder)
    home.mkdir()
    constant().save(home / "bare.json")
    old = {"means": {"linear": {"AP": 0.5}}, "helps": False, "verdict": "linear hurts.", "n_queries": 5, "n_folds": 5}
    constant(trial=old, training={"n_queries": 5}).save(home / "old.json")
    constant(analyser={"fingerprint": "other", "stemmer": "porter", "stop_list": "none"}).save(home / "strange.json")
    wild = {"means": {"linear": "good"}, "helps": 1, "verdict": ["?"], "advice": {"kind": "buy"}}
    constant(trial=wild, training={"n_queries": "many", "set": 3}).save(home / "wild.json")
    (home / "broken.json").write_text("{")
    found = {each["name"]: each for each in train_api.models(desk, index=None)["models"]}
    assert list(found) == ["bare", "old", "strange", "wild", "broken"]
    assert (found["bare"]["verdict"], found["bare"]["advice"], found["bare"]["n_topics"]) == (None, None, 0)
    assert (found["old"]["verdict"], found["old"]["helps"]) == ("linear hurts.", False)
    assert (found["old"]["advice"], found["old"]["n_topics"]) == (None, 5)
    assert [each["fits"] for each in found.values()] == [True, True, False, True, False]
    for name in ("wild", "broken"):
        assert [found[name][key] for key in ("means", "helps", "verdict", "advice", "set")] == [None] * 5
        assert found[name]["n_topics"] == 0
    assert "the model was trained on texts with" in found["strange"]["why_not"]
    assert "not a JSON file" in found["broken"]["why_not"]
    assert all(list(each) == list(found["bare"]) for each in found.values())
    json.dumps(found)


def test_unknown_trainings_are_not_found(desk):
    for function in (train_api.job, train_api.cancel):
        with pytest.raises(NotFound):
            function(desk, id="17")
