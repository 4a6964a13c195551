"""Throughput, latency and memory of the server.

    python benchmarks/serve.py                          # OHSUMED's size: builds the index first, ten minutes
    python benchmarks/serve.py --work DIR               # keeps the index in DIR, or takes it from there
    python benchmarks/serve.py --documents 35000 --requests 2000

`searchlab serve` runs as users run it. A client in a second process (`load.py`) requests searches, re-rankings, pages
and suggestions, as fast as they are answered and at a fixed rate. The bare engine is measured too, as the upper bound,
and tantivy behind a minimal application (`serve_peer.py`). Memory is recorded during thousands of requests. All answers
of the server are compared with those of the engine; the script fails if they differ, or if a request fails.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.util import find_spec
from itertools import cycle
from pathlib import Path
from statistics import quantiles
from typing import Any
from urllib.parse import quote

from engines import ENGINES
from report import OURS
from serve_report import describe_machine, print_report
from server_process import Server, free_port, served

OHSUMED = 348_566
HERE = Path(__file__).parent
PEER = "tantivy"
K = 10
# The default features and first stage: up to 400 candidates, the 200 best by BM25 and the 200 best by RM3.
FEATURES = "compact"
# The fields of each hit that are compared.
COMPARED = ("rank", "score", "docno", "title", "snippet", "marks")
SYSTEMS = ("bm25", f"model:{FEATURES}")
ROUNDS = 3
# Memory is recorded this many times.
N_SAMPLES = 10
# Connections at the fixed rate: the number of requests that can be under way.
MAX_CONNECTIONS = 64
# While memory is recorded, one query in this many has a word that no document has.
UNKNOWN_WORD_INTERVAL = 50


KINDS: dict[str, Callable[[str], str]] = {
    "search": lambda text: f"/api/search?k={K}&q={quote(text)}",
    "re-ranking": lambda text: f"/api/search?k={K}&system={quote(SYSTEMS[1])}&q={quote(text)}",
    "page": lambda text: f"/?q={quote(text)}",
    "suggestions": lambda text: f"/api/suggest?q={quote(text[:-3])}",
}


# Steps in separate processes: building the index, and the answers and times of the engine without a server.


def build_step(work: str, n_docs: str) -> None:
    from collection import make_queries, write_collection

    collection = Path(work, f"collection-{n_docs}.jsonl")
    write_collection(collection, int(n_docs))
    Path(work, "queries.json").write_text(json.dumps(make_queries()))
    for engine in (OURS, PEER):
        folder = Path(work, f"{engine}-{n_docs}")
        if not folder.exists() and find_spec(ENGINES[engine].module) is not None:
            ENGINES[engine].index(collection, folder)
    from searchlab.features.latent_semantics.semantic_space import FOLDER, build_space

    index = Path(work, f"{OURS}-{n_docs}")
    if not (index / FOLDER).exists():
        build_space(index)


def engine_step(index: str, model: str, queries: str) -> dict[str, Any]:
    """All answers, and milliseconds for each: the upper bound for any server in one process."""
    import numpy as np

    import searchlab
    from searchlab.features.feature_sets import FEATURE_SETS
    from searchlab.features.preprocessing.preprocessor import Preprocessor
    from searchlab.rankers.bundle import Bundle
    from searchlab.rankers.first_stage import FirstStage
    from searchlab.rankers.models.linear_model import LinearModel
    from searchlab.rankers.reranking import Reranker

    features = tuple(FEATURE_SETS[FEATURES])
    weights = np.random.default_rng(1).uniform(0, 1, len(features))
    bundle = Bundle("linear", {}, LinearModel(weights), features, Preprocessor.named(), first_stage=FirstStage())
    bundle.save(model)
    engine = searchlab.open(index)
    reranker = Reranker(engine, searchlab.rankers.bundle.load_bundle(model))
    answers, times = {}, {}
    for name, search in zip(SYSTEMS, (engine.search, reranker.pipeline().search), strict=True):
        texts = json.loads(Path(queries).read_text())
        answers[name] = {text: [as_record(hit) for hit in search(text, k=K)] for text in texts}
        times[name] = []
        for text in texts * ROUNDS:
            began = time.perf_counter()
            list(search(text, k=K))
            times[name].append(1000 * (time.perf_counter() - began))
    return {"answers": answers, "times": times}


def as_record(hit: Any) -> dict[str, Any]:
    """A hit as the server sends it."""
    return {name: value for name, value in hit.to_json().items() if name != "fields"}


STEPS = {"build": build_step, "engine": engine_step}


def run_step(name: str, *arguments: object) -> Any:
    return run_script(__file__, "step", name, *map(str, arguments))


def run_script(*command: str | Path) -> Any:
    done = subprocess.run([sys.executable, "-W", "ignore", *command], stdout=subprocess.PIPE, check=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])


# Measurements


def load(server: Server, paths: Path, connections: int, seconds: float, **more: float) -> dict[str, Any]:
    """Put a server under load, and return the figures."""
    before = server.processor()
    request = {"port": server.port, "paths": str(paths), "connections": connections, "seconds": seconds, **more}
    record = run_script(HERE / "load.py", json.dumps(request))
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


def write_paths(work: Path, texts: list[str], n_mixed: int) -> dict[str, Path]:
    """Files of the paths to request, by kind."""
    chance = random.Random(1)
    words = sorted({word for text in texts for word in text.split()})
    new = [" ".join(chance.sample(words, chance.randint(2, 6))) for _ in range(n_mixed)]
    # Some unknown words: their corrections are computed, and must not stay in memory.
    new = [
        f"{text} unheard{number}of" if number % UNKNOWN_WORD_INTERVAL == 0 else text for number, text in enumerate(new)
    ]
    paths = {kind: [make(text) for text in texts] for kind, make in KINDS.items()}
    paths["mixture"] = [make(text) for make, text in zip(cycle(KINDS.values()), new, strict=False)]
    files = {kind: work / "paths" / f"{kind}.json" for kind in paths}
    for kind, file in files.items():
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps(paths[kind]))
    return files


def differences(server: Server, answers: dict[str, dict[str, list[dict[str, Any]]]]) -> list[str]:
    """The queries for which the answers of server and engine differ."""
    wrong = []
    for system, expected in answers.items():
        for text, records in expected.items():
            hits = server.get(f"/api/search?k={K}&system={quote(system)}&q={quote(text)}")["hits"]
            if [{name: hit[name] for name in COMPARED} for hit in hits] != records:
                wrong.append(f"{system}: {text}")
    return wrong


def watch_memory(server: Server, paths: Path, n_requests: int) -> list[tuple[int, float, float]]:
    """Memory during the requests, beginning with that of a server that has warmed up."""
    samples = [(0, *server.memory())]
    for number in range(1, N_SAMPLES + 1):
        load(server, paths, 16, 3600, most=n_requests // N_SAMPLES, first=n_requests // N_SAMPLES * (number - 1))
        samples.append((number * n_requests // N_SAMPLES, *server.memory()))
    return samples


def run(options: argparse.Namespace, work: Path) -> bool:
    """Measure and print; returns whether the server answers all requests, and as the engine does."""
    note(f"{options.documents:,} documents: indexes")
    run_step("build", work, options.documents)
    texts = json.loads((work / "queries.json").read_text())
    index, model = work / f"{OURS}-{options.documents}", work / f"{FEATURES}.json"
    note("the bare engine")
    bare = run_step("engine", index, model, work / "queries.json")
    paths = write_paths(work, texts, options.requests)
    print(f"{options.documents:,} documents. {describe_machine([OURS, 'starlette', 'uvicorn', PEER])}", end="\n\n")
    figures: list[dict[str, Any]] = []
    command = [Path(sys.executable).with_name(OURS), "serve", "-i", index, "--model", model, "--port", "0"]
    with served(OURS, command) as server:
        note("answers")
        wrong = differences(server, bare["answers"])
        for text in wrong:
            note(f"differs from the engine: {text}")
        for kind in KINDS:
            for connections in options.connections:
                note(f"{kind}, {connections} connections")
                figures.append(load(server, paths[kind], connections, options.seconds))
        for kind, rate in (("search", options.rate), ("re-ranking", options.rate / 3)):
            note(f"{kind}, {rate:g}/s")
            figures.append(load(server, paths[kind], MAX_CONNECTIONS, 2 * options.seconds, rate=rate))
        note(f"memory, {options.requests:,} requests")
        samples = watch_memory(server, paths["mixture"], options.requests)
    peer = work / f"{PEER}-{options.documents}"
    if peer.exists():
        port = free_port()
        with served(PEER, [sys.executable, HERE / "serve_peer.py", peer, str(port)], port) as server:
            load(server, paths["search"], 4, 1)  # warms up
            for connections in options.connections:
                note(f"{PEER}, {connections} connections")
                figures.append(load(server, paths["search"], connections, options.seconds))
            figures.append(load(server, paths["search"], MAX_CONNECTIONS, 2 * options.seconds, rate=options.rate))
    print_report(options.rate, bare["times"], figures, samples)
    failed = sum(figure["failed"] for figure in figures if figure["server"] == OURS)
    print(f"\nsame answers as the engine: {'no' if wrong else 'yes'}; requests that failed: {failed}")
    if options.json:
        record = {"engine": bare["times"], "figures": figures, "memory": samples, "wrong": wrong}
        options.json.write_text(json.dumps(record, indent=2))
    return not wrong and not failed


def note(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=OHSUMED)
    parser.add_argument("--connections", type=lambda text: [int(n) for n in text.split(",")], default=[1, 4, 16])
    parser.add_argument("--seconds", type=float, default=10, help="duration of each load")
    parser.add_argument("--rate", type=float, default=300, help="searches/s at the fixed rate; a third for re-ranking")
    parser.add_argument("--requests", type=int, default=20_000, help="number of requests while memory is recorded")
    parser.add_argument("--work", type=Path, help="a folder that keeps the indexes [default: a temporary one]")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures to this file")
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
