"""Preprocessor: JSON round trip, order of the steps, and no knowledge of data beyond the training table."""

import json
from itertools import product

import numpy as np
import pytest

from searchlab.errors import SettingError
from searchlab.features.feature_table import FeatureTable
from searchlab.features.preprocessing.imputation import IMPUTATIONS
from searchlab.features.preprocessing.normalisation import NORMALISATIONS
from searchlab.features.preprocessing.preprocessor import Preprocessor


def some_table(n=12, seed=1, shift=0.0):
    random = np.random.default_rng(seed)
    values = random.normal(size=(n, 3)) + shift
    values[random.random(values.shape) < 0.2] = np.nan
    return FeatureTable(["f1", "f11", "b"], np.repeat(["x", "y", "z"], n // 3), [""] * n, values, [0] * n)


@pytest.mark.parametrize(
    ("imputation", "normalisation", "powers"), list(product(IMPUTATIONS, NORMALISATIONS, [False, True]))
)
def test_a_preprocessor_read_back_from_json_transforms_alike(imputation, normalisation, powers):
    learnt = Preprocessor.named(imputation, normalisation, powers).fit(some_table())
    again = Preprocessor.from_json(json.loads(json.dumps(learnt.to_json())))
    assert again == learnt
    other = some_table(seed=2, shift=3.0)
    assert again.transform(other).equals(learnt.transform(other))
    assert np.isnan(again.transform(other).values).any() == (imputation == "none")
    assert again.label == learnt.label
    # The one read back needs no fitting, and learns the same from another table.
    assert again.fit(other) == learnt.fit(other)


def test_an_unfitted_preprocessor_is_read_back_too():
    for imputation, normalisation in product(IMPUTATIONS, NORMALISATIONS):
        unfitted = Preprocessor.named(imputation, normalisation)
        assert Preprocessor.from_json(json.loads(json.dumps(unfitted.to_json()))) == unfitted


def test_values_are_imputed_then_normalised_then_raised_to_powers():
    raw = FeatureTable(["a"], ["q"] * 3, ["x", "y", "z"], [[2.0], [np.nan], [6.0]])
    # With the query's minimum, 2, 2, 6 become 0, 0, 1; with zero, 2, 0, 6 become ⅓, 0, 1.
    assert Preprocessor.named().transform(raw).values.tolist() == [[0.0], [0.0], [1.0]]
    raised = Preprocessor.named("zero", "query-minmax", powers=True).transform(raw)
    assert raised.names == ("a", "a^2", "a^0.5")
    assert raised.values[0].tolist() == pytest.approx([1 / 3, 1 / 9, 3**-0.5])


def test_means_are_learnt_from_the_training_table_alone():
    train = FeatureTable(["a"], ["q"] * 2, ["x", "y"], [[1.0], [3.0]])
    other = FeatureTable(["a"], ["r"] * 3, ["x", "y", "z"], [[2.0], [4.0], [102.0]])
    learnt = Preprocessor.named("zero", "standard").fit(train)
    # Mean 2 and deviation 1, independent of the table that is transformed.
    assert learnt.transform(other).values.ravel().tolist() == [0.0, 2.0, 100.0]
    assert learnt.transform(other.rows(slice(0, 1))).values.tolist() == [[0.0]]
    assert learnt.transform(train).values.ravel().tolist() == [-1.0, 1.0]


def test_means_are_learnt_from_imputed_values():
    train = FeatureTable(["a"], ["q"] * 2, ["x", "y"], [[np.nan], [4.0]])
    assert Preprocessor.named("zero", "standard").fit(train).normalisation.means == (2.0,)  # type: ignore[attr-defined]


def test_which_features_get_an_indicator_is_learnt_from_the_training_table():
    train = FeatureTable(["a", "b"], ["q"] * 2, ["x", "y"], [[np.nan, 1.0], [4.0, 2.0]])
    other = FeatureTable(["a", "b"], ["q"] * 2, ["x", "y"], [[1.0, np.nan], [4.0, 2.0]])
    learnt = Preprocessor.named("indicator", "none").fit(train)
    assert learnt.transform(other).names == ("a", "b", "a?")
    assert learnt.transform(other).values.tolist() == [[1.0, 2.0, 0.0], [4.0, 2.0, 0.0]]


def test_a_step_that_must_be_fitted_first_refuses_to_transform():
    for imputation, normalisation in (("indicator", "none"), ("zero", "standard")):
        with pytest.raises(SettingError, match="expected fit before transform"):
            Preprocessor.named(imputation, normalisation).transform(some_table())


def test_the_label_names_the_steps():
    assert Preprocessor.named().label == "query-minimum, query-minmax"
    assert Preprocessor.named("letor", "query-rank", powers=True).label.endswith("query-rank, powers")


def test_unknown_names_are_refused():
    with pytest.raises(SettingError, match="unknown imputation 'nil'"):
        Preprocessor.named("nil")
    with pytest.raises(SettingError, match="unknown normalisation 'nil'"):
        Preprocessor.named("zero", "nil")
    with pytest.raises(SettingError, match="powers is 'power', expected true or false"):
        Preprocessor.from_json(Preprocessor.named().to_json() | {"powers": "power"})


@pytest.mark.parametrize("number", [None, "1", float("nan"), float("inf"), True, [1.0]])
@pytest.mark.parametrize("key", ["means", "deviations"])
def test_means_that_are_not_numbers_are_refused(key, number):
    record = Preprocessor.named("zero", "standard").fit(some_table()).to_json()
    record["normalisation"][key][1] = number
    with pytest.raises(SettingError, match=r"the normalisation standard has .*, expected finite numbers"):
        Preprocessor.from_json(record)
