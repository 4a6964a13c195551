"""How is an experiment run, so that nothing of a topic that is tested was seen in training?

Each system ranks each topic while it knows only the other folds: a ranker is trained and tuned on their topics, a
scorer with a grid has its settings chosen by them, a scorer without one needs nothing. What learns is given a table of
the training topics, and judgments of these alone; of the topics to be ranked it is given features without grades.

Pieces (searches, features, scores of a system on a fold) are kept as they are finished (`keeping.py`): a run that was
interrupted goes on where it was. Folds are worked on side by side on the machine's cores.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from searchlab.errors import SettingError, SourceError
from searchlab.evaluation.run_evaluation import evaluate_run
from searchlab.experiments.cache import Cache, fingerprint, keep_run, keep_table, kept_run, kept_table
from searchlab.experiments.inputs import Setting
from searchlab.experiments.plan import Plan, System
from searchlab.experiments.scorer_tuning import choose_by_folds
from searchlab.features.candidates import Candidates
from searchlab.features.feature_table import FeatureTable
from searchlab.features.prerequisites import make_what_is_missing
from searchlab.features.sets import FeatureSet
from searchlab.rankers.bundle import Bundle, analysis_record, fingerprint_of, load_bundle
from searchlab.rankers.first_stage import FirstStage
from searchlab.records import Judgments, Ranking
from searchlab.retrieval.batch import search_topics
from searchlab.scorers.registry import SCORERS, make_scorer
from searchlab.training.from_index import DEPTH, Task, prepare
from searchlab.training.from_table import Recipe, make_bundle, require_differences
from searchlab.types import Floats, Progress, no_progress

SEARCHING, TRAINING = "searching", "training"


@dataclass(frozen=True, eq=False)
class Outcome:
    """A system's rankings of topics that it had not seen.

    `chosen` is, for each fold, what was chosen on the others (empty if there was no choice). `seconds` is what a fold
    took in the mean: training and choosing, or searching. A ranker has a `bundle`, trained on all topics.
    """

    system: System
    rankings: tuple[Ranking, ...]
    chosen: tuple[Any, ...] = ()
    seconds: float = 0.0
    bundle: Bundle | None = None


@dataclass(frozen=True, eq=False)
class Lesson:
    """What one fold gives: scores of the rows that were held out, the chosen values, and how long it took."""

    scores: Floats
    chosen: tuple[Any, ...]
    seconds: float


def run_systems(
    plan: Plan,
    setting: Setting,
    cache: Cache,
    *,
    n_jobs: int | None = None,
    progress: Progress = no_progress,
) -> list[Outcome]:
    """The outcome of each system, in the order of the plan."""
    outcomes = {
        system.name: _run_scorer(plan, setting, cache, system, progress) for system in plan.systems if not system.learns
    }
    if plan.rankers:
        task = make_task(plan, setting, cache, progress)
        outcomes |= _run_rankers(plan, setting, cache, task, n_jobs or os.cpu_count() or 1, progress)
    return [outcomes[system.name] for system in plan.systems]


def learn_fold(recipe: Recipe, table: FeatureTable, qrels: Judgments, held_out: Sequence[str]) -> Lesson:
    """Train without some queries, and score their rows (in the order of the table).

    The learner gets neither their rows nor their judgments; what scores them gets no grades.
    """
    aside = np.isin(table.qids.astype(str), np.array(list(held_out), dtype=str))
    train, test = table.rows(~aside), table.rows(aside).with_grades(None)
    known = {qid: qrels[qid] for qid in train.query_ids}
    return _learn(recipe, train, known, test)


def _learn(recipe: Recipe, train: FeatureTable, qrels: Judgments, test: FeatureTable) -> Lesson:
    began = time.perf_counter()
    require_differences(train)
    choice = recipe.learn(train, recipe.judge(qrels))
    seconds = time.perf_counter() - began
    scores = choice.scores(test) if test.n_rows else np.zeros(0)
    return Lesson(scores, _plain(trial.value for trial in choice.chosen), seconds)


def _learn_all(recipe: Recipe, table: FeatureTable, qrels: Judgments, source: str) -> Bundle:
    judge = recipe.judge(qrels)
    return make_bundle(recipe, recipe.learn(table, judge), table, None, judge, None, source=source)


def _plain(values: Any) -> tuple[Any, ...]:
    return tuple(value.item() if isinstance(value, np.generic) else value for value in values if value is not None)


def make_task(plan: Plan, setting: Setting, cache: Cache, progress: Progress) -> Task:
    """Candidates with the features of all rankers, and what the first search gives alone."""
    features = union_of(plan.rankers)
    make_what_is_missing(setting.engine, features, progress)
    known = setting.fingerprints()
    what = [[feature.name, feature.formula] for feature in features.features]
    key = fingerprint(known, what, plan.first_stage.to_json())
    table, first = kept_table(cache, key), kept_run(cache, key)
    if table is None or first is None:
        task = prepare(setting.engine, setting.topics, setting.qrels, features, plan.first_stage, progress)
        keep_table(cache, key, task.table)
        keep_run(cache, key, next(iter(task.baselines.values())), {})
        return task
    return Task(setting.topics, setting.qrels, table, Candidates({}), {"first": first[0]}, 0)


def union_of(systems: Sequence[System]) -> FeatureSet:
    """The features of several rankers, each once."""
    chosen = {feature.name: feature for system in systems if system.features for feature in system.features.features}
    return FeatureSet("all", tuple(chosen.values()))


def _run_scorer(plan: Plan, setting: Setting, cache: Cache, system: System, progress: Progress) -> Outcome:
    points = system.points()
    runs, seconds = [], 0.0
    known = setting.fingerprints()
    parts = ["index", "topics", *(["learnt from the index"] if SCORERS[system.scorer].needs_topic_model else [])]
    for number, point in enumerate(points):
        progress(f"{SEARCHING}: {system.name}", number, len(points))
        rm3 = None if system.expansion is None else vars(system.expansion)
        key = fingerprint([known[part] for part in parts], system.scorer, point, rm3, DEPTH)
        kept = kept_run(cache, key)
        if kept is None:
            began = time.perf_counter()
            scorer = make_scorer(system.scorer, point)
            found = list(
                search_topics(setting.engine, setting.topics, k=DEPTH, scorer=scorer, expansion=system.expansion)
            )
            kept = found, {"seconds": time.perf_counter() - began}
            keep_run(cache, key, *kept)
        runs.append(kept[0])
        seconds += kept[1]["seconds"]
    if len(points) == 1:
        return Outcome(system, tuple(runs[0]), (), seconds)
    values = [
        evaluate_run(setting.qrels, run, plan.measure, dialect=plan.dialect, complete=True).of(plan.measure)
        for run in runs
    ]
    place = {qid: number for number, qid in enumerate(setting.qids)}
    chosen, _ = choose_by_folds(np.array(values), [np.array([place[qid] for qid in fold]) for fold in setting.folds])
    of_qid = {qid: point for fold, point in zip(setting.folds, chosen, strict=True) for qid in fold}
    rankings = tuple(runs[of_qid[qid]][place[qid]] for qid in setting.qids)
    return Outcome(system, rankings, tuple(points[point] for point in chosen), seconds)


def _run_rankers(
    plan: Plan, setting: Setting, cache: Cache, task: Task, n_jobs: int, progress: Progress
) -> dict[str, Outcome]:
    tables = {system.name: _select(task.table, system) for system in plan.rankers}
    judged = setting.fingerprints()["judgments"]
    keys = {
        system.name: [system.to_json() | {"name": ""}, fingerprint_of(tables[system.name]), judged]
        for system in plan.rankers
    }
    lessons: dict[tuple[str, int], Lesson] = {}
    bundles: dict[str, Bundle] = {}
    work: list[tuple[System, int]] = []
    for system in plan.rankers:
        for number, fold in enumerate(setting.folds):
            lesson = _kept_lesson(cache, fingerprint(keys[system.name], list(fold)))
            if lesson is None:
                work.append((system, number))
            else:
                lessons[system.name, number] = lesson
        bundle = _kept_bundle(cache, fingerprint(keys[system.name], "all", plan.first_stage.to_json()))
        if bundle is None:
            work.append((system, -1))
        else:
            bundles[system.name] = bundle
    n_all = len(plan.rankers) * (len(setting.folds) + 1)
    done = n_all - len(work)
    progress(TRAINING, done, n_all)
    for system, number, result in _side_by_side(plan, setting, tables, work, n_jobs):
        if isinstance(result, Lesson):
            lessons[system.name, number] = result
            key = fingerprint(keys[system.name], list(setting.folds[number]))
            about = {"chosen": list(result.chosen), "seconds": result.seconds}
            cache.put("scores", key, {"scores": result.scores}, about)
        else:
            bundles[system.name] = result
            _keep_bundle(cache, fingerprint(keys[system.name], "all", plan.first_stage.to_json()), result)
        done += 1
        progress(TRAINING, done, n_all)
    return {
        system.name: _gathered(
            setting, task, system, [lessons[system.name, n] for n in range(len(setting.folds))], bundles[system.name]
        )
        for system in plan.rankers
    }


def _select(table: FeatureTable, system: System) -> FeatureTable:
    if system.features is None:
        raise SettingError(f"{system.name}: found no features, expected some")
    return table if table.names == system.features.names else table.select(system.features.names)


def _side_by_side(
    plan: Plan, setting: Setting, tables: dict[str, FeatureTable], work: list[tuple[System, int]], n_jobs: int
) -> Iterator[tuple[System, int, Lesson | Bundle]]:
    """The results of pieces of work as they are finished."""
    engine = setting.engine
    analyser = analysis_record(engine.snapshot.manifest.settings)
    source = f"index {engine.snapshot.folder.name}"

    def arguments(system: System, number: int) -> tuple[Any, ...]:
        held_out = None if number < 0 else setting.folds[number]
        return system, number, tables[system.name], setting.qrels, held_out, plan.first_stage, analyser, source

    if n_jobs == 1 or len(work) < 2:
        for system, number in work:
            yield _piece(*arguments(system, number))
        return
    from joblib import Parallel, delayed

    runner = Parallel(n_jobs=min(n_jobs, len(work)), return_as="generator_unordered", pre_dispatch="2*n_jobs")
    yield from runner(delayed(_piece)(*arguments(system, number)) for system, number in work)


def _piece(
    system: System,
    number: int,
    table: FeatureTable,
    qrels: Judgments,
    held_out: Sequence[str] | None,
    first_stage: FirstStage,
    analyser: Any,
    source: str,
) -> tuple[System, int, Lesson | Bundle]:
    recipe = system.recipe
    if recipe is None:
        raise SettingError(f"{system.name}: does not learn")
    if held_out is not None:
        try:
            return system, number, learn_fold(recipe, table, qrels, held_out)
        except SettingError as error:
            raise SettingError(f"{system.name}, fold {number + 1}: {error}") from None
    bundle = _learn_all(recipe, table, qrels, source)
    return system, number, replace(bundle, analyser=analyser, first_stage=first_stage)


def _gathered(setting: Setting, task: Task, system: System, lessons: list[Lesson], bundle: Bundle) -> Outcome:
    """The scores of all folds as one ranking of each topic."""
    scores = np.zeros(task.table.n_rows)
    fold_of = setting.fold_of()
    of_rows = np.array([fold_of[qid] for qid in task.table.qids.tolist()], dtype=np.int64)
    for number, lesson in enumerate(lessons, start=1):
        scores[of_rows == number] = lesson.scores
    seconds = float(np.mean([lesson.seconds for lesson in lessons]))
    chosen = tuple(list(lesson.chosen) for lesson in lessons)
    return Outcome(system, tuple(task.reranked(scores)), chosen, seconds, bundle)


def _kept_lesson(cache: Cache, key: str) -> Lesson | None:
    found = cache.get("scores", key)
    if found is None:
        return None
    arrays, about = found
    return Lesson(arrays["scores"], tuple(about["chosen"]), float(about["seconds"]))


def _keep_bundle(cache: Cache, key: str, bundle: Bundle) -> None:
    bundle.save(cache.path("model", key, ".json"))


def _kept_bundle(cache: Cache, key: str) -> Bundle | None:
    try:
        return load_bundle(cache.path("model", key, ".json"))
    except SourceError:
        return None
