"""Comparisons of rankers on LETOR folds: within a recipe, and between the two recipes of a ranker.

All are paired randomisation tests on the test queries, corrected by Holm's method over the rankers that are compared by
one measure. A ranker is only compared with rankers of the same recipe, so that all have the same features.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from searchlab.evaluation.comparison import ALPHA
from searchlab.evaluation.significance import holm, randomisation_test
from searchlab.reproduction.letor import RankerResult, results_of
from searchlab.training.recipe import PAPER, RECIPES, TUNED
from searchlab.types import Floats

Results = Mapping[str, RankerResult]

BASELINE = "rsvm"
# The measures by which rankers and recipes are compared.
TESTED = ("MAP", "NDCG@1", "NDCG@10")
BETTER, WORSE = "↑", "↓"


@dataclass(frozen=True)
class RecipeDifference:
    """The means of a ranker's two recipes by one measure, with the p-value of their difference."""

    ranker: str
    measure: str
    paper: float
    tuned: float
    p: float

    @property
    def significant(self) -> bool:
        """Whether the recipes differ at the 5 % level."""
        return self.p < ALPHA


def mark_differences(results: Results) -> dict[tuple[str, str], str]:
    """An arrow for each (label, measure) that differs significantly from RSVM of the same recipe.

    A ranker that is the same by both recipes is compared with the paper's RSVM, if there is one.
    """
    marks: dict[tuple[str, str], str] = {}
    compared: set[str] = set()
    for name in RECIPES:
        family = results_of(results, name)
        others = [result for ranker, result in family.items() if ranker != BASELINE and result.label not in compared]
        if BASELINE not in family or not others:
            continue
        compared |= {result.label for result in others}
        for measure in TESTED:
            gains = [result.values(measure) - family[BASELINE].values(measure) for result in others]
            for result, gain, p in zip(others, gains, _p_values(gains), strict=True):
                if p < ALPHA:
                    marks[result.label, measure] = BETTER if np.mean(gain) > 0 else WORSE
    return marks


def compare_recipes(results: Results) -> list[RecipeDifference]:
    """The tuned recipe against the paper's, for each ranker that was trained by both, ranker by ranker."""
    paper, tuned = results_of(results, PAPER), results_of(results, TUNED)
    both = [name for name in paper if name in tuned and paper[name] is not tuned[name]]
    found: dict[tuple[str, str], RecipeDifference] = {}
    for measure in TESTED:
        gains = [tuned[name].values(measure) - paper[name].values(measure) for name in both]
        for name, p in zip(both, _p_values(gains), strict=True):
            means = paper[name].mean(measure), tuned[name].mean(measure)
            found[name, measure] = RecipeDifference(name, measure, *means, p)
    return [found[name, measure] for name in both for measure in TESTED]


def shared_rankers(results: Results) -> list[str]:
    """The rankers for which the two recipes are one and the same."""
    return [result.ranker for result in results.values() if result.recipe.is_shared]


def _p_values(gains: list[Floats]) -> list[float]:
    return list(holm([randomisation_test(gain).p for gain in gains])) if gains else []
