"""Contributions to the score of trees are Shapley values, by hand and by enumeration of all subsets."""

import math
from itertools import combinations

import numpy as np
import pytest

from searchlab.rankers.models.tree_contributions import LeafPaths
from tests.rankers.models.tree_examples import BY_HAND, make_tree, random_rows, random_tree, walk


def expected_score(tree, row, known, child=0):
    """The expected score if only some features of a row are known: other nodes are left in proportion."""
    if tree.n_leaves == 1 or child < 0:
        return float(tree.leaf_values[-1 - child]) if child < 0 else float(tree.leaf_values[0])
    sides = [int(tree.left[child]), int(tree.right[child])]
    if tree.features[child] in known:
        goes_left = tree.goes_left(row[tree.features])[child]
        return expected_score(tree, row, known, sides[0 if goes_left else 1])
    counts = tree.count_of(np.array(sides)).tolist()
    values = [expected_score(tree, row, known, side) for side in sides]
    return (counts[0] * values[0] + counts[1] * values[1]) / sum(counts)


def shapley_values(tree, row):
    """Σ over subsets S without f of |S|!(n−1−|S|)!/n! · (value with f − value without)."""
    n = len(row)
    amounts = []
    for feature in range(n):
        others = [each for each in range(n) if each != feature]
        amount = 0.0
        for size in range(n):
            weight = math.factorial(size) * math.factorial(n - 1 - size) / math.factorial(n)
            for subset in combinations(others, size):
                gain = expected_score(tree, row, {*subset, feature}) - expected_score(tree, row, set(subset))
                amount += weight * gain
        amounts.append(amount)
    return amounts


def test_contributions_by_hand():
    # Expected: (2·1 + 2·3 + 4·10) / 8 = 6. With x0 known it is 2, with x1 known (1 + 10)/2 = 5.5, with both 1.
    # φ0 = ½·(2 − 6) + ½·(1 − 5.5) = −4.25, φ1 = ½·(5.5 − 6) + ½·(1 − 2) = −0.75.
    paths = LeafPaths.of([BY_HAND])
    assert paths.expected == pytest.approx(6.0)
    assert paths.contributions(np.array([0.0, 0.0])).tolist() == pytest.approx([-4.25, -0.75])


@pytest.mark.parametrize("n_leaves", [1, 2, 3, 5, 9, 16, 40, 64])
def test_contributions_are_shapley_values(n_leaves):
    random = np.random.default_rng(n_leaves)
    tree = random_tree(random, n_leaves, 4)
    for row in random_rows(random, 4, 4):
        paths = LeafPaths.of([tree])
        amounts = paths.contributions(row)
        assert amounts.tolist() == pytest.approx(shapley_values(tree, row), abs=1e-12)
        assert paths.expected + amounts.sum() == pytest.approx(walk(tree, row), abs=1e-12)


def test_contributions_of_many_trees_are_added_up():
    random = np.random.default_rng(2)
    trees = [random_tree(random, n, 5) for n in (1, 7, 3, 12)]
    together = LeafPaths.of(trees)
    for row in random_rows(random, 5, 5):
        alone = sum(LeafPaths.of([tree]).contributions(row) for tree in trees)
        assert together.contributions(row).tolist() == pytest.approx(alone.tolist(), abs=1e-12)


def test_without_splits_nothing_contributes():
    assert LeafPaths.of([]).contributions(np.ones(3)).tolist() == [0.0] * 3
    stump = LeafPaths.of([make_tree([], [], [], [], [0.25], [1])])
    assert stump.contributions(np.ones(3)).tolist() == [0.0] * 3
    assert stump.expected == 0.25
