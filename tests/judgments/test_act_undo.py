"""Undo and redo of acts, confined to a topic, as in an editor."""

import pytest

from searchlab.judgments.judgment_store import JudgmentStore


@pytest.fixture
def store(tmp_path):
    with JudgmentStore(tmp_path / "it.sqlite") as opened:
        opened.add_topic("s", "wings", "1")
        opened.add_topic("s", "heat", "2")
        yield opened


def judge(store, qid, docno, grade):
    store.judge("s", qid, docno, judge="ann", grade=grade)


def grades(store, qid="1"):
    return {each.docno: each.grade for each in store.judgments("s", qid, "ann")}


def test_undo_is_confined_to_its_topic(store):
    judge(store, "1", "a", 2)
    judge(store, "2", "b", 1)
    undone = store.undo("ann", "s", "1")
    assert (undone.topic_set, undone.qid, undone.docno, undone.grade) == ("s", "1", "a", 2)
    assert (grades(store), grades(store, "2")) == ({}, {"b": 1})
    assert store.undo("ann", "s", "1") is None
    assert store.undo("ann", "s", "none") is None
    assert store.undo("ann").docno == "b"


def test_what_was_undone_is_redone_in_the_opposite_order(store):
    judge(store, "1", "a", 2)
    judge(store, "1", "b", 1)
    assert store.redo("ann", "s", "1") is None
    assert [store.undo("ann", "s", "1").docno for _ in range(2)] == ["b", "a"]
    assert [store.redo("ann", "s", "1").docno for _ in range(2)] == ["a", "b"]
    assert (grades(store), store.redo("ann", "s", "1")) == ({"a": 2, "b": 1}, None)
    # Again, and half of it.
    assert [store.undo("ann", "s", "1").docno for _ in range(2)] == ["b", "a"]
    assert store.redo("ann", "s", "1").docno == "a"
    assert store.undo("ann", "s", "1").docno == "a"
    assert [store.redo("ann", "s", "1").docno for _ in range(2)] == ["a", "b"]
    assert grades(store) == {"a": 2, "b": 1}


def test_a_new_judgment_forgets_what_could_be_redone(store):
    judge(store, "1", "a", 2)
    judge(store, "1", "b", 1)
    store.undo("ann", "s", "1")
    judge(store, "1", "c", 0)
    assert store.redo("ann", "s", "1") is None
    # Not even when that one is undone: then it alone is redone.
    assert store.undo("ann", "s", "1").docno == "c"
    assert store.redo("ann", "s", "1").docno == "c"
    assert store.redo("ann", "s", "1") is None
    assert grades(store) == {"a": 2, "c": 0}


def test_judgments_of_other_topics_and_judges_do_not_matter(store):
    judge(store, "1", "a", 2)
    store.undo("ann", "s", "1")
    judge(store, "2", "b", 1)
    store.judge("s", "1", "a", judge="bob", grade=0)
    assert store.undo("bob", "s", "2") is None
    assert store.redo("ann", "s", "1").docno == "a"
    assert grades(store) == {"a": 2}
    store.verify()


def test_a_grade_that_was_changed_is_restored_with_its_note(store):
    store.judge("s", "1", "a", judge="ann", grade=1, note="first")
    store.judge("s", "1", "a", judge="ann", grade=2, note="second")
    store.undo("ann", "s", "1")
    assert [(each.grade, each.note) for each in store.judgments("s", "1")] == [(1, "first")]
    store.redo("ann", "s", "1")
    assert [(each.grade, each.note) for each in store.judgments("s", "1")] == [(2, "second")]
