"""Categories of queries: their pairs by hand, and positions against all perfect rankings."""

import math
from itertools import permutations

import numpy as np
import pytest

from searchlab.rankers.solvers.exponential_loss import GradedRows, pair_potentials
from searchlab.rankers.solvers.query_categories import (
    GradePairs,
    PositionPairs,
    coinciding_queries,
    has_three_grades,
)
from searchlab.rankers.training_data import TrainingData


def rows_of(*queries):
    """Queries given by the grades of their documents, in ascending order."""
    grades = [grade for query in queries for grade in query]
    qid = [number for number, query in enumerate(queries) for _ in query]
    return GradedRows.of(TrainingData.of(np.zeros((len(grades), 1)), grades, qid))


def losses(rows, reading, scores):
    return [
        np.exp(pair_potentials(scores, pairs.levels, rows.log_weights, rows.offsets, pairs.log_winning)[0])
        for pairs in reading.pairs(scores)
    ]


@pytest.mark.parametrize("grades", [[0, 0, 1, 1, 1], [0, 1, 1, 2, 2], [0, 0, 0, 0, 1], [0, 1, 2, 3, 4]])
def test_the_loss_by_positions_is_the_least_over_all_perfect_rankings(grades):
    rows = rows_of(grades)
    depths = (4, 2, 1)
    for seed in range(5):
        f = np.random.default_rng(seed).normal(size=5)
        perfect = [
            order for order in permutations(range(5)) if [grades[i] for i in order] == sorted(grades, reverse=True)
        ]
        for depth, found in zip(depths, losses(rows, PositionPairs(rows, depths), f), strict=True):
            least = min(
                sum(math.exp(f[j] - f[i]) for i in order[:depth] for j in range(5) if grades[i] > grades[j])
                for order in perfect
            )
            assert found[0] == pytest.approx(least)


def test_with_two_grades_positions_differ_and_grades_do_not():
    # Relevant documents score 2, 1 and 0, the other one 0: by hand e^-2, e^-2 + e^-1, and with the last, 1 more.
    rows = rows_of([0, 1, 1, 1])
    f = np.array([0.0, 1.0, 2.0, 0.0])
    first, second = math.exp(-2), math.exp(-1)
    by_positions = losses(rows, PositionPairs(rows, (10, 2, 1)), f)
    assert np.ravel(by_positions).tolist() == pytest.approx([first + second + 1, first + second, first])
    assert np.ravel(losses(rows, GradePairs(rows, 1), f)).tolist() == pytest.approx([first + second + 1] * 3)


def test_with_three_grades_each_category_by_grades_has_its_pairs():
    rows = rows_of([0, 1, 1, 2])
    # All pairs 2 + 3; grades 1 and 2 before grade 0: 3; grade 2 before all: 3, of which one is not relevant either.
    assert np.ravel(losses(rows, GradePairs(rows, 1), np.zeros(4))).tolist() == pytest.approx([5, 3, 3])


def test_three_grades_must_be_those_of_one_query():
    assert has_three_grades(rows_of([0, 1], [0, 1, 2]))
    assert not has_three_grades(rows_of([0, 1], [1, 2], [0, 2]))
    assert not has_three_grades(rows_of([1, 1]))
    assert not has_three_grades(rows_of())


@pytest.mark.parametrize(
    ("make_reading", "expected"),
    [
        # Two grades; three grades, where transactional and navigational pairs are as many but others; no relevant one.
        (lambda rows: GradePairs(rows, 1), [[True] * 3, [False] * 3, [True] * 3]),
        # Informational and transactional, informational and navigational, transactional and navigational.
        (lambda rows: PositionPairs(rows, (10, 2, 1)), [[False] * 3, [False] * 3, [True] * 3]),
        (lambda rows: PositionPairs(rows, (10, 3, 1)), [[True, False, False]] * 2 + [[True] * 3]),
        (lambda rows: PositionPairs(rows, (10, 1, 1)), [[False, False, True]] * 2 + [[True] * 3]),
    ],
)
def test_categories_coincide_where_they_have_the_same_pairs_or_one_has_none(make_reading, expected):
    rows = rows_of([0, 1, 1, 1], [0, 1, 1, 2], [-1, -1, 0])
    reading = make_reading(rows)
    zero = np.zeros(len(rows.rows))
    pairs = reading.pairs(zero)
    with np.errstate(divide="ignore"):
        counts = [np.log(each) for each in losses(rows, reading, zero)]
    found = [
        coinciding_queries(pairs[one], pairs[other], (counts[one], counts[other]), rows)
        for one, other in ((0, 1), (0, 2), (1, 2))
    ]
    assert np.transpose(found).tolist() == expected
