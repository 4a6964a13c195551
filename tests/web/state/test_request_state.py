"""Each request works with one state of an index, even if the index is replaced on disk in the meantime."""

import re
from itertools import count

import pytest
from starlette.testclient import TestClient

from searchlab.records import Document, Topic
from searchlab.web.app import make_app
from searchlab.web.middleware.security import SecuritySettings
from searchlab.web.routes.routing import ENDPOINTS, PAGES
from searchlab.web.state.app_state import AppState
from searchlab.web.state.open_indexes import OpenIndexes
from searchlab.web.state.request_state import RequestState

VALUES = {
    "q": "alpha",
    "docno": "same",
    "topic_set": "mine",
    "qid": "1",
    "id": "1",
    "left": "bm25",
    "right": "jm",
    "format": "ris",
    "name": "builtin",
}


def documents(generation):
    """The index in one generation: its titles, its field, its number of documents and most docnos differ."""
    title, fields = f"alpha generation{generation}", {f"field{generation}": 1}
    return [
        Document(docno, title, "alpha beta", fields)
        for docno in ["same", *(f"g{generation}-{n}" for n in range(generation))]
    ]


@pytest.fixture
def app_state(build, tmp_path):
    made = AppState(OpenIndexes([build(documents(1), folder=tmp_path / "it")]))
    made.judgments().import_judgments("mine", [Topic("1", "alpha")], {"1": {"same": 1}}, judge="ann")
    yield made
    made.close()


@pytest.fixture
def states(app_state, build, monkeypatch):
    """The states of the index that were looked up; after each look-up the index is replaced on disk."""
    looked_up, generations, get = [], count(2), OpenIndexes.get

    def get_and_replace(self, name=None):
        looked_up.append(get(self, name))
        build(documents(next(generations)), folder=self.folder(name))
        return looked_up[-1]

    monkeypatch.setattr(OpenIndexes, "get", get_and_replace)
    return looked_up


@pytest.fixture
def client(app_state):
    security = SecuritySettings((), True, secret=b"s" * 32)
    with TestClient(make_app(app_state, security), base_url="http://127.0.0.1") as client:
        yield client


def test_a_search_page_shows_one_state(client, states):
    for generation in (1, 2):
        page = client.get("/", params={"q": "alpha"}).text
        assert set(re.findall(r"generation(\d+)", page)) == {str(generation)}  # titles of hits
        assert re.findall(r'<option value="field(\d+)=">', page) == [str(generation)]  # fields to filter by
        assert f"from {generation + 1} documents" in page
        assert len(re.findall(r'<li class="result"', page)) == generation + 1
    assert len(states) == 2


def test_a_pool_page_shows_a_document_of_its_pool(client, states):
    page = client.get("/pool", params={"topic_set": "mine", "qid": "1"})
    assert page.status_code == 200
    assert set(re.findall(r"generation(\d+)", page.text)) == {"1"}
    assert set(re.findall(r"[?;&]docno=(?:g(\d+)-\d+|same)", page.text)) <= {"", "1"}


@pytest.mark.parametrize("route", [*(e for e in ENDPOINTS if not e.is_write), *PAGES], ids=lambda route: route.path)
def test_every_route_looks_an_index_up_once(client, app_state, states, route):
    values = {each.name: VALUES[each.name] for each in route.parameters if each.name in VALUES}
    if route.path == "/api/uploads":
        values["name"] = "docs"
    # There is no training job, no upload, no experiment.
    missing = "{id}" in route.path or "uploads" in route.path or route.path.endswith("/experiment")
    expected = 404 if missing else 200
    sent = {} if "{id}" in route.path else values
    assert client.get(route.path.format(**values), params=sent).status_code == expected
    assert len(states) == (0 if "jobs" in route.path or "uploads" in route.path else 1)


def test_a_request_keeps_the_state_that_it_took(app_state, states):
    state = RequestState(app_state)
    assert state.index is state.index is state.all_indexes[0]
    assert len(states) == 1
    assert RequestState(app_state).index is not state.index


def test_an_index_that_is_open_is_taken_without_opening_anything(app_state, build):
    state = RequestState(app_state)
    assert not state.take_open_index()
    opened = state.index
    later = RequestState(app_state)
    assert later.take_open_index()
    build(documents(2), folder=opened.folder)
    assert later.index is opened
    assert not RequestState(app_state).take_open_index()
