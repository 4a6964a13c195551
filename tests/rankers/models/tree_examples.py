"""Trees for tests: one by hand, random ones, and brute-force scoring."""

import numpy as np

from searchlab.rankers.models.tree import NAN_MISSING, NO_MISSING, ZERO_MISSING, Tree


def make_tree(features, thresholds, left, right, leaf_values, leaf_counts, missing=None, default_left=None, gains=None):
    """A tree from lists; the number of documents of a node is that of its leaves."""
    n_nodes = len(features)
    counts = [0] * n_nodes

    def count(child):
        return leaf_counts[-1 - child] if child < 0 else counts[child]

    for node in reversed(range(n_nodes)):
        counts[node] = count(left[node]) + count(right[node])
    return Tree(
        np.array(features, dtype=np.int64),
        np.array(thresholds, dtype=np.float64),
        np.array(missing if missing is not None else [NAN_MISSING] * n_nodes, dtype=np.int64),
        np.array(default_left if default_left is not None else [True] * n_nodes, dtype=bool),
        np.array(left, dtype=np.int64),
        np.array(right, dtype=np.int64),
        np.array(gains if gains is not None else [1.0] * n_nodes, dtype=np.float64),
        np.array(counts, dtype=np.int64),
        np.array(leaf_values, dtype=np.float64),
        np.array(leaf_counts, dtype=np.int64),
    )


# x0 ≤ 0.5 → (x1 ≤ 2 → 1, otherwise 3), otherwise 10; of 8 documents 2, 2 and 4 reached the leaves.
BY_HAND = make_tree([0, 1], [0.5, 2.0], [1, -1], [-3, -2], [1.0, 3.0, 10.0], [2, 2, 4], gains=[30.0, 10.0])


def random_tree(random, n_leaves, n_features):
    """A tree that grows as LightGBM's do: a random leaf is split, and its right half is a new leaf."""
    left: list[int] = []
    right: list[int] = []
    parent: dict[int, int | None] = {0: None}
    for node in range(n_leaves - 1):
        leaf = int(random.integers(0, node + 1))
        above = parent[leaf]
        if above is not None:
            children = left if left[above] == -1 - leaf else right
            children[above] = node
        left.append(-1 - leaf)
        right.append(-2 - node)
        parent[leaf] = parent[node + 1] = node
    return make_tree(
        random.integers(0, n_features, n_leaves - 1).tolist(),
        random.choice([-1.0, -0.5, 0.0, 0.25, 1.0], n_leaves - 1).tolist(),
        left,
        right,
        random.normal(size=n_leaves).tolist(),
        random.integers(1, 20, n_leaves).tolist(),
        random.choice([NO_MISSING, ZERO_MISSING, NAN_MISSING], n_leaves - 1).tolist(),
        random.integers(0, 2, n_leaves - 1).astype(bool).tolist(),
    )


def random_rows(random, n_rows, n_features):
    """Values on thresholds and between them, zeros of several kinds, and undefined values."""
    return random.choice([-2.0, -1.0, -0.7, -0.5, 0.0, -0.0, 1e-36, 0.1, 0.25, 1.0, 3.0, np.nan], (n_rows, n_features))


def walk(tree, row):
    """The value of the leaf of a row, from node to node, by the rules of the module's text."""
    if tree.n_leaves == 1:
        return float(tree.leaf_values[0])
    node = 0
    while node >= 0:
        value, rule = row[tree.features[node]], tree.missing[node]
        is_zero = abs(value) <= 1e-35
        is_undefined = np.isnan(value)
        if (rule == NAN_MISSING and is_undefined) or (rule == ZERO_MISSING and (is_undefined or is_zero)):
            goes_left = tree.default_left[node]
        else:
            goes_left = (0.0 if is_undefined or is_zero else value) <= tree.thresholds[node]
        node = int(tree.left[node] if goes_left else tree.right[node])
    return float(tree.leaf_values[-1 - node])
