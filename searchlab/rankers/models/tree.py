"""Decision trees: a leaf for each row, found by comparing features with thresholds, with the rules of LightGBM.

    x ≤ threshold goes left, x > threshold goes right

`missing` says what an undefined value (NaN) does at a node, and `default_left` where it goes if it has its own way:

    NO_MISSING     NaN counts as 0
    ZERO_MISSING   NaN and 0 go the default way
    NAN_MISSING    NaN goes the default way

Values within ±1e-35 count as 0. A tree is checked when it is read: children have higher numbers than their parents, and
every node and leaf has one parent, so that every row reaches a leaf.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from searchlab.rankers.models.base_model import read_numbers
from searchlab.types import Flags, Floats, Ints

NO_MISSING, ZERO_MISSING, NAN_MISSING = 0, 1, 2
# Smaller absolute values are 0.
ZERO_THRESHOLD = 1e-35
# The leaves that a row can still reach are bits of a machine word.
MAX_LEAVES = 64
# Sums of larger values could be infinite.
MAX_VALUE = 1e100
# Larger numbers of documents are no numbers of documents.
MAX_COUNT = 2**53


@dataclass(frozen=True, eq=False)
class Tree:
    """A tree with a row of the arrays for each node; node 0 is the root, and a tree of one leaf has no nodes.

    `left` and `right` have the number of the child node, or −1 − leaf. `gains` is by how much each split improved the
    objective of training, `counts` and `leaf_counts` are how many training documents reached each node and leaf.
    """

    features: Ints
    thresholds: Floats
    missing: Ints
    default_left: Flags
    left: Ints
    right: Ints
    gains: Floats
    counts: Ints
    leaf_values: Floats
    leaf_counts: Ints

    @property
    def n_leaves(self) -> int:
        """The number of leaves."""
        return len(self.leaf_values)

    def check(self, n_features: int) -> Self:
        """The tree itself; raises ValueError unless it is one, on this number of features."""
        n_nodes = self.n_leaves - 1
        columns = (self.features, self.thresholds, self.missing, self.default_left, self.left, self.right, self.gains)
        if not 1 <= self.n_leaves <= MAX_LEAVES:
            raise ValueError(f"a tree has {self.n_leaves} leaves, expected 1 to {MAX_LEAVES}")
        if any(len(column) != n_nodes for column in (*columns, self.counts)) or len(self.leaf_counts) != self.n_leaves:
            raise ValueError(f"a tree of {self.n_leaves} leaves expects {n_nodes} nodes")
        if ((self.features < 0) | (self.features >= n_features)).any():
            raise ValueError(f"a tree splits by a feature that there is not, expected 0 to {n_features - 1}")
        if not np.isin(self.missing, (NO_MISSING, ZERO_MISSING, NAN_MISSING)).all():
            raise ValueError("a node has a rule for missing values that there is not, expected 0, 1 or 2")
        children = np.concatenate([self.left, self.right])
        parents = np.tile(np.arange(n_nodes), 2)
        is_inner = children >= 0
        has_all = np.array_equal(
            np.sort(children), np.concatenate([np.arange(-self.n_leaves, 0), np.arange(1, n_nodes)])
        )
        if n_nodes and (not has_all or (children[is_inner] <= parents[is_inner]).any()):
            raise ValueError("nodes do not make a tree, expected children with higher numbers, each of one parent")
        if (np.abs(self.leaf_values) > MAX_VALUE).any() or (self.gains > MAX_VALUE).any():
            raise ValueError(f"a tree has a value of a leaf or a gain beyond {MAX_VALUE:g}")
        self._check_counts()
        return self

    def _check_counts(self) -> None:
        if (self.counts < 1).any() or (self.leaf_counts < 1).any() or (self.gains < 0).any():
            raise ValueError("a tree has numbers of documents below 1 or gains below 0")
        if not np.array_equal(self.count_of(self.left) + self.count_of(self.right), self.counts):
            raise ValueError("the documents of a node are not those of its children")

    def count_of(self, children: Ints) -> Ints:
        """How many training documents reached these nodes or leaves."""
        both = np.concatenate([self.counts, self.leaf_counts[::-1]])
        return np.asarray(both[children])

    def goes_left(self, values: Floats) -> Flags:
        """For each node, whether a value of its feature goes left; `values` has one for each node."""
        is_nan = np.isnan(values)
        is_zero = np.abs(values) <= ZERO_THRESHOLD
        takes_default = np.where(
            self.missing == NAN_MISSING, is_nan, (self.missing == ZERO_MISSING) & (is_nan | is_zero)
        )
        compared = np.where(is_nan | is_zero, 0.0, values) <= self.thresholds
        return np.asarray(np.where(takes_default, self.default_left, compared))

    def scaled(self, factor: float) -> Self:
        """The tree with its leaf values times a factor."""
        return replace(self, leaf_values=self.leaf_values * factor)

    def to_json(self) -> dict[str, Any]:
        """The tree as plain JSON."""
        return {
            "features": self.features.tolist(),
            "thresholds": self.thresholds.tolist(),
            "missing": self.missing.tolist(),
            "default_left": self.default_left.astype(np.int64).tolist(),
            "left": self.left.tolist(),
            "right": self.right.tolist(),
            "gains": self.gains.tolist(),
            "counts": self.counts.tolist(),
            "leaf_values": self.leaf_values.tolist(),
            "leaf_counts": self.leaf_counts.tolist(),
        }

    @classmethod
    def from_json(cls, record: Mapping[str, Any], n_features: int) -> Self:
        """The tree that `to_json` wrote, checked; raises KeyError, TypeError or ValueError on anything else."""
        whole = {
            name: read_whole_numbers(record[name])
            for name in ("features", "missing", "default_left", "left", "right", "counts", "leaf_counts")
        }
        if not np.isin(whole["default_left"], (0, 1)).all():
            raise ValueError("default_left is neither 0 nor 1")
        floats = {name: read_numbers(record[name], 1) for name in ("thresholds", "gains", "leaf_values")}
        return cls(**{**whole, **floats, "default_left": whole["default_left"].astype(bool)}).check(n_features)


def read_whole_numbers(record: Sequence[Any]) -> Ints:
    """A JSON list of whole numbers as an array."""
    numbers = read_numbers(record, 1)
    if not np.array_equal(numbers, np.rint(numbers)) or (np.abs(numbers) > MAX_COUNT).any():
        raise ValueError("expected whole numbers")
    return numbers.astype(np.int64)
