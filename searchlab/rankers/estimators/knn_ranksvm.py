"""A Ranking SVM for each neighbourhood of queries (Geng et al., SIGIR 2008)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from searchlab.errors import SettingError, unknown_name
from searchlab.rankers.estimators.base_ranker import Ranker, require_positive, require_whole
from searchlab.rankers.estimators.ranksvm import DEFAULT_STRENGTH
from searchlab.rankers.models.base_model import Model, ScorePart
from searchlab.rankers.models.linear_model import LinearModel
from searchlab.rankers.models.neighbourhood_model import OFFLINE, NeighbourhoodModel, QuerySpace
from searchlab.rankers.solvers.pairwise_hinge import Solution, solve
from searchlab.rankers.training_data import TrainingData
from searchlab.types import Floats, Ints

ONLINE = "online"
VARIANTS = (*OFFLINE, ONLINE)
# Values of k to try: all queries, a half, a quarter, … of them, as long as there are this many.
MIN_TRIED_NEIGHBOURS = 3


class KNNRankSVM(Ranker):
    """Query-dependent ranking by k nearest neighbours (Geng, Liu, Qin, Arnold, Li and Shum, SIGIR 2008).

    A query is ranked by a Ranking SVM that was trained on the `k` training queries nearest to it. Query features are
    the means of all features over the `top` documents of a query by a reference feature; distances are Euclidean.
    `variant`:

        online      the Ranking SVM of a query is trained when the query is scored. Such a model holds the training data
                    and needs the solver, so it cannot be written to a file.
        offline-1   a Ranking SVM is trained in advance on the k nearest queries of each training query, itself among
                    them. A query uses the one of the neighbourhood that has most queries in common with its own.
        offline-2   the same, but a query uses the one of its nearest training query.

    Settings: `k`, None for half of the training queries, chosen by validation among all of them, a half, a quarter, …;
    `C` of each Ranking SVM, None for 100 / (the number of pairs of the neighbourhood); `reference`, the number of a
    column from 0, None for the feature that has most training pairs in the right order; `tolerance`, the certified
    duality gap of each Ranking SVM.

    Deviations. The source's reference model is BM25; columns have no names here, so the number of BM25's has to be
    given, or the feature is taken that is best in training. `top`, the values of k and the default of C are ours. Of
    rows with equal values of the reference feature, each counts in part. Training queries without pairs are left out:
    nothing can be learnt from them. With k = all queries this is one Ranking SVM.

    Neighbourhoods with the same queries are solved once, and each search starts from the weights of the nearest
    training query that is solved already.
    """

    name: ClassVar[str] = "rsvm-knn"
    title: ClassVar[str] = "Ranking SVM on the nearest training queries"
    tuned: ClassVar[str | None] = "k"

    def __init__(
        self,
        k: int | None = None,
        variant: str = "offline-1",
        C: float | None = None,
        reference: int | None = None,
        top: int = 10,
        tolerance: float = 1e-5,
    ) -> None:
        self.k = k
        self.variant = variant
        self.C = C
        self.reference = reference
        self.top = top
        self.tolerance = tolerance

    def _check_settings(self) -> None:
        if self.k is not None:
            require_whole("k", self.k)
        if self.C is not None:
            require_positive("C", self.C)
        if self.reference is not None:
            require_whole("reference", self.reference, 0)
        require_whole("top", self.top)
        require_positive("tolerance", self.tolerance)
        if self.variant not in VARIANTS:
            raise unknown_name("variant", str(self.variant), VARIANTS)

    @property
    def storable(self) -> bool:  # type: ignore[override]
        """Online models hold their training data and need the solver."""
        return self.variant != ONLINE

    def values(self, training: TrainingData) -> Sequence[int]:
        """All queries with pairs, a half, a quarter, … of them."""
        values = [sum(bool(pairs) for pairs in training.pairs)]
        while values[-1] > 2 * MIN_TRIED_NEIGHBOURS - 1:
            values.append(values[-1] // 2)
        return values if values[0] else [1]

    def _learn(self, training: TrainingData) -> tuple[Model, Mapping[str, Any]]:
        neighbourhoods = Neighbourhoods.of(training, self._choose_reference(training), self.top, self.C, self.tolerance)
        space = neighbourhoods.space
        n = len(space.queries)
        k = max(1, min(n, -(-n // 2) if self.k is None else int(self.k)))
        details: dict[str, Any] = {"k": k, "reference": space.reference, "n_queries": n, "n_pairs": training.n_pairs}
        if self.variant == ONLINE:
            return OnlineNeighbourhoodModel(neighbourhoods, k), details
        neighbours = np.array([space.nearest(query, k) for query in space.queries], dtype=np.int64).reshape(n, k)
        planes = np.zeros_like(space.queries)
        solved: dict[frozenset[int], int] = {}
        solutions = []
        for query, nearest in enumerate(neighbours):
            same = solved.setdefault(frozenset(nearest.tolist()), query)
            if same < query:
                planes[query] = planes[same]
                continue
            earlier = replace(space, queries=space.queries[:query]).nearest(space.queries[query], 1)
            solutions.append(neighbourhoods.solve(nearest, planes[earlier[0]] if query else None))
            planes[query] = solutions[-1].weights
        if solutions:
            details |= {
                "gap": max(solution.gap for solution in solutions),
                "n_iterations": sum(solution.n_iterations for solution in solutions),
                "converged": all(solution.converged for solution in solutions),
            }
        details["n_hyperplanes"] = len(solutions)
        return NeighbourhoodModel(space, neighbours, planes, self.variant), details

    def _choose_reference(self, training: TrainingData) -> int:
        n_features = training.X.shape[1]
        if not n_features:
            raise SettingError("X has no features, expected at least one to choose a reference from")
        if self.reference is None:
            if "reference" not in training.cache:
                training.cache["reference"] = int(np.argmax(count_ordered_pairs(training)))
            return int(training.cache["reference"])
        if self.reference >= n_features:
            raise SettingError(f"reference is {self.reference}, expected a column from 0 to {n_features - 1}")
        return int(self.reference)


@dataclass(frozen=True, eq=False)
class Neighbourhoods:
    """The training queries that have pairs, in the space of query features, and the Ranking SVMs on some of them."""

    training: TrainingData
    space: QuerySpace
    # The numbers in `training` of the queries in `space`.
    queries: tuple[int, ...]
    C: float | None
    tolerance: float

    @classmethod
    def of(cls, training: TrainingData, reference: int, top: int, C: float | None, tolerance: float) -> Neighbourhoods:
        """All queries that have pairs."""
        queries = [query for query, pairs in enumerate(training.pairs) if pairs]
        space = QuerySpace.of(training.X, training.offsets, reference, top, training.weights)
        return cls(training, replace(space, queries=space.queries[queries]), tuple(queries), C, tolerance)

    def solve(self, neighbours: Ints, start: Floats | None = None) -> Solution:
        """The Ranking SVM on some queries of the space, in ascending order."""
        training = self.training
        chosen = [self.queries[number] for number in sorted(neighbours.tolist())]
        rows = [np.arange(*training.offsets[query : query + 2]) for query in chosen]
        offsets = np.concatenate([[0], np.cumsum([len(each) for each in rows])])
        kept = np.concatenate(rows)
        n_pairs = sum(sum(training.pairs[query].values()) for query in chosen)
        return solve(
            training.X[kept],
            offsets,
            training.grades[kept],
            None,
            1 / (2 * (DEFAULT_STRENGTH / n_pairs if self.C is None else self.C)),
            row_weights=None if training.weights is None else training.weights[kept],
            tolerance=self.tolerance,
            start=start,
        )


@dataclass(frozen=True, eq=False)
class OnlineNeighbourhoodModel:
    """Score Σ_k w_k · x_k with weights learnt from the k training queries nearest to the query, when it is scored."""

    kind: ClassVar[str] = "online neighbourhoods"
    neighbourhoods: Neighbourhoods
    k: int

    @property
    def n_features(self) -> int:
        """The number of features of a row."""
        return int(self.neighbourhoods.training.X.shape[1])

    def _nearest(self, X: Floats) -> Ints:
        """The training queries nearest to the query with the rows X."""
        space = self.neighbourhoods.space
        return space.nearest(space.describe(X, np.array([0, len(X)]))[0], self.k)

    def score(self, X: Floats, offsets: Ints) -> Floats:
        """Learn the weights of each query, once for queries with the same neighbours, and apply them."""
        scores = np.zeros(len(X))
        if not self.neighbourhoods.queries:
            return scores
        solved: dict[frozenset[int], Floats] = {}
        for begin, end in pairwise(offsets.tolist()):
            if end > begin:
                nearest = self._nearest(X[begin:end])
                key = frozenset(nearest.tolist())
                if key not in solved:
                    solved[key] = self.neighbourhoods.solve(nearest).weights
                scores[begin:end] = X[begin:end] @ solved[key]
        return scores

    def parts(self, X: Floats, row: int) -> list[ScorePart]:
        """Which training queries are used, and weight × value for each feature."""
        if not self.neighbourhoods.queries:
            return []
        nearest = self._nearest(X)
        model = LinearModel(self.neighbourhoods.solve(nearest).weights)
        text = f"{len(nearest)} nearest training queries: {', '.join(str(number + 1) for number in nearest.tolist())}"
        return [ScorePart(None, 0.0, text, is_note=True), *model.parts(X, row)]

    def influences(self) -> list[ScorePart]:
        """None: there are no weights before a query is scored."""
        return []

    def to_json(self) -> dict[str, Any]:
        """Refused."""
        raise SettingError(
            f"a model of rsvm-knn with variant=online holds its training data and cannot be written: "
            f"expected variant={' or '.join(OFFLINE)}"
        )

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> OnlineNeighbourhoodModel:
        """Refused: nothing writes such a model."""
        raise ValueError("models of online neighbourhoods are not stored")

    @classmethod
    def average(cls, models: Sequence[Any], factors: Sequence[float]) -> OnlineNeighbourhoodModel:
        """Refused."""
        raise SettingError(f"{cls.kind} models cannot be averaged")


def count_ordered_pairs(training: TrainingData) -> Floats:
    """For each feature, the share of all pairs in which the better document has the larger value; ties count half.

    Complexity: a sort of each feature for each grade of a query.
    """
    X, grades = training.X, training.grades
    weights = np.ones(len(X)) if training.weights is None else training.weights
    ordered, total = np.zeros(X.shape[1]), 0.0
    for begin, end in pairwise(training.offsets.tolist()):
        rows = np.arange(begin, end)[weights[begin:end] > 0]
        for grade in np.unique(grades[rows])[1:]:
            better, worse = rows[grades[rows] == grade], rows[grades[rows] < grade]
            total += weights[better].sum() * weights[worse].sum()
            for feature, column in enumerate(X[worse].T):
                order = np.argsort(column, kind="stable")
                sums = np.concatenate([[0.0], np.cumsum(weights[worse][order])])
                below = np.searchsorted(column[order], X[better, feature], "left")
                not_above = np.searchsorted(column[order], X[better, feature], "right")
                ordered[feature] += weights[better] @ (sums[below] + sums[not_above]) / 2
    return ordered / total if total > 0 else ordered
