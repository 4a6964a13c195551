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
