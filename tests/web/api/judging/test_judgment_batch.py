"""Judging several documents in one request."""

TOPIC = {"topic_set": "searches", "qid": "1"}


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
        ([{"docno": "d2", "grade": 1}, {"docno": "nowhere", "grade": 1}], "judgment 2 of 2; none is stored: "),
        ([{"docno": "d2"}], "grade is missing"),
        ([{"docno": "d2", "grade": 1, "x": 1}], "unknown parameter 'x'"),
        (["d2"], "expected a JSON object"),
        ("d2", "judgments is 'd2', expected a list of objects"),
        ([{"docno": "d2", "grade": 1}] * 1001, "expected at most 1000"),
    ):
        answer = client.post("/api/judgments/batch", json=batch | {"judgments": wrong})
        assert answer.status_code in (400, 404)
        assert problem in answer.json()["error"]
        assert judged() == {"d1": 1}


def test_a_batch_is_undone_and_redone_as_a_whole_and_named(client):
    def judged(judge="eve"):
        listed = client.get("/api/judgments", params={"topic_set": "searches", "judge": judge}).json()["judgments"]
        return {each["docno"]: each["grade"] for each in listed}

    batch = [{"docno": "d1", "grade": 1}, {"docno": "d3", "grade": 2}]
    client.post("/api/judgments/batch", json={"query": "lymphoma", "judge": "eve", "judgments": batch})
    for scope in ({"query": "lymphoma"}, {"topic_set": "searches"}, {}):
        undone = client.post("/api/judgments/undo", json={"judge": "eve"} | scope).json()["undone"]
        assert (undone["what"], undone["n_judgments"]) == ("2 judgments for 'lymphoma' of searches", 2)
        assert (undone["present_grades"], judged()) == ({"d1": None, "d3": None}, {})
        redone = client.post("/api/judgments/redo", json={"judge": "eve"} | scope).json()["redone"]
        assert (redone["what"], redone["present_grades"]) == (undone["what"], {"d1": 1, "d3": 2})
        assert judged() == {"d1": 1, "d3": 2}
    other = client.post("/api/judgments/undo", json={"judge": "eve", "topic_set": "elsewhere"})
    assert other.json() == {"undone": None}
    assert client.post("/api/judgments/undo", json={"judge": "eve", "qid": "1"}).status_code == 400


def test_an_import_is_undone_and_redone_in_the_list_of_changes(client):
    texts = {"topics": "1\twings\n2\theat\n", "qrels": "1 0 d1 1\n2 0 d3 2\n"}
    client.post("/api/import", json={"topic_set": "imported", "judge": "eve"} | texts)

    def latest():
        return client.get("/api/changes").json()["changes"][0]

    added = latest()
    assert added["what"] == "imported 2 topics and 2 judgments into imported"
    for _ in range(2):
        undone = client.post("/api/changes/undo", json={"change": added["id"]}).json()
        assert (undone["undone"], undone["redoable"]) == (True, True)
        assert client.get("/api/topics", params={"topic_set": "imported"}).status_code == 404
        added = client.post("/api/changes/redo", json={"change": added["id"]}).json()
        assert (added, added["redoable"]) == (latest(), False)
        assert len(client.get("/api/topics", params={"topic_set": "imported"}).json()["topics"]) == 2
    assert client.post("/api/changes/redo", json={"change": 9999}).status_code == 400
