"""Experiments are started from their page, one at a time, and their results link to topics and documents."""

import re

import pytest

from searchlab.experiments.experiment import run_experiment
from searchlab.experiments.inputs import make_inputs
from searchlab.experiments.stored_results import experiments_folder
from searchlab.experiments.system_plans import plan_systems
from searchlab.records import Topic
from searchlab.retrieval.engine import SearchEngine
from searchlab.web.api.measuring import experiments
from searchlab.web.http_errors import HttpError
from searchlab.web.jobs.job_journal import add_to_journal
from searchlab.web.state.request_state import RequestState
from tests.web.judged_app import judge_topics, make_app_state, title_documents, title_grades
from tests.web.pages.judging_client import page, send, words
from tests.web.search_client import client_of

N_TOPICS = 6
ENTRIES = {"topic_set": "mine", "systems": ["bm25", "bm25f"], "measures": ["nDCG@10", "AP"], "back": "/experiments"}


@pytest.fixture(scope="module")
def folder(build, tmp_path_factory):
    """An index with the results of an experiment beside it."""
    folder = build(title_documents(N_TOPICS), folder=tmp_path_factory.mktemp("experiments") / "it")
    topics = [Topic(str(number), f"w{number}") for number in range(N_TOPICS)]
    plan = plan_systems("Titles?", experiments_folder(folder) / "one", ["bm25", "bm25f"], [], ["nDCG@10", "AP"])
    with SearchEngine(folder) as engine:
        grades = {topic.qid: title_grades(topic.qid) for topic in topics}
        run_experiment(plan, inputs=make_inputs(engine, topics, grades, plan), n_jobs=1)
    return folder


@pytest.fixture
def app_state(folder, tmp_path, monkeypatch):
    """The state of a server that starts no process: jobs wait."""
    app_state = make_app_state(folder)
    judge_topics(app_state, n_topics=N_TOPICS)
    monkeypatch.setattr(app_state.experiment_jobs, "_run_jobs", lambda: None)
    yield app_state
    app_state.close()


@pytest.fixture
def client(app_state):
    with client_of(app_state, follow_redirects=False) as client:
        yield client


def test_results_are_listed_and_opened(client):
    assert "Titles? 6 topics, 2 systems" in words(page(client, "/experiments"))
    shown = page(client, "/experiment", name="one")
    assert "BM25F 0.472" in words(shown)
    # The topic leads to its search, its rankings to documents.
    assert 'href="/?q=w3"' in shown
    assert page(client, "/experiment", name="one", measure="AP").count("Topic by topic: AP") == 1
    rankings = page(client, "/experiment", name="one", qid="3")
    assert len(re.findall(r'href="/document\?q=w3&amp;docno=3-\w+"', rankings)) > 10
    assert "BM25F nDCG@10 0.472" in words(rankings)
    figure = client.get("/experiment/figure", params={"name": "one", "figure": "means"})
    assert figure.headers["content-type"] == "image/svg+xml"
    assert "default-src 'none'" in figure.headers["content-security-policy"]
    assert page(client, "/report/one/").startswith("<!DOCTYPE html>")


@pytest.mark.parametrize(
    ("path", "parameters", "message"),
    [
        ("/experiment", {"name": "two"}, "has no experiment"),
        ("/experiment", {"name": "../it"}, "has no experiment"),
        ("/experiment", {"name": "one", "qid": "99"}, "has no topic"),
        ("/experiment/figure", {"name": "one", "figure": "../../secret"}, "There is no figure"),
    ],
)
def test_what_is_not_there_is_not_found(client, path, parameters, message):
    assert message in page(client, path, 404, **parameters)


def test_an_experiment_is_started_refused_twice_and_cancelled(client, app_state):
    assert send(client, "/experiments", **ENTRIES) == "/experiments?topic_set=mine"
    (job,) = app_state.experiment_jobs.list()
    assert (job.task.systems, job.task.rankers, job.task.measures) == (("bm25", "bm25f"), (), ("nDCG@10", "AP"))
    assert job.task.title == "mine: BM25, BM25F"
    assert "is under way already" in send(client, "/experiments", 409, **ENTRIES)
    shown = page(client, "/experiments")
    assert "Running mine: BM25, BM25F" in words(shown)
    assert 'data-jobs="/api/experiments/jobs"' in shown
    send(client, "/experiments/cancel", id=job.id, back="/experiments")
    assert "mine: BM25, BM25F was cancelled" in words(page(client, "/experiments"))


@pytest.mark.parametrize(
    ("changes", "field", "message"),
    [
        ({"systems": ["bm25"]}, "systems", "at least two"),
        ({"systems": ["bm25", "bm52"]}, "systems", "did you mean bm25"),
        ({"rankers": ["nobody"]}, "rankers", "unknown ranker"),
        ({"measures": ["APP"]}, "measures", "APP"),
        ({"title": "t" * 201}, "title", "201 characters"),
    ],
)
def test_a_mistake_is_shown_at_its_field(client, app_state, changes, field, message):
    refused = send(client, "/experiments", 400, **ENTRIES | {"title": "Do titles help?"} | changes)
    before, _, after = refused.partition('id="problem">')
    assert message in after.partition("<")[0].replace("&#39;", "'")
    assert f'name="{field}"' in (before if field != "title" else before[-400:])
    assert ("Do titles help?" in refused) == ("title" not in changes)
    assert app_state.experiment_jobs.list() == []


def test_an_interrupted_experiment_is_offered_again(client, folder, monkeypatch):
    settings = ENTRIES | {"title": "Was <b>cut</b> off", "rankers": []}
    with monkeypatch.context() as patched:
        patched.setattr("os.getpid", lambda: 2**22 + 1)  # above the largest id of a process
        add_to_journal(folder, "experiment", "mine-cut", settings)
    shown = page(client, "/experiments")
    assert "The experiment Was <b>cut</b> off was interrupted when the server ended." in words(shown)
    assert 'value="bm25f"' in shown
    send(client, "/experiments/dismiss", name="mine-cut", back="/experiments")
    assert "was interrupted" not in page(client, "/experiments")


def test_the_same_experiment_on_the_same_judgments_is_not_run_again(app_state, monkeypatch):
    state = RequestState(app_state)
    started = experiments.start_experiment(state, topic_set="mine")
    monkeypatch.setattr(experiments, "find_experiments", lambda state: {started["name"]: None})
    with pytest.raises(HttpError, match="was run on the same judgments already"):
        experiments.start_experiment(state, topic_set="mine")
    app_state.experiment_jobs.cancel(started["id"])


def test_training_and_experiments_take_turns(app_state):
    assert app_state.experiment_jobs._slot is app_state.training_jobs._slot
