"""What a cluster costs and gains on one machine, and what 10⁸ and 10⁹ documents would take by a model of these costs.

    python benchmarks/cluster.py --work /tmp/cluster                 # 348,566 documents, workers 1, 2 and 4
    python benchmarks/cluster.py --documents 50000 --sizes 10000:1,10000:4,25000:2,25000:1
    python benchmarks/cluster.py --work /tmp/cluster --prepare       # only writes the collections

Indexing and a run of 1,000 topics are timed in one process and with worker processes of this machine, which are started
and have opened the index before. Every run is compared with that of one process, to the last byte. More workers than
cores are marked.

The model has two formulas. Their constants are fitted to the times of one worker at the smaller sizes:

    build seconds        = a · documents                       of one worker
    seconds of a topic   = b + c · shards + d · documents       of one process

They are compared with the times at the largest size, which they were not fitted to; exit code 1 if one differs by more
than 20 %.
"""

from __future__ import annotations

import argparse
import io
import os
import pickle
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from collection import make_queries, write_collection
from report import table

import searchlab
from searchlab.indexing.parts import cluster_build
from searchlab.retrieval.composition.cluster_batch import search_topics

ROUNDS = 3
DEPTH = 1000
MAX_ERROR = 0.2
SEED = 5


class Point(NamedTuple):
    """Times of one size: documents and shards, seconds of one worker's build and of a topic in one process."""

    n_docs: int
    n_shards: int
    build: float
    topic: float


def make_topics(n_topics: int) -> list[searchlab.Topic]:
    """Topics of 3 to 8 words of the benchmarks' queries."""
    words = sorted({word for query in make_queries() for word in query.split()})
    rng = np.random.default_rng(SEED)
    texts = [" ".join(rng.choice(words, size=rng.integers(3, 9), replace=False)) for _ in range(n_topics)]
    return [searchlab.Topic(str(number), text) for number, text in enumerate(texts)]


def time_best(work: Callable[[], Any], rounds: int = ROUNDS) -> tuple[float, Any]:
    """The best time of several rounds, and the last result."""
    best, result = np.inf, None
    for _ in range(rounds):
        began = time.perf_counter()
        result = work()
        best = min(best, time.perf_counter() - began)
    return best, result


def build(source: Path, folder: Path, cluster: searchlab.Cluster | None) -> float:
    """The seconds that building an index from scratch takes."""
    shutil.rmtree(folder, ignore_errors=True)
    began = time.perf_counter()
    searchlab.index(source, folder, jobs=1, cluster=cluster)
    return time.perf_counter() - began


def run_text(run: searchlab.Run) -> str:
    file = io.StringIO()
    searchlab.write_run(file, run, "run")
    return file.getvalue()


def time_topic(folder: Path, topics: list[searchlab.Topic]) -> tuple[float, int, str]:
    """The seconds of a topic in one process, the number of shards, and the run file."""
    with searchlab.open(folder) as engine:
        engine.search_many(topics[:50], k=DEPTH, jobs=1)
        seconds, run = time_best(lambda: engine.search_many(topics, k=DEPTH, jobs=1))
        return seconds / len(topics), len(engine.snapshot.shards), run_text(run)


def count_bytes(folder: Path, topics: list[searchlab.Topic]) -> tuple[float, float]:
    """The bytes that a topic takes from the client to a worker, and back."""
    with searchlab.open(folder) as engine:
        pipeline = engine.retriever("bm25")
        sent = pickle.dumps((pipeline, topics, DEPTH, "plain", ()))
        returned = pickle.dumps(search_topics(pipeline, topics, DEPTH, "plain", ()))
    return len(sent) / len(topics), len(returned) / len(topics)


def fit(points: list[Point]) -> tuple[float, np.ndarray]:
    """The constants of both formulas, by least squares of relative errors."""
    docs, shards, builds, times = (np.array(column, float) for column in zip(*points, strict=True))
    rate = float(np.sum(docs / builds) / np.sum((docs / builds) ** 2))
    factors = np.stack([np.ones(len(docs)), shards, docs], axis=1) / times[:, None]
    constants, *_ = np.linalg.lstsq(factors, np.ones(len(docs)), rcond=None)
    return rate, constants


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=348_566)
    parser.add_argument(
        "--sizes", default="50000:1,50000:6,100000:2,150000:1", help="DOCUMENTS:SHARDS, …; the model is fitted to them"
    )
    parser.add_argument("--workers", default="1,2,4")
    parser.add_argument("--topics", type=int, default=1000)
    parser.add_argument("--work", type=Path, help="keep collections and indexes here")
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
        topics = make_topics(options.topics)
        workers = [int(number) for number in options.workers.split(",")]
        is_close = compare(work, sources, sizes, options.documents, workers, topics)
    sys.exit(not is_close)


def compare(
    work: Path,
    sources: dict[int, Path],
    sizes: list[tuple[int, int]],
    largest: int,
    workers: list[int],
    topics: list[searchlab.Topic],
) -> bool:
    """Print all measurements; returns whether the model is close."""
    cores = len(os.sched_getaffinity(0))
    plain_build = build(sources[largest], work / "plain", None)
    plain_topic, plain_shards, expected = time_topic(work / "plain", topics)
    n = len(topics)
    head = ["", "build s", "times as fast", f"{n:,} topics s", "times as fast", "shards of the build"]
    print(f"{largest:,} documents, k={DEPTH}, {cores} cores\n")
    row = ["one process", f"{plain_build:.1f}", "", f"{plain_topic * n:.2f}", "", str(plain_shards)]
    print(table(head, [row]), flush=True)
    points: list[Point] = []
    measured = None
    for number in workers:
        with searchlab.Cluster(f"local:{number}") as cluster:
            seconds = build(sources[largest], work / "index", cluster)
            with searchlab.open(work / "plain") as engine:
                engine.search_many(topics[:50], k=DEPTH, cluster=cluster)
                of_run, run = time_best(
                    lambda engine=engine, cluster=cluster: engine.search_many(topics, k=DEPTH, cluster=cluster)
                )
                assert run_text(run) == expected, "the run differs from that of one process"
            own_topic, n_shards, own_run = time_topic(work / "index", topics)
            assert own_run == expected, "the index differs from that of one process"
            if number == 1:
                measured = Point(largest, n_shards, seconds, own_topic)
                points = [measure_size(work, sources[size], size, n_parts, cluster, topics) for size, n_parts in sizes]
        marked = f"local:{number}" + (" (more than cores)" if number > cores else "")
        row = [
            *(marked, f"{seconds:.1f}", f"{plain_build / seconds:.2f}"),
            *(f"{of_run:.2f}", f"{plain_topic * n / of_run:.2f}", str(n_shards)),
        ]
        print(f"| {' | '.join(row)} |", flush=True)
    sent, returned = count_bytes(work / "plain", topics)
    print(f"\nbytes of a topic: {sent:,.0f} to the worker, {returned:,.0f} back (k={DEPTH})\n")
    return measured is None or print_model(points, measured)


def measure_size(
    work: Path, source: Path, n_docs: int, n_parts: int, cluster: searchlab.Cluster, topics: list[searchlab.Topic]
) -> Point:
    """The times of one size, in `n_parts` shards."""
    before = cluster_build.MIN_PART_BYTES, cluster_build.PARTS_PER_WORKER
    cluster_build.MIN_PART_BYTES, cluster_build.PARTS_PER_WORKER = 1, n_parts
    try:
        seconds = build(source, work / "small", cluster)
    finally:
        cluster_build.MIN_PART_BYTES, cluster_build.PARTS_PER_WORKER = before
    of_topic, n_shards, _ = time_topic(work / "small", topics)
    return Point(n_docs, n_shards, seconds, of_topic)


def print_model(points: list[Point], measured: Point) -> bool:
    """Fit the model, compare it with the largest size, and extrapolate; returns whether it is close."""
    rate, (base, per_shard, per_doc) = fit(points)
    rows = []
    errors = []
    for point in [*points, measured]:
        model = rate * point.n_docs, base + per_shard * point.n_shards + per_doc * point.n_docs
        errors = [model[0] / point.build - 1, model[1] / point.topic - 1]
        rows.append(
            [
                *(f"{point.n_docs:,}", str(point.n_shards)),
                *(f"{point.build:.1f}", f"{model[0]:.1f}", f"{errors[0]:+.0%}"),
                *(f"{point.topic * 1000:.2f}", f"{model[1] * 1000:.2f}", f"{errors[1]:+.0%}"),
            ]
        )
    print(table(["documents", "shards", "build s", "model", "", "topic ms", "model", ""], rows))
    print(
        f"\na = {rate * 1e6:.0f} µs a document; b = {base * 1e3:.2f} ms, c = {per_shard * 1e3:.3f} ms a shard, "
        f"d = {per_doc * 1e9:.2f} ns a document. The last line was not fitted."
    )
    return all(abs(error) <= MAX_ERROR for error in errors)


if __name__ == "__main__":
    main()
