"""Throughput of many queries at once: a loop of single searches, `search_many`, and bm25s's batch.

    python benchmarks/batch.py                        # 100,000 synthetic documents
    python benchmarks/batch.py --index indexes/mine   # an index of the synthetic collection that is there already

Every way is measured several times in turn, and the best time counts: other work on the machine only adds. Besides the
time, the processor time is printed: threads that only wait for each other would need more of it, not less time.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from collection import make_queries, write_collection

import searchlab

ROUNDS = 7
DEPTHS = (10, 1000)


def measure(ways: dict[str, Callable[[], Any]]) -> dict[str, tuple[float, float]]:
    """The best time, and the best processor time, of each way."""
    best: dict[str, tuple[float, float]] = {}
    for way in ways.values():
        way()
    for _ in range(ROUNDS):
        for name, way in ways.items():
            began, used = time.perf_counter(), time.process_time()
            way()
            found = time.perf_counter() - began, time.process_time() - used
            best[name] = tuple(map(min, best.get(name, found), found))  # type: ignore[assignment]
    return best


def make_bm25s(path: Path, queries: list[str], depth: int) -> dict[str, Callable[[], Any]]:
    """bm25s's batch, with one thread and with all; its scores are those of the same formula."""
    if find_spec("bm25s") is None:
        return {}
    import bm25s

    documents = [f"{document.title} {document.body}" for document in searchlab.read_documents(path)]
    retriever = bm25s.BM25(method="lucene", k1=1.2, b=0.75, backend="numba")
    retriever.index(bm25s.tokenize(documents, stopwords=None, show_progress=False), show_progress=False)
    tokens = bm25s.tokenize(queries, stopwords=None, show_progress=False, return_ids=False)
    return {
        f"bm25s, {n} threads": lambda n=n: retriever.retrieve(tokens, k=depth, show_progress=False, n_threads=n)
        for n in {1, os.cpu_count() or 1}
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--index", type=Path, help="search this index; bm25s is left out")
    parser.add_argument("--repeat", type=int, default=4, help="how often the 106 queries are repeated")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        collection, folder = Path(work) / "collection.jsonl", options.index or Path(work) / "index"
        if options.index is None:
            write_collection(collection, options.documents)
            searchlab.index(collection, folder)
        queries = make_queries() * options.repeat
        topics = [searchlab.Topic(str(number), text) for number, text in enumerate(queries)]
        jobs = len(os.sched_getaffinity(0))
        with searchlab.open(folder) as engine:
            for depth in DEPTHS:

                def loop(depth: int = depth) -> None:
                    for text in queries:
                        _ = engine.search(text, k=depth).docnos

                ways: dict[str, Callable[[], Any]] = {
                    "a loop of searches": loop,
                    "search_many, 1 thread": lambda depth=depth: engine.search_many(topics, k=depth, jobs=1),
                    f"search_many, {jobs} threads": lambda depth=depth: engine.search_many(topics, k=depth, jobs=jobs),
                }
                if options.index is None:
                    ways |= make_bm25s(collection, queries, depth)
                found = measure(ways)
                first = found["a loop of searches"][0]
                print(f"{len(engine):,} documents, {len(queries):,} queries, the best {depth}")
                for name, (seconds, used) in found.items():
                    rate = f"{len(queries) / seconds:8,.0f} queries/s"
                    print(f"  {name:24} {rate}  {first / seconds:5.2f} times the loop, processor time {used:.2f} s")


if __name__ == "__main__":
    main()
