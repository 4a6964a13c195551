"""Effectiveness of trained re-rankers, compared with BM25 and RM3, and with each other.

    python benchmarks/reranking.py DIR [--collections cf,cranfield] [--rankers rsvm-ir,lambdamart] [--recipe tuned]

DIR holds collections as folders, each with docs.jsonl, topics.tsv and qrels.txt, gzipped or not. Each is indexed with
the default settings; models are trained as `searchlab train -i INDEX` does, and judged by cross-validation over topics.
All rankers have the same candidates, features, folds and parts to choose settings on. Each is compared with the first
of them by a paired randomisation test, with Holm's correction over all collections and rankers.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from report import table

import searchlab
from searchlab.evaluation.comparison import Comparison, compare_values
from searchlab.evaluation.run_evaluation import evaluate_run
from searchlab.evaluation.significance import holm
from searchlab.features.feature_sets import DEFAULT_SET
from searchlab.rankers.first_stage import FirstStage
from searchlab.training.cross_validation import cross_validate_table
from searchlab.training.from_index import TrainingSet, compare_with_first_stage, prepare_training
from searchlab.training.recipe import Recipe

COLLECTIONS = ("cf", "cranfield", "cisi", "nfcorpus", "npl")
MEASURES = ("nDCG@10", "AP", "P@10")


class Measured(NamedTuple):
    """Rows of the table, verdicts, and comparisons with the first ranker."""

    rows: list[list[str]]
    verdicts: list[str]
    comparisons: list[tuple[str, Comparison]]


def main() -> None:
    parser = argparse.ArgumentParser(description="Quality of trained re-rankers, cross-validated over topics.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--collections", default=",".join(COLLECTIONS))
    parser.add_argument("--rankers", default="rsvm-ir")
    parser.add_argument("--recipe", default="tuned")
    parser.add_argument("--features", default=DEFAULT_SET)
    parser.add_argument("-k", type=int, default=FirstStage().k)
    arguments = parser.parse_args()
    recipes = [Recipe.for_search(ranker, name=arguments.recipe) for ranker in arguments.rankers.split(",")]
    measured = []
    for name in arguments.collections.split(","):
        folder = arguments.folder / name
        with tempfile.TemporaryDirectory() as work:
            searchlab.index(_file(folder, "docs.jsonl"), Path(work) / name)
            topics = searchlab.read_topics(_file(folder, "topics.tsv"))
            qrels = searchlab.read_qrels(_file(folder, "qrels.txt"))
            with searchlab.open(Path(work) / name) as engine:
                data = prepare_training(engine, topics, qrels, arguments.features, FirstStage(arguments.k))
        measured.append(measure(name, data, recipes))
        print(*measured[-1].verdicts, sep="\n", file=sys.stderr, flush=True)
    print(table(["collection", "system", *MEASURES, "seconds"], [row for each in measured for row in each.rows], 2))
    print()
    print("\n".join(verdict for each in measured for verdict in each.verdicts))
    compared = [pair for each in measured for pair in each.comparisons]
    if compared:
        print()
        print(_comparisons(compared))


def measure(name: str, data: TrainingSet, recipes: list[Recipe]) -> Measured:
    """Cross-validation of each recipe on one collection."""
    rows, verdicts, values = [], [], {}
    qrels = {topic.qid: data.qrels[topic.qid] for topic in data.topics}
    for recipe in recipes:
        began = time.process_time()
        scores = cross_validate_table(recipe, data.table, recipe.validation_measure(data.qrels))
        seconds = time.process_time() - began
        result = compare_with_first_stage(recipe, data, scores)
        for system, means in result.means.items():
            if system == recipe.label or recipe is recipes[0]:
                shown = [f"{means[measure]:.4f}" for measure in MEASURES]
                rows.append([name, system, *shown, f"{seconds:.0f}" if system == recipe.label else ""])
        verdicts.append(f"{name}: {result.verdict()}")
        run = evaluate_run(qrels, data.rerank(scores), list(MEASURES[:1]), dialect=recipe.dialect, complete=True)
        values[recipe.label] = run.values_of(MEASURES[0])
    first, *others = values
    comparisons = [
        (name, compare_values(other, values[other], first, values[first], MEASURES[0], seed=0)) for other in others
    ]
    return Measured(rows, verdicts, comparisons)


def _comparisons(compared: list[tuple[str, Comparison]]) -> str:
    adjusted = holm([each.p for _, each in compared])
    rows = [
        [name, f"{each.name_a} − {each.name_b}", f"{each.difference:+.4f}", f"{each.p:.4f}", f"{p:.4f}"]
        for (name, each), p in zip(compared, adjusted, strict=True)
    ]
    return table(["collection", "nDCG@10", "difference", "p", "p, Holm"], rows, 2)


def _file(folder: Path, name: str) -> Path:
    for path in (folder / name, folder / f"{name}.gz"):
        if path.exists():
            return path
    sys.exit(f"{folder}: has no {name}, expected it, gzipped or not")


if __name__ == "__main__":
    main()
