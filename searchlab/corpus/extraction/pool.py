"""The pool of worker processes that extract binary documents.

Each process is served by a thread, which hands it one document after the other, collects what it sends, and replaces it
when it has died or was killed for taking too long. Documents that will be needed soon are extracted ahead (see
`look_ahead`); what they hold meanwhile is limited. Processes are started when the first document needs one.

Plain subprocesses, as for indexing: nothing of the caller's program is run again in them.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from searchlab.corpus.extraction.extracted import END, FAILED, Message
from searchlab.corpus.extraction.limits import MAX_CPU_SECONDS, MAX_HELD_MB, MAX_SECONDS, MEGABYTE
from searchlab.corpus.extraction.worker import LENGTH, OUT_OF_MEMORY

# Documents that are extracted before they are needed.
LOOK_AHEAD = 32
# The one process that uses the documents is not faster than a few that extract them.
MAX_DEFAULT_WORKERS = 8
# Messages of the current document that wait to be used.
MAX_WAITING = 16
# More than any message that a worker sends: a record in UTF-8, with escapes.
MAX_MESSAGE_BYTES = 2**30
BLOCK_BYTES = 2**20
_COMMAND = "from searchlab.corpus.extraction.worker import main; main()"
_PACKAGE_FOLDER = str(Path(__file__).parents[3])


@dataclass(frozen=True, slots=True)
class Payload:
    """A document to extract: its kind, and a file on disk or its content."""

    kind: str
    path: str
    content: bytes | None
    max_length: int

    @property
    def held(self) -> int:
        """The number of bytes in memory."""
        return len(self.content or b"")


@dataclass(slots=True, eq=False)
class ExtractionJob:
    """A document that is being extracted, or waits for it; `is_needed` once the reader waits for its messages."""

    payload: Payload
    messages: deque[Message] = field(default_factory=deque)
    held: int = 0
    is_needed: bool = False
    is_done: bool = False
    is_cancelled: bool = False


class ExtractionPool:
    """Worker processes, and the documents that wait for them."""

    def __init__(self, n_workers: int | None = None) -> None:
        self.n_workers = n_workers or min(os.cpu_count() or 1, MAX_DEFAULT_WORKERS)
        self._changed = threading.Condition()
        self._waiting: deque[ExtractionJob] = deque()
        self._ahead: dict[int, ExtractionJob] = {}
        self._threads: list[threading.Thread] = []
        self._workers: set[ExtractionWorker] = set()
        self._held = 0
        self._is_closed = False

    def extract(self, payload: Payload) -> Iterator[Message]:
        """The messages of a document, without the last one."""
        return self._messages(self._submit(payload, first=True))

    def extract_each(self, payloads: Iterable[Payload]) -> Iterator[list[Message]]:
        """The messages of each of several small documents, several of them extracted at once."""
        jobs: deque[ExtractionJob] = deque()
        try:
            for payload in payloads:
                jobs.append(self._submit(payload))
                while len(jobs) > LOOK_AHEAD or sum(job.payload.held for job in jobs) > MAX_HELD_MB * MEGABYTE:
                    yield list(self._messages(jobs.popleft()))
            while jobs:
                yield list(self._messages(jobs.popleft()))
        finally:
            for job in jobs:
                self._cancel(job)

    def prepare(self, key: int, payload: Payload) -> None:
        """Extract a document that will be needed under this key."""
        self._ahead[key] = self._submit(payload)

    def take_prepared(self, key: int, kind: str) -> Iterator[Message] | None:
        """The messages of a document that was prepared as of this kind; None if there is none."""
        job = self._ahead.pop(key, None)
        if job is None:
            return None
        if job.payload.kind != kind:
            self._cancel(job)
            return None
        return self._messages(job)

    def forget(self, key: int) -> None:
        """Drop what was prepared under this key, if it has not been taken."""
        job = self._ahead.pop(key, None)
        if job is not None:
            self._cancel(job)

    def close(self) -> None:
        """End all processes."""
        with self._changed:
            self._is_closed = True
            self._waiting.clear()
            for worker in self._workers:
                worker.stop()
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()
        self._threads.clear()
        self._ahead.clear()
        self._is_closed = False

    def _submit(self, payload: Payload, *, first: bool = False) -> ExtractionJob:
        job = ExtractionJob(payload, is_needed=first)
        with self._changed:
            if first:
                self._waiting.appendleft(job)
            else:
                self._waiting.append(job)
            if len(self._threads) < self.n_workers:
                thread = threading.Thread(target=self._serve, name="extraction", daemon=True)
                self._threads.append(thread)
                thread.start()
            self._changed.notify_all()
        return job

    def _messages(self, job: ExtractionJob) -> Iterator[Message]:
        try:
            while True:
                with self._changed:
                    if not job.is_needed:
                        job.is_needed = True
                        self._changed.notify_all()
                    self._changed.wait_for(lambda: job.messages or job.is_done)
                    if not job.messages:
                        return
                    message = job.messages.popleft()
                    if not job.messages:
                        self._release(job)
                    self._changed.notify_all()
                yield message
        finally:
            self._cancel(job)

    def _cancel(self, job: ExtractionJob) -> None:
        with self._changed:
            job.is_cancelled = True
            job.messages.clear()
            self._release(job)
            self._changed.notify_all()

    def _release(self, job: ExtractionJob) -> None:
        self._held -= job.held
        job.held = 0

    def _serve(self) -> None:
        """Serve one process until the pool is closed."""
        worker: ExtractionWorker | None = None
        try:
            while (job := self._next_job()) is not None:
                worker = self._run(job, worker)
                with self._changed:
                    job.is_done = True
                    self._changed.notify_all()
        finally:
            self._end_worker(worker)

    def _next_job(self) -> ExtractionJob | None:
        with self._changed:
            while True:
                self._changed.wait_for(lambda: self._is_closed or self._find_job() is not None)
                job = self._find_job()
                if self._is_closed or job is None:
                    return None
                self._waiting.remove(job)
                if not job.is_cancelled:
                    return job

    def _find_job(self) -> ExtractionJob | None:
        """The job to begin now: one that is needed, or the next one if little is held; None if all have to wait."""
        urgent = next((job for job in self._waiting if job.is_needed or job.is_cancelled), None)
        if urgent is None and self._waiting and self._held <= MAX_HELD_MB * MEGABYTE:
            return self._waiting[0]
        return urgent

    def _run(self, job: ExtractionJob, worker: ExtractionWorker | None) -> ExtractionWorker | None:
        """Extract a document; returns the process that can take the next one."""
        # One that has read other documents may have less memory left; what fails there is tried in a new one.
        while True:
            is_new = worker is None
            try:
                worker = worker or self._start_worker()
            except OSError as error:
                self._deliver(job, [FAILED, f"its reader could not be started ({error.strerror or error})"], 0)
                return None
            if worker is None:
                return None
            sent = worker.run(job.payload, lambda message, size: self._deliver(job, message, size))
            if sent.failure is None:
                return worker
            self._end_worker(worker)
            worker = None
            if is_new or sent.n_messages or sent.took_too_long or job.is_cancelled:
                self._deliver(job, [FAILED, sent.failure], 0)
                return None

    def _start_worker(self) -> ExtractionWorker | None:
        """A new process; None if the pool is closed."""
        with self._changed:
            if self._is_closed:
                return None
            worker = ExtractionWorker()
            self._workers.add(worker)
            return worker

    def _end_worker(self, worker: ExtractionWorker | None) -> None:
        if worker is not None:
            with self._changed:
                self._workers.discard(worker)
            worker.kill()

    def _deliver(self, job: ExtractionJob, message: Message, size: int) -> bool:
        """Add a message to a job; False if nobody wants it."""
        with self._changed:
            # Only the document that is needed now may have many messages, see `look_ahead`.
            self._changed.wait_for(
                lambda: not job.is_needed or len(job.messages) < MAX_WAITING or job.is_cancelled or self._is_closed
            )
            if job.is_cancelled or self._is_closed:
                return False
            job.messages.append(message)
            job.held += size
            self._held += size
            self._changed.notify_all()
            return True


@dataclass(frozen=True, slots=True)
class Sent:
    """How many messages a process has sent for a document, and why it can take no other one; None if it can.

    A new process would not do better if the document took too long.
    """

    n_messages: int
    failure: str | None
    took_too_long: bool = False


class ExtractionWorker:
    """The parent's end of a worker process."""

    def __init__(self) -> None:
        path = [_PACKAGE_FOLDER, *filter(None, sys.path)]
        self._process = subprocess.Popen(
            # -P: modules are not looked for in the current folder, which may be the one with the documents.
            [sys.executable, "-P", "-c", _COMMAND],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=dict(os.environ) | {"PYTHONPATH": os.pathsep.join(dict.fromkeys(path))},
        )
        self._output = select.poll()
        self._output.register(self._process.stdout or 0, select.POLLIN)
        self._timed_out = False
        # Of the last message, in bytes.
        self._size = 0

    def run(self, payload: Payload, deliver: Callable[[Message, int], bool]) -> Sent:
        """Extract a document, and deliver its messages."""
        n_messages = 0
        try:
            self._send(payload)
            while (message := self._receive())[0] != END:
                if message == [FAILED, OUT_OF_MEMORY]:
                    return Sent(n_messages, OUT_OF_MEMORY)
                if not deliver(message, self._size):
                    return Sent(n_messages, "not wanted")
                n_messages += 1
        except (EOFError, BrokenPipeError):
            cause = self._cause_of_death()
            return Sent(n_messages, cause, self._timed_out or self._process.returncode == -signal.SIGXCPU)
        except (ValueError, RecursionError, MemoryError):
            return Sent(n_messages, "its reader sent an answer that cannot be understood")
        return Sent(n_messages, None)

    def _send(self, payload: Payload) -> None:
        assert self._process.stdin is not None
        header = [payload.kind, payload.path, payload.held, payload.max_length]
        # The process reads all of it before it does anything that could fail.
        self._process.stdin.write(json.dumps(header).encode() + b"\n" + (payload.content or b""))
        self._process.stdin.flush()

    def _receive(self) -> Message:
        deadline = time.monotonic() + MAX_SECONDS
        (self._size,) = LENGTH.unpack(self._read(LENGTH.size, deadline))
        if self._size > MAX_MESSAGE_BYTES:
            raise ValueError
        message = json.loads(self._read(self._size, deadline))
        if not isinstance(message, list) or not message:
            raise ValueError
        return message

    def _read(self, size: int, deadline: float) -> bytes:
        """Bytes that the process sends; raises EOFError if it ends before, or is killed because it takes too long."""
        assert self._process.stdout is not None
        pieces, descriptor = [], self._process.stdout.fileno()
        while size:
            if not self._output.poll(max(0, 1000 * (deadline - time.monotonic()))):
                self._timed_out = True
                self._process.kill()
                raise EOFError
            piece = os.read(descriptor, min(size, BLOCK_BYTES))
            if not piece:
                raise EOFError
            pieces.append(piece)
            size -= len(piece)
        return b"".join(pieces)

    def _cause_of_death(self) -> str:
        code = self._process.wait()
        if self._timed_out:
            return f"takes more than {MAX_SECONDS} seconds"
        if code == -signal.SIGXCPU:
            return f"takes more than {MAX_CPU_SECONDS} seconds of processor time"
        if code in (-signal.SIGABRT, -signal.SIGKILL):
            return f"takes too much memory, or is damaged: its reader ended by {signal.Signals(-code).name}"
        name = signal.Signals(-code).name if code < 0 else f"exit {code}"
        return f"damaged: its reader ended by {name}"

    def stop(self) -> None:
        """Kill the process; the thread that serves it does the rest."""
        self._process.kill()

    def kill(self) -> None:
        """Kill the process, and release what belongs to it."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(BrokenPipeError):
                    pipe.close()
