"""Worker process: another Python process that works for this one; the two exchange pickles.

Plain subprocesses, not `multiprocessing`: nothing of the caller's program is run again in the worker, so
`searchlab.index` works in any script, notebook or server. Messages go over the worker's standard input and output.
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import IO, Any

from searchlab.errors import SearchlabError, WriteFailed
from searchlab.extensions import load_extensions, process_environment

Receive = Callable[[], Any]
Send = Callable[[object], None]

# Objects that are made, less those that are deleted, before a worker looks for cycles; by default 700.
GARBAGE_THRESHOLD = 100_000


class WorkerProcess:
    """The parent's end of a process that runs the function `main` of a module of searchlab."""

    def __init__(self, module: str, environment: Mapping[str, str] | None = None) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", f"from {module} import main; main()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=process_environment() | dict(environment or {}),
        )

    def send(self, message: object) -> None:
        """Send a message; blocks while the worker is busy and the pipe is full."""
        try:
            pickle.dump(message, self._stdin, pickle.HIGHEST_PROTOCOL)
            self._stdin.flush()
        except BrokenPipeError:
            raise self._failure() from None

    @property
    def _stdin(self) -> IO[bytes]:
        assert self._process.stdin is not None
        return self._process.stdin

    def receive(self) -> Any:
        """Wait for the next message; one that is an exception is raised."""
        answer = self.answer()
        if isinstance(answer, BaseException):
            raise answer
        return answer

    def answer(self) -> Any:
        """Wait for the next message; the exception that stopped the worker is its last one."""
        assert self._process.stdout is not None
        try:
            return pickle.load(self._process.stdout)
        except (EOFError, pickle.UnpicklingError):
            code = self._process.wait()
            return WriteFailed(f"an indexing process died (exit {code}); out of memory? Try fewer jobs (-j 1)")

    def _failure(self) -> BaseException:
        answer = self.answer()
        return answer if isinstance(answer, BaseException) else WriteFailed("an indexing process ended early")

    def kill(self) -> None:
        """Kill the process, and close its pipes."""
        self.stop()
        self.close()

    def stop(self) -> None:
        """Kill the process; what it has sent can still be received."""
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        """Close the pipes of a process that has ended."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                except BrokenPipeError:
                    continue


def serve_parent(work: Callable[[Receive, Send], object]) -> None:
    """Run `work` in the worker process; what it returns, or the exception that stops it, is the last message."""
    # Ctrl-C reaches every process of the terminal; the parent handles it and kills its workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Documents are many objects, and none is part of a cycle: looking for cycles took a twentieth of the time. What
    # leaves large cycles behind, such as a shard that is written, is followed by a collection.
    gc.set_threshold(GARBAGE_THRESHOLD)
    inbox, outbox = sys.stdin.buffer, os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # prints must not get into the answer

    def send(message: object) -> None:
        pickle.dump(message, outbox, pickle.HIGHEST_PROTOCOL)
        outbox.flush()

    answer: object
    try:
        load_extensions()
        answer = work(lambda: pickle.load(inbox), send)
    except (EOFError, pickle.UnpicklingError, BrokenPipeError):
        return  # the parent is gone
    except (SearchlabError, OSError, MemoryError) as error:
        answer = error
    with suppress(BrokenPipeError), outbox:
        send(answer)
