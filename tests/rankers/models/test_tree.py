"""Decision trees: what is no tree is refused when it is read."""

import numpy as np
import pytest

from searchlab.rankers.models.tree import MAX_LEAVES, Tree
from tests.rankers.models.tree_examples import BY_HAND, random_tree

RECORD = BY_HAND.to_json()
HOSTILE = {
    "a root that is its own child": ({"left": [0, -1]}, "nodes do not make a tree"),
    "a cycle": ({"left": [1, 0]}, "nodes do not make a tree"),
    "a node twice": ({"left": [1, -1], "right": [1, -2]}, "nodes do not make a tree"),
    "a leaf twice": ({"right": [-1, -2]}, "nodes do not make a tree"),
    "a node beyond the end": ({"left": [2, -1]}, "nodes do not make a tree"),
    "a leaf beyond the end": ({"right": [-4, -2]}, "nodes do not make a tree"),
    "a huge child": ({"left": [2**60, -1]}, "expected whole numbers"),
    "half a child": ({"left": [0.5, -1]}, "expected whole numbers"),
    "a feature beyond the end": ({"features": [0, 2]}, "splits by a feature that there is not, expected 0 to 1"),
    "a feature below 0": ({"features": [-1, 1]}, "splits by a feature that there is not"),
    "an endless threshold": ({"thresholds": [0.5, float("inf")]}, "expected finite numbers"),
    "a value that is none": ({"leaf_values": [1.0, float("nan"), 10.0]}, "expected finite numbers"),
    "a value whose sums are infinite": ({"leaf_values": [1.0, 1e308, 10.0]}, "value of a leaf or a gain beyond 1e"),
    "a gain whose sums are infinite": ({"gains": [1.0, 1e308]}, "value of a leaf or a gain beyond 1e"),
    "a third rule": ({"missing": [2, 3]}, "a rule for missing values that there is not"),
    "a default that is none": ({"default_left": [1, 2]}, "default_left is neither 0 nor 1"),
    "too few thresholds": ({"thresholds": [0.5]}, "expects 2 nodes"),
    "too few counts": ({"leaf_counts": [2, 2]}, "expects 2 nodes"),
    "no leaves": ({name: [] for name in RECORD}, "a tree has 0 leaves, expected 1 to 64"),
    "no documents": ({"leaf_counts": [0, 4, 4], "counts": [8, 4]}, "numbers of documents below 1"),
    "documents from nowhere": ({"counts": [9, 4]}, "documents of a node are not those of its children"),
    "a loss": ({"gains": [-1.0, 1.0]}, "gains below 0"),
    "words": ({"left": ["a", "b"]}, "could not convert"),
    "a table": ({"left": [[1, -1]]}, "expected finite numbers in 1 dimension"),
}


def test_a_tree_is_read_back():
    again = Tree.from_json(RECORD, 2)
    assert again.to_json() == RECORD
    assert again.default_left.dtype == bool


@pytest.mark.parametrize(("spoilt", "message"), HOSTILE.values(), ids=HOSTILE)
def test_what_is_no_tree_is_refused(spoilt, message):
    with pytest.raises(ValueError, match=message):
        Tree.from_json(RECORD | spoilt, 2)


def test_a_tree_has_as_many_leaves_as_a_word_has_bits():
    random = np.random.default_rng(0)
    assert random_tree(random, MAX_LEAVES, 3).check(3).n_leaves == 64
    with pytest.raises(ValueError, match="a tree has 65 leaves, expected 1 to 64"):
        random_tree(random, MAX_LEAVES + 1, 3).check(3)


def test_values_go_left_up_to_the_threshold():
    assert BY_HAND.goes_left(np.array([0.5, 2.000001])).tolist() == [True, False]
    assert BY_HAND.goes_left(np.array([np.nan, 1e-36])).tolist() == [True, True]


def test_the_documents_of_children_are_those_of_nodes_and_leaves():
    # The root's children are node 1 and leaf 2, those of node 1 the leaves 0 and 1.
    assert BY_HAND.counts.tolist() == [8, 4]
    assert BY_HAND.count_of(BY_HAND.left).tolist() == [4, 2]
    assert BY_HAND.count_of(BY_HAND.right).tolist() == [4, 2]
