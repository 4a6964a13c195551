"""The answers of the API are as the OpenAPI description says: every endpoint is asked, and its answer validated."""

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from searchlab.records import Document
from searchlab.web.api.answers.answer_schemas import ANSWERS, NAMED_SCHEMAS
from searchlab.web.api.answers.schema_types import REFERENCE
from searchlab.web.api.openapi import describe_api
from searchlab.web.routes.routing import ENDPOINTS
from searchlab.web.state.app_state import AppState
from searchlab.web.state.open_indexes import OpenIndexes
from searchlab.web.uploads.upload_store import Uploads
from tests.web.judged_app import title_documents, title_grades
from tests.web.search_client import client_of

N_TOPICS = 6
COMPONENTS = {"components": {"schemas": NAMED_SCHEMAS}}
MINE = {"topic_set": "mine"}
TABLE = "query,docid,rating\nw9,9-good1,1\nb,nowhere,1\n"
QRELS = "\n".join(f"{qid} 0 {docno} {grade}" for qid in range(N_TOPICS) for docno, grade in title_grades(qid).items())
TOPICS = "\n".join(f"{qid}\tw{qid}" for qid in range(N_TOPICS))
GRADED = {"docno": "1-good1", "grade": 2, "judge": "bob"}
# In the order in which they can be sent; `JOB` and `CHANGE` stand for ids of earlier answers.
REQUESTS: list[tuple[str, str, dict[str, Any]]] = [
    ("GET", "/api/indexes", {}),
    ("GET", "/api/search", {"q": "w1", "facet": "year", "judge": "ann"}),
    ("GET", "/api/search", {"q": "p20", "group_duplicates": "true"}),
    ("POST", "/api/search/batch", {"queries": ["w1", "f2"], "k": 2}),
    ("GET", "/api/similar", {"docno": "1-good1"}),
    ("GET", "/api/document", {"docno": "1-good1", "q": "w1"}),
    ("GET", "/api/suggest", {"q": "w"}),
    ("GET", "/api/compare", {"q": "w1 f2", "left": "bm25", "right": "tfidf"}),
    ("GET", "/api/explain", {"q": "w1", "docno": "1-good1", "against": "1-good2"}),
    ("POST", "/api/searches", {"q": "w1", "name": "a", "judge": "ann"}),
    ("GET", "/api/searches", {"judge": "ann"}),
    ("DELETE", "/api/searches", {"name": "a", "judge": "ann"}),
    ("POST", "/api/searches/restore", {"name": "a", "judge": "ann"}),
    ("DELETE", "/api/history", {}),
    ("POST", "/api/import", MINE | {"topics": TOPICS, "qrels": QRELS, "judge": "ann"}),
    ("GET", "/api/topic-sets", {}),
    ("GET", "/api/topics", MINE),
    ("GET", "/api/topic", MINE | {"qid": "1"}),
    ("POST", "/api/topics", {"topic_set": "more", "text": "w7"}),
    ("POST", "/api/topics", {"topic_set": "more", "text": "w8"}),
    ("POST", "/api/topic/edit", {"topic_set": "more", "qid": "1", "criteria": "titles", "judge": "ann"}),
    ("POST", "/api/topics/merge", {"topic_set": "more", "qids": ["1"], "into": "2"}),
    ("POST", "/api/changes/undo", {"change": "CHANGE", "judge": "ann"}),
    ("POST", "/api/changes/redo", {"change": "CHANGE", "judge": "ann"}),
    ("POST", "/api/changes/undo", {"change": "CHANGE", "judge": "ann"}),
    ("DELETE", "/api/topics", {"topic_set": "more", "qids": "1"}),
    ("POST", "/api/topic-sets/rename", {"topic_set": "more", "new_name": "less"}),
    ("DELETE", "/api/topic-sets", {"topic_set": "less"}),
    ("GET", "/api/changes", {}),
    ("POST", "/api/judgments", GRADED | MINE | {"qid": "1"}),
    ("POST", "/api/judgments/undo", MINE | {"qid": "1", "judge": "bob"}),
    ("POST", "/api/judgments/undo", MINE | {"qid": "1", "judge": "bob"}),
    ("POST", "/api/judgments/redo", MINE | {"qid": "1", "judge": "bob"}),
    (
        "POST",
        "/api/judgments/batch",
        MINE | {"qid": "1", "judge": "eve", "judgments": [{"docno": "1-bad4", "grade": 0}]},
    ),
    ("GET", "/api/judgments", MINE),
    ("DELETE", "/api/judgments", MINE | {"qid": "1", "docno": "1-bad4", "judge": "eve"}),
    ("GET", "/api/agreement", MINE),
    ("POST", "/api/import/preview", MINE | {"text": TABLE}),
    ("POST", "/api/import/table", {"topic_set": "table", "text": TABLE, "judge": "ann"}),
    ("GET", "/api/pool", MINE | {"qid": "1", "depth": "3", "judge": "ann"}),
    ("GET", "/api/next", MINE | {"left": "bm25", "right": "tfidf", "n": "2"}),
    ("GET", "/api/readiness", MINE),
    ("GET", "/api/readiness", {"topic_set": "table"}),
    ("POST", "/api/train", MINE | {"name": "first", "k": 20}),
    ("GET", "/api/jobs", {}),
    ("GET", "/api/jobs/{id}", {"id": "JOB"}),
    ("POST", "/api/jobs/cancel", {"id": "JOB"}),
    ("POST", "/api/models/use", {"system": "model:first", "judge": "ann"}),
    ("GET", "/api/models", {}),
    ("GET", "/api/models/history", {"order": "verdict"}),
    ("GET", "/api/measure", MINE | {"systems": ["bm25", "tfidf", "model:first"]}),
    ("GET", "/api/measure", {"topic_set": "unjudged", "systems": ["bm25", "tfidf"]}),
    ("POST", "/api/experiments", MINE | {"systems": ["bm25", "bm25f"], "measures": ["nDCG@10"]}),
    ("GET", "/api/experiments", {}),
    ("GET", "/api/experiments/jobs", {}),
    ("GET", "/api/experiment", {"name": "EXPERIMENT"}),
    ("POST", "/api/experiments/cancel", {"id": "EXPERIMENT JOB"}),
    ("POST", "/api/models/rename", {"name": "first", "new_name": "second"}),
    ("POST", "/api/models/use", {"system": ""}),
    ("POST", "/api/models/delete", {"name": "second"}),
    ("POST", "/api/models/restore", {"name": "second"}),
    ("DELETE", "/api/models/{name}", {"name": "second"}),
    ("POST", "/api/uploads", {"name": "docs"}),
    ("POST", "/api/uploads/file", {"name": "docs", "path": "a.txt"}),
    ("POST", "/api/uploads/index", {"name": "docs"}),
    ("GET", "/api/uploads", {"name": "docs"}),
    ("GET", "/api/uploads/all", {}),
    ("DELETE", "/api/uploads", {"name": "docs"}),
]


def faults(schema, value):
    """Where a value is not as a schema says."""
    return [error.message for error in Draft202012Validator(schema | COMPONENTS).iter_errors(value)]


def undeclared(schema, value, where=""):
    """The names in a value that its schema does not have: a generated client has no fields for them."""
    schema = NAMED_SCHEMAS[schema["$ref"].removeprefix(REFERENCE)] if "$ref" in schema else schema
    if "anyOf" in schema:
        fitting = [each for each in schema["anyOf"] if faults(each, value) == []]
        return min((undeclared(each, value, where) for each in fitting), key=len)
    if isinstance(value, list):
        return [name for item in value for name in undeclared(schema["items"], item, f"{where}[]")]
    if not isinstance(value, dict):
        return []
    declared, others = schema.get("properties", {}), schema.get("additionalProperties")
    found = [f"{where}.{name}" for name in value if name not in declared and others is None]
    known = {name: declared.get(name, others) for name in value if name in declared or others is not None}
    return found + [name for key, each in known.items() for name in undeclared(each, value[key], f"{where}.{key}")]


@pytest.fixture(scope="module")
def server(build, tmp_path_factory):
    """A client, and the state behind it."""
    home = tmp_path_factory.mktemp("schemas")
    text = " ".join(f"p{n}" for n in range(30)).replace("p15", "\f p15")  # of two pages
    twice = [Document(docno, "", text) for docno in ("first", "second")]
    folder = build(title_documents() + twice, folder=home / "it")
    state = AppState(OpenIndexes([folder]), uploads=Uploads(home / "uploads", home))
    with client_of(state) as client:
        yield client, state


@pytest.fixture
def client(server):
    return server[0]


def send(client, method, path, values):
    if path == "/api/uploads/file":
        return client.post(path, params=values, content=b"text", headers={"content-type": "application/octet-stream"})
    path = path.replace("{id}", str(values.get("id")))
    if "{name}" in path:
        path, values = path.replace("{name}", values["name"]), {}
    values = {} if "/jobs/" in path and method == "GET" else values
    return client.request(method, path, **({"json": values} if method == "POST" else {"params": values}))


def test_answers_are_as_described(server):
    client, state = server
    state.judgments().add_topic("unjudged", "w5")
    ids = {}
    for method, path, values in REQUESTS:
        answer = send(client, method, path, {name: ids.get(str(value), value) for name, value in values.items()})
        assert answer.status_code == 200, (method, path, answer.text)
        found = answer.json()
        assert faults(ANSWERS[method, path], found) == [], (method, path, found)
        assert undeclared(ANSWERS[method, path], found) == [], (method, path)
        if values.get("group_duplicates"):
            assert found["hits"][0].keys() >= {"page", "duplicates"}
        if path == "/api/compare":
            assert found["moves"][0]["why"]
        if path == "/api/train":
            ids["JOB"] = found["id"]
            assert state.training_jobs.wait(found["id"], 120).state == "done"
        if (method, path) == ("POST", "/api/experiments"):
            ids |= {"EXPERIMENT": found["name"], "EXPERIMENT JOB": found["id"]}
            assert state.experiment_jobs.wait(found["id"], 120).state == "done"
        if path in ("/api/topics/merge", "/api/changes/redo"):
            ids["CHANGE"] = found["id"]
        if path == "/api/uploads/index":
            assert state.uploads.wait("docs", 60)["state"] == "done"


def test_every_endpoint_that_answers_in_json_is_described_and_tried():
    in_json = {(endpoint.method, endpoint.path) for endpoint in ENDPOINTS if not endpoint.is_text}
    assert ANSWERS.keys() == in_json
    assert {(method, path) for method, path, _ in REQUESTS} == in_json


def bare_objects(schema, where):
    """Where a schema allows an object of which nothing is known, or a value of any type."""
    if "$ref" in schema:
        return [] if schema["$ref"].removeprefix(REFERENCE) in NAMED_SCHEMAS else [where]
    if "anyOf" in schema:
        return [bare for each in schema["anyOf"] for bare in bare_objects(each, where)]
    if schema.get("type") == "array":
        return bare_objects(schema["items"], f"{where}[]")
    if schema.get("type") != "object":
        return [] if schema.get("type") else [where]
    inner = [
        bare for name, each in schema.get("properties", {}).items() for bare in bare_objects(each, f"{where}.{name}")
    ]
    more = schema.get("additionalProperties")
    if isinstance(more, dict):
        inner += bare_objects(more, f"{where}.*")
    return inner if schema.get("properties") or isinstance(more, dict) else [where]


def test_no_answer_of_the_description_is_without_fields():
    description = describe_api(ENDPOINTS)
    schemas = {
        f"{method} {path}": response["content"]["application/json"]["schema"]
        for path, methods in description["paths"].items()
        for method, operation in methods.items()
        for status, response in operation["responses"].items()
        if "application/json" in response["content"] and status == "200"
    }
    assert len(schemas) == len(ANSWERS)
    named = description["components"]["schemas"]
    assert [bare for name, each in (schemas | named).items() for bare in bare_objects(each, name)] == []
    assert bare_objects({"type": "object"}, "x") == ["x"]
    for each in schemas.values():
        Draft202012Validator.check_schema(each)


def test_a_fault_would_be_found():
    schema = ANSWERS["GET", "/api/suggest"]
    assert faults(schema, {"query": "a", "suggestions": []}) == []
    assert faults(schema, {"query": 1}) == ["'suggestions' is a required property", "1 is not of type 'string'"]
    more = {"query": "a", "suggestions": [{"text": "b", "kind": "past", "extra": 1}], "n": 1}
    assert undeclared(schema, more) == [".n", ".suggestions[].extra"]


@pytest.mark.parametrize(
    ("method", "path", "values", "field"),
    [
        ("GET", "/api/search", {"q": "w1", "k": "many"}, "k"),
        ("GET", "/api/search", {}, "q"),
        ("GET", "/api/search", {"q": " "}, "q"),
        ("GET", "/api/search", {"q": "w1", "x": "1"}, "x"),
        ("GET", "/api/search", {"q": "w1", "system": "nonsense"}, "system"),
        ("GET", "/api/search", {"q": "w1", "index": "other"}, "index"),
        ("GET", "/api/document", {"docno": "nowhere"}, "docno"),
        ("GET", "/api/pool", MINE | {"qid": "99"}, "qid"),
        ("GET", "/api/topics", {"topic_set": "none"}, "topic_set"),
        ("POST", "/api/topics", MINE | {"text": ""}, "text"),
        ("POST", "/api/topics", {"topic_set": "\u202e", "text": "w"}, "topic_set"),
        ("POST", "/api/topics", MINE | {"text": "w", "qid": "a b"}, "qid"),
        (
            "POST",
            "/api/judgments/batch",
            {"judgments": [{"docno": "a", "grade": 1}, {"docno": "a", "grade": 7}]},
            "judgments[1].grade",
        ),
        ("POST", "/api/judgments/batch", {"judgments": ["a"]}, "judgments[0]"),
        ("POST", "/api/judgments", GRADED | {"judge": "", "query": "w1"}, "judge"),
        ("POST", "/api/models/use", {"system": "model:none"}, "system"),
        ("GET", "/api/compare", {"q": "w1", "left": "bm25", "right": "bm25"}, "left"),
        ("GET", "/api/measure", MINE | {"measures": "nonsense"}, "measures"),
        ("POST", "/api/import/table", MINE | {"content": "§", "judge": "ann"}, "content"),
        ("POST", "/api/judgments", GRADED, None),
    ],
)
def test_an_error_names_the_parameter_at_fault(client, method, path, values, field):
    answer = send(client, method, path, values)
    assert answer.status_code in (400, 404)
    error = describe_api(ENDPOINTS)["components"]["schemas"]["Error"]
    assert faults(error, answer.json()) == []
    assert answer.json()["field"] == field, answer.json()


def test_changes_of_topics_are_made_and_undone(client):
    def topics():
        return {
            each["qid"]: each["text"]
            for each in client.get("/api/topics", params={"topic_set": "own"}).json()["topics"]
        }

    for text in ("w1", "w2", "w3"):
        client.post("/api/topics", json={"topic_set": "own", "text": text})
    edited = client.post(
        "/api/topic/edit", json={"topic_set": "own", "qid": "1", "text": "w1 f2", "criteria": "titles"}
    )
    assert edited.json()["kind"] == "edit"
    assert topics()["1"] == "w1 f2"
    assert client.get("/api/topic", params={"topic_set": "own", "qid": "1"}).json()["criteria"] == "titles"
    client.post("/api/changes/undo", json={"change": edited.json()["id"]})
    assert topics()["1"] == "w1"
    deleted = client.delete("/api/topics", params={"topic_set": "own", "qids": ["2", "3"]}).json()
    assert list(topics()) == ["1"]
    assert client.get("/api/changes").json()["changes"][0] == deleted
    assert client.post("/api/changes/undo", json={"change": deleted["id"]}).json()["undone"] is True
    assert list(topics()) == ["1", "2", "3"]
    for values, status, problem in (
        ({"qid": "1"}, 400, "nothing to change"),
        ({"qid": "1", "text": " "}, 400, "text is empty"),
        ({"qid": "9", "text": "a"}, 404, "has no topic '9'"),
    ):
        answer = client.post("/api/topic/edit", json={"topic_set": "own"} | values)
        assert (answer.status_code, problem in answer.json()["error"]) == (status, True)
    again = client.post("/api/changes/undo", json={"change": deleted["id"]})
    assert (again.status_code, "undone already" in again.json()["error"]) == (400, True)
