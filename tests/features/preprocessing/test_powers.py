"""Powers of features: values, names, and the feature that each column is a power of."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchlab.errors import SettingError
from searchlab.features.feature_table import FeatureTable
from searchlab.features.preprocessing.powers import add_powers, base_feature


def table(values, names=("a", "b"), **columns):
    n = len(values)
    return FeatureTable(names, ["q"] * n, [f"d{row}" for row in range(n)], values, **columns)


def test_squares_and_roots_follow_the_features():
    raised = add_powers(table([[0.25, -4.0], [1.0, 0.0]], grades=[2, 0]))
    assert raised.names == ("a", "b", "a^2", "b^2", "a^0.5", "b^0.5")
    assert raised.values.tolist() == [[0.25, -4.0, 0.0625, -16.0, 0.5, -2.0], [1.0, 0.0, 1.0, 0.0, 1.0, 0.0]]
    assert raised.grades.tolist() == [2, 0]
    assert raised.docnos.tolist() == ["d0", "d1"]


def test_an_empty_table_has_powers_too():
    assert add_powers(table(np.zeros((0, 2)))).values.shape == (0, 6)


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=6))
def test_powers_keep_order_sign_and_the_range_from_minus_one_to_one(numbers):
    raised = add_powers(table([[number] for number in numbers], names=("a",))).values
    assert np.all(np.abs(raised) <= 1)
    assert np.array_equal(np.sign(raised[:, 2]), np.sign(raised[:, 0]))
    order = np.argsort(raised[:, 0], kind="stable")
    assert np.all(np.diff(raised[order], axis=0) >= 0)
    assert np.all(np.abs(raised[:, 1]) <= np.abs(raised[:, 0]))
    assert np.all(np.abs(raised[:, 2]) >= np.abs(raised[:, 0]))


def test_undefined_values_stay_undefined():
    assert np.isnan(add_powers(table([[np.nan, 1.0]])).values).tolist() == [[True, False] * 3]


@pytest.mark.parametrize("name", ["bm25", "a^2", "a^0.5", "a^2^0.5", "^2", "x?"])
def test_every_power_is_traced_to_its_feature(name):
    raised = add_powers(table([[0.5]], names=(name,)))
    assert [base_feature(column) for column in raised.names[1:]] == [name, name]


def test_a_feature_that_is_called_like_the_power_of_another_is_refused():
    with pytest.raises(SettingError, match=r"two features are called a\^2"):
        add_powers(table([[1.0, 2.0]], names=("a", "a^2")))
