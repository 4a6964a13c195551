"""The answers of the API are as the OpenAPI description says."""

import pytest

from searchlab.web.api.answer_schemas import ANSWERS
from searchlab.web.routes.routing import ENDPOINTS
from tests.web.search_client import client_for

TYPES = {
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
}


def faults(schema, value, where="answer"):
    """Where a value is not as a JSON schema says."""
    if "anyOf" in schema:
        found = [faults(each, value, where) for each in schema["anyOf"]]
        return [] if [] in found else found[0]
    if not TYPES[schema["type"]](value):
        return [f"{where} is {value!r}, expected {schema['type']}"]
    if "enum" in schema and value not in schema["enum"]:
        return [f"{where} is {value!r}"]
    if schema["type"] == "array":
        return [fault for at, each in enumerate(value) for fault in faults(schema["items"], each, f"{where}[{at}]")]
    if schema["type"] != "object":
        return []
    missing = [f"{where}.{name} is missing" for name in schema.get("required", ()) if name not in value]
    properties = schema.get("properties", {})
    known = [(name, each) for name, each in properties.items() if name in value]
    inner = [fault for name, each in known for fault in faults(each, value[name], f"{where}.{name}")]
    more = schema.get("additionalProperties")
    if isinstance(more, dict):
        inner += [fault for name, each in value.items() for fault in faults(more, each, f"{where}.{name}")]
    return missing + inner


@pytest.fixture(scope="module")
def client(build, tmp_path_factory):
    from tests.web.search_client import DOCUMENTS

    folder = build(DOCUMENTS, folder=tmp_path_factory.mktemp("schemas") / "it")
    with client_for(folder) as client:
        yield client


TOPIC = {"topic_set": "searches", "qid": "1"}
SEARCH = {"q": "cells", "facet": "year", "judge": "ann"}
REQUESTS = [
    ("POST", "/api/judgments", {"query": "cells", "docno": "d1", "grade": 2, "judge": "ann"}),
    ("POST", "/api/judgments/batch", {"query": "cells", "judge": "ann", "judgments": [{"docno": "d2", "grade": 0}]}),
    ("GET", "/api/indexes", {}),
    ("GET", "/api/search", SEARCH),
    ("GET", "/api/search", {"q": "lymph"}),
    ("POST", "/api/search/batch", {"queries": ["cells", "mice"], "k": 2}),
    ("GET", "/api/similar", {"docno": "d1"}),
    ("GET", "/api/document", {"docno": "d1", "q": "cells"}),
    ("GET", "/api/suggest", {"q": "lymp"}),
    ("GET", "/api/compare", {"q": "cells", "left": "bm25", "right": "tfidf"}),
    ("GET", "/api/explain", {"q": "cells", "docno": "d1", "against": "d2"}),
    ("POST", "/api/searches", {"q": "cells", "name": "a"}),
    ("GET", "/api/searches", {}),
    ("DELETE", "/api/searches", {"name": "a"}),
    ("DELETE", "/api/history", {}),
    ("GET", "/api/topic-sets", {}),
    ("GET", "/api/topics", {"topic_set": "searches"}),
    ("POST", "/api/topics", {"topic_set": "mine", "text": "wings"}),
    ("GET", "/api/judgments", {"topic_set": "searches"}),
    ("POST", "/api/import/preview", {"topic_set": "mine", "text": "query,docid,rating\na,d1,1\nb,x,1\n"}),
    ("POST", "/api/import/table", {"topic_set": "mine", "text": "query,docid,rating\na,d1,1\n", "judge": "ann"}),
    ("DELETE", "/api/judgments", TOPIC | {"docno": "d1", "judge": "ann"}),
]


def test_answers_are_as_described(client):
    for method, path, values in REQUESTS:
        sent = {"json": values} if method == "POST" else {"params": values}
        answer = client.request(method, path, **sent)
        assert answer.status_code == 200, (method, path, answer.text)
        assert faults(ANSWERS[method, path], answer.json()) == [], (method, path)


def test_every_schema_is_that_of_an_endpoint_and_is_tried():
    endpoints = {(endpoint.method, endpoint.path) for endpoint in ENDPOINTS}
    tried = {(method, path) for method, path, _ in REQUESTS}
    assert ANSWERS.keys() <= endpoints
    assert ANSWERS.keys() - tried == {key for key in ANSWERS if "uploads" in key[1]}


def test_a_fault_would_be_found():
    schema = ANSWERS["GET", "/api/suggest"]
    assert faults(schema, {"query": "a", "suggestions": []}) == []
    assert faults(schema, {"query": 1}) == ["answer.suggestions is missing", "answer.query is 1, expected string"]


def test_grades_are_stored_together_and_withdrawn(client):
    def judged():
        listed = client.get("/api/judgments", params=TOPIC | {"judge": "bob"}).json()["judgments"]
        return {each["docno"]: each["grade"] for each in listed}

    batch = {"query": "cells", "judge": "bob", "judgments": [{"docno": "d1", "grade": 1}, {"docno": "d3", "grade": 2}]}
    assert client.post("/api/judgments/batch", json=batch).json()["n_judged"] == 2
    assert judged() == {"d1": 1, "d3": 2}
    client.delete("/api/judgments", params=TOPIC | {"docno": "d3", "judge": "bob"})
    assert judged() == {"d1": 1}
    for wrong, problem in (
        ([{"docno": "d2", "grade": 1}, {"docno": "nowhere", "grade": 1}], "judgment 2 of 2, after 1 were stored"),
        ([{"docno": "d2"}], "grade is missing"),
        ([{"docno": "d2", "grade": 1, "x": 1}], "unknown parameter 'x'"),
        (["d2"], "expected a JSON object"),
        ("d2", "judgments is 'd2', expected a list of objects"),
        ([{"docno": "d2", "grade": 1}] * 1001, "expected at most 1000"),
    ):
        answer = client.post("/api/judgments/batch", json=batch | {"judgments": wrong})
        assert answer.status_code in (400, 404)
        assert problem in answer.json()["error"]


def test_a_batch_of_searches_is_bounded_and_k_goes_to_a_thousand(client):
    answers = client.post("/api/search/batch", json={"queries": ["cells", "mice"], "k": 3}).json()["answers"]
    assert [answer["query"] for answer in answers] == ["cells", "mice"]
    alone = client.get("/api/search", params={"q": "mice", "k": 3}).json()
    assert answers[1]["hits"] == alone["hits"]
    assert client.post("/api/search/batch", json={"queries": ["a"] * 100, "k": 101}).status_code == 400
    assert client.post("/api/search/batch", json={"queries": ["a"] * 101}).status_code == 400
    assert client.get("/api/search", params={"q": "wings", "k": 1000}).json()["k"] == 1000
    assert client.get("/api/search", params={"q": "wings", "k": 1001}).status_code == 400
