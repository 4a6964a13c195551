"""Models are trained one at a time in a process of their jobs, which can be cancelled."""

import signal
import sys
import textwrap
import threading
from pathlib import Path

import pytest

from searchlab.features.feature_sets import DEFAULT_SET
from searchlab.web.http_errors import HttpError, NotFound
from searchlab.web.jobs.job_queue import MAX_WAITING_JOBS
from searchlab.web.jobs.training_jobs import TrainingJobs
from searchlab.web.jobs.training_process import TrainingTask

LONG = 240.0


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path, monkeypatch):
    """The journal of jobs is written beside the index, which is `index` here."""
    monkeypatch.chdir(tmp_path)


def task(name="one", **changes):
    usual = {"folder": "index", "output": f"{name}.json", "topic_set": "mine", "topics": {"1": "words"}, "qrels": {}}
    return TrainingTask(**usual | changes)


def script(text: str) -> tuple[str, ...]:
    """The command of a training process that runs this script."""
    start = "import json, os, sys, time\ntask = json.loads(sys.stdin.readline())\n"
    start += "def write(**line): print(json.dumps(line), flush=True)\n"
    return sys.executable, "-c", start + textwrap.dedent(text)


FINISH = "write(stage='training', done=1, total=2); write(result={'means': {'a': {'AP': 0.5}}, 'advice': None})"
# Runs until it is stopped, like a long training; the line before tells the test that it runs.
BEGIN = "write(stage='training', done=1, total=2)"
HANG = f"{BEGIN}; sys.stdin.read()"


@pytest.fixture
def make_jobs():
    """Makes training jobs with a process of a few lines; all are closed in the end."""
    made = []

    def make(text=None):
        made.append(TrainingJobs() if text is None else TrainingJobs(script(text)))
        return made[-1]

    yield make
    for each in made:
        each.close()


def start(jobs, name="one", **changes):
    return jobs.start("medical", name, task(name, **changes))


def until(jobs, condition):
    """Wait for a change."""
    with jobs._changed:
        assert jobs._changed.wait_for(condition, LONG)


def running(jobs, id):
    until(jobs, lambda: jobs.get(id).stage == "training")


# States of a job


def test_a_job_has_its_progress_and_its_outcome(make_jobs):
    jobs = make_jobs(FINISH)
    assert start(jobs).to_json() == {
        "id": "1",
        "index": "medical",
        "topic_set": "mine",
        "ranker": "softmax",
        "recipe": "tuned",
        "features": DEFAULT_SET,
        "name": "one",
        "state": "waiting",
        "stage": "waiting",
        "done": 0,
        "total": 0,
        "seconds": 0.0,
        "advice": None,
        "verdict": None,
        "helps": None,
        "means": None,
        "n_topics": None,
        "former": None,
        "comparison": None,
        "version": None,
        "former_version": None,
        "error": None,
    }
    ended = jobs.wait("1", LONG)
    assert (ended.state, ended.done, ended.total, ended.error) == ("done", 1, 2, None)
    assert ended.to_json()["means"] == {"a": {"AP": 0.5}}
    assert ended.seconds == jobs.get("1").seconds > 0


def test_the_process_gets_the_whole_task(make_jobs):
    jobs = make_jobs("write(result={'means': task})")
    qrels = {str(q): {f"document-{n}": n % 2 for n in range(1000)} for q in range(100)}
    given = task(qrels=qrels, k=7)
    jobs.start("medical", "one", given)
    assert TrainingTask(**jobs.wait("1", LONG).to_json()["means"]) == given


def test_ids_count_up_and_the_latest_job_comes_first(make_jobs):
    jobs = make_jobs(FINISH)
    assert [start(jobs, name).id for name in ("a", "b")] == ["1", "2"]
    assert jobs.wait("2", LONG).state == jobs.get("1").state == "done"
    assert [job.name for job in jobs.list()] == ["b", "a"]


def test_an_unknown_job_is_not_found(make_jobs):
    with pytest.raises(NotFound, match="there is no training job '7'"):
        make_jobs(FINISH).get("7")
    with pytest.raises(NotFound):
        make_jobs(FINISH).cancel("7")


def test_old_jobs_are_dropped(make_jobs, monkeypatch):
    monkeypatch.setattr("searchlab.web.jobs.job_queue.MAX_ENDED_JOBS", 3)
    jobs = make_jobs(FINISH)
    for _ in range(5):
        jobs.wait(start(jobs).id, LONG)
    assert [job.id for job in jobs.list()] == ["5", "4", "3"]


# The queue


def test_one_job_runs_and_a_few_wait(make_jobs):
    jobs = make_jobs(HANG)
    ids = [start(jobs, f"n{number}").id for number in range(MAX_WAITING_JOBS)]
    running(jobs, ids[0])
    ids.append(start(jobs).id)
    assert [jobs.get(id).state for id in ids] == ["running"] + ["waiting"] * MAX_WAITING_JOBS
    with pytest.raises(HttpError, match="4 training jobs are waiting already") as error:
        start(jobs, "one more")
    assert error.value.status == 409
    jobs.cancel(ids[0])
    running(jobs, ids[1])
    assert [jobs.get(id).state for id in ids] == ["cancelled", "running"] + ["waiting"] * (MAX_WAITING_JOBS - 1)


def test_a_job_that_waits_or_runs_already_is_refused(make_jobs):
    jobs = make_jobs(HANG)
    first = start(jobs)
    with pytest.raises(HttpError, match="one is being trained on these judgments already") as error:
        start(jobs)
    assert (error.value.status, error.value.field) == (409, "name")
    # On other judgments, or by other settings, it is another job.
    start(jobs, qrels={"1": {"d": 1}})
    jobs.cancel(first.id)
    start(jobs)


def test_jobs_that_the_end_of_the_server_stops_stay_in_the_journal(make_jobs):
    jobs = make_jobs(HANG)
    cancelled, stopped = start(jobs, "cancelled"), start(jobs, "stopped")
    running(jobs, cancelled.id)
    jobs.cancel(cancelled.id)
    running(jobs, stopped.id)
    jobs.close()
    assert '"stopped"' in Path("index.training.json").read_text()
    assert '"cancelled"' not in Path("index.training.json").read_text()


def test_the_next_job_runs_even_if_one_fails(make_jobs):
    jobs = make_jobs("write(error='no luck') if task['output'] == 'bad.json' else write(result={})")
    bad, good = start(jobs, "bad"), start(jobs, "good")
    assert jobs.wait(good.id, LONG).state == "done"
    assert (jobs.get(bad.id).state, jobs.get(bad.id).error) == ("failed", "no luck")


def test_a_job_runs_after_the_queue_was_empty(make_jobs):
    jobs = make_jobs(FINISH)
    jobs.wait(start(jobs).id, LONG)
    until(jobs, lambda: jobs._thread is None or not jobs._thread.is_alive())
    assert jobs.wait(start(jobs).id, LONG).state == "done"


# Failures


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("raise RuntimeError('secret place')", "the training process ended unexpectedly; see the log"),
        ("os.kill(os.getpid(), 9)", "the training process ended unexpectedly, perhaps out of memory; see the log"),
        ("write(stage='training', done=1, total=2)", "the training process ended unexpectedly; see the log"),
        (
            "print('no JSON', flush=True); sys.stdin.read()",
            "the training process could not be started or read; see the log",
        ),
    ],
)
def test_a_process_that_dies_is_reported_in_one_line_and_logged(make_jobs, caplog, text, message):
    jobs = make_jobs(text)
    ended = jobs.wait(start(jobs).id, LONG)
    assert (ended.state, ended.error) == ("failed", message)
    assert "training job 1 (one)" in caplog.text
    assert ("secret place" in caplog.text) == ("secret" in text)


def test_a_process_that_cannot_be_started_is_reported(caplog):
    jobs = TrainingJobs(["/nowhere/python"])
    ended = jobs.wait(start(jobs).id, LONG)
    assert ended.state == "failed"
    assert "/nowhere" not in ended.error  # type: ignore[operator]
    jobs.close()


def test_a_process_that_does_not_read_its_task_does_not_hang(make_jobs):
    jobs = make_jobs("os._exit(3)")
    jobs._command = (sys.executable, "-c", "pass")
    assert jobs.wait(start(jobs, topics={str(n): "word" for n in range(100_000)}).id, LONG).state == "failed"


# Cancelling and closing


def test_a_running_job_is_cancelled(make_jobs):
    jobs = make_jobs(HANG)
    job = start(jobs)
    running(jobs, job.id)
    process = jobs._process
    assert (jobs.cancel(job.id).state, jobs.get(job.id).error) == ("cancelled", None)
    assert process.poll() == -signal.SIGTERM


def test_a_job_that_is_just_starting_is_cancelled(make_jobs):
    jobs = make_jobs(HANG)
    job = start(jobs)
    until(jobs, lambda: jobs.get(job.id).state == "running" or jobs._changed.wait(0.001))
    assert jobs.cancel(job.id).state == "cancelled"


def test_a_waiting_job_is_cancelled_and_never_starts(make_jobs, tmp_path):
    jobs = make_jobs(f"open({str(tmp_path)!r} + '/' + task['output'], 'w').close(); {HANG}")
    first, second, third = start(jobs, "a"), start(jobs, "b"), start(jobs, "c")
    running(jobs, first.id)
    assert jobs.cancel(second.id).state == "cancelled"
    jobs.cancel(first.id)
    running(jobs, third.id)
    assert sorted(path.name for path in tmp_path.glob("?.json")) == ["a.json", "c.json"]


def test_a_job_that_has_ended_is_not_cancelled(make_jobs):
    jobs = make_jobs(FINISH)
    done = jobs.wait(start(jobs).id, LONG)
    assert jobs.cancel(done.id) == done


def test_a_process_that_ignores_signals_is_killed(make_jobs, monkeypatch):
    monkeypatch.setattr("searchlab.web.jobs.job_queue.EXIT_SECONDS", 0.2)
    jobs = make_jobs(f"import signal; signal.signal(15, signal.SIG_IGN); {BEGIN}\nwhile True: time.sleep(1)")
    job = start(jobs)
    running(jobs, job.id)
    assert jobs.cancel(job.id).state == "cancelled"


def test_a_job_that_finished_in_the_meantime_is_done(make_jobs):
    jobs = make_jobs(f"import signal; signal.signal(15, lambda *arguments: (write(result={{}}), os._exit(0))); {HANG}")
    job = start(jobs)
    running(jobs, job.id)
    assert jobs.cancel(job.id).state == "done"


def test_closing_ends_all_jobs(make_jobs):
    jobs = make_jobs(HANG)
    first, second = start(jobs), start(jobs, "two")
    running(jobs, first.id)
    process, thread = jobs._process, jobs._thread
    jobs.close()
    jobs.close()
    assert [jobs.get(job.id).state for job in (first, second)] == ["cancelled", "cancelled"]
    assert process.poll() is not None
    assert not thread.is_alive()
    with pytest.raises(HttpError, match="shutting down") as error:
        start(jobs)
    assert error.value.status == 503


def test_jobs_can_be_started_by_many_threads(make_jobs):
    jobs = make_jobs(FINISH)
    ids, rejected = [], []

    def ask():
        for number in range(5):
            try:
                ids.append(start(jobs, f"{threading.get_ident()}-{number}").id)
            except HttpError:
                rejected.append(1)
            jobs.list()

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(ids) + len(rejected) == 40
    assert len(set(ids)) == len(ids) >= MAX_WAITING_JOBS
    assert jobs.wait(max(ids, key=int), LONG).state == "done"
