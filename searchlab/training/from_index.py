"""Training from an index, topics and judgments, with a test of whether the model beats what needs no judgments.

Cross-validation over topics gives the rankings that the model would make for topics it has not seen. They are compared
with those of the first stage (of its scorer, and of RM3 if it expands queries) and of the built-in model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from searchlab.cluster.cluster import Cluster, as_cluster
from searchlab.corpus.values.conversion import make_qrels, make_topics
from searchlab.errors import SettingError
from searchlab.evaluation.comparison import Comparison, compare_values
from searchlab.evaluation.run_evaluation import evaluate_run
from searchlab.evaluation.significance import holm
from searchlab.features.feature_sets import DEFAULT_SET
from searchlab.features.user_defined.external_features import is_external
from searchlab.rankers.builtin import load_builtin
from searchlab.rankers.bundle import Bundle, analysis_record
from searchlab.rankers.first_stage import FirstStage
from searchlab.records import Ranking
from searchlab.retrieval.engine import SearchEngine
from searchlab.training.cross_validation import (
    BUILT_IN,
    MIN_VERDICT_QUERIES,
    CrossValidationResult,
    cross_validate_table,
)
from searchlab.training.from_table import make_bundle, require_different_grades
from searchlab.training.held_out import RECALL_MEASURES, HeldOutTopics
from searchlab.training.learning_curve import LearningCurve, measure_learning_curve
from searchlab.training.recipe import Recipe, choose_recipe
from searchlab.training.retraining import NOT_COMPARED, ModelComparison, compare_with_former
from searchlab.training.training_set import Features, TrainingSet, prepare_training
from searchlab.types import Floats, Progress, no_progress

# The measures beside the one that settings are chosen by.
MEASURES = ("nDCG@10", "AP", "P@10")


def train_from_index(
    engine: SearchEngine,
    topics: Any,
    qrels: Any,
    features: Features = DEFAULT_SET,
    *,
    ranker: Any = None,
    recipe: Recipe | None = None,
    first_stage: FirstStage | None = None,
    source: str = "",
    cluster: Cluster | str | None = None,
    divide: str = "auto",
    former: Bundle | None = None,
    progress: Progress = no_progress,
) -> Bundle:
    """A model for this index, compared with what needs no judgments.

    Topics and judgments are anything that `make_topics` and `make_qrels` take: files, dicts, DataFrames, values. A
    `ranker`, by name or as an estimator, is trained by `Recipe.for_search`; a `recipe` decides on all of the training.
    With a `cluster`, or its address, its workers search for candidates, compute features (by topics or by shards, as
    `divide` says, see `BasePipeline.run`), and learn the folds, the points of the learning curve and the settings that
    are tried. The model is the same, to the last byte.
    The `former` model, if it is trained again, is compared with the new one (`retraining.py`): the result is in the
    bundle's `training`, as `former`.
    """
    recipe = choose_recipe(ranker, recipe, Recipe.for_search)
    first_stage = first_stage or FirstStage()
    with nullcontext() if cluster is None else as_cluster(cluster) as connected:
        data = prepare_training(
            engine, make_topics(topics), make_qrels(qrels), features, first_stage, progress, connected, divide
        )
        return train_prepared(
            engine,
            data,
            recipe,
            first_stage,
            source=source,
            former=former,
            cluster=connected,
            divide=divide,
            progress=progress,
        )


def train_prepared(
    engine: SearchEngine,
    data: TrainingSet,
    recipe: Recipe,
    first_stage: FirstStage,
    *,
    source: str,
    progress: Progress,
    cluster: Cluster | None = None,
    divide: str = "auto",
    former: Bundle | None = None,
) -> Bundle:
    """A model trained on prepared data."""
    require_different_grades(data.table)
    n_known = count_builtin_topics(data)
    recipe = recipe.for_topics(data.topics)
    measure = recipe.validation_measure(data.qrels)
    result = None
    if recipe.n_folds:
        recipe = replace(recipe, n_folds=min(recipe.n_folds, data.table.n_queries))
        result = validate(recipe, data, progress, cluster)
    choice = recipe.learn(data.table, measure, None, progress, cluster)
    bundle = make_bundle(recipe, choice, data.table, None, measure, result, source=source)
    analyser = analysis_record(engine.snapshot.manifest.settings)
    training = {
        **bundle.training,
        "index": {"name": engine.snapshot.folder.name, "n_docs": engine.snapshot.n_docs},
        "n_skipped_topics": data.n_skipped,
        "topics": {topic.qid: topic.text for topic in data.topics},
        **({"n_builtin_topics": n_known} if n_known else {}),
    }
    if former is not None:
        compared = _compare_with_former(engine, recipe, data, first_stage, former, result, progress, cluster, divide)
        training["former"] = {**compared.to_json(), "verdict": dict(former.trial or {}).get("verdict")}
    return replace(bundle, analyser=analyser, first_stage=first_stage, training=training)


def _compare_with_former(
    engine: SearchEngine,
    recipe: Recipe,
    data: TrainingSet,
    first_stage: FirstStage,
    former: Bundle,
    result: CrossValidationResult | None,
    progress: Progress,
    cluster: Cluster | None,
    divide: str,
) -> ModelComparison:
    """The new model compared with the former one, whose features and first stage may be others."""
    stage = former.first_stage
    if stage is None:
        return ModelComparison(NOT_COMPARED, "the former one was trained from a file of features")
    try:
        former.check_index(engine, [name for name in former.features if is_external(name)])
    except SettingError as error:
        reason = " ".join(str(error).split()).removeprefix(f"{engine.snapshot.folder}: ")
        return ModelComparison(NOT_COMPARED, reason, former_fits=False)
    is_same = stage == first_stage and former.features == data.table.names

    @cache
    def prepare_again() -> TrainingSet:
        if is_same:
            return data
        return prepare_training(engine, data.topics, data.qrels, former.features, stage, progress, cluster, divide)

    return compare_with_former(recipe, data, former, prepare_again, result, is_same, progress, cluster)


def validate(
    recipe: Recipe, data: TrainingSet, progress: Progress = no_progress, cluster: Cluster | None = None
) -> CrossValidationResult:
    """Cross-validation, repeated with other folds, beside all that needs no judgments; and the learning curve."""
    measure = recipe.validation_measure(data.qrels)
    n_repeats = recipe.count_repeats(data.table.n_queries)
    repeats = []
    for number in range(n_repeats):

        def report(stage: str, done: int, total: int, number: int = number) -> None:
            progress(stage, number * total + done, n_repeats * total)

        with_other_folds = replace(recipe, seed=recipe.seed + number)
        repeats.append(cross_validate_table(with_other_folds, data.table, measure, report, cluster))
    curve = None
    if recipe.is_quick and data.table.n_queries >= MIN_VERDICT_QUERIES:
        curve = measure_learning_curve(recipe, data, progress=progress, cluster=cluster)
    return compare_with_first_stage(recipe, with_builtin(data), repeats, curve)


def count_builtin_topics(data: TrainingSet) -> int:
    """How many of the topics the built-in model was trained on: for these it is neither a prior nor a fair rival."""
    return len(load_builtin().known_topics(data.topics, "", lambda: ()))


def with_builtin(data: TrainingSet) -> TrainingSet:
    """The same data with the rankings of the built-in model, if that has its features and none of its topics."""
    builtin = load_builtin()
    if not set(builtin.features) <= set(data.table.names) or count_builtin_topics(data):
        return data
    return replace(data, baselines={**data.baselines, BUILT_IN: data.rerank(builtin.scores(data.table))})


def compare_with_first_stage(
    recipe: Recipe, data: TrainingSet, repeats: Sequence[Floats], curve: LearningCurve | None = None
) -> CrossValidationResult:
    """The measures of the model and of the baselines on held-out topics, and their differences.

    `repeats` are the scores of the rows in one or several cross-validations; the value of a topic is the mean over
    these. The p-values of all comparisons are corrected together (Holm), because the best of several is looked for.
    """
    measures = list(dict.fromkeys([recipe.validation_measure().name, *MEASURES]))
    qrels = {topic.qid: data.qrels[topic.qid] for topic in data.topics}

    def evaluate(run: Sequence[Ranking]) -> dict[str, Floats]:
        every = [*measures, *RECALL_MEASURES]
        found = evaluate_run(qrels, run, every, dialect=recipe.dialect, complete=True, warn=False)
        return {measure: found.values_of(measure) for measure in every}

    of_repeats = [evaluate(data.rerank(scores)) for scores in repeats]
    model = {measure: np.mean([each[measure] for each in of_repeats], axis=0) for measure in of_repeats[0]}
    values = {recipe.label: model} | {name: evaluate(run) for name, run in data.baselines.items()}
    comparisons = compare_with_each(recipe, {name: each[measures[0]] for name, each in values.items()}, measures[0])
    means = {name: {measure: float(np.mean(each[measure])) for measure in measures} for name, each in values.items()}
    held_out = HeldOutTopics(
        measures[0],
        tuple(qrels),
        {name: each[measures[0]] for name, each in values.items()},
        {name: np.array([np.mean(each[recall]) for recall in RECALL_MEASURES]) for name, each in values.items()},
    )
    return CrossValidationResult(
        recipe.label,
        len(model[measures[0]]),
        recipe.n_folds,
        recipe.dialect,
        means,
        comparisons,
        sum(map(len, qrels.values())),
        recipe.inline_label,
        len(repeats),
        curve,
        held_out,
    )


def compare_with_each(recipe: Recipe, values: Mapping[str, Floats], measure: str) -> tuple[Comparison, ...]:
    """The recipe's model, the first of the systems, compared with each other one; p-values corrected if several."""
    (_, model), *others = values.items()
    compared = [
        compare_values(recipe.inline_label, model, name, other, measure, seed=recipe.seed) for name, other in others
    ]
    if len(compared) < 2:
        return tuple(compared)
    corrected = holm([each.p for each in compared]).tolist()
    return tuple(replace(each, p_corrected=p) for each, p in zip(compared, corrected, strict=True))
