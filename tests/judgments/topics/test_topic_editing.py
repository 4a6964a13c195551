"""Topics and topic sets are edited, renamed, deleted, merged and imported, and each change can be undone."""

import sqlite3
from contextlib import closing

import pytest

from searchlab.errors import IndexCorrupt, SettingError
from searchlab.judgments.judgment_store import JudgmentStore
from searchlab.judgments.storage.judgment_backup import back_up
from searchlab.records import Topic


@pytest.fixture
def store(tmp_path):
    with JudgmentStore(tmp_path / "it.sqlite") as opened:
        for qid, text in (("1", "wings"), ("2", "heat"), ("3", "heat flow")):
            opened.add_topic("s", text, qid)
        opened.judge("s", "1", "a", judge="ann", grade=2)
        opened.judge("s", "2", "b", judge="ann", grade=1)
        opened.judge("s", "3", "b", judge="ann", grade=0)
        opened.judge("s", "3", "c", judge="bob", grade=2)
        yield opened


def said(store):
    """Sets, topics and grades."""
    sets = {each.name: [(topic.qid, topic.text) for topic in store.topics(each.name)] for each in store.topic_sets()}
    return sets, {name: store.grades(name) for name in sets}


def test_text_criteria_and_highlighted_words_are_edited(store):
    before = said(store)
    change = store.editor.edit("s", "1", text="wings of  birds", criteria="only birds", highlight="beak", judge="ann")
    topic = store.editor.topic("s", "1")
    assert (topic.text, topic.criteria, topic.highlight) == ("wings of birds", "only birds", "beak")
    assert store.find_topic("wings of birds") == ("s", "1")
    assert store.find_topic("wings") is None
    assert store.grades("s")["1"] == {"a": 2}
    store.editor.edit("s", "1", criteria="birds or bats", judge="ann")
    assert store.editor.topic("s", "1").highlight == "beak"
    with pytest.raises(SettingError, match="changed again since, undo that first: criteria of topic 1"):
        store.editor.undo(change.id, judge="ann")
    for _ in range(2):
        store.editor.undo(next(each.id for each in store.editor.changes() if not each.undone), judge="bob")
    assert said(store) == before
    assert store.editor.topic("s", "1").criteria == ""
    store.verify()


def test_deleted_topics_come_back_with_their_judgments(store):
    before = said(store)
    change = store.editor.delete("s", ["2", "3"], judge="ann")
    assert change.what == "deleted 2 topics of s"
    assert said(store) == ({"s": [("1", "wings")]}, {"s": {"1": {"a": 2}}})
    assert store.find_topic("heat") is None
    store.editor.undo(change.id, judge="ann")
    assert said(store) == before
    with pytest.raises(SettingError, match="undone already"):
        store.editor.undo(change.id, judge="ann")
    with pytest.raises(SettingError, match="no topic '9'"):
        store.editor.delete("s", ["1", "9"], judge="ann")
    assert said(store) == before


def test_a_deleted_topic_does_not_block_its_qid(store):
    change = store.editor.delete("s", ["1"], judge="ann")
    assert store.add_topic("s", "other", "1").qid == "1"
    assert store.add_topic("s", "numbered").qid == "4"
    assert store.grades("s").get("1") is None
    with pytest.raises(SettingError, match="has another topic '1' now"):
        store.editor.undo(change.id, judge="ann")
    store.verify()


def test_topics_are_merged_into_one(store):
    before = said(store)
    change = store.editor.merge("s", ["2", "3"], "3", judge="ann")
    assert change.what == "merged 1 topic of s into 'heat flow'"
    # Ann has judged b for both: that of the topic that stays counts.
    assert said(store) == ({"s": [("1", "wings"), ("3", "heat flow")]}, {"s": {"1": {"a": 2}, "3": {"b": 0, "c": 2}}})
    store.editor.undo(change.id, judge="ann")
    assert said(store) == before
    moved = store.editor.merge("s", ["1"], "2", judge="ann")
    assert store.grades("s")["2"] == {"a": 2, "b": 1}
    store.editor.undo(moved.id, judge="ann")
    assert said(store) == before
    store.verify()


def test_a_set_is_renamed_merged_and_deleted(store):
    before = said(store)
    renamed = store.editor.rename_set("s", "t", judge="ann")
    assert list(said(store)[0]) == ["t"]
    store.editor.undo(renamed.id, judge="ann")
    assert said(store) == before
    store.add_topic("t", "Heat", "1")
    store.judge("t", "1", "z", judge="ann", grade=2)
    with_t = said(store)
    merged = store.editor.rename_set("t", "s", judge="ann")
    assert said(store)[1] == {"s": {**before[1]["s"], "2": {"b": 1, "z": 2}}}
    store.editor.undo(merged.id, judge="ann")
    assert said(store) == with_t
    store.editor.rename_set("s", "t", judge="ann")
    # The qid 1 is taken there, the text heat is there already.
    assert said(store)[0] == {"t": [("4", "wings"), ("3", "heat flow"), ("1", "Heat")]}
    store.editor.delete("t", None, judge="ann")
    assert said(store) == ({}, {})
    store.verify()


def test_an_import_is_undone_as_a_whole(store):
    before = said(store)
    store.import_judgments("s", [Topic("7", "new")], {"7": {"x": 1}, "1": {"a": 0, "y": 2}}, judge="ann")
    change = store.editor.changes()[0]
    assert (change.kind, change.what) == ("import", "imported 1 topic and 3 judgments into s")
    store.editor.undo(change.id, judge="ann")
    assert said(store) == before
    assert [each.undone for each in store.editor.changes()] == [True, True]
    store.verify()


def test_an_import_whose_topics_were_judged_since_is_not_undone(store):
    store.import_judgments("s", [Topic("7", "new")], {"7": {"x": 1}}, judge="ann")
    change = store.editor.changes()[0]
    store.judge("s", "7", "y", judge="bob", grade=2)
    judged = said(store)
    with pytest.raises(SettingError, match="1 judgment of its topics since, which would be lost"):
        store.editor.undo(change.id, judge="ann")
    assert said(store) == judged
    store.undo("bob", "s", "7")
    store.editor.undo(change.id, judge="ann")
    assert "7" not in store.grades("s")


def test_nothing_to_change_is_an_error(store):
    for change in (
        lambda: store.editor.rename_set("none", "t", judge="ann"),
        lambda: store.editor.rename_set("s", "s", judge="ann"),
        lambda: store.editor.rename_set("s", " ", judge="ann"),
        lambda: store.editor.merge("s", ["1"], "1", judge="ann"),
        lambda: store.editor.edit("s", "1", text=" ", judge="ann"),
        lambda: store.editor.edit("s", "1", criteria="x" * 4001, judge="ann"),
        lambda: store.editor.undo(99, judge="ann"),
    ):
        with pytest.raises(SettingError):
            change()
    assert store.editor.changes() == []


def test_every_change_that_was_undone_can_be_redone(store):
    def look():
        return [store.topics(name) for name in ("s", "t", "u")], store.grades("s"), store.grades("t")

    for change in (
        lambda: store.editor.edit("s", "1", text="feathers", criteria="only birds", judge="ann"),
        lambda: store.editor.merge("s", ["2"], "1", judge="ann"),
        lambda: store.editor.delete("s", ["1"], judge="ann"),
        lambda: store.editor.rename_set("s", "u", judge="ann"),
    ):
        before, done = look(), change()
        after = look()
        assert after != before
        for _ in range(2):
            undone = store.editor.undo(done.id, judge="ann")
            assert (look(), undone.undone, undone.redoable) == (before, True, True)
            done = store.editor.redo(done.id, judge="bob")
            assert (look(), done.undone, done.redoable) == (after, False, False)
            assert not any(each.redoable for each in store.editor.changes(3))
        store.editor.undo(done.id, judge="ann")
    store.verify()


def test_a_change_is_not_redone_over_another_one(store):
    edit = store.editor.edit("s", "1", text="feathers", judge="ann")
    with pytest.raises(SettingError, match="no change 1 that was undone"):
        store.editor.redo(edit.id, judge="ann")
    store.editor.undo(edit.id, judge="ann")
    store.editor.edit("s", "1", text="plumage", judge="ann")
    with pytest.raises(SettingError, match="changed again since, undo that first"):
        store.editor.redo(edit.id, judge="ann")


def test_changed_versions_are_found_and_backups_have_them(store):
    store.editor.edit("s", "1", criteria="only birds", judge="ann")
    copy = back_up(store.path)
    with JudgmentStore(copy) as other:
        assert other.editor.topic("s", "1").criteria == "only birds"
    with closing(sqlite3.connect(copy, isolation_level=None)) as connection:
        connection.execute("UPDATE current_topics SET criteria = 'only bats'")
    with JudgmentStore(copy) as other, pytest.raises(IndexCorrupt, match="current topics do not follow"):
        other.topic_sets()
    with closing(sqlite3.connect(copy, isolation_level=None)) as connection:
        connection.execute("UPDATE versions SET criteria = 'only bats'")
    with JudgmentStore(copy) as other, pytest.raises(IndexCorrupt, match="rows of versions"):
        other.topic_sets()
