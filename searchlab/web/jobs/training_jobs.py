"""What is being trained, how far is it, and how is it stopped?

One model is trained at a time, in a process of its own (`trainer.py`); a few more may wait their turn. A thread starts
the process and reads what it says; requests only look at what was said last. Jobs that have ended are remembered for a
while, so that their outcome can be shown.
"""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from searchlab.web.http_errors import Failure, NotFound, without_folder
from searchlab.web.jobs.training_process import Lesson

# So many wait at most, and so many that have ended are remembered.
WAITING, KEPT = 4, 20
# How long a process may take to end after it was asked to, in seconds.
PATIENCE = 5.0
# How much of what a process said before it died goes into the log.
TAIL = 4000
# Ask nothing of the folder that the server was started in.
TRAINER = (sys.executable, "-P", "-m", "searchlab.web.jobs.training_process")

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Job:
    """The state of a job: `waiting`, `running`, and in the end `done`, `failed` or `cancelled`."""

    id: str
    index: str
    name: str
    lesson: Lesson
    state: str = "waiting"
    stage: str = "waiting"
    done: int = 0
    of: int = 0
    began: float | None = None
    ended: float | None = None
    result: dict[str, Any] | None = None
    error: str | None = None

    @property
    def is_over(self) -> bool:
        """Whether nothing more will happen."""
        return self.state not in ("waiting", "running")

    @property
    def seconds(self) -> float:
        """How long it has been running."""
        if self.began is None:
            return 0.0
        return (time.monotonic() if self.ended is None else self.ended) - self.began

    def to_json(self) -> dict[str, Any]:
        """The job as plain JSON."""
        told = self.result or {}
        return {
            "id": self.id,
            "index": self.index,
            "set": self.lesson.set,
            "ranker": self.lesson.ranker,
            "features": self.lesson.features,
            "name": self.name,
            "state": self.state,
            "stage": self.stage,
            "done": self.done,
            "of": self.of,
            "seconds": round(self.seconds, 1),
            "advice": told.get("advice"),
            "verdict": told.get("verdict"),
            "helps": told.get("helps"),
            "means": told.get("means"),
            "n_topics": told.get("n_topics"),
            "error": self.error,
        }


class Jobs:
    """All trainings of a server; may be used by any thread."""

    def __init__(self, command: Sequence[str] = TRAINER) -> None:
        self._command = tuple(command)
        self._changed = threading.Condition()
        self._jobs: dict[str, Job] = {}
        self._n_started = 0
        self._stopped: set[str] = set()
        self._process: subprocess.Popen[bytes] | None = None
        self._thread: threading.Thread | None = None
        self._closed = False

    def start(self, index: str, name: str, lesson: Lesson) -> Job:
        """Train a model as soon as it is its turn; refused if too many wait already."""
        with self._changed:
            if self._closed:
                raise Failure(503, "the server is about to end: nothing is trained any more")
            n_waiting = sum(job.state == "waiting" for job in self._jobs.values())
            if n_waiting >= WAITING:
                raise Failure(409, f"{n_waiting} models are waiting to be trained already: wait, or cancel one")
            self._n_started += 1
            job = Job(str(self._n_started), index, name, lesson)
            self._jobs[job.id] = job
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="training", daemon=True)
                self._thread.start()
            return job

    def list(self) -> list[Job]:
        """All that are remembered, the latest first."""
        with self._changed:
            return list(self._jobs.values())[::-1]

    def get(self, id: str) -> Job:
        """One of them."""
        with self._changed:
            if id not in self._jobs:
                raise NotFound(f"there is no training {id[:60]!r}; it may be forgotten by now")
            return self._jobs[id]

    def wait(self, id: str, seconds: float) -> Job:
        """A job when it has ended, or as it is after so many seconds."""
        with self._changed:
            self._changed.wait_for(lambda: self.get(id).is_over, seconds)
            return self.get(id)

    def cancel(self, id: str) -> Job:
        """Stop a job, and say how it ended; one that has ended, or is writing its model, is left as it is."""
        with self._changed:
            job = self.get(id)
            if job.state == "waiting":
                self._end(id, state="cancelled", stage="cancelled")
            elif job.state == "running":
                self._stopped.add(id)
                self._signal()
        job = self.wait(id, PATIENCE)
        if not job.is_over:
            with self._changed:
                self._signal(kill=True)
            job = self.wait(id, PATIENCE)
        return job

    def close(self) -> None:
        """Stop everything, and start nothing any more."""
        with self._changed:
            self._closed = True
            ids, thread = [job.id for job in self._jobs.values() if not job.is_over], self._thread
        for id in reversed(ids):
            self.cancel(id)
        if thread is not None:
            thread.join(PATIENCE)

    def _signal(self, *, kill: bool = False) -> None:
        if self._process is not None:
            self._process.kill() if kill else self._process.terminate()

    def _end(self, id: str, **outcome: Any) -> None:
        """Note how a job ended, and forget the oldest that have ended."""
        with self._changed:
            self._jobs[id] = replace(self._jobs[id], ended=time.monotonic(), **outcome)
            self._stopped.discard(id)
            over = [job.id for job in self._jobs.values() if job.is_over]
            for old in over[: max(0, len(over) - KEPT)]:
                del self._jobs[old]
            self._changed.notify_all()

    def _work(self) -> None:
        """Train one after another until none is waiting."""
        while True:
            with self._changed:
                job = next((job for job in self._jobs.values() if job.state == "waiting"), None)
                if job is None:
                    self._thread = None
                    return
                self._jobs[job.id] = replace(job, state="running", stage="starting", began=time.monotonic())
            try:
                outcome = self._train(job)
            except Exception:
                log.exception("training %s (%s) could not be looked after", job.id, job.name)
                outcome = {"state": "failed", "error": "the training could not be looked after; the log has more"}
            self._end(job.id, **outcome)

    def _train(self, job: Job) -> dict[str, Any]:
        """Run the process to its end; gives the outcome."""
        with tempfile.TemporaryFile() as said:
            process = subprocess.Popen(
                self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said, env=_environment()
            )
            try:
                with self._changed:
                    self._process = process
                    if job.id in self._stopped:
                        self._signal()
                last = self._listen(job, process)
            finally:
                with self._changed:
                    self._process = None
                code = _let_go(process)
            stopped = job.id in self._stopped
            if isinstance(last.get("result"), dict):
                return {"state": "done", "stage": "done", "result": last["result"]}
            if isinstance(last.get("error"), str) and not stopped:
                return {"state": "failed", "error": without_folder(last["error"], Path(job.lesson.folder))}
            if stopped:
                return {"state": "cancelled", "stage": "cancelled"}
            said.seek(max(0, said.seek(0, os.SEEK_END) - TAIL))
            tail = said.read().decode(errors="replace")
            log.error("training %s (%s) ended unexpectedly, exit code %s: %s", job.id, job.name, code, tail)
            memory = ", perhaps for want of memory" if code < 0 else ""
            return {"state": "failed", "error": f"the training ended unexpectedly{memory}; the log has more"}

    def _listen(self, job: Job, process: subprocess.Popen[bytes]) -> dict[str, Any]:
        """Say what to learn, and note what is said until the process ends; gives the last line."""
        assert process.stdin is not None
        assert process.stdout is not None
        with suppress(BrokenPipeError):
            process.stdin.write(job.lesson.to_line().encode())
            process.stdin.flush()
        last: dict[str, Any] = {}
        for line in process.stdout:
            last = json.loads(line)
            if "stage" in last:
                with self._changed:
                    stage, done, of = str(last["stage"]), int(last["done"]), int(last["of"])
                    self._jobs[job.id] = replace(self._jobs[job.id], stage=stage, done=done, of=of)
                    self._changed.notify_all()
        return last


def _let_go(process: subprocess.Popen[bytes]) -> int:
    """Let go of the pipes, by which a process ends that has not yet; gives the exit code."""
    for pipe in (process.stdin, process.stdout):
        assert pipe is not None
        with suppress(BrokenPipeError):
            pipe.close()
    try:
        return process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.wait()


def _environment() -> dict[str, str]:
    """Where searchlab is found; and half of the processors for arithmetic, so that searches find one free."""
    path = os.pathsep.join([str(Path(__file__).parents[3]), *filter(None, [os.environ.get("PYTHONPATH")])])
    threads = str(max(1, (os.cpu_count() or 1) // 2))
    usual = {"OPENBLAS_NUM_THREADS": threads, "OMP_NUM_THREADS": threads}
    return usual | dict(os.environ) | {"PYTHONPATH": path}
