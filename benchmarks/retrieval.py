"""Speed of indexing and searching, compared with other engines.

    python benchmarks/retrieval.py                          # OHSUMED's size; Whoosh alone takes half an hour
    python benchmarks/retrieval.py --documents 35000        # some minutes
    python benchmarks/retrieval.py --engines bm25s,tantivy  # without Whoosh

Every step runs in a process of its own, so that its memory and its imports are its own. searchlab's rankings are
compared with a brute-force computation; the script fails if they differ.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

from engines import ENGINES
from process_memory import PeakMemory
from report import (
    LIMITS,
    OURS,
    ColdStart,
    Measurement,
    Target,
    compare,
    engine_table,
    growth_table,
    make_targets,
    ratio_table,
)

OHSUMED = 348_566
GROWTH = (35_000, 100_000, OHSUMED)
SLOW_FROM = 35_000  # documents; above, slow engines are asked only the first queries
SLOW_QUERIES = 20
CHECKED_QUERIES = 20
CHECKED_DEPTH = 1000


# Steps, each in a process of its own: arguments are strings, the result is printed as JSON.


def collection_step(path: str, queries: str, n_docs: str) -> None:
    from collection import make_queries, write_collection

    write_collection(Path(path), int(n_docs))
    Path(queries).write_text(json.dumps(make_queries()))


def index_step(engine: str, collection: str, folder: str) -> dict[str, Any]:
    began = time.perf_counter()
    with PeakMemory() as memory:
        ENGINES[engine].index(Path(collection), Path(folder))
    files = [path for path in Path(folder).rglob("*") if path.is_file()]
    for path in files:
        with path.open("rb+") as file:
            os.fsync(file)  # not every engine does
    return {
        "index_seconds": time.perf_counter() - began,
        "index_bytes": sum(path.stat().st_size for path in files),
        "source_bytes": Path(collection).stat().st_size,
        "index_peak": memory.peak or peak_memory(),
    }


def query_step(engine: str, folder: str, queries: str, n_queries: str, rounds: str) -> dict[str, Any]:
    texts = json.loads(Path(queries).read_text())[: int(n_queries)]
    began = time.perf_counter()
    search, docnos = ENGINES[engine].open(Path(folder))
    opened = time.perf_counter()
    search(texts[0], LIMITS[0])
    answered = time.perf_counter()
    times = {}
    for k in LIMITS:
        times[str(k)] = time_queries(lambda text, k=k: search(text, k), texts, int(rounds))
        times[f"{k} docnos"] = time_queries(lambda text, k=k: docnos(search(text, k)), texts, int(rounds))
    return {
        "n_queries": len(texts),
        "open_seconds": opened - began,
        "first_query_seconds": answered - opened,
        "query_peak": peak_memory(),
        "times": times,
    }


def time_queries(search: Callable[[str], Any], texts: list[str], rounds: int) -> list[float]:
    """Ask all queries once to warm up, then round after round: the same one never comes twice in a row."""
    for text in texts:
        search(text)
    times = []
    for text in texts * rounds:
        began = time.perf_counter()
        search(text)
        times.append(time.perf_counter() - began)
    return times


def exact_step(collection: str, folder: str, queries: str) -> list[str]:
    """The queries whose rankings are not what the formula says: documents, order or scores."""
    import numpy as np
    from brute_force import rank, read_texts

    import searchlab

    texts = json.loads(Path(queries).read_text())[:CHECKED_QUERIES]
    counted = read_texts(Path(collection), {word for text in texts for word in text.split()})
    engine = searchlab.open(folder)
    wrong = []
    for text in texts:
        hits = engine.search(text, k=CHECKED_DEPTH)
        docnos, scores = zip(*rank(counted, text, CHECKED_DEPTH), strict=True)
        if hits.docnos != list(docnos) or not np.allclose(hits.scores, scores, rtol=0, atol=1e-9):
            wrong.append(text)
    return wrong


def peak_memory() -> int:
    """The most bytes that this process had in memory, and its children: as many as cores, the largest counts."""
    own, largest_child = (resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    unit = 1 if sys.platform == "darwin" else 1024
    return unit * (own + largest_child * (os.cpu_count() or 1))


STEPS = {"collection": collection_step, "index": index_step, "query": query_step, "exact": exact_step}


def run_step(name: str, *arguments: object) -> Any:
    command = [sys.executable, "-W", "ignore", __file__, "step", name, *map(str, arguments)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])


# What the parent does with them.


def measure(engine: str, n_docs: int, rounds: int, work: Path) -> Measurement:
    note(f"{n_docs:,} documents: {engine}")
    folder, queries = work / f"{engine}-{n_docs}", work / "queries.json"
    shutil.rmtree(folder, ignore_errors=True)
    is_slow = ENGINES[engine].is_slow
    n_queries = SLOW_QUERIES if is_slow and n_docs > SLOW_FROM else len(json.loads(queries.read_text()))
    indexed = run_step("index", engine, collection_file(work, n_docs), folder)
    asked = run_step("query", engine, folder, queries, n_queries, 1 if is_slow else rounds)
    return Measurement(engine, n_docs, **indexed, **asked)


def is_exact(n_docs: int, work: Path) -> bool:
    note(f"{n_docs:,} documents: brute force")
    wrong = run_step("exact", collection_file(work, n_docs), work / f"{OURS}-{n_docs}", work / "queries.json")
    for text in wrong:
        note(f"wrong ranking: {text}")
    return not wrong


def start_cold(n_docs: int, work: Path) -> ColdStart:
    command = Path(sys.executable).with_name("searchlab")
    text = " ".join(json.loads((work / "queries.json").read_text())[0].split()[:3])
    return ColdStart(
        time_command([command, "query", text, "-i", work / f"{OURS}-{n_docs}"]),
        time_command([command, "--help"]),
    )


def time_command(command: list[str | Path]) -> float:
    """The median of five runs."""
    times = []
    for _ in range(5):
        began = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        times.append(time.perf_counter() - began)
    return median(times)


def collection_file(work: Path, n_docs: int) -> Path:
    return work / f"collection-{n_docs}.jsonl"


def available(names: list[str]) -> list[str]:
    """searchlab, and those of the engines that are installed."""
    found = [OURS]
    for name in names:
        if name not in ENGINES:
            sys.exit(f"unknown engine {name!r}; expected {', '.join(ENGINES)}")
        if find_spec(ENGINES[name].module) is None:
            print(f"{name} is not installed, and left out.\n")
        elif name != OURS:
            found.append(name)
    return found


def describe(names: list[str]) -> str:
    """The machine, and the engines with their versions."""
    lines = [f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}.", ""]
    engines = [(name, ENGINES[name]) for name in names]
    lines += [f"- {name} {version(engine.distribution or engine.module)}: {engine.remark}" for name, engine in engines]
    lines += [
        f"- {name} is asked once, and above {SLOW_FROM:,} documents only {SLOW_QUERIES} queries; ratios to it are "
        "over the same queries"
        for name in names
        if ENGINES[name].is_slow
    ]
    return "\n".join(lines)


def note(message: str) -> None:
    print(message, file=sys.stderr)


def run(options: argparse.Namespace, work: Path) -> bool:
    """Measure, and print; whether all of searchlab's rankings are exact."""
    names = available(options.engines)
    print(describe(names), end="\n\n")
    targets: list[Target] = []
    growth: list[Measurement] = []
    record: dict[str, Any] = {"measurements": [], "cold_start": {}, "exact": {}}
    for n_docs in sorted({*options.documents, *options.sizes}):
        note(f"{n_docs:,} documents: collection")
        run_step("collection", collection_file(work, n_docs), work / "queries.json", n_docs)
        chosen = names if n_docs in options.documents else [OURS]
        measured = [measure(name, n_docs, options.rounds, work) for name in chosen]
        growth.append(measured[0])
        record["measurements"] += map(asdict, measured)
        print(f"## {n_docs:,} documents\n\n{engine_table(measured)}\n")
        if n_docs in options.documents:
            comparisons = compare(measured)
            cold = start_cold(n_docs, work)
            targets = make_targets(comparisons, cold)
            record["cold_start"][n_docs] = asdict(cold)
            if comparisons:
                print(f"{ratio_table(comparisons)}\n")
            print(f"From a cold start: `query` {cold.query:.2f} s, `--help` {cold.help:.2f} s\n")
        record["exact"][n_docs] = is_exact(n_docs, work)
        print(f"exact: {'yes' if record['exact'][n_docs] else 'no'}\n")
    print(f"## Growth\n\n{growth_table(growth)}\n")
    print(f"## Targets, at {max(options.documents):,} documents\n")
    print(*targets, sep="\n")
    if options.json:
        options.json.write_text(json.dumps(record, indent=2))
    return all(record["exact"].values())


def parse_arguments() -> argparse.Namespace:
    def sizes(text: str) -> list[int]:
        return [int(size) for size in text.split(",")]

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=sizes, default=[OHSUMED], help="sizes at which engines are compared")
    parser.add_argument("--sizes", type=sizes, help="sizes at which searchlab's growth is shown")
    parser.add_argument("--engines", type=lambda text: text.split(","), default=list(ENGINES))
    parser.add_argument("--rounds", type=int, default=3, help="how often each query is timed")
    parser.add_argument("--work", type=Path, help="a folder that keeps the collections [default: a temporary one]")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all measurements here")
    options = parser.parse_args()
    if options.sizes is None:
        options.sizes = [size for size in GROWTH if size <= max(options.documents)]
    if min(*options.documents, *options.sizes, OHSUMED) < CHECKED_DEPTH:
        parser.error(f"a collection needs at least {CHECKED_DEPTH} documents")
    return options


def main() -> None:
    options = parse_arguments()
    sys.stdout.reconfigure(line_buffering=True)
    if options.work:
        options.work.mkdir(parents=True, exist_ok=True)
        exact = run(options, options.work)
    else:
        with tempfile.TemporaryDirectory() as work:
            exact = run(options, Path(work))
    sys.exit(0 if exact else 1)


if __name__ == "__main__":
    if sys.argv[1:2] == ["step"]:
        print(json.dumps(STEPS[sys.argv[2]](*sys.argv[3:])))
    else:
        main()
