"""The process of a background task.

It reads one line of JSON from standard input, the task, and writes lines of JSON to standard output:

    {"stage": "searching", "done": 3, "total": 40}
    {"result": {…}}   or   {"error": "one line"}

The process runs with low priority. It ends when standard input is closed, which happens also when the server dies, for
whatever reason.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any, TypeVar

from searchlab.errors import SearchlabError
from searchlab.extensions import load_extensions

# How far the process yields to others; the maximum is 19.
NICENESS = 15
# Progress within one stage is written at most this often.
MIN_PROGRESS_SECONDS = 0.1

TaskT = TypeVar("TaskT")


class TaskProcess:
    """What a task may do with its process: report progress, and finish what must not be interrupted."""

    def __init__(self, output: IO[str]) -> None:
        self._writer = ProgressWriter(output)
        self._writing = threading.Lock()
        self.progress = self._writer.progress
        self.write = self._writer.write

    @contextmanager
    def uninterrupted(self) -> Iterator[None]:
        """Within it the process cannot be stopped: it would leave a file that is half written."""
        with self._writing:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            yield

    def exit_at_end_of_input(self) -> None:
        """Wait until the server closes standard input, then exit at once."""
        while os.read(sys.stdin.fileno(), 4096):
            continue
        with self._writing:
            os._exit(0)


class ProgressWriter:
    """Writes lines of JSON; lines of progress at most every `MIN_PROGRESS_SECONDS`."""

    def __init__(self, output: IO[str]) -> None:
        self._output = output
        self._last_stage = ""
        self._last_written = 0.0

    def write(self, **line: Any) -> None:
        """Write a line now."""
        print(json.dumps(line), file=self._output, flush=True)

    def progress(self, stage: str, done: int, total: int) -> None:
        """Write the progress, unless the last line of the same stage is too recent."""
        now = time.monotonic()
        if stage == self._last_stage and done != total and now - self._last_written < MIN_PROGRESS_SECONDS:
            return
        self._last_stage, self._last_written = stage, now
        self.write(stage=stage, done=done, total=total)


def run_task_process(read: Callable[[str], TaskT], run: Callable[[TaskT, TaskProcess], dict[str, Any]]) -> None:
    """Run the task on standard input, which `read` parses, and write its result."""
    # Ctrl-C reaches every process of the terminal; the server decides when this one ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(OSError, AttributeError):  # Windows has no nice
        os.nice(NICENESS)
    output = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # nothing else may write between the lines of JSON
    line = sys.stdin.readline()
    process = TaskProcess(output)
    threading.Thread(target=process.exit_at_end_of_input, daemon=True).start()
    try:
        load_extensions()
        process.write(result=run(read(line), process))
    except BrokenPipeError:
        return
    except SearchlabError as error:
        process.write(error=" ".join(str(error).split()))
    except MemoryError:
        process.write(error="out of memory: too many documents and features to train with")
    except OSError as error:
        process.write(error=f"the results could not be computed or written ({error.strerror})")
