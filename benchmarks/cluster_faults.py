"""Workers of a local cluster are killed (SIGKILL) at random times, whatever it is at.

That is: indexing, merging, running topics by topics and by shards, features, training, and a semantic space.

    python benchmarks/cluster_faults.py [--kills 100] [--documents 3000] [--seed 1] [--seconds 0.8]

Each operation is repeated until its share of the kills is done, and its result compared with that of one process: the
documents and the run of the index, the run file and the model to the last byte. The next writer must leave no shard
that the manifest does not name, unless a worker still reads it. Exit code 1 if anything differs.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil  # type: ignore[import-untyped]

import searchlab
from searchlab.features.latent_semantics.semantic_space import build_space
from searchlab.indexing.blockwise import document_blocks
from searchlab.indexing.parts import cluster_build
from searchlab.indexing.storage.lock import lock_shard_exclusively, unlock
from searchlab.training.recipe import Recipe

N_TOPICS = 40
SPACE_DIMS = 200
SWEEP_SECONDS = 20.0


class WorkerKills:
    """Kills a random worker of a local cluster again and again, in a thread."""

    def __init__(self, cluster: searchlab.Cluster, n_kills: int, seed: int, seconds: float) -> None:
        assert cluster._processes is not None
        self._nanny = psutil.Process(cluster._processes._processes[1].pid)
        self._n_wanted = n_kills
        self._random = random.Random(seed)
        self._seconds = seconds
        self._stopped = threading.Event()
        self.n_kills = 0

    @property
    def is_done(self) -> bool:
        """Whether all kills are done."""
        return self.n_kills >= self._n_wanted

    def _run(self) -> None:
        while not self.is_done and not self._stopped.wait(self._random.uniform(0.2, 1.8) * self._seconds):
            workers = [child for child in self._nanny.children() if "resource_tracker" not in " ".join(_command(child))]
            if workers:
                try:
                    os.kill(self._random.choice(workers).pid, signal.SIGKILL)
                except ProcessLookupError:
                    continue
                self.n_kills += 1

    @contextmanager
    def going_on(self) -> Iterator[WorkerKills]:
        """Kill as long as the block lasts, or until all kills are done."""
        thread = threading.Thread(target=self._run)
        thread.start()
        try:
            yield self
        finally:
            self._stopped.set()
            thread.join()


def _command(process: psutil.Process) -> list[str]:
    try:
        return list(process.cmdline())
    except psutil.Error:
        return []


def write_documents(path: Path, n_documents: int, seed: int) -> None:
    """JSON lines of random words, with copies of some docnos."""
    draw = random.Random(seed)
    words = [f"word{number}" for number in range(400)]
    with path.open("w") as file:
        for number in range(n_documents):
            docno = f"d{number if number % 50 else number // 2}"
            body = " ".join(draw.choices(words, k=draw.randint(5, 60)))
            file.write(json.dumps({"docno": docno, "title": draw.choice(words), "body": body}) + "\n")


def make_topics(seed: int) -> dict[str, str]:
    draw = random.Random(seed)
    return {str(number): " ".join(f"word{draw.randrange(400)}" for _ in range(4)) for number in range(N_TOPICS)}


def describe_index(folder: Path) -> tuple[list[str], str]:
    """The documents of an index and a run of it."""
    with searchlab.open(folder) as engine:
        documents = sorted(map(repr, engine.snapshot.documents()))
        return documents, run_text(engine.search_many(make_topics(3), k=50))


def is_swept(folder: Path) -> bool:
    """Whether the next writer leaves no shard that the manifest does not name, except those that a worker still reads.

    A task that runs again after its worker was lost may outlive the commit; it ends soon.
    """
    deadline = time.monotonic() + SWEEP_SECONDS
    while time.monotonic() < deadline:
        searchlab.delete(folder, [])
        with searchlab.open(folder) as engine:
            named = {shard.folder.name for shard in engine.snapshot.shards}
        found = {path.name for path in folder.glob("shard-*")}
        if found >= named and all(_is_read(folder / name) for name in found - named):
            return True
    return False


def _is_read(shard: Path) -> bool:
    try:
        unlock(lock_shard_exclusively(shard))
    except OSError as error:
        return isinstance(error, BlockingIOError)
    return False


def run_text(run: searchlab.Run) -> str:
    file = io.StringIO()
    searchlab.write_run(file, run, "run")
    return file.getvalue()


def make_operations(home: Path, n_documents: int, seed: int) -> dict[str, Callable[[searchlab.Cluster | None], object]]:
    """Operations by name: each does its work, on a cluster if there is one, and returns what must be the same."""
    write_documents(home / "docs.jsonl", n_documents, seed)
    base = home / "base"
    searchlab.index(home / "docs.jsonl", base, jobs=1)
    topics = make_topics(seed)
    with searchlab.open(base) as engine:
        found = engine.search_many(topics, k=30)
    qrels = {
        ranking.qid: {docno: (place * 7 + int(ranking.qid)) % 3 for place, docno in enumerate(ranking.docnos)}
        for ranking in found
    }

    def index(cluster: searchlab.Cluster | None) -> object:
        shutil.rmtree(home / "index", ignore_errors=True)
        searchlab.index(home / "docs.jsonl", home / "index", jobs=1, cluster=cluster)
        return describe_index(home / "index")

    def run_shards(cluster: searchlab.Cluster | None) -> object:
        with searchlab.open(home / "index") as engine:
            pipeline = engine.retriever("bm25") >> searchlab.RM3()
            return run_text(pipeline.run(topics, 200, cluster=cluster, divide="shards"))

    def merge(cluster: searchlab.Cluster | None) -> object:
        searchlab.merge(home / "index", cluster=cluster)
        return describe_index(home / "index")

    def run(cluster: searchlab.Cluster | None) -> object:
        with searchlab.open(base) as engine:
            return run_text((engine.retriever("bm25") >> searchlab.RM3()).run(topics, 200, cluster=cluster))

    def features(cluster: searchlab.Cluster | None) -> object:
        with searchlab.open(base) as engine:
            table = searchlab.extract(engine, topics, engine.retriever("bm25") % 20, "letor45", cluster=cluster)
            return table.docnos.tolist(), table.values.tobytes()

    def semantic(cluster: searchlab.Cluster | None) -> object:
        build_space(home / "index", dims=SPACE_DIMS, cluster=cluster)
        with searchlab.open(home / "index") as engine:
            table = searchlab.extract(engine, topics, engine.retriever("bm25") % 20, "semantic")
        return table.docnos.tolist(), table.values.tobytes()

    def train(cluster: searchlab.Cluster | None) -> object:
        recipe = Recipe.for_search("rsvm", n_folds=4, n_parts=2, n_repeats=1)
        with searchlab.open(base) as engine:
            bundle = searchlab.train_from_index(engine, topics, qrels, "letor45", recipe=recipe, cluster=cluster)
        bundle.save(home / "model.json")
        return (home / "model.json").read_text()

    return {
        "index": index,
        "run by shards": run_shards,
        "merge": merge,
        "run": run,
        "features": features,
        "semantic": semantic,
        "train": train,
    }


def kill_workers(home: Path, n_kills: int, n_documents: int, seed: int, seconds: float) -> tuple[int, Counter[str]]:
    """Repeat each operation until its share of the kills is done; returns the number of kills, and of results."""
    cluster_build.MIN_PART_BYTES = 20_000
    document_blocks.BLOCK_WORDS = 10_000  # type: ignore[attr-defined]
    operations = make_operations(home, n_documents, seed)
    expected = {name: operation(None) for name, operation in operations.items()}
    results: Counter[str] = Counter()
    n_done = 0
    with searchlab.Cluster("local:2") as cluster:
        for number, (name, operation) in enumerate(operations.items()):
            share = n_kills * (number + 1) // len(operations) - n_kills * number // len(operations)
            with WorkerKills(cluster, share, seed + number, seconds).going_on() as kills:
                while not kills.is_done:
                    same = operation(cluster) == expected[name]
                    results[f"{name} {'equal' if same else 'different'}"] += 1
            n_done += kills.n_kills
            if not is_swept(home / "index"):
                results[f"{name} not swept, which makes it different"] += 1
    return n_done, results


def main() -> None:
    parser = argparse.ArgumentParser(description="Kills of workers")
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--documents", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=0.8, help="Between two kills, on average")
    chosen = parser.parse_args()
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as home:
        n_kills, results = kill_workers(Path(home), chosen.kills, chosen.documents, chosen.seed, chosen.seconds)
    print(f"{n_kills} workers killed in {time.perf_counter() - began:.0f} s")
    for name, count in sorted(results.items()):
        print(f"{name:20}{count:5}")
    sys.exit(any("different" in name for name in results))


if __name__ == "__main__":
    main()
