"""Past queries: order, prefixes and deletion."""

import pytest

from searchlab.judgments.judgment_store import JudgmentStore


@pytest.fixture
def store(tmp_path):
    with JudgmentStore(tmp_path / "it.judgments.sqlite") as store:
        yield store


def test_past_queries_are_unique_and_the_latest_first(store):
    for text in ["Heat flow", "wings", "heat  shield", "HEAT FLOW", "%", "_", " \n"]:
        store.record_queries(text)
    assert store.past_queries("", 9) == ["_", "%", "HEAT FLOW", "heat shield", "wings"]
    assert store.past_queries(" hEAT", 9) == ["HEAT FLOW", "heat shield"]
    assert store.past_queries("heat", 1) == ["HEAT FLOW"]
    assert store.past_queries("%", 9) == ["%"]
    assert store.past_queries("heat", -1) == []


def test_old_queries_are_deleted(store, monkeypatch):
    monkeypatch.setattr("searchlab.judgments.searches.query_history.MAX_PAST_QUERIES", 3)
    for text in ["a", "b", "c", "a", "d"]:
        store.record_queries(text)
    assert store.past_queries("", 9) == ["d", "a", "c"]


def test_all_past_queries_are_deleted_on_request(store):
    assert store.delete_past_queries() == 0
    for text in ["a", "b"]:
        store.record_queries(text)
    assert store.delete_past_queries() == 2
    assert store.past_queries("", 9) == []
