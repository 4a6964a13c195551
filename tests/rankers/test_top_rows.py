"""The first rows of queries: places by hand, ties that share them, and rows against their copies."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from searchlab.rankers.top_rows import top_weights


def test_places_are_given_by_query_and_ties_share_the_last_ones():
    keys = np.array([3.0, 5.0, 3.0, 3.0, 9.0, 1.0])
    taken = top_weights([keys], np.array([0, 4, 6]), np.ones(6), [2, 1, 9])
    # The first query has one place left for three rows of value 3; the second has two rows.
    third = 1 / 3
    assert np.allclose(taken[0], [third, 1, third, third, 1, 1])
    assert taken[1].tolist() == [0, 1, 0, 0, 1, 0]
    assert taken[2].tolist() == [1] * 6


def test_later_keys_order_rows_that_are_equal_by_the_first():
    grades, scores = np.array([0.0, 1.0, 1.0, 2.0]), np.array([9.0, 1.0, 4.0, -3.0])
    (taken,) = top_weights([grades, scores], np.array([0, 4]), np.ones(4), [2])
    assert taken.tolist() == [0, 0, 1, 1]


def test_there_may_be_no_rows_and_empty_queries():
    assert top_weights([np.zeros(0)], np.array([0, 0]), np.zeros(0), [3]).shape == (1, 0)
    assert top_weights([np.ones(1)], np.array([0, 0, 1, 1]), np.ones(1), [3]).tolist() == [[1.0]]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=8), st.integers(1, 6))
def test_a_row_of_weight_two_has_two_places(rows, depth):
    keys = np.array([key for key, _ in rows], dtype=float)
    weights = np.array([weight for _, weight in rows], dtype=float)
    (taken,) = top_weights([keys], np.array([0, len(rows)]), weights, [depth])
    # One by one: the best depth copies, those of the last value in equal parts.
    copies = sorted(np.repeat(keys, weights.astype(int)).tolist(), reverse=True)[:depth]
    for value in set(keys.tolist()):
        own = keys == value
        assert np.isclose(taken[own].sum(), copies.count(value))
        if weights[own].sum():
            assert np.allclose(taken[own], weights[own] * copies.count(value) / weights[own].sum())
