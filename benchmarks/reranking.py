"""Effectiveness of trained re-rankers, compared with BM25 and RM3, and with each other.

    python benchmarks/reranking.py DIR [--collections cf,cranfield] [--rankers rsvm-ir,lambdamart] [--recipe tuned]
    python benchmarks/reranking.py DIR --learning-topics 5,10,20,40 [--draws 6]

DIR holds collections as folders, each with docs.jsonl, topics.tsv and qrels.txt, gzipped or not. Each is indexed with
the default settings; models are trained as `searchlab train -i INDEX` does, and judged by cross-validation over topics.
All rankers have the same candidates, features, folds and parts to choose settings on. Each is compared with the first
of them by a paired randomisation test, with Holm's correction over all collections and rankers.

The built-in model was trained on these collections, so a model of the *other* collections of DIR takes its place, as
the prior and as a rival (--prior none: neither). --learning-topics trains on so many topics, drawn at random, and ranks
all others: by the model of the other collections, by one that starts from it, and by one that starts from nothing.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from builtin_model import learn
from judged_collections import COLLECTIONS, load_training_set, pool
from report import table

from searchlab.evaluation.comparison import Comparison, compare_values
from searchlab.evaluation.run_evaluation import evaluate_run
from searchlab.evaluation.significance import holm
from searchlab.features.feature_sets import DEFAULT_SET
from searchlab.features.feature_table import FeatureTable
from searchlab.rankers.bundle import Bundle
from searchlab.rankers.first_stage import FirstStage
from searchlab.rankers.ranker_registry import SEARCH_RANKER
from searchlab.training.cross_validation import BUILT_IN, cross_validate_table
from searchlab.training.from_index import compare_with_first_stage
from searchlab.training.recipe import NO_PRIOR, Recipe
from searchlab.training.training_set import TrainingSet
from searchlab.types import Floats

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
    parser.add_argument("--rankers", default=SEARCH_RANKER)
    parser.add_argument("--recipe", default="tuned")
    parser.add_argument("--features", default=DEFAULT_SET)
    parser.add_argument("--prior", choices=("others", NO_PRIOR), default="others")
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--cache", type=Path, help="a folder to keep the indexes in")
    parser.add_argument("--learning-topics", metavar="N,N,…")
    parser.add_argument("--draws", type=int, default=6)
    parser.add_argument("-k", type=int, default=FirstStage().k)
    arguments = parser.parse_args()
    names = arguments.collections.split(",")
    with tempfile.TemporaryDirectory() as work:
        home = arguments.cache or Path(work)
        wanted = [*dict.fromkeys([*names, *(COLLECTIONS if arguments.prior == "others" else ())])]
        sets = {
            name: load_training_set(
                arguments.folder / name, home / f"{name}.index", arguments.features, FirstStage(arguments.k)
            )
            for name in wanted
        }
    priors = {name: learn_from_others(sets, name) if arguments.prior == "others" else None for name in names}
    if arguments.learning_topics:
        sizes = [int(size) for size in arguments.learning_topics.split(",")]
        print(measure_few_topics({name: (sets[name], priors[name]) for name in names}, sizes, arguments.draws))
        return
    measured = []
    for name in names:
        recipes = [
            make_recipe(ranker, arguments.recipe, priors[name], n_repeats=arguments.repeats)
            for ranker in arguments.rankers.split(",")
        ]
        measured.append(measure(name, add_rival(sets[name], priors[name]), recipes))
        print(*measured[-1].verdicts, sep="\n", file=sys.stderr, flush=True)
    print(table(["collection", "system", *MEASURES, "seconds"], [row for each in measured for row in each.rows], 2))
    print()
    print("\n".join(verdict for each in measured for verdict in each.verdicts))
    compared = [pair for each in measured for pair in each.comparisons]
    if compared:
        print()
        print(_comparisons(compared))


def learn_from_others(sets: dict[str, TrainingSet], name: str) -> Bundle:
    """What the built-in model would be without this collection."""
    others = pool({other: sets[other] for other in COLLECTIONS if other != name}).table
    choice = learn(others)
    return Bundle(SEARCH_RANKER, {}, choice.model, others.names, choice.preprocessor)


def make_recipe(ranker: str, name: str, prior: Bundle | None, n_repeats: int = 1) -> Recipe:
    """The recipe of `searchlab train -i INDEX`, with this prior if the ranker takes one by itself."""
    usual = Recipe.for_search(ranker, name=name, n_repeats=n_repeats)
    takes_one = "prior" in usual.to_json()
    return replace(usual, prior=prior if takes_one and prior is not None else NO_PRIOR)


def add_rival(data: TrainingSet, prior: Bundle | None) -> TrainingSet:
    """The same data with the rankings of the model of the other collections."""
    if prior is None:
        return data
    return replace(data, baselines={**data.baselines, BUILT_IN: data.rerank(prior.scores(data.table))})


def measure(name: str, data: TrainingSet, recipes: list[Recipe]) -> Measured:
    """Cross-validation of each recipe on one collection."""
    rows, verdicts, values = [], [], {}
    for recipe in recipes:
        began = time.process_time()
        repeats = [
            cross_validate_table(
                replace(recipe, seed=recipe.seed + number), data.table, recipe.validation_measure(data.qrels)
            )
            for number in range(recipe.n_repeats or 1)
        ]
        seconds = time.process_time() - began
        result = compare_with_first_stage(recipe, data, repeats)
        for system, means in result.means.items():
            if system == recipe.label or recipe is recipes[0]:
                shown = [f"{means[measure]:.4f}" for measure in MEASURES]
                rows.append([name, system, *shown, f"{seconds:.0f}" if system == recipe.label else ""])
        verdicts.append(f"{name}: {result.verdict()}")
        values[recipe.label] = np.mean([_values(data, scores) for scores in repeats], axis=0)
    first, *others = values
    comparisons = [
        (name, compare_values(other, values[other], first, values[first], MEASURES[0], seed=0)) for other in others
    ]
    return Measured(rows, verdicts, comparisons)


def measure_few_topics(sets: dict[str, tuple[TrainingSet, Bundle | None]], sizes: list[int], n_draws: int) -> str:
    """A table: nDCG@10 of the topics that were not drawn, after learning from so many that were."""
    rows = []
    for size in sizes:
        found: dict[str, list[float]] = {}
        for name, (data, prior) in sets.items():
            for draw in range(n_draws):
                for system, mean in _learn_from_few(data, prior, size, draw).items():
                    found.setdefault(f"{name}, {system}", []).append(mean)
        systems = dict.fromkeys(key.partition(", ")[2] for key in found)
        of_system = {
            system: [float(np.mean(found[f"{name}, {system}"])) for name in sets if f"{name}, {system}" in found]
            for system in systems
        }
        for system, means in of_system.items():
            rows.append([str(size), system, *(f"{mean:.4f}" for mean in means), f"{np.mean(means):.4f}"])
    return table(["training topics", "system", *sets, "mean"], rows, 2)


def _learn_from_few(data: TrainingSet, prior: Bundle | None, size: int, draw: int) -> dict[str, float]:
    """The mean over the topics that were not drawn, by system."""
    table = data.table
    drawn = np.random.default_rng([size, draw]).choice(table.n_queries, size, replace=False)
    qids = np.array(table.query_ids, dtype=str)[drawn]
    train: FeatureTable = table.rows(np.isin(table.qids.astype(str), qids))
    kept = np.array([topic.qid not in set(qids.tolist()) for topic in data.topics])
    systems = {"starts from nothing": make_recipe(SEARCH_RANKER, "tuned", None)}
    means = {}
    if prior is not None:
        means["the other collections"] = float(np.mean(_values(data, prior.scores(table))[kept]))
        systems = {"starts from the other collections": make_recipe(SEARCH_RANKER, "tuned", prior)} | systems
    for name, recipe in systems.items():
        scores = recipe.learn(train, recipe.validation_measure(data.qrels)).scores(table)
        means[name] = float(np.mean(_values(data, scores)[kept]))
    return means


def _values(data: TrainingSet, scores: Floats) -> Floats:
    """nDCG@10 of each topic."""
    qrels = {topic.qid: data.qrels[topic.qid] for topic in data.topics}
    run = evaluate_run(qrels, data.rerank(scores), [MEASURES[0]], dialect="trec", complete=True, warn=False)
    values = dict(zip(run.qids, run.values_of(MEASURES[0]).tolist(), strict=True))
    return np.array([values[topic.qid] for topic in data.topics])


def _comparisons(compared: list[tuple[str, Comparison]]) -> str:
    adjusted = holm([each.p for _, each in compared])
    rows = [
        [name, f"{each.name_a} − {each.name_b}", f"{each.difference:+.4f}", f"{each.p:.4f}", f"{p:.4f}"]
        for (name, each), p in zip(compared, adjusted, strict=True)
    ]
    return table(["collection", "nDCG@10", "difference", "p", "p, Holm"], rows, 2)


if __name__ == "__main__":
    main()
