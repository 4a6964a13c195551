"""Pair weights: counts, μ by equation 10, and τ by hand and as the expectation of its simulation."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from searchlab.errors import SettingError
from searchlab.rankers.solvers.pair_weights import count_pairs, query_factors, rank_factors, simulate_rank_factors


def test_pairs_are_counted_by_query_and_grades():
    assert count_pairs([0, 4, 5, 7], [2, 0, 0, 1, 3, 1, 1]) == [{(2, 1): 1, (2, 0): 2, (1, 0): 2}, {}, {}]


def test_query_factor_is_the_largest_number_of_pairs_over_that_of_the_query():
    # 2·2 = 4 pairs, 1 pair, none.
    assert query_factors([0, 4, 6, 8], [1, 1, 0, 0, 1, 0, 1, 1]).tolist() == [1, 4, 1]
    assert query_factors([0, 2], [1, 1]).tolist() == [1]
    assert query_factors([0], []).tolist() == []


def test_rank_factors_worked_by_hand():
    # Query 1: grades 2, 2, 0: the swap touches rank 1 in half of the cases, and then loses all: ½.
    # Query 2: grades 2, 1, 0: from 3 to 1 loses ⅔, from 3 to 0 all; a swap of 1 and 0 does not touch rank 1.
    factors = rank_factors([0, 3, 6], [0, 2, 2, 1, 2, 0])
    assert factors == pytest.approx({(2, 1): 2 / 3, (2, 0): 3 / 4, (1, 0): 0})


@pytest.mark.parametrize("depth", [1, 3, 10])
def test_rank_factors_are_the_expectation_of_their_simulation(depth):
    grades = np.random.default_rng(4).integers(0, 4, 60)
    offsets = [0, 10, 30, 31, 60]
    expected = rank_factors(offsets, grades, depth)
    simulated = simulate_rank_factors(offsets, grades, depth, n_draws=4000, seed=5)
    assert list(simulated) == list(expected)
    assert len(expected) == 6
    assert list(simulated.values()) == pytest.approx(list(expected.values()), abs=0.01)
    assert simulated == simulate_rank_factors(offsets, grades, depth, n_draws=4000, seed=5)


def test_rank_factors_of_high_grades_do_not_overflow():
    assert rank_factors([0, 2], [5000, 0]) == {(5000, 0): 1.0}


@pytest.mark.parametrize("ask", [rank_factors, simulate_rank_factors])
def test_rank_factors_refuse_grades_without_gain(ask):
    with pytest.raises(SettingError, match="grade is -1, expected a number from 0"):
        ask([0, 2], [1, -1])
    with pytest.raises(SettingError, match="depth is 0"):
        ask([0, 2], [1, 0], 0)


@st.composite
def weighed_queries(draw):
    sizes = draw(st.lists(st.integers(0, 8), min_size=1, max_size=4))
    offsets, n_rows = np.concatenate([[0], np.cumsum(sizes)]).astype(int), sum(sizes)
    grades = np.array(draw(st.lists(st.integers(0, 5), min_size=n_rows, max_size=n_rows)), dtype=int)
    copies = np.array(draw(st.lists(st.integers(0, 3), min_size=n_rows, max_size=n_rows)), dtype=int)
    return offsets, grades, copies


@settings(deadline=None)
@given(weighed_queries(), st.sampled_from([1, 2, 5, 100]))
def test_weight_of_a_row_is_its_number_of_copies(queries, depth):
    offsets, grades, copies = queries
    repeated = np.concatenate([[0], np.cumsum(copies)])[offsets], np.repeat(grades, copies)
    assert count_pairs(offsets, grades, copies) == count_pairs(*repeated)
    assert query_factors(offsets, grades, copies).tolist() == query_factors(*repeated).tolist()
    if all(len(set(repeated[1][begin:end])) != 1 or repeated[1][begin] for begin, end in pairwise(repeated[0])):
        expected = rank_factors(*repeated, depth)
        assert rank_factors(offsets, grades, depth, copies) == pytest.approx(expected, rel=1e-9, abs=1e-12)


@settings(deadline=None)
@given(weighed_queries())
def test_query_factor_is_equation_10(queries):
    offsets, grades, _ = queries
    pairs = [
        sum(grades[i] > grades[j] for i in range(begin, end) for j in range(begin, end))
        for begin, end in pairwise(offsets)
    ]
    found = query_factors(offsets, grades)
    assert found.tolist() == [max(pairs) / n if n else 1 for n in pairs]
    # Every query with pairs has the total weight of the largest.
    assert {round(factor * n, 6) for factor, n in zip(found, pairs, strict=True) if n} <= {max(pairs)}


def test_rank_factors_of_fractional_weights_worked_by_hand():
    # Grades 1 and 0 with weights ½ and 2. The upper half of rank 1 is of grade 1, the lower of grade 0: the mean
    # discount of grade 1 is ½/½, that of grade 0 ½/2, and the ideal DCG ½.
    assert rank_factors([0, 2], [1, 0], 1, [0.5, 2.0]) == pytest.approx({(1, 0): (1 - 0.25) / 0.5})
    # Weights 1½ and 1, depth 2: ranks 1 and half of 2, then the other half of 2 and half of 3, which is too deep.
    second = 1 / np.log2(3)
    means = (1 + second / 2) / 1.5, second / 2
    assert rank_factors([0, 2], [1, 0], 2, [1.5, 1.0]) == pytest.approx(
        {(1, 0): (means[0] - means[1]) / (means[0] * 1.5)}
    )


def test_fractional_pairs_are_counted():
    assert count_pairs([0, 3], [2, 1, 1], [0.5, 3.0, 1.0]) == [{(2, 1): 2.0}]
    assert query_factors([0, 2, 4], [1, 0, 1, 0], [0.5, 1.0, 2.0, 1.0]).tolist() == [4, 1]


@pytest.mark.parametrize("ask", [count_pairs, query_factors])
def test_invalid_weights_are_refused(ask):
    with pytest.raises(SettingError, match=r"row 2: weight is -1\.0"):
        ask([0, 2], [1, 0], [1.0, -1.0])
    with pytest.raises(SettingError, match="expected a weight for each of 2 rows"):
        ask([0, 2], [1, 0], [1.0])
