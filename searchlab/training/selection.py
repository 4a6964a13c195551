"""Model selection: the best preprocessor of the features and the best value of a ranker's tuned setting.

Each preprocessor is tried with a path of values of the tuned setting (C of a Ranking SVM, the rounds of boosting). Each
value is measured on a validation set, on parts of the training queries held out in turn, or on both; every query counts
once. The value with the best mean is trained on all training queries; of equal means, the more cautious value wins.

With a few dozen validation queries, which value of C comes out best is largely chance. Where models can be averaged,
the best few of the path are averaged, each scaled to the same standard deviation of scores: such a model changes little
from sample to sample.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from searchlab.cluster.cluster import Cluster
from searchlab.cluster.job_runs import run_calls
from searchlab.errors import SettingError
from searchlab.features.feature_table import FeatureTable
from searchlab.features.preprocessing.preprocessor import Preprocessor
from searchlab.rankers.estimators.base_ranker import Ranker, require_whole
from searchlab.rankers.models.base_model import Model
from searchlab.rankers.models.model_kinds import average_models
from searchlab.rankers.prior import Prior
from searchlab.rankers.training_data import TrainingData
from searchlab.training.query_folds import deal_folds
from searchlab.training.validation import ValidationMeasure
from searchlab.types import Flags, Floats, Progress, no_progress

# How many of the best values of a path are averaged; the values are a quarter of a decade apart.
N_BEST = 5


@dataclass(frozen=True, eq=False)
class SettingTrial:
    """One preprocessor and one value of the tuned setting, with the measure of each validation query.

    `variant` is the ranker as it was before it was fitted, `ranker` the fitted one, if it was fitted to all queries.
    """

    preprocessor: Preprocessor
    value: Any
    per_query: Floats
    variant: Ranker
    ranker: Ranker | None = None

    @property
    def mean(self) -> float:
        """The mean over the validation queries, by which values are chosen; 0 without any."""
        return float(np.mean(self.per_query)) if len(self.per_query) else 0.0


@dataclass(frozen=True, eq=False)
class Choice:
    """The chosen model, trained on all training queries, and its preprocessor.

    `rankers` are the fitted rankers that the model averages, one for each `chosen` trial; `prior` is what they started
    from, and `prior_share` its share in the scores.
    """

    model: Model
    preprocessor: Preprocessor
    rankers: tuple[Ranker, ...]
    chosen: tuple[SettingTrial, ...]
    trials: tuple[SettingTrial, ...]
    prior: Prior | None = None
    prior_share: float = 0.0

    def scores(self, table: FeatureTable) -> Floats:
        """The scores of the rows of a table of raw features."""
        prepared = self.preprocessor.transform(table)
        return self.model.score(prepared.values, prepared.group_offsets)


def select_model(
    ranker: Ranker,
    train: FeatureTable,
    *,
    measure: ValidationMeasure,
    valid: FeatureTable | None = None,
    n_parts: int = 0,
    preprocessors: Sequence[Preprocessor] = (),
    values: Sequence[Any] | None = None,
    n_best: int = N_BEST,
    seed: int = 0,
    progress: Progress = no_progress,
    alternatives: Sequence[Ranker] = (),
    cluster: Cluster | None = None,
) -> Choice:
    """Select a model on a validation set, on `n_parts` of the training queries held out in turn, or on both.

    A single candidate is trained without validation; so is a ranker whose tuned setting was given. If the ranker can be
    averaged, the model is the average over the `n_best` values with the best preprocessor. `alternatives` are the same
    ranker with other settings, which are tried with the same values. A `cluster` may try them on the parts.
    """
    require_whole("n_best", n_best)
    if values is not None and not len(values):
        raise SettingError("values is empty, expected at least one to try")
    candidates = list(preprocessors) or [Preprocessor.named()]
    if values is None and (ranker.tuned is None or ranker.tuned in ranker.changed_settings()):
        values = [None]
    has_choice = len(candidates) > 1 or values is None or len(values) > 1 or bool(alternatives)
    if valid is None and n_parts < 2 and has_choice:
        raise SettingError("no queries to choose settings on: expected a validation set, or parts to hold out")
    if valid is None and has_choice and train.n_queries < 2:
        found = f"{train.n_queries} quer{'y' if train.n_queries == 1 else 'ies'}"
        raise SettingError(f"{found} to train with, expected at least 2: some are held out to choose settings on")
    splits = list(held_out_rows(train, n_parts, seed)) if has_choice else []
    variants = [ranker, *alternatives]
    steps = _Steps(len(candidates) * len(variants) * (len(splits) + 1), progress)
    validated_on = valid if has_choice else None
    paths = [
        _try_values(variants, train, validated_on, splits, each, values, measure, steps, cluster) for each in candidates
    ]
    trials = [trial for path in paths for trial in path]
    best = max(trials, key=lambda trial: trial.mean)
    siblings = next(path for path in paths if best in path)
    ordered = sorted(siblings, key=lambda trial: -trial.mean)
    chosen = ordered[: n_best if ranker.averaged else 1]
    prepared = best.preprocessor.transform(train)
    rankers = [trial.ranker for trial in chosen if trial.ranker is not None]
    if len(rankers) < len(chosen):
        # In the order of the path: each fit starts from the solution of the one before.
        chosen = [trial for trial in siblings if trial in chosen]
        rankers = [
            fitted
            for each in variants
            for fitted in _fit_path(each, prepared, [trial.value for trial in chosen if trial.variant is each])
        ]
    steps.end()
    deviations = [float(np.std(_score(each, prepared))) for each in rankers]
    model = average_models([each.model_ for each in rankers], deviations)
    return Choice(model, best.preprocessor, tuple(rankers), tuple(chosen), tuple(trials))


def _try_values(
    variants: Sequence[Ranker],
    train: FeatureTable,
    valid: FeatureTable | None,
    splits: Sequence[Flags],
    preprocessor: Preprocessor,
    values: Sequence[Any] | None,
    measure: ValidationMeasure,
    steps: _Steps,
    cluster: Cluster | None,
) -> list[SettingTrial]:
    """A trial for each variant and value, with one preprocessor."""
    fitted = preprocessor.fit(train)
    prepared = fitted.transform(train)
    path = list(variants[0].values(_training(prepared))) if values is None else list(values)
    trials = []
    for variant in variants:
        calls = ((variant, preprocessor, train.rows(~part), train.rows(part), path, measure) for part in splits)
        of_parts = run_calls(try_path, calls, cluster, lambda n_done: steps.next())
        measured = [[of_part[number] for of_part in of_parts] for number in range(len(path))]
        rankers: list[Ranker | None] = [None] * len(path)
        if valid is not None:
            prepared_valid = fitted.transform(valid)
            for number, each in enumerate(_fit_path(variant, prepared, path)):
                rankers[number] = each
                measured[number].append(measure.per_query(valid, _score(each, prepared_valid)))
        steps.next()
        trials += [
            SettingTrial(fitted, value, np.concatenate(per_query) if per_query else np.zeros(0), variant, each)
            for value, per_query, each in zip(path, measured, rankers, strict=True)
        ]
    return trials


def try_path(
    ranker: Ranker,
    preprocessor: Preprocessor,
    train: FeatureTable,
    aside: FeatureTable,
    values: Sequence[Any],
    measure: ValidationMeasure,
) -> list[Floats]:
    """For each value the measure of each query of a part that is held out, by a ranker fitted to the others."""
    fitted = preprocessor.fit(train)
    prepared = fitted.transform(aside)
    rankers = _fit_path(ranker, fitted.transform(train), values)
    return [measure.per_query(aside, _score(each, prepared)) for each in rankers]


class _Steps:
    """Counts the steps of training and reports progress."""

    def __init__(self, n: int, progress: Progress) -> None:
        self.done, self.n, self.progress = 0, n + 1, progress

    def next(self) -> None:
        self.done += 1
        self.progress("training", self.done, self.n)

    def end(self) -> None:
        self.progress("training", self.n, self.n)


def _fit_path(ranker: Ranker, prepared: FeatureTable, values: Sequence[Any]) -> Iterator[Ranker]:
    """A ranker fitted with each value of the tuned setting; [None] stands for the ranker's own settings."""
    training = _training(prepared)
    if list(values) == [None]:
        yield clone(ranker).fit_data(training)
    else:
        yield from ranker.fit_path(training, values)


def _training(prepared: FeatureTable) -> TrainingData:
    if prepared.grades is None:
        raise SettingError("the training table has no grades, expected one for each row")
    return TrainingData(prepared.values, prepared.grades.astype(np.float64), prepared.group_offsets)


def _score(ranker: Ranker, prepared: FeatureTable) -> Floats:
    return ranker.model_.score(prepared.values, prepared.group_offsets)


def held_out_rows(table: FeatureTable, n_parts: int, seed: int) -> Iterator[Flags]:
    """For each part, which rows are held out; queries are assigned to parts at random."""
    if n_parts < 2 or table.n_queries < 2:
        return
    query_of_row = np.repeat(np.arange(table.n_queries), np.diff(table.group_offsets))
    for part in deal_folds(table.n_queries, min(n_parts, table.n_queries), seed):
        yield np.isin(query_of_row, part)
