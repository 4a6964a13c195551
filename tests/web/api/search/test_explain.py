"""Explanations add up to scores, and say whether documents are found at all."""

import pytest

from tests.web.search_client import get_json


def test_a_document_that_is_not_found_is_not_said_to_be_above(client):
    found = get_json(client, "/api/explain", q="cells NOT lymphoma", docno="d1", against="d2")
    assert found["document"]["score"] > 0
    assert (found["document"]["found"], found["against"]["found"]) == (False, True)
    assert found["sentence"].startswith("d1 is not found by this query: ")
    alone = get_json(client, "/api/explain", q="cells", docno="d1", filter=["year=1990"])
    assert alone["sentence"].startswith("d1 is not found by this query with these filters: ")
    assert get_json(client, "/api/explain", q="cells", docno="d1")["sentence"] == ""


def test_only_occurrences_are_given_as_such(client):
    """BM25F counts a title twice, and normalises by its length: its frequencies are not occurrences."""
    (part,) = get_json(client, "/api/explain", q="lymphoma", docno="d1")["document"]["parts"]
    assert (part["raw"], part["query_count"], part["how"]) == (4, 1, [])
    assert "4 × in this document" in client.get("/explain", params={"q": "lymphoma", "docno": "d1"}).text
    (part,) = get_json(client, "/api/explain", q="lymphoma", docno="d1", system="bm25f")["document"]["parts"]
    assert part["raw"] != round(part["raw"])
    page = client.get("/explain", params={"q": "lymphoma", "docno": "d1", "system": "bm25f"}).text
    assert f"weighted frequency {part['raw']:.3g}" in page
    assert "× in this document" not in page


def test_stems_are_shown_as_words(client):
    """Of the query, or else of the index; the stem stands beside them."""
    values = {"q": "cells", "docno": "d1", "against": "d2"}
    found = get_json(client, "/api/explain", **values)
    for part in (found["document"]["parts"][0], found["differences"][0]):
        assert (part["label"], part["words"]) == ("cell", "cells")
    page = client.get("/explain", params=values).text
    assert "<bdi>cells</bdi>" in page and "<code>cell</code>" in page
    assert "× in this document" in page
    (part,) = get_json(client, "/api/explain", q="title:cells", docno="d1")["document"]["parts"]
    assert (part["label"], part["words"]) == ("title:cell", "title:cells")
    (part,) = get_json(client, "/api/explain", q="lymphoma", docno="d1")["document"]["parts"]
    assert (part["label"], part["words"]) == ("lymphoma", "")
    expanded = get_json(client, "/api/explain", q="mice", docno="d1", system="bm25+rm3")["document"]["parts"]
    assert {part["words"] or part["label"] for part in expanded} >= {"mice", "cells"}


def test_an_explanation_adds_up(client):
    found = get_json(client, "/api/explain", q="lymphoma cells", docno="d1", against="d2")
    assert sum(part["amount"] for part in found["document"]["parts"]) == pytest.approx(found["document"]["score"])
    lead = found["document"]["score"] - found["against"]["score"]
    assert sum(each["amount"] for each in found["differences"]) == pytest.approx(lead)
    assert found["sentence"].startswith("d1 scores ")
    assert get_json(client, "/api/explain", q="lymphoma", docno="d1")["against"] is None
