"""A training process writes its model, reports progress, and ends with the server."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from searchlab import extensions
from searchlab.rankers.bundle import load_bundle
from searchlab.web.jobs.task_process import NICENESS, ProgressWriter
from searchlab.web.jobs.training_jobs import TRAINING_COMMAND, TrainingJobs
from searchlab.web.jobs.training_process import TrainingTask
from tests.web.judged_app import N_TOPICS, title_documents, title_grades

LONG = 240.0


@pytest.fixture
def jobs():
    made = TrainingJobs()
    yield made
    made.close()


def is_alive(pid):
    try:
        os.kill(pid, 0)
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (ProcessLookupError, FileNotFoundError):
        return False
    return state != "Z"


def ends(pid):
    """Whether a process ends; it is not a child of this one."""
    deadline = time.monotonic() + LONG
    while is_alive(pid):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


@pytest.fixture(scope="module")
def folder(build):
    return build(title_documents())


def make_task(folder, output, **changes):
    topics = {str(n): f"w{n}" for n in range(N_TOPICS)} | {"none": "f1"}
    qrels = {str(n): title_grades(n) for n in range(N_TOPICS)}
    usual = {"folder": str(folder), "output": str(output), "topic_set": "mine", "topics": topics, "qrels": qrels}
    return TrainingTask(**usual | {"ranker": "softmax", "features": "table1", "k": 20} | changes)


def test_a_model_is_trained_and_appears(jobs, folder, tmp_path):
    output = tmp_path / "it.models" / "mine.json"
    stages = set()
    job = jobs.start("it", "mine", make_task(folder, output))
    while not jobs.get(job.id).is_over:
        with jobs._changed:
            jobs._changed.wait(LONG)
            stages.add(jobs.get(job.id).stage)
    ended = jobs.get(job.id)
    assert (ended.state, ended.error) == ("done", None)
    assert {"searching", "cross-validating", "training"} <= stages
    outcome = ended.to_json()
    assert outcome["helps"] is True
    assert outcome["advice"]["kind"] == "helps"
    assert outcome["n_topics"] == N_TOPICS
    assert outcome["means"]["softmax"]["nDCG@10"] > outcome["means"]["BM25"]["nDCG@10"] + 0.1
    bundle = load_bundle(output)
    assert bundle.training["source"] == "judgments mine"
    assert bundle.training["set"] == "mine"
    assert bundle.training["topics"] == {str(n): f"w{n}" for n in range(N_TOPICS)}
    assert bundle.trial["advice"] == outcome["advice"]
    assert [path.name for path in output.parent.iterdir()] == ["mine.json"]


def test_an_error_of_training_is_reported_in_one_line(jobs, folder, tmp_path):
    ended = jobs.wait(jobs.start("it", "mine", make_task(folder, tmp_path / "mine.json", topics={"1": "w1"})).id, LONG)
    assert ended.state == "failed"
    assert ended.error == "1 of 1 topics have a relevant document, expected at least 4"
    assert list(tmp_path.iterdir()) == []


def test_a_cancelled_job_leaves_no_files(jobs, folder, tmp_path):
    output = tmp_path / "it.models" / "mine.json"
    job = jobs.start("it", "mine", make_task(folder, output, ranker="rankboost"))
    with jobs._changed:
        assert jobs._changed.wait_for(lambda: jobs.get(job.id).stage == "cross-validating", LONG)
    assert jobs.cancel(job.id).state == "cancelled"
    assert list(tmp_path.rglob("*")) == []


SERVER = """
import sys, time
from searchlab.web.jobs.training_jobs import TrainingJobs
from searchlab.web.jobs.training_process import TrainingTask
jobs = TrainingJobs()
jobs.start("it", "mine", TrainingTask.from_line(sys.stdin.readline()))
with jobs._changed:
    jobs._changed.wait_for(lambda: jobs.get("1").stage == "cross-validating", 60)
print(jobs._process.pid, flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_killed_server_leaves_no_process(folder, tmp_path, number):
    server = subprocess.Popen([sys.executable, "-c", SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    with server:
        server.stdin.write(make_task(folder, tmp_path / "mine.json", ranker="rankboost").to_line())
        server.stdin.flush()
        process = int(server.stdout.readline())
        assert is_alive(process)
        server.send_signal(number)
        server.wait(LONG)
    assert ends(process)
    assert list(tmp_path.iterdir()) == []


SLOW_TO_SAVE = """
import sys, time
from searchlab.rankers.bundle import Bundle
from searchlab.web.jobs.task_process import run_task_process
from searchlab.web.jobs.training_process import TrainingTask, run_training
keep = Bundle.save
def save(bundle, path):
    print("saving", file=sys.stderr, flush=True)
    time.sleep(0.3)
    keep(bundle, path)
Bundle.save = save
run_task_process(TrainingTask.from_line, run_training)
"""


@pytest.mark.parametrize("end", [lambda process: process.terminate(), lambda process: process.stdin.close()])
def test_a_model_that_is_being_written_is_completed(folder, tmp_path, end):
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with subprocess.Popen([sys.executable, "-c", SLOW_TO_SAVE], **pipes, text=True) as process:  # type: ignore[call-overload]
        process.stdin.write(make_task(folder, tmp_path / "mine.json").to_line())
        process.stdin.flush()
        assert "saving" in iter(lambda: process.stderr.readline().strip() or "nothing", "nothing")
        end(process)
        process.stdout.read()
        assert process.wait(LONG) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["mine.json"]
    assert load_bundle(tmp_path / "mine.json").ranker == "softmax"


def test_the_process_has_low_priority(folder, tmp_path):
    with subprocess.Popen(TRAINING_COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        process.stdin.write(make_task(folder, tmp_path / "mine.json", ranker="rankboost").to_line())
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["stage"] == "searching"
        expected = min(19, os.getpriority(os.PRIO_PROCESS, 0) + NICENESS)
        assert os.getpriority(os.PRIO_PROCESS, process.pid) == expected
        process.terminate()


def test_lines_of_progress_are_limited_in_number(tmp_path, monkeypatch):
    now = [0.0]
    monkeypatch.setattr("searchlab.web.jobs.task_process.time.monotonic", lambda: now[0])
    with (tmp_path / "lines").open("w") as file:
        writer = ProgressWriter(file)
        for number in range(100):
            now[0] += 0.03
            writer.progress("a", number, 99)
        writer.progress("b", 0, 9)
    lines = [json.loads(line) for line in (tmp_path / "lines").read_text().splitlines()]
    assert lines[0] == {"stage": "a", "done": 0, "total": 99}
    assert lines[1]["done"] == 4
    assert lines[-2] == {"stage": "a", "done": 99, "total": 99}
    assert lines[-1] == {"stage": "b", "done": 0, "total": 9}
    assert len(lines) == 1 + 24 + 1 + 1


@pytest.mark.usefixtures("registered_here")
def test_the_process_has_the_extensions_of_the_server(jobs, folder, tmp_path):
    (tmp_path / "my_title.py").write_text(
        "import searchlab\n"
        "@searchlab.feature('own.title', 'words of the query in the title')\n"
        "def title(candidates):\n"
        "    return candidates.counts('title').tf.sum(axis=0)\n"
    )
    extensions.load_extensions([str(tmp_path / "my_title.py")])
    output = tmp_path / "it.models" / "mine.json"
    job = jobs.start("it", "mine", make_task(folder, output, features="table1,own.title"))
    assert jobs.wait(job.id, LONG).state == "done"
    assert load_bundle(output).origins == {"own.title": extensions.origin_of("feature", "own.title")}
