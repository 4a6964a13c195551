"""Are models trained one at a time beside the server, can that be stopped, and does nothing outlive the server?"""

import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest

from searchlab.rankers.bundle import load_bundle
from searchlab.web.http_errors import Failure, NotFound
from searchlab.web.jobs.training_jobs import TRAINER, WAITING, Jobs
from searchlab.web.jobs.training_process import Lesson, Teller
from tests.web.judged_app import N_TOPICS, title_documents, title_grades

LONG = 60.0


def lesson(name="one", **changes):
    usual = {"folder": "index", "output": f"{name}.json", "set": "mine", "topics": {"1": "words"}, "qrels": {}}
    return Lesson(**usual | changes)


def script(text: str) -> tuple[str, ...]:
    """A trainer that does as it is told."""
    usual = "import json, os, sys, time\nlesson = json.loads(sys.stdin.readline())\n"
    usual += "def tell(**line): print(json.dumps(line), flush=True)\n"
    return sys.executable, "-c", usual + textwrap.dedent(text)


FINISH = "tell(stage='training', done=1, of=2); tell(result={'means': {'a': {'AP': 0.5}}, 'advice': None})"
# Waits until it is ended, as a training would that takes long; told before, so that it can be waited for.
BEGIN = "tell(stage='training', done=1, of=2)"
HANG = f"{BEGIN}; sys.stdin.read()"


@pytest.fixture
def jobs():
    """Makes jobs with a trainer of a few lines; all are closed in the end."""
    made = []

    def make(text=None):
        made.append(Jobs() if text is None else Jobs(script(text)))
        return made[-1]

    yield make
    for each in made:
        each.close()


def start(jobs, name="one", **changes):
    return jobs.start("medical", name, lesson(name, **changes))


def until(jobs, condition):
    """Wait for a change."""
    with jobs._changed:
        assert jobs._changed.wait_for(condition, LONG)


def running(jobs, id):
    until(jobs, lambda: jobs.get(id).stage == "training")


def is_alive(pid):
    try:
        os.kill(pid, 0)
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (ProcessLookupError, FileNotFoundError):
        return False
    return state != "Z"


def ends(pid):
    """Whether a process that is not our child ends."""
    patient_until = time.monotonic() + LONG
    while is_alive(pid):
        if time.monotonic() > patient_until:
            return False
        time.sleep(0.01)
    return True


# What is told.


def test_a_job_tells_how_far_it_is_and_what_came_of_it(jobs):
    own = jobs(FINISH)
    assert start(own).to_json() == {
        "id": "1",
        "index": "medical",
        "set": "mine",
        "ranker": "rsvm-ir",
        "features": "semantic",
        "name": "one",
        "state": "waiting",
        "stage": "waiting",
        "done": 0,
        "of": 0,
        "seconds": 0.0,
        "advice": None,
        "verdict": None,
        "helps": None,
        "means": None,
        "n_topics": None,
        "error": None,
    }
    ended = own.wait("1", LONG)
    assert (ended.state, ended.done, ended.of, ended.error) == ("done", 1, 2, None)
    assert ended.to_json()["means"] == {"a": {"AP": 0.5}}
    assert ended.seconds == own.get("1").seconds > 0


def test_the_trainer_gets_the_whole_lesson(jobs):
    own = jobs("tell(result={'means': lesson})")
    qrels = {str(q): {f"document-{n}": n % 2 for n in range(1000)} for q in range(100)}
    given = lesson(qrels=qrels, k=7)
    own.start("medical", "one", given)
    assert Lesson(**own.wait("1", LONG).to_json()["means"]) == given


def test_names_count_up_and_the_latest_comes_first(jobs):
    own = jobs(FINISH)
    assert [start(own, name).id for name in ("a", "b")] == ["1", "2"]
    assert own.wait("2", LONG).state == own.get("1").state == "done"
    assert [job.name for job in own.list()] == ["b", "a"]


def test_an_unknown_job_is_not_found(jobs):
    with pytest.raises(NotFound, match="there is no training '7'"):
        jobs(FINISH).get("7")
    with pytest.raises(NotFound):
        jobs(FINISH).cancel("7")


def test_those_that_ended_are_forgotten_in_time(jobs, monkeypatch):
    monkeypatch.setattr("searchlab.web.jobs.training_jobs.KEPT", 3)
    own = jobs(FINISH)
    for _ in range(5):
        own.wait(start(own).id, LONG)
    assert [job.id for job in own.list()] == ["5", "4", "3"]


# One at a time.


def test_one_is_trained_and_a_few_wait(jobs):
    own = jobs(HANG)
    ids = [start(own, f"n{number}").id for number in range(WAITING)]
    running(own, ids[0])
    ids.append(start(own).id)
    assert [own.get(id).state for id in ids] == ["running"] + ["waiting"] * WAITING
    with pytest.raises(Failure, match="4 models are waiting to be trained already") as refused:
        start(own)
    assert refused.value.status == 409
    own.cancel(ids[0])
    running(own, ids[1])
    assert [own.get(id).state for id in ids] == ["cancelled", "running"] + ["waiting"] * (WAITING - 1)


def test_the_next_one_comes_though_one_fails(jobs):
    own = jobs("tell(error='no luck') if lesson['output'] == 'bad.json' else tell(result={})")
    bad, good = start(own, "bad"), start(own, "good")
    assert own.wait(good.id, LONG).state == "done"
    assert (own.get(bad.id).state, own.get(bad.id).error) == ("failed", "no luck")


def test_after_a_pause_training_goes_on(jobs):
    own = jobs(FINISH)
    own.wait(start(own).id, LONG)
    until(own, lambda: own._thread is None or not own._thread.is_alive())
    assert own.wait(start(own).id, LONG).state == "done"


# What goes wrong.


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("raise RuntimeError('secret place')", "the training ended unexpectedly; the log has more"),
        ("os.kill(os.getpid(), 9)", "the training ended unexpectedly, perhaps for want of memory; the log has more"),
        ("tell(stage='training', done=1, of=2)", "the training ended unexpectedly; the log has more"),
        ("print('no JSON', flush=True); sys.stdin.read()", "the training could not be looked after; the log has more"),
    ],
)
def test_a_process_that_dies_is_told_in_one_line_and_logged(jobs, caplog, text, told):
    own = jobs(text)
    ended = own.wait(start(own).id, LONG)
    assert (ended.state, ended.error) == ("failed", told)
    assert "training 1 (one)" in caplog.text
    assert ("secret place" in caplog.text) == ("secret" in text)


def test_a_trainer_that_cannot_be_started_is_told(caplog):
    own = Jobs(["/nowhere/python"])
    ended = own.wait(start(own).id, LONG)
    assert ended.state == "failed"
    assert "/nowhere" not in ended.error
    own.close()


def test_a_trainer_that_does_not_listen_does_not_hang(jobs):
    own = jobs("os._exit(3)")
    own._command = (sys.executable, "-c", "pass")
    assert own.wait(start(own, topics={str(n): "word" for n in range(100_000)}).id, LONG).state == "failed"


# Stopping.


def test_a_running_job_is_cancelled(jobs):
    own = jobs(HANG)
    job = start(own)
    running(own, job.id)
    process = own._process
    assert (own.cancel(job.id).state, own.get(job.id).error) == ("cancelled", None)
    assert process.poll() == -signal.SIGTERM


def test_a_job_that_is_just_starting_is_cancelled(jobs):
    own = jobs(HANG)
    job = start(own)
    until(own, lambda: own.get(job.id).state == "running" or own._changed.wait(0.001))
    assert own.cancel(job.id).state == "cancelled"


def test_a_waiting_job_is_cancelled_and_never_starts(jobs, tmp_path):
    own = jobs(f"open({str(tmp_path)!r} + '/' + lesson['output'], 'w').close(); {HANG}")
    first, second, third = start(own, "a"), start(own, "b"), start(own, "c")
    running(own, first.id)
    assert own.cancel(second.id).state == "cancelled"
    own.cancel(first.id)
    running(own, third.id)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.json", "c.json"]


def test_what_has_ended_stays_as_it_is(jobs):
    own = jobs(FINISH)
    done = own.wait(start(own).id, LONG)
    assert own.cancel(done.id) == done


def test_a_process_that_will_not_end_is_killed(jobs, monkeypatch):
    monkeypatch.setattr("searchlab.web.jobs.training_jobs.PATIENCE", 0.2)
    own = jobs(f"import signal; signal.signal(15, signal.SIG_IGN); {BEGIN}\nwhile True: time.sleep(1)")
    job = start(own)
    running(own, job.id)
    assert own.cancel(job.id).state == "cancelled"


def test_a_model_that_was_finished_in_the_meantime_is_not_called_cancelled(jobs):
    own = jobs(f"import signal; signal.signal(15, lambda *of: (tell(result={{}}), os._exit(0))); {HANG}")
    job = start(own)
    running(own, job.id)
    assert own.cancel(job.id).state == "done"


def test_closing_ends_everything(jobs):
    own = jobs(HANG)
    first, second = start(own), start(own)
    running(own, first.id)
    process, thread = own._process, own._thread
    own.close()
    own.close()
    assert [own.get(job.id).state for job in (first, second)] == ["cancelled", "cancelled"]
    assert process.poll() is not None
    assert not thread.is_alive()
    with pytest.raises(Failure, match="about to end") as refused:
        start(own)
    assert refused.value.status == 503


def test_many_threads_may_ask_at_once(jobs):
    own = jobs(FINISH)
    ids, refused = [], []

    def ask():
        for _ in range(5):
            try:
                ids.append(start(own).id)
            except Failure:
                refused.append(1)
            own.list()

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(ids) + len(refused) == 40
    assert len(set(ids)) == len(ids) >= WAITING
    assert own.wait(max(ids, key=int), LONG).state == "done"


# The trainer itself.


@pytest.fixture(scope="module")
def folder(build):
    return build(title_documents())


def real(folder, output, **changes):
    topics = {str(n): f"w{n}" for n in range(N_TOPICS)} | {"none": "f1"}
    qrels = {str(n): title_grades(n) for n in range(N_TOPICS)}
    usual = {"folder": str(folder), "output": str(output), "set": "mine", "topics": topics, "qrels": qrels}
    return Lesson(**usual | {"ranker": "rsvm", "features": "table1", "k": 20} | changes)


def test_a_model_is_trained_and_appears(jobs, folder, tmp_path):
    own, output = jobs(), tmp_path / "it.models" / "mine.json"
    stages = set()
    job = own.start("it", "mine", real(folder, output))
    while not own.get(job.id).is_over:
        with own._changed:
            own._changed.wait(LONG)
            stages.add(own.get(job.id).stage)
    ended = own.get(job.id)
    assert (ended.state, ended.error) == ("done", None)
    assert {"searching", "cross-validating", "training"} <= stages
    told = ended.to_json()
    assert told["helps"] is True
    assert told["advice"]["kind"] == "helps"
    assert told["n_topics"] == N_TOPICS
    assert told["means"]["rsvm"]["nDCG@10"] > told["means"]["BM25"]["nDCG@10"] + 0.1
    bundle = load_bundle(output)
    assert bundle.training["source"] == "judgments mine"
    assert bundle.training["set"] == "mine"
    assert bundle.training["topics"] == {str(n): f"w{n}" for n in range(N_TOPICS)}
    assert bundle.trial["advice"] == told["advice"]
    assert [path.name for path in output.parent.iterdir()] == ["mine.json"]


def test_what_cannot_be_trained_is_told_in_one_line(jobs, folder, tmp_path):
    own = jobs()
    ended = own.wait(own.start("it", "mine", real(folder, tmp_path / "mine.json", topics={"1": "w1"})).id, LONG)
    assert ended.state == "failed"
    assert ended.error == "1 of 1 topics have a relevant document, expected at least 4"
    assert list(tmp_path.iterdir()) == []


def test_a_training_that_is_cancelled_leaves_nothing(jobs, folder, tmp_path):
    own, output = jobs(), tmp_path / "it.models" / "mine.json"
    job = own.start("it", "mine", real(folder, output, ranker="rankboost"))
    until(own, lambda: own.get(job.id).stage == "cross-validating")
    assert own.cancel(job.id).state == "cancelled"
    assert list(tmp_path.rglob("*")) == []


SERVER = """
import sys, time
from searchlab.web.jobs.training_jobs import Jobs
from searchlab.web.jobs.training_process import Lesson
jobs = Jobs()
jobs.start("it", "mine", Lesson.from_line(sys.stdin.readline()))
with jobs._changed:
    jobs._changed.wait_for(lambda: jobs.get("1").stage == "cross-validating", 60)
print(jobs._process.pid, flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_server_that_is_killed_leaves_no_orphan(folder, tmp_path, number):
    server = subprocess.Popen([sys.executable, "-c", SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    with server:
        server.stdin.write(real(folder, tmp_path / "mine.json", ranker="rankboost").to_line())
        server.stdin.flush()
        trainer = int(server.stdout.readline())
        assert is_alive(trainer)
        server.send_signal(number)
        server.wait(LONG)
    assert ends(trainer)
    assert list(tmp_path.iterdir()) == []


SLOW_TO_SAVE = """
import sys, time
from searchlab.rankers.bundle import Bundle
from searchlab.web.jobs.training_process import main
keep = Bundle.save
def save(bundle, path):
    print("saving", file=sys.stderr, flush=True)
    time.sleep(0.3)
    keep(bundle, path)
Bundle.save = save
main()
"""


@pytest.mark.parametrize("end", [lambda trainer: trainer.terminate(), lambda trainer: trainer.stdin.close()])
def test_a_model_that_is_being_written_is_written_to_the_end(folder, tmp_path, end):
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with subprocess.Popen([sys.executable, "-c", SLOW_TO_SAVE], **pipes, text=True) as trainer:
        trainer.stdin.write(real(folder, tmp_path / "mine.json").to_line())
        trainer.stdin.flush()
        assert "saving" in iter(lambda: trainer.stderr.readline().strip() or "nothing", "nothing")
        end(trainer)
        trainer.stdout.read()
        assert trainer.wait(LONG) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["mine.json"]
    assert load_bundle(tmp_path / "mine.json").ranker == "rsvm"


def test_the_trainer_yields_the_processor(folder, tmp_path):
    with subprocess.Popen(TRAINER, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as trainer:
        trainer.stdin.write(real(folder, tmp_path / "mine.json", ranker="rankboost").to_line())
        trainer.stdin.flush()
        assert json.loads(trainer.stdout.readline())["stage"] == "searching"
        assert os.getpriority(os.PRIO_PROCESS, trainer.pid) >= os.getpriority(os.PRIO_PROCESS, 0) + 10
        trainer.terminate()


def test_progress_is_told_no_more_often_than_can_be_seen(tmp_path, monkeypatch):
    now = [0.0]
    monkeypatch.setattr("searchlab.web.jobs.training_process.time.monotonic", lambda: now[0])
    with (tmp_path / "told").open("w") as file:
        teller = Teller(file)
        for number in range(100):
            now[0] += 0.03
            teller.progress("a", number, 99)
        teller.progress("b", 0, 9)
    lines = [json.loads(line) for line in (tmp_path / "told").read_text().splitlines()]
    assert lines[0] == {"stage": "a", "done": 0, "of": 99}
    assert lines[1]["done"] == 4
    assert lines[-2] == {"stage": "a", "done": 99, "of": 99}
    assert lines[-1] == {"stage": "b", "done": 0, "of": 9}
    assert len(lines) == 1 + 24 + 1 + 1
