"""Are features bent by squares and roots, and is each column known by the feature that it comes from?"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchlab.errors import SettingError
from searchlab.features.feature_table import FeatureTable
from searchlab.features.preprocessing.powers import bend, origin


def table(values, names=("a", "b"), **columns):
    n = len(values)
    return FeatureTable(names, ["q"] * n, [f"d{row}" for row in range(n)], values, **columns)


def test_squares_and_roots_stand_behind_the_features():
    bent = bend(table([[0.25, -4.0], [1.0, 0.0]], grades=[2, 0]), "powers")
    assert bent.names == ("a", "b", "a^2", "b^2", "a^0.5", "b^0.5")
    assert bent.values.tolist() == [[0.25, -4.0, 0.0625, -16.0, 0.5, -2.0], [1.0, 0.0, 1.0, 0.0, 1.0, 0.0]]
    assert bent.grades.tolist() == [2, 0]
    assert bent.docnos.tolist() == ["d0", "d1"]


def test_a_table_may_stay_as_it_is():
    straight = table([[0.25, -4.0]])
    assert bend(straight, "none") is straight
    assert bend(table(np.zeros((0, 2))), "powers").values.shape == (0, 6)
    with pytest.raises(SettingError, match=r"unknown way to bend features 'power'.*did you mean powers"):
        bend(straight, "power")


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=6))
def test_powers_keep_order_sign_and_the_range_from_minus_one_to_one(numbers):
    bent = bend(table([[number] for number in numbers], names=("a",)), "powers").values
    assert np.all(np.abs(bent) <= 1)
    assert np.array_equal(np.sign(bent[:, 2]), np.sign(bent[:, 0]))
    order = np.argsort(bent[:, 0], kind="stable")
    assert np.all(np.diff(bent[order], axis=0) >= 0)
    assert np.all(np.abs(bent[:, 1]) <= np.abs(bent[:, 0]))
    assert np.all(np.abs(bent[:, 2]) >= np.abs(bent[:, 0]))


def test_undefined_values_stay_so():
    assert np.isnan(bend(table([[np.nan, 1.0]]), "powers").values).tolist() == [[True, False] * 3]


@pytest.mark.parametrize("name", ["bm25", "a^2", "a^0.5", "a^2^0.5", "^2", "x?"])
def test_every_column_of_a_bent_table_comes_from_its_feature(name):
    bent = bend(table([[0.5]], names=(name,)), "powers")
    assert [origin(column) for column in bent.names[1:]] == [name, name]


def test_a_feature_that_is_called_like_the_power_of_another_is_refused():
    with pytest.raises(SettingError, match=r"two features are called a\^2"):
        bend(table([[1.0, 2.0]], names=("a", "a^2")), "powers")
