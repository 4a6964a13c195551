"""Rankers of several hyperplanes that vote: OrdRank and MHR.

A Ranking SVM trained on documents of two grades is a hyperplane that separates them. OrdRank (Sun et al. 2009) has one
for each two *adjacent* grades, k − 1 of k grades (eq. 2); MHR (Qin et al. 2007) one for each two grades. For a query,
each hyperplane compares every document with every other, and documents are ranked by their mean vote (OrdRank eq. 3–5;
MHR: Borda count, which gives the same order).

Two documents of the same score give each other no vote (`ties=0`, eq. 3: v_ij = 1 only if s_i > s_j). So does the
Borda count as a number of documents below; its usual rule for ties, that they share the points of their places, is
`ties=0.5`.

Votes are counted, or weighted by their margin (`votes="score"`), which Sun et al. name as future work. `VotingModel`
has both formulas.

Deviations: C is not given in the papers and is chosen on validation data; hyperplanes are learnt by the exact solver of
`ranksvm.py` instead of LibSVM.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, pairwise
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone

from searchlab.errors import SettingError, unknown_name
from searchlab.rankers.estimators.base_ranker import Ranker, require_positive
from searchlab.rankers.estimators.ranksvm import DEFAULT_STRENGTH, STRENGTHS
from searchlab.rankers.models.base_model import Model
from searchlab.rankers.models.voting_model import TIES, VOTES, VotingModel
from searchlab.rankers.solvers.pair_weights import GradePair
from searchlab.rankers.solvers.pairwise_hinge import Solution, solve_path
from searchlab.rankers.training_data import TrainingData
from searchlab.types import Floats


class MHR(Ranker):
    """MHR: a hyperplane for each two grades.

    Settings: `C` as in a Ranking SVM, None for 100 / (the number of pairs that a hyperplane is learnt from); `votes`,
    "count" or "score"; `ties`, the vote for a tie, 0 or 0.5, if votes are counted; `tolerance`, the certified duality
    gap of each hyperplane.
    """

    name: ClassVar[str] = "mhr"
    title: ClassVar[str] = "Multiple hyperplanes, all grade pairs, Borda count"
    tuned: ClassVar[str | None] = "C"

    def __init__(
        self, C: float | None = None, votes: str = "count", ties: float = 0.0, tolerance: float = 1e-5
    ) -> None:
        self.C = C
        self.votes = votes
        self.ties = ties
        self.tolerance = tolerance

    @property
    def averaged(self) -> bool:  # type: ignore[override]
        """Counted votes are as in the papers, one hyperplane for two grades; weighted ones may be of several C."""
        return self.votes == "score"

    @property
    def powers(self) -> bool:  # type: ignore[override]
        """Powers are added where votes are weighted."""
        return self.votes == "score"

    def values(self, training: TrainingData) -> Sequence[float]:
        """C from strong to weak regularisation."""
        sizes = self._pair_counts(training)
        return [float(value) for value in STRENGTHS / (sum(sizes.values()) / len(sizes))] if sizes else [1.0]

    def fit_path(self, training: TrainingData, values: Sequence[Any]) -> Iterator[Self]:
        """A fitted ranker for each C; each hyperplane is warm-started from the previous C."""
        rankers = [clone(self).set_params(C=value) for value in values]
        for each in rankers:
            each._check_settings()
        sizes = self._pair_counts(training)
        paths = [self._solve(training, pair, values, sizes[pair]) for pair in sizes]
        for each, *solutions in zip(rankers, *paths, strict=True):
            yield each._set_model(training, *each._make_model(training, sizes, solutions))

    def _learn(self, training: TrainingData) -> tuple[Model, Mapping[str, Any]]:
        sizes = self._pair_counts(training)
        solutions = [next(self._solve(training, pair, [self.C], sizes[pair])) for pair in sizes]
        return self._make_model(training, sizes, solutions)

    def _grade_pairs(self, grades: list[float]) -> list[GradePair]:
        """The pairs of grades, given in descending order, that have a hyperplane."""
        return list(combinations(grades, 2))

    def _pair_counts(self, training: TrainingData) -> dict[GradePair, float]:
        """The number of pairs of documents for each hyperplane; grades without pairs have none."""
        grades = training.grades if training.weights is None else training.grades[training.weights > 0]
        pairs = self._grade_pairs(sorted(set(grades.tolist()), reverse=True))
        sizes = dict.fromkeys(pairs, 0.0)
        for counts in training.pairs:
            for pair in counts.keys() & sizes.keys():
                sizes[pair] += counts[pair]
        return {pair: size for pair, size in sizes.items() if size > 0}

    def _solve(
        self, training: TrainingData, pair: GradePair, strengths: Sequence[float | None], size: float
    ) -> Iterator[Solution]:
        chosen = np.isin(training.grades, pair)
        sums = np.concatenate([[0], np.cumsum(chosen)])
        offsets = sums[training.offsets]
        weights = None if training.weights is None else training.weights[chosen]
        lams = [1 / (2 * (DEFAULT_STRENGTH / size if C is None else C)) for C in strengths]
        rows: tuple[Floats, Any, Floats] = training.X[chosen], offsets, training.grades[chosen]
        return solve_path(*rows, None, lams, row_weights=weights, tolerance=self.tolerance)

    def _make_model(
        self, training: TrainingData, sizes: Mapping[GradePair, float], solutions: Sequence[Solution]
    ) -> tuple[Model, dict[str, Any]]:
        if not sizes:
            raise SettingError(
                f"no two documents of a query have different grades: {self.name} has nothing to learn from"
            )
        planes = np.array([solution.weights for solution in solutions])
        model = VotingModel(planes, tuple(sizes), self.votes, float(self.ties))
        return model, {
            "C": self.C,
            "n_pairs": sum(sizes.values()),
            "n_hyperplanes": len(sizes),
            "gap": max(solution.gap for solution in solutions),
            "n_iterations": sum(solution.n_iterations for solution in solutions),
            "converged": all(solution.converged for solution in solutions),
        }

    def _check_settings(self) -> None:
        if self.C is not None:
            require_positive("C", self.C)
        require_positive("tolerance", self.tolerance)
        if self.votes not in VOTES:
            raise unknown_name("way to vote", str(self.votes), VOTES)
        if isinstance(self.ties, bool) or self.ties not in TIES:
            raise SettingError(f"ties is {self.ties!r}, expected 0 (no vote for a tie) or 0.5 (half a vote)")


class OrdRank(MHR):
    """OrdRank: a hyperplane for each two adjacent grades, mean vote; settings as those of MHR."""

    name: ClassVar[str] = "ordrank"
    title: ClassVar[str] = "Adjacent-grade hyperplanes, mean vote"

    def _grade_pairs(self, grades: list[float]) -> list[GradePair]:
        return list(pairwise(grades))
