"""Effectiveness of a trained re-ranker, compared with BM25 and RM3.

    python benchmarks/reranking.py DIR [--collections cf,cranfield] [--ranker rsvm-ir] [--features semantic]

DIR holds collections as folders, each with docs.jsonl, topics.tsv and qrels.txt, gzipped or not. Each is indexed with
the default settings; a model is trained as `searchlab train -i INDEX` does, and judged by cross-validation over topics.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from report import table

import searchlab
from searchlab.rankers.first_stage import FirstStage
from searchlab.training.from_index import USUAL, train_from_index
from searchlab.training.recipe import Recipe

COLLECTIONS = ("cf", "cranfield", "cisi", "nfcorpus", "npl")


def main() -> None:
    parser = argparse.ArgumentParser(description="Quality of trained re-rankers, cross-validated over topics.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--collections", default=",".join(COLLECTIONS))
    parser.add_argument("--ranker", default="rsvm-ir")
    parser.add_argument("--features", default="semantic")
    parser.add_argument("-k", type=int, default=FirstStage().k)
    arguments = parser.parse_args()
    recipe = Recipe(arguments.ranker, **USUAL)
    rows, verdicts = [], []
    for name in arguments.collections.split(","):
        folder = arguments.folder / name
        with tempfile.TemporaryDirectory() as work:
            searchlab.index(_file(folder, "docs.jsonl"), Path(work) / name)
            began = time.perf_counter()
            with searchlab.open(Path(work) / name) as engine:
                bundle = train_from_index(
                    engine,
                    searchlab.read_topics(_file(folder, "topics.tsv")),
                    searchlab.read_qrels(_file(folder, "qrels.txt")),
                    arguments.features,
                    recipe=recipe,
                    first_stage=FirstStage(arguments.k),
                    source=name,
                )
        seconds = time.perf_counter() - began
        assert bundle.trial is not None
        for system, means in bundle.trial["means"].items():
            shown = [f"{means[measure]:.4f}" for measure in ("nDCG@10", "AP", "P@10")]
            rows.append([name, system, *shown, f"{seconds:.0f}" if system == arguments.ranker else ""])
        verdicts.append(f"{name}: {bundle.trial['verdict']}")
    print(table(["collection", "system", "nDCG@10", "AP", "P@10", "seconds"], rows))
    print()
    print("\n".join(verdicts))


def _file(folder: Path, name: str) -> Path:
    for path in (folder / name, folder / f"{name}.gz"):
        if path.exists():
            return path
    sys.exit(f"{folder}: has no {name}, expected it, gzipped or not")


if __name__ == "__main__":
    main()
