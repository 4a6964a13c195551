"""Backups of judgments: consistent while others judge, complete or absent, and restored in place of damage."""

import sqlite3
import threading
from pathlib import Path

import pytest

from searchlab.errors import IndexCorrupt, SourceError, WriteFailed
from searchlab.judgments.judgment_store import JudgmentStore
from searchlab.judgments.storage import judgment_backup
from searchlab.judgments.storage.database import Database, backups_folder
from searchlab.judgments.storage.judgment_backup import back_up, examine_judgments, last_good_backup, restore_judgments
from tests.judgments.damaged_judgments import fill, read_everything


@pytest.fixture
def judged(tmp_path):
    return fill(tmp_path / "it.judgments.sqlite", n_acts=40)


@pytest.fixture
def stamps(monkeypatch):
    """Backups get the names 1, 2, …"""
    numbers = iter(range(1, 100))
    monkeypatch.setattr(judgment_backup, "_stamp", lambda: str(next(numbers)))


def break_file(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[100:4000] = bytes(3900)
    path.write_bytes(content)


def test_a_backup_is_the_same_in_one_file(judged, stamps):
    backup = back_up(judged)
    assert backup == backups_folder(judged) / "1.sqlite"
    assert backup.parent.name == "it.judgments.backups"
    assert read_everything(backup) == read_everything(judged)
    assert back_up(judged, judged.with_name("copy")).name == "copy"
    assert [path.name for path in backup.parent.iterdir()] == ["1.sqlite"]


def test_a_backup_while_others_judge_is_one_state(judged, stamps):
    stop = threading.Event()
    failures = []

    def work():
        try:
            with JudgmentStore(judged) as store:
                number = 0
                # Pairs of judgments in one transaction: a backup has both or neither.
                while not stop.is_set():
                    number += 1
                    grades = {"q0": {f"left-{number}": 1}, "q1": {f"right-{number}": 1}}
                    store.import_judgments("trials", [], grades, judge="cyd")
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        for _ in range(10):
            with JudgmentStore(back_up(judged)) as copy:
                grades = copy.grades("trials", "cyd")
                left, right = (grades.get(qid, {}) for qid in ("q0", "q1"))
                assert [name.partition("-")[2] for name in left] == [name.partition("-")[2] for name in right]
    finally:
        stop.set()
        thread.join()
    assert failures == []


def test_a_backup_that_fails_leaves_nothing(judged, stamps, monkeypatch):
    older = back_up(judged, judged.with_name("copy.sqlite")).read_bytes()

    def full_disk(self):
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(Database, "verify", full_disk)
    with pytest.raises(WriteFailed, match=r"copy.sqlite: cannot be written \(database or disk is full\)"):
        back_up(judged, judged.with_name("copy.sqlite"))
    assert judged.with_name("copy.sqlite").read_bytes() == older
    assert sorted(path.name for path in judged.parent.iterdir()) == ["copy.sqlite", judged.name]


def test_what_cannot_be_backed_up_is_named(tmp_path, judged):
    with pytest.raises(SourceError, match="nothing judged yet"):
        back_up(tmp_path / "none.sqlite")
    with pytest.raises(WriteFailed, match="the file of judgments itself"):
        back_up(judged, judged)
    with pytest.raises(WriteFailed, match="a folder"):
        back_up(judged, tmp_path)
    break_file(judged)
    with pytest.raises(IndexCorrupt, match="damaged"):
        back_up(judged)


def test_the_last_good_backup_is_offered_and_restored(judged, stamps):
    right = read_everything(judged)
    assert last_good_backup(judged) is None
    assert examine_judgments(judged) is None
    good = back_up(judged)
    break_file(back_up(judged))
    break_file(judged)
    problem = examine_judgments(judged)
    assert problem is not None
    assert problem.startswith(f"{judged}: damaged")
    assert problem.endswith(f"last good backup: {good}")
    damaged = judged.read_bytes()
    restored, kept = restore_judgments(judged)
    assert restored == good
    assert kept.read_bytes() == damaged
    assert read_everything(judged) == right
    assert examine_judgments(judged) is None


def test_a_restored_file_does_not_get_the_log_of_the_replaced_one(judged, stamps):
    backup = back_up(judged)
    right = read_everything(judged)
    with JudgmentStore(judged) as store:
        store.judge("trials", "q0", "later", judge="ann", grade=1)
        log = Path(f"{judged}-wal").read_bytes()
        assert log
        # As after a power failure: the log stays beside the file.
        content = judged.read_bytes()
    judged.write_bytes(content)
    Path(f"{judged}-wal").write_bytes(log)
    restore_judgments(judged, backup)
    assert read_everything(judged) == right


def test_without_a_good_backup_nothing_is_replaced(judged, tmp_path):
    before = judged.read_bytes()
    with pytest.raises(SourceError, match="no good backup here"):
        restore_judgments(judged)
    with pytest.raises(SourceError, match="no such file"):
        restore_judgments(judged, tmp_path / "none")
    (tmp_path / "text").write_text("no database" * 1000)
    with pytest.raises(IndexCorrupt):
        restore_judgments(judged, tmp_path / "text")
    assert judged.read_bytes() == before
    assert not list(tmp_path.glob(".*"))
