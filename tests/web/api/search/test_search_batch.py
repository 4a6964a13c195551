"""Searching for several queries in one request."""

from tests.web.search_client import client_for


def test_a_batch_of_searches_is_bounded_and_k_goes_to_a_thousand(search_folder):
    with client_for(search_folder) as client:
        _check_batches(client)


def _check_batches(client):
    answers = client.post("/api/search/batch", json={"queries": ["cells", "mice"], "k": 3}).json()["answers"]
    assert [answer["query"] for answer in answers] == ["cells", "mice"]
    alone = client.get("/api/search", params={"q": "mice", "k": 3}).json()
    assert answers[1]["hits"] == alone["hits"]
    assert client.post("/api/search/batch", json={"queries": ["a"] * 100, "k": 101}).status_code == 400
    assert client.post("/api/search/batch", json={"queries": ["a"] * 101}).status_code == 400
    assert client.get("/api/search", params={"q": "wings", "k": 1000}).json()["k"] == 1000
    assert client.get("/api/search", params={"q": "wings", "k": 1001}).status_code == 400
