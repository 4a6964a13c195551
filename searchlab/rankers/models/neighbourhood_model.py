"""Neighbourhood models: linear weights for each training query, of which a query uses those of its neighbourhood.

A query is described by the means of its features over its first documents by a reference feature (Geng et al., Query
Dependent Ranking Using K-Nearest Neighbor, SIGIR 2008). The training queries nearest to it are its neighbours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from searchlab.errors import SettingError
from searchlab.rankers.models.base_model import ScorePart, read_numbers
from searchlab.rankers.models.linear_model import LinearModel
from searchlab.rankers.top_rows import top_weights
from searchlab.types import Floats, Ints

OFFLINE = ("offline-1", "offline-2")


@dataclass(frozen=True, eq=False)
class QuerySpace:
    """The space of query features, with the training queries in it.

    `queries` has a row for each training query: the mean of each feature over its `top` documents with the largest
    values of the feature number `reference`. Distances are Euclidean.
    """

    queries: Floats
    reference: int
    top: int

    @classmethod
    def of(cls, X: Floats, offsets: Ints, reference: int, top: int, weights: Floats | None = None) -> QuerySpace:
        """The space with these queries; rows of weight 0 are not among the first."""
        return cls(mean_features(X, offsets, reference, top, weights), reference, top)

    def describe(self, X: Floats, offsets: Ints) -> Floats:
        """The features of other queries."""
        return mean_features(X, offsets, self.reference, self.top)

    def nearest(self, described: Floats, k: int) -> Ints:
        """The k training queries nearest to a query, the nearest first; of equal distances, the first in training."""
        with np.errstate(over="ignore"):  # an infinite distance is the farthest
            distances = ((self.queries - described) ** 2).sum(axis=1)
        return np.argsort(distances, kind="stable")[:k]


def mean_features(X: Floats, offsets: Ints, reference: int, top: int, weights: Floats | None = None) -> Floats:
    """The mean of each feature over the `top` rows of each query with the largest values of feature `reference`.

    Rows with equal values share the last places. A query without rows has 0 in all features.
    """
    described = np.zeros((len(offsets) - 1, X.shape[1]))
    if not len(X):
        return described
    (taken,) = top_weights([X[:, reference]], offsets, np.ones(len(X)) if weights is None else weights, [top])
    for query, (begin, end) in enumerate(pairwise(offsets.tolist())):
        total = taken[begin:end].sum()
        if total > 0:
            described[query] = taken[begin:end] @ X[begin:end] / total
    return described


@dataclass(frozen=True, eq=False)
class NeighbourhoodModel:
    """Score Σ_k w_k · x_k with the weights w of one neighbourhood, a row of `planes`.

    Row i of `neighbours` are the training queries whose judgments row i of `planes` was learnt from: the nearest to
    training query i. For a query, the variants of Geng et al. choose

        offline-1   the neighbourhood that has most queries in common with the nearest training queries of the query;
                    of equal ones, that of the nearest training query
        offline-2   the neighbourhood of the nearest training query

    A model without training queries scores 0.
    """

    kind: ClassVar[str] = "neighbourhoods"
    space: QuerySpace
    neighbours: Ints
    planes: Floats
    variant: str = "offline-1"

    @property
    def n_features(self) -> int:
        """The number of features of a row."""
        return int(self.planes.shape[1])

    def score(self, X: Floats, offsets: Ints) -> Floats:
        """Each query by the weights of its neighbourhood."""
        scores = np.zeros(len(X))
        if not len(self.planes):
            return scores
        described = self.space.describe(X, offsets)
        for query, (begin, end) in enumerate(pairwise(offsets.tolist())):
            if end > begin:
                scores[begin:end] = X[begin:end] @ self.planes[self._choose(described[query])[0]]
        return scores

    def _choose(self, described: Floats) -> tuple[int, int]:
        """The neighbourhood of a query, and how many queries it has in common with the query's nearest ones."""
        nearest = self.space.nearest(described, self.neighbours.shape[1])
        common = np.isin(self.neighbours, nearest).sum(axis=1)
        if self.variant == "offline-2":
            return int(nearest[0]), int(common[nearest[0]])
        by_distance = self.space.nearest(described, len(self.planes))
        chosen = int(by_distance[np.argmax(common[by_distance])])
        return chosen, int(common[chosen])

    def parts(self, X: Floats, row: int) -> list[ScorePart]:
        """Which neighbourhood is used, and weight × value for each feature."""
        if not len(self.planes):
            return []
        chosen, n_common = self._choose(self.space.describe(X, np.array([0, len(X)]))[0])
        k = self.neighbours.shape[1]
        which = f"neighbourhood of training query {chosen + 1}: has {n_common} of the {k} nearest training queries"
        return [ScorePart(None, 0.0, which, is_note=True), *LinearModel(self.planes[chosen]).parts(X, row)]

    def influences(self) -> list[ScorePart]:
        """The mean of each weight over all neighbourhoods, and its range."""
        if not len(self.planes):
            return [ScorePart(number, 0.0, "") for number in range(self.n_features)]
        columns = zip(self.planes.mean(axis=0).tolist(), self.planes.min(axis=0), self.planes.max(axis=0), strict=True)
        return [
            ScorePart(number, mean, f"from {low:.4g} to {high:.4g}") for number, (mean, low, high) in enumerate(columns)
        ]

    def to_json(self) -> dict[str, Any]:
        """The model as plain JSON."""
        return {
            "kind": self.kind,
            "variant": self.variant,
            "n_features": self.n_features,
            "reference": self.space.reference,
            "top": self.space.top,
            "queries": self.space.queries.tolist(),
            "neighbours": self.neighbours.tolist(),
            "planes": self.planes.tolist(),
        }

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> NeighbourhoodModel:
        """The model that `to_json` wrote."""
        n_features, reference, top = (_read_whole(record[name]) for name in ("n_features", "reference", "top"))
        tables = [
            read_numbers(record[name], 2) if record[name] != [] else np.zeros((0, width))
            for name, width in (("queries", n_features), ("neighbours", 1), ("planes", n_features))
        ]
        queries, neighbours, planes = tables
        n = len(queries)
        fits = (
            queries.shape == planes.shape == (n, n_features)
            and len(neighbours) == n
            and 1 <= neighbours.shape[1] <= max(n, 1)
            and np.isin(neighbours, np.arange(n)).all()
            and 0 <= reference < max(n_features, 1)
            and top >= 1
            and record["variant"] in OFFLINE
        )
        if not fits:
            raise ValueError("queries, neighbours, planes, reference, top and variant do not fit together")
        return cls(QuerySpace(queries, reference, top), neighbours.astype(np.int64), planes, record["variant"])

    @classmethod
    def average(cls, models: Sequence[NeighbourhoodModel], factors: Sequence[float]) -> NeighbourhoodModel:
        """Refused."""
        raise SettingError(f"{cls.kind} models cannot be averaged")


def _read_whole(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"expected a whole number, found {type(value).__name__}")
    return value
