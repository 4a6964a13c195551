"""The judgment store: current judgments after any sequence of acts, and invalid input."""

import re
import sqlite3
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from searchlab.errors import SettingError
from searchlab.judgments import judgment_store
from searchlab.judgments.judgment_store import (
    GradedDocument,
    JudgmentStore,
    TopicSetSummary,
    TopicSummary,
    judgments_file,
)
from searchlab.judgments.storage.database import Database
from searchlab.records import Topic
from tests.hypothesis_profiles import examples


@pytest.fixture
def store(tmp_path):
    with JudgmentStore(tmp_path / "it.judgments.sqlite") as store:
        yield store


@pytest.fixture
def judged(store):
    """A store with two topics without judgments."""
    store.add_topic("trials", "heat flow", "a")
    store.add_topic("trials", "wings", "b")
    return store


def current(store, qid="a", docno="d", judge="ann"):
    found = [one for one in store.judgments("trials", qid, judge) if one.docno == docno]
    return (found[0].grade, found[0].note) if found else None


def test_the_file_is_beside_the_index(tmp_path):
    assert judgments_file(tmp_path / "medical") == tmp_path / "medical.judgments.sqlite"
    assert judgments_file(tmp_path / "v1.2") == tmp_path / "v1.2.judgments.sqlite"


def test_reading_a_missing_file_finds_and_creates_nothing(tmp_path, store):
    assert (store.topic_sets(), store.topics("x"), store.judgments("x"), store.grades("x")) == ([], [], [], {})
    assert (store.topic("x", "1"), store.find_topic("x"), store.undo("ann"), store.version()) == (None, None, None, 0)
    assert store.past_queries("", 5) == []
    assert list(tmp_path.iterdir()) == []


def test_topics_keep_their_order_and_get_the_next_free_number(store):
    assert store.add_topic("s", "first").qid == "1"
    store.add_topic("s", "ninth", "9")
    store.add_topic("s", "named", "x10")
    assert store.add_topic("s", "tenth") == Topic("10", "tenth")
    assert store.add_topic("other", "tenth").qid == "1"
    assert [topic.qid for topic in store.topics("s")] == ["1", "9", "x10", "10"]
    assert store.topic("s", "9") == Topic("9", "ninth")
    assert store.topic("other", "9") is None


def test_a_text_without_a_qid_finds_the_topic_with_this_text(store):
    first = store.add_topic("s", "Heat  flow")
    assert first == Topic("1", "Heat flow")
    assert store.add_topic("s", " heat\tFLOW\n") == first
    assert len(store.topics("s")) == 1


def test_the_same_qid_with_another_text_is_an_error(judged):
    assert judged.add_topic("trials", "heat\nflow", "a") == Topic("a", "heat flow")
    with pytest.raises(SettingError, match="topic 'a' of the topic set 'trials' is 'heat flow', found 'Heat flow'"):
        judged.add_topic("trials", "Heat flow", "a")


def test_a_topic_is_found_by_its_text_ignoring_case_and_blanks(judged):
    judged.add_topic("later", "WINGS")
    assert judged.find_topic("  Wings ") == ("trials", "b")
    assert judged.find_topic("STRASSE") is None
    judged.add_topic("later", "Straße", "s")
    assert judged.find_topic("STRASSE") == ("later", "s")


def test_a_judgment_is_added_changed_and_withdrawn(judged):
    judgment = judged.judge("trials", "a", "d", judge="ann", grade=2, note="why")
    assert (judgment.topic_set, judgment.qid, judgment.docno, judgment.judge, judgment.grade, judgment.note) == (
        *("trials", "a", "d", "ann", 2),
        "why",
    )
    assert judged.judgments("trials") == [judgment]
    judged.judge("trials", "a", "d", judge="ann", grade=1)
    assert current(judged) == (1, "why")
    judged.judge("trials", "a", "d", judge="ann", grade=1, note="")
    assert current(judged) == (1, "")
    assert judged.judge("trials", "a", "d", judge="ann", grade=None).grade is None
    assert current(judged) is None
    assert judged.grades("trials") == {}


def test_undo_reverts_acts_one_by_one_including_notes(judged):
    judged.judge("trials", "a", "d", judge="ann", grade=2, note="first")
    judged.judge("trials", "a", "d", judge="ann", grade=0)
    judged.judge("trials", "a", "d", judge="ann", grade=0, note="second")
    judged.judge("trials", "a", "d", judge="ann", grade=None)
    judged.judge("trials", "b", "e", judge="bob", grade=1)
    for taken_back, valid in [(None, (0, "second")), (0, (0, "first")), (0, (2, "first")), (2, None)]:
        undone = judged.undo("ann").last
        assert (undone.docno, undone.grade) == ("d", taken_back)
        assert current(judged) == valid
    assert judged.undo("ann") is None
    assert current(judged, "b", "e", "bob") == (1, "")


def test_after_an_undo_new_acts_are_undone_first_and_then_the_older_ones(judged):
    for docno in "xyz":
        judged.judge("trials", "a", docno, judge="ann", grade=1)
    assert judged.undo("ann").last.docno == "z"
    judged.judge("trials", "a", "w", judge="ann", grade=1)
    assert [judged.undo("ann").last.docno for _ in range(3)] == ["w", "y", "x"]
    assert judged.undo("ann") is None


def test_a_call_that_changes_nothing_adds_no_act(judged):
    judged.judge("trials", "a", "d", judge="ann", grade=1, note="n")
    before = judged.version()
    judged.judge("trials", "a", "d", judge="ann", grade=1)
    judged.judge("trials", "a", "d", judge="ann", grade=1, note="n")
    judged.judge("trials", "a", "never", judge="ann", grade=None)
    judged.add_topic("trials", "wings", "b")
    assert judged.version() == before
    judged.undo("ann")
    assert current(judged) is None


def test_an_import_is_undone_as_a_whole_but_not_from_one_topic(judged):
    judged.judge("trials", "a", "d", judge="ann", grade=1)
    judged.import_judgments("trials", [], {"a": {"d": 2, "e": 0}}, judge="ann")
    judged.judge("trials", "a", "d", judge="ann", grade=0)
    assert judged.undo("ann").last.grade == 0
    assert current(judged) == (2, "")
    assert judged.undo("ann", "trials", "a") is None
    assert judged.grades("trials") == {"a": {"d": 2, "e": 0}}
    assert judged.undo("ann", "trials").what == "imported 0 topics and 2 judgments into trials"
    assert judged.grades("trials") == {"a": {"d": 1}}


def test_the_grade_of_several_judges_is_the_lower_median(judged):
    for docno, grades in {
        "one": [2],
        "two": [2, 1],
        "three": [0, 2, 2],
        "four": [0, 0, 2, 2],
        "junk": [-2, 1, 0],
    }.items():
        for judge, grade in zip(["ann", "bob", "cyd", "dan"], grades, strict=False):
            judged.judge("trials", "b", docno, judge=judge, grade=grade)
    assert judged.grades("trials") == {"b": {"one": 2, "two": 1, "three": 2, "four": 0, "junk": 0}}
    assert judged.grades("trials", "bob") == {"b": {"two": 1, "three": 2, "four": 0, "junk": 1}}
    assert judged.grades("trials", "nobody") == judged.grades("nothing") == {}
    assert judged.topics("trials") == [TopicSummary("a", "heat flow", 0, 0), TopicSummary("b", "wings", 5, 3)]
    assert judged.topic_sets() == [TopicSetSummary("trials", 2, 1, 5, 3, ("ann", "bob", "cyd", "dan"))]


def test_judgments_of_a_topic_or_a_judge_are_in_order(judged):
    for qid, docno, judge in [("b", "x", "ann"), ("a", "y", "bob"), ("a", "y", "ann"), ("a", "x", "bob")]:
        judged.judge("trials", qid, docno, judge=judge, grade=1)
    judged.add_topic("other", "else", "a")
    judged.judge("other", "a", "z", judge="ann", grade=1)

    def pairs(*of):
        return [(one.qid, one.docno, one.judge) for one in judged.judgments(*of)]

    assert pairs("trials") == [("a", "x", "bob"), ("a", "y", "ann"), ("a", "y", "bob"), ("b", "x", "ann")]
    assert pairs("trials", "a") == [("a", "x", "bob"), ("a", "y", "ann"), ("a", "y", "bob")]
    assert pairs("trials", None, "ann") == [("a", "y", "ann"), ("b", "x", "ann")]
    assert pairs("trials", "a", "ann") == [("a", "y", "ann")]
    assert [summary.name for summary in judged.topic_sets()] == ["trials", "other"]


def test_the_version_increases_with_each_change_of_another_store(tmp_path, judged):
    other = JudgmentStore(tmp_path / "it.judgments.sqlite")
    seen = [judged.version()]
    other.add_topic("trials", "third")
    seen.append(judged.version())
    other.judge("trials", "a", "d", judge="ann", grade=1)
    seen.append(judged.version())
    other.undo("ann")
    seen.append(judged.version())
    assert seen == sorted(set(seen))
    other.record_queries("heat")
    assert judged.version() == seen[-1]
    other.close()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"judge": ""}, "judge is empty, expected a text"),
        ({"judge": " ann"}, "judge is ' ann', expected one printable line without blanks around it"),
        ({"judge": "an\nn"}, "judge is 'an\\nn', expected one printable line"),
        ({"judge": "x" * 101}, "judge has 101 characters, expected at most 100"),
        ({"docno": ""}, "docno is empty"),
        ({"docno": "\ud800"}, "docno is '\\ud800', expected characters that UTF-8 can write"),
        ({"docno": "x" * 4001}, "docno has 4,001 characters"),
        ({"docno": "a\n1 0 b 1"}, "docno is 'a\\n1 0 b 1', expected a word without blanks and control characters"),
        ({"docno": "a\x1b[2J"}, "docno is 'a\\x1b[2J', expected a word"),
        ({"grade": 10}, "grade is 10, expected a whole number from -9 to 9"),
        ({"grade": -10}, "grade is -10, expected"),
        ({"grade": True}, "grade is True, expected"),
        ({"grade": 1.0}, "grade is 1.0, expected"),
        ({"note": "x" * 4001}, "note has 4,001 characters, expected at most 4,000"),
        ({"qid": "zz"}, "no topic 'zz' in the topic set 'trials'; add it first"),
        ({"topic_set": "zz"}, "no topic 'a' in the topic set 'zz'"),
        ({"topic_set": "\ud800"}, "found '\\ud800', expected characters that UTF-8 can write"),
    ],
)
def test_invalid_judgments_are_errors_of_one_line(judged, change, message):
    arguments = {"topic_set": "trials", "qid": "a", "docno": "d", "judge": "ann", "grade": 1} | change
    before = judged.version()
    with pytest.raises(SettingError) as refused:
        judged.judge(**arguments)
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)
    assert judged.version() == before


@pytest.mark.parametrize(
    ("topic", "message"),
    [
        (("", "text", "1"), "topic set is empty"),
        (("a\tb", "text", "1"), "topic set is 'a\\tb', expected one printable line"),
        (("x" * 101, "text", "1"), "topic set has 101 characters"),
        (("s", "text", "a b"), "qid is 'a b', expected one word without blanks"),
        (("s", "text", "a\x01"), "qid is 'a\\x01', expected one word"),
        (("s", "text", ""), "qid is empty"),
        (("s", "text", "x" * 201), "qid has 201 characters"),
        (("s", "text", "{1"), "qid is '{1', expected one that does not begin with {"),
        (("s", " \n", "1"), "text is empty"),
        (("s", "x" * 4001, "1"), "text has 4,001 characters"),
        (("s", "x " * 10**6, "1"), "text has 2,000,000 characters"),
    ],
)
def test_invalid_topics_are_errors(store, topic, message):
    with pytest.raises(SettingError) as refused:
        store.add_topic(*topic)
    assert message in str(refused.value)
    assert not store.path.exists()


HOSTILE = [
    "'; DROP TABLE acts; --",
    '"',
    "\0nul\0",
    "a\nb",
    "\u202e",
    "<script>",
    "%",
    "{}",
    "é",
    "\U0001f600",
    "\x7f",
    "\\",
]


def test_hostile_names_and_notes_are_stored_unchanged(judged):
    # A docno has no blanks or control characters.
    docnos = {re.sub(r"[\x00-\x20\x7f]", "_", text): text for text in HOSTILE}
    for number, (docno, text) in enumerate(docnos.items()):
        judged.judge("trials", "a", docno, judge="ann", grade=number % 3, note=text)
    assert judged.grades("trials")["a"] == {docno: number % 3 for number, docno in enumerate(docnos)}
    assert {one.docno: one.note for one in judged.judgments("trials")} == docnos


DOCUMENTS = st.sampled_from(["d", "e", "'"])
ACTS = st.one_of(
    st.tuples(st.just("undo"), st.sampled_from(["ann", "bob"])),
    st.tuples(
        st.just("judge"),
        *(st.sampled_from(["ann", "bob"]), st.sampled_from(["a", "b"]), DOCUMENTS),
        st.sampled_from([None, 0, 1, 2]),
        st.sampled_from([None, "", "n"]),
    ),
)


@settings(max_examples=examples(60))
@given(st.lists(ACTS, max_size=25))
def test_current_judgments_equal_those_of_a_simple_history(tmp_path_factory, acts):
    """The reference keeps a list of states for each document and a stack of acts for each judge."""
    with JudgmentStore(tmp_path_factory.mktemp("history") / "it.sqlite") as store:
        store.add_topic("trials", "one", "a")
        store.add_topic("trials", "two", "b")
        states: dict[tuple[str, str, str], list[tuple[int | None, str]]] = {}
        stacks: dict[str, list[tuple[str, str, str]]] = {"ann": [], "bob": []}
        for kind, judge, *act in acts:
            if kind == "undo":
                undone = store.undo(judge)
                key = stacks[judge].pop() if stacks[judge] else None
                if key is None:
                    assert undone is None
                else:
                    assert (undone.last.qid, undone.last.docno, undone.last.grade) == (
                        key[1],
                        key[2],
                        states[key].pop()[0],
                    )
                continue
            qid, docno, grade, note = act
            store.judge("trials", qid, docno, judge=judge, grade=grade, note=note)
            history = states.setdefault((judge, qid, docno), [(None, "")])
            now = (grade, history[-1][1] if note is None else note)
            if now != history[-1]:
                history.append(now)
                stacks[judge].append((judge, qid, docno))
        valid = {key: history[-1] for key, history in states.items() if history[-1][0] is not None}
        found = {(one.judge, one.qid, one.docno): (one.grade, one.note) for one in store.judgments("trials")}
        assert found == valid
        grades = {}
        for (_, qid, docno), (grade, _) in valid.items():
            grades.setdefault(qid, {}).setdefault(docno, []).append(grade)
        assert store.grades("trials") == {
            qid: {docno: min(several) for docno, several in by_docno.items()} for qid, by_docno in grades.items()
        }


def test_acts_are_never_changed_or_removed(judged):
    judged.judge("trials", "a", "d", judge="ann", grade=1)
    judged.judge("trials", "a", "d", judge="ann", grade=None)
    judged.undo("ann")
    judged.undo("ann")
    with sqlite3.connect(judged.path) as connection:
        assert connection.execute("SELECT grade FROM acts ORDER BY id").fetchall() == [(1,), (None,)]
        assert connection.execute("SELECT act FROM undone ORDER BY id").fetchall() == [(2,), (1,)]
        assert connection.execute("SELECT count(*) FROM last").fetchone() == (0,)
    connection.close()


def test_frequent_queries_use_a_database_index(judged, monkeypatch):
    """Frequent queries scan no table and need no temporary sort."""
    statements: list[str] = []
    connect = Database._connect

    def traced(database, mode):
        connection = connect(database, mode)
        connection.set_trace_callback(statements.append)
        return connection

    monkeypatch.setattr(Database, "_connect", traced)
    with JudgmentStore(judged.path) as store:
        store.verify()
        statements.clear()
        store.find_topic("x")
        store.grades("trials")
        store.grades("trials", "ann")
        store.topics("trials")
    queries = [query for query in statements if query.startswith("SELECT") and "seals" not in query]
    assert len(queries) == 7
    connection = sqlite3.connect(judged.path)
    for query in queries:
        steps = [step[3] for step in connection.execute(f"EXPLAIN QUERY PLAN {query}")]
        assert not any(step.startswith("SCAN") for step in steps), (query, steps)
        assert "last" not in query or not any("TEMP" in step for step in steps), (query, steps)
    connection.close()


def test_documents_judged_together_are_stored_together_or_not_at_all(judged):
    for wrong in (GradedDocument("e", 10), GradedDocument("", 1), GradedDocument("e", 1, "x" * 5000)):
        with pytest.raises(SettingError):
            judged.judge_all("trials", "a", [GradedDocument("d", 1), wrong], judge="ann")
        with pytest.raises(SettingError):
            judged.judge_query("trials", "a new text", [GradedDocument("d", 1), wrong], judge="ann")
    assert (judged.judgments("trials"), judged.find_topic("a new text")) == ([], None)
    judged.judge_all("trials", "a", [GradedDocument("d", 1), GradedDocument("e", 2, "why")], judge="ann")
    assert (current(judged), current(judged, docno="e")) == ((1, ""), (2, "why"))
    assert judged.undo("ann").last.docno == "e"
    assert (current(judged), current(judged, docno="e")) == (None, None)
    judged.judge_query("trials", "a new text", [GradedDocument("d", 1)], judge="ann")
    assert judged.judgments("trials", judged.find_topic("a new text")[1])[0].docno == "d"


def test_a_failure_between_two_acts_leaves_none_of_them(judged, monkeypatch):
    def fail_at_the_second(connection, topic, of, document, judge, add=judgment_store._add_act):
        if document.docno == "e":
            raise SettingError("the disk is full")
        return add(connection, topic, of, document, judge)

    monkeypatch.setattr(judgment_store, "_add_act", fail_at_the_second)
    with pytest.raises(SettingError, match="the disk is full"):
        judged.judge_all("trials", "a", [GradedDocument("d", 1), GradedDocument("e", 1)], judge="ann")
    assert judged.judgments("trials") == []


def test_judges_who_judge_at_the_same_time_wait_for_each_other(judged):
    documents = [GradedDocument(f"d{number}", number % 3) for number in range(20)]
    judges = ("ann", "bob", "eve", "joe")
    with ThreadPoolExecutor(len(judges)) as threads:
        futures = [threads.submit(judged.judge_query, "trials", "x", documents, judge=judge) for judge in judges]
    assert {future.result()[0].qid for future in futures} == {judged.find_topic("x")[1]}
    assert [len(judged.judgments("trials", None, judge)) for judge in judges] == [20] * 4
