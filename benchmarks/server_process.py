"""A server in its own process: how it is started, asked, watched and ended."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

HOST = "127.0.0.1"
_ADDRESS = re.compile(r"http://[^ ]*:(\d+)")


class Server:
    """A running server: its process, its port, and its use of memory and processor."""

    def __init__(self, name: str, process: subprocess.Popen[str], port: int) -> None:
        self.name = name
        self.process = process
        self.port = port

    def get(self, path: str) -> Any:
        connection = http.client.HTTPConnection(HOST, self.port, timeout=60)
        try:
            connection.request("GET", path)
            response = connection.getresponse()
            body = response.read()
            if response.status != 200:
                sys.exit(f"{self.name}: {path} gave {response.status}: {body[:200]!r}")
            return json.loads(body) if "json" in response.headers["content-type"] else body.decode()
        finally:
            connection.close()

    def memory(self) -> tuple[float, float]:
        """Megabytes of private memory, and of all resident memory, with droppable pages of the index."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        kilobytes = {line.partition(":")[0]: int(line.split()[1]) for line in lines if line.endswith(" kB")}
        return kilobytes["RssAnon"] / 1024, kilobytes["VmRSS"] / 1024

    def processor(self) -> float:
        """Seconds of processor time so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def kill(self) -> None:
        """End the process without a warning."""
        self.process.kill()
        self.process.wait()


def searchlab_command(*arguments: str | Path) -> list[str]:
    """The command line of searchlab, run by this interpreter."""
    return [sys.executable, "-W", "ignore", "-m", "searchlab", *map(str, arguments)]


@contextmanager
def served(
    name: str, command: Sequence[str | Path], port: int | None = None, errors: IO[str] | None = None
) -> Iterator[Server]:
    """A server while the context lasts; without a port, its first line names the one it took.

    What it says on standard error is written to the file `errors`, if there is one.
    """
    pipe = subprocess.PIPE if port is None else None
    process = subprocess.Popen(list(map(str, command)), stdout=pipe, stderr=errors, text=True)
    try:
        if port is None:
            assert process.stdout is not None
            line = process.stdout.readline()
            address = _ADDRESS.search(line)
            if address is None:
                sys.exit(f"{name} did not start")
            port = int(address[1])
        wait_for(port)
        yield Server(name, process, port)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)
        if process.stdout is not None:
            process.stdout.close()


def wait_for(port: int) -> None:
    for _ in range(300):
        try:
            socket.create_connection((HOST, port)).close()
            return
        except OSError:
            time.sleep(0.1)
    sys.exit(f"no server answers at port {port}")


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind((HOST, 0))
        return int(taken.getsockname()[1])
