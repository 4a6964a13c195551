"""Does searching go on when something beside it is broken, and is little told of this machine?"""

import errno
import shutil
import sqlite3

import pytest
from starlette.testclient import TestClient

from searchlab.errors import IndexCorrupt
from searchlab.judgments.judgment_store import judgments_file
from searchlab.records import Document
from searchlab.web import app as app_module
from searchlab.web.api import search
from searchlab.web.app import make_app
from searchlab.web.limits import Limits
from searchlab.web.middleware.security import Safety
from searchlab.web.state.app_state import Desk
from searchlab.web.state.open_indexes import Shelf

DOCUMENTS = [Document("a", "Alpha", "alpha beta"), Document("b", "Beta", "beta gamma")]


@pytest.fixture
def folder(build, tmp_path):
    return build(DOCUMENTS, folder=tmp_path / "it")


@pytest.fixture
def desk(folder):
    return Desk(Shelf([folder]), limits=Limits(patterns=3))


@pytest.fixture
def client(desk):
    with TestClient(make_app(desk, Safety(None, True, secret=b"s" * 32)), base_url="http://127.0.0.1") as own:
        yield own


def make_junk(path):
    path.write_text("no database " * 100)


def make_stranger(path):
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE x (y)")
    connection.close()


@pytest.mark.parametrize("spoil", [make_junk, make_stranger, lambda path: path.mkdir()])
def test_without_judgments_that_can_be_read_searching_goes_on_and_judging_says_why_not(client, folder, spoil):
    spoil(judgments_file(folder))
    assert client.get("/api/search", params={"q": "alpha", "judge": "ann"}).json()["results"][0]["id"] == "a"
    for address in ("/?q=alpha", "/document?id=a&q=alpha", "/api/suggest?q=al"):
        assert client.get(address).status_code == 200
    judged = client.post("/api/judgments", json={"id": "a", "grade": 1, "judge": "ann", "query": "alpha"})
    for refused in (judged, client.get("/api/sets"), client.get("/judge")):
        assert refused.status_code == 500
        assert "it.judgments.sqlite: " in refused.text
        assert str(folder.parent) not in refused.text


def test_an_index_that_is_gone_is_served_on_with_all_its_pages(client, folder):
    assert client.get("/?q=alpha").status_code == 200
    shutil.rmtree(folder)
    for address in ("/?q=alpha", "/judge", "/learn", "/measure", "/api/sets", "/compare?q=beta", "/document?id=a"):
        assert client.get(address).status_code == 200, address


def test_an_error_page_opens_nothing(client, desk, build, folder):
    opened = desk.shelf.get()
    build([Document("c", "Gamma", "gamma")], folder=folder)
    assert client.get("/nowhere").status_code == 404
    assert desk.shelf.last() is opened


def test_a_message_does_not_tell_where_the_index_lies(client, folder, monkeypatch, caplog):
    def break_down(*_, **__):
        raise IndexCorrupt(f"{folder}/shard-1: damaged")

    monkeypatch.setattr(app_module, "_encode", break_down)
    found = client.get("/api/search", params={"q": "alpha"})
    assert (found.status_code, found.json()) == (500, {"error": "it/shard-1: damaged"})
    assert f"{folder}/shard-1: damaged" in caplog.text
    assert "Traceback" not in caplog.text


def test_a_path_cannot_write_lines_of_its_own_into_the_log(client, desk, monkeypatch, caplog):
    def break_down(_):
        raise ZeroDivisionError

    monkeypatch.setattr(type(desk), "reports", property(break_down))
    assert client.get("/report/x%0aERROR%20all%20is%20lost/").status_code == 500
    assert "\nERROR all" not in caplog.text
    assert "x\\nERROR all is lost" in caplog.text


def test_a_report_that_vanishes_is_not_found(client, desk, tmp_path, monkeypatch):
    monkeypatch.setattr(type(desk), "reports", property(lambda _: {"old": tmp_path / "old" / "report.html"}))
    assert client.get("/report/old/").status_code == 404


def test_patterns_are_held_against_all_words_so_that_there_may_be_few(client):
    assert client.get("/api/search", params={"q": "al* *eta gam?a"}).status_code == 200
    refused = client.get("/api/search", params={"q": "al* *eta gam?a alfa~2"})
    assert refused.status_code == 400
    assert refused.json() == {"error": "q has 4 words with *, ? or ~, expected at most 3"}


def test_words_that_are_longer_than_words_are_are_not_corrected(client):
    long = "a" * (search.LONGEST_CORRECTED + 1)
    found = client.get("/api/search", params={"q": f"{long} gammo"}).json()
    assert found["suggestion"] == {"query": f"{long} gamma", "replaced": [["gammo", "gamma"]]}


def test_a_disk_that_keeps_no_queries_is_told_of_once(desk, client, folder, caplog):
    make_junk(judgments_file(folder))
    for word in ("alpha", "beta", "gamma"):
        desk.remember("it", word)
    desk.close()
    assert sum("queries are not kept" in record.message for record in caplog.records) == 1
    desk.remember("it", "late")


def test_when_too_many_files_are_open_it_is_a_matter_of_waiting(client, monkeypatch):
    def refuse(_):
        raise OSError(errno.EMFILE, "Too many open files", "/some/where")

    monkeypatch.setattr(app_module, "_encode", refuse)
    found = client.get("/api/search", params={"q": "alpha"})
    assert (found.status_code, found.headers["retry-after"]) == (503, "1")
    assert "/some/where" not in found.text
