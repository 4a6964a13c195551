"""All models, present, former and deleted, are listed, filtered and sorted."""

import os
from dataclasses import replace

import numpy as np
import pytest

from searchlab.features.preprocessing.preprocessor import Preprocessor
from searchlab.rankers.bundle import Bundle
from searchlab.rankers.model_store.default_ranker import default_ranker_file, write_default_ranker
from searchlab.rankers.model_store.model_files import model_file
from searchlab.rankers.model_store.model_history import delete_model, list_history, store_trained_model
from searchlab.rankers.models.linear_model import LinearModel
from searchlab.web.api.training.model_list import list_model_versions
from searchlab.web.api.training.models import read_comparison, restore_model
from searchlab.web.state.request_state import RequestState

COMPARISON = {
    "kind": "new topics",
    "finding": "The new model is better",
    "sentence": "The new model is better; it takes the place of the former one.",
    "is_better": True,
    "measure": "nDCG@10",
    "n_topics": 12,
    "means": {"the new model": 0.5, "the former model": 0.4},
    "intervals": {"the new model": [0.4, 0.6], "the former model": [0.3, 0.5]},
    "verdict": "So.",
}


def model(kind, comparison=None):
    trial = None if kind is None else {"advice": {"kind": kind, "sentence": f"It {kind}."}, "verdict": f"It {kind}."}
    training = {"n_queries": 12, "set": "mine"} | ({"former": comparison} if comparison else {})
    return Bundle("linear", {}, LinearModel(np.ones(1)), ("own",), Preprocessor.named(), trial=trial, training=training)


@pytest.fixture
def state(app_state, folder):
    """Four models: `Alpha` in use, its former version, `beta`, and `gamma`, which is deleted; made in this order."""
    alpha = model_file(folder, "Alpha")
    store_trained_model(alpha, model("too few"))
    store_trained_model(alpha, model("helps", COMPARISON))
    store_trained_model(model_file(folder, "beta"), model(None))
    store_trained_model(model_file(folder, "gamma"), model("hurts"))
    delete_model(folder, "gamma")
    write_default_ranker(folder, "model:Alpha", "ann")
    (former,), (deleted,) = list_history(folder, "Alpha"), list_history(folder, "gamma")
    for seconds, path in enumerate((former, alpha, model_file(folder, "beta"), deleted)):
        os.utime(path, (10**9 + seconds, 10**9 + seconds))
    yield lambda: RequestState(app_state)
    default_ranker_file(folder).unlink(missing_ok=True)


def names(state, **asked):
    return [(each["name"], each["use"]) for each in list_model_versions(state(), **asked)["models"]]


FORMER, ALPHA, BETA, GAMMA = ("Alpha", "history"), ("Alpha", "in use"), ("beta", "present"), ("gamma", "deleted")


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({}, [GAMMA, BETA, ALPHA, FORMER]),
        ({"order": "oldest"}, [FORMER, ALPHA, BETA, GAMMA]),
        ({"order": "name"}, [ALPHA, FORMER, BETA, GAMMA]),
        ({"order": "verdict"}, [ALPHA, FORMER, GAMMA, BETA]),
        ({"order": "use"}, [ALPHA, BETA, FORMER, GAMMA]),
        ({"words": "ALP"}, [ALPHA, FORMER]),
        ({"words": "a et"}, [BETA]),
        ({"verdict": "helps"}, [ALPHA]),
        ({"verdict": "unknown"}, [BETA]),
        ({"use": "deleted"}, [GAMMA]),
        ({"use": "history", "verdict": "helps"}, []),
    ],
)
def test_models_are_filtered_and_sorted(state, asked, found):
    assert names(state, **asked) == found
    assert list_model_versions(state(), **asked)["n_all"] == 4


def test_a_model_is_listed_with_its_verdict_its_date_and_how_it_compared(state):
    alpha, former = list_model_versions(state(), words="alpha")["models"]
    assert (alpha["verdict"], alpha["comparison"], alpha["version"]) == ("It helps.", COMPARISON["sentence"], None)
    assert (alpha["since"], alpha["n_topics"], alpha["topic_set"]) == ("2001-09-09T01:46:41+00:00", 12, "mine")
    assert (former["verdict"], former["comparison"], former["problem"]) == ("It too few.", None, None)


def test_what_was_restored_or_changed_on_disk_is_listed_as_it_is_now(state, folder):
    restore_model(state(), name="gamma")
    assert ("gamma", "present") in names(state)
    model_file(folder, "beta").write_text("{")
    (beta,) = list_model_versions(state(), words="beta")["models"]
    assert (beta["problem"], beta["kind"]) == ("cannot be read", None)


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "<b>"},
        {"sentence": 3},
        {"finding": None},
        {"verdict": 3},
        {"means": [0.5]},
        {"means": {"the new model": 7.0, "the former model": 0.4}},
        {"intervals": {"the new model": [0.1]}},
        {"intervals": {"the new model": [0.1, 0.2], "the former model": [0.3]}},
    ],
)
def test_a_malformed_comparison_of_a_strangers_model_is_ignored(change):
    assert read_comparison(model("helps", COMPARISON)) == COMPARISON
    assert read_comparison(model("helps", COMPARISON | change)) is None
    assert read_comparison(replace(model("helps"), training={"former": 3})) is None
