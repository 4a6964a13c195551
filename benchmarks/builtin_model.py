"""Training of the built-in model, and its effectiveness on collections that it has not seen.

    python benchmarks/builtin_model.py DIR --cache FOLDER [--features compact] [--write]

DIR holds collections as folders, each with docs.jsonl, topics.tsv and qrels.txt, gzipped or not; their indexes are kept
in FOLDER. One softmax model is learnt from the topics of all collections. C is not chosen: on topics of the same
collections weak regularisation looks best, and does worse on other collections. So strongly regularised, the weights
are nearly proportional to how much higher the relevant documents score by each feature, which is much the same
everywhere.

Leave-one-collection-out shows what to expect without judgments: each collection is ranked by a model of the others.
--write replaces the model of the package by the one of all collections. The same data give the same file.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from judged_collections import COLLECTIONS, load_training_set, pool
from report import table

import searchlab
from searchlab.features.feature_sets import DEFAULT_SET
from searchlab.features.feature_table import FeatureTable
from searchlab.rankers import builtin
from searchlab.rankers.bundle import Bundle, analysis_record, hash_topic
from searchlab.rankers.first_stage import FirstStage
from searchlab.training.cross_validation import CrossValidationResult, cross_validate
from searchlab.training.from_index import compare_with_first_stage
from searchlab.training.from_table import make_bundle
from searchlab.training.recipe import NO_PRIOR, Recipe
from searchlab.training.selection import Choice
from searchlab.training.training_set import TrainingSet
from searchlab.types import Floats, Ints

# Values from 0.0003 to 0.003 give about the same figures.
C = 0.001
LIMITS = (
    "English abstracts, Porter's stemmer, 1,200 to 11,400 documents a collection; the variant was chosen by the "
    "figures of the collections left out, among about 350, so they flatter"
)
RECIPE = Recipe.for_search(settings={"C": C}, prior=NO_PRIOR, n_folds=len(COLLECTIONS))


def main() -> None:
    parser = argparse.ArgumentParser(description="Train the built-in model, and measure it on collections left out.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--features", default=DEFAULT_SET)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    sets = {
        name: load_training_set(
            arguments.folder / name, arguments.cache / f"{name}.index", arguments.features, FirstStage()
        )
        for name in COLLECTIONS
    }
    pooled = pool(sets)
    scores = leave_one_collection_out(pooled, sets)
    result = compare_with_first_stage(RECIPE, pooled, [scores])
    figures = {name: _figures(sets[name], _scores_of(name, pooled.table, scores)) for name in sets}
    systems = list(next(iter(figures.values())))
    rows = [[name, *(f"{means[system]:.4f}" for system in systems)] for name, means in figures.items()]
    means = [f"{np.mean([figures[name][system] for name in sets]):.4f}" for system in systems]
    print(table(["collection left out", *systems], [*rows, ["mean", *means]]))
    print(f"\n{result.verdict()}")
    if arguments.write:
        bundle = make_builtin(pooled, result, figures, arguments.cache / f"{COLLECTIONS[0]}.index")
        bundle.save(Path(builtin.__file__).parent / builtin.FILE)


def learn(train: FeatureTable) -> Choice:
    """A model of all topics of a table."""
    return RECIPE.learn(train, RECIPE.validation_measure())


def leave_one_collection_out(pooled: TrainingSet, sets: dict[str, TrainingSet]) -> Floats:
    """The score of each row by a model of the other collections."""
    scores = np.zeros(pooled.table.n_rows)
    names = np.array([qid.partition("-")[0] for qid in pooled.table.qids.tolist()])
    numbers = {name: number for number, name in enumerate(sets)}
    number_of_row = np.array([numbers[name] for name in names])

    def rank(training: Ints, held_out: Ints) -> None:
        rows = np.isin(number_of_row, held_out)
        scores[rows] = learn(pooled.table.rows(~rows)).scores(pooled.table.rows(rows))

    cross_validate([[number] for number in numbers.values()], rank)
    return scores


def make_builtin(
    pooled: TrainingSet, result: CrossValidationResult, figures: dict[str, dict[str, float]], index: Path
) -> Bundle:
    """The model of all collections, with what it was trained on and what to expect of it."""
    source = "judged topics of public collections, pooled"
    measure = RECIPE.validation_measure(pooled.qrels)
    bundle = make_bundle(RECIPE, learn(pooled.table), pooled.table, None, measure, result, source=source)
    with searchlab.open(index) as engine:
        analyser = analysis_record(engine.snapshot.manifest.settings)
    training = {
        **bundle.training,
        "collections": {
            name: {"n_topics": _count(pooled.topics, name), "left_out": {RECIPE.measure: means}}
            for name, means in figures.items()
        },
        "limits": LIMITS,
        "topic_hashes": sorted(hash_topic(topic.text) for topic in pooled.topics),
    }
    recipe = {**bundle.recipe, "label": "built-in"}
    return replace(
        bundle, analyser=analyser, first_stage=FirstStage(), training=training, recipe=recipe, transferable=True
    )


def _count(topics: Sequence[searchlab.Topic], name: str) -> int:
    return sum(topic.qid.startswith(f"{name}-") for topic in topics)


def _scores_of(name: str, pooled: FeatureTable, scores: Floats) -> Floats:
    return scores[[qid.startswith(f"{name}-") for qid in pooled.qids.tolist()]]


def _figures(data: TrainingSet, scores: Floats) -> dict[str, float]:
    means = compare_with_first_stage(RECIPE, data, [scores]).means
    return {"built-in" if system == RECIPE.label else system: each[RECIPE.measure] for system, each in means.items()}


if __name__ == "__main__":
    main()
