"""What a cluster costs and gains on one machine, and what 10⁸ and 10⁹ documents would take by a model of these costs.

    python benchmarks/cluster.py --work /tmp/cluster                 # 348,566 documents, workers 1, 2 and 4
    python benchmarks/cluster.py --documents 50000 --sizes 10000:1,10000:4,25000:2,25000:1
    python benchmarks/cluster.py --work /tmp/cluster --prepare       # only writes the collections

Indexing and a run of 1,000 topics are timed in one process, of one thread, and with worker processes of this machine,
which are started and have opened the index before; how long starting takes is a column of its own. The rounds of one
process and of the cluster alternate, and the best of each counts. Every run is compared with that of one process, to
the last byte. More workers than cores are marked.

Each measurement is kept in `measurements.json` of the working folder as soon as it is made: a benchmark that was
interrupted goes on, and `--again` begins from scratch. The model (`cluster_model.py`) is fitted to the smaller sizes
and compared with the largest, and with builds by up to as many workers as there are cores; exit code 1 if it differs by
more than 20 %, or if a target is missed.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import pickle
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from cluster_model import (
    CostModel,
    Point,
    compare,
    compare_builds,
    compare_gathering,
    print_extrapolation,
    print_formulas,
)
from collection import make_queries, write_collection
from report import table

import searchlab
from searchlab.indexing.parts import cluster_build
from searchlab.retrieval.composition.cluster_batch import search_topics

ROUNDS = 7
SHARD_ROUNDS = 3
DEPTH = 1000
PAGE = 10
SEED = 5
# Numbers of workers, each of which answers a question with a page of hits; the model is compared with the last one.
ASKED_WORKERS = (1, 2, 3, 4, 6, 8)
N_ANSWERS = 100
MAX_OVERHEAD, MIN_SPEEDUP = 0.1, 1.6


class Measurements:
    """Measurements by name, in a file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._values: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}

    def get(self, name: str, measure: Callable[[], Any]) -> Any:
        """A measurement that was made earlier, or now."""
        if name not in self._values:
            print(f"measuring: {name}", file=sys.stderr, flush=True)
            self._values[name] = measure()
            self._path.write_text(json.dumps(self._values, indent=1))
        return self._values[name]


def make_topics(n_topics: int) -> list[searchlab.Topic]:
    """Topics of 3 to 8 words of the benchmarks' queries."""
    words = sorted({word for query in make_queries() for word in query.split()})
    rng = np.random.default_rng(SEED)
    texts = [" ".join(rng.choice(words, size=rng.integers(3, 9), replace=False)) for _ in range(n_topics)]
    return [searchlab.Topic(str(number), text) for number, text in enumerate(texts)]


def time_once(work: Callable[[], Any]) -> tuple[float, Any]:
    """How long work takes, and its result."""
    began = time.perf_counter()
    result = work()
    return time.perf_counter() - began, result


def build(source: Path, folder: Path, cluster: searchlab.Cluster | None) -> float:
    """The seconds that building an index from scratch takes."""
    shutil.rmtree(folder, ignore_errors=True)
    return time_once(lambda: searchlab.index(source, folder, jobs=1, cluster=cluster))[0]


def processor_seconds() -> float:
    """The processor time of this process, and of the processes that it has started."""
    total = time.process_time()
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            times = process.cpu_times()
            total += times.user + times.system
    return total


def run_text(run: searchlab.Run) -> str:
    file = io.StringIO()
    searchlab.write_run(file, run, "run")
    return file.getvalue()


def time_queries(folder: Path, topics: list[searchlab.Topic]) -> dict[str, float]:
    """Seconds of a topic in one process: the mean of a run at k = 1000, and p50 and p99 of searches for a page."""
    with searchlab.open(folder) as engine:
        totals = [time_once(lambda: engine.search_many(topics, k=DEPTH, jobs=1))[0] for _ in range(4)]
        times = [[time_once(lambda t=topic: engine.search(t.text, k=PAGE))[0] for topic in topics] for _ in range(4)]
    p50, p99 = np.percentile(np.min(times, axis=0), [50, 99])
    return {"mean": min(totals) / len(topics), "p50": float(p50), "p99": float(p99)}


def measure_size(work: Path, source: Path, n_docs: int, n_parts: int, topics: list[searchlab.Topic]) -> dict[str, Any]:
    """What an index of `n_parts` parts takes."""
    folder = work / f"{n_docs}-{n_parts}"
    before = cluster_build.MIN_PART_BYTES, cluster_build.PARTS_PER_WORKER
    if n_parts:
        cluster_build.MIN_PART_BYTES, cluster_build.PARTS_PER_WORKER = 1, n_parts
    try:
        with searchlab.Cluster("local:1") as cluster:
            warm_up(work, cluster)
            before_build = time.process_time()
            seconds = build(source, folder, cluster)
            client = time.process_time() - before_build
    finally:
        cluster_build.MIN_PART_BYTES, cluster_build.PARTS_PER_WORKER = before
    files = [path for path in folder.rglob("*") if path.is_file()]
    with searchlab.open(folder) as engine:
        n_shards = len(engine.snapshot.shards)
    point = Point(
        n_docs,
        n_shards,
        seconds,
        client,
        0.0,
        time_queries(folder, topics),
        sum(path.stat().st_size for path in files),
        sum(path.stat().st_size for path in files if path.name == "columns"),
        source.stat().st_size,
    )
    merge = time_once(lambda: searchlab.merge(folder))[0] if n_shards > 1 else 0.0
    shutil.rmtree(folder)
    return asdict(point) | {"merge": merge}


def build_here(work: Path, source: Path) -> float:
    """The seconds that one process takes to build, after it has loaded what that needs."""
    warm_up(work, None)
    return build(source, work / "plain", None)


def warm_up(work: Path, cluster: searchlab.Cluster | None) -> None:
    """Let all workers load what building needs: that takes as long as indexing thousands of documents."""
    source = work / "few.jsonl"
    write_collection(source, 300)
    before = cluster_build.MIN_PART_BYTES
    cluster_build.MIN_PART_BYTES = 1
    try:
        build(source, work / "few", cluster)
    finally:
        cluster_build.MIN_PART_BYTES = before


def measure_workers(work: Path, source: Path, number: int, topics: list[searchlab.Topic]) -> dict[str, float]:
    """Start, build and run with worker processes, and the run of one process between its rounds."""
    with searchlab.open(work / "plain") as engine:
        began = time.perf_counter()
        with searchlab.Cluster(f"local:{number}") as cluster:
            started = time.perf_counter() - began
            warm_up(work, cluster)
            seconds = build(source, work / "index", cluster)
            first, run = time_once(lambda: engine.search_many(topics, k=DEPTH, cluster=cluster))
            expected = engine.search_many(topics, k=DEPTH, jobs=1)
            plain, ours = [], []
            for _ in range(ROUNDS):
                for where, times in ((None, plain), (cluster, ours)):
                    before = processor_seconds()
                    elapsed, found = time_once(lambda at=where: engine.search_many(topics, k=DEPTH, jobs=1, cluster=at))
                    times.append((elapsed, processor_seconds() - before))
                    expected, run = (found, run) if where is None else (expected, found)
            assert run_text(run) == run_text(expected), "the run differs from that of one process"
            shards = time_shards(work / "index", cluster, topics, run_text(expected))
    with searchlab.open(work / "index") as engine:
        assert run_text(engine.search_many(topics, k=DEPTH)) == run_text(expected), "the index differs"
    return {
        "start": started,
        "build": seconds,
        "first": first,
        "run": min(elapsed for elapsed, _ in ours),
        "plain": min(elapsed for elapsed, _ in plain),
        "run_cpu": min(cpu for _, cpu in ours),
        "plain_cpu": min(cpu for _, cpu in plain),
        **shards,
    }


def time_shards(folder: Path, cluster: searchlab.Cluster, topics: list[searchlab.Topic], text: str) -> dict[str, float]:
    """The run of an index whose shards are divided: the first time, the best, and the bytes that a topic moves."""
    with searchlab.open(folder) as engine:

        def search() -> searchlab.Run:
            run: searchlab.Run = engine.search_many(topics, k=DEPTH, cluster=cluster, divide="shards")
            return run

        times = [time_once(search)[0] for _ in range(SHARD_ROUNDS + 1)]
        with count_moved(cluster) as moved:
            assert run_text(search()) == text, "the run by shards differs from that of one process"
        return {
            "n_shards": len(engine.snapshot.shards),
            "shards_first": times[0],
            "shards": min(times[1:]),
            **{f"shards_{name}": n_bytes / len(topics) for name, n_bytes in moved.items()},
        }


@contextmanager
def count_moved(cluster: searchlab.Cluster) -> Iterator[Counter[str]]:
    """Count the bytes of the calls that are sent to workers, and of their results."""
    moved: Counter[str] = Counter()
    finish = cluster.finish

    def finish_and_count(function: Callable[..., Any], calls: Sequence[tuple[Any, ...]], **options: Any) -> Any:
        moved["sent"] += sum(len(pickle.dumps((function, call))) for call in calls)
        for number, result in finish(function, calls, **options):
            moved["returned"] += len(pickle.dumps(result))
            yield number, result

    cluster.finish = finish_and_count  # type: ignore[method-assign]
    try:
        yield moved
    finally:
        cluster.finish = finish  # type: ignore[method-assign]


def measure_gathering(n_workers: int) -> dict[str, float]:
    """p50 and p99 of asking as many worker processes a question at once, and having all answers."""
    with searchlab.Cluster(f"local:{n_workers}") as cluster:
        calls, workers = [(PAGE,)] * n_workers, cluster.workers
        for _ in range(N_ANSWERS // 10):  # the first ones load code
            cluster.run(np.zeros, calls, workers=workers)
        times = [time_once(lambda: cluster.run(np.zeros, calls, workers=workers))[0] for _ in range(N_ANSWERS)]
    p50, p99 = np.percentile(times, [50, 99])
    return {"p50": float(p50), "p99": float(p99)}


def count_bytes(folder: Path, topics: list[searchlab.Topic]) -> tuple[float, float]:
    """The bytes that a topic takes from the client to a worker, and back."""
    with searchlab.open(folder) as engine:
        pipeline = engine.retriever("bm25")
        sent = pickle.dumps((pipeline, topics, DEPTH, "plain", ()))
        returned = pickle.dumps(search_topics(pipeline, topics, DEPTH, "plain", ()))
    return len(sent) / len(topics), len(returned) / len(topics)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=348_566)
    parser.add_argument(
        "--sizes",
        default="35000:1,35000:4,87000:1,87000:3,174000:1,174000:4",
        help="DOCUMENTS:SHARDS, …; the model is fitted to them",
    )
    parser.add_argument("--workers", default="1,2,4")
    parser.add_argument("--topics", type=int, default=1000)
    parser.add_argument("--work", type=Path, help="keep collections, indexes and measurements here")
    parser.add_argument("--again", action="store_true", help="measure again what was measured before")
    parser.add_argument("--prepare", action="store_true", help="only write the collections")
    options = parser.parse_args()
    sizes = [(int(size), int(shards)) for size, shards in (each.split(":") for each in options.sizes.split(","))]
    with tempfile.TemporaryDirectory() as temporary:
        work = options.work or Path(temporary)
        work.mkdir(parents=True, exist_ok=True)
        sources = {size: work / f"{size}.jsonl" for size in [*(size for size, _ in sizes), options.documents]}
        for size, source in sources.items():
            write_collection(source, size)
        if options.prepare:
            return
        if options.again:
            (work / "measurements.json").unlink(missing_ok=True)
        known = Measurements(work / "measurements.json")
        workers = [int(number) for number in options.workers.split(",")]
        topics = make_topics(options.topics)
        is_fast = report_workers(known, work, sources[options.documents], options.documents, workers, topics)
        is_close = report_model(known, work, sources, sizes, options.documents, topics, workers)
    sys.exit(not (is_fast and is_close))


def report_workers(
    known: Measurements, work: Path, source: Path, n_docs: int, workers: list[int], topics: list[searchlab.Topic]
) -> bool:
    """Print times of one process and of workers; whether the targets are met."""
    cores = len(os.sched_getaffinity(0))
    plain_build = known.get("plain build", lambda: build_here(work, source))
    rows, is_fast = [], True
    for number in workers:
        found = known.get(f"workers {number}", lambda number=number: measure_workers(work, source, number, topics))
        speed = found["plain"] / found["run"]
        if number <= cores:
            is_fast &= speed >= (1 / (1 + MAX_OVERHEAD) if number == 1 else MIN_SPEEDUP)
        rows.append(
            [
                f"local:{number}" + (" (more than cores)" if number > cores else ""),
                f"{found['start']:.1f}",
                *(f"{found['build']:.1f}", f"{plain_build / found['build']:.2f}"),
                *(f"{found['first']:.2f}", f"{found['run']:.3f}", f"{found['plain']:.3f}", f"{speed:.2f}"),
                *(f"{found['run_cpu']:.2f}", f"{found['plain_cpu']:.2f}"),
            ]
        )
    print(f"{n_docs:,} documents, {len(topics):,} topics, k={DEPTH}, {cores} cores; ")
    print(f"one process builds in {plain_build:.1f} s (jobs=1)\n")
    head = ["", "start s", "build s", "times as fast", "first run s", "run s", "one process s", "times as fast"]
    print(table([*head, "CPU s of all", "of one process"], rows), flush=True)
    sent, returned = known.get("bytes", lambda: count_bytes(work / "plain", topics))
    print(f"\nbytes of a topic: {sent:,.0f} to the worker, {returned:,.0f} back (k={DEPTH})\n")
    print(f"By shards (`--divide shards`), k={DEPTH}:\n")
    head = ["", "shards", "first run s", "run s", "bytes of a topic to the workers", "bytes back"]
    print(
        table(head, [describe_shards(number, known.get(f"workers {number}", dict)) for number in workers]), flush=True
    )
    return is_fast


def describe_shards(number: int, found: dict[str, float]) -> list[str]:
    times = f"{found['shards_first']:.2f}", f"{found['shards']:.3f}"
    moved = f"{found['shards_sent']:,.0f}", f"{found['shards_returned']:,.0f}"
    return [f"local:{number}", f"{found['n_shards']:.0f}", *times, *moved]


def report_model(
    known: Measurements,
    work: Path,
    sources: dict[int, Path],
    sizes: list[tuple[int, int]],
    largest: int,
    topics: list[searchlab.Topic],
    workers: list[int],
) -> bool:
    """Fit the model, compare it with the largest size, and extrapolate; returns whether it is close."""

    def measure(n_docs: int, n_parts: int) -> Point:
        return Point(
            **known.get(
                f"{n_docs} documents, {n_parts or 'full'} parts",
                lambda: measure_size(work, sources[n_docs], n_docs, n_parts, topics),
            )
        )

    points = [measure(*size) for size in sizes]
    measured = measure(largest, 0)
    gathers = {
        number: known.get(f"asking {number} workers", lambda number=number: measure_gathering(number))
        for number in ASKED_WORKERS
    }
    model = CostModel.of(points, {number: gathers[number] for number in ASKED_WORKERS[:-1]})
    is_close = compare(model, points, measured)
    cores = len(os.sched_getaffinity(0))
    builds = {number: known.get(f"workers {number}", dict)["build"] for number in workers if number <= cores}
    is_close &= compare_builds(model, largest, builds)
    is_close &= compare_gathering(model, gathers)
    print_formulas(model, measured, builds, gathers)
    print_extrapolation(model, measured)
    return is_close


if __name__ == "__main__":
    main()
