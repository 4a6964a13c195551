"""Models are put to use, renamed, deleted and restored, and it is said when their judgments have changed."""

import json
from dataclasses import replace

import pytest

from searchlab.errors import SettingError
from searchlab.rankers.builtin import load_builtin
from searchlab.rankers.model_store.default_ranker import default_ranker_file, read_default_ranker
from searchlab.rankers.model_store.model_files import model_file
from searchlab.rankers.model_store.model_history import StoredModel, store_trained_model
from searchlab.web.api.search.search import search_documents
from searchlab.web.api.training import models
from searchlab.web.http_errors import HttpError, NotFound
from searchlab.web.jobs.training_process import TrainingTask, judgments_fingerprint, train_model
from searchlab.web.state.request_state import RequestState
from tests.web.judged_app import N_TOPICS, judge_topics, title_grades


@pytest.fixture(scope="module")
def trained(folder):
    """A model trained on all topics."""
    made = []
    topics, qrels = ({str(n): make(n) for n in range(N_TOPICS)} for make in ("w{}".format, title_grades))
    task = TrainingTask(str(folder), "", "mine", topics, qrels, ranker="rsvm", features="table1", k=20)

    def keep(bundle):
        made.append(bundle)
        return StoredModel(model_file(folder, "mine"), True, None)

    train_model(task, lambda *step: None, keep)
    return made[0]


@pytest.fixture
def state(app_state, folder, trained):
    """A state with judgments and a model; a new one for each call, as for each request."""
    judge_topics(app_state)
    store_trained_model(model_file(folder, "mine"), trained)
    yield lambda: RequestState(app_state)
    default_ranker_file(folder).unlink(missing_ok=True)


def model(state, name="mine"):
    return next(each for each in models.list_models(state())["models"] if each["name"] == name)


def search(state, system):
    found = search_documents(state(), q="w3", k=3, page=1, filter=[], judge="", system=system)
    return found["system"]["name"], [hit["docno"] for hit in found["hits"]]


def test_the_built_in_model_recommends_itself_and_is_compared_with_the_best_of_its_rivals():
    builtin = load_builtin()
    assert models.recommended_system("builtin", builtin) == "model:builtin"
    means = {name: mean["nDCG@10"] for name, mean in builtin.trial["means"].items()}
    assert max(list(means)[1:], key=means.get) == "RM3"
    assert models.best_baseline("builtin", builtin) == "bm25+rm3"
    assert models.best_baseline("builtin", replace(builtin, trial=None)) is None


def test_a_version_that_has_learnt_from_the_present_judgments_needs_no_training(state, folder, trained):
    bundle = state().index.models["mine"]
    assert not models.needs_training(state(), "mine", bundle)
    state().judgments.judge("mine", "0", "3-bad1", judge="ann", grade=2)
    assert models.needs_training(state(), "mine", bundle)
    # A new model that was no better goes to the history: training it again would find the same.
    fingerprint = judgments_fingerprint(*models.useful_judgments(state(), "mine"))
    rejected = replace(trained, training={**trained.training, "judgments": fingerprint, "former": {}})
    stored = store_trained_model(model_file(folder, "mine"), rejected)
    try:
        assert not stored.is_current
        assert not models.needs_training(state(), "mine", bundle)
    finally:
        stored.path.unlink()
        state().judgments.undo("ann", "mine", "0")


def test_a_model_is_used_from_now_on_and_no_more(state, folder):
    assert models.list_models(state())["default_ranker"] is None
    assert search(state, "default")[0] == "bm25"
    models.use_ranker(state(), system="model:mine", judge="ann")
    assert read_default_ranker(folder).system == "model:mine"
    used = models.list_models(state())["default_ranker"]
    assert (used["system"], used["label"], used["chosen_by"]) == ("model:mine", "mine (rsvm, tuned)", "ann")
    assert search(state, "default") == search(state, "model:mine")
    models.use_ranker(state(), system="")
    assert search(state, "default")[0] == "bm25"
    with pytest.raises(SettingError, match="none"):
        models.use_ranker(state(), system="model:none")


def test_a_default_ranker_that_cannot_be_used_is_reported_and_bm25_used(state, folder):
    models.use_ranker(state(), system="model:mine")
    model_file(folder, "mine").unlink()
    used = models.list_models(state())["default_ranker"]
    assert "mine" in used["problem"]
    assert search(state, "default")[0] == "bm25"
    default_ranker_file(folder).write_text("{")
    assert models.list_models(state())["default_ranker"] is None


@pytest.mark.parametrize(
    ("use", "system"),
    [
        ("rsvm, tuned", "model:mine"),
        ("RM3", "bm25+rm3"),
        ("BM25", "bm25"),
        ("the built-in model", "model:builtin"),
        ("", None),
    ],
)
def test_the_advice_names_the_system_to_use(trained, use, system):
    advice = trained.trial["advice"] | {"use": use}
    assert models.recommended_system("mine", replace(trained, trial={**trained.trial, "advice": advice})) == system


def test_judgments_that_have_changed_since_training_are_reported(state, app_state):
    assert not model(state)["judgments_changed"]
    store = app_state.judgments()
    store.judge("mine", "3", "3-bad5", judge="ann", grade=1)
    assert model(state)["judgments_changed"]
    store.undo("ann")
    assert not model(state)["judgments_changed"]
    # A topic without a relevant document is not learnt from.
    store.import_judgments("mine", [], {}, judge="ann")
    store.add_topic("mine", "w99")
    assert not model(state)["judgments_changed"]


def test_the_fingerprint_does_not_depend_on_the_order():
    topics, qrels = {"1": "a", "2": "b"}, {"1": {"x": 1, "y": 0}, "2": {"z": 2}}
    turned = ({"2": "b", "1": "a"}, {"2": {"z": 2}, "1": {"y": 0, "x": 1}})
    assert judgments_fingerprint(topics, qrels) == judgments_fingerprint(*turned)
    assert judgments_fingerprint(topics, qrels) != judgments_fingerprint(topics, {**qrels, "2": {"z": 1}})
    assert judgments_fingerprint(topics, qrels) != judgments_fingerprint({"1": "a", "2": "c"}, qrels)


def test_models_are_renamed_deleted_and_restored(state, folder):
    models.rename_model(state(), name="mine", new_name=" ours ")
    assert [each["name"] for each in models.list_models(state())["models"]] == ["ours", "builtin"]
    for taken in ("builtin", "ours"):
        with pytest.raises(HttpError, match="already") as refused:
            models.rename_model(state(), name="ours", new_name=taken)
        assert (refused.value.status, refused.value.field) == (409, "new_name")
    deleted = models.delete_model(state(), name="ours")
    listed = models.list_models(state())
    assert ([each["name"] for each in listed["models"]], listed["deleted"]) == (["builtin"], ["ours"])
    (version,) = models.list_versions(state().index, "ours")
    assert version["version"] == deleted["version"]
    assert version["advice"]["kind"] == "helps"
    models.restore_model(state(), name="ours")
    assert model(state, "ours")["trained_here"]
    with pytest.raises(NotFound, match="no model 'gone'"):
        models.delete_model(state(), name="gone")
    json.dumps(models.list_models(state()))


@pytest.mark.parametrize(
    "change",
    [
        {"measure": 3},
        {"qids": []},
        {"values": {"rsvm, tuned": [0.5]}},
        {"intervals": {}},
        {"precision_recall": None},
    ],
)
def test_malformed_held_out_topics_of_a_strangers_model_are_ignored(trained, change):
    held_out = trained.trial["held_out"]
    assert models.is_held_out(held_out)
    assert not models.is_held_out(held_out | change)
    wild = {name: [2.0] * N_TOPICS for name in held_out["values"]}
    assert not models.is_held_out(held_out | {"values": wild})
    assert not models.is_held_out(None)
