"""Load generator for the server benchmark, in its own process.

A minimal client: plain HTTP/1.1 over connections that stay open, with as little work for a request as possible.
Throughput is measured with connections that each send the next request as soon as they have an answer; latency with
requests at a fixed rate, whether or not earlier ones have been answered, timed from the moment at which each was due.

A connection that the server closes before it has sent anything of an answer is opened again, and asks again: a server
closes connections that are left alone for some seconds, as they are when the client does not get a processor.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections import deque
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from typing import Any

from server_process import HOST

END_OF_HEAD = b"\r\n\r\n"
LENGTH = b"content-length:"
# Seconds that the last requests may take.
PATIENCE = 30
# Connections opened again; a server that closes more of them has another reason.
MAX_RECONNECTIONS = 100


@dataclass
class Record:
    """What has come back: milliseconds of each answer, how many had another status than 200, and all bytes."""

    times: list[float] = field(default_factory=list)
    failed: int = 0
    n_bytes: int = 0
    reconnections: int = 0


class Connection(asyncio.Protocol):
    """One connection: asks, waits for the whole answer, and says so."""

    def __init__(self, port: int, record: Record, answered: Any) -> None:
        self.port = port
        self.record = record
        self.answered = answered
        self.request, self.received, self.expected = b"", bytearray(), 0
        self.ended = False
        self.lost: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def open(self) -> None:
        await asyncio.get_running_loop().create_connection(lambda: self, HOST, self.port)

    def close(self) -> None:
        self.ended = True
        self.transport.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport: Any = transport
        if self.request:
            transport.write(self.request)  # type: ignore[attr-defined]

    def connection_lost(self, error: Exception | None) -> None:
        if self.ended:
            return
        self.record.reconnections += 1
        if self.received or self.record.reconnections > MAX_RECONNECTIONS:
            self.lost.set_result(None)
        else:
            self.opening = asyncio.ensure_future(self.open())
            self.opening.add_done_callback(self.opened)

    def opened(self, opening: asyncio.Future[None]) -> None:
        if opening.exception() is not None:
            self.lost.set_result(None)

    def ask(self, request: bytes, since: float) -> None:
        self.request, self.since = request, since
        if not self.transport.is_closing():
            self.transport.write(request)

    def data_received(self, data: bytes) -> None:
        self.received += data
        if not self.expected:
            end = self.received.find(END_OF_HEAD)
            if end < 0:
                return
            head = bytes(self.received[: end + 2]).lower()
            if b" 200 " not in head[:14]:
                self.record.failed += 1
            begin = head.index(LENGTH) + len(LENGTH)
            self.expected = end + len(END_OF_HEAD) + int(head[begin : head.index(b"\r", begin)])
        if len(self.received) >= self.expected:
            self.record.times.append(1000 * (time.perf_counter() - self.since))
            self.record.n_bytes += self.expected
            self.request, self.received, self.expected = b"", bytearray(), 0
            self.answered(self)


async def as_fast_as_answered(
    requests: list[bytes], port: int, n_connections: int, seconds: float, most: int
) -> Record:
    """Every connection asks as soon as it has been answered, until time or number of requests is up."""
    record, source = Record(), cycle(requests)
    asked = 0
    done = asyncio.get_running_loop().create_future()
    deadline = time.perf_counter() + seconds

    def next_one(connection: Connection) -> None:
        nonlocal asked
        now = time.perf_counter()
        if asked >= most or now >= deadline:
            if len(record.times) == asked and not done.done():
                done.set_result(None)
            return
        asked += 1
        connection.ask(next(source), now)

    connections = await connect(port, n_connections, record, next_one)
    for connection in connections:
        next_one(connection)
    await until(done, connections, seconds + PATIENCE)
    return record


async def at_a_rate(requests: list[bytes], port: int, n_connections: int, seconds: float, rate: float) -> Record:
    """Requests are due at a fixed rate; those for which no connection is free wait, and their time runs."""
    record, source = Record(), cycle(requests)
    loop, total = asyncio.get_running_loop(), int(seconds * rate)
    done = loop.create_future()
    waiting: deque[float] = deque()

    def answered(connection: Connection) -> None:
        if waiting:
            connection.ask(next(source), waiting.popleft())
            return
        idle.append(connection)
        if len(record.times) == total and not done.done():
            done.set_result(None)

    connections = await connect(port, n_connections, record, answered)
    # In turn: a server closes connections that are left alone for some seconds.
    idle = deque(connections)
    began, beginning = loop.time(), time.perf_counter()
    for number in range(total):
        # asyncio counts in whole milliseconds: a request may leave late, and its time includes that.
        late = began + number / rate - loop.time()
        if late > 0:
            await asyncio.sleep(late)
        due = beginning + number / rate
        if idle:
            idle.popleft().ask(next(source), due)
        else:
            waiting.append(due)
    await until(done, connections, PATIENCE)
    return record


async def connect(port: int, n_connections: int, record: Record, answered: Any) -> list[Connection]:
    connections = [Connection(port, record, answered) for _ in range(n_connections)]
    for connection in connections:
        await connection.open()
    return connections


async def until(done: asyncio.Future[None], connections: list[Connection], seconds: float) -> None:
    """Until all is answered; a connection that is lost, or an answer that never comes, ends the measurement."""
    lost = [connection.lost for connection in connections]
    finished, _ = await asyncio.wait([done, *lost], timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    if done not in finished:
        sys.exit("the server closed a connection" if finished else "an answer never came")
    for connection in connections:
        connection.close()


def main() -> None:
    """Arguments as one JSON object; the record, and how long it took, as JSON."""
    asked = json.loads(sys.argv[1])
    paths: list[str] = json.loads(Path(asked["paths"]).read_text())
    paths = paths[asked.get("first", 0) :] or paths
    requests = [f"GET {path} HTTP/1.1\r\nHost: {HOST}:{asked['port']}\r\n\r\n".encode() for path in paths]
    began = time.perf_counter()
    if "rate" in asked:
        work = at_a_rate(requests, asked["port"], asked["connections"], asked["seconds"], asked["rate"])
    else:
        most = asked.get("most", 10**9)
        work = as_fast_as_answered(requests, asked["port"], asked["connections"], asked["seconds"], most)
    record = asyncio.run(work)
    seconds = time.perf_counter() - began
    print(json.dumps({"seconds": seconds, "own": time.process_time(), **vars(record)}))


if __name__ == "__main__":
    main()
