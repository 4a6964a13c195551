"""Does the API say what the engine says, describe itself, and refuse what makes no sense in one line of JSON?"""

import json

import pytest
from starlette.testclient import TestClient

import searchlab
from searchlab.analysis.analyzer import AnalysisSettings
from searchlab.records import Document
from searchlab.web import app as app_module
from searchlab.web.api import search
from searchlab.web.app import ENDPOINTS, make_app
from searchlab.web.limits import Limits
from searchlab.web.middleware.security import Safety
from searchlab.web.state.app_state import Desk
from searchlab.web.state.open_indexes import Shelf

HOSTILE = (
    "<script>alert(1)</script><img src=x onerror=alert(2)> \"'> </p></main> "
    "{{ 7*7 }} {% raw %} \u202egnp &amp; lymphoma"
)
DOCUMENTS = [
    Document("d1", "Lymphoma of T cells", "Lymphomas of T cells in mice. " * 3, {"year": 1988, "journal": "Lancet"}),
    Document("d2", "Cells", "Cells divide, and cells die.", {"year": 1990}),
    Document("d3", "", "Mice with a lymphoma, fed on cells.", {"year": 1990, "note": HOSTILE}),
    Document("d4/../&x=<b>", HOSTILE, HOSTILE),
    *(Document(f"w{number:02}", "Wings", f"Heat flow over wings {number}.") for number in range(25)),
]


@pytest.fixture(scope="module")
def folder(build, tmp_path_factory):
    return build(DOCUMENTS, settings=AnalysisSettings(), folder=tmp_path_factory.mktemp("api") / "it")


@pytest.fixture(scope="module")
def engine(folder):
    return searchlab.open(folder)


@pytest.fixture(scope="module")
def client(folder):
    app = make_app(Desk(Shelf([folder]), limits=Limits(depth=50)), Safety(None, True, secret=b"s" * 32))
    with TestClient(app, base_url="http://127.0.0.1") as own:
        yield own


def get(client, path, status=200, **parameters):
    answer = client.get(path, params=parameters)
    assert answer.headers["content-type"] == "application/json"
    assert answer.status_code == status, answer.text
    return answer.json()


@pytest.mark.parametrize("ranker", ["bm25", "bm25:k1=0.9,b=0.4", "dirichlet+rm3", "bm25f"])
def test_a_search_finds_what_the_engine_finds(client, engine, ranker):
    found = get(client, "/api/search", q="lymphoma cells", ranker=ranker, k=3)
    system = Shelf([engine.snapshot.folder]).get().system(ranker)
    hits = system.search("lymphoma cells", k=3)
    assert [result["id"] for result in found["results"]] == hits.docnos
    assert [result["score"] for result in found["results"]] == hits.scores.tolist()
    assert [result["rank"] for result in found["results"]] == [1, 2, 3]
    assert found["ranker"] == {"name": ranker, "label": system.label, "kind": "scorer"}
    assert found["n_documents"] == len(DOCUMENTS)
    assert 0 < found["seconds"] < 60


def test_results_bring_texts_with_their_matches_and_fields(client):
    (result,) = get(client, "/api/search", q='"t cells"', k=5)["results"]
    assert result["id"] == "d1"
    assert result["fields"] == {"year": 1988, "journal": "Lancet"}
    for part in ("title", "snippet"):
        words = [result[part]["text"][start:end] for start, end in result[part]["marks"]]
        assert set(words) == {"T", "cells"}


def test_pages_follow_each_other_without_gap_or_repetition(client, engine):
    pages = [get(client, "/api/search", q="wings", k=10, page=page) for page in (1, 2, 3, 4)]
    assert [len(page["results"]) for page in pages] == [10, 10, 5, 0]
    assert [page["more"] for page in pages] == [True, True, False, False]
    ids = [result["id"] for page in pages for result in page["results"]]
    assert ids == engine.search("wings", k=None).docnos
    assert [result["rank"] for page in pages for result in page["results"]] == list(range(1, 26))


def test_filters_restrict_what_is_found(client):
    assert {each["id"] for each in get(client, "/api/search", q="lymphoma cells", filter="year=1990")["results"]} == {
        "d2",
        "d3",
    }
    both = client.get(
        "/api/search", params=[("q", "cells"), ("filter", "year=[1980 TO 1995]"), ("filter", "journal=lancet")]
    )
    assert [each["id"] for each in both.json()["results"]] == ["d1"]
    assert "unknown field" in get(client, "/api/search", 400, q="cells", filter="colour=red")["error"]


def test_a_misspelt_word_is_told_and_mended(client):
    found = get(client, "/api/search", q="Lymphona, cells lymphona")
    assert found["unknown"] == ["Lymphona", "lymphona"] or found["unknown"] == ["Lymphona"]
    assert found["suggestion"]["query"].lower() == "lymphoma, cells lymphoma"
    assert get(client, "/api/search", q="lymphoma")["suggestion"] is None


def test_many_unknown_words_are_not_all_looked_for(client, monkeypatch):
    asked = []
    monkeypatch.setattr(search, "MOST_CORRECTED", 2)
    monkeypatch.setattr(
        "searchlab.retrieval.suggest.spelling._similar_words", lambda snapshot, word: asked.append(word) or {}
    )
    get(client, "/api/search", q="zzzqa zzzqb zzzqc zzzqd cells")
    assert len(asked) == 2


def test_a_document_comes_in_full_with_the_words_of_the_query_marked(client):
    plain = get(client, "/api/document", id="d1")
    assert plain["body"] == {"text": DOCUMENTS[0].body, "marks": []}
    found = get(client, "/api/document", id="d1", q="lymphoma")
    assert len(found["body"]["marks"]) == 3
    assert found["body"]["text"][slice(*found["body"]["marks"][0])] == "Lymphomas"


def test_hostile_documents_come_as_they_are(client):
    found = get(client, "/api/document", id="d4/../&x=<b>")
    assert found["title"]["text"] == found["body"]["text"] == HOSTILE


def test_documents_like_one_do_not_hold_it(client):
    found = get(client, "/api/similar", id="d1", k=5)
    ids = [result["id"] for result in found["results"]]
    assert "d3" in ids and "d1" not in ids
    assert found["like"] == {"id": "d1", "title": "Lymphoma of T cells"}
    assert [result["rank"] for result in found["results"]] == list(range(1, 1 + len(ids)))


def test_words_of_the_index_are_suggested_for_the_last_word(client):
    texts = [each["text"] for each in get(client, "/api/suggest", q="mice ly")["suggestions"]]
    assert texts == ["mice lymphoma", "mice lymphomas"]
    assert get(client, "/api/suggest", q="")["suggestions"] == []
    assert get(client, "/api/suggest", q="mice ")["suggestions"] == []


def test_past_queries_are_suggested_before_words(folder):
    desk = Desk(Shelf([folder]))
    with TestClient(make_app(desk, Safety(None, True, secret=b"s" * 32)), base_url="http://127.0.0.1") as own:
        assert own.get("/", params={"q": "lymphoma in mice"}).status_code == 200
        assert own.get("/", params={"q": "lymzzz"}).status_code == 200  # found nothing, so nothing to suggest
        desk._scribe.submit(lambda: None).result(10)
        found = own.get("/api/suggest", params={"q": "lym"}).json()["suggestions"]
    assert found[0] == {"text": "lymphoma in mice", "kind": "past"}
    assert {each["kind"] for each in found[1:]} == {"word"}


def test_two_rankers_are_compared(client, engine):
    found = get(client, "/api/compare", q="lymphoma cells", left="bm25", right="tfidf", k=4)
    left = [result["id"] for result in found["left"]["results"]]
    right = [result["id"] for result in found["right"]["results"]]
    assert left == engine.search("lymphoma cells", k=4).docnos
    for pair in found["pairs"]:
        assert (pair["left"], pair["right"]) == (left.index(pair["id"]) + 1, right.index(pair["id"]) + 1)
    assert found["overlap"] == 4
    moved = {pair["id"] for pair in found["pairs"] if pair["left"] != pair["right"]}
    assert {move["id"] for move in found["moves"]} == moved


def test_what_moved_up_is_told_with_what_it_overtook_and_why(client):
    """By tf·idf with raw frequencies a document with many cells overtakes a short one with all words."""
    found = get(client, "/api/compare", q="lymphoma cells", left="bm25:b=1", right="bm25:k1=50,b=0", k=4)
    risen = [move for move in found["moves"] if move["overtook"]]
    assert risen
    for move in risen:
        assert move["to"] < move["from"]
        assert move["sentence"].startswith(f"up from rank {move['from']} to rank {move['to']}, past ")
        assert move["why"] and all(reason["amount"] > 0 for reason in move["why"])
    fallen = [move for move in found["moves"] if move["overtaken_by"]]
    assert fallen
    for move in fallen:
        assert move["to"] > move["from"]
        assert move["overtook"] is None
        assert f"to rank {move['to']}, behind {move['overtaken_by']['title']}, which has more for " in move["sentence"]


def test_what_one_ranker_does_not_find_is_not_told_to_be_below(client):
    """RM3 also finds documents that have no word of the query."""
    pair = {"q": "mice", "k": 20}
    gained = get(client, "/api/compare", **pair, left="bm25", right="bm25+rm3")
    left = [result["id"] for result in gained["left"]["results"]]
    new = [move for move in gained["moves"] if move["id"] not in left]
    assert new
    for move in new:
        assert move["sentence"].startswith(f"up to rank {move['to']} (not found on the left)")
    lost = get(client, "/api/compare", **pair, left="bm25+rm3", right="bm25")
    gone = [move for move in lost["moves"] if move["to"] is None]
    assert {move["id"] for move in gone} == {move["id"] for move in new}
    for move in gone:
        assert move["sentence"].startswith(f"down from rank {move['from']} (not found on the right)")


def test_what_is_not_found_is_not_told_to_be_above(client):
    found = get(client, "/api/explain", q="cells NOT lymphoma", id="d1", against="d2")
    assert found["document"]["score"] > 0
    assert (found["document"]["found"], found["against"]["found"]) == (False, True)
    assert found["sentence"].startswith("d1 is not found by this query: ")
    alone = get(client, "/api/explain", q="cells", id="d1", filter=["year=1990"])
    assert alone["sentence"].startswith("d1 is not found by this query with these filters: ")
    assert get(client, "/api/explain", q="cells", id="d1")["sentence"] == ""


def test_only_occurrences_are_told_as_such(client):
    """BM25F counts a title twice, and holds it against the usual length."""
    (part,) = get(client, "/api/explain", q="lymphoma", id="d1")["document"]["parts"]
    assert (part["raw"], part["how"]) == (4, [])
    (part,) = get(client, "/api/explain", q="lymphoma", id="d1", ranker="bm25f")["document"]["parts"]
    assert part["raw"] is None
    assert part["how"][0].startswith("weighed frequency ")


def test_an_explanation_adds_up(client):
    found = get(client, "/api/explain", q="lymphoma cells", id="d1", against="d2")
    assert sum(part["amount"] for part in found["document"]["parts"]) == pytest.approx(found["document"]["score"])
    lead = found["document"]["score"] - found["against"]["score"]
    assert sum(each["amount"] for each in found["differences"]) == pytest.approx(lead)
    assert found["sentence"].startswith("d1 scores ")
    assert get(client, "/api/explain", q="lymphoma", id="d1")["against"] is None


@pytest.mark.parametrize(
    ("path", "parameters", "status", "told"),
    [
        ("/api/search", {}, 400, "q is missing"),
        ("/api/search", {"q": "   "}, 400, "q is empty"),
        ("/api/search", {"q": "a" * 1001}, 400, "1,001 characters"),
        ("/api/search", {"q": "a", "k": 0}, 400, "expected a whole number from 1 to 100"),
        ("/api/search", {"q": "a", "k": 10**30}, 400, "expected"),
        ("/api/search", {"q": "a", "k": 10, "page": 6}, 400, "ends below rank 50"),
        ("/api/search", {"q": "a", "ranker": "bm52"}, 400, "did you mean bm25"),
        ("/api/search", {"q": "a", "ranker": "model:../../etc/passwd"}, 400, "there is no model"),
        ("/api/search", {"q": "a", "index": "../it"}, 404, "there is no index"),
        ("/api/search", {"q": "a", "colour": "red"}, 400, "unknown parameter 'colour'"),
        ("/api/search", {"q": "a", "filter": "year"}, 400, "expected field=value"),
        ("/api/document", {"id": "nobody"}, 404, "has no document 'nobody'"),
        ("/api/document", {"id": "../../../etc/passwd"}, 404, "has no document"),
        ("/api/similar", {"id": "nobody"}, 404, "has no document"),
        ("/api/explain", {"q": "a", "id": "nobody"}, 404, "has no document"),
        ("/api/explain", {"q": "a", "id": "d1", "against": "d1"}, 400, "expected another"),
        ("/api/compare", {"q": "a", "left": "jm", "right": "jm"}, 400, "two different rankers"),
        ("/api/jobs/7", {}, 404, "there is no training '7'"),
        ("/api/nothing", {}, 404, "no such page"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(client, folder, path, parameters, status, told):
    error = get(client, path, status, **parameters)
    assert error.keys() == {"error"}
    assert told in error["error"]
    assert len(error["error"].splitlines()) == 1
    assert str(folder.parent) not in error["error"]


def test_our_own_mistakes_are_logged_and_not_shown(folder, monkeypatch, caplog):
    monkeypatch.setattr(search, "_correction", lambda *arguments: 1 / 0)
    with TestClient(
        make_app(Desk(Shelf([folder])), Safety(None, True, secret=b"s" * 32)), base_url="http://127.0.0.1"
    ) as own:
        answer = own.get("/api/search", params={"q": "cells"})
        page = own.get("/", params={"q": "cells"})
    assert (answer.status_code, page.status_code) == (500, 500)
    for text in (answer.text, page.text):
        assert "internal error" in text
        assert "ZeroDivision" not in text and "Traceback" not in text
    assert caplog.text.count("ZeroDivisionError") >= 2


def test_the_index_that_was_updated_is_picked_up_between_requests(build, tmp_path):
    folder = build([Document("a", "", "alpha")], folder=tmp_path / "it")
    with TestClient(
        make_app(Desk(Shelf([folder])), Safety(None, True, secret=b"s" * 32)), base_url="http://127.0.0.1"
    ) as own:
        assert own.get("/api/search", params={"q": "alpha"}).json()["n_documents"] == 1
        build([Document("a", "", "alpha"), Document("b", "", "alpha alpha")], folder=folder)
        found = own.get("/api/search", params={"q": "alpha"}).json()
    assert found["n_documents"] == 2
    assert {result["id"] for result in found["results"]} == {"a", "b"}


def test_the_description_has_every_entry_and_nothing_else(client):
    description = get(client, "/api/openapi.json")
    assert description["openapi"].startswith("3.1")
    described = {(method.upper(), path) for path, own in description["paths"].items() for method in own}
    assert described == {(endpoint.method, endpoint.path) for endpoint in ENDPOINTS}
    names = [operation["operationId"] for own in description["paths"].values() for operation in own.values()]
    assert len(set(names)) == len(names)
    for endpoint in ENDPOINTS:
        operation = description["paths"][endpoint.path][endpoint.method.lower()]
        if endpoint.is_write:
            body = operation["requestBody"]["content"]["application/json"]["schema"]
            assert set(body["properties"]) == {parameter.name for parameter in endpoint.parameters}
        else:
            assert {each["name"] for each in operation["parameters"]} == {each.name for each in endpoint.parameters}
        assert "404" in operation["responses"]


def test_every_entry_takes_the_parameters_that_it_declares():
    import inspect

    for endpoint in ENDPOINTS:
        wanted = set(inspect.signature(endpoint.answer).parameters) - {"desk"}
        assert wanted == {parameter.name for parameter in endpoint.parameters}, endpoint.path


def test_numbers_that_json_does_not_know_are_null():
    assert json.loads(app_module._encode({"a": float("nan"), "b": [float("inf"), 1.5]})) == {
        "a": None,
        "b": [None, 1.5],
    }


def test_styles_and_scripts_are_served_and_nothing_else_of_the_disk(client):
    style = client.get("/static/style.css")
    assert style.headers["content-type"].startswith("text/css")
    again = client.get("/static/style.css", headers={"if-none-match": style.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    for name in ("../app.py", "..%2fapp.py", "nothing.css", "%2e%2e%2fapp.py", "templates"):
        assert client.get(f"/static/{name}").status_code == 404


def test_reports_are_found_by_name_and_bring_a_policy_of_their_own(folder, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "report.html").write_text("<p>found</p>")
    (tmp_path / "secret.html").write_text("secret")
    desk = Desk(Shelf([folder]), reports_folder=tmp_path)
    with TestClient(make_app(desk, Safety(None, True, secret=b"s" * 32)), base_url="http://127.0.0.1") as own:
        answer = own.get("/report/mine/")
        assert answer.text == "<p>found</p>"
        assert "script-src" not in answer.headers["content-security-policy"]
        for name in ("other", "mine%2f..%2f..", "secret.html"):
            lost = own.get(f"/report/{name}/")
            assert lost.status_code == 404
            assert "secret" not in lost.text or name == "secret.html"


def test_searches_are_answered_at_once_when_they_are_known_to_be_brief_and_documents_never(folder, monkeypatch):
    """The loop of the test client runs in one thread, workers in others."""
    import threading

    seen = []
    real = search.find_document
    monkeypatch.setattr(search, "_correction", lambda *arguments: seen.append(threading.current_thread().name))
    monkeypatch.setattr(
        search, "find_document", lambda *given: seen.append(threading.current_thread().name) or real(*given)
    )
    with TestClient(
        make_app(Desk(Shelf([folder])), Safety(None, True, secret=b"s" * 32)), base_url="http://127.0.0.1"
    ) as own:
        for _ in range(3):
            assert own.get("/api/search", params={"q": "cells"}).status_code == 200
        for _ in range(3):
            assert own.get("/api/document", params={"id": "d1"}).status_code == 200
    assert [name.startswith("searchlab-quick") for name in seen] == [True, True, False, True, True, True]
