"""Background jobs: a queue of tasks, their progress, and their cancellation.

One task runs at a time, in a separate process (`task_process.py`); a few jobs may wait. A thread starts the process
and reads its output; requests read only the last state. Jobs that have ended are kept for a while, so that their
outcome can be shown. Queues of different kinds of tasks can take turns.
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
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from searchlab.extensions import process_environment
from searchlab.web.http_errors import HttpError, NotFound, without_folder
from searchlab.web.jobs.job_journal import add_to_journal, remove_from_journal

MAX_WAITING_JOBS = 4
MAX_ENDED_JOBS = 20
# Seconds that a process may take to end after a signal.
EXIT_SECONDS = 5.0
# How much of the last output of a process that died is logged.
MAX_LOGGED_BYTES = 4000
# -P: do not import modules from the folder in which the server was started.
PYTHON = (sys.executable, "-P", "-m")

log = logging.getLogger(__name__)


class Task(Protocol):
    """What a process is to do, for the index in a folder."""

    @property
    def folder(self) -> str:
        """The folder of the index."""

    def to_line(self) -> str:
        """The task as a line of JSON."""

    def settings(self) -> dict[str, Any]:
        """What the journal needs to start the task again, as plain JSON."""

    def describe(self) -> dict[str, Any]:
        """What the task is about, as plain JSON."""

    def describe_result(self, result: Mapping[str, Any]) -> dict[str, Any]:
        """The result of the process, which is empty before its end, as plain JSON."""


@dataclass(frozen=True)
class Job:
    """The state of a job: `waiting`, `running`, and in the end `done`, `failed` or `cancelled`."""

    id: str
    index: str
    name: str
    task: Task
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
        return {
            "id": self.id,
            "index": self.index,
            **self.task.describe(),
            "name": self.name,
            "state": self.state,
            "stage": self.stage,
            "done": self.done,
            "total": self.total,
            "seconds": round(self.seconds, 1),
            **self.task.describe_result(self.result or {}),
            "error": self.error,
        }


class JobQueue:
    """All jobs of one kind of a server; may be used by any thread.

    `kind` names them in messages and in the journal, `already` says of a job that it is under way, and `name_field` is
    the parameter with the name of a job, if requests have one.
    """

    kind = "background"
    already = "is under way already"
    name_field = ""

    def __init__(self, command: Sequence[str]) -> None:
        self._command = tuple(command)
        self._slot = threading.Lock()
        self._changed = threading.Condition()
        self._jobs: dict[str, Job] = {}
        self._n_started = 0
        self._cancelled: set[str] = set()
        self._process: subprocess.Popen[bytes] | None = None
        self._thread: threading.Thread | None = None
        self._closed = False

    def take_turns_with(self, other: JobQueue) -> None:
        """Run a job only while the other queue runs none; called before the first job."""
        self._slot = other._slot

    def start(self, index: str, name: str, task: Task) -> Job:
        """Add a job to the queue; HTTP error 409 if too many are waiting, or the same one waits or runs already."""
        with self._changed:
            if self._closed:
                raise HttpError(503, f"the server is shutting down: it accepts no more {self.kind} jobs")
            same = [job for job in self._jobs.values() if not job.is_over and (job.name, job.task) == (name, task)]
            if same:
                raise HttpError(409, f"{name} {self.already}: wait for it, or cancel it", self.name_field)
            n_waiting = sum(job.state == "waiting" for job in self._jobs.values())
            if n_waiting >= MAX_WAITING_JOBS:
                raise HttpError(409, f"{n_waiting} {self.kind} jobs are waiting already: wait, or cancel one")
            self._n_started += 1
            job = Job(str(self._n_started), index, name, task)
            self._jobs[job.id] = job
            add_to_journal(Path(task.folder), self.kind, name, task.settings())
            if self._thread is None:
                self._thread = threading.Thread(target=self._run_jobs, name=self.kind, daemon=True)
                self._thread.start()
            return job

    def list(self) -> list[Job]:
        """All jobs that are kept, the latest first."""
        with self._changed:
            return list(self._jobs.values())[::-1]

    def get(self, id: str) -> Job:
        """A job by its id."""
        with self._changed:
            if id not in self._jobs:
                raise NotFound(f"there is no {self.kind} job {id[:60]!r}; old jobs are dropped")
            return self._jobs[id]

    def wait(self, id: str, seconds: float) -> Job:
        """A job when it has ended, or after the given time."""
        with self._changed:
            self._changed.wait_for(lambda: self.get(id).is_over, seconds)
            return self.get(id)

    def cancel(self, id: str) -> Job:
        """Stop a job, and return its last state; a job that has ended or is writing its result is not stopped."""
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
                remove_from_journal(Path(job.task.folder), self.kind, job.name)
            self._cancelled.discard(id)
            ended = [job.id for job in self._jobs.values() if job.is_over]
            for old in ended[: max(0, len(ended) - MAX_ENDED_JOBS)]:
                del self._jobs[old]
            self._changed.notify_all()

    def _run_jobs(self) -> None:
        """Run one job after another until none is waiting."""
        while True:
            with self._slot:
                with self._changed:
                    job = next((job for job in self._jobs.values() if job.state == "waiting"), None)
                    if job is None:
                        self._thread = None
                        return
                    self._jobs[job.id] = replace(job, state="running", stage="starting", started=time.monotonic())
                try:
                    outcome = self._run(job)
                except Exception:
                    log.exception("%s job %s (%s): no process could be started or read", self.kind, job.id, job.name)
                    error = f"the {self.kind} process could not be started or read; see the log"
                    outcome = {"state": "failed", "error": error}
                self._end(job.id, **outcome)

    def _run(self, job: Job) -> dict[str, Any]:
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
            log.error("%s job %s (%s) ended unexpectedly, exit code %s: %s", self.kind, job.id, job.name, code, tail)
            memory = ", perhaps out of memory" if code < 0 else ""
            return {"state": "failed", "error": f"the {self.kind} process ended unexpectedly{memory}; see the log"}

    def _follow(self, job: Job, process: subprocess.Popen[bytes]) -> dict[str, Any]:
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
