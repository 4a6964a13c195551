"""Cost and effectiveness of the latent semantic space.

    python benchmarks/semantic.py indexes/medical …        # time, memory and size of the spaces of indexes
    python benchmarks/semantic.py --collections DIR        # and quality on collections, as `quality.py` reads them
    python benchmarks/semantic.py --exact …                # beside scipy's svds, which is exact

Each space is made in a process of its own, in a temporary folder; the indexes stay as they are. Quality is that of the
best 200 documents of BM25, ordered by the sum of the z-scores of BM25 and of the cosine with the query.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from report import table

import searchlab
from searchlab.features.latent_semantics import semantic_space
from searchlab.features.latent_semantics.semantic_space import SemanticSpace, build_space
from searchlab.features.latent_semantics.term_weights import TermWeights, weigh_documents
from searchlab.features.latent_semantics.truncated_svd import decompose
from searchlab.indexing.blockwise.workspace import IN_MEMORY
from searchlab.indexing.snapshot import Snapshot
from searchlab.retrieval.results import Hits
from searchlab.types import no_progress

DIMS = (50, 100, 200)
DEPTH = 200
N_CANDIDATES = 1000
HEADER = [
    "index",
    "documents",
    "terms",
    "weighing s",
    "decomposing s",
    "projecting s",
    "all s",
    "peak MB",
    "MB on disk",
]
HEADER += ["open ms", f"{N_CANDIDATES} vectors ms", "the same, folded in, ms"]


def measure(folder: str) -> dict[str, float]:
    """Make the space of an index and use it once, in this process."""
    spent = dict.fromkeys(("weighing", "decomposing", "projecting"), 0.0)
    began = last = time.perf_counter()

    def clock(stage: str, done: int, total: int) -> None:
        nonlocal last
        now = time.perf_counter()
        spent[stage] += now - last
        last = now

    with tempfile.TemporaryDirectory() as work:
        made = build_space(folder, progress=clock, home=Path(work) / "space")
        seconds = time.perf_counter() - began
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
        snapshot = made.snapshot
        opening, space = timed(lambda: SemanticSpace.open(snapshot, home=made.home))
        rng = np.random.default_rng(0)
        shards = rng.integers(len(snapshot.shards), size=N_CANDIDATES)
        docs = (rng.random(N_CANDIDATES) * [snapshot.shards[place].columns.n_docs for place in shards]).astype(int)
        reading = min(timed(lambda: space.vectors(shards, docs))[0] for _ in range(5))
        space._vectors.stored.clear()
        folding, _ = timed(lambda: space.vectors(shards, docs))
        return spent | {
            "documents": snapshot.n_docs,
            "terms": made.record.n_terms,
            "all": seconds,
            "peak": peak / 1e6,
            "disk": made.n_bytes / 1e6,
            "opening": 1000 * opening,
            "reading": 1000 * reading,
            "folding": 1000 * folding,
        }


def timed(work: Callable[[], SemanticSpace | np.ndarray]) -> tuple[float, SemanticSpace | np.ndarray]:
    began = time.perf_counter()
    result = work()
    return time.perf_counter() - began, result


def measure_apart(folder: Path) -> list[str]:
    """A row of figures, from a process of its own: memory is that of this one index."""
    command = [sys.executable, __file__, "--measure", str(folder)]
    found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    seconds = [f"{found[stage]:.2f}" for stage in ("weighing", "decomposing", "projecting", "all")]
    sizes = [f"{found['peak']:,.0f}", f"{found['disk']:,.1f}"]
    times = [f"{found[name]:.2f}" for name in ("opening", "reading", "folding")]
    return [folder.name, f"{found['documents']:,}", f"{found['terms']:,}", *seconds, *sizes, *times]


def compare_exact(folder: Path, dims: int = semantic_space.DIMS) -> list[str]:
    """How long svds takes for the same matrix, and how much of its space is in ours."""
    from scipy.sparse.linalg import svds

    snapshot = Snapshot(folder)
    A = weigh_documents(IN_MEMORY, snapshot, TermWeights.count(snapshot), no_progress)
    ours, V = timed(lambda: decompose(A, dims, semantic_space.SEED, no_progress))
    whole = A.whole().astype(np.float32)
    start = np.random.default_rng(0).standard_normal(min(A.shape)).astype(np.float32)
    theirs, found = timed(lambda: svds(whole, dims, v0=start)[2][::-1].T)
    shares = [np.linalg.norm(found[:, :n].T @ V[:, :n]) ** 2 / n for n in (50, dims)]
    return [folder.name, f"{ours:.2f}", f"{theirs:.2f}", *(f"{share:.4f}" for share in shares)]


def evaluate(folder: Path, index: Path) -> Iterator[list[str]]:
    """AP and nDCG@10 of a collection's topics, by BM25 and by its mixture with the space."""
    import ir_measures
    from ir_measures import AP, nDCG
    from quality import find, read_text

    qrels = list(ir_measures.read_trec_qrels(read_text(find(folder, "qrels.txt"))))
    engine = searchlab.open(index)
    space = build_space(index)
    topics = {
        topic.qid: engine.search(topic.text, k=DEPTH) for topic in searchlab.read_topics(find(folder, "topics.tsv"))
    }

    def mix(hits: Hits, dims: int) -> np.ndarray:
        query = space.query_vector({term.text: term.count for term in hits.query.terms}, dims)
        return standardise(hits.scores) + standardise(space.vectors(hits.shards, hits.docs, dims) @ query)

    ways: dict[str, Callable[[Hits], np.ndarray]] = {"BM25": lambda hits: hits.scores}
    ways |= {f"and {dims} dimensions": lambda hits, dims=dims: mix(hits, dims) for dims in DIMS}
    for name, score in ways.items():
        run = [
            ir_measures.ScoredDoc(qid, docno, value)
            for qid, hits in topics.items()
            for docno, value in zip(hits.docnos, score(hits).tolist(), strict=True)
        ]
        means = ir_measures.calc_aggregate([AP, nDCG @ 10], qrels, run)
        yield [folder.name, name, f"{means[AP]:.4f}", f"{means[nDCG @ 10]:.4f}"]


def standardise(values: np.ndarray) -> np.ndarray:
    spread = values.std() if len(values) else 0.0
    return (values - values.mean()) / spread if spread else np.zeros(len(values))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("indexes", nargs="*", type=Path, metavar="INDEX")
    parser.add_argument("--collections", type=Path, metavar="DIR", help="collections to be indexed and searched")
    parser.add_argument("--exact", action="store_true", help="compare with svds, which takes longer")
    parser.add_argument("--measure", metavar="INDEX", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(options.measure)))
        return
    with tempfile.TemporaryDirectory() as work:
        collections = (
            sorted(path.parent for path in options.collections.glob("*/docs.jsonl*")) if options.collections else []
        )
        made = [Path(work) / folder.name for folder in collections]
        for folder, index in zip(collections, made, strict=True):
            searchlab.index(next(folder.glob("docs.jsonl*")), index)
        indexes = [*options.indexes, *made]
        if not indexes:
            parser.error("expected an index, or --collections DIR")
        print(table(HEADER, map(measure_apart, indexes)))
        if options.exact:
            header = ["index", "ours s", "svds s", "common share, 50 dimensions", f"{semantic_space.DIMS} dimensions"]
            print("\n" + table(header, map(compare_exact, indexes)))
        rows = [row for folder, index in zip(collections, made, strict=True) for row in evaluate(folder, index)]
        if rows:
            print("\n" + table(["collection", "ranked by", "AP", "nDCG@10"], rows, n_labels=2))


if __name__ == "__main__":
    main()
