"""A scheduler and workers as processes on this machine, which end with the process that started them.

They are the plain `dask scheduler` and `dask worker` commands, so that a local cluster differs from others in nothing
but its place. Nothing of the caller's program is run again in them. Each holds a pipe to the process that started it,
and ends when that pipe does, however the process ended.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path

from searchlab.errors import ClusterError
from searchlab.extensions import process_environment

START_SECONDS = 60.0
POLL_SECONDS = 0.02
DASK_SETTINGS = {
    # How many workers a task may lose before Dask gives it up; its own value, 3, is for clusters of many users.
    "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "100",
    # Profiles are for Dask's dashboard, which is not started; short searches take a fifth longer with them.
    "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False",
}
# Limits of glibc's allocator, the largest that it chooses by itself. Dask sets one so low that the memory of each large
# array goes back to the system, which took a quarter of the processor time of searches; it keeps those that are set.
ALLOCATOR_SETTINGS = {"MALLOC_MMAP_THRESHOLD_": str(32 * 2**20), "MALLOC_TRIM_THRESHOLD_": str(64 * 2**20)}


class LocalProcesses:
    """One scheduler and `n_workers` workers of one thread each, on loopback."""

    def __init__(self, n_workers: int) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="searchlab-cluster-"))
        self.scheduler_file = self._folder / "scheduler.json"
        self._log = self._folder / "log"
        self._processes: list[subprocess.Popen[bytes]] = []
        try:
            self._start("scheduler", "--host", "127.0.0.1", "--port", "0", "--preload", __name__)
            self._start(
                "worker",
                *("--host", "127.0.0.1", "--nworkers", str(n_workers), "--nthreads", "1", "--preload-nanny", __name__),
                *("--local-directory", str(self._folder)),
            )
            self._wait_for_scheduler()
        except BaseException:
            self.close()
            raise

    def _start(self, role: str, *options: str) -> None:
        command = [sys.executable, "-m", "dask", role, "--scheduler-file", str(self.scheduler_file), "--no-dashboard"]
        environment = ALLOCATOR_SETTINGS | process_environment() | DASK_SETTINGS
        with self._log.open("ab") as log:
            process = subprocess.Popen(
                [*command, *options],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                env=environment,
                # Ctrl-C is for the caller, which cancels the tasks before it ends these processes.
                start_new_session=True,
            )
        self._processes.append(process)

    def _wait_for_scheduler(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        while not self._is_scheduler_file_written():
            if time.monotonic() > deadline or any(process.poll() is not None for process in self._processes):
                lines = self._log.read_text(errors="replace").strip().splitlines() or ["it wrote nothing"]
                raise ClusterError(f"the local cluster did not start: {lines[-1]}")
            time.sleep(POLL_SECONDS)

    def _is_scheduler_file_written(self) -> bool:
        """Whether the scheduler file is complete: Dask writes it in place."""
        try:
            return "address" in json.loads(self.scheduler_file.read_text())
        except (OSError, ValueError):
            return False

    def close(self) -> None:
        """End all processes."""
        for process in reversed(self._processes):
            if process.stdin is not None:
                with suppress(OSError):
                    process.stdin.close()
        for process in self._processes:
            try:
                process.wait(timeout=START_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)


def dask_setup(server: object) -> None:
    """Called by Dask in each process that preloads this module: end it when its standard input ends."""

    def wait_for_parent() -> None:
        while os.read(0, 1024):
            pass
        os._exit(0)

    threading.Thread(target=wait_for_parent, daemon=True).start()
