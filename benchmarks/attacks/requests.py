"""Hostile requests against a running server, on this machine only.

    python -m benchmarks.attacks.requests --requests 20000 [--connections 8] [--seed 1]

`hostile_requests.py` draws them. None may be answered by an internal error (500) or not at all; no write of another
site and no form without its CSRF token may be accepted; no answer may have the content of a file outside. Afterwards
the server must be alive, must give the same answers as before, and its index and judgments must be healthy. What its
memory grew by is printed.
"""

from __future__ import annotations

import argparse
import json
import random
import socket
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from benchmarks.attack import QUERIES, make_index
from benchmarks.attacks.hostile_requests import JSON_TYPE, VALUES, HostileRequest, draw_request, with_body
from benchmarks.report import table
from benchmarks.server_process import HOST, Server, searchlab_command, served
from searchlab.indexing.checking.index_doctor import examine
from searchlab.judgments.judgment_store import judgments_file
from searchlab.judgments.storage.judgment_backup import examine_judgments

ANSWER_SECONDS = 60
# In a file that a path could lead to.
FOREIGN_CONTENT = (b"root:x:", b"def make_app(")
MAX_GROWTH_MEGABYTES = 60
CLOSED, HANG = "closed", "hang"


@dataclass
class RequestsResult:
    """The answers to each kind of request, what was wrong, and megabytes at a tenth of the requests and at the end."""

    statuses: dict[str, Counter[str]] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    megabytes: tuple[float, float] = (0.0, 0.0)


def send(request: HostileRequest, port: int) -> tuple[str, bytes]:
    """The status of the answer, `closed` if there is none, `hang` if it takes too long; and all that came."""
    answer = b""
    try:
        with socket.create_connection((HOST, port), timeout=ANSWER_SECONDS) as connection:
            connection.sendall(request.content)
            if not request.complete:
                connection.shutdown(socket.SHUT_WR)
            while piece := connection.recv(65_536):
                answer += piece
    except TimeoutError:
        return HANG, answer
    except OSError:  # closed while the request is sent, or before its answer is read
        pass
    if answer.startswith(b"HTTP/1.1 1"):  # the body may be sent; the answer follows
        answer = answer.partition(b"\r\n\r\n")[2]
    return (answer.split(b" ", 2)[1].decode("latin-1") if answer.startswith(b"HTTP/1.1 ") else CLOSED), answer


def judge_answer(request: HostileRequest, status: str, answer: bytes) -> Iterator[str]:
    """What is wrong with an answer."""
    if status == HANG or (status.startswith("5") and status != "503"):
        yield f"{status} for {request.content[:300]!r}: {answer[-200:]!r}"
    if request.must_be_refused and status[:1] in "23":
        yield f"accepted ({status}): {request.content[:300]!r}"
    for content in FOREIGN_CONTENT:
        if content in answer:
            yield f"content of a file for {request.content[:300]!r}"


def right_answers(server: Server) -> list[Any]:
    """The answers to some searches."""
    return [server.get(f"/api/search?k=10&q={quote(query)}")["hits"] for query in QUERIES]


def _import_topics(port: int) -> HostileRequest:
    """A topic set, so that requests to judge and measure find one."""
    values = {"topic_set": "attacked", "topics": VALUES["topics"][0], "qrels": VALUES["qrels"][0], "judge": "ann"}
    return with_body("import", "/api/import", json.dumps(values).encode(), JSON_TYPE, port)


def attack_server(server: Server, n_requests: int, seed: int, n_connections: int) -> RequestsResult:
    """Send all requests over several connections at a time."""
    result = RequestsResult()
    send(_import_topics(server.port), server.port)
    right = right_answers(server)
    lock = threading.Lock()
    numbers = iter(range(n_requests))
    at_tenth = server.memory()[0]

    def work() -> None:
        nonlocal at_tenth
        while True:
            with lock:
                number = next(numbers, None)
                if number == n_requests // 10:
                    at_tenth = server.memory()[0]
            if number is None:
                return
            request = draw_request(random.Random(f"{seed} {number}"), server.port)
            status, answer = send(request, server.port)
            with lock:
                result.statuses.setdefault(request.kind, Counter())[status] += 1
                result.failures += [f"request {number}: {what}" for what in judge_answer(request, status, answer)]

    threads = [threading.Thread(target=work) for _ in range(n_connections)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    result.megabytes = (at_tenth, server.memory()[0])
    if result.megabytes[1] - at_tenth > MAX_GROWTH_MEGABYTES:
        result.failures.append(f"memory grew from {at_tenth:.0f} to {result.megabytes[1]:.0f} MB")
    if server.process.poll() is not None:
        result.failures.append(f"the server ended with {server.process.returncode}")
    elif right_answers(server) != right:
        result.failures.append("other answers than before")
    return result


def run(home: Path, n_requests: int, seed: int, n_connections: int) -> RequestsResult:
    """Serve a small index, attack the server, and look at what is left."""
    folder = home / "attacked"
    make_index(folder)
    command = searchlab_command("serve", "-i", folder, "--port", "0", "--uploads", home / "uploads")
    with (home / "errors").open("w+") as errors, served("searchlab", command, errors=errors) as server:
        result = attack_server(server, n_requests, seed, n_connections)
        errors.seek(0)
        said = errors.read()
    result.failures += list_damage(folder, said)
    return result


def list_damage(folder: Path, said: str) -> list[str]:
    """What an attack has left: tracebacks in what the server `said`, damage of its index or judgments."""
    found = [str(finding) for finding in examine(folder).findings if finding.serious]
    if "Traceback" in said:
        found.append(f"{said.count('Traceback')} tracebacks: {said[said.index('Traceback') :][:3000]}")
    problem = examine_judgments(judgments_file(folder))
    return [*found, problem] if problem else found


def describe(result: RequestsResult) -> str:
    """A table of the answers, the memory, and the failures."""
    classes = ("2", "3", "4", "503", "500", CLOSED, HANG)
    rows = []
    for kind, statuses in [*sorted(result.statuses.items()), ("all", sum(result.statuses.values(), Counter()))]:
        counts = [sum(n for status, n in statuses.items() if status.startswith(each)) for each in classes]
        rows.append([kind, *(f"{n:,}" for n in (statuses.total(), *counts))])
    header = ["requests", "sent", "2xx", "3xx", "4xx", "503", "500", "closed", "hang"]
    memory = "memory: {:.1f} MB at a tenth, {:.1f} MB at the end".format(*result.megabytes)
    return "\n".join([table(header, rows), memory, f"failures: {len(result.failures)}", *result.failures[:50]])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=20_000)
    parser.add_argument("--connections", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        result = run(Path(home), arguments.requests, arguments.seed, arguments.connections)
    print(describe(result))
    sys.exit(bool(result.failures))


if __name__ == "__main__":
    main()
