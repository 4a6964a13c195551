"""Cross-validation over queries: each fold is ranked by what was learnt from the other folds alone.

`cross_validate` is the procedure. `cross_validate_table` applies it to a recipe and a table of features,
`mixture_validation` to the weights of a mixture. A `CrossValidationResult` compares held-out queries with rankings
that need no training.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from searchlab.cluster.cluster import Cluster
from searchlab.cluster.job_runs import run_calls
from searchlab.evaluation.comparison import Comparison
from searchlab.evaluation.significance import TIE_TOLERANCE
from searchlab.features.feature_table import FeatureTable
from searchlab.training.query_folds import deal_folds
from searchlab.training.recipe import Recipe
from searchlab.training.validation import ValidationMeasure
from searchlab.types import Flags, Floats, Ints, Progress, no_progress

if TYPE_CHECKING:
    from searchlab.training.held_out import HeldOutTopics
    from searchlab.training.learning_curve import LearningCurve

# Fewer queries cannot be dealt into folds and parts.
MIN_QUERIES = 4
# With fewer queries, cross-validation is too uncertain for a verdict.
MIN_VERDICT_QUERIES = 10
# The name of the built-in model among the baselines.
BUILT_IN = "the built-in model"

Ranked = TypeVar("Ranked")


@dataclass(frozen=True, eq=False)
class CrossValidationResult:
    """Means of the model and of its baselines on the same held-out queries, and the model compared with each baseline.

    Baselines are rankings that need no training: those of the first stage and of the built-in model, or the best single
    feature. `n_judgments` is the number of judged documents of these queries, 0 if it is unknown. `inline_name` is the
    model's name within a sentence, if it differs. The value of a query is the mean over `n_repeats` of the
    cross-validation, each with other folds. `curve` is the learning curve, if it was measured, and `held_out` what each
    system scores on each query, if they were ranked in an index.
    """

    name: str
    n_queries: int
    n_folds: int
    dialect: str
    means: Mapping[str, Mapping[str, float]]
    comparisons: tuple[Comparison, ...]
    n_judgments: int = 0
    inline_name: str = ""
    n_repeats: int = 1
    curve: LearningCurve | None = None
    held_out: HeldOutTopics | None = None

    @property
    def subject(self) -> str:
        """The model's name within a sentence."""
        return self.inline_name or self.name

    @property
    def best(self) -> Comparison:
        """The comparison with the best baseline; of equally good ones, with the first."""
        return min(self.comparisons, key=lambda each: each.difference)

    @property
    def best_search(self) -> Comparison:
        """The comparison with the best baseline that has learnt nothing, not even elsewhere."""
        searches = [each for each in self.comparisons if each.name_b != BUILT_IN]
        return min(searches, key=lambda each: each.difference)

    @property
    def helps(self) -> bool:
        """Whether the model is better than all baselines, and significantly better than the best of them."""
        return self.best.difference > TIE_TOLERANCE and self.best.significant

    def verdict(self) -> str:
        """One sentence with numbers, and a recommendation (`advice.py`)."""
        from searchlab.training.advice import advise  # imports this module

        return advise(self).sentence

    def to_json(self) -> dict[str, Any]:
        """The result as plain JSON."""
        from searchlab.training.advice import advise  # imports this module

        return {
            "n_queries": self.n_queries,
            "n_folds": self.n_folds,
            "n_repeats": self.n_repeats,
            "dialect": self.dialect,
            "means": {name: dict(means) for name, means in self.means.items()},
            "helps": self.helps,
            "verdict": self.verdict(),
            "advice": advise(self).to_json(),
            "comparisons": [each.sentence() for each in self.comparisons],
            "learning_curve": None if self.curve is None else self.curve.to_json(),
            "held_out": None if self.held_out is None else self.held_out.to_json(),
        }


def cross_validate(
    folds: Sequence[npt.ArrayLike],
    rank: Callable[[Ints, Ints], Ranked],
    report: Callable[[int], None] = lambda number: None,
) -> list[Ranked]:
    """The result of `rank(training, held_out)` for each fold, which learns from the former and ranks the latter.

    Queries are given by number, and `training` are those of all other folds, ascending. `report` is called with the
    number of a fold before it is ranked.
    """
    held_out = [np.asarray(fold, np.int64) for fold in folds]
    everyone = np.concatenate(held_out)
    results = []
    for number, fold in enumerate(held_out):
        report(number)
        results.append(rank(np.setdiff1d(everyone, fold), fold))
    return results


def cross_validate_table(
    recipe: Recipe,
    table: FeatureTable,
    measure: ValidationMeasure,
    progress: Progress = no_progress,
    cluster: Cluster | None = None,
) -> Floats:
    """The score of each row by a model that has not seen its query; the folds may be tasks of a cluster."""
    scores = np.zeros(table.n_rows)
    query_of_row = np.repeat(np.arange(table.n_queries), np.diff(table.group_offsets))

    folds = deal_folds(table.n_queries, recipe.n_folds, recipe.seed)

    def divide(training: Ints, held_out: Ints) -> tuple[Flags, Flags]:
        return np.isin(query_of_row, training), np.isin(query_of_row, held_out)

    parts = cross_validate(folds, divide)
    calls = [(recipe, table.rows(training), measure, table.rows(held_out)) for training, held_out in parts]
    progress("cross-validating", 0, len(folds))
    scored = run_calls(learn_and_score, calls, cluster, lambda n_done: progress("cross-validating", n_done, len(folds)))
    for (_, held_out), found in zip(parts, scored, strict=True):
        scores[held_out] = found
    return scores


def learn_and_score(recipe: Recipe, train: FeatureTable, measure: ValidationMeasure, test: FeatureTable) -> Floats:
    """The scores of some rows by a model that is learnt from others."""
    return recipe.learn(train, measure).scores(test)
