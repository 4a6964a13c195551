"""Cross-validation over queries: each fold is ranked by what was learnt from the other folds alone.

`cross_validate` is the procedure. `cross_validate_table` applies it to a recipe and a table of features,
`mixture_validation` to the weights of a mixture. A `CrossValidationResult` compares held-out queries with rankings
that need no training.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from searchlab.evaluation.comparison import Comparison
from searchlab.evaluation.number_text import format_p_value, format_value
from searchlab.features.feature_table import FeatureTable
from searchlab.training.query_folds import deal_folds
from searchlab.training.recipe import Recipe
from searchlab.training.validation import ValidationMeasure
from searchlab.types import Floats, Ints, Progress, no_progress

# Fewer queries cannot be dealt into folds and parts.
MIN_QUERIES = 4
# With fewer queries, cross-validation is too uncertain for a verdict.
MIN_VERDICT_QUERIES = 10

Ranked = TypeVar("Ranked")


@dataclass(frozen=True, eq=False)
class CrossValidationResult:
    """Means of the model and of its baselines on the same held-out queries, and the model compared with each baseline.

    The first comparison is with the first stage, or with the best single feature. `n_judgments` is the number of judged
    documents of these queries, 0 if it is unknown. `inline_name` is the model's name within a sentence, if it differs.
    """

    name: str
    n_queries: int
    n_folds: int
    dialect: str
    means: Mapping[str, Mapping[str, float]]
    comparisons: tuple[Comparison, ...]
    n_judgments: int = 0
    inline_name: str = ""

    @property
    def subject(self) -> str:
        """The model's name within a sentence."""
        return self.inline_name or self.name

    @property
    def helps(self) -> bool:
        """Whether the model is significantly better than the first baseline, and better than all others."""
        first, *others = self.comparisons
        return first.significant and first.difference > 0 and all(each.difference > 0 for each in others)

    def verdict(self) -> str:
        """One sentence with numbers, and a recommendation."""
        first, *others = self.comparisons
        if self.n_queries < MIN_VERDICT_QUERIES:
            few = f"Too few topics to say whether {self.subject} helps"
            return f"{few}: {_describe(first)}; recommended: judge more topics."
        if self.helps:
            more = "".join(f"; against {each.name_b} {_change(each)} ({_certainty(each)})" for each in others)
            return f"{self.subject} helps: {_describe(first)}{more}; recommended: use it."
        worst = min(self.comparisons, key=lambda each: each.difference)
        shown = first if (first.significant and first.difference < 0) or worst.difference > 0 else worst
        effect = "hurts" if shown.significant and shown.difference < 0 else "is not shown to help"
        return f"{self.subject} {effect}: {_describe(shown)}; recommended: stay with {shown.name_b}."

    def to_json(self) -> dict[str, Any]:
        """The result as plain JSON."""
        from searchlab.training.advice import advise  # imports this module

        return {
            "n_queries": self.n_queries,
            "n_folds": self.n_folds,
            "dialect": self.dialect,
            "means": {name: dict(means) for name, means in self.means.items()},
            "helps": self.helps,
            "verdict": self.verdict(),
            "advice": advise(self).to_json(),
            "comparisons": [each.sentence() for each in self.comparisons],
        }


def _describe(compared: Comparison) -> str:
    wins = f"{compared.wins} better, {compared.losses} worse, {_certainty(compared)}"
    topics = f"{compared.n_topics} held-out topic{'s' * (compared.n_topics != 1)}"
    return f"{compared.measure} {_change(compared)} against {compared.name_b} on {topics} ({wins})"


def _change(compared: Comparison) -> str:
    return f"{format_value(compared.mean_b)} → {format_value(compared.mean_a)}"


def _certainty(compared: Comparison) -> str:
    return f"{format_p_value(compared.p)}{'' if compared.significant else ', may be chance'}"


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
    recipe: Recipe, table: FeatureTable, measure: ValidationMeasure, progress: Progress = no_progress
) -> Floats:
    """The score of each row by a model that has not seen its query."""
    scores = np.zeros(table.n_rows)
    query_of_row = np.repeat(np.arange(table.n_queries), np.diff(table.group_offsets))

    def rank(training: Ints, held_out: Ints) -> None:
        choice = recipe.learn(table.rows(np.isin(query_of_row, training)), measure)
        rows = np.isin(query_of_row, held_out)
        scores[rows] = choice.scores(table.rows(rows))

    folds = deal_folds(table.n_queries, recipe.n_folds, recipe.seed)
    cross_validate(folds, rank, lambda number: progress("cross-validating", number, len(folds)))
    progress("cross-validating", len(folds), len(folds))
    return scores
