"""Pair weights: counts, μ by equation 10, and τ by hand and as the expectation of its simulation."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from searchlab.errors import SettingError
from searchlab.rankers.solvers.pair_weights import (
    count_pairs,
    parse_rank_factors,
    query_factors,
    rank_factors,
    simulate_rank_factors,
)


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
    # Query 1 has no grade 1: its drop is 0, and counts (Figure 1 of Xu et al.: Drop / k), or it is left out.
    rows = [0, 3, 6], [0, 2, 2, 1, 2, 0]
    assert rank_factors(*rows) == pytest.approx({(2, 1): 1 / 3, (2, 0): 3 / 4, (1, 0): 0})
    assert rank_factors(*rows, queries="with-both") == pytest.approx({(2, 1): 2 / 3, (2, 0): 3 / 4, (1, 0): 0})


def figure_1(offsets, grades, depth, n_draws, random):
    """Xu et al. 2006, Figure 1, step by step: the swaps are made, and NDCG is computed anew for each."""

    def ndcg(ranking):
        gains = [(2.0**grade - 1) / np.log2(2 + rank) for rank, grade in enumerate(ranking[:depth])]
        ideal = [(2.0**grade - 1) / np.log2(2 + rank) for rank, grade in enumerate(sorted(ranking)[::-1][:depth])]
        return sum(gains) / sum(ideal)

    queries = [sorted(grades[begin:end])[::-1] for begin, end in pairwise(offsets)]
    found = {}
    for high, low in [(2, 1), (2, 0), (1, 0)]:
        drop = 0.0
        for perfect in queries:
            if high in perfect and low in perfect:
                for _ in range(n_draws):
                    one = random.choice([rank for rank, grade in enumerate(perfect) if grade == high])
                    other = random.choice([rank for rank, grade in enumerate(perfect) if grade == low])
                    swapped = list(perfect)
                    swapped[one], swapped[other] = low, high
                    drop += (ndcg(perfect) - ndcg(swapped)) / n_draws
        found[high, low] = drop / len(queries)
    return found


@pytest.mark.parametrize("depth", [1, 2, 5])
def test_rank_factors_are_those_of_figure_1(depth):
    offsets, grades = [0, 4, 7, 9, 11], [2, 1, 0, 0, 2, 2, 0, 1, 0, 0, 0]
    expected = figure_1(offsets, grades, depth, 2000, np.random.default_rng(3))
    assert rank_factors(offsets, grades, depth) == pytest.approx(expected, abs=0.02)
    assert simulate_rank_factors(offsets, grades, depth, 4000) == pytest.approx(expected, abs=0.02)


@pytest.mark.parametrize("ask", [rank_factors, simulate_rank_factors])
def test_a_mean_over_all_queries_is_that_over_those_with_both_grades_times_their_share(ask):
    # Two queries have grades 1 and 0, one of them also 2; one has 0 alone, and one has no documents.
    rows = [0, 3, 5, 6, 6], [2, 1, 0, 1, 0, 0]
    some, every = ask(*rows, 5, queries="with-both"), ask(*rows, 5)
    share = {(2, 1): 1 / 3, (2, 0): 1 / 3, (1, 0): 2 / 3}
    assert every == pytest.approx({pair: share[pair] * factor for pair, factor in some.items()})
    with pytest.raises(SettingError, match="unknown queries to average over 'some'; there is: all, with-both"):
        ask(*rows, queries="some")


def test_rank_factors_are_given_by_numbers_or_words():
    by_numbers = {(1, 0): 0.25, (2, 0): 1, (2.0, 1.0): 0}
    by_words = {"2 over 1": 0.0, "2-0": 1, "1 , 0": 0.25}
    assert list(parse_rank_factors(by_numbers).items()) == [((2, 1), 0), ((2, 0), 1), ((1, 0), 0.25)]
    assert parse_rank_factors(by_words) == parse_rank_factors(by_numbers)
    assert parse_rank_factors({"1.5 over -1": 2.0, "0--1": 1.0}) == {(1.5, -1.0): 2.0, (0.0, -1.0): 1.0}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"2": 1.0}, "tau has the key '2', expected a grade and a lower one, such as '2 over 1' or '2-1'"),
        ({"1 over 2": 1.0}, "tau has the key '1 over 2', expected a grade and a lower one"),
        ({(1, 1): 1.0}, r"tau has the key \(1, 1\)"),
        ({3: 1.0}, "tau has the key 3"),
        ({"high over low": 1.0}, "tau has the key 'high over low'"),
        ({"2-1": -0.5}, "tau of 2 over 1 is -0.5, expected a number from 0"),
        ({"2-1": True}, "tau of 2 over 1 is True"),
        ({"2-1": "much"}, "tau of 2 over 1 is 'much'"),
        ({"2-1": np.inf}, "tau of 2 over 1 is inf"),
        ({"2-1": 0.5, (2, 1): 0.5}, "tau has 2 over 1 twice"),
    ],
)
def test_rank_factors_that_are_none_are_refused(given, message):
    with pytest.raises(SettingError, match=message):
        parse_rank_factors(given)


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
