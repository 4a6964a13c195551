"""Scores of neighbours: worked by hand, compared with a plain computation, and independent of the order of rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchlab.features.latent_semantics import neighbours
from searchlab.features.latent_semantics.neighbours import DenseVectors, neighbour_means

# Five vectors: a and b are the same, c is at a cosine of 0.6 to both, d is opposite to a, and e has no direction.
FIVE = DenseVectors(np.array([[1, 0], [1, 0], [0.6, 0.8], [-1, 0], [0, 0]]))
SCORES = np.array([5.0, 2.0, 10.0, 7.0, 1.0])


def test_the_nearest_one_gives_its_score():
    (means,) = neighbour_means(FIVE, [SCORES], [1])
    # a and b are nearest to each other; both are equally near to c: (5 + 2)/2; no cosine of d or e is positive.
    assert means.tolist() == pytest.approx([2, 5, 3.5, np.nan, np.nan], nan_ok=True)


def test_neighbours_are_weighed_by_cosine():
    (means,) = neighbour_means(FIVE, [SCORES], [2])
    # a: b with 1 and c with 0.6; b: a and c likewise.
    expected = [(2 + 0.6 * 10) / 1.6, (5 + 0.6 * 10) / 1.6, 3.5, np.nan, np.nan]
    assert means.tolist() == pytest.approx(expected, nan_ok=True)


def test_each_score_has_its_own_number_of_neighbours():
    both = neighbour_means(FIVE, [SCORES, 2 * SCORES], [1, 2])
    (one,), (two,) = neighbour_means(FIVE, [SCORES], [1]), neighbour_means(FIVE, [2 * SCORES], [2])
    np.testing.assert_array_equal(both, [one, two])


def test_several_numbers_of_a_row_have_means_of_their_own():
    ((first, second),) = [each.T for each in neighbour_means(FIVE, [np.column_stack([SCORES, -SCORES])], [2])]
    (alone,) = neighbour_means(FIVE, [SCORES], [2])
    np.testing.assert_array_equal(first, alone)
    np.testing.assert_array_equal(second, -alone)


@pytest.mark.parametrize("n", [0, 1])
def test_without_other_candidates_there_is_no_mean(n):
    (means,) = neighbour_means(DenseVectors(FIVE.rows[:n]), [SCORES[:n]], [3])
    assert means.shape == (n,)
    assert np.isnan(means).all()


@pytest.mark.parametrize("most", [1, 5, 11, 15])
def test_many_candidates_are_compared_piece_by_piece_with_the_same_result(monkeypatch, most):
    whole = neighbour_means(FIVE, [SCORES, SCORES], [1, 2])
    monkeypatch.setattr(neighbours, "MAX_COSINES", most)
    np.testing.assert_allclose(neighbour_means(FIVE, [SCORES, SCORES], [1, 2]), whole)


def slow_mean(vectors, scores, row, k):
    others = sorted(((float(vectors[row] @ vectors[e]), e) for e in range(len(vectors)) if e != row), reverse=True)
    if not others:
        return np.nan
    least = others[: min(k, len(others))][-1][0]
    near = [(cosine, scores[e]) for cosine, e in others if cosine >= least and cosine > 0]
    total = sum(cosine for cosine, _ in near)
    return sum(cosine * score for cosine, score in near) / total if near else np.nan


# Vectors of length 5 instead of 1, or 0: ties are frequent and products are exact.
directions = st.sampled_from([(5, 0), (-5, 0), (0, 5), (0, 0), (3, 4), (4, 3), (-3, 4)])


@given(st.lists(st.tuples(directions, st.integers(0, 9)), min_size=1, max_size=9), st.integers(1, 10), st.randoms())
def test_means_are_those_of_a_plain_computation_in_any_order(rows, k, chance):
    order = chance.sample(range(len(rows)), len(rows))
    vectors = np.array([rows[i][0] for i in order], float)
    scores = np.array([rows[i][1] for i in order], float)
    (means,) = neighbour_means(DenseVectors(vectors), [scores], [k])
    expected = [slow_mean(vectors, scores, row, k) for row in range(len(rows))]
    assert means.tolist() == pytest.approx(expected, nan_ok=True)
