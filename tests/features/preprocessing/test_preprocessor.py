"""Is a table prepared by the rules that belong to a model, and by nothing that it should not know?"""

import json
from itertools import product

import numpy as np
import pytest

from searchlab.errors import SettingError
from searchlab.features.feature_table import FeatureTable
from searchlab.features.preprocessing.imputation import FILLINGS
from searchlab.features.preprocessing.normalisation import NORMALISATIONS
from searchlab.features.preprocessing.powers import BENDS
from searchlab.features.preprocessing.preprocessor import Preparation

RANDOM = np.random.default_rng(2)


def some_table(n=12, seed=1, shift=0.0):
    random = np.random.default_rng(seed)
    values = random.normal(size=(n, 3)) + shift
    values[random.random(values.shape) < 0.2] = np.nan
    return FeatureTable(["f1", "f11", "b"], np.repeat(["x", "y", "z"], n // 3), [""] * n, values, [0] * n)


@pytest.mark.parametrize(("filling", "normalisation", "bends"), list(product(FILLINGS, NORMALISATIONS, BENDS)))
def test_rules_written_as_json_and_read_again_do_the_same(filling, normalisation, bends):
    learnt = Preparation.named(filling, normalisation, bends).fit(some_table())
    again = Preparation.from_json(json.loads(json.dumps(learnt.to_json())))
    assert again == learnt
    other = some_table(seed=2, shift=3.0)
    assert again.apply(other).equals(learnt.apply(other))
    assert not np.isnan(again.apply(other).values).any()
    assert again.label == learnt.label
    # What is read back needs no table to learn from, and learns alike from another.
    assert again.fit(other) == learnt.fit(other)


def test_rules_that_have_learnt_nothing_are_read_back_too():
    for filling, normalisation in product(FILLINGS, NORMALISATIONS):
        rules = Preparation.named(filling, normalisation)
        assert Preparation.from_json(json.loads(json.dumps(rules.to_json()))) == rules


def test_a_table_is_filled_then_normalised_then_bent():
    raw = FeatureTable(["a"], ["q"] * 3, ["x", "y", "z"], [[2.0], [np.nan], [6.0]])
    # The query's minimum fills the gap: 2, 2, 6 become 0, 0, 1; zero does: 2, 0, 6 become ⅓, 0, 1.
    assert Preparation.named().apply(raw).values.tolist() == [[0.0], [0.0], [1.0]]
    bent = Preparation.named("zero", "query-minmax", "powers").apply(raw)
    assert bent.names == ("a", "a^2", "a^0.5")
    assert bent.values[0].tolist() == pytest.approx([1 / 3, 1 / 9, 3**-0.5])


def test_means_are_learnt_from_the_table_to_train_with_alone():
    train = FeatureTable(["a"], ["q"] * 2, ["x", "y"], [[1.0], [3.0]])
    other = FeatureTable(["a"], ["r"] * 3, ["x", "y", "z"], [[2.0], [4.0], [102.0]])
    learnt = Preparation.named("zero", "standard").fit(train)
    # Mean 2 and deviation 1, whatever is prepared later.
    assert learnt.apply(other).values.ravel().tolist() == [0.0, 2.0, 100.0]
    assert learnt.apply(other.rows(slice(0, 1))).values.tolist() == [[0.0]]
    assert learnt.apply(train).values.ravel().tolist() == [-1.0, 1.0]


def test_means_are_learnt_from_filled_values():
    train = FeatureTable(["a"], ["q"] * 2, ["x", "y"], [[np.nan], [4.0]])
    assert Preparation.named("zero", "standard").fit(train).normalisation.means == (2.0,)


def test_which_features_are_marked_is_learnt_from_the_table_to_train_with():
    train = FeatureTable(["a", "b"], ["q"] * 2, ["x", "y"], [[np.nan, 1.0], [4.0, 2.0]])
    other = FeatureTable(["a", "b"], ["q"] * 2, ["x", "y"], [[1.0, np.nan], [4.0, 2.0]])
    learnt = Preparation.named("indicator", "none").fit(train)
    assert learnt.apply(other).names == ("a", "b", "a?")
    assert learnt.apply(other).values.tolist() == [[1.0, 2.0, 0.0], [4.0, 2.0, 0.0]]


def test_what_must_learn_first_says_so():
    for filling, normalisation in (("indicator", "none"), ("zero", "standard")):
        with pytest.raises(SettingError, match="expected fit before transform"):
            Preparation.named(filling, normalisation).apply(some_table())


def test_the_label_names_the_rules():
    assert Preparation.named().label == "query-minimum, query-minmax"
    assert Preparation.named("letor", "query-rank", "powers").label.endswith("query-rank, powers")


def test_unknown_rules_are_refused_when_they_are_named():
    with pytest.raises(SettingError, match="unknown filling 'nil'"):
        Preparation.named("nil")
    with pytest.raises(SettingError, match="unknown normalisation 'nil'"):
        Preparation.named("zero", "nil")
    with pytest.raises(SettingError, match=r"unknown way to bend features 'power'.*did you mean powers"):
        Preparation.named(bends="power")


@pytest.mark.parametrize("number", [None, "1", float("nan"), float("inf"), True, [1.0]])
@pytest.mark.parametrize("key", ["means", "deviations"])
def test_means_that_are_no_numbers_are_refused(key, number):
    kept = Preparation.named("zero", "standard").fit(some_table()).to_json()
    kept["normalisation"][key][1] = number
    with pytest.raises(SettingError, match=r"the normalisation standard has .*, expected finite numbers"):
        Preparation.from_json(kept)
