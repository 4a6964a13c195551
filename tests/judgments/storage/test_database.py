"""Durability and concurrency of the database, and errors of disk and file."""

import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
from contextlib import closing
from pathlib import Path

import pytest

from searchlab.errors import IndexCorrupt, IndexLocked, IndexTooNew, StoreError, WriteFailed
from searchlab.judgments.judgment_store import JudgmentStore
from searchlab.judgments.storage import database

# Judges documents one by one, and prints each docno when the call has returned.
JUDGING = """
import sys
from searchlab.judgments.judgment_store import JudgmentStore
path, judge, n = sys.argv[1], sys.argv[2], int(sys.argv[3])
store = JudgmentStore(path)
store.add_topic("trials", "heat flow", "a")
for number in range(n):
    store.judge("trials", "a", f"{judge}-{number}", judge=judge, grade=number % 3)
    print(f"{judge}-{number}", flush=True)
"""


def start(path, judge, n):
    return subprocess.Popen([sys.executable, "-c", JUDGING, path, judge, str(n)], stdout=subprocess.PIPE, text=True)


def test_a_killed_process_loses_no_completed_write(tmp_path):
    path = tmp_path / "it.sqlite"
    for judge, n_seen in [("ann", 1), ("bob", 40)]:
        with start(path, judge, 10**6) as process:
            seen = [process.stdout.readline().strip() for _ in range(n_seen)]
            process.send_signal(signal.SIGKILL)
            seen += [line.strip() for line in process.stdout if line.endswith("\n")]
        assert process.returncode == -signal.SIGKILL
        with JudgmentStore(path) as store:
            found = store.grades("trials", judge)["a"]
            # All completed writes are there, and at most one whose completion was not printed yet.
            assert set(seen) <= set(found)
            assert len(found) <= len(seen) + 1
            assert all(found[docno] == int(docno.partition("-")[2]) % 3 for docno in seen)
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()


def test_several_processes_write_concurrently_from_the_first_write_on(tmp_path):
    path = tmp_path / "it.sqlite"
    processes = [start(path, judge, 60) for judge in ("ann", "bob", "cyd")]
    outputs = [process.communicate(timeout=60)[0].split() for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0]
    with JudgmentStore(path) as store:
        assert sorted(store.grades("trials")["a"]) == sorted(docno for output in outputs for docno in output)
        assert store.topic_sets()[0].n_judgments == 180


def test_threads_share_one_store(tmp_path):
    failures = []
    with JudgmentStore(tmp_path / "it.sqlite") as store:
        store.add_topic("trials", "heat flow", "a")

        def work(judge):
            try:
                for number in range(25):
                    store.judge("trials", "a", f"d{number}", judge=judge, grade=1)
                    assert len(store.judgments("trials", "a", judge)) == number + 1
                    store.grades("trials")
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=work, args=(f"judge {n}",)) for n in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == []
        assert len(store.judgments("trials")) == 150
        # Connections are reused: there are at most as many as concurrent threads.
        assert 1 <= len(store._database._idle) <= 6


def test_a_snapshot_older_than_what_was_verified_is_no_damage(tmp_path):
    with JudgmentStore(tmp_path / "it.sqlite") as store:
        store.add_topic("trials", "heat flow", "a")
        store.judge("trials", "a", "d0", judge="x", grade=1)
        database = store._database
        with database.reading() as before:
            store.judge("trials", "a", "d1", judge="x", grade=1)
            assert len(store.judgments("trials")) == 2  # verified up to the second judgment
            # The first reader still sees one judgment, and verifies its snapshot now.
            assert before.execute("SELECT count(*) FROM acts").fetchone() == (1,)
            assert database._is_verified(before, database._inode())
        assert len(store.judgments("trials")) == 2


def test_a_file_is_examined_again_only_after_a_change(tmp_path, monkeypatch):
    path = tmp_path / "it.sqlite"
    with JudgmentStore(path) as store, JudgmentStore(path) as other:
        store.add_topic("trials", "heat flow", "a")
        examined = []
        is_verified = database.Database._is_verified

        def examine(self, connection, inode):
            examined.append(self)
            return is_verified(self, connection, inode)

        monkeypatch.setattr(database.Database, "_is_verified", examine)

        def n_examined():
            found = len(examined), len(store.topics("trials")), store.find_topic("heat flow")
            assert found[2] == ("trials", "a")
            return len(examined) - found[0]

        assert [n_examined() for _ in range(3)] == [1, 0, 0]
        other.judge("trials", "a", "d1", judge="x", grade=1)
        assert store.topics("trials")[0].n_judged == 1
        assert n_examined() == 0
        store.judge("trials", "a", "d2", judge="x", grade=1)
        assert store.topics("trials")[0].n_judged == 2
        assert n_examined() == 0
        examined.clear()
        store.verify()
        assert examined == [store._database]


def test_damage_by_another_process_is_found_by_a_connection_that_has_read_before(tmp_path):
    path = tmp_path / "it.sqlite"
    with JudgmentStore(path) as store:
        store.add_topic("trials", "heat flow", "a")
        store.judge("trials", "a", "d1", judge="x", grade=1)
        assert [store.topics("trials")[0].n_judged for _ in range(2)] == [1, 1]
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("UPDATE seals SET digest = '00' WHERE name = 'acts'")
        with pytest.raises(IndexCorrupt):
            store.topics("trials")


def test_concurrent_requests_for_the_same_text_add_one_topic(tmp_path):
    with JudgmentStore(tmp_path / "it.sqlite") as store:
        qids = []
        threads = [threading.Thread(target=lambda: qids.append(store.add_topic("s", "heat").qid)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert qids == ["1"] * 8


def test_judgments_are_durable_and_queries_are_not_synchronised(tmp_path, monkeypatch):
    statements = []
    connect = database.Database._connect

    def traced(self, mode):
        connection = connect(self, mode)
        connection.set_trace_callback(statements.append)
        return connection

    monkeypatch.setattr(database.Database, "_connect", traced)
    with JudgmentStore(tmp_path / "it.sqlite") as store:
        store.add_topic("trials", "heat flow", "a")
        store.verify()
        for act in (
            lambda: store.judge("trials", "a", "d", judge="ann", grade=1),
            lambda: store.record_queries("x"),
            lambda: store.undo("ann"),
        ):
            statements.clear()
            act()
            level = "NORMAL" if any("queries" in step for step in statements) else "FULL"
            assert (
                statements.index(f"PRAGMA synchronous={level}")
                < statements.index("BEGIN IMMEDIATE")
                < statements.index("COMMIT")
            )
    connection = sqlite3.connect(tmp_path / "it.sqlite")
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    connection.close()


def test_a_writer_that_waits_too_long_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr(database, "LOCK_TIMEOUT_SECONDS", 0.05)
    with JudgmentStore(tmp_path / "it.sqlite") as store:
        store.add_topic("trials", "heat flow", "a")
        other = sqlite3.connect(store.path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(IndexLocked, match="another process has been writing"):
            JudgmentStore(store.path).add_topic("trials", "wings")
        # Readers do not wait.
        assert len(store.topics("trials")) == 1
        other.execute("ROLLBACK")
        other.close()
        store.add_topic("trials", "wings")


def test_a_removed_file_is_no_longer_written_to(tmp_path):
    with JudgmentStore(tmp_path / "it.sqlite") as store:
        store.add_topic("trials", "heat flow", "a")
        for path in tmp_path.iterdir():
            path.unlink()
        assert store.topic_sets() == []
        store.add_topic("trials", "wings", "b")
        with JudgmentStore(store.path) as other:
            assert [topic.qid for topic in other.topics("trials")] == ["b"]


def test_a_closed_store_raises_an_error(tmp_path):
    store = JudgmentStore(tmp_path / "it.sqlite")
    store.add_topic("trials", "heat flow")
    store.close()
    store.close()
    with pytest.raises(StoreError, match="already closed"):
        store.topics("trials")
    # Closing the last connection removes the log files.
    assert [path.name for path in tmp_path.iterdir()] == ["it.sqlite"]


def test_a_failed_write_changes_nothing(tmp_path, monkeypatch):
    with JudgmentStore(tmp_path / "it.sqlite") as store:
        store.add_topic("trials", "heat flow", "a")
        monkeypatch.setattr(
            "searchlab.judgments.judgment_store._INSERT_ACT", "INSERT INTO nowhere VALUES (?, ?, ?, ?, ?, ?, ?)"
        )
        with pytest.raises(WriteFailed, match="cannot be written"):
            store.judge("trials", "a", "d", judge="ann", grade=1)
        with pytest.raises(WriteFailed):
            store.import_judgments("new", store.topics("trials"), {"a": {"d": 1}}, judge="ann")
        assert [summary.name for summary in store.topic_sets()] == ["trials"]


def write_other(path):
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE others (name)")
    connection.close()


def write_newer(path):
    with JudgmentStore(path) as store:
        store.add_topic("trials", "heat flow")
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version=99")
    connection.close()


def write_cut(path):
    with JudgmentStore(path) as store:
        store.add_topic("trials", "heat flow")
    path.write_bytes(path.read_bytes()[:9000])


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda path: path.write_bytes(b"qid 0 docno 1\n" * 500), IndexCorrupt, "not a database of judgments"),
        (write_other, IndexCorrupt, "a database, but not a database of judgments"),
        (write_newer, IndexTooNew, "layout 99, but this searchlab reads layout 3"),
        (write_cut, IndexCorrupt, "damaged"),
        (lambda path: path.mkdir(), StoreError, "(a folder)"),
    ],
)
def test_a_foreign_file_is_an_error_and_stays_unchanged(tmp_path, make, error, message):
    path = tmp_path / "it.sqlite"
    make(path)
    before = path.read_bytes() if path.is_file() else None
    with JudgmentStore(path) as store:
        for act in (store.topic_sets, lambda: store.add_topic("trials", "wings"), lambda: store.record_queries("x")):
            with pytest.raises(error) as refused:
                act()
            assert message in str(refused.value)
            assert str(refused.value).startswith(f"{path}: ")
            assert "\n" not in str(refused.value)
    assert before is None or path.read_bytes() == before


def test_an_empty_file_is_an_empty_database(tmp_path):
    path = tmp_path / "it.sqlite"
    path.touch()
    with JudgmentStore(path) as store:
        assert store.topic_sets() == []
        store.add_topic("trials", "wings")
        assert len(store.topic_sets()) == 1


def test_special_characters_in_a_path_are_literal(tmp_path):
    odd = tmp_path / "a?mode=memory#%41 b"
    odd.mkdir()
    with JudgmentStore(odd / "é?x=1.sqlite") as store:
        store.add_topic("trials", "wings")
        assert (odd / "é?x=1.sqlite").is_file()


def test_a_missing_folder_is_an_error(tmp_path):
    with JudgmentStore(tmp_path / "none" / "it.sqlite") as store:
        assert store.topic_sets() == []
        with pytest.raises(WriteFailed, match=r"cannot be written \(no such folder\)"):
            store.add_topic("trials", "wings")


def test_a_full_disk_is_an_error_and_keeps_earlier_judgments(tmp_path, monkeypatch):
    path = tmp_path / "it.sqlite"
    with JudgmentStore(path) as store:
        store.add_topic("trials", "heat flow", "a")
    connect = database.Database._connect

    def limited(self, mode):
        connection = connect(self, mode)
        connection.execute("PRAGMA max_page_count=20")
        return connection

    with JudgmentStore(path) as store, monkeypatch.context() as patch:
        patch.setattr(database.Database, "_connect", limited)
        with pytest.raises(WriteFailed, match=r"cannot be written \(database or disk is full\)"):
            for number in range(1000):
                store.judge("trials", "a", f"d{number}", judge="ann", grade=1, note="n" * 4000)
        assert len(store.judgments("trials")) == number > 0
    with JudgmentStore(path) as store:
        store.judge("trials", "a", "one-more", judge="ann", grade=1)
        assert len(store.judgments("trials")) == number + 1


@pytest.fixture
def unwritable():
    """A folder without write permission, for a process that is not root."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with JudgmentStore(folder / "it.sqlite") as store:
            store.add_topic("trials", "heat flow", "a")
            store.judge("trials", "a", "d", judge="ann", grade=1)
        folder.chmod(0o555)
        is_root = os.geteuid() == 0
        if is_root:
            os.seteuid(65534)
        try:
            yield folder
        finally:
            if is_root:
                os.seteuid(0)
            folder.chmod(0o755)


def test_a_read_only_folder_can_be_read(unwritable):
    with JudgmentStore(unwritable / "it.sqlite") as store:
        assert store.grades("trials") == {"a": {"d": 1}}
        with pytest.raises(WriteFailed, match="cannot be written"):
            store.judge("trials", "a", "d", judge="ann", grade=2)
        assert store.grades("trials") == {"a": {"d": 1}}
    with JudgmentStore(unwritable / "new.sqlite") as store, pytest.raises(WriteFailed, match="cannot be written"):
        store.add_topic("trials", "wings")
