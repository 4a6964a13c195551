"""`searchlab serve` in a process of its own, forked from one that has loaded the modules: they take most of a start."""

import multiprocessing
import os
import sys
from collections.abc import Iterable
from pathlib import Path

from searchlab import cli

CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(
    [
        "searchlab.cli",
        "searchlab.web.app",
        "searchlab.web.server",
        "searchlab.retrieval.highlight.compiled_snippets",
        "searchlab.retrieval.ranking.ranking_kernels",
        "searchlab.scorers.execution.impact_kernels",
    ]
)


class ServerProcess:
    """A server; what it prints can be read from `stdout`."""

    def __init__(self, options: Iterable[object], folder: Path | None = None) -> None:
        reader, writer = CONTEXT.Pipe(duplex=False)
        command = ["searchlab", "serve", *map(str, options)]
        arguments = command, folder or Path.cwd(), dict(os.environ), writer
        # As a daemon, a server that a failed test has left behind ends with the tests.
        self._process = CONTEXT.Process(target=_run, args=arguments, daemon=True)
        self._process.start()
        writer.close()
        self.stdout = os.fdopen(os.dup(reader.fileno()), encoding="utf-8")
        reader.close()

    def send_signal(self, number: int) -> None:
        """Send a signal."""
        assert self._process.pid is not None
        os.kill(self._process.pid, number)

    def terminate(self) -> None:
        """Ask the server to end."""
        self._process.terminate()

    def kill(self) -> None:
        """End the server without a word."""
        self._process.kill()

    def wait(self, seconds: float) -> int:
        """The exit code; raises TimeoutError if the server does not end in time."""
        self._process.join(seconds)
        if self._process.exitcode is None:
            raise TimeoutError(f"the server has not ended within {seconds} s")
        return self._process.exitcode


def _run(command: list[str], folder: Path, environment: dict[str, str], writer) -> None:
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    # What the server prints, and what processes print that it starts.
    os.dup2(writer.fileno(), 1)
    writer.close()
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.argv = command
    cli.main()
