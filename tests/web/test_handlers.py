"""The judge of a request: with a login it is the login's, whatever else the request says."""

import re

import pytest

from searchlab.analysis.analyzer import AnalysisSettings
from searchlab.web.state.app_state import AppState
from searchlab.web.state.open_indexes import OpenIndexes
from tests.web.search_client import DOCUMENTS, client_of

ANN = {"Authorization": "Bearer token-a"}


@pytest.fixture
def app_state(build, tmp_path):
    state = AppState(OpenIndexes([build(DOCUMENTS, settings=AnalysisSettings(), folder=tmp_path / "it")]))
    yield state
    state.close()


def judges(app_state):
    """Who has judged, with the docnos."""
    store = app_state.judgments()
    return sorted((each.judge, each.docno) for name in store.topic_sets() for each in store.judgments(name.name))


def post_judgment(client, judge, docno="d1", **options):
    body = {"query": "cells", "docno": docno, "grade": 1} | ({} if judge is None else {"judge": judge})
    return client.post("/api/judgments", json=body, **options)


def csrf_of(client):
    return re.search(r'name="csrf" value="([0-9a-f]+)"', client.get("/?q=cells").text)[1]


def post_form(client, path, **fields):
    return client.post(path, data={"csrf": csrf_of(client)} | fields)


def test_a_token_of_a_judge_judges_for_nobody_else(app_state):
    client = client_of(app_state, ["ann=token-a", "bob=token-b"])
    assert post_judgment(client, "ann", headers=ANN).status_code == 200
    assert post_judgment(client, None, "d2", headers=ANN).status_code == 200
    forged = post_judgment(client, "bob", "d3", headers=ANN)
    assert (forged.status_code, forged.json()["error"]) == (403, "judge is 'bob', expected 'ann', whose token was sent")
    assert judges(app_state) == [("ann", "d1"), ("ann", "d2")]


def test_nobody_undoes_or_imports_in_the_name_of_another_judge(app_state):
    client = client_of(app_state, ["ann=token-a", "bob=token-b"])
    assert post_judgment(client, "bob", headers={"Authorization": "Bearer token-b"}).status_code == 200
    assert client.post("/api/judgments/undo", json={"judge": "bob"}, headers=ANN).status_code == 403
    imported = {"topic_set": "s", "topics": "1\tcells", "qrels": "1 0 d2 1"}
    assert client.post("/api/import", json=imported | {"judge": "bob"}, headers=ANN).status_code == 403
    assert judges(app_state) == [("bob", "d1")]
    assert client.post("/api/import", json=imported, headers=ANN).status_code == 200
    assert judges(app_state) == [("ann", "d2"), ("bob", "d1")]


@pytest.mark.parametrize("cookies", [{}, {"judge": "bob"}])
def test_in_the_browser_the_judge_is_the_one_whose_link_was_opened(app_state, cookies):
    client = client_of(app_state, ["ann=token-a", "bob=token-b"], cookies=cookies)
    page = client.get("/?token=token-a")
    assert "<bdi>ann</bdi>" in page.text
    assert 'action="/name"' not in page.text
    assert post_form(client, "/judge", q="cells", docno="d1", grade="1", judge="bob").status_code == 200
    assert post_judgment(client, "bob", "d2").status_code == 403
    assert post_form(client, "/name", judge="bob").status_code == 403
    assert post_form(client, "/judge", q="cells", docno="d3", grade="1").status_code == 200
    assert judges(app_state) == [("ann", "d1"), ("ann", "d3")]
    assert 'value="ann" maxlength="100" required readonly' in client.get("/judge").text


def test_with_a_shared_token_a_judge_gives_their_name_once(app_state):
    client = client_of(app_state, ["shared"], cookies={"judge": "bob"})
    assert "<summary>Your name</summary>" in client.get("/?token=shared").text
    nameless = post_judgment(client, "ann")
    assert (nameless.status_code, "give your name there first" in nameless.text) == (403, True)
    assert post_form(client, "/judge", q="cells", docno="d1", grade="1").status_code == 400
    assert judges(app_state) == []
    assert "<bdi>Ann Ö.</bdi>" in post_form(client, "/name", judge=" Ann  Ö. ").text
    assert post_judgment(client, "Ann Ö.").status_code == 200
    assert post_judgment(client, "bob", "d2").status_code == 403
    assert post_form(client, "/name", judge="bob").status_code == 403
    assert post_form(client, "/name", judge="Ann Ö.").status_code == 200
    assert judges(app_state) == [("Ann Ö.", "d1")]
    # A new login has no name yet.
    assert "<summary>Your name</summary>" in client.get("/?token=shared").text


def test_a_program_with_a_shared_token_names_the_judge(app_state):
    client = client_of(app_state, ["shared"])
    assert post_judgment(client, "ann", headers={"Authorization": "Bearer shared"}).status_code == 200
    assert judges(app_state) == [("ann", "d1")]


def test_without_a_login_everybody_names_themselves(app_state):
    client = client_of(app_state)
    assert post_form(client, "/judge", q="cells", docno="d1", grade="1").status_code == 200
    assert "<bdi>ann</bdi>" in post_form(client, "/name", judge="ann").text
    assert post_form(client, "/judge", q="cells", docno="d1", grade="1").status_code == 200
    assert post_judgment(client, "bob").status_code == 200
    assert judges(app_state) == [("ann", "d1"), ("bob", "d1"), ("me", "d1")]
