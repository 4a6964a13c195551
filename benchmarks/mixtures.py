"""Mixtures of language models: search speed, training speed, learnt weights.

    python benchmarks/mixtures.py                            # speed, on 35,000 documents
    python benchmarks/mixtures.py --documents 348566         # OHSUMED's size: some minutes
    python benchmarks/mixtures.py --quality DIR              # cross-validation on the collections of a folder

Searching is timed for each kind of mixture and for Jelinek–Mercer, in turn for each query, after a round to warm up:
with cached statistics of words, and without. Training is timed on as many queries and documents as LETOR's OHSUMED has.
DIR holds collections as folders, each with docs.jsonl, topics.tsv and qrels.txt, gzipped or not; each is indexed with
the default settings, with a topic model of 50 latent topics if topics are a component.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from statistics import median

import numpy as np
from collection import make_queries, write_collection
from quality import find
from report import table

import searchlab
from searchlab.mixtures.em import train_em
from searchlab.mixtures.likelihood import join, one_query
from searchlab.mixtures.mce import MCE, train_mce
from searchlab.mixtures.training_queries import gather, name_components
from searchlab.retrieval.engine import SearchEngine
from searchlab.scorers.base import Scorer
from searchlab.scorers.execution.mixture_components import COMPONENTS, MixtureComponents
from searchlab.scorers.jelinek_mercer import JelinekMercer
from searchlab.scorers.mixture import Mixture
from searchlab.scorers.trained_mixture import DocumentWeights, TrainedMixture
from searchlab.topic_models.topic_model_store import build_topic_model, open_topic_model
from searchlab.training.mixture_validation import MEASURES, cross_validate_mixture

LIMITS = (10, 1000)
ROUNDS = 5
N_TOPICS = 50
# As many as LETOR 3.0 OHSUMED has, in the mean.
N_QUERIES, N_DOCS, N_WORDS = 106, 152, 5
FAMILIES = ("unigram", "unigram,title,body", "unigram,topics", "unigram,bigram")


def mixtures(engine: SearchEngine) -> dict[str, Scorer]:
    """Each kind of mixture; a thousand documents have weights of their own."""
    names = tuple(docno for _, docno in zip(range(1000), engine.snapshot.docnos(), strict=False))
    rows = np.random.default_rng(1).dirichlet(np.ones(2), len(names))
    own = DocumentWeights(names, np.column_stack([rows, np.zeros((len(names), len(COMPONENTS) - 2))]))
    fields = {"document": 0.2, "corpus": 0.5, "title": 0.2, "body": 0.1}
    topics = open_topic_model(engine.snapshot)
    return {
        "Jelinek–Mercer": JelinekMercer(0.5),
        "unigrams": Mixture(),
        "unigrams, own weights": TrainedMixture(0.5, 0.5, document_weights=own),
        "with bigrams": Mixture(0.2, 0.4, 0.2, 0.2),
        "with title and body": Mixture(**fields),
        "the same, own weights": TrainedMixture(**fields, topic_model=None, document_weights=own),
        "with topics": TrainedMixture(0.2, 0.4, topics=0.4, topic_model=topics),
    }


def time_searches(engine: SearchEngine, queries: list[str], scorers: dict[str, Scorer]) -> None:
    """Milliseconds a query, in the median: the best of some rounds, and the first, of words that are not remembered."""
    rows = []
    for name, scorer in scorers.items():
        cells = []
        for k in LIMITS:
            fresh, kept = [], []
            for query in queries:
                engine.reader.shared(MixtureComponents).odds.cache_clear()
                engine.reader.shared(MixtureComponents).bigrams.cache_clear()
                times = []
                for _ in range(ROUNDS):
                    began = time.perf_counter()
                    engine.search(query, k=k, scorer=scorer)
                    times.append(time.perf_counter() - began)
                fresh.append(times[0])
                kept.append(min(times[1:]))
            cells += [f"{1000 * median(kept):.2f}", f"{1000 * median(fresh):.2f}"]
        rows.append([name, *cells])
    print(table(["scorer", *(f"k={k} {what} ms" for k in LIMITS for what in ("p50", "p50, new words"))], rows))


def time_training() -> None:
    """Seconds of 100 iterations on as many queries and documents as LETOR's OHSUMED has."""
    rng = np.random.default_rng(3)
    for n_components in (2, len(COMPONENTS)):
        pieces = []
        for _ in range(N_QUERIES):
            said = rng.random((N_DOCS, N_WORDS, n_components)) * 0.1 * (rng.random((N_DOCS, N_WORDS, 1)) < 0.4)
            said[..., 1] = rng.random(N_WORDS) * 0.01
            pieces.append(one_query(said, np.ones(N_WORDS), np.arange(N_DOCS) < N_DOCS // 5))
        shared = join(pieces)
        start = np.full((1, n_components), 1 / n_components)
        groups = np.tile(np.arange(N_DOCS), N_QUERIES) + np.repeat(np.arange(N_QUERIES) % 20 * N_DOCS, N_DOCS)
        own = replace(shared, groups=groups)
        for rivals in ("hardest", "soft"):
            settings = MCE(rivals=rivals, iterations=100, patience=0)
            watching = MCE(rivals=rivals, iterations=100, patience=0, watch="AP")
            for what, evidence, chosen, learns in (
                ("shared", shared, settings, True),
                ("shared, AP watched", shared, watching, True),
                ("per document", own, settings, False),
            ):
                weights = np.repeat(start, int(np.max(evidence.groups)) + 1, axis=0)
                began = time.perf_counter()
                train_mce(evidence, weights, chosen, rivals_learn=learns)
                print(f"MCE, {n_components} components, {rivals}, {what}: {time.perf_counter() - began:.2f} s")
        began = time.perf_counter()
        fit = train_em(shared)
        print(f"EM, {n_components} components: {time.perf_counter() - began:.3f} s, {fit.n_iterations} iterations")


def cross_validate_all(folder: Path, names: list[str], families: list[str], output: Path | None) -> None:
    """A table of AP and nDCG@10 of held-out queries for each collection and choice of components."""
    rows, kept = [], []
    for name in names:
        with tempfile.TemporaryDirectory() as work:
            index = Path(work) / "index"
            searchlab.index(find(folder / name, "docs.jsonl"), index)
            if any("topics" in family for family in families):
                build_topic_model(index, n_topics=N_TOPICS)
            topics = searchlab.read_topics(find(folder / name, "topics.tsv"))
            qrels = searchlab.read_qrels(find(folder / name, "qrels.txt"))
            engine = searchlab.open(index)
            for family in families:
                model = open_topic_model(engine.snapshot) if "topics" in family else None
                queries = gather(engine, topics, qrels, name_components(family.split(",")), topic_model=model)
                found = cross_validate_mixture(engine, topics, qrels, queries, topic_model=model)
                tested = {(each.name_a, each.measure): each for each in found.report.comparisons}
                for trial in found.trials:
                    system = trial.evaluation.name
                    cells = []
                    for measure in MEASURES:
                        mean, each = trial.evaluation.mean(measure), tested.get((system, measure))
                        cells += [f"{mean:.4f}", "" if each is None else f"{each.p_corrected:.3f}"]
                        kept.append([name, family, system, measure, mean, None if each is None else each.p_corrected])
                    rows.append([name, family, system, *cells, f"{trial.training:.4f}"])
                print(f"{name}, {family}: done", file=sys.stderr, flush=True)
    header = ["collection", "components", "weights", "AP", "p", "nDCG@10", "p", "AP in training"]
    print(table(header, rows, n_labels=3))
    if output is not None:
        output.write_text(json.dumps(kept, indent=1))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=35_000)
    parser.add_argument("--work", type=Path, metavar="DIR", help="keep the collection and the index here")
    parser.add_argument("--quality", type=Path, metavar="DIR", help="cross-validate on these collections instead")
    parser.add_argument("--collections", type=lambda text: text.split(","), help="[default: all in DIR]")
    parser.add_argument("--components", action="append", help=f"[default: {' '.join(FAMILIES)}]")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the measures here")
    options = parser.parse_args()
    if options.quality:
        names = options.collections or sorted(path.parent.name for path in options.quality.glob("*/docs.jsonl*"))
        cross_validate_all(options.quality, names, options.components or list(FAMILIES), options.json)
        return
    time_training()
    with tempfile.TemporaryDirectory() as temporary:
        work = options.work or Path(temporary)
        work.mkdir(parents=True, exist_ok=True)
        path, index = work / f"synthetic-{options.documents}.jsonl", work / f"mixture-{options.documents}"
        write_collection(path, options.documents)
        if not (index / "topics").exists():
            searchlab.index(path, index)
            build_topic_model(index, n_topics=N_TOPICS)
        with searchlab.open(index) as engine:
            time_searches(engine, make_queries(), mixtures(engine))


if __name__ == "__main__":
    main()
