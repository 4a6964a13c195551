"""How many requests does the server answer, and how fast?

    python benchmarks/serve.py                          # OHSUMED's size: builds the index first, ten minutes
    python benchmarks/serve.py --work DIR               # keeps the index in DIR, or takes it from there
    python benchmarks/serve.py --documents 35000 --requests 2000

`searchlab serve` runs as its users run it. A client in a second process (`load.py`) asks for searches, re-rankings,
pages and suggestions, as fast as they are answered and at a fixed rate; beside it stand the bare engine, as the
ceiling, and tantivy behind a minimal application (`serve_peer.py`). Memory is looked at during thousands of requests.
All answers of the server are compared with those of the engine; the script fails if they differ.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import platform
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from statistics import fmean, quantiles
from typing import Any
from urllib.parse import quote

from engines import ENGINES
from load import HOST
from report import OURS, Target, table

OHSUMED = 348_566
HERE = Path(__file__).parent
PEER = "tantivy"
K = 10
CANDIDATES = 100
FEATURES = "letor45"
RANKERS = ("bm25", f"model:{FEATURES}")
ROUNDS = 3
# Memory is looked at so many times.
LOOKS = 10
# Connections at the fixed rate: as many as requests can be under way.
PLENTY = 64


# Steps in processes of their own: the index, and what the engine answers without a server, and how fast.


def build_step(work: str, n_docs: str) -> None:
    from collection import make_queries, write_collection

    collection = Path(work, f"collection-{n_docs}.jsonl")
    write_collection(collection, int(n_docs))
    Path(work, "queries.json").write_text(json.dumps(make_queries()))
    for engine in (OURS, PEER):
        folder = Path(work, f"{engine}-{n_docs}")
        if not folder.exists() and find_spec(ENGINES[engine].module) is not None:
            ENGINES[engine].index(collection, folder)


def engine_step(index: str, model: str, queries: str) -> dict[str, Any]:
    """All answers, and milliseconds for each: the ceiling of any server in one process."""
    import numpy as np

    import searchlab
    from searchlab.features.sets import SETS
    from searchlab.rankers.bundle import Bundle
    from searchlab.rankers.first_stage import FirstStage
    from searchlab.rankers.models import LinearModel
    from searchlab.rankers.preparation import Preparation
    from searchlab.rankers.reranking import Reranker

    features = tuple(SETS[FEATURES])
    weights = np.random.default_rng(1).uniform(0, 1, len(features))
    first = FirstStage(k=CANDIDATES, expanded=False)
    Bundle("linear", {}, LinearModel(weights), features, Preparation.named(), first_stage=first).save(model)
    engine = searchlab.open(index)
    reranker = Reranker(engine, searchlab.rankers.bundle.load_bundle(model))
    answers, times = {}, {}
    for name, search in zip(RANKERS, (engine.search, reranker.search), strict=True):
        texts = json.loads(Path(queries).read_text())
        answers[name] = {text: [as_told(hit) for hit in search(text, k=K)] for text in texts}
        times[name] = []
        for text in texts * ROUNDS:
            began = time.perf_counter()
            list(search(text, k=K))
            times[name].append(1000 * (time.perf_counter() - began))
    return {"answers": answers, "times": times}


def as_told(hit: Any) -> dict[str, Any]:
    """A result as the server tells it."""
    texts = {"title": hit.marked_title, "snippet": hit.snippet}
    return {
        "rank": hit.rank,
        "id": hit.docno,
        "score": hit.score,
        **{name: {"text": own.text, "marks": [list(mark) for mark in own.marks]} for name, own in texts.items()},
    }


STEPS = {"build": build_step, "engine": engine_step}


def run_step(name: str, *arguments: object) -> Any:
    return run_script(__file__, "step", name, *map(str, arguments))


def run_script(*command: str | Path) -> Any:
    done = subprocess.run([sys.executable, "-W", "ignore", *command], stdout=subprocess.PIPE, check=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])


# Servers.


class Server:
    """A server that runs: its process, its port, and what the kernel knows of it."""

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
        """Megabytes of its own, and all that is resident: also pages of the index, which the kernel can take back."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        kilobytes = {line.partition(":")[0]: int(line.split()[1]) for line in lines if line.endswith(" kB")}
        return kilobytes["RssAnon"] / 1024, kilobytes["VmRSS"] / 1024

    def processor(self) -> float:
        """Seconds of processor time so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def served(name: str, command: list[str | Path], port: int | None = None) -> Iterator[Server]:
    """A server for as long as it is needed; without a port, it says itself which one it took."""
    pipe = subprocess.PIPE if port is None else None
    process = subprocess.Popen(list(map(str, command)), stdout=pipe, text=True)
    try:
        if port is None:
            assert process.stdout is not None
            line = process.stdout.readline()
            if not line.strip():
                sys.exit(f"{name} did not start")
            port = int(line.strip().rpartition(":")[2].partition("/")[0])
        wait_for(port)
        yield Server(name, process, port)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)


def wait_for(port: int) -> None:
    for _ in range(300):
        try:
            socket.create_connection((HOST, port)).close()
            return
        except OSError:
            time.sleep(0.1)
    sys.exit(f"nobody answers at port {port}")


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind((HOST, 0))
        return int(taken.getsockname()[1])


# What the parent measures.


def load(server: Server, paths: Path, connections: int, seconds: float, **more: float) -> dict[str, Any]:
    """Put a server under load; the figures of that."""
    before = server.processor()
    asked = {"port": server.port, "paths": str(paths), "connections": connections, "seconds": seconds, **more}
    record = run_script(HERE / "load.py", json.dumps(asked))
    times = record["times"]
    cuts = quantiles(times, n=100, method="inclusive")
    return {
        "server": server.name,
        "paths": paths.stem,
        "connections": connections,
        **more,
        "per_second": len(times) / record["seconds"],
        **{f"p{percent}": cuts[percent - 1] for percent in (50, 95, 99)},
        "processor": 1000 * (server.processor() - before) / len(times),
        "failed": record["failed"],
        "kilobytes": record["n_bytes"] / len(times) / 1024,
    }


def write_paths(work: Path, texts: list[str]) -> dict[str, Path]:
    """What is asked for, by kind; a file for each."""
    model = quote(RANKERS[1])
    kinds = {
        "search": [f"/api/search?k={K}&q={quote(text)}" for text in texts],
        "re-ranking": [f"/api/search?k={K}&ranker={model}&q={quote(text)}" for text in texts],
        "page": [f"/?q={quote(text)}" for text in texts],
        "suggestions": [f"/api/suggest?q={quote(text[:-3])}" for text in texts],
    }
    # As visitors mix them: a page or a search, often suggestions before it.
    kinds["mixture"] = [path for four in zip(*kinds.values(), strict=True) for path in four]
    files = {kind: work / "paths" / f"{kind}.json" for kind in kinds}
    for kind, paths in kinds.items():
        files[kind].parent.mkdir(exist_ok=True)
        files[kind].write_text(json.dumps(paths))
    return files


def differences(server: Server, answers: dict[str, dict[str, list[dict[str, Any]]]]) -> list[str]:
    """The queries that the server answers otherwise than the engine."""
    wrong = []
    for ranker, expected in answers.items():
        for text, results in expected.items():
            told = server.get(f"/api/search?k={K}&ranker={quote(ranker)}&q={quote(text)}")["results"]
            if [{name: own[name] for name in results[0]} for own in told] != results:
                wrong.append(f"{ranker}: {text}")
    return wrong


def watch_memory(server: Server, paths: Path, n_requests: int) -> list[tuple[int, float, float]]:
    """Memory after so many requests, time and again; the first is that of a server that has warmed up."""
    looks = [(0, *server.memory())]
    for look in range(1, LOOKS + 1):
        load(server, paths, 16, 3600, most=n_requests // LOOKS)
        looks.append((look * n_requests // LOOKS, *server.memory()))
    return looks


def run(options: argparse.Namespace, work: Path) -> bool:
    """Measure, and print; whether the server answers as the engine does."""
    note(f"{options.documents:,} documents: indexes")
    run_step("build", work, options.documents)
    texts = json.loads((work / "queries.json").read_text())
    index, model = work / f"{OURS}-{options.documents}", work / f"{FEATURES}.json"
    note("the bare engine")
    bare = run_step("engine", index, model, work / "queries.json")
    paths = write_paths(work, texts)
    print(describe(options), end="\n\n")
    figures: list[dict[str, Any]] = []
    command = [Path(sys.executable).with_name(OURS), "serve", "-i", index, "--model", model, "--port", "0"]
    with served(OURS, command) as server:
        note("answers")
        wrong = differences(server, bare["answers"])
        for text in wrong:
            note(f"another answer than the engine's: {text}")
        for kind in ("search", "re-ranking", "page", "suggestions"):
            for connections in options.connections:
                note(f"{kind}, {connections} connections")
                figures.append(load(server, paths[kind], connections, options.seconds))
        for kind, rate in (("search", options.rate), ("re-ranking", options.rate / 3)):
            note(f"{kind}, {rate:g}/s")
            figures.append(load(server, paths[kind], PLENTY, 2 * options.seconds, rate=rate))
        note(f"memory, {options.requests:,} requests")
        looks = watch_memory(server, paths["mixture"], options.requests)
    peer = work / f"{PEER}-{options.documents}"
    if peer.exists():
        port = free_port()
        with served(PEER, [sys.executable, HERE / "serve_peer.py", peer, str(port)], port) as server:
            load(server, paths["search"], 4, 1)  # warms up
            for connections in options.connections:
                note(f"{PEER}, {connections} connections")
                figures.append(load(server, paths["search"], connections, options.seconds))
            figures.append(load(server, paths["search"], PLENTY, 2 * options.seconds, rate=options.rate))
    tell(options, bare["times"], figures, looks)
    print(f"\nanswers as the engine's: {'no' if wrong else 'yes'}")
    if options.json:
        record = {"engine": bare["times"], "figures": figures, "memory": looks, "wrong": wrong}
        options.json.write_text(json.dumps(record, indent=2))
    return not wrong


# What is printed.


def describe(options: argparse.Namespace) -> str:
    names = [name for name in (OURS, "starlette", "uvicorn", PEER) if find_spec(name)]
    versions = ", ".join(f"{name} {version(name)}" for name in names)
    machine = f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"
    return f"{options.documents:,} documents. {machine}. {versions}."


def tell(
    options: argparse.Namespace,
    bare: dict[str, list[float]],
    figures: list[dict[str, Any]],
    looks: list[tuple[int, float, float]],
) -> None:
    print("## The bare engine, in one thread\n")
    rows = [
        [
            f"{kind}, k={K}, with snippets",
            f"{fmean(own):.2f}",
            f"{percentile(own, 99):.2f}",
            f"{1000 / fmean(own):,.0f}",
        ]
        for kind, own in zip(("search", "re-ranking"), bare.values(), strict=True)
    ]
    print(table(["", "mean ms", "p99 ms", "at most /s"], rows), end="\n\n## The servers\n\n")
    header = ["requests", "server", "connections", "requests/s", "p50 ms", "p95 ms", "p99 ms"]
    header += ["processor ms", "kB", "failed"]
    print(table(header, [row_of(own) for own in figures], 2), end="\n\n")
    ratios = [
        [f"{own['connections']} connections", f"{own['per_second'] / other['per_second']:.2f}"]
        for own, other in pairs(figures)
    ]
    if ratios:
        print(table(["search", f"times as many requests/s as {PEER}'s"], ratios), end="\n\n")
    print(f"## Memory over {looks[-1][0]:,} requests of all kinds\n")
    shown = [looks[place] for place in (0, 1, LOOKS // 2, LOOKS)]
    rows = [[f"{number:,}", f"{own:.0f}", f"{resident:.0f}"] for number, own, resident in shown]
    print(
        table(["after requests", "own MB", "resident MB, pages of the index included"], rows), end="\n\n## Targets\n\n"
    )
    print(*targets(options, figures, looks), sep="\n")


def row_of(own: dict[str, Any]) -> list[str]:
    how = f"{own['rate']:g}/s" if "rate" in own else str(own["connections"])
    numbers = [f"{own[name]:.1f}" for name in ("p50", "p95", "p99")]
    cost = [f"{own['processor']:.2f}", f"{own['kilobytes']:.1f}", str(own["failed"])]
    return [own["paths"], own["server"], how, f"{own['per_second']:,.0f}", *numbers, *cost]


def pairs(figures: list[dict[str, Any]]) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Searches of ours beside those of the peer."""
    closed = [own for own in figures if own["paths"] == "search" and "rate" not in own]
    for own in closed:
        for other in closed:
            if (own["server"], other["server"], own["connections"]) == (OURS, PEER, other["connections"]):
                yield own, other


def targets(
    options: argparse.Namespace, figures: list[dict[str, Any]], looks: list[tuple[int, float, float]]
) -> list[Target]:
    ours = [own for own in figures if own["server"] == OURS]
    searches = [own for own in ours if own["paths"] == "search"]
    fixed = next(own for own in searches if "rate" in own)
    reranked = max(own["per_second"] for own in ours if own["paths"] == "re-ranking" and "rate" not in own)
    busiest = max((own for own in searches if "rate" not in own), key=lambda own: own["per_second"])
    grown = 100 * (looks[-1][1] / looks[1][1] - 1)
    return [
        Target("at least 300 searches/s", busiest["per_second"], "/s", 300),
        Target("… with p99 below 50 ms", busiest["p99"], "ms", below=50),
        Target(f"p99 below 50 ms at {options.rate:g} searches/s", fixed["p99"], "ms", below=50),
        Target(f"re-ranks {CANDIDATES} candidates by 45 features at least 100 times/s", reranked, "/s", 100),
        Target(f"memory grows by less than 5 % from {looks[1][0]:,} to {looks[-1][0]:,} requests", grown, "%", -100, 5),
    ]


def percentile(times: list[float], percent: int) -> float:
    return quantiles(times, n=100, method="inclusive")[percent - 1]


def note(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=OHSUMED)
    parser.add_argument("--connections", type=lambda text: [int(n) for n in text.split(",")], default=[1, 4, 16])
    parser.add_argument("--seconds", type=float, default=10, help="how long each load lasts")
    parser.add_argument("--rate", type=float, default=300, help="searches/s at the fixed rate; a third for re-ranking")
    parser.add_argument("--requests", type=int, default=20_000, help="while memory is looked at")
    parser.add_argument("--work", type=Path, help="a folder that keeps the indexes [default: a temporary one]")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures here")
    return parser.parse_args()


def main() -> None:
    options = parse_arguments()
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    if options.work:
        options.work.mkdir(parents=True, exist_ok=True)
        same = run(options, options.work)
    else:
        work = Path(tempfile.mkdtemp())
        try:
            same = run(options, work)
        finally:
            shutil.rmtree(work)
    sys.exit(0 if same else 1)


if __name__ == "__main__":
    if sys.argv[1:2] == ["step"]:
        print(json.dumps(STEPS[sys.argv[2]](*sys.argv[3:])))
    else:
        main()
