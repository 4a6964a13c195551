"""Running an experiment: the rankings of each system, made without knowledge of the topics that are tested.

Each system ranks the topics of a fold knowing only the other folds: a ranker is trained and tuned on their topics, a
scorer with a grid has its settings chosen by them, a scorer without one needs nothing. A ranker gets a table of the
training topics and their judgments alone; of the topics to be ranked it gets features without grades.

Results of steps (searches, features, scores of a system on a fold) are cached as they are finished (`cache.py`): an
interrupted run continues where it was. Folds are computed in parallel.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from searchlab.cluster.cluster import Cluster
from searchlab.cluster.job_runs import finish_jobs
from searchlab.errors import SettingError, SourceError
from searchlab.evaluation.run_evaluation import evaluate_run
from searchlab.experiments.cache import Cache, fingerprint, load_run, load_table, store_run, store_table
from searchlab.experiments.inputs import ExperimentInputs
from searchlab.experiments.plan import ExperimentPlan, SystemPlan
from searchlab.experiments.scorer_tuning import choose_by_folds
from searchlab.features.feature_sets import FeatureSet
from searchlab.features.feature_table import FeatureTable
from searchlab.features.prerequisites import build_prerequisites
from searchlab.rankers.bundle import Bundle, analysis_record, fingerprint_of, load_bundle
from searchlab.rankers.first_stage import FirstStage
from searchlab.records import Judgments, Ranking
from searchlab.retrieval.pipeline import Pipeline
from searchlab.scorers.registry import SCORERS, make_scorer
from searchlab.training.from_table import make_bundle, require_different_grades
from searchlab.training.recipe import Recipe
from searchlab.training.training_set import DEPTH, TrainingSet, prepare_training
from searchlab.types import Floats, Progress, no_progress

SEARCHING, TRAINING = "searching", "training"
# In place of the number of a fold: the job that trains on all topics.
ALL_TOPICS = -1


@dataclass(frozen=True, eq=False)
class SystemResult:
    """A system's rankings of topics that it had not seen.

    `chosen` has for each fold the settings chosen on the other folds (empty if there was no choice). `seconds` is the
    mean time of a fold for training and choosing, or for searching. A ranker has a `bundle`, trained on all topics.
    """

    system: SystemPlan
    rankings: tuple[Ranking, ...]
    chosen: tuple[Any, ...] = ()
    seconds: float = 0.0
    bundle: Bundle | None = None


@dataclass(frozen=True, eq=False)
class HeldOutFold:
    """The result of training without one fold: scores of its rows, the chosen settings, and the time it took."""

    scores: Floats
    chosen: tuple[Any, ...]
    seconds: float


def run_systems(
    plan: ExperimentPlan,
    inputs: ExperimentInputs,
    cache: Cache,
    *,
    n_jobs: int | None = None,
    cluster: Cluster | None = None,
    divide: str = "auto",
    progress: Progress = no_progress,
) -> list[SystemResult]:
    """The result of each system, in the order of the plan."""
    plan = replace(plan, systems=tuple(system.for_topics(inputs.topics) for system in plan.systems))
    results = {
        system.name: _run_scorer(plan, inputs, cache, system, cluster, divide, progress)
        for system in plan.systems
        if not system.learns
    }
    if plan.rankers:
        data = load_training_set(plan, inputs, cache, progress, cluster, divide)
        results |= _run_rankers(plan, inputs, cache, data, n_jobs, cluster, progress)
    return [results[system.name] for system in plan.systems]


def learn_fold(recipe: Recipe, table: FeatureTable, qrels: Judgments, held_out: Sequence[str]) -> HeldOutFold:
    """Train without some queries, and score their rows (in the order of the table).

    The ranker gets neither their rows nor their judgments; the rows to be scored have no grades.
    """
    is_held_out = np.isin(table.qids.astype(str), np.array(list(held_out), dtype=str))
    train, test = table.rows(~is_held_out), table.rows(is_held_out).with_grades(None)
    return _learn(recipe, train, {qid: qrels[qid] for qid in train.query_ids}, test)


def _learn(recipe: Recipe, train: FeatureTable, qrels: Judgments, test: FeatureTable) -> HeldOutFold:
    began = time.perf_counter()
    require_different_grades(train)
    choice = recipe.learn(train, recipe.validation_measure(qrels))
    seconds = time.perf_counter() - began
    scores = choice.scores(test) if test.n_rows else np.zeros(0)
    return HeldOutFold(scores, _plain(trial.value for trial in choice.chosen), seconds)


def _learn_all(recipe: Recipe, table: FeatureTable, qrels: Judgments, source: str) -> Bundle:
    measure = recipe.validation_measure(qrels)
    return make_bundle(recipe, recipe.learn(table, measure), table, None, measure, None, source=source)


def _plain(values: Any) -> tuple[Any, ...]:
    return tuple(value.item() if isinstance(value, np.generic) else value for value in values if value is not None)


def load_training_set(
    plan: ExperimentPlan,
    inputs: ExperimentInputs,
    cache: Cache,
    progress: Progress,
    cluster: Cluster | None = None,
    divide: str = "auto",
) -> TrainingSet:
    """Candidates with the features of all rankers, and the rankings of the first search; cached."""
    features = combine_features(plan.rankers)
    build_prerequisites(inputs.engine, features, progress)
    known = inputs.fingerprints()
    formulas = [[feature.name, feature.formula, feature.version] for feature in features.features]
    key = fingerprint(known, formulas, plan.first_stage.to_json())
    table, first = load_table(cache, key), load_run(cache, key, inputs.qids)
    fits = table is not None and table.names == features.names and {*table.qids.tolist()} <= {*inputs.qids}
    if table is None or first is None or not fits:
        data = prepare_training(
            inputs.engine, inputs.topics, inputs.qrels, features, plan.first_stage, progress, cluster, divide
        )
        store_table(cache, key, data.table)
        store_run(cache, key, next(iter(data.baselines.values())), {})
        return data
    return TrainingSet(inputs.topics, inputs.qrels, table, {"first": first[0]}, 0)


def combine_features(systems: Sequence[SystemPlan]) -> FeatureSet:
    """The features of several rankers, each once."""
    features = {feature.name: feature for system in systems if system.features for feature in system.features.features}
    return FeatureSet("all", tuple(features.values()))


def _run_scorer(
    plan: ExperimentPlan,
    inputs: ExperimentInputs,
    cache: Cache,
    system: SystemPlan,
    cluster: Cluster | None,
    divide: str,
    progress: Progress,
) -> SystemResult:
    points = system.points()
    runs, seconds = [], 0.0
    known = inputs.fingerprints()
    parts = ["index", "topics", *(["learnt from the index"] if SCORERS[system.scorer].needs_topic_model else [])]
    for number, point in enumerate(points):
        progress(f"{SEARCHING}: {system.name}", number, len(points))
        rm3 = None if system.expansion is None else vars(system.expansion)
        key = fingerprint([known[part] for part in parts], system.scorer, point, rm3, DEPTH)
        cached = load_run(cache, key, inputs.qids)
        if cached is None or not isinstance(cached[1].get("seconds"), float):
            began = time.perf_counter()
            pipeline = Pipeline(inputs.engine, make_scorer(system.scorer, point), expansion=system.expansion)
            cached = (
                list(pipeline.run(inputs.topics, k=DEPTH, cluster=cluster, divide=divide)),
                {"seconds": time.perf_counter() - began},
            )
            store_run(cache, key, *cached)
        runs.append(cached[0])
        seconds += cached[1]["seconds"]
    if len(points) == 1:
        return SystemResult(system, tuple(runs[0]), (), seconds)
    values = [
        evaluate_run(inputs.qrels, run, plan.measure, dialect=plan.dialect, complete=True, warn=False).values_of(
            plan.measure
        )
        for run in runs
    ]
    row = {qid: number for number, qid in enumerate(inputs.qids)}
    chosen, _ = choose_by_folds(np.array(values), [np.array([row[qid] for qid in fold]) for fold in inputs.folds])
    of_qid = {qid: point for fold, point in zip(inputs.folds, chosen, strict=True) for qid in fold}
    rankings = tuple(runs[of_qid[qid]][row[qid]] for qid in inputs.qids)
    return SystemResult(system, rankings, tuple(points[point] for point in chosen), seconds)


def _run_rankers(
    plan: ExperimentPlan,
    inputs: ExperimentInputs,
    cache: Cache,
    data: TrainingSet,
    n_jobs: int | None,
    cluster: Cluster | None,
    progress: Progress,
) -> dict[str, SystemResult]:
    tables = {system.name: _select(data.table, system) for system in plan.rankers}
    judged = inputs.fingerprints()["judgments"]
    keys = {
        system.name: [system.to_json() | {"name": ""}, fingerprint_of(tables[system.name]), judged]
        for system in plan.rankers
    }
    n_rows = [int(np.isin(data.table.qids.astype(str), fold).sum()) for fold in inputs.folds]
    folds: dict[tuple[str, int], HeldOutFold] = {}
    bundles: dict[str, Bundle] = {}
    jobs: list[tuple[SystemPlan, int]] = []
    for system in plan.rankers:
        for number, fold in enumerate(inputs.folds):
            cached = _load_fold(cache, fingerprint(keys[system.name], list(fold)), n_rows[number])
            if cached is None:
                jobs.append((system, number))
            else:
                folds[system.name, number] = cached
        bundle = _load_bundle(cache, fingerprint(keys[system.name], "all", plan.first_stage.to_json()))
        if bundle is None:
            jobs.append((system, ALL_TOPICS))
        else:
            bundles[system.name] = bundle
    n_jobs_in_all = len(plan.rankers) * (len(inputs.folds) + 1)
    done = n_jobs_in_all - len(jobs)
    progress(TRAINING, done, n_jobs_in_all)
    for system, number, result in _run_parallel(plan, inputs, tables, jobs, n_jobs, cluster):
        if isinstance(result, HeldOutFold):
            folds[system.name, number] = result
            key = fingerprint(keys[system.name], list(inputs.folds[number]))
            about = {"chosen": list(result.chosen), "seconds": result.seconds}
            cache.put("scores", key, {"scores": result.scores}, about)
        else:
            bundles[system.name] = result
            _store_bundle(cache, fingerprint(keys[system.name], "all", plan.first_stage.to_json()), result)
        done += 1
        progress(TRAINING, done, n_jobs_in_all)
    return {
        system.name: _join_folds(
            inputs, data, system, [folds[system.name, n] for n in range(len(inputs.folds))], bundles[system.name]
        )
        for system in plan.rankers
    }


def _select(table: FeatureTable, system: SystemPlan) -> FeatureTable:
    if system.features is None:
        raise SettingError(f"{system.name}: found no features, expected some")
    return table if table.names == system.features.names else table.select(system.features.names)


def _run_parallel(
    plan: ExperimentPlan,
    inputs: ExperimentInputs,
    tables: dict[str, FeatureTable],
    jobs: list[tuple[SystemPlan, int]],
    n_jobs: int | None,
    cluster: Cluster | None,
) -> Iterator[tuple[SystemPlan, int, HeldOutFold | Bundle]]:
    """The results of jobs, each a system and the number of a fold, as they are finished."""
    engine = inputs.engine
    analyser = analysis_record(engine.snapshot.manifest.settings)
    source = f"index {engine.snapshot.folder.name}"
    calls = [
        (
            system.name,
            system.recipe,
            number,
            tables[system.name],
            inputs.qrels,
            None if number == ALL_TOPICS else inputs.folds[number],
            plan.first_stage,
            analyser,
            source,
        )
        for system, number in jobs
    ]
    systems = {system.name: system for system, _ in jobs}
    for name, number, result in finish_jobs(_run_job, calls, n_jobs=n_jobs, cluster=cluster):
        yield systems[name], number, result


def _run_job(
    name: str,
    recipe: Recipe | None,
    number: int,
    table: FeatureTable,
    qrels: Judgments,
    held_out: Sequence[str] | None,
    first_stage: FirstStage,
    analyser: Any,
    source: str,
) -> tuple[str, int, HeldOutFold | Bundle]:
    """Learn, perhaps in a process of its own."""
    if recipe is None:
        raise SettingError(f"{name}: does not learn")
    if held_out is not None:
        try:
            return name, number, learn_fold(recipe, table, qrels, held_out)
        except SettingError as error:
            raise SettingError(f"{name}, fold {number + 1}: {error}") from None
    bundle = _learn_all(recipe, table, qrels, source)
    return name, number, replace(bundle, analyser=analyser, first_stage=first_stage)


def _join_folds(
    inputs: ExperimentInputs, data: TrainingSet, system: SystemPlan, folds: list[HeldOutFold], bundle: Bundle
) -> SystemResult:
    """The scores of all folds as one ranking of each topic."""
    scores = np.zeros(data.table.n_rows)
    fold_of = inputs.fold_of()
    of_rows = np.array([fold_of[qid] for qid in data.table.qids.tolist()], dtype=np.int64)
    for number, fold in enumerate(folds, start=1):
        scores[of_rows == number] = fold.scores
    seconds = float(np.mean([fold.seconds for fold in folds]))
    chosen = tuple(list(fold.chosen) for fold in folds)
    return SystemResult(system, tuple(data.rerank(scores)), chosen, seconds, bundle)


def _load_fold(cache: Cache, key: str, n_rows: int) -> HeldOutFold | None:
    cached = cache.get("scores", key, {"scores": "f"})
    if cached is None:
        return None
    arrays, about = cached
    scores, chosen, seconds = arrays.get("scores"), about.get("chosen"), about.get("seconds")
    if scores is None or scores.shape != (n_rows,) or not np.isfinite(scores).all():
        return None
    if not isinstance(chosen, list) or not isinstance(seconds, float):
        return None
    return HeldOutFold(scores, tuple(chosen), seconds)


def _store_bundle(cache: Cache, key: str, bundle: Bundle) -> None:
    if bundle.is_storable:
        bundle.save(cache.path("model", key, ".json"))


def _load_bundle(cache: Cache, key: str) -> Bundle | None:
    try:
        return load_bundle(cache.path("model", key, ".json"))
    except SourceError:
        return None
