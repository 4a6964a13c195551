"""Fast scoring by many trees with NumPy alone: QuickScorer (Lucchese et al., SIGIR 2015), for all rows at a time.

A row that goes right at a node cannot reach the leaves below its left child. With a bit for each leaf, from left to
right, the leaf of a row is the lowest bit that remains after all nodes at which it goes right have cleared theirs. The
nodes of a feature at which a value goes right are those of all thresholds below it. For each feature, a table has what
remains in each tree below, between and above its thresholds; a row of it is found by binary search:

    reachable(x, tree) = AND over features f of table_f[number of thresholds below x_f, tree]

Two more rows of each table are for 0 and for undefined values, whose way may be a tree's own. Scores are added up tree
by tree, as LightGBM does, so that they are the same to the last bit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from searchlab.rankers.models.tree import ZERO_THRESHOLD, Tree
from searchlab.types import Flags, Floats, Ints

# The tables of a block of trees grow with the square of their number; a block has about this many bytes at most.
BLOCK_BYTES = 2**23
WORDS: tuple[type[np.unsignedinteger[Any]], ...] = (np.uint8, np.uint16, np.uint32, np.uint64)

Words = npt.NDArray[np.unsignedinteger[Any]]


@dataclass(frozen=True, eq=False)
class SplitTable:
    """The ascending thresholds of a feature, and which leaves remain for a value: see above."""

    feature: int
    thresholds: Floats
    remaining: Words

    def rows_of(self, values: Floats, is_zero: Flags, is_nan: Flags) -> Ints:
        """The row of the table for each value."""
        rows = np.searchsorted(self.thresholds, values, "left")
        rows[is_zero] = len(self.thresholds) + 1
        rows[is_nan] = len(self.thresholds) + 2
        return rows


@dataclass(frozen=True, eq=False)
class TreeBlock:
    """Some trees as tables; `leaf_values` has a row for each tree, its leaves from left to right."""

    tables: tuple[SplitTable, ...]
    leaf_values: Floats
    full: Words

    @classmethod
    def of(cls, trees: Sequence[Tree]) -> Self:
        """The tables of these trees."""
        most = max(tree.n_leaves for tree in trees)
        word = word_for(most)
        leaf_values = np.zeros((len(trees), most))
        kept = []
        for number, tree in enumerate(trees):
            starts, n_left, positions = leaf_spans(tree)
            leaf_values[number, positions] = tree.leaf_values
            ones = [((1 << count) - 1) << start for start, count in zip(starts, n_left, strict=True)]
            kept.append(np.array([~one & (1 << 64) - 1 for one in ones], dtype=np.uint64).astype(word))
        features, thresholds, left_at_zero, left_at_nan = (
            np.concatenate(column)
            for column in zip(
                *(
                    (
                        tree.features,
                        tree.thresholds,
                        tree.goes_left(np.zeros(len(tree.features))),
                        tree.goes_left(np.full(len(tree.features), np.nan)),
                    )
                    for tree in trees
                ),
                strict=True,
            )
        )
        tree_of_node = np.repeat(np.arange(len(trees)), [len(tree.features) for tree in trees])
        masks = np.concatenate(kept)
        tables = []
        for feature in np.unique(features).tolist():
            chosen = features == feature
            distinct, above = np.unique(thresholds[chosen], return_inverse=True)
            remaining = np.full((len(distinct) + 3, len(trees)), ~word(0), dtype=word)
            nodes, of_trees = masks[chosen], tree_of_node[chosen]
            np.bitwise_and.at(remaining, (above.reshape(-1) + 1, of_trees), nodes)
            np.bitwise_and.accumulate(remaining[: len(distinct) + 1], axis=0, out=remaining[: len(distinct) + 1])
            for row, goes_left in ((1, left_at_zero), (2, left_at_nan)):
                right = ~goes_left[chosen]
                np.bitwise_and.at(remaining[len(distinct) + row], of_trees[right], nodes[right])
            tables.append(SplitTable(feature, distinct, remaining))
        return cls(tuple(tables), leaf_values, np.full(len(trees), ~word(0), dtype=word))

    def add_scores(self, X: Floats, scores: Floats) -> None:
        """Add the leaf values of each row, tree by tree."""
        n_trees, n_leaves = self.leaf_values.shape
        reachable = np.tile(self.full, (len(X), 1))
        columns = np.ascontiguousarray(X.T)
        is_zero, is_nan = np.abs(columns) <= ZERO_THRESHOLD, np.isnan(columns)
        for table in self.tables:
            place = table.feature
            reachable &= table.remaining[table.rows_of(columns[place], is_zero[place], is_nan[place])]
        lowest = (reachable & (~reachable + reachable.dtype.type(1))).astype(np.float64)
        # The exponent of a power of two.
        positions = (lowest.view(np.int64) >> 52) - 1023
        values = self.leaf_values.reshape(-1)[positions + n_leaves * np.arange(n_trees)]
        for of_tree in values.T:
            scores += of_tree


def leaf_spans(tree: Tree) -> tuple[list[int], list[int], Ints]:
    """For each node, its first leaf and the number of leaves of its left child; for each leaf its place, from 0."""
    n_nodes = len(tree.features)
    left, right = tree.left.tolist(), tree.right.tolist()
    n_leaves = [0] * n_nodes
    for node in reversed(range(n_nodes)):
        n_leaves[node] = sum(n_leaves[child] if child >= 0 else 1 for child in (left[node], right[node]))
    n_left = [n_leaves[child] if child >= 0 else 1 for child in left]
    starts, places = [0] * n_nodes, np.zeros(tree.n_leaves, dtype=np.int64)
    for node in range(n_nodes):
        for child, start in ((left[node], starts[node]), (right[node], starts[node] + n_left[node])):
            if child >= 0:
                starts[child] = start
            else:
                places[-1 - child] = start
    return starts, n_left, places


def word_for(n_leaves: int) -> type[np.unsignedinteger[Any]]:
    """The smallest type with a bit for each leaf."""
    return next(word for word in WORDS if n_leaves <= 8 * np.dtype(word).itemsize)


def make_blocks(trees: Sequence[Tree]) -> tuple[TreeBlock, ...]:
    """The trees as tables, some at a time."""
    most = max((tree.n_leaves for tree in trees), default=1)
    size = max(1, math.isqrt(BLOCK_BYTES // (most * np.dtype(word_for(most)).itemsize)))
    return tuple(TreeBlock.of(trees[begin : begin + size]) for begin in range(0, len(trees), size))
