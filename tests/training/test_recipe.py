"""Recipes: defaults that depend on the ranker or the measure, and settings that are refused."""

import pytest

from searchlab.errors import SettingError
from searchlab.training.recipe import Recipe
from tests.training.example_tables import some_table


def test_pairs_are_weighted_by_the_measure_that_settings_are_chosen_by():
    assert Recipe(measure="nDCG@10").make_ranker().depth == 10
    assert Recipe(measure="ndcg_cut_5").make_ranker().depth == 5
    assert Recipe(measure="AP").make_ranker().depth == 1
    assert Recipe(measure="nDCG").make_ranker().depth == 1
    assert Recipe(measure="nDCG@10", settings={"depth": 3}).make_ranker().depth == 3
    assert "depth" not in Recipe("rsvm", measure="nDCG@10").make_ranker().get_params()


def test_the_ranker_decides_by_default_how_features_are_bent():
    assert Recipe("rsvm").preprocessor.powers
    assert Recipe("rankboost").preprocessor.powers is False
    assert Recipe("mhr").preprocessor.powers is False
    assert Recipe("mhr-weighted").preprocessor.powers
    assert Recipe("rsvm", powers=False).preprocessor.powers is False


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"ranker": "rsvn"}, "unknown ranker 'rsvn'"),
        ({"settings": {"D": 1}}, "unknown setting of rsvm-ir 'D'"),
        ({"settings": {"C": -1}}, "rsvm-ir: C is -1"),
        ({"imputation": "nil"}, "unknown imputation 'nil'"),
        ({"normalisation": "nil"}, "unknown normalisation 'nil'"),
        ({"powers": "cubes"}, "powers is 'cubes', expected true or false"),
        ({"measure": "nDGC@10"}, "nDGC@10"),
        ({"dialect": "letor9"}, "unknown dialect 'letor9'"),
        ({"n_parts": 1}, "parts is 1, expected a whole number from 2"),
        ({"n_parts": 2.0}, r"parts is 2\.0, expected a whole number from 2"),
        ({"n_folds": 1}, "folds is 1, expected"),
        ({"n_folds": -1}, "folds is -1, expected"),
        ({"n_folds": True}, "folds is True, expected"),
        ({"seed": -1}, "seed is -1, expected a whole number from 0"),
    ],
)
def test_settings_out_of_range_are_refused(settings, message):
    with pytest.raises(SettingError, match=message):
        Recipe(**settings)


def test_a_setting_that_is_given_is_not_chosen_even_if_it_is_the_default():
    table = some_table()
    given, open_ = (Recipe("rankboost", settings) for settings in ({"rounds": 300}, {}))
    assert len(given.learn(table, given.validation_measure()).trials) == 1
    assert len(open_.learn(table, open_.validation_measure()).trials) > 1
