"""Topic models: cost, fit, and what they add to a language model.

    python benchmarks/topic_models.py --collections DIR                # time, memory, perplexity, and quality
    python benchmarks/topic_models.py --collections DIR --only npl     # of one collection
    python benchmarks/topic_models.py --collections DIR --train        # and what MCE training gains, cross-validated

DIR holds collections as `quality.py` reads them; each is indexed in a temporary folder. Time and memory are measured
in a process each, and compared with scikit-learn's NMF with the Kullback–Leibler loss and multiplicative updates, which
maximises the same likelihood, for as many iterations and also in one thread. Perplexity is that of the training words;
on held-out words, a tenth, the perplexity of tempered EM is compared with the lowest that plain EM reaches.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from report import table

import searchlab
from searchlab.indexing.blockwise.document_blocks import BlockReader, divide_documents
from searchlab.indexing.blockwise.workspace import IN_MEMORY
from searchlab.indexing.snapshot import Snapshot
from searchlab.indexing.vocabulary import Vocabulary
from searchlab.mixtures.latent_topic_training import train_latent_topics
from searchlab.scorers.base import Scorer
from searchlab.scorers.plsa import PLSA, TopicModelScorer
from searchlab.scorers.word_topic_model import WTM
from searchlab.topic_models import plsa
from searchlab.topic_models.plsa import learn_latent_topics
from searchlab.topic_models.topic_model_store import build_topic_model

N_TOPICS = (20, 50)
ITERATIONS = 50
FOLDS = 5
WAYS = ("plsa", "wtm", "em", "nmf")
HEADER = ["collection", "by", "documents", "topics", "s", "peak MB", "perplexity"]


def measure(folder: Path, way: str, n_topics: int) -> dict[str, float]:
    """Find topics in this process: seconds, peak memory, perplexity."""
    snapshot = Snapshot(folder)
    if way in ("plsa", "wtm"):
        build_topic_model(folder, method=way, n_topics=1, name="warm")  # compiles
        began = time.perf_counter()
        perplexity = build_topic_model(folder, method=way, n_topics=n_topics).record.perplexity
        seconds = time.perf_counter() - began
    else:
        counts = count_terms(snapshot)
        plsa.MIN_TRAINING_GAIN = 0.0
        learn_latent_topics(counts[:10], 2, held_out=0, iterations=1)
        began = time.perf_counter()
        perplexity = _em(counts, n_topics) if way == "em" else _nmf(counts, n_topics)
        seconds = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return {"documents": snapshot.n_docs, "seconds": seconds, "peak": peak / 1e6, "perplexity": perplexity}


def count_terms(snapshot: Snapshot):
    """The term counts of all documents."""
    from scipy.sparse import vstack

    reader = BlockReader.prepare(IN_MEMORY, snapshot, Vocabulary.of_index(snapshot)[0])
    return vstack([reader.counts(block) for block in divide_documents(snapshot)], format="csr")


def _em(counts, n_topics: int) -> float:
    return learn_latent_topics(counts, n_topics, held_out=0, iterations=ITERATIONS).perplexities[-1]


def _nmf(counts, n_topics: int) -> float:
    from sklearn.decomposition import NMF

    model = NMF(
        n_topics, beta_loss="kullback-leibler", solver="mu", init="random", random_state=1, max_iter=ITERATIONS, tol=0
    )
    W = model.fit_transform(counts.astype(np.float64))
    H = model.components_
    owners = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    likelihood = 0.0
    for part in np.array_split(np.arange(len(owners)), 1 + len(owners) // 1_000_000):
        p = np.einsum("nk,nk->n", W[owners[part]], H.T[counts.indices[part]]) / (W @ H.sum(axis=1))[owners[part]]
        likelihood += float(counts.data[part] @ np.log(np.maximum(p, 1e-300)))
    return float(np.exp(-likelihood / counts.sum()))


def measure_apart(folder: Path, way: str, n_topics: int) -> list[str]:
    """A row of figures, from a process of its own."""
    command = [sys.executable, __file__, "--measure", str(folder), way, str(n_topics)]
    environment = os.environ | dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    ended = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    found = json.loads(ended.stdout)
    name = {"em": f"EM, {ITERATIONS} iterations", "nmf": f"NMF of scikit-learn, {ITERATIONS} iterations"}.get(way, way)
    figures = [f"{found['seconds']:.2f}", f"{found['peak']:,.0f}", f"{found['perplexity']:,.1f}"]
    return [folder.name, name, f"{found['documents']:,}", str(n_topics), *figures]


def held_out(folder: Path, n_topics: int) -> list[str]:
    """How perplexing are words held out: at first, by the best iteration of EM, and by tempered EM."""
    snapshot = Snapshot(folder)
    counts = count_terms(snapshot)
    tempered = learn_latent_topics(counts, n_topics)
    plsa.COOLING_FACTOR, kept = 1.0, plsa.COOLING_FACTOR
    plain = learn_latent_topics(counts, n_topics)
    plsa.COOLING_FACTOR = kept
    figures = [tempered.held_out[0], min(plain.held_out), min(tempered.held_out)]
    return [folder.name, str(n_topics), *(f"{value:,.0f}" for value in figures), f"{tempered.temperature:.2f}"]


class Judged:
    """A collection's index, topics and judgments."""

    def __init__(self, folder: Path, index: Path) -> None:
        import ir_measures
        from quality import find, read_text

        self.name = folder.name
        self.engine = searchlab.open(index)
        self.qrels = searchlab.read_qrels(find(folder, "qrels.txt"))
        self._judged = list(ir_measures.read_trec_qrels(read_text(find(folder, "qrels.txt"))))
        relevant = {qid for qid, grades in self.qrels.items() if max(grades.values()) > 0}
        topics = searchlab.read_topics(find(folder, "topics.tsv"))
        self.topics = [topic for topic in topics if topic.qid in relevant]

    def measure(self, scorer: Scorer, topics: list[searchlab.Topic] | None = None) -> np.ndarray:
        """nDCG@10 and AP of some topics, in all."""
        import ir_measures
        from ir_measures import AP, nDCG

        chosen = self.topics if topics is None else topics
        run = [
            ir_measures.ScoredDoc(ranking.qid, docno, score)
            for ranking in searchlab.Pipeline(self.engine, scorer).run(chosen)
            for docno, score in zip(ranking.docnos, ranking.scores, strict=True)
        ]
        asked = {topic.qid for topic in chosen}
        judged = [judgment for judgment in self._judged if judgment.query_id in asked]
        found = ir_measures.calc_aggregate([nDCG @ 10, AP], judged, run)
        return np.array([found[nDCG @ 10], found[AP]]) * len(chosen)


def quality(folder: Path, index: Path) -> Iterator[list[str]]:
    """nDCG@10 and AP by language models with and without topics, all with their defaults."""
    judged = Judged(folder, index)
    ways: dict[str, Scorer] = {"Dirichlet, μ=1000": searchlab.Dirichlet(), "JM, λ=0.5": searchlab.JelinekMercer()}
    for method, kind in (("plsa", PLSA), ("wtm", WTM)):
        for n_topics in N_TOPICS:
            build_topic_model(index, method=method, n_topics=n_topics, name=f"{method}-{n_topics}")
            ways[f"{method}, {n_topics} topics"] = kind(topics=f"{method}-{n_topics}")
    for name, scorer in ways.items():
        yield [judged.name, name, *(f"{value:.4f}" for value in judged.measure(scorer) / len(judged.topics))]


def training(folder: Path, index: Path) -> list[str]:
    """What training gains: on queries that were not trained on (mean of the folds), and on those that were."""
    judged = Judged(folder, index)
    build_topic_model(index, n_topics=N_TOPICS[0])
    sums = np.zeros((5, 2))
    for fold in range(FOLDS):
        asked = judged.topics[fold::FOLDS]
        known = [topic for place, topic in enumerate(judged.topics) if place % FOLDS != fold]
        trained = train_latent_topics(judged.engine, known, judged.qrels)
        ways = [PLSA(), TopicModelScorer(trained.model, trained.alpha, trained.beta), trained.scorer]
        sums[:3] += [judged.measure(scorer, asked) for scorer in ways]
        if not fold:
            sums[3:] = [judged.measure(scorer, known) / len(known) * len(judged.topics) for scorer in ways[::2]]
    return [judged.name, *("{:.4f} / {:.4f}".format(*row) for row in sums / len(judged.topics))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--collections", type=Path, metavar="DIR", help="collections to be indexed and searched")
    parser.add_argument("--only", metavar="NAMES", help="some of these, such as cf,npl")
    parser.add_argument("--train", action="store_true", help="train by MCE and cross-validate, which takes minutes")
    parser.add_argument("--measure", nargs=3, metavar=("INDEX", "WAY", "K"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        folder, way, n_topics = options.measure
        print(json.dumps(measure(Path(folder), way, int(n_topics))))
        return
    if not options.collections:
        parser.error("expected --collections DIR")
    folders = sorted(path.parent for path in options.collections.glob("*/docs.jsonl*"))
    if options.only:
        folders = [folder for folder in folders if folder.name in options.only.split(",")]
    with tempfile.TemporaryDirectory() as work:
        made = {folder: Path(work) / folder.name for folder in folders}
        for folder, index in made.items():
            searchlab.index(next(folder.glob("docs.jsonl*")), index)
        rows = (measure_apart(index, way, k) for index in made.values() for way in WAYS for k in N_TOPICS)
        print(table(HEADER, rows, n_labels=2))
        header = ["collection", "topics", "held out: the collection", "EM", "tempered EM", "τ"]
        print("\n" + table(header, (held_out(index, k) for index in made.values() for k in N_TOPICS)))
        rows = (row for folder, index in made.items() for row in quality(folder, index))
        print("\n" + table(["collection", "ranked by", "nDCG@10", "AP"], rows, n_labels=2))
        if options.train:
            header = ["collection", "new queries: untrained", "α and β trained", "and topics", "known ones: untrained"]
            rows = (training(folder, index) for folder, index in made.items())
            print("\n" + table([*header, "trained"], rows))


if __name__ == "__main__":
    main()
