"""Slow connections to a server, on this machine only, while others search (slowloris).

    python -m benchmarks.attacks.slow --connections 600 --seconds 60 [--rate 20]

A third of the slow connections send the head of a request, byte by byte; a third send a head, and then the body byte by
byte; a third send nothing. When the server closes one, it is opened again. Meanwhile searches are sent at a fixed rate,
each over a new connection, before, during and after the attack. Every search must be answered, and rightly; how long
they took is printed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from statistics import quantiles
from typing import Any
from urllib.parse import quote

from benchmarks.attack import QUERIES, make_index
from benchmarks.report import table
from benchmarks.server_process import HOST, searchlab_command, served

# Between two bytes of a slow connection.
BYTE_SECONDS = 1.0
ANSWER_SECONDS = 60
PHASES = ("before", "during", "after")
SLOW_HEAD = "GET /api/search?q=heat HTTP/1.1\r\nHost: {host}\r\nX-Padding: " + "x" * 5000
SLOW_BODY = (
    "POST /api/judgments HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nContent-Length: 5000\r\n\r\n"
)


@dataclass
class SlowResult:
    """Milliseconds of the searches in each phase, how slow connections ended, and what was wrong."""

    times: dict[str, list[float]] = field(default_factory=lambda: {phase: [] for phase in PHASES})
    closed: Counter[str] = field(default_factory=Counter)
    n_open: int = 0
    failures: list[str] = field(default_factory=list)


async def _slow_head(writer: asyncio.StreamWriter, host: str) -> None:
    await _drip(writer, SLOW_HEAD.format(host=host).encode())


async def _slow_body(writer: asyncio.StreamWriter, host: str) -> None:
    writer.write(SLOW_BODY.format(host=host).encode())
    await _drip(writer, b"{" + b" " * 5000)


async def _idle(writer: asyncio.StreamWriter, host: str) -> None:
    await asyncio.sleep(3600)


async def _drip(writer: asyncio.StreamWriter, content: bytes) -> None:
    for place in range(len(content)):
        writer.write(content[place : place + 1])
        await writer.drain()
        await asyncio.sleep(BYTE_SECONDS)


Slowness = Callable[[asyncio.StreamWriter, str], Awaitable[None]]
KINDS: dict[str, Slowness] = {"head": _slow_head, "body": _slow_body, "idle": _idle}


async def _be_slow(kind: str, port: int, result: SlowResult) -> None:
    """Hold a connection until the server closes it, again and again."""
    while True:
        try:
            reader, writer = await asyncio.open_connection(HOST, port)
        except OSError:
            result.closed[f"{kind}, refused"] += 1
            await asyncio.sleep(BYTE_SECONDS)
            continue
        result.n_open += 1
        sending = asyncio.ensure_future(KINDS[kind](writer, f"{HOST}:{port}"))
        try:
            with suppress(OSError):
                await reader.read()  # until the server closes
            result.closed[kind] += 1
        finally:
            sending.cancel()
            with suppress(OSError, asyncio.CancelledError):
                await sending
            writer.close()
            result.n_open -= 1


async def _search(query: str, port: int) -> Any:
    """The docnos and scores of the hits; the status if it is not 200."""
    reader, writer = await asyncio.open_connection(HOST, port)
    try:
        path = f"/api/search?k=10&q={quote(query)}"
        writer.write(f"GET {path} HTTP/1.1\r\nHost: {HOST}:{port}\r\nConnection: close\r\n\r\n".encode())
        answer = await reader.read()
    finally:
        writer.close()
    head, _, body = answer.partition(b"\r\n\r\n")
    if b" 200 " not in head[:14]:
        return head[:40]
    return [(hit["docno"], hit["score"]) for hit in json.loads(body)["hits"]]


async def _search_at_a_rate(phase: str, port: int, rate: float, seconds: float, right: Any, result: SlowResult) -> None:
    async def ask(query: str, due: float) -> None:
        try:
            found = await asyncio.wait_for(_search(query, port), ANSWER_SECONDS)
        except (TimeoutError, OSError) as error:
            result.failures.append(f"{phase}: {query}: {type(error).__name__}")
            return
        result.times[phase].append(1000 * (time.perf_counter() - due))
        if found != right[query]:
            result.failures.append(f"{phase}: {query} was answered by {found}")

    beginning = time.perf_counter()
    asked = []
    for number, query in zip(range(int(rate * seconds)), cycle(QUERIES), strict=False):
        due = beginning + number / rate
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        asked.append(asyncio.ensure_future(ask(query, due)))
    await asyncio.gather(*asked)


async def attack(port: int, n_connections: int, seconds: float, rate: float) -> SlowResult:
    """Search before, during and after the attack."""
    result = SlowResult()
    right = {query: await _search(query, port) for query in QUERIES}
    brief = seconds / 4
    await _search_at_a_rate("before", port, rate, brief, right, result)
    slow = [
        asyncio.ensure_future(_be_slow(kind, port, result))
        for kind, _ in zip(cycle(KINDS), range(n_connections), strict=False)
    ]
    await asyncio.sleep(BYTE_SECONDS)
    if result.n_open < n_connections / 2:
        result.failures.append(f"only {result.n_open} slow connections are open, expected {n_connections}")
    await _search_at_a_rate("during", port, rate, seconds, right, result)
    for each in slow:
        each.cancel()
    await asyncio.gather(*slow, return_exceptions=True)
    await _search_at_a_rate("after", port, rate, brief, right, result)
    return result


def run(home: Path, n_connections: int, seconds: float, rate: float) -> SlowResult:
    """Serve a small index, and attack the server."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 4 * n_connections)), hard))
    make_index(home / "attacked")
    command = searchlab_command("serve", "-i", home / "attacked", "--port", "0")
    with served("searchlab", command) as server:
        result = asyncio.run(attack(server.port, n_connections, seconds, rate))
        if server.process.poll() is not None:
            result.failures.append(f"the server ended with {server.process.returncode}")
    return result


def describe(result: SlowResult) -> str:
    """A table of the searches, how often slow connections were closed, and the failures."""
    rows = []
    for phase, times in result.times.items():
        cuts = quantiles(times, n=100, method="inclusive") if len(times) > 1 else [0.0] * 99
        rows.append([phase, f"{len(times):,}", *(f"{cuts[percent - 1]:.1f}" for percent in (50, 95, 99))])
    closed = ", ".join(f"{kind} {n:,}" for kind, n in result.closed.items())
    lines = [table(["searches", "answered", "p50 ms", "p95 ms", "p99 ms"], rows), f"closed by the server: {closed}"]
    return "\n".join([*lines, f"failures: {len(result.failures)}", *result.failures[:50]])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--connections", type=int, default=600)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--rate", type=float, default=20, help="searches/s")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        result = run(Path(home), arguments.connections, arguments.seconds, arguments.rate)
    print(f"{arguments.connections} slow connections, {arguments.seconds:g} s, {arguments.rate:g} searches/s")
    print(describe(result))
    sys.exit(bool(result.failures))


if __name__ == "__main__":
    main()
