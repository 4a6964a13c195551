"""The search endpoints answer as the engine does, and reject invalid requests in one line of JSON."""

import pytest

from searchlab.records import Document
from searchlab.retrieval import results
from searchlab.web.state.app_state import AppState
from searchlab.web.state.open_indexes import OpenIndexes
from tests.web.search_client import DOCUMENTS, HOSTILE, client_for, client_of, get_json


@pytest.mark.parametrize("system", ["bm25", "bm25:k1=0.9,b=0.4", "dirichlet+rm3", "bm25f"])
def test_a_search_finds_what_the_engine_finds(client, engine, system):
    found = get_json(client, "/api/search", q="lymphoma cells", system=system, k=3)
    expected = OpenIndexes([engine.snapshot.folder]).get().system(system)
    hits = expected.search("lymphoma cells", k=3)
    assert [hit["docno"] for hit in found["hits"]] == hits.docnos
    assert [hit["score"] for hit in found["hits"]] == hits.scores.tolist()
    assert [hit["rank"] for hit in found["hits"]] == [1, 2, 3]
    assert found["system"] == {"name": system, "label": expected.label, "kind": "scorer"}
    assert found["n_docs"] == len(DOCUMENTS)
    assert 0 < found["seconds"] < 60


def test_hits_have_texts_with_their_matches_and_fields(client):
    (hit,) = get_json(client, "/api/search", q='"t cells"', k=5)["hits"]
    assert hit["docno"] == "d1"
    assert hit["fields"] == {"year": 1988, "journal": "Lancet"}
    for part in ("title", "snippet"):
        words = [hit[part][start:end] for start, end in hit["marks"][part]]
        assert set(words) == {"T", "cells"}


def test_hits_have_the_names_that_the_command_line_prints(client):
    (hit,) = get_json(client, "/api/search", q='"t cells"')["hits"]
    assert list(hit) == ["rank", "score", "docno", "title", "snippet", "marks", "fields", "grade"]


def test_pages_follow_each_other_without_gap_or_repetition(client, engine):
    pages = [get_json(client, "/api/search", q="wings", k=10, page=page) for page in (1, 2, 3, 4)]
    assert [len(page["hits"]) for page in pages] == [10, 10, 5, 0]
    assert [page["more"] for page in pages] == [True, True, False, False]
    docnos = [hit["docno"] for page in pages for hit in page["hits"]]
    assert docnos == engine.search("wings", k=None).docnos
    assert [hit["rank"] for page in pages for hit in page["hits"]] == list(range(1, 26))


def test_filters_restrict_the_hits(client):
    found = get_json(client, "/api/search", q="lymphoma cells", filter="year=1990")
    assert {hit["docno"] for hit in found["hits"]} == {"d2", "d3"}
    both = client.get(
        "/api/search", params=[("q", "cells"), ("filter", "year=[1980 TO 1995]"), ("filter", "journal=lancet")]
    )
    assert [hit["docno"] for hit in both.json()["hits"]] == ["d1"]
    assert "unknown field" in get_json(client, "/api/search", 400, q="cells", filter="colour=red")["error"]


def test_a_misspelt_word_is_reported_and_corrected(client):
    found = get_json(client, "/api/search", q="Lymphona, cells lymphona")
    assert found["unknown"] == ["Lymphona", "lymphona"] or found["unknown"] == ["Lymphona"]
    assert found["corrected_query"].lower() == "lymphoma, cells lymphoma"
    assert set(found["suggestions"]) == set(found["unknown"])
    correct = get_json(client, "/api/search", q="lymphoma")
    assert (correct["suggestions"], correct["corrected_query"]) == ({}, None)


def test_the_number_of_corrected_words_is_bounded(client, monkeypatch):
    words = []
    monkeypatch.setattr(results, "MAX_CORRECTED_WORDS", 2)
    monkeypatch.setattr(
        "searchlab.retrieval.suggest.spelling._similar_words",
        lambda snapshot, word, languages: words.append(word) or {},  # type: ignore[func-returns-value]
    )
    get_json(client, "/api/search", q="zzzqa zzzqb zzzqc zzzqd cells")
    assert len(words) == 2


def test_a_document_comes_in_full_with_the_words_of_the_query_marked(client):
    plain = get_json(client, "/api/document", docno="d1")
    assert (plain["body"], plain["marks"]) == (DOCUMENTS[0].body, {"title": [], "body": []})
    found = get_json(client, "/api/document", docno="d1", q="lymphoma")
    assert len(found["marks"]["body"]) == 3
    assert found["body"][slice(*found["marks"]["body"][0])] == "Lymphomas"


def test_hostile_documents_come_unchanged(client):
    found = get_json(client, "/api/document", docno="d4/../&x=<b>")
    assert found["title"] == found["body"] == HOSTILE


def test_similar_documents_do_not_include_the_document_itself(client):
    found = get_json(client, "/api/similar", docno="d1", k=5)
    docnos = [hit["docno"] for hit in found["hits"]]
    assert "d3" in docnos and "d1" not in docnos
    assert found["similar_to"] == {"docno": "d1", "title": "Lymphoma of T cells"}
    assert [hit["rank"] for hit in found["hits"]] == list(range(1, 1 + len(docnos)))


def test_words_of_the_index_are_suggested_for_the_last_word(client):
    texts = [each["text"] for each in get_json(client, "/api/suggest", q="mice ly")["suggestions"]]
    assert texts == ["mice lymphoma", "mice lymphomas"]
    assert get_json(client, "/api/suggest", q="")["suggestions"] == []
    assert get_json(client, "/api/suggest", q="mice ")["suggestions"] == []


def test_past_queries_are_suggested_before_words(search_folder):
    app_state = AppState(OpenIndexes([search_folder]))
    with client_of(app_state) as client:
        assert client.get("/", params={"q": "lymphoma in mice"}).status_code == 200
        assert client.get("/", params={"q": "lymzzz"}).status_code == 200  # no hits, so it is not suggested
        app_state.query_history.flush()
        found = client.get("/api/suggest", params={"q": "lym"}).json()["suggestions"]
    assert found[0] == {"text": "lymphoma in mice", "kind": "past"}
    assert {each["kind"] for each in found[1:]} == {"word"}


@pytest.mark.parametrize(
    ("path", "parameters", "status", "message"),
    [
        ("/api/search", {}, 400, "q is missing"),
        ("/api/search", {"q": "   "}, 400, "q is empty"),
        ("/api/search", {"q": "a" * 1001}, 400, "1,001 characters"),
        ("/api/search", {"q": "a", "k": 0}, 400, "expected a whole number from 1 to 100"),
        ("/api/search", {"q": "a", "k": 10**30}, 400, "expected"),
        ("/api/search", {"q": "a", "k": 10, "page": 6}, 400, "page 6 of 10 ends at rank 60, expected at most 50"),
        ("/api/search", {"q": "a", "system": "bm52"}, 400, "did you mean bm25"),
        ("/api/search", {"q": "a", "system": "model:../../etc/passwd"}, 400, "unknown model"),
        ("/api/search", {"q": "a", "index": "../it"}, 404, "unknown index '../it', expected one of it"),
        ("/api/search", {"q": "a", "colour": "red"}, 400, "unknown parameter 'colour'"),
        ("/api/search", {"q": "a", "filter": "year"}, 400, "expected field=value"),
        ("/api/document", {"docno": "nobody"}, 404, "has no document 'nobody'"),
        ("/api/document", {"docno": "../../../etc/passwd"}, 404, "has no document"),
        ("/api/similar", {"docno": "nobody"}, 404, "has no document"),
        ("/api/explain", {"q": "a", "docno": "nobody"}, 404, "has no document"),
        ("/api/explain", {"q": "a", "docno": "d1", "against": "d1"}, 400, "expected another"),
        ("/api/compare", {"q": "a", "left": "jm", "right": "jm"}, 400, "two different systems"),
        ("/api/jobs/7", {}, 404, "there is no training job '7'"),
        ("/api/nothing", {}, 404, "no such page"),
    ],
)
def test_invalid_requests_are_rejected_in_one_line(client, search_folder, path, parameters, status, message):
    error = get_json(client, path, status, **parameters)
    assert error.keys() == {"error", "field"}
    assert message in error["error"]
    assert len(error["error"].splitlines()) == 1
    assert str(search_folder.parent) not in error["error"]


def test_an_updated_index_is_used_by_the_next_request(build, tmp_path):
    folder = build([Document("a", "", "alpha")], folder=tmp_path / "it")
    with client_for(folder) as client:
        assert client.get("/api/search", params={"q": "alpha"}).json()["n_docs"] == 1
        build([Document("a", "", "alpha"), Document("b", "", "alpha alpha")], folder=folder)
        found = client.get("/api/search", params={"q": "alpha"}).json()
    assert found["n_docs"] == 2
    assert {hit["docno"] for hit in found["hits"]} == {"a", "b"}


def test_all_indexes_are_listed_with_their_systems(client):
    (index,) = get_json(client, "/api/indexes")["indexes"]
    assert (index["name"], index["n_docs"]) == ("it", len(DOCUMENTS))
    assert index["fields"] == ["journal", "note", "year"]
    assert index["systems"][0] == {"name": "bm25", "label": "BM25", "kind": "scorer"}


def test_a_search_is_sorted_by_a_field_and_counts_facets(client):
    found = get_json(client, "/api/search", q="cells lymphoma", k=1, sort="year:desc", facet="year,journal")
    assert [hit["docno"] for hit in found["hits"]] == ["d3"]
    assert (found["sort"], found["n_matches"], found["more"]) == ("year:desc", 4, True)
    assert found["facets"]["year"] == {
        "values": [{"value": "1988", "n_docs": 1}, {"value": "1990", "n_docs": 2}],
        "n_values": 2,
        "n_without": 1,
    }
    assert found["facets"]["journal"]["values"] == [{"value": "Lancet", "n_docs": 1}]
    docnos = [get_json(client, "/api/search", q="cells", k=1, sort="year", page=n)["hits"] for n in (1, 2, 3)]
    assert [hits[0]["docno"] for hits in docnos] == ["d1", "d2", "d3"]


def test_a_search_counts_numbers_of_a_field_in_bins(client):
    found = get_json(client, "/api/search", q="cells lymphoma", k=1, histogram="year")
    assert found["histogram"][0] == {"first": 1988, "last": 1988, "n_docs": 1, "n_found": 1}
    assert [each["n_docs"] for each in found["histogram"]] == [1, 0, 2]
    assert get_json(client, "/api/search", q="cells")["histogram"] == []


@pytest.mark.parametrize("system", ["bm25", "bm25+rm3"])
@pytest.mark.parametrize("written", ["year=1988", "year=[TO 1989]", " year = [1988 TO 1988]"])
def test_a_histogram_leaves_out_the_filter_of_its_field_and_keeps_the_others(client, system, written):
    def count(*filters):
        found = get_json(client, "/api/search", q="cells lymphoma", histogram="year", filter=filters, system=system)
        return found["n_matches"], [(each["first"], each["n_docs"], each["n_found"]) for each in found["histogram"]]

    assert count(written) == (1, [(1988, 1, 1), (1989, 0, 0), (1990, 2, 0)])
    assert count("journal=Lancet")[1] == count("journal=Lancet", "year=[1980 TO 2000]")[1]
    assert count("journal=Lancet", "year=1700")[1] == [(first, n, 0) for first, n, _ in count("journal=Lancet")[1]]


def test_a_field_that_is_not_there_is_refused(client):
    for name in ("sort", "facet", "histogram"):
        error = get_json(client, "/api/search", 400, q="cells", **{name: "colour"})["error"]
        assert error.startswith("unknown field 'colour'")


def test_words_of_other_fields_are_offered(client):
    found = get_json(client, "/api/search", q="lancet")
    assert found["other_fields"] == [{"field": "journal", "n_docs": 1, "query": "journal:lancet"}]
    assert get_json(client, "/api/search", q="journal:lancet")["n_matches"] == 1


def test_hits_in_documents_with_pages_have_the_page_and_the_page_shows_it(build):
    client = client_for(build([Document("a", "T", "one\ftwo wings"), Document("b", "T", "wings")]))
    found = get_json(client, "/api/search", q="wings")
    assert {hit["docno"]: hit.get("page") for hit in found["hits"]} == {"a": 2, "b": None}
    text = client.get("/", params={"q": "wings"}).text
    assert text.count("p. 2") == 1
    assert "p. 1" not in text
    document = client.get("/document", params={"docno": "a", "q": "wings"}).text
    assert "one\n\ntwo <mark>wings</mark>" in document
