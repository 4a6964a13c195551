"""Retraining: whether a new model is better than the former one of its name, compared on the same judgments.

The former model has learnt from some of the topics that are judged now: on these its rankings prove nothing. Two
comparisons are fair, and the first that is possible is made:

    new topics   topics that the former model has not learnt from, if there are at least 10: the former model ranks
                 them, the new settings rank each when it is held out by cross-validation
    same folds   all topics, in the same folds: the former settings learn from the former model's topics, the new
                 settings from all topics, both without those that are held out

The second compares what the two have learnt from and how, not the former model itself. If the settings and the topics
are the same, and only judgments have changed, no held-out topic can tell the two apart: the model that has learnt from
the judgments of today takes the place of the former one as a matter of course.

A former model that does not fit the index any more cannot rank anything there: the new one takes its place.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from searchlab.cluster.cluster import Cluster
from searchlab.cluster.job_runs import run_calls
from searchlab.errors import SearchlabError, SettingError
from searchlab.evaluation.comparison import Comparison, compare_values
from searchlab.evaluation.number_text import format_count, format_value
from searchlab.evaluation.run_evaluation import evaluate_run
from searchlab.evaluation.significance import TIE_TOLERANCE, bootstrap_interval
from searchlab.features.feature_table import FeatureTable
from searchlab.features.preprocessing.imputation import name_of_imputation
from searchlab.rankers.builtin import BUILTIN
from searchlab.rankers.bundle import Bundle
from searchlab.rankers.ranker_registry import RANKERS
from searchlab.records import Judgments, Ranking
from searchlab.training.advice import describe_certainty
from searchlab.training.cross_validation import (
    MIN_QUERIES,
    MIN_VERDICT_QUERIES,
    CrossValidationResult,
    learn_and_score,
)
from searchlab.training.from_table import has_different_grades
from searchlab.training.query_folds import deal_folds
from searchlab.training.recipe import NO_PRIOR, Recipe
from searchlab.training.training_set import TrainingSet
from searchlab.types import Flags, Floats, Progress

NEW_TOPICS, SAME_FOLDS, NOT_COMPARED = "new topics", "same folds", "not compared"
KINDS = (NEW_TOPICS, SAME_FOLDS, NOT_COMPARED)
NEW, FORMER = "the new model", "the former model"


@dataclass(frozen=True, eq=False)
class ModelComparison:
    """The new model compared with the former one.

    `kind` is one of KINDS, and `on` says in words on which topics, or why there is no comparison. `compared` has the
    new model first; `values` are those of each topic, by qid. `former_fits` the index, or else it cannot be used.
    `same_recipe` means that both were trained by the same settings on the same topics, and only judgments have changed.
    """

    kind: str
    on: str
    compared: Comparison | None = None
    values: Mapping[str, tuple[float, float]] | None = None
    former_fits: bool = True
    same_recipe: bool = False

    @property
    def is_better(self) -> bool:
        """Whether the new model takes the former one's place: it has the higher mean, is the only one that fits, or is
        the same but for the judgments, of which it knows those of today.
        """
        if not self.former_fits or self.same_recipe:
            return True
        return self.compared is not None and self.compared.difference > TIE_TOLERANCE

    def finding(self) -> str:
        """What was found, and on which topics, in a sentence without its full stop."""
        if not self.former_fits:
            return f"The former model cannot be used any more, the new one can: {self.on}"
        if self.same_recipe:
            return f"The new model cannot be compared with the former one, as {self.on}"
        if self.compared is None:
            return f"The new model cannot be compared with the former one: {self.on}"
        equal = abs(self.compared.difference) <= TIE_TOLERANCE
        found = "better than" if self.is_better else "as good as" if equal else "not better than"
        former, new = format_value(self.compared.mean_b), format_value(self.compared.mean_a)
        certainty = "" if equal else f", {describe_certainty(self.compared)}"
        change = f"{self.compared.measure} {former} → {new}"
        return f"The new model is {found} the former one: {change} on {self.on}{certainty}"

    def sentence(self) -> str:
        """What was found, and which of the two is used from now on."""
        then = "it takes the place of the former one" if self.is_better else "the former one stays"
        why = ", since it has learnt from the judgments of today" if self.same_recipe else ""
        return f"{self.finding()}; {then}{why}."

    def to_json(self) -> dict[str, Any]:
        """The comparison as plain JSON, with bootstrap intervals (95 %) of the means."""
        record: dict[str, Any] = {
            "kind": self.kind,
            "finding": self.finding(),
            "sentence": self.sentence(),
            "is_better": self.is_better,
            "measure": None,
            "n_topics": 0,
            "means": {},
            "intervals": {},
        }
        if self.compared is None or self.values is None:
            return record
        columns = zip(*self.values.values(), strict=True)
        each = {name: np.array(column) for name, column in zip((NEW, FORMER), columns, strict=True)}
        intervals = {name: bootstrap_interval(values, seed=0) for name, values in each.items()}
        return record | {
            "measure": self.compared.measure,
            "n_topics": self.compared.n_topics,
            "means": {name: float(np.mean(values)) for name, values in each.items()},
            "intervals": {name: [interval.low, interval.high] for name, interval in intervals.items()},
        }


def compare_with_former(
    recipe: Recipe,
    data: TrainingSet,
    former: Bundle,
    former_data: Callable[[], TrainingSet],
    result: CrossValidationResult | None,
    is_same_data: bool,
    progress: Progress,
    cluster: Cluster | None = None,
) -> ModelComparison:
    """The comparison of a new model, whose cross-validation is `result`, with the former one.

    `former_data` prepares the same topics with the features and the first stage of the former model, which are those of
    `data` if `is_same_data`.
    """
    if result is None or result.held_out is None:
        return ModelComparison(NOT_COMPARED, "it was not cross-validated")
    new = dict(zip(result.held_out.qids, result.held_out.values[recipe.label].tolist(), strict=True))
    try:
        with _report_malformed():
            known = _known_qids(former, data)
        if known is None:
            unknown = "the file of the former one does not say which topics it was trained on"
            return ModelComparison(NOT_COMPARED, unknown)
        unseen = [qid for qid in new if qid not in known]
        if len(unseen) >= MIN_VERDICT_QUERIES:
            table = former_data().table
            scores = former.scores(table)
            values = _measure(recipe, former_data(), [scores], unseen)
            on = f"{format_count(len(unseen), 'topic')} that neither has learnt from"
            return _compare(NEW_TOPICS, on, recipe, new, values)
        with _report_malformed():
            former_recipe = recipe_of(former, recipe)
        if is_same_data and len(unseen) == 0 and _same_settings(former, former_recipe, recipe, data):
            same = "settings and topics are the same and only judgments can have changed"
            return ModelComparison(NOT_COMPARED, same, same_recipe=True)
        scores_of_folds = _score_in_same_folds(recipe, former_recipe, data, former_data(), known, progress, cluster)
        if scores_of_folds is None:
            few = f"only {format_count(len(known), 'topic')} of the former one are judged now"
            return ModelComparison(NOT_COMPARED, few)
        values = _measure(recipe, former_data(), scores_of_folds, list(new))
    except SearchlabError as error:
        return ModelComparison(NOT_COMPARED, " ".join(str(error).split()))
    if unseen:
        n_new = f"{format_count(len(unseen), 'topic')} {'is' if len(unseen) == 1 else 'are'} new to the former one"
        learnt = (
            f"the former settings learnt from its {format_count(len(known), 'topic')}, the new ones from all; {n_new}"
        )
    else:
        learnt = "the former settings and the new ones learnt from the same topics"
    on = f"{format_count(len(new), 'held-out topic')} in the same folds ({learnt})"
    return _compare(SAME_FOLDS, on, recipe, new, values)


def _compare(
    kind: str, on: str, recipe: Recipe, new: Mapping[str, float], former: Mapping[str, float]
) -> ModelComparison:
    measure = recipe.validation_measure().name
    pairs = {qid: (new[qid], value) for qid, value in former.items()}
    columns = [np.array(column) for column in zip(*pairs.values(), strict=True)]
    compared = compare_values(NEW, columns[0], FORMER, columns[1], measure, seed=recipe.seed)
    return ModelComparison(kind, on, compared, pairs)


@contextmanager
def _report_malformed() -> Iterator[None]:
    """Raise SettingError where the former model's file, which may come from a stranger, is not as `train` writes it."""
    try:
        yield
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        reason = f"{type(error).__name__}: {error}"
        raise SettingError(f"the file of the former one does not say how it was trained ({reason})") from None


def _known_qids(former: Bundle, data: TrainingSet) -> set[str] | None:
    """The topics that the former model was trained on, by text or, since a text may have been edited, by qid."""
    trained_on = former.training.get("topics")
    if not isinstance(trained_on, Mapping):
        return None
    by_text = {topic.qid for topic in former.known_topics(data.topics, "", lambda: ())}
    return by_text | {topic.qid for topic in data.topics if topic.qid in trained_on}


def _measure(recipe: Recipe, data: TrainingSet, repeats: Sequence[Floats], qids: Sequence[str]) -> dict[str, float]:
    """The measure of the rankings of some topics by these scores, the mean over the repeats."""
    measure = recipe.validation_measure().name
    qrels: Judgments = {qid: data.qrels[qid] for qid in qids}

    def evaluate(rankings: Sequence[Ranking]) -> Floats:
        kept = [ranking for ranking in rankings if ranking.qid in qrels]
        found = evaluate_run(qrels, kept, [measure], dialect=recipe.dialect, complete=True, warn=False)
        values: Floats = found.values_of(measure)
        return values

    means = np.mean([evaluate(data.rerank(scores)) for scores in repeats], axis=0)
    return dict(zip(qids, means.tolist(), strict=True))


def _score_in_same_folds(
    recipe: Recipe,
    former_recipe: Recipe,
    data: TrainingSet,
    former_data: TrainingSet,
    known: set[str],
    progress: Progress,
    cluster: Cluster | None,
) -> list[Floats] | None:
    """The scores of rows by what the former settings learn in the folds of each repeat; None if that is too little."""
    table, qids = former_data.table, list(data.table.query_ids)
    is_known = _rows_of(table, known)
    measure = former_recipe.validation_measure(former_data.qrels)
    calls, places = [], []
    n_repeats = recipe.count_repeats(len(qids))
    for number in range(n_repeats):
        for fold in deal_folds(len(qids), recipe.n_folds, recipe.seed + number):
            held_out = _rows_of(table, {qids[row] for row in fold.tolist()})
            train = table.rows(is_known & ~held_out)
            if train.n_queries < MIN_QUERIES or not has_different_grades(train):
                return None
            seeded = replace(former_recipe, seed=recipe.seed + number)
            calls.append((seeded, train, measure, table.rows(held_out)))
            places.append((number, held_out))
    stage = "comparing with the former model"
    progress(stage, 0, len(calls))
    scored = run_calls(learn_and_score, calls, cluster, lambda n_done: progress(stage, n_done, len(calls)))
    scores = [np.zeros(table.n_rows) for _ in range(n_repeats)]
    for (number, held_out), found in zip(places, scored, strict=True):
        scores[number][held_out] = found
    return scores


def _rows_of(table: FeatureTable, qids: Collection[str]) -> Flags:
    return np.array([qid in qids for qid in table.qids.tolist()], bool)


def recipe_of(former: Bundle, recipe: Recipe) -> Recipe:
    """The recipe that a model was trained by, as far as its file says so; otherwise what another recipe has."""
    record = former.recipe
    prior = dict(record.get("prior") or {}).get("name", NO_PRIOR)
    known_prior = prior if prior in (NO_PRIOR, BUILTIN) else recipe.prior
    return replace(
        recipe,
        ranker=former.ranker if former.ranker in RANKERS else recipe.ranker,
        settings=dict(record.get("given") or {}),
        name=record.get("name", recipe.name),
        powers=record.get("powers"),
        n_best=record.get("n_best"),
        imputation=name_of_imputation(former.preprocessor.imputation),
        normalisation=former.preprocessor.normalisation.name,
        measure=former.choice.get("measure", recipe.measure),
        dialect=former.choice.get("dialect", recipe.dialect),
        prior=known_prior,
    )


def _same_settings(former: Bundle, former_recipe: Recipe, recipe: Recipe, data: TrainingSet) -> bool:
    """Whether a recipe would train the former model again from the same data."""

    def settings(of: Recipe) -> tuple[Any, ...]:
        preparation = of.imputation, of.normalisation
        return of.ranker_name, dict(of.given_settings), of.name, of.rules, preparation, of.measure, of.dialect

    prior = recipe.find_prior(data.table)
    fingerprint = dict(former.recipe.get("prior") or {}).get("fingerprint")
    same_prior = fingerprint == (None if prior is None else prior.to_json()["fingerprint"])
    return former.ranker == recipe.ranker_name and same_prior and settings(former_recipe) == settings(recipe)
