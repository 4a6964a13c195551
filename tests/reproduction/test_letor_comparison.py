"""Comparisons within a recipe, and between the two recipes of a ranker, on values that are made up."""

import numpy as np
import pytest

from searchlab.evaluation.significance import randomisation_test
from searchlab.reproduction.letor import MEASURES, FoldResult, RankerResult
from searchlab.reproduction.letor_comparison import TESTED, compare_recipes, mark_differences, shared_rankers
from searchlab.training.recipe import Recipe

N = 40


def made_up(ranker, name, level):
    """A ranker with the same value for every query, apart from a little noise that all share."""
    values = level + np.random.default_rng(1).normal(0, 0.01, N)
    fold = FoldResult(
        "Fold1",
        {measure: float(np.mean(values)) for measure in MEASURES},
        train_seconds=0.1,
        choose_seconds=0.2,
        n_pairs=None,
        gap=None,
        top_grades={},
        tried=(),
        chosen=(),
        n_averaged=1,
        qids=tuple(map(str, range(N))),
        per_query=dict.fromkeys(MEASURES, values),
    )
    return RankerResult(Recipe(ranker, name=name), (fold,))


def results_with(*rankers):
    results = [made_up(*ranker) for ranker in rankers]
    return {result.label: result for result in results}


def test_a_ranker_is_marked_against_rsvm_of_its_own_recipe():
    results = results_with(
        ("rsvm", "paper", 0.5), ("rsvm", "tuned", 0.7), ("rsvm-ir", "paper", 0.6), ("rsvm-ir", "tuned", 0.6)
    )
    # .6 is above the paper's .5 and below the tuned .7; the baselines have no marks.
    assert mark_differences(results) == {
        **{("rsvm-ir", measure): "↑" for measure in TESTED},
        **{("rsvm-ir, tuned", measure): "↓" for measure in TESTED},
    }


def test_a_ranker_of_both_recipes_is_compared_once_with_the_papers_rsvm():
    both = results_with(("rsvm", "paper", 0.5), ("rsvm", "tuned", 0.7), ("rankboost", "paper", 0.6))
    assert mark_differences(both) == {("rankboost", measure): "↑" for measure in TESTED}
    tuned = results_with(("rsvm", "tuned", 0.7), ("rankboost", "tuned", 0.6))
    assert mark_differences(tuned) == {("rankboost", measure): "↓" for measure in TESTED}
    assert shared_rankers(both) == ["rankboost"]
    assert mark_differences(results_with(("rankboost", "paper", 0.6))) == {}


def test_equal_rankers_are_not_marked():
    assert mark_differences(results_with(("rsvm", "paper", 0.5), ("rsvm-ir", "paper", 0.5))) == {}


def test_recipes_are_compared_ranker_by_ranker_with_holms_correction():
    results = results_with(
        ("rsvm", "paper", 0.5), ("rsvm", "tuned", 0.5), ("rsvm-ir", "paper", 0.5), ("rsvm-ir", "tuned", 0.6),
        ("rankboost", "paper", 0.4),
    )  # fmt: skip
    found = compare_recipes(results)
    assert [(each.ranker, each.measure) for each in found] == [
        (ranker, measure) for ranker in ("rsvm", "rsvm-ir") for measure in TESTED
    ]
    same, better = found[0], found[3]
    assert (same.p, same.significant) == (1, False)
    assert better.tuned - better.paper == pytest.approx(0.1)
    # The smaller of two p-values is doubled.
    alone = randomisation_test(np.full(N, 0.1)).p
    assert better.p == pytest.approx(2 * alone)
    assert better.significant


def test_there_is_nothing_to_compare_with_one_recipe():
    assert compare_recipes(results_with(("rsvm", "paper", 0.5), ("rankboost", "paper", 0.4))) == []
