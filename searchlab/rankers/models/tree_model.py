"""Tree models: sums of decision trees (LambdaMART)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from searchlab.rankers.models.base_model import ScorePart
from searchlab.rankers.models.tree import Tree
from searchlab.rankers.models.tree_contributions import LeafPaths
from searchlab.rankers.models.tree_scoring import TreeBlock, make_blocks
from searchlab.types import Floats, Ints


@dataclass(frozen=True, eq=False)
class TreeModel:
    """Score Σ_t value of the leaf of tree t that a row reaches."""

    kind: ClassVar[str] = "trees"
    trees: tuple[Tree, ...]
    n_columns: int

    @property
    def n_features(self) -> int:
        """The number of features of a row."""
        return self.n_columns

    def score(self, X: Floats, offsets: Ints) -> Floats:
        """Σ_t value of the leaf, added up in the order of the trees."""
        scores = np.zeros(len(X))
        for block in self._blocks:
            block.add_scores(X, scores)
        return scores

    @cached_property
    def _blocks(self) -> tuple[TreeBlock, ...]:
        return make_blocks(self.trees)

    @cached_property
    def _paths(self) -> LeafPaths:
        return LeafPaths.of(self.trees)

    def first(self, n_trees: int) -> Self:
        """The model of the first trees."""
        return type(self)(self.trees[:n_trees], self.n_columns)

    def parts(self, X: Floats, row: int) -> list[ScorePart]:
        """The mean score of the training documents, and the Shapley value of each feature that a tree splits by."""
        amounts = self._paths.contributions(X[row]).tolist()
        score = float(self.score(X[row : row + 1], np.array([0, 1]))[0])
        # The rounding of the sum belongs to no feature.
        rest = score - math.fsum(amounts)
        n_splits = self._count_splits()
        parts = [ScorePart(None, rest, "the mean training document")]
        return parts + [
            ScorePart(number, amount, f"{X[row, number]:.4g} in {n_splits[number]} split{'s' * (n_splits[number] > 1)}")
            for number, amount in enumerate(amounts)
            if n_splits[number]
        ]

    def influences(self) -> list[ScorePart]:
        """The share of each feature in the gains of all splits, with the number of its splits."""
        gains = np.zeros(self.n_columns)
        for tree in self.trees:
            np.add.at(gains, tree.features, tree.gains)
        total = gains.sum() or 1.0
        n_splits = self._count_splits()
        return [
            ScorePart(number, gain / total, f"{n_splits[number]:,}")
            for number, gain in enumerate(gains.tolist())
            if n_splits[number]
        ]

    def _count_splits(self) -> list[int]:
        features = np.concatenate([np.zeros(0, np.int64), *(tree.features for tree in self.trees)])
        return [int(count) for count in np.bincount(features, minlength=self.n_columns)]

    def to_json(self) -> dict[str, Any]:
        """The model as plain JSON."""
        return {"kind": self.kind, "n_features": self.n_columns, "trees": [tree.to_json() for tree in self.trees]}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Self:
        """The model that `to_json` wrote."""
        n_columns, trees = record["n_features"], record["trees"]
        if isinstance(n_columns, bool) or not isinstance(n_columns, int) or not isinstance(trees, list):
            raise ValueError("expected a number of features and a list of trees")
        if not trees:
            raise ValueError("there are no trees, expected at least one")
        return cls(tuple(Tree.from_json(tree, n_columns) for tree in trees), n_columns)

    @classmethod
    def average(cls, models: Sequence[TreeModel], factors: Sequence[float]) -> TreeModel:
        """The trees of all models, their leaf values times factors; a tree that several models share occurs once."""
        total: dict[Tree, float] = {}
        for model, factor in zip(models, factors, strict=True):
            for tree in model.trees:
                total[tree] = total.get(tree, 0.0) + factor
        return cls(tuple(tree.scaled(factor) for tree, factor in total.items()), models[0].n_columns)
