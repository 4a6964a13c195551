# mypy: disable-error-code="attr-defined"
"""Training from a table: the bundle records what was tried, chosen and found on held-out queries."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import Ridge

from searchlab import extensions
from searchlab.errors import SettingError
from searchlab.evaluation.comparison import compare_values
from searchlab.rankers.bundle import load_bundle
from searchlab.rankers.ranker_registry import RANKERS, OwnRankerEntry
from searchlab.training.cross_validation import cross_validate_table
from searchlab.training.from_table import train_from_table
from searchlab.training.recipe import Recipe
from searchlab.training.validation import ValidationMeasure
from tests.training.example_tables import QUICK, some_table

TUNED = Recipe("rsvm-ir", n_parts=2, n_folds=3, powers=False)


def test_progress_is_reported():
    reported = []
    recipe = Recipe("rsvm", QUICK, n_folds=2)
    train_from_table(some_table(4), recipe=recipe, progress=lambda *step: reported.append(step))
    assert reported[:3] == [("cross-validating", 0, 2), ("cross-validating", 1, 2), ("cross-validating", 2, 2)]
    assert reported[-1][0] == "training"
    assert reported[-1][1] == reported[-1][2]


@pytest.fixture(scope="module")
def trained():
    return train_from_table(some_table(18), recipe=TUNED, source="features.txt")


def test_signal_in_several_features_helps(trained):
    trial = trained.trial
    assert trial["helps"]
    assert trial["verdict"].startswith("rsvm-ir (tuned, no powers) helps: AP .")
    assert "against the best single feature on 18 held-out topics, p < .001" in trial["verdict"]
    assert trial["verdict"].endswith(": use it.")
    assert (trial["n_queries"], trial["n_folds"], trial["dialect"]) == (18, 3, "letor3")
    means = trial["means"]
    assert means["rsvm-ir, tuned, no powers"]["AP"] > means["the best single feature"]["AP"] + 0.02


def test_the_means_are_those_of_the_held_out_queries(trained):
    recipe, table = TUNED, some_table(18)
    measure = recipe.validation_measure()
    model = measure.per_query(table, cross_validate_table(recipe, table, measure))
    assert trained.trial["means"]["rsvm-ir, tuned, no powers"]["AP"] == pytest.approx(float(np.mean(model)))
    # The single feature is chosen on the other folds as well.
    single = replace(TUNED, ranker="single")
    other = measure.per_query(table, cross_validate_table(single, table, measure))
    assert trained.trial["means"]["the best single feature"]["AP"] == pytest.approx(float(np.mean(other)))
    compared = compare_values("rsvm-ir (tuned, no powers)", model, "the best single feature", other, "AP", seed=0)
    assert trained.trial["comparisons"] == [compared.sentence()]


def test_noise_is_not_recommended():
    bundle = train_from_table(some_table(15, signal=0.0), recipe=Recipe("rsvm", QUICK, n_folds=3))
    assert not bundle.trial["helps"]
    assert "rsvm (tuned) is not shown to help yet: AP ." in bundle.trial["verdict"]
    assert bundle.trial["verdict"].endswith(": stay with the best single feature.")


def test_the_bundle_records_what_was_tried_and_learnt(trained, tmp_path):
    assert trained.ranker == "rsvm-ir"
    tau = {"tau": True, "tau_queries": "all", "depth": 1, "draws": None, "seed": 0}
    solver = {"solver": "qp", "tolerance": 1e-5, "step": None, "max_iterations": 5000}
    assert trained.settings == {**tau, "mu": True, **solver}
    assert trained.features == ("a", "b", "noise")
    assert trained.preprocessor.label == "query-minimum, query-minmax"
    assert (trained.analyser, trained.first_stage, dict(trained.definitions)) == (None, None, {})
    assert trained.training["source"] == "features.txt"
    assert (trained.training["n_queries"], trained.training["n_rows"], trained.training["seed"]) == (18, 180, 0)
    assert sum(trained.training["grades"].values()) == 180
    assert list(trained.training["grades"]) == ["0", "1", "2"]
    assert [details["converged"] for details in trained.training["details"]] == [True] * 5
    choice = trained.choice
    assert (choice["measure"], choice["dialect"], choice["setting"]) == ("AP", "letor3", "C")
    assert choice["by"] == "2 parts of the training queries in turn"
    assert len(choice["tried"]) == 16
    assert len(choice["chosen"]) == 5
    best = max(choice["tried"], key=lambda tried: tried["mean"])
    assert best["value"] in choice["chosen"]
    trained.save(tmp_path / "model.json")
    assert load_bundle(tmp_path / "model.json").to_json() == trained.to_json()


def test_the_final_model_is_trained_on_all_queries(trained):
    recipe, table = TUNED, some_table(18)
    assert np.array_equal(trained.scores(table), recipe.learn(table, recipe.validation_measure()).scores(table))


def test_settings_are_chosen_on_a_validation_set_which_is_cross_validated_too():
    train, valid = some_table(6), some_table(4, seed=2, first=50)
    bundle = train_from_table(train, valid, recipe=Recipe("svm", n_folds=2))
    assert bundle.choice["by"] == "validation set"
    assert bundle.trial["n_queries"] == 10
    assert bundle.training["n_queries"] == 6
    measure = ValidationMeasure()
    best = max(bundle.choice["tried"], key=lambda tried: tried["mean"])
    assert bundle.settings["C"] == best["value"]
    assert best["mean"] == pytest.approx(float(np.mean(measure.per_query(valid, bundle.scores(valid)))))
    with pytest.raises(SettingError, match="query q3 is in the training set and in the validation set"):
        train_from_table(train, some_table(2, first=3), recipe=Recipe("svm", n_folds=2))


@pytest.mark.parametrize(("ranker", "settings"), [("rsvm", QUICK), ("linear", {"weights": [1, 1, 0]})])
def test_without_a_choice_the_bundle_records_none(ranker, settings):
    bundle = train_from_table(some_table(4), recipe=Recipe(ranker, settings, n_folds=0, powers=False))
    assert bundle.trial is None
    assert (bundle.choice["by"], bundle.choice["tried"]) == ("nothing: there was no choice", [])
    assert {name: bundle.settings[name] for name in settings} == settings


def test_learning_from_a_table_may_start_from_the_model_of_another(trained):
    # The single feature that the model is compared with has no weights to start from.
    again = train_from_table(some_table(seed=3), recipe=replace(TUNED, prior=trained))
    assert again.recipe["prior"]["name"] == trained.label
    assert again.trial is not None


def test_the_seed_decides_the_folds():
    bundles = [
        train_from_table(some_table(12), recipe=Recipe("rsvm", QUICK, n_folds=3, seed=seed)) for seed in (0, 0, 1)
    ]
    first, same, other = [bundle.trial["means"]["rsvm, tuned"]["AP"] for bundle in bundles]
    assert first == same != other


def test_there_are_no_more_folds_than_queries():
    bundle = train_from_table(some_table(5), recipe=Recipe("rsvm", QUICK, n_folds=10))
    assert bundle.trial["n_folds"] == 5
    assert bundle.trial["verdict"].startswith(
        "5 topics with a relevant document are too few to say whether rsvm (tuned) "
    )


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (some_table(3), "3 queries to cross-validate with, expected at least 4, or 0 folds"),
        (some_table(1), "1 query to cross-validate with"),
        (some_table(5).with_grades(None), "without grades, expected rows with grades"),
        (some_table(5).with_grades([1] * 50), "none of 5 queries has documents of different grades"),
        (some_table(5).with_grades(np.repeat(range(5), 10)), "none of 5 queries has documents of different grades"),
        (some_table(5).rows(slice(0, 0)), "0 rows to train with"),
    ],
)
def test_tables_that_cannot_be_learnt_from_are_refused(table, message):
    with pytest.raises(SettingError, match=message):
        train_from_table(table, recipe=Recipe("rsvm", QUICK))


def test_an_estimator_is_trained_and_judged_but_not_written(tmp_path):
    recipe = Recipe(RandomForestRegressor(20, min_samples_leaf=5, random_state=0), n_folds=3)
    bundle = train_from_table(some_table(15), recipe=recipe)
    assert bundle.trial["verdict"].startswith("RandomForestRegressor ")
    assert (bundle.ranker, bundle.settings["n_estimators"]) == ("RandomForestRegressor", 20)
    explanation = bundle.explain(some_table(15), 3)
    assert explanation.score == bundle.scores(some_table(15))[3] == explanation.parts[0].amount
    assert not bundle.is_storable
    with pytest.raises(SettingError, match="a model of RandomForestRegressor cannot be written to a file"):
        bundle.save(tmp_path / "model.json")
    assert not list(tmp_path.iterdir())


def test_lambdamart_is_trained_with_undefined_values_written_and_read(tmp_path):
    table = some_table(15)
    values = np.where(np.random.default_rng(0).random(table.values.shape) < 0.2, np.nan, table.values)
    table = table.with_values(values)
    recipe = Recipe("lambdamart", {"trees": 30, "min_rows": 5}, imputation="none", n_folds=2, n_parts=2)
    bundle = train_from_table(table, recipe=recipe)
    bundle.save(tmp_path / "model.json")
    again = load_bundle(tmp_path / "model.json")
    assert again.scores(table).tolist() == bundle.scores(table).tolist()
    explanation = again.explain(table, 7)
    assert sum(part.amount for part in explanation.parts) == pytest.approx(again.scores(table)[7], abs=1e-12)
    assert {part.label for part in explanation.parts} <= {"the mean training document", "a", "b", "noise"}
    assert {influence.label.split()[0] for influence in again.influences()} <= {"a", "b", "noise"}


def test_the_averaged_trees_of_lambdamart_occur_once():
    choice = Recipe("lambdamart", n_parts=2).learn(some_table(30), ValidationMeasure())
    assert len(choice.rankers) == 5
    largest = max(len(each.model_.trees) for each in choice.rankers)
    assert len(choice.model.trees) == largest


def test_the_origin_of_a_ranker_of_ones_own_is_recorded(tmp_path, monkeypatch):
    monkeypatch.setattr(extensions, "ORIGINS", {})
    monkeypatch.setitem(RANKERS, "own.ridge", OwnRankerEntry(Ridge, "my own"))
    extensions.ORIGINS["ranker", "own.ridge"] = origin = extensions.Origin.of(some_table)
    bundle = train_from_table(some_table(5), recipe=Recipe("own.ridge", n_folds=0))
    bundle.save(tmp_path / "model.json")
    assert bundle.training["extension"] == origin.to_json()
    # The model is plain numbers: it is read and used without the extension.
    extensions.ORIGINS.clear()
    assert load_bundle(tmp_path / "model.json").scores(some_table(5)).shape == (50,)


def test_a_ranker_is_trained_by_its_recipe():
    by_ranker = train_from_table(some_table(12), ranker="rsvm")
    assert by_ranker.to_json() == train_from_table(some_table(12), recipe=Recipe("rsvm")).to_json()


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((None,), {}, "table is NoneType, expected a FeatureTable"),
        ((TUNED, some_table(4)), {}, "table is a Recipe, expected the table first"),
        ((some_table(4), {"a": 1}), {}, "valid is dict, expected a FeatureTable"),
        (
            (some_table(4),),
            {"recipe": "rsvm"},
            "recipe is 'rsvm', expected a Recipe; a ranker is given as ranker='rsvm'",
        ),
        ((some_table(4),), {"recipe": Ridge()}, "recipe is Ridge, expected a Recipe; a ranker is given as ranker="),
        ((some_table(4),), {"recipe": TUNED, "ranker": "svm"}, "found a ranker and a recipe"),
    ],
)
def test_mistaken_arguments_are_refused(arguments, options, message):
    with pytest.raises(SettingError, match=message):
        train_from_table(*arguments, **options)
