"""Models are trained on judgments, reported with their cross-validation, and used in searches."""

import json

import numpy as np
import pytest

from searchlab.features.preprocessing.preprocessor import Preprocessor
from searchlab.rankers.bundle import Bundle, load_bundle
from searchlab.rankers.model_store.model_files import models_folder
from searchlab.rankers.models.linear_model import LinearModel
from searchlab.web.api.parameters import parse_body
from searchlab.web.api.search.search import search_documents
from searchlab.web.api.training import models as models_api
from searchlab.web.api.training import train as train_api
from searchlab.web.http_errors import HttpError, NotFound
from searchlab.web.jobs.training_jobs import TrainingJobs
from searchlab.web.routes.routing import ENDPOINTS
from searchlab.web.state.request_state import RequestState
from tests.web.judged_app import N_TOPICS, judge_topics, rejected, title_grades

LONG = 240.0
QUICK = {"ranker": "rsvm", "features": "table1", "k": 20}


class Idle(TrainingJobs):
    """Records what should be trained."""

    def __init__(self):
        super().__init__(["false"])
        self.tasks = []

    def start(self, index, name, task):
        self.tasks.append(task)
        return super().start(index, name, task)


@pytest.fixture
def idle(app_state):
    """An application in which nothing is trained."""
    object.__setattr__(app_state, "training_jobs", Idle())
    return app_state


def train(app_state, topic_set="mine", **settings):
    return train_api.start_training(RequestState(app_state), topic_set=topic_set, **QUICK | settings)


# From judgments to a search


def test_a_model_is_trained_on_judgments_and_used(app_state, folder):
    judge_topics(app_state)
    listed = models_api.list_models(RequestState(app_state))
    assert (listed["index"], [model["name"] for model in listed["models"]]) == ("it", ["builtin"])
    query = {"q": "w3", "k": 3, "page": 1, "filter": [], "judge": ""}
    before = search_documents(RequestState(app_state), **query, system="bm25")
    job = train(app_state)
    assert (job["id"], job["index"], job["topic_set"], job["ranker"]) == ("1", "it", "mine", "rsvm")
    assert (job["name"], job["state"], job["error"]) == ("mine-rsvm", "waiting", None)
    app_state.training_jobs.wait("1", LONG)
    ended = train_api.get_job(RequestState(app_state), id="1")
    assert (ended["state"], ended["error"]) == ("done", None)
    assert ended["advice"]["kind"] == "helps"
    assert ended["advice"]["sentence"].endswith(": use it.")
    assert ended["means"]["rsvm, tuned"]["nDCG@10"] > ended["means"]["BM25"]["nDCG@10"]
    assert train_api.list_jobs(RequestState(app_state)) == {"jobs": [ended]}

    model, builtin = models_api.list_models(RequestState(app_state))["models"]
    assert (builtin["name"], builtin["label"]) == ("builtin", "the built-in model")
    assert model == {
        "name": "mine-rsvm",
        "label": "mine-rsvm (rsvm, tuned)",
        "ranker": "rsvm",
        "recipe": "tuned: no powers, average over the 5 best values of C",
        "n_topics": N_TOPICS,
        "n_features": 7,
        "topic_set": "mine",
        "verdict": ended["verdict"],
        "helps": True,
        "means": ended["means"],
        "advice": ended["advice"],
        "usable": True,
        "problem": None,
        "recommended": "model:mine-rsvm",
        "judgments_changed": False,
        "trained_here": True,
        "comparison": None,
    }
    assert ("model:mine-rsvm", "mine-rsvm (rsvm, tuned)", "model") in app_state.indexes.get().systems
    after = search_documents(
        RequestState(app_state), q="w3", system="model:mine-rsvm", k=3, page=1, filter=[], judge=""
    )
    assert {hit["docno"] for hit in after["hits"]} == {"3-good0", "3-good1", "3-good2"}
    assert {hit["docno"] for hit in before["hits"]} != {hit["docno"] for hit in after["hits"]}
    json.dumps([ended, model])
    assert load_bundle(models_folder(folder) / "mine-rsvm.json").training["source"] == "judgments mine"


def test_a_model_of_the_paper_is_named_so(app_state, folder):
    judge_topics(app_state)
    job = train(app_state, recipe="paper")
    assert (job["name"], job["recipe"]) == ("mine-rsvm-paper", "paper")
    assert train(app_state, ranker="rankboost", recipe="paper")["name"] == "mine-rankboost"
    app_state.training_jobs.wait(job["id"], LONG)
    bundle = load_bundle(models_folder(folder) / "mine-rsvm-paper.json")
    assert (bundle.label, bundle.recipe_text) == ("rsvm", "paper: no powers, one value of C")
    assert bundle.recipe["averaged"] == len(bundle.training["details"]) == 1


def test_a_training_job_is_cancelled(app_state, folder):
    judge_topics(app_state)
    job = train(app_state, ranker="rankboost")
    with app_state.training_jobs._changed:
        assert app_state.training_jobs._changed.wait_for(
            lambda: app_state.training_jobs.get(job["id"]).stage == "cross-validating", LONG
        )
    assert train_api.cancel_job(RequestState(app_state), id=job["id"])["state"] == "cancelled"
    assert [model["name"] for model in models_api.list_models(RequestState(app_state))["models"]] == ["builtin"]
    assert not models_folder(folder).exists()


# Topics to train on


def test_only_topics_with_a_relevant_document_are_used(idle):
    judge_topics(idle, n_topics=6)
    store = idle.judgments()
    store.add_topic("mine", "w7", "7")
    store.judge("mine", "7", "7-good0", judge="ann", grade=0)
    store.add_topic("mine", "w8", "8")
    train(idle, k=50)
    (task,) = idle.training_jobs.tasks
    assert task.topics == {str(n): f"w{n}" for n in range(6)}
    assert task.qrels == {str(n): title_grades(n) for n in range(6)}
    assert (task.topic_set, task.ranker, task.features, task.k) == ("mine", "rsvm", "table1", 50)


def test_of_several_judges_the_lower_median_is_used(idle):
    judge_topics(idle, n_topics=6)
    idle.judgments().judge("mine", "0", "0-good0", judge="bob", grade=0)
    train(idle)
    assert idle.training_jobs.tasks[0].qrels["0"]["0-good0"] == 0


@pytest.mark.parametrize(("n_topics", "n_more"), [(1, 3), (3, 1)])
def test_too_few_judgments_are_reported_before_training(idle, n_topics, n_more):
    judge_topics(idle, n_topics=n_topics)
    message = rejected(409, train, idle)
    assert message.startswith(f"Too few judgments: {n_topics} topic")
    assert f"judge {n_more} more topic" in message
    assert f"(about {4 * n_more} judgments at the rate so far)" in message
    assert idle.training_jobs.tasks == []
    ready = train_api.check_readiness(RequestState(idle), topic_set="mine")
    assert ready["advice"] == {
        "kind": "too few",
        "sentence": message,
        "n_more": n_more,
        "use": "",
        "more_judgments": "",
    }
    assert (ready["n_topics"], ready["n_useful_topics"], ready["n_judgments"]) == (n_topics, n_topics, 4 * n_topics)


def test_with_enough_judgments_there_is_no_advice(app_state):
    judge_topics(app_state, n_topics=4)
    assert train_api.check_readiness(RequestState(app_state), topic_set="mine")["advice"] is None


def test_an_unknown_topic_set_is_not_found(idle):
    assert "no topic set 'none'" in rejected(404, train, idle, topic_set="none")


# Names


def test_a_model_is_named_after_its_topic_set_by_default(idle, folder):
    judge_topics(idle, "Mine / 2!")
    assert train(idle, topic_set="Mine / 2!")["name"] == "Mine-2-rsvm"
    assert train(idle, topic_set="Mine / 2!", name="B.2_c-d")["name"] == "B.2_c-d"
    judge_topics(idle, "…")
    assert train(idle, topic_set="…")["name"] == "rsvm"
    home = models_folder(folder).absolute()
    assert [task.output for task in idle.training_jobs.tasks] == [
        str(home / f"{name}.json") for name in ("Mine-2-rsvm", "B.2_c-d", "rsvm")
    ]


@pytest.mark.parametrize("name", ["../x", "a/b", ".hidden", "a b", "ä", "x" * 61, "a\n", "-a", "a:b", "a\\b"])
def test_a_name_cannot_lead_to_another_folder(idle, name):
    judge_topics(idle)
    assert "name is " in rejected(400, train, idle, name=f"{name}x" if name.endswith("\n") else name)
    assert idle.training_jobs.tasks == []


def constant(features=("letor.both.bm25",), **more) -> Bundle:
    return Bundle("linear", {}, LinearModel(np.ones(len(features))), features, Preprocessor.named(), **more)


def test_a_model_from_elsewhere_is_not_replaced(idle, folder):
    judge_topics(idle)
    model = folder.with_name(f"{folder.name}.model.json")
    constant().save(model)
    try:
        assert "not trained here" in rejected(409, train, idle, name="model")
    finally:
        model.unlink()


def test_a_model_that_was_trained_here_is_replaced(idle, folder):
    judge_topics(idle)
    models_folder(folder).mkdir()
    constant().save(models_folder(folder) / "again.json")
    assert train(idle, name="again")["name"] == "again"


def test_unknown_rankers_and_features_are_rejected():
    parameters = next(each.parameters for each in ENDPOINTS if each.path == "/api/train")
    values = parse_body(parameters, {"topic_set": "mine"})
    assert (values["ranker"], values["features"], values["name"], values["k"]) == ("softmax", "compact", "", 200)
    assert values["recipe"] == "tuned"
    for wrong in (
        {"ranker": "single"},
        {"recipe": "best"},
        {"features": "/etc/passwd.toml"},
        {"k": 0},
        {"k": 1001},
        {"output": "x"},
    ):
        with pytest.raises(HttpError):
            parse_body(parameters, {"topic_set": "mine"} | wrong)


# Models


def test_models_are_listed_with_the_valid_parts_of_their_files(app_state, folder):
    home = models_folder(folder)
    home.mkdir()
    constant().save(home / "bare.json")
    old = {"means": {"linear": {"AP": 0.5}}, "helps": False, "verdict": "linear hurts.", "n_queries": 5, "n_folds": 5}
    constant(trial=old, training={"n_queries": 5}).save(home / "old.json")
    constant(analyser={"fingerprint": "other", "stemmer": "porter", "stop_list": "none"}).save(home / "strange.json")
    wild = {"means": {"linear": "good"}, "helps": 1, "verdict": ["?"], "advice": {"kind": "buy"}}
    constant(trial=wild, training={"n_queries": "many", "set": 3}).save(home / "wild.json")
    (home / "broken.json").write_text("{")
    found = {each["name"]: each for each in models_api.list_models(RequestState(app_state))["models"]}
    builtin = found.pop("builtin")
    assert not builtin["usable"]
    assert builtin["problem"] == "it: no semantic space; `searchlab semantic -i it` makes one"
    assert list(found) == ["bare", "old", "strange", "wild", "broken"]
    assert (found["bare"]["verdict"], found["bare"]["advice"], found["bare"]["n_topics"]) == (None, None, 0)
    assert (found["old"]["verdict"], found["old"]["helps"]) == ("linear hurts.", False)
    assert (found["old"]["advice"], found["old"]["n_topics"]) == (None, 5)
    assert [each["usable"] for each in found.values()] == [True, True, False, True, False]
    for name in ("wild", "broken"):
        assert [found[name][key] for key in ("means", "helps", "verdict", "advice", "topic_set")] == [None] * 5
        assert found[name]["n_topics"] == 0
    assert "the model was trained on texts with" in found["strange"]["problem"]
    assert "not a JSON file" in found["broken"]["problem"]
    assert all(list(each) == list(found["bare"]) for each in found.values())
    json.dumps(found)


def test_unknown_training_jobs_are_not_found(app_state):
    for function in (train_api.get_job, train_api.cancel_job):
        with pytest.raises(NotFound):
            function(RequestState(app_state), id="17")
