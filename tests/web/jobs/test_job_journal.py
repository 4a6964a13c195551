"""Training jobs that a server did not finish are known to the next one."""

import subprocess
import sys

import pytest

from searchlab.web.jobs.job_journal import add_to_journal, journal_file, list_interrupted, remove_from_journal

SETTINGS = {"topic_set": "mine", "ranker": "rsvm", "features": "table1", "recipe": "tuned", "prior": "auto", "k": 20}


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "it"


@pytest.fixture
def gone():
    """The id of a process that has ended."""
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    return process.pid


def test_a_job_of_a_process_that_runs_is_not_interrupted(folder):
    add_to_journal(folder, "training", "one", SETTINGS)
    assert list_interrupted(folder, "training", ["one"]) == []
    # A job that this process has not started is of an earlier one with the same id.
    assert [job["name"] for job in list_interrupted(folder, "training", ["two"])] == ["one"]
    remove_from_journal(folder, "training", "one")
    assert not journal_file(folder, "training").exists()


def test_jobs_of_a_process_that_is_gone_were_interrupted(folder, gone, monkeypatch):
    monkeypatch.setattr("os.getpid", lambda: gone)
    add_to_journal(folder, "training", "one", SETTINGS)
    add_to_journal(folder, "training", "two", SETTINGS | {"k": 7})
    monkeypatch.undo()
    assert list_interrupted(folder, "training")[0] == {"name": "one", "pid": gone, **SETTINGS}
    assert [(job["name"], job["k"]) for job in list_interrupted(folder, "training")] == [("one", 20), ("two", 7)]
    # Trained again, it is not interrupted any more; the other one stays.
    add_to_journal(folder, "training", "one", SETTINGS)
    assert [job["name"] for job in list_interrupted(folder, "training", ["one"])] == ["two"]
    remove_from_journal(folder, "training", "two")
    assert list_interrupted(folder, "training", ["one"]) == []


@pytest.mark.parametrize("text", ["{", "[]", '{"format": "other", "checksum": 0}'])
def test_a_damaged_journal_is_ignored(folder, text):
    journal_file(folder, "training").write_text(text)
    assert list_interrupted(folder, "training") == []
    add_to_journal(folder, "training", "one", SETTINGS)
    remove_from_journal(folder, "training", "one")
