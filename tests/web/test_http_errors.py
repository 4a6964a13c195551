"""Search works even if judgments or reports are broken, and errors reveal nothing of the machine."""

import errno
import shutil
import sqlite3

import pytest

from searchlab.errors import ClusterError, ClusterTimeout, IndexCorrupt
from searchlab.judgments.judgment_store import judgments_file
from searchlab.records import Document
from searchlab.retrieval import results
from searchlab.web import handlers
from searchlab.web.limits import Limits
from searchlab.web.state.app_state import AppState
from searchlab.web.state.open_indexes import OpenIndexes
from tests.web.search_client import client_of

DOCUMENTS = [Document("a", "Alpha", "alpha beta"), Document("b", "Beta", "beta gamma")]


@pytest.fixture
def folder(build, tmp_path):
    return build(DOCUMENTS, folder=tmp_path / "it")


@pytest.fixture
def app_state(folder):
    return AppState(OpenIndexes([folder]), limits=Limits(max_patterns=3))


@pytest.fixture
def client(app_state):
    with client_of(app_state) as client:
        yield client


def make_junk(path):
    path.write_text("no database " * 100)


def make_other_database(path):
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE x (y)")
    connection.close()


@pytest.mark.parametrize("spoil", [make_junk, make_other_database, lambda path: path.mkdir()])
def test_unreadable_judgments_are_reported_and_do_not_stop_searches(client, folder, spoil):
    spoil(judgments_file(folder))
    assert client.get("/api/search", params={"q": "alpha", "judge": "ann"}).json()["hits"][0]["docno"] == "a"
    for address in ("/?q=alpha", "/document?docno=a&q=alpha", "/api/suggest?q=al"):
        assert client.get(address).status_code == 200
    judged = client.post("/api/judgments", json={"docno": "a", "grade": 1, "judge": "ann", "query": "alpha"})
    for answer in (judged, client.get("/api/topic-sets"), client.get("/judge")):
        assert answer.status_code == 500
        assert "it.judgments.sqlite: " in answer.text
        assert str(folder.parent) not in answer.text


def test_a_deleted_index_is_still_served_with_all_its_pages(client, folder):
    assert client.get("/?q=alpha").status_code == 200
    shutil.rmtree(folder)
    for address in (
        "/?q=alpha",
        "/judge",
        "/train",
        "/measure",
        "/api/topic-sets",
        "/compare?q=beta",
        "/document?docno=a",
    ):
        assert client.get(address).status_code == 200, address


def test_an_error_page_opens_no_index(client, app_state, build, folder):
    opened = app_state.indexes.get()
    build([Document("c", "Gamma", "gamma")], folder=folder)
    assert client.get("/nowhere").status_code == 404
    assert app_state.indexes.last_opened() is opened


def test_an_error_before_any_index_is_open_has_the_shape_of_the_site(client, folder, app_state):
    shutil.rmtree(folder)
    for path, status in (("/?q=alpha", 404), ("/judge", 404), ("/nowhere", 404), ("/report/none/", 404)):
        answer = client.get(path)
        assert (answer.status_code, answer.headers["content-type"].partition(";")[0]) == (status, "text/html")
        assert '<nav aria-label="Pages">' in answer.text and 'action="/"' in answer.text
        assert str(folder.parent) not in answer.text
    assert 'value="alpha"' in client.get("/?q=alpha").text
    assert app_state.indexes.last_opened() is None


def test_an_error_page_leads_back_to_the_page_before_it_and_has_the_strip(client):
    client.get("/")
    for referring, back in (
        ("http://127.0.0.1/?q=alpha&page=2", "/?q=alpha&amp;page=2"),
        ("http://elsewhere/judge", None),
        ("http://127.0.0.1/nowhere", None),
        ("http://127.0.0.1", None),
        ("http://[", None),
    ):
        answer = client.get("/nowhere", headers={"referer": referring})
        assert ("Back to the page" in answer.text) == (back is not None)
        assert back is None or f'href="{back}"' in answer.text
        assert 'class="strip"' in answer.text


def test_a_rejected_request_has_the_shape_of_the_site_and_shows_no_index(client):
    expired = {"content-type": "application/x-www-form-urlencoded", "referer": "http://127.0.0.1/judge"}
    answers = [
        client.post("/judge", content="csrf=x", headers=expired),
        client.get("/", headers={"host": "evil.example"}),
        client.get(f"/?q={'a' * 20_000}"),
        client.post("/judge", content="{}", headers={"content-type": "text/plain"}),
    ]
    assert [answer.status_code for answer in answers] == [403, 403, 414, 415]
    for answer in answers:
        assert '<nav aria-label="Pages">' in answer.text and 'href="/"' in answer.text
        assert 'data-index=""' in answer.text
    assert 'href="/judge">Back to the page' in answers[0].text


def test_a_message_does_not_contain_the_folder_of_the_index(client, folder, monkeypatch, caplog):
    def break_down(*_, **__):
        raise IndexCorrupt(f"{folder}/shard-1: damaged")

    monkeypatch.setattr(handlers, "encode_json", break_down)
    found = client.get("/api/search", params={"q": "alpha"})
    assert (found.status_code, found.json()) == (500, {"error": "it/shard-1: damaged", "field": None})
    assert f"{folder}/shard-1: damaged" in caplog.text
    assert "Traceback" not in caplog.text


def test_a_path_cannot_forge_lines_of_the_log(client, app_state, monkeypatch, caplog):
    def break_down(_):
        raise ZeroDivisionError

    monkeypatch.setattr(type(app_state), "reports", property(break_down))
    assert client.get("/report/x%0aERROR%20all%20is%20lost/").status_code == 500
    assert "\nERROR all" not in caplog.text
    assert "x\\nERROR all is lost" in caplog.text


def test_a_deleted_report_is_not_found(client, app_state, tmp_path, monkeypatch):
    monkeypatch.setattr(type(app_state), "reports", property(lambda _: {"old": tmp_path / "old" / "report.html"}))
    assert client.get("/report/old/").status_code == 404


def test_the_number_of_patterns_is_bounded(client):
    assert client.get("/api/search", params={"q": "al* *eta gam?a"}).status_code == 200
    answer = client.get("/api/search", params={"q": "al* *eta gam?a alfa~2"})
    assert answer.status_code == 400
    assert answer.json() == {"error": "q has 4 words with *, ? or ~, expected at most 3", "field": "q"}


def test_very_long_words_are_not_corrected(client):
    long = "a" * (results.MAX_CORRECTED_LENGTH + 1)
    found = client.get("/api/search", params={"q": f"{long} gammo"}).json()
    assert (found["corrected_query"], found["suggestions"]) == (f"{long} gamma", {"gammo": "gamma"})


def test_queries_that_cannot_be_recorded_are_logged_once(app_state, client, folder, caplog):
    make_junk(judgments_file(folder))
    for word in ("alpha", "beta", "gamma"):
        app_state.query_history.add(app_state.judgments(), word)
        app_state.query_history.flush()
    app_state.close()
    assert sum("queries are not recorded" in record.message for record in caplog.records) == 1
    app_state.query_history.add(app_state.judgments(), "late")


def test_too_many_open_files_are_a_temporary_error(client, monkeypatch):
    def fail(_):
        raise OSError(errno.EMFILE, "Too many open files", "/some/where")

    monkeypatch.setattr(handlers, "encode_json", fail)
    found = client.get("/api/search", params={"q": "alpha"})
    assert (found.status_code, found.headers["retry-after"]) == (503, "1")
    assert "/some/where" not in found.text


@pytest.mark.parametrize(("kind", "status"), [(ClusterError, 503), (ClusterTimeout, 504)])
def test_a_lost_cluster_is_an_error_that_names_no_machine(client, app_state, monkeypatch, kind, status):
    def fail(*arguments, **options):
        raise kind("cluster tcp://10.0.0.1:8786: the scheduler is lost")

    monkeypatch.setattr(app_state.indexes.get().engine, "find_best", fail, raising=False)
    for path in ("/api/search", "/"):
        answer = client.get(path, params={"q": "alpha"})
        assert answer.status_code == status
        assert "he workers that search this index" in answer.text
        assert "10.0.0.1" not in answer.text
