"""Speed of indexing and searching, compared with other engines.

    python benchmarks/retrieval.py                          # OHSUMED's size; Whoosh alone takes half an hour
    python benchmarks/retrieval.py --documents 35000        # some minutes
    python benchmarks/retrieval.py --engines bm25s,tantivy  # without Whoosh
    python benchmarks/retrieval.py --engines bm25s --collection inflected --busy
    python benchmarks/retrieval.py --engines bm25s --collection text --source DIR

Every step runs in a process of its own, so that its memory and its imports are its own. searchlab's rankings are
compared with a brute-force computation; the script fails if they differ.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

from engines import ENGINES
from report import (
    OURS,
    ColdStart,
    Measurement,
    Target,
    compare,
    engine_table,
    growth_table,
    make_targets,
    pruning_table,
    ratio_table,
    table,
)
from retrieval_steps import CHECKED_DEPTH

OHSUMED = 348_566
GROWTH = (35_000, 100_000, OHSUMED)
SLOW_FROM = 35_000  # documents; above, slow engines are asked only the first queries
SLOW_QUERIES = 20
STEPS_FILE = Path(__file__).with_name("retrieval_steps.py")
# Words need no analysis; of the other collections, engines other than searchlab are given the terms.
COLLECTIONS = ("words", "inflected", "text")


def step_command(name: str, *arguments: object) -> list[str]:
    return [sys.executable, "-W", "ignore", str(STEPS_FILE), name, *map(str, arguments)]


def run_step(name: str, *arguments: object) -> Any:
    done = subprocess.run(step_command(name, *arguments), stdout=subprocess.PIPE, check=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])


class Files:
    """The files of one collection in the working folder; engines other than searchlab read the terms."""

    def __init__(self, work: Path, kind: str, n_docs: int) -> None:
        name = f"{kind}-{n_docs}"
        self.collection, self.queries = work / f"{name}.jsonl", work / f"{name}-queries.json"
        self.term_collection, self.term_queries = self.collection, self.queries
        self.has_terms = kind != "words"
        if self.has_terms:
            self.term_collection, self.term_queries = work / f"{name}-terms.jsonl", work / f"{name}-terms-queries.json"
        self._work, self._name = work, name

    def index(self, engine: str) -> Path:
        return self._work / f"{engine}-{self._name}"

    def for_engine(self, engine: str) -> tuple[Path, Path]:
        return (self.collection, self.queries) if engine == OURS else (self.term_collection, self.term_queries)


@contextmanager
def busy_core(*, busy: bool) -> Iterator[None]:
    """Keep another core, and the memory that all share, busy meanwhile."""
    if not busy:
        yield
        return
    with subprocess.Popen(step_command("memory")) as process:
        time.sleep(2)  # until its memory is written
        try:
            yield
        finally:
            process.kill()


def build(engine: str, files: Files, *, reuse: bool) -> dict[str, Any]:
    """Index the collection, or take the index that is there with the figures of its making."""
    folder = files.index(engine)
    figures = folder.with_name(f"{folder.name}.json")
    if not (reuse and figures.exists()):
        source = files.for_engine(engine)[0]
        steps = ["index"] if ENGINES[engine].is_slow else ["peak", "index"]
        measured: dict[str, Any] = {}
        for step in steps:
            shutil.rmtree(folder, ignore_errors=True)
            measured = run_step(step, engine, source, folder) | measured
        figures.write_text(json.dumps(measured))
    if engine == OURS and files.has_terms and not (reuse and files.term_queries.exists()):
        run_step("terms", folder, files.collection, files.queries, files.term_collection, files.term_queries)
    indexed: dict[str, Any] = json.loads(figures.read_text())
    return indexed


def measure(engine: str, n_docs: int, files: Files, options: argparse.Namespace) -> Measurement:
    note(f"{n_docs:,} documents: {engine}")
    indexed = build(engine, files, reuse=options.reuse)
    queries = files.for_engine(engine)[1]
    is_slow = ENGINES[engine].is_slow
    n_queries = SLOW_QUERIES if is_slow and n_docs > SLOW_FROM else len(json.loads(queries.read_text()))
    with busy_core(busy=options.busy):
        asked = run_step("query", engine, files.index(engine), queries, n_queries, 1 if is_slow else options.rounds)
    return Measurement(engine, n_docs, **indexed, **asked)


def index_english(names: list[str], n_docs: int, files: Files) -> str:
    """A table of the speed of indexing the texts themselves, each engine with its own analysis of English."""
    rates: dict[str, float] = {}
    for name in names:
        if ENGINES[name].index_english is None:
            continue
        note(f"{n_docs:,} documents: {name}, its own analysis")
        folder = files.index(name).with_suffix(".english")
        times = []
        for _ in range(2):  # what an engine compiles once in an installation is compiled the second time
            shutil.rmtree(folder, ignore_errors=True)
            times.append(run_step("english", name, files.collection, folder)["index_seconds"])
        shutil.rmtree(folder)
        rates[name] = n_docs / min(times)
    rows = [[name, f"{rate:,.0f}", f"{rates[OURS] / rate:.2f}"] for name, rate in rates.items()]
    return table(["engine, its own English analysis", "documents/s", "searchlab, times as fast"], rows)


def is_exact(n_docs: int, files: Files) -> bool:
    note(f"{n_docs:,} documents: brute force")
    wrong = run_step("exact", files.term_collection, files.index(OURS), files.queries, files.term_queries)
    for text in wrong:
        note(f"wrong ranking: {text}")
    return not wrong


def start_cold(files: Files) -> ColdStart:
    command = Path(sys.executable).with_name("searchlab")
    # The longest words, since the first ones of a real topic may all be stop words.
    text = " ".join(sorted(json.loads(files.queries.read_text())[0].split(), key=len)[-3:])
    return ColdStart(
        time_command([command, "query", text, "-i", files.index(OURS)]),
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
    record: dict[str, Any] = {"measurements": [], "cold_start": {}, "pruning": {}, "exact": {}}
    for n_docs in sorted({*options.documents, *options.sizes}):
        files = Files(work, options.collection, n_docs)
        note(f"{n_docs:,} documents: collection")
        if not (options.reuse and files.queries.exists()):
            run_step("collection", options.collection, files.collection, files.queries, n_docs, options.source)
        chosen = names if n_docs in options.documents else [OURS]
        measured = [measure(name, n_docs, files, options) for name in chosen]
        growth.append(measured[0])
        record["measurements"] += map(asdict, measured)
        print(f"## {n_docs:,} documents ({options.collection})\n\n{engine_table(measured)}\n")
        if files.has_terms and n_docs in options.documents and not options.reuse:
            print(f"{index_english(chosen, n_docs, files)}\n")
        if n_docs in options.documents:
            comparisons = compare(measured)
            with busy_core(busy=options.busy):
                pruning = run_step("pruning", files.index(OURS), files.queries, options.rounds)
            cold = start_cold(files)
            targets = make_targets(comparisons, cold, pruning, busy=options.busy)
            record["cold_start"][n_docs], record["pruning"][n_docs] = asdict(cold), pruning
            if comparisons:
                print(f"{ratio_table(comparisons)}\n")
            print(f"{pruning_table(pruning)}\n")
            print(f"From a cold start: `query` {cold.query:.2f} s, `--help` {cold.help:.2f} s\n")
        record["exact"][n_docs] = is_exact(n_docs, files)
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
    parser.add_argument("--collection", choices=COLLECTIONS, default="words")
    parser.add_argument("--source", type=Path, metavar="DIR", help="the judged collections of `--collection text`")
    parser.add_argument("--busy", action="store_true", help="keep another core busy while queries are timed")
    parser.add_argument("--reuse", action="store_true", help="search what --work has from before, without indexing")
    parser.add_argument("--engines", type=lambda text: text.split(","), default=list(ENGINES))
    parser.add_argument("--rounds", type=int, default=3, help="how often each query is timed")
    parser.add_argument("--work", type=Path, help="a folder that keeps the collections [default: a temporary one]")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all measurements here")
    options = parser.parse_args()
    if options.collection == "text" and options.source is None:
        parser.error("--collection text needs --source DIR")
    if options.reuse and options.work is None:
        parser.error("--reuse needs --work")
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
    main()
