"""Cross-validation: nothing of a query leaks into the model that ranks it, and verdicts follow from the comparisons."""

import numpy as np
import pytest

from searchlab.evaluation.comparison import compare_values
from searchlab.features.feature_table import FeatureTable
from searchlab.training import recipe as recipe_module
from searchlab.training.cross_validation import CrossValidationResult, cross_validate, cross_validate_table
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
    result = result_of(compared("BM25", 0.1))
    assert result.helps
    first = result.comparisons[0]
    change = f"{first.mean_b:.4f} → {first.mean_a:.4f}".replace("0.", ".")
    assert result.verdict() == (
        f"rsvm helps: AP {change} against BM25 on 20 held-out topics (20 better, 0 worse, p < .001); "
        "recommended: use it."
    )


def test_the_verdict_names_the_other_baselines_too():
    result = result_of(compared("BM25", 0.1), compared("RM3", 0.01, noise=0.2))
    assert result.helps
    assert "; against RM3 ." in result.verdict()
    assert result.verdict().endswith(", may be chance); recommended: use it.")


def test_worse_on_most_topics_hurts():
    result = result_of(compared("BM25", -0.1))
    assert not result.helps
    assert result.verdict().startswith("rsvm hurts: AP .")
    assert result.verdict().endswith("(0 better, 20 worse, p < .001); recommended: stay with BM25.")


@pytest.mark.parametrize("change", [0.01, -0.01])
def test_a_difference_that_may_be_chance_is_not_shown_to_help(change):
    result = result_of(compared("BM25", change, noise=0.2))
    assert not result.helps
    assert result.verdict().startswith("rsvm is not shown to help: AP .")
    assert result.verdict().endswith(", may be chance); recommended: stay with BM25.")


def test_equal_rankings_are_not_shown_to_help():
    result = result_of(compared("BM25", 0.0))
    assert not result.helps
    assert "rsvm is not shown to help" in result.verdict()


@pytest.mark.parametrize(("change", "noise", "effect"), [(-0.05, 0.0, "hurts"), (-0.01, 0.2, "is not shown to help")])
def test_better_than_the_first_stage_is_not_enough_if_expansion_is_better_still(change, noise, effect):
    result = result_of(compared("BM25", 0.1), compared("RM3", change, noise=noise))
    assert not result.helps
    assert result.verdict().startswith(f"rsvm {effect}: AP .")
    assert " against RM3 on 20 held-out topics (" in result.verdict()
    assert result.verdict().endswith("recommended: stay with RM3.")


def test_a_model_that_hurts_the_first_stage_is_compared_with_it():
    verdict = result_of(compared("BM25", -0.1), compared("RM3", 0.05)).verdict()
    assert verdict.startswith("rsvm hurts: AP .")
    assert verdict.endswith("recommended: stay with BM25.")


@pytest.mark.parametrize("n", [5, 9])
def test_few_topics_allow_no_verdict(n):
    result = result_of(compared("BM25", 0.1, n=n), n=n)
    assert result.verdict().startswith("Too few topics to say whether rsvm helps: AP .")
    assert result.verdict().endswith("; recommended: judge more topics.")
    assert f"on {n} held-out topics" in result.verdict()
    assert "Too few" not in result_of(compared("BM25", 0.1, n=10), n=10).verdict()
