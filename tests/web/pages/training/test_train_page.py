"""The page of training shows advice, the running job, its outcome, and the models."""

import re

import pytest

from searchlab.web.api.training import train as train_api
from searchlab.web.pages.training import train_page
from tests.web.pages.judging_client import MEANS, RUNNING, page, send, topic, words


def test_too_few_judgments_are_reported_before_training(client, store):
    store.judge("mine", topic(store), "d1", judge="me", grade=2)
    shown = page(client, "/train")
    assert "Too few judgments: 1 topic has a relevant document" in words(shown)
    # All topics are judged, so there is nothing to judge before some are added.
    next_action = r'class="button primary" href="([^"]*)">([^<]*)<'
    assert re.findall(next_action, shown) == [("/judge?topic_set=mine#add", "Add topics")]
    topic(store, "wings")
    assert re.findall(next_action, page(client, "/train")) == [("/judge?topic_set=mine#topics", "Judge more topics")]
    assert "Too few judgments" in send(client, "/train", 409, topic_set="mine", ranker="rsvm", features="table1")


def test_a_running_job_is_shown_with_its_progress(client, store, monkeypatch):
    store.judge("mine", topic(store), "d1", judge="me", grade=2)
    waiting = RUNNING | {"id": "8", "state": "waiting", "stage": "waiting", "name": "later", "done": 0, "total": 0}
    elsewhere = RUNNING | {"id": "9", "index": "another", "name": "elsewhere"}
    monkeypatch.setattr(train_api, "list_jobs", lambda state: {"jobs": [elsewhere, waiting, RUNNING]})
    cancelled = []
    monkeypatch.setattr(train_api, "cancel_job", lambda state, id: cancelled.append(id))
    shown = page(client, "/train")
    assert 'data-job="7" data-jobs="/api/jobs" data-state="running"' in shown
    assert '<progress value="2" max="5"' in shown
    assert "cross-validating: 2 of 5" in words(shown)
    assert "Refresh" in words(shown)
    assert "Waiting: later" in words(shown)
    assert "elsewhere" not in shown
    assert send(client, "/cancel", id="7", back="/train?topic_set=mine") == "/train?topic_set=mine"
    assert cancelled == ["7"]


@pytest.mark.parametrize(
    ("kind", "colour"), [("helps", "good"), ("hurts", "bad"), ("not yet", "warn"), ("too few", "warn")]
)
def test_the_outcome_of_training_is_a_sentence_and_a_table(client, store, monkeypatch, kind, colour):
    store.judge("mine", topic(store), "d1", judge="me", grade=2)
    advice = {"kind": kind, "sentence": "It is so.", "n_more": None}
    monkeypatch.setattr(
        train_api, "list_jobs", lambda state: {"jobs": [RUNNING | {"state": "done", "advice": advice, "means": MEANS}]}
    )
    shown = page(client, "/train")
    assert f'<p class="sentence {colour}">It is so.</p>' in shown
    assert re.findall(r'<td class="n winner">([\d.]+)</td>', shown) == ["0.700", "0.500"]
    assert "model%3Amine-rsvm" not in shown  # there is no such model to search with, or to compare
    again = 'class="button" href="/judge?topic_set=mine#add">Add topics<'
    assert (again in shown) == (kind in ("not yet", "too few"))


def test_models_are_listed_with_their_properties(client, monkeypatch):
    unknown = dict.fromkeys(("ranker", "recipe", "n_topics", "n_features", "topic_set", "verdict", "helps"))
    unknown |= {"means": None, "advice": None}
    good = {
        "name": "good",
        "label": "good (rsvm, tuned)",
        "ranker": "rsvm",
        "recipe": "tuned: no powers, average over the 5 best values of C",
        "n_topics": 26,
        "n_features": 7,
        "topic_set": "mine",
    }
    good |= {"verdict": "a verdict", "helps": True, "means": MEANS, "advice": None, "usable": True, "problem": None}
    broken = unknown | {"name": "broken", "label": "broken", "usable": False, "problem": "it is no model"}
    more = {"recommended": None, "judgments_changed": False, "trained_here": True}
    listed = {"models": [good | more, broken | more], "default_ranker": None, "deleted": []}
    monkeypatch.setattr(train_page, "list_models", lambda state: listed)
    text = words(page(client, "/train"))
    assert (
        "good rsvm, 7 features, 26 topics Recipe tuned: no powers, average over the 5 best values of C a verdict"
        in text
    )
    assert "broken This model cannot be used: it is no model" in text
