"""Cross-validation: nothing of a query leaks into the model that ranks it, and verdicts follow from the comparisons."""

import numpy as np
import pytest

from searchlab.evaluation.comparison import compare_values
from searchlab.features.feature_table import FeatureTable
from searchlab.training import recipe as recipe_module
from searchlab.training.cross_validation import BUILT_IN, CrossValidationResult, cross_validate, cross_validate_table
from searchlab.training.query_folds import deal_folds
from searchlab.training.recipe import Recipe
from tests.training.example_tables import QUICK, some_table


def memory_table(n_queries=8, n_docs=4):
    """A feature for each query, which is the grade in that query and 0 in all others.

    A model that has seen a query orders it perfectly; one that has not gives equal scores.
    """
    random = np.random.default_rng(3)
    grades = random.integers(0, 3, n_queries * n_docs)
    grades[::n_docs] = 2
    grades[1::n_docs] = 0
    values = np.zeros((len(grades), n_queries))
    for number in range(n_queries):
        rows = slice(number * n_docs, (number + 1) * n_docs)
        values[rows, number] = grades[rows]
    qids = np.repeat([f"q{number}" for number in range(n_queries)], n_docs)
    docnos = [f"d{row}" for row in range(len(grades))]
    return FeatureTable([f"f{number}" for number in range(n_queries)], qids, docnos, values, grades)


@pytest.mark.parametrize(
    ("ranker", "settings"),
    [("rsvm-ir", {}), ("rsvm", QUICK), ("mhr", QUICK), ("rankboost", {"rounds": 30}), ("svm", {}), ("single", {})],
)
def test_nothing_of_a_query_leaks_into_the_model_that_ranks_it(ranker, settings):
    table = memory_table()
    recipe = Recipe(ranker, settings, normalisation="none", powers=False, n_folds=4, n_parts=2)
    scores = cross_validate_table(recipe, table, recipe.validation_measure())
    for _, rows in table.queries():
        assert np.ptp(scores[rows]) < 1e-9
    # A model that has seen the queries tells their documents apart.
    seen = recipe.learn(table, recipe.validation_measure()).scores(table)
    assert any(np.ptp(seen[rows]) > 1e-3 for _, rows in table.queries())
    if ranker == "rsvm-ir":
        assert recipe.validation_measure().per_query(table, seen).tolist() == [1.0] * 8


def test_a_fold_is_trained_tuned_and_prepared_without_its_queries(monkeypatch):
    table = some_table(9)
    calls = []
    select_model = recipe_module.select_model  # type: ignore[attr-defined]

    def record(ranker, train, **options):
        calls.append((set(train.query_ids), options.get("valid")))
        return select_model(ranker, train, **options)

    monkeypatch.setattr(recipe_module, "select_model", record)
    recipe = Recipe("rsvm", QUICK, normalisation="standard", n_folds=3)
    scores = cross_validate_table(recipe, table, recipe.validation_measure())
    folds = deal_folds(9, 3, recipe.seed)
    assert [qids for qids, _ in calls] == [
        {f"q{number}" for number in range(9)} - {f"q{number}" for number in fold} for fold in folds
    ]
    assert [valid for _, valid in calls] == [None] * 3
    # The scores of a fold are those of a model trained on the others.
    held_out = table.only([f"q{number}" for number in folds[1]])
    rest = table.only([qid for qid in table.query_ids if qid not in held_out.query_ids])
    expected = recipe.learn(rest, recipe.validation_measure()).scores(held_out)
    rows = np.isin(table.qids.astype(str), held_out.query_ids)
    assert scores[rows].tolist() == expected.tolist()


def test_each_fold_is_ranked_by_what_was_learnt_from_the_others():
    reported = []
    folds = [[0, 3], [1], [4, 2]]
    ranked = cross_validate(folds, lambda training, held_out: (training.tolist(), held_out.tolist()), reported.append)
    assert ranked == [([1, 2, 4], [0, 3]), ([0, 2, 3, 4], [1]), ([0, 1, 3], [4, 2])]
    assert reported == [0, 1, 2]


# Verdicts.


def compared(name, change, n=20, noise=0.0, mean=0.4, seed=5):
    """A model compared with a baseline, `change` better on average."""
    random = np.random.default_rng(seed)
    other = np.full(n, mean) + 0.1 * random.normal(size=n)
    model = other + change + noise * random.normal(size=n)
    model += change - np.mean(model - other)
    return compare_values("rsvm", model, name, other, "AP")


def result_of(*comparisons, n=20):
    result = CrossValidationResult("rsvm", n, 5, "trec", {}, comparisons)
    assert result.to_json()["verdict"] == result.verdict()
    assert result.to_json()["helps"] == result.helps
    return result


def test_better_on_most_topics_helps():
    assert result_of(compared("BM25", 0.1)).helps


def test_worse_or_by_chance_better_does_not_help():
    assert not result_of(compared("BM25", -0.1)).helps
    assert not result_of(compared("BM25", 0.01, noise=0.2)).helps
    assert not result_of(compared("BM25", 0.0)).helps


@pytest.mark.parametrize(("change", "noise"), [(-0.05, 0.0), (-0.01, 0.2), (0.01, 0.2)])
def test_better_than_the_first_stage_is_not_enough_if_expansion_is_as_good(change, noise):
    result = result_of(compared("BM25", 0.1), compared("RM3", change, noise=noise))
    assert result.best.name_b == result.best_search.name_b == "RM3"
    assert not result.helps


def test_better_than_every_search_is_not_enough_if_the_built_in_model_is_as_good():
    result = result_of(compared("BM25", 0.1), compared(BUILT_IN, 0.01, noise=0.2))
    assert (result.best.name_b, result.best_search.name_b) == (BUILT_IN, "BM25")
    assert not result.helps
    assert not result_of(compared("BM25", 0.1), compared(BUILT_IN, -0.01, noise=0.2)).helps
    assert result_of(compared("BM25", 0.1), compared(BUILT_IN, 0.1)).helps
