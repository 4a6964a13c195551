"""The numbers behind the papers' figures: planes, directions, groups of queries, sign tests."""

import math

import numpy as np
import pytest

from searchlab.errors import SettingError
from searchlab.reproduction.paper_reports.figures import (
    Direction,
    Plane,
    check_queries,
    choose_pairs,
    choose_queries,
    cosine,
    find_directions,
    group_by_pairs,
    pair_counts,
    reversed_pairs,
    sign_tests,
    training_curves,
)
from tests.reproduction.example_queries import QUERIES, SPLIT, table_of


def test_the_plane_has_the_directions_of_most_variance_first():
    # Around the mean (1, 1, 5): ±2 along the second feature, ±1 along the first, nothing along the third.
    rows = np.array([[1.0, 3, 5], [1, -1, 5], [2, 1, 5], [0, 1, 5]])
    plane = Plane.of(rows)
    assert plane.center.tolist() == [1, 1, 5]
    np.testing.assert_allclose(plane.axes, [[0, 1, 0], [1, 0, 0]], atol=1e-12)
    # The squares along the axes are 4 + 4 and 1 + 1.
    assert plane.shares == pytest.approx((0.8, 0.2))
    np.testing.assert_allclose(plane.project(rows), [[2, 0], [-2, 0], [0, 1], [0, -1]], atol=1e-12)


def test_a_weight_vector_is_projected_on_the_plane():
    plane = Plane.of(np.array([[1.0, 3, 5], [1, -1, 5], [2, 1, 5], [0, 1, 5]]))
    # Weights (3, 4, 100): the first axis is the second feature, the third is orthogonal; length 5 becomes 1.
    np.testing.assert_allclose(plane.direction(np.array([3.0, 4, 100])), [0.8, 0.6], atol=1e-12)
    assert plane.direction(np.array([0.0, 0, 1])).tolist() == [0, 0]


@pytest.mark.parametrize(
    ("rows", "axes"),
    [
        ([[1.0], [3.0]], [[1], [0]]),
        ([[1.0, 1.0], [2.0, 2.0]], [[math.sqrt(0.5)] * 2, [0, 0]]),
        ([[1.0, 2.0]], [[0, 0]] * 2),
    ],
)
def test_where_rows_vary_in_fewer_directions_an_axis_is_zero(rows, axes):
    plane = Plane.of(np.array(rows))
    np.testing.assert_allclose(plane.axes, axes, atol=1e-12)
    assert sum(plane.shares) == pytest.approx(float(len(rows) > 1))


def test_the_largest_component_of_an_axis_is_positive():
    falling = np.array([[0.0, 0.0], [1.0, -3.0], [2.0, -6.0]])
    assert Plane.of(falling).axes[0] == pytest.approx([-1 / math.sqrt(10), 3 / math.sqrt(10)])


def test_the_cosine_of_two_vectors():
    assert cosine(np.array([1.0, 0]), np.array([3.0, 4])) == pytest.approx(0.6)
    assert cosine(np.zeros(2), np.array([3.0, 4])) == 0


def test_pairs_of_different_grades_are_counted():
    assert pair_counts(table_of(QUERIES)) == {"a": 5, "b": 3, "c": 9, "d": 0}


def test_the_queries_with_the_fewest_and_the_most_pairs_are_chosen_of_those_with_all_grades():
    assert choose_queries(table_of(QUERIES)) == ("b", "a")
    only = {qid: QUERIES[qid] for qid in "cd"}
    assert choose_queries(table_of(only)) is None
    same = {"x": QUERIES["b"], "y": QUERIES["b"]}
    assert choose_queries(table_of(same)) == ("x", "y")


def test_queries_chosen_by_the_user_must_exist_and_have_pairs():
    table = table_of(QUERIES)
    assert check_queries(table, ["c", "a"]) == ("c", "a")
    with pytest.raises(SettingError, match="query z is not in the folds, expected two of their 4 queries"):
        check_queries(table, ["a", "z"])
    with pytest.raises(SettingError, match="query d has no two documents of different grades"):
        check_queries(table, ["a", "d"])
    for wrong in (["a"], ["a", "a"], ["a", "b", "c"], []):
        with pytest.raises(SettingError, match="expected two different ones"):
            check_queries(table, wrong)


def test_the_hyperplane_of_two_grades_points_along_their_difference():
    found = find_directions(table_of(SPLIT))
    assert list(found.pairs) == [(2, 1), (2, 0), (1, 0)]
    unit = {pair: each.weights / np.linalg.norm(each.weights) for pair, each in found.pairs.items()}
    np.testing.assert_allclose(unit[2, 1], [1, 0], atol=1e-3)
    np.testing.assert_allclose(unit[1, 0], [0, 1], atol=1e-3)
    np.testing.assert_allclose(unit[2, 0], [math.sqrt(0.5)] * 2, atol=1e-3)
    assert [each.n_pairs for each in found.pairs.values()] == [2, 2, 2]


def test_each_query_and_all_together_have_a_direction():
    found = find_directions(table_of(SPLIT))
    assert {qid: each.n_pairs for qid, each in found.queries.items()} == {"a": 5, "b": 1}
    assert found.together.n_pairs == 6
    assert found.similarity(found.together) == pytest.approx(1)
    alone = found.queries["b"].weights
    assert alone[0] > 0
    assert alone[1] == pytest.approx(0, abs=1e-3)


def test_training_curves_are_measured_on_the_training_queries():
    curves = training_curves(table_of(SPLIT), ranks=[1, 3])
    assert {name: values.tolist() for name, values in curves.items()} == {
        "rsvm": [1, 1],
        "rsvm-ir": [1, 1],
        "rsvm-ir-gd": [1, 1],
    }


def test_queries_are_grouped_by_their_number_of_pairs():
    groups = group_by_pairs({"a": 0, "b": 999, "c": 1000, "d": 3999}, 1000)
    assert [(group.label, group.qids) for group in groups] == [
        ("0–999", ("a", "b")),
        ("1000–1999", ("c",)),
        ("2000–2999", ()),
        ("3000–3999", ("d",)),
    ]


@pytest.mark.parametrize(
    ("largest", "width"), [(0, 1), (9, 1), (10, 2), (19, 2), (20, 5), (49, 5), (50, 10), (9999, 1000)]
)
def test_there_are_at_most_ten_groups_of_a_round_width(largest, width):
    groups = group_by_pairs({"a": largest})
    assert groups[0].high + 1 == width
    assert len(groups) <= 10
    assert groups[-1].qids == ("a",)


def test_the_sign_test_counts_wins_and_drops_ties():
    values = np.array([1.0, 1, 1, 1, 1, 0, 0.5])
    tests = sign_tests(values, {"zero": np.zeros(7), "same": values, "one": np.ones(7)})
    assert [(each.other, each.wins, each.ties, each.losses) for each in tests] == [
        ("zero", 6, 1, 0),
        ("same", 0, 7, 0),
        ("one", 0, 5, 2),
    ]
    # 2 · ½⁶, nothing to test, 2 · ½².
    assert [each.p for each in tests] == pytest.approx([1 / 32, 1, 1 / 2])
    # Holm: the smallest times 3, the next times 2.
    assert [each.p_corrected for each in tests] == pytest.approx([3 / 32, 1, 1])


def test_reversed_pairs_of_the_papers_example():
    # Cao et al. §6.3, query 9: two (d, p) pairs are reversed by RSVM, one (d, p) and one (p, n) pair by RSVM-IR.
    d, p, n = 2, 1, 0
    assert reversed_pairs([p, d, d, p, n]) == {(d, p): 2}
    assert reversed_pairs([d, p, d, n, p]) == {(d, p): 1, (p, n): 1}
    assert reversed_pairs([d, d, p, n, n]) == {}


def test_arrows_are_as_long_as_the_largest_coordinate():
    plane = Plane.of(np.array([[1.0, 3, 5], [1, -1, 5], [2, 1, 5], [0, 1, 5]]))
    found = plane.arrows({"w": Direction(np.array([3.0, 4, 100]), 1)}, np.array([[2.0, 0], [-10, 0]]))
    ((start, end),) = found.values()
    assert start == (0, 0)
    assert end == pytest.approx((8, 6))


def test_a_figure_has_all_pairs_of_three_grades_and_of_more_only_neighbours_and_the_extremes():
    of_three = [(2.0, 1.0), (2.0, 0.0), (1.0, 0.0)]
    assert choose_pairs(of_three) == of_three
    of_four = [(high, low) for high in (3.0, 2.0, 1.0, 0.0) for low in (2.0, 1.0, 0.0) if low < high]
    assert choose_pairs(of_four) == [(3, 2), (3, 0), (2, 1), (1, 0)]
