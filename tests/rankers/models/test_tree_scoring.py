"""Scores of trees by tables are those of a walk from node to node."""

from functools import reduce

import numpy as np
import pytest

from searchlab.rankers.models import tree_scoring
from searchlab.rankers.models.tree_scoring import leaf_spans, make_blocks, word_for
from tests.rankers.models.tree_examples import BY_HAND, make_tree, random_rows, random_tree, walk


def score(trees, X):
    scores = np.zeros(len(X))
    for block in make_blocks(trees):
        block.add_scores(X, scores)
    return scores


def test_scores_by_hand():
    X = np.array([[0.5, 2.0], [0.5, 2.1], [0.6, 0.0], [np.nan, np.nan]])
    assert score([BY_HAND], X).tolist() == [1.0, 3.0, 10.0, 1.0]
    stump = make_tree([], [], [], [], [0.25], [1])
    assert score([BY_HAND, stump, BY_HAND], X).tolist() == [2.25, 6.25, 20.25, 2.25]
    assert score([], X).tolist() == [0.0] * 4
    assert score([BY_HAND], X[:0]).shape == (0,)


@pytest.mark.parametrize("n_leaves", [1, 2, 3, 8, 9, 16, 17, 32, 33, 63, 64])
def test_scores_are_those_of_a_walk_to_the_last_bit(n_leaves):
    random = np.random.default_rng(n_leaves)
    trees = [random_tree(random, int(random.integers(1, n_leaves + 1)), 4) for _ in range(20)]
    trees.append(random_tree(random, n_leaves, 4))
    X = random_rows(random, 60, 4)
    # Added up in the order of the trees, as a sum over an array need not be.
    expected = [reduce(lambda total, tree: total + walk(tree, row), trees, 0.0) for row in X]
    assert score(trees, X).tolist() == expected


def test_many_trees_are_scored_a_block_at_a_time(monkeypatch):
    random = np.random.default_rng(1)
    trees, X = [random_tree(random, 5, 3) for _ in range(30)], random_rows(random, 40, 3)
    together = score(trees, X)
    assert len(make_blocks(trees)) == 1
    monkeypatch.setattr(tree_scoring, "BLOCK_BYTES", 5 * 7 * 7)
    assert len(make_blocks(trees)) == 5
    assert np.array_equal(score(trees, X), together)


def test_leaves_have_their_places_from_left_to_right():
    # The root's left child is node 1 with the leaves 0 and 1, its right child leaf 2.
    starts, n_left, places = leaf_spans(BY_HAND)
    assert (starts, n_left, places.tolist()) == ([0, 0], [2, 1], [0, 1, 2])


def test_words_have_a_bit_for_each_leaf():
    assert [word_for(n) for n in (1, 8, 9, 16, 17, 32, 33, 64)] == [
        np.uint8,
        np.uint8,
        np.uint16,
        np.uint16,
        np.uint32,
        np.uint32,
        np.uint64,
        np.uint64,
    ]
