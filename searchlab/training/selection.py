"""Which setting, and which preparation of the features, is best?

What was not trained on decides. Each preparation is tried with a path of values of the setting that a ranker is tuned
by (C of a Ranking SVM, the rounds of boosting); each of these is judged on a validation set, or on parts of the
training queries that are held out in turn, or on both: every query counts once. The best by the mean is trained on all
training queries. Equal means are decided for the more cautious.

With a few dozen queries to judge by, which value of C comes out best is largely chance. Where models can be averaged,
the best few of the path are, each scaled to the same spread of scores: that changes little from sample to sample.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from searchlab.errors import SettingError
from searchlab.features.feature_table import FeatureTable
from searchlab.features.preprocessing.preprocessor import Preparation
from searchlab.rankers.estimators.base_ranker import Ranker, Training, require_whole
from searchlab.rankers.models import Model, average
from searchlab.training.cross_validation import deal_folds
from searchlab.training.validation import Judge
from searchlab.types import Floats, Progress, no_progress

# Which rows are held out.
Held = npt.NDArray[np.bool_]

# So many of a path's best are averaged; the values are a quarter of a decade apart.
N_BEST = 5


@dataclass(frozen=True, eq=False)
class Trial:
    """One preparation and one value of the tuned setting, with its measure for each query that judged it."""

    preparation: Preparation
    value: Any
    per_query: Floats
    ranker: Ranker | None = None

    @property
    def mean(self) -> float:
        """What it is chosen by."""
        return float(np.mean(self.per_query)) if len(self.per_query) else 0.0


@dataclass(frozen=True, eq=False)
class Choice:
    """What was chosen: a model trained on all training queries as the best trials say, and its preparation.

    `rankers` are those that the model is made of, one for each of the trials that were `chosen`.
    """

    model: Model
    preparation: Preparation
    rankers: tuple[Ranker, ...]
    chosen: tuple[Trial, ...]
    trials: tuple[Trial, ...]

    def scores(self, table: FeatureTable) -> Floats:
        """The scores of the rows of a table of raw features."""
        prepared = self.preparation.apply(table)
        return self.model.score(prepared.values, prepared.group_offsets)


def choose(
    ranker: Ranker,
    train: FeatureTable,
    *,
    judge: Judge,
    valid: FeatureTable | None = None,
    n_parts: int = 0,
    preparations: Sequence[Preparation] = (),
    values: Sequence[Any] | None = None,
    n_best: int = N_BEST,
    seed: int = 0,
    progress: Progress = no_progress,
) -> Choice:
    """Try and choose, by a validation set, by `n_parts` of the training queries held out in turn, or by both.

    If there is only one thing to try, it is trained without a trial; so is a ranker whose tuned setting was given. The
    model is the average of the `n_best` values of the best preparation, if it can be averaged.
    """
    require_whole("n_best", n_best)
    if values is not None and not len(values):
        raise SettingError("values is empty, expected at least one to try")
    tried = list(preparations) or [Preparation.named()]
    if values is None and (ranker.tuned is None or not _is_default(ranker, ranker.tuned)):
        values = [None]
    is_open = len(tried) > 1 or values is None or len(values) > 1
    if valid is None and n_parts < 2 and is_open:
        raise SettingError("nothing to choose by: expected a validation set, or parts to hold out")
    if valid is None and is_open and train.n_queries < 2:
        found = f"{train.n_queries} quer{'y' if train.n_queries == 1 else 'ies'}"
        raise SettingError(f"{found} to train with, expected at least 2: some are held out to choose by")
    splits = list(_splits(train, n_parts, seed)) if is_open else []
    steps = _Steps(len(tried) * (len(splits) + 1), progress)
    paths = [_try(ranker, train, valid if is_open else None, splits, each, values, judge, steps) for each in tried]
    trials = [trial for path in paths for trial in path]
    best = max(trials, key=lambda trial: trial.mean)
    siblings = next(path for path in paths if best in path)
    ordered = sorted(siblings, key=lambda trial: -trial.mean)
    chosen = ordered[: n_best if ranker.averaged else 1]
    prepared = best.preparation.apply(train)
    rankers = [trial.ranker for trial in chosen if trial.ranker is not None]
    if len(rankers) < len(chosen):
        # In the order of the path, along which one begins where the other ended.
        chosen = [trial for trial in siblings if trial in chosen]
        rankers = list(_path(ranker, prepared, [trial.value for trial in chosen]))
    steps.end()
    spreads = [float(np.std(_score(each, prepared))) for each in rankers]
    model = average([each.model_ for each in rankers], spreads)
    return Choice(model, best.preparation, tuple(rankers), tuple(chosen), tuple(trials))


def _try(
    ranker: Ranker,
    train: FeatureTable,
    valid: FeatureTable | None,
    splits: Sequence[Held],
    preparation: Preparation,
    values: Sequence[Any] | None,
    judge: Judge,
    steps: _Steps,
) -> list[Trial]:
    """A trial for each value, with one preparation."""
    whole = preparation.fit(train)
    prepared = whole.apply(train)
    worth = list(ranker.values(_training(prepared))) if values is None else list(values)
    judged: list[list[Floats]] = [[] for _ in worth]
    for held_out in splits:
        own, aside = train.rows(~held_out), train.rows(held_out)
        fitted = preparation.fit(own)
        shown = fitted.apply(aside)
        for place, each in enumerate(_path(ranker, fitted.apply(own), worth)):
            judged[place].append(judge.per_query(aside, _score(each, shown)))
        steps.next()
    rankers: list[Ranker | None] = [None] * len(worth)
    if valid is not None:
        shown = whole.apply(valid)
        for place, each in enumerate(_path(ranker, prepared, worth)):
            rankers[place] = each
            judged[place].append(judge.per_query(valid, _score(each, shown)))
    steps.next()
    return [
        Trial(whole, value, np.concatenate(own) if own else np.zeros(0), each)
        for value, own, each in zip(worth, judged, rankers, strict=True)
    ]


class _Steps:
    """Tells progress."""

    def __init__(self, n: int, progress: Progress) -> None:
        self.done, self.n, self.tell = 0, n + 1, progress

    def next(self) -> None:
        self.done += 1
        self.tell("training", self.done, self.n)

    def end(self) -> None:
        self.tell("training", self.n, self.n)


def _is_default(ranker: Ranker, setting: str) -> bool:
    default = inspect.signature(type(ranker)).parameters[setting].default
    value = getattr(ranker, setting)
    return value is default or bool(value == default)


def _path(ranker: Ranker, prepared: FeatureTable, values: Sequence[Any]) -> Iterator[Ranker]:
    training = _training(prepared)
    if list(values) == [None]:
        each = clone(ranker)
        each._check_settings()
        yield each._take(training, *each._learn(training))
    else:
        yield from ranker.fit_path(training, values)


def _training(prepared: FeatureTable) -> Training:
    if prepared.grades is None:
        raise SettingError("a table to train with has no grades, expected one for each row")
    return Training(prepared.values, prepared.grades.astype(np.float64), prepared.group_offsets)


def _score(ranker: Ranker, prepared: FeatureTable) -> Floats:
    return ranker.model_.score(prepared.values, prepared.group_offsets)


def _splits(table: FeatureTable, n_parts: int, seed: int) -> Iterator[Held]:
    """For each part, which rows are held out: queries are dealt out at random."""
    if n_parts < 2 or table.n_queries < 2:
        return
    for part in deal_folds(table.n_queries, min(n_parts, table.n_queries), seed):
        yield np.repeat(np.isin(np.arange(table.n_queries), part), np.diff(table.group_offsets))
