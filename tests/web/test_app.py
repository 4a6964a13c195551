"""The application: internal errors, static files, reports, and where requests are worked on."""

import json
import threading

import pytest

from searchlab.analysis.analyzer import AnalysisSettings
from searchlab.web.api.search import search
from searchlab.web.responses import encode_json
from searchlab.web.state.app_state import AppState
from searchlab.web.state.open_indexes import OpenIndexes
from tests.web.search_client import DOCUMENTS, client_for, client_of


@pytest.fixture(scope="module")
def folder(build, tmp_path_factory):
    return build(DOCUMENTS, settings=AnalysisSettings(), folder=tmp_path_factory.mktemp("app") / "it")


def test_internal_errors_are_logged_and_not_shown(folder, monkeypatch, caplog):
    monkeypatch.setattr(search, "_correction", lambda *arguments: 1 / 0)
    with client_for(folder) as client:
        answer = client.get("/api/search", params={"q": "cells"})
        page = client.get("/", params={"q": "cells"})
    assert (answer.status_code, page.status_code) == (500, 500)
    for text in (answer.text, page.text):
        assert "internal error" in text.lower()
        assert "ZeroDivision" not in text and "Traceback" not in text
    assert caplog.text.count("ZeroDivisionError") >= 2


def test_numbers_that_json_does_not_have_are_null():
    assert json.loads(encode_json({"a": float("nan"), "b": [float("inf"), 1.5]})) == {"a": None, "b": [None, 1.5]}


def test_styles_and_scripts_are_served_and_no_other_files(folder):
    with client_for(folder) as client:
        style = client.get("/static/style.css")
        assert style.headers["content-type"].startswith("text/css")
        again = client.get("/static/style.css", headers={"if-none-match": style.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
        for name in ("../app.py", "..%2fapp.py", "nothing.css", "%2e%2e%2fapp.py", "templates"):
            assert client.get(f"/static/{name}").status_code == 404


def test_reports_are_found_by_name_and_have_their_own_policy(folder, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "report.html").write_text("<p>found</p>")
    (tmp_path / "secret.html").write_text("secret")
    with client_of(AppState(OpenIndexes([folder]), reports_folder=tmp_path)) as client:
        answer = client.get("/report/mine/")
        assert answer.text == "<p>found</p>"
        assert "script-src" not in answer.headers["content-security-policy"]
        for name in ("other", "mine%2f..%2f..", "secret.html"):
            missing = client.get(f"/report/{name}/")
            assert missing.status_code == 404
            assert "secret" not in missing.text or name == "secret.html"


def test_brief_searches_run_in_the_event_loop_and_documents_never(folder, monkeypatch):
    """The event loop of the test client runs in one thread, the pools in others."""
    seen = []
    correction, locate_stored = search._correction, search._locate_stored

    def record(function):
        return lambda *arguments: seen.append(threading.current_thread().name) or function(*arguments)  # type: ignore[func-returns-value]

    monkeypatch.setattr(search, "_correction", record(correction))
    monkeypatch.setattr(search, "_locate_stored", record(locate_stored))
    with client_for(folder) as client:
        for _ in range(3):
            assert client.get("/api/search", params={"q": "cells"}).status_code == 200
        for _ in range(3):
            assert client.get("/api/document", params={"docno": "d1"}).status_code == 200
    assert [name.startswith("searchlab-quick") for name in seen] == [True, True, False, True, True, True]
