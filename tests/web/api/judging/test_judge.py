"""Judgments are recorded for topics and queries, undone, counted, imported and exported."""

import json
from dataclasses import replace

import pytest

from searchlab.corpus.collection import Collection
from searchlab.errors import SettingError
from searchlab.judgments.judgment_store import judgments_file
from searchlab.web.api.endpoint import Endpoint
from searchlab.web.api.judging import judge as judge_api
from searchlab.web.api.judging.pool import build_pool
from searchlab.web.api.measuring import collection_topics
from searchlab.web.api.parameters import parse_body
from searchlab.web.http_errors import HttpError, NotFound
from searchlab.web.routes.routing import ENDPOINTS
from searchlab.web.state.request_state import RequestState
from tests.web.judged_app import judge, judge_topics, rejected

# Topic sets and topics


def test_without_judgments_there_are_no_topic_sets_and_no_file(state, folder):
    assert judge_api.list_topic_sets(state) == {"index": "it", "topic_sets": [], "collection": None}
    assert not judgments_file(folder).exists()


def test_topics_are_added_and_counted(state):
    first = judge_api.create_topic(state, topic_set="mine", text="w1", qid="")
    assert first == {"index": "it", "topic_set": "mine", "qid": "1", "text": "w1"}
    assert judge_api.create_topic(state, topic_set="mine", text="w2", qid="B")["qid"] == "B"
    judge(state, "1-good0", 2, topic_set="mine", qid="1")
    judge(state, "1-bad4", 0, topic_set="mine", qid="1", judge="bob")
    assert judge_api.list_set_topics(state, topic_set="mine")["topics"] == [
        {"qid": "1", "text": "w1", "n_judged": 2, "n_relevant": 1},
        {"qid": "B", "text": "w2", "n_judged": 0, "n_relevant": 0},
    ]
    assert judge_api.list_topic_sets(state)["topic_sets"] == [
        {
            "name": "mine",
            "n_topics": 2,
            "n_judged_topics": 1,
            "n_judgments": 2,
            "n_relevant": 1,
            "judges": ["ann", "bob"],
        }
    ]


def test_unknown_sets_topics_and_documents_are_not_found(state, app_state):
    assert "no topic set 'none'" in rejected(404, judge_api.list_set_topics, state, topic_set="none")
    unknown = RequestState(app_state, "none")
    assert "unknown index 'none'" in rejected(404, judge_api.list_topic_sets, unknown)
    judge_topics(app_state, n_topics=1)
    assert "no topic '7'" in rejected(404, judge, state, "1-good0", 1, topic_set="mine", qid="7")
    assert "no document 'none'" in rejected(404, judge, state, "none", 1, topic_set="mine", qid="0")
    assert "no topic '7'" in rejected(404, build_pool, state, topic_set="mine", qid="7")
    assert app_state.judgments().topic_sets()[0].n_judgments == 4


def test_a_topic_must_not_be_empty(state):
    assert "empty" in rejected(400, judge_api.create_topic, state, topic_set="mine", text=" ", qid="")


# Judging


def test_a_judgment_is_recorded_changed_and_removed(state, app_state):
    judge_topics(app_state, n_topics=1, judge="other")
    topic = {"topic_set": "mine", "qid": "0"}
    judgment = judge(state, "0-good0", 2, note="clear", **topic)
    assert judgment == {"topic_set": "mine", "qid": "0", "docno": "0-good0", "grade": 2, "note": "clear", "n_judged": 1}
    assert judge(state, "0-good0", 1, **topic) | {"n_judged": 1} == judgment | {"grade": 1}
    assert judge(state, "0-good1", 0, **topic)["n_judged"] == 2
    found = judge_api.list_judgments(state, topic_set="mine", qid="0", judge="ann")["judgments"]
    assert [(each["docno"], each["grade"], each["note"]) for each in found] == [
        ("0-good0", 1, "clear"),
        ("0-good1", 0, ""),
    ]
    assert list(found[0]) == ["qid", "docno", "judge", "grade", "note", "when"]
    assert judge(state, "0-good0", None, **topic)["n_judged"] == 1
    assert len(judge_api.list_judgments(state, topic_set="mine")["judgments"]) == 4 + 1


def test_a_query_that_is_judged_becomes_a_topic(state):
    judgment = judge(state, "3-good0", 1, query="w3 things")
    assert (judgment["topic_set"], judgment["qid"]) == ("searches", "1")
    assert judge(state, "3-good1", 1, query=" W3  Things ")["qid"] == "1"
    assert judge(state, "3-good1", 1, query="w4")["qid"] == "2"


def test_a_query_that_is_a_topic_already_is_judged_there(state, app_state):
    judge_topics(app_state)
    assert judge(state, "3-good0", 1, query="w3")["topic_set"] == "mine"


def test_removing_a_grade_that_was_never_given_creates_no_topic(state, app_state):
    assert "nothing has been judged" in rejected(404, judge, state, "3-good0", None, query="w3")
    assert app_state.judgments().topic_sets() == []


@pytest.mark.parametrize(
    "topic",
    [
        *({}, {"topic_set": "mine"}, {"qid": "1"}, {"topic_set": "mine", "query": "w1"}),
        {"topic_set": "mine", "qid": "1", "query": "w1"},
    ],
    ids=str,
)
def test_a_judgment_is_for_a_topic_or_for_a_query(state, topic):
    assert "expected either topic_set and qid, or query" in rejected(400, judge, state, "1-good0", 1, **topic)


def test_a_judge_must_have_a_name(state):
    assert "expected the name of the judge" in rejected(400, judge, state, "1-good0", 1, judge=" ", query="w1")
    assert "expected the name of the judge" in rejected(400, judge_api.undo_judgment, state, judge="")


def test_a_topic_set_without_a_qid_undoes_nothing_elsewhere(state, app_state):
    judge_topics(app_state)
    for change in (judge_api.undo_judgment, judge_api.redo_judgment):
        assert "topic_set with qid" in rejected(400, change, state, judge="ann", qid="1")
        assert list(change(state, judge="ann", topic_set="other").values()) == [None]


def test_the_last_judgment_is_undone(state, app_state):
    judge(state, "1-good0", 1, query="w1")
    judge(state, "1-good0", 2, query="w1")
    judge(state, "1-good1", 2, query="w1", judge="bob")
    undone = judge_api.undo_judgment(state, judge="ann")["undone"]
    assert (undone["topic_set"], undone["qid"], undone["docno"], undone["grade"]) == ("searches", "1", "1-good0", 2)
    assert app_state.judgments().grades("searches") == {"1": {"1-good0": 1, "1-good1": 2}}
    assert judge_api.undo_judgment(state, judge="ann")["undone"]["grade"] == 1
    assert judge_api.undo_judgment(state, judge="ann") == {"undone": None}


def test_judges_are_compared(state):
    for judged, other in ((0, 0), (1, 1), (2, 2), (3, 1)):
        judge(state, f"0-good{judged}" if judged < 3 else "0-bad3", min(judged, 2), query="w0")
        judge(state, f"0-good{judged}" if judged < 3 else "0-bad3", other, query="w0", judge="bob")
    (pair,) = judge_api.agreement(state, topic_set="searches")["pairs"]
    assert (pair["judges"], pair["n"], pair["agreement"], pair["grades"]) == (["ann", "bob"], 4, 0.75, [0, 1, 2])
    assert pair["table"] == [[1, 0, 0], [0, 1, 0], [0, 1, 1]]
    # By chance (1·1 + 1·2 + 2·1)/16 would agree.
    assert pair["kappa"] == pytest.approx((0.75 - 5 / 16) / (1 - 5 / 16))
    json.dumps(pair)


# Import and export


def test_exported_judgments_can_be_imported_again(state, app_state):
    judge_topics(app_state, n_topics=2)
    qrels, topics = (
        function(state, topic_set="mine") for function in (judge_api.export_qrels, judge_api.export_topics)
    )
    assert topics == "0\tw0\n1\tw1\n"
    assert qrels.startswith("0 0 0-bad4 0\n0 0 0-good0 1\n")
    added = judge_api.import_judgments(state, topic_set="again", topics=topics, qrels=qrels, judge="bob")
    assert added == {"index": "it", "topic_set": "again", "n_topics": 2, "n_judgments": 8, "change": 2}
    assert app_state.judgments().grades("again") == app_state.judgments().grades("mine")
    assert judge_api.export_qrels(state, topic_set="again", judge="ann") == ""


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"topics": "1\tone\n", "qrels": "1 0 d"}, "qrels:1"),
        ({"topics": "1\tone\n", "qrels": "2 0 d 1"}, "judgments for topics that are not in the topic set"),
        ({}, "nothing to import"),
        ({"topics": "1\tone\n", "collection": True}, "collection imports from the indexed collection"),
        ({"topics": "1\tone\n", "judge": ""}, "judge is empty"),
    ],
)
def test_a_malformed_file_is_reported_and_changes_nothing(state, app_state, files, message):
    with pytest.raises((HttpError, SettingError), match=message) as error:
        judge_api.import_judgments(state, topic_set="s", **{"judge": "ann"} | files)
    assert getattr(error.value, "status", 400) == 400
    assert app_state.judgments().topic_sets() == []


@pytest.fixture
def collected(build, app_state, tmp_path, monkeypatch):
    """The index was made from a collection with topics and judgments."""
    (tmp_path / "topics.tsv").write_text("1\tw1\n2\tw2\n")
    (tmp_path / "qrels.txt").write_text("1 0 1-good0 2\n1 0 elsewhere 1\n2 0 2-bad4 0\n9 0 1-good0 1\n")
    collection = Collection(tmp_path, tmp_path / "docs.jsonl", (tmp_path / "topics.tsv",), (tmp_path / "qrels.txt",))
    monkeypatch.setattr(collection_topics, "source_collection", lambda folder: collection)
    return tmp_path


def test_topics_and_judgments_of_the_collection_are_offered_and_imported(state, app_state, collected):
    assert judge_api.list_topic_sets(state)["collection"] == {"n_topics": 2, "n_judgments": 3}
    added = judge_api.import_judgments(state, topic_set="imported", collection=True)
    assert (added["n_topics"], added["n_judgments"]) == (2, 3)
    assert app_state.judgments().grades("imported") == {"1": {"1-good0": 2, "elsewhere": 1}, "2": {"2-bad4": 0}}
    assert app_state.judgments().topic_sets()[0].judges == ("collection",)


def test_a_collection_without_judgments_has_topics(state, collected, monkeypatch):
    only_topics = replace(collection_topics.source_collection(None), qrels=())  # type: ignore[attr-defined, type-var]
    monkeypatch.setattr(collection_topics, "source_collection", lambda folder: only_topics)
    assert judge_api.list_topic_sets(state)["collection"] == {"n_topics": 2, "n_judgments": 0}


def test_an_unreadable_collection_has_no_topics(state, collected):
    (collected / "qrels.txt").write_text("nonsense\n")
    assert judge_api.list_topic_sets(state)["collection"] is None
    with pytest.raises(NotFound, match="has no topics"):
        judge_api.import_judgments(state, topic_set="imported", collection=True)


# Endpoints


def endpoint(method, path) -> Endpoint:
    return next(each for each in ENDPOINTS if (each.method, each.path) == (method, path))


def test_the_grade_is_checked(state, app_state):
    judge_topics(app_state)
    body = {"docno": "0-good0", "grade": None, "query": "w0", "judge": "ann"}
    values = parse_body(endpoint("POST", "/api/judgments").parameters, body)
    assert (
        endpoint("POST", "/api/judgments").handler(
            state, **{name: value for name, value in values.items() if name != "index"}
        )["grade"]
        is None
    )
    assert values["note"] is None
    for grade in (3, -1, "1", True):
        with pytest.raises(HttpError, match="grade is"):
            parse_body(endpoint("POST", "/api/judgments").parameters, body | {"grade": grade})
    with pytest.raises(HttpError, match="grade is missing"):
        parse_body(endpoint("POST", "/api/judgments").parameters, {"docno": "x"})


def test_only_writes_are_posted():
    posted = {each.path for each in ENDPOINTS if each.method == "POST"}
    judging = {"/api/topics", "/api/judgments", "/api/judgments/undo", "/api/judgments/redo", "/api/import"}
    judging |= {"/api/import/preview", "/api/import/table"}
    judging |= {"/api/judgments/batch", "/api/search/batch"}
    judging |= {"/api/topic/edit", "/api/topics/merge", "/api/topic-sets/rename"}
    judging |= {"/api/changes/undo", "/api/changes/redo", "/api/searches/restore"}
    models = {f"/api/models/{change}" for change in ("use", "rename", "delete", "restore")}
    uploading = {"/api/uploads", "/api/uploads/file", "/api/uploads/index"}
    experiments = {"/api/experiments", "/api/experiments/cancel"}
    assert posted == judging | models | {"/api/train", "/api/jobs/cancel", "/api/searches"} | uploading | experiments
    assert {each.method for each in ENDPOINTS if not each.is_write} == {"GET"}
    texts = {f"/api/export/{what}" for what in ("qrels", "topics", "results", "judgments")}
    assert {each.path for each in ENDPOINTS if each.is_text} == texts
