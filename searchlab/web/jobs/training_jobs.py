"""Training jobs: a queue of models to train, their progress, and their cancellation.

One model is trained at a time, in a separate process (`training_process.py`); a few jobs may wait. A thread starts
the process and reads its output; requests read only the last state. Jobs that have ended are kept for a while, so that
their outcome can be shown.
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
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from searchlab.extensions import process_environment
from searchlab.web.http_errors import HttpError, NotFound, without_folder
from searchlab.web.jobs.training_journal import add_to_journal, remove_from_journal
from searchlab.web.jobs.training_process import TrainingTask

MAX_WAITING_JOBS = 4
MAX_ENDED_JOBS = 20
# Seconds that a process may take to end after a signal.
EXIT_SECONDS = 5.0
# How much of the last output of a process that died is logged.
MAX_LOGGED_BYTES = 4000
# -P: do not import modules from the folder in which the server was started.
TRAINING_COMMAND = (sys.executable, "-P", "-m", "searchlab.web.jobs.training_process")

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class TrainingJob:
    """The state of a job: `waiting`, `running`, and in the end `done`, `failed` or `cancelled`."""

    id: str
    index: str
    name: str
    task: TrainingTask
    state: str = "waiting"
    stage: str = "waiting"
    done: int = 0
    total: int = 0
    started: float | None = None
    ended: float | None = None
    result: dict[str, Any] | None = None
    error: str | None = None

    @property
    def is_over(self) -> bool:
        """Whether the job has ended."""
        return self.state not in ("waiting", "running")

    @property
    def seconds(self) -> float:
        """How long the job has been running."""
        if self.started is None:
            return 0.0
        return (time.monotonic() if self.ended is None else self.ended) - self.started

    def to_json(self) -> dict[str, Any]:
        """The job as plain JSON."""
        result = self.result or {}
        return {
            "id": self.id,
            "index": self.index,
            "topic_set": self.task.topic_set,
            "ranker": self.task.ranker,
            "recipe": self.task.recipe,
            "features": self.task.features,
            "name": self.name,
            "state": self.state,
            "stage": self.stage,
            "done": self.done,
            "total": self.total,
            "seconds": round(self.seconds, 1),
            "advice": result.get("advice"),
            "verdict": result.get("verdict"),
            "helps": result.get("helps"),
            "means": result.get("means"),
            "n_topics": result.get("n_topics"),
            "former": result.get("former"),
            "version": result.get("version"),
            "error": self.error,
        }


class TrainingJobs:
    """All training jobs of a server; may be used by any thread."""

    def __init__(self, command: Sequence[str] = TRAINING_COMMAND) -> None:
        self._command = tuple(command)
        self._changed = threading.Condition()
        self._jobs: dict[str, TrainingJob] = {}
        self._n_started = 0
        self._cancelled: set[str] = set()
        self._process: subprocess.Popen[bytes] | None = None
        self._thread: threading.Thread | None = None
        self._closed = False

    def start(self, index: str, name: str, task: TrainingTask) -> TrainingJob:
        """Add a job to the queue; HTTP error 409 if too many are waiting, or the same one waits or runs already."""
        with self._changed:
            if self._closed:
                raise HttpError(503, "the server is shutting down: it accepts no more training jobs")
            same = [job for job in self._jobs.values() if not job.is_over and (job.name, job.task) == (name, task)]
            if same:
                raise HttpError(409, f"{name} is being trained on these judgments already: wait for it, or cancel it")
            n_waiting = sum(job.state == "waiting" for job in self._jobs.values())
            if n_waiting >= MAX_WAITING_JOBS:
                raise HttpError(409, f"{n_waiting} training jobs are waiting already: wait, or cancel one")
            self._n_started += 1
            job = TrainingJob(str(self._n_started), index, name, task)
            self._jobs[job.id] = job
            add_to_journal(Path(task.folder), name, asdict(task))
            if self._thread is None:
                self._thread = threading.Thread(target=self._run_jobs, name="training", daemon=True)
                self._thread.start()
            return job

    def list(self) -> list[TrainingJob]:
        """All jobs that are kept, the latest first."""
        with self._changed:
            return list(self._jobs.values())[::-1]

    def get(self, id: str) -> TrainingJob:
        """A job by its id."""
        with self._changed:
            if id not in self._jobs:
                raise NotFound(f"there is no training job {id[:60]!r}; old jobs are dropped")
            return self._jobs[id]

    def wait(self, id: str, seconds: float) -> TrainingJob:
        """A job when it has ended, or after the given time."""
        with self._changed:
            self._changed.wait_for(lambda: self.get(id).is_over, seconds)
            return self.get(id)

    def cancel(self, id: str) -> TrainingJob:
        """Stop a job, and return its last state; a job that has ended or is writing its model is not stopped."""
        with self._changed:
            job = self.get(id)
            if job.state == "waiting":
                self._end(id, state="cancelled", stage="cancelled")
            elif job.state == "running":
                self._cancelled.add(id)
                self._signal()
        job = self.wait(id, EXIT_SECONDS)
        if not job.is_over:
            with self._changed:
                self._signal(kill=True)
            job = self.wait(id, EXIT_SECONDS)
        return job

    def close(self) -> None:
        """Cancel all jobs, and accept no more."""
        with self._changed:
            self._closed = True
            ids, thread = [job.id for job in self._jobs.values() if not job.is_over], self._thread
        for id in reversed(ids):
            self.cancel(id)
        if thread is not None:
            thread.join(EXIT_SECONDS)

    def _signal(self, *, kill: bool = False) -> None:
        if self._process is not None:
            self._process.kill() if kill else self._process.terminate()

    def _end(self, id: str, **outcome: Any) -> None:
        """Set the outcome of a job, and drop the oldest jobs that have ended."""
        with self._changed:
            job = self._jobs[id] = replace(self._jobs[id], ended=time.monotonic(), **outcome)
            if not self._closed:  # what the end of the server stops was interrupted, and stays in the journal
                remove_from_journal(Path(job.task.folder), job.name)
            self._cancelled.discard(id)
            ended = [job.id for job in self._jobs.values() if job.is_over]
            for old in ended[: max(0, len(ended) - MAX_ENDED_JOBS)]:
                del self._jobs[old]
            self._changed.notify_all()

    def _run_jobs(self) -> None:
        """Run one job after another until none is waiting."""
        while True:
            with self._changed:
                job = next((job for job in self._jobs.values() if job.state == "waiting"), None)
                if job is None:
                    self._thread = None
                    return
                self._jobs[job.id] = replace(job, state="running", stage="starting", started=time.monotonic())
            try:
                outcome = self._run(job)
            except Exception:
                log.exception("training job %s (%s): its process could not be started or read", job.id, job.name)
                outcome = {"state": "failed", "error": "the training process could not be started or read; see the log"}
            self._end(job.id, **outcome)

    def _run(self, job: TrainingJob) -> dict[str, Any]:
        """Run the process of a job to its end, and return the outcome."""
        with tempfile.TemporaryFile() as stderr:
            process = subprocess.Popen(
                self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr, env=_environment()
            )
            try:
                with self._changed:
                    self._process = process
                    if job.id in self._cancelled:
                        self._signal()
                last = self._follow(job, process)
            finally:
                with self._changed:
                    self._process = None
                code = _close_pipes_and_wait(process)
            cancelled = job.id in self._cancelled
            if isinstance(last.get("result"), dict):
                return {"state": "done", "stage": "done", "result": last["result"]}
            if isinstance(last.get("error"), str) and not cancelled:
                return {"state": "failed", "error": without_folder(last["error"], Path(job.task.folder))}
            if cancelled:
                return {"state": "cancelled", "stage": "cancelled"}
            stderr.seek(max(0, stderr.seek(0, os.SEEK_END) - MAX_LOGGED_BYTES))
            tail = stderr.read().decode(errors="replace")
            log.error("training job %s (%s) ended unexpectedly, exit code %s: %s", job.id, job.name, code, tail)
            memory = ", perhaps out of memory" if code < 0 else ""
            return {"state": "failed", "error": f"the training process ended unexpectedly{memory}; see the log"}

    def _follow(self, job: TrainingJob, process: subprocess.Popen[bytes]) -> dict[str, Any]:
        """Send the task, record the progress until the process ends, and return its last line."""
        assert process.stdin is not None
        assert process.stdout is not None
        with suppress(BrokenPipeError):
            process.stdin.write(job.task.to_line().encode())
            process.stdin.flush()
        last: dict[str, Any] = {}
        for line in process.stdout:
            last = json.loads(line)
            if "stage" in last:
                with self._changed:
                    stage, done, total = str(last["stage"]), int(last["done"]), int(last["total"])
                    self._jobs[job.id] = replace(self._jobs[job.id], stage=stage, done=done, total=total)
                    self._changed.notify_all()
        return last


def _close_pipes_and_wait(process: subprocess.Popen[bytes]) -> int:
    """Close the pipes, which ends the process if it still runs, and return its exit code."""
    for pipe in (process.stdin, process.stdout):
        assert pipe is not None
        with suppress(BrokenPipeError):
            pipe.close()
    try:
        return process.wait(EXIT_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.wait()


def _environment() -> dict[str, str]:
    """Environment of the process: half of the processors, so that searches find one free."""
    threads = str(max(1, (os.cpu_count() or 1) // 2))
    defaults = {"OPENBLAS_NUM_THREADS": threads, "OMP_NUM_THREADS": threads}
    return defaults | process_environment()
