"""Undo and redo of acts, confined to a topic, as in an editor."""

import pytest

from searchlab.errors import SettingError
from searchlab.judgments.judgment_store import GradedDocument, JudgmentStore
from searchlab.records import Topic


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
    undone = store.undo("ann", "s", "1").last
    assert (undone.topic_set, undone.qid, undone.docno, undone.grade) == ("s", "1", "a", 2)
    assert (grades(store), grades(store, "2")) == ({}, {"b": 1})
    assert store.undo("ann", "s", "1") is None
    assert store.undo("ann", "s", "none") is None
    assert store.undo("ann").last.docno == "b"


def test_what_was_undone_is_redone_in_the_opposite_order(store):
    judge(store, "1", "a", 2)
    judge(store, "1", "b", 1)
    assert store.redo("ann", "s", "1") is None
    assert [store.undo("ann", "s", "1").last.docno for _ in range(2)] == ["b", "a"]
    assert [store.redo("ann", "s", "1").last.docno for _ in range(2)] == ["a", "b"]
    assert (grades(store), store.redo("ann", "s", "1")) == ({"a": 2, "b": 1}, None)
    # Again, and half of it.
    assert [store.undo("ann", "s", "1").last.docno for _ in range(2)] == ["b", "a"]
    assert store.redo("ann", "s", "1").last.docno == "a"
    assert store.undo("ann", "s", "1").last.docno == "a"
    assert [store.redo("ann", "s", "1").last.docno for _ in range(2)] == ["a", "b"]
    assert grades(store) == {"a": 2, "b": 1}


def test_a_new_judgment_forgets_what_could_be_redone(store):
    judge(store, "1", "a", 2)
    judge(store, "1", "b", 1)
    store.undo("ann", "s", "1")
    judge(store, "1", "c", 0)
    assert store.redo("ann", "s", "1") is None
    # Not even when that one is undone: then it alone is redone.
    assert store.undo("ann", "s", "1").last.docno == "c"
    assert store.redo("ann", "s", "1").last.docno == "c"
    assert store.redo("ann", "s", "1") is None
    assert grades(store) == {"a": 2, "c": 0}


def test_judgments_of_other_topics_and_judges_do_not_matter(store):
    judge(store, "1", "a", 2)
    store.undo("ann", "s", "1")
    judge(store, "2", "b", 1)
    store.judge("s", "1", "a", judge="bob", grade=0)
    assert store.undo("bob", "s", "2") is None
    assert store.redo("ann", "s", "1").last.docno == "a"
    assert grades(store) == {"a": 2}
    store.verify()


def test_a_grade_that_was_changed_is_restored_with_its_note(store):
    store.judge("s", "1", "a", judge="ann", grade=1, note="first")
    store.judge("s", "1", "a", judge="ann", grade=2, note="second")
    store.undo("ann", "s", "1")
    assert [(each.grade, each.note) for each in store.judgments("s", "1")] == [(1, "first")]
    store.redo("ann", "s", "1")
    assert [(each.grade, each.note) for each in store.judgments("s", "1")] == [(2, "second")]


# --- batches and imports


def judge_batch(store, qid, *documents):
    return store.judge_all("s", qid, [GradedDocument(*each) for each in documents], judge="ann")


def in_words(changed):
    return changed.what, [each.docno for each in changed.judgments]


def test_a_batch_is_one_step_of_undo_and_redo(store):
    judge(store, "1", "a", 0)
    judge_batch(store, "1", ("a", 2), ("b", 1), ("c", 0))
    judge(store, "1", "d", 1)
    assert store.undo("ann", "s", "1").last.docno == "d"
    batch = ("3 judgments for 'wings' of s", ["a", "b", "c"])
    assert in_words(store.undo("ann", "s", "1")) == batch
    assert grades(store) == {"a": 0}
    assert in_words(store.redo("ann", "s", "1")) == batch
    assert grades(store) == {"a": 2, "b": 1, "c": 0}
    assert store.redo("ann", "s", "1").last.docno == "d"
    # Once more: what was redone is one step, too.
    assert [in_words(store.undo("ann", "s", "1"))[1] for _ in range(3)] == [["d"], ["a", "b", "c"], ["a"]]
    assert store.undo("ann", "s", "1") is None
    assert [in_words(store.redo("ann", "s", "1"))[1] for _ in range(3)] == [["a"], ["a", "b", "c"], ["d"]]
    assert (grades(store), store.redo("ann", "s", "1")) == ({"a": 2, "b": 1, "c": 0, "d": 1}, None)
    store.verify()


def test_a_batch_is_redone_however_often_what_was_before_it_was_undone_and_redone(store):
    judge(store, "1", "a", 0)
    judge_batch(store, "1", ("a", 2), ("b", 1))
    for _ in range(2):
        store.undo("ann", "s", "1")
    for _ in range(3):
        assert store.redo("ann", "s", "1").last.docno == "a"
        assert store.undo("ann", "s", "1").last.docno == "a"
    store.redo("ann", "s", "1")
    assert grades(store) == {"a": 0}
    assert in_words(store.redo("ann", "s", "1"))[1] == ["a", "b"]
    assert grades(store) == {"a": 2, "b": 1}


def test_a_batch_that_changes_one_judgment_or_none_is_not_a_change(store):
    judge(store, "1", "a", 2)
    judge_batch(store, "1", ("a", 2), ("b", 1))
    judge_batch(store, "1", ("a", 2), ("b", 1))
    assert store.editor.changes() == []
    assert in_words(store.undo("ann", "s", "1")) == ("", ["b"])
    assert grades(store) == {"a": 2}


def test_a_batch_is_not_redone_after_another_judgment(store):
    judge_batch(store, "1", ("a", 2), ("b", 1))
    store.undo("ann", "s", "1")
    judge(store, "1", "b", 0)
    assert store.redo("ann", "s", "1") is None
    (undo, batch) = store.editor.changes()
    assert (undo.kind, batch.kind, batch.undone, batch.redoable) == ("undo", "batch", True, True)
    with pytest.raises(SettingError, match="judged again since"):
        store.editor.redo(batch.id, judge="bob")
    assert grades(store) == {"b": 0}


def test_a_batch_for_a_new_query_leaves_its_topic_when_it_is_undone(store):
    documents = [GradedDocument("a", 1), GradedDocument("b", 2)]
    (first, _) = store.judge_query("s", "drag", documents, judge="ann")
    assert in_words(store.undo("ann", "s", first.qid)) == ("2 judgments for 'drag' of s", ["a", "b"])
    assert (store.topic("s", first.qid).text, grades(store, first.qid)) == ("drag", {})


def import_two_topics(store):
    topics = [Topic("8", "lift"), Topic("9", "drag")]
    store.import_judgments("s", topics, {"8": {"a": 1, "b": 0}, "9": {"c": 2}, "1": {"d": 1}}, judge="ann")


def test_an_import_is_one_step_of_undo_and_redo_in_its_set_alone(store):
    judge(store, "1", "a", 2)
    import_two_topics(store)
    # A topic of several, or another set, is too small for it.
    assert store.undo("ann", "s", "1") is None
    assert store.undo("ann", "other") is None
    step = ("imported 2 topics and 4 judgments into s", ["a", "b", "c", "d"])
    assert in_words(store.undo("ann", "s")) == step
    assert [topic.qid for topic in store.topics("s")] == ["1", "2"]
    assert grades(store) == {"a": 2}
    assert (store.redo("ann", "other"), store.redo("ann", "s", "1")) == (None, None)
    assert in_words(store.redo("ann", "s")) == step
    assert [topic.qid for topic in store.topics("s")] == ["1", "2", "8", "9"]
    assert store.grades("s") == {"1": {"a": 2, "d": 1}, "8": {"a": 1, "b": 0}, "9": {"c": 2}}
    # What was redone is one step, too, also without a set.
    assert in_words(store.undo("ann")) == step
    assert in_words(store.redo("ann")) == step
    assert [each.kind for each in store.editor.changes()] == ["import", "undo", "import", "undo", "import"]
    assert store.redo("ann", "s") is None
    store.verify()


def test_undo_of_a_set_leaves_other_sets_alone(store):
    judge(store, "1", "a", 2)
    store.add_topic("t", "wings", "1")
    store.judge("t", "1", "a", judge="ann", grade=1)
    undone = store.undo("ann", "s")
    assert (undone.last.topic_set, undone.last.docno) == ("s", "a")
    assert store.undo("ann", "s") is None
    assert store.redo("ann", "s").last.topic_set == "s"
    assert store.grades("t") == {"1": {"a": 1}}


def test_topics_of_an_import_that_was_redone_are_not_lost_when_they_were_judged(store):
    import_two_topics(store)
    store.undo("ann", "s")
    store.redo("ann", "s")
    judge(store, "8", "e", 1)
    store.judge("s", "9", "e", judge="bob", grade=1)
    with pytest.raises(SettingError, match="2 judgments of its topics since"):
        store.editor.undo(store.editor.changes()[0].id, judge="ann")
    store.undo("ann", "s", "8")
    with pytest.raises(SettingError, match="1 judgment of its topics since"):
        store.undo("ann", "s")
