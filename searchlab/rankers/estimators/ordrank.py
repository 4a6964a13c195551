"""How do several hyperplanes vote on the order of documents?

For two grades, a Ranking SVM learns to tell documents of the one from documents of the other: its hyperplane. OrdRank
(Sun et al. 2008) has one for each two *adjacent* grades, k − 1 of k grades (eq. 2); MHR (Qin et al. 2007) one for each
two grades whatever. At a query, each hyperplane lets every document win or lose against every other, and documents are
ranked by their mean vote (OrdRank eq. 3–5; MHR: Borda count, which orders alike).

Votes are counted, or weighed by the margin by which they are won (`votes="score"`): weighted voting is what Sun et al.
name as future work. `VotingModel` has both formulas.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, pairwise
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone

from searchlab.errors import SettingError, unknown_name
from searchlab.rankers.estimators.base_ranker import Ranker, require_positive
from searchlab.rankers.estimators.ranksvm import USUAL, WORTH_TRYING
from searchlab.rankers.models.model import Model
from searchlab.rankers.models.voting_model import VOTES, VotingModel
from searchlab.rankers.solvers.pair_weights import GradePair
from searchlab.rankers.solvers.pairwise_hinge import Solution, solve_path
from searchlab.rankers.training_data import TrainingData
from searchlab.types import Floats


class MHR(Ranker):
    """MHR: a hyperplane for each two grades.

    Settings: `C` as in a Ranking SVM, None for 100 / (the number of pairs that a hyperplane is learnt from); `votes`,
    "count" or "score"; `tolerance`, the certified duality gap of each hyperplane.
    """

    name: ClassVar[str] = "mhr"
    title: ClassVar[str] = "Multiple hyperplanes, all grade pairs, Borda count"
    tuned: ClassVar[str | None] = "C"

    def __init__(self, C: float | None = None, votes: str = "count", tolerance: float = 1e-5) -> None:
        self.C = C
        self.votes = votes
        self.tolerance = tolerance

    @property
    def averaged(self) -> bool:  # type: ignore[override]
        """Counted votes are the papers' own, one hyperplane for two grades; weighed ones may be those of several C."""
        return self.votes == "score"

    @property
    def powers(self) -> bool:  # type: ignore[override]
        """Powers are added where votes are weighted."""
        return self.votes == "score"

    def values(self, training: TrainingData) -> Sequence[float]:
        """C from one that hardly learns to one that hardly forgives."""
        sizes = self._pairs(training)
        return [float(value) for value in WORTH_TRYING / (sum(sizes.values()) / len(sizes))] if sizes else [1.0]

    def fit_path(self, training: TrainingData, values: Sequence[Any]) -> Iterator[Self]:
        """A fitted ranker for each C; each hyperplane begins where the one of the C before ended."""
        rankers = [clone(self).set_params(C=value) for value in values]
        for each in rankers:
            each._check_settings()
        sizes = self._pairs(training)
        paths = [self._solve(training, pair, values, sizes[pair]) for pair in sizes]
        for each, *solutions in zip(rankers, *paths, strict=True):
            yield each._set_model(training, *each._told(training, sizes, solutions))

    def _learn(self, training: TrainingData) -> tuple[Model, Mapping[str, Any]]:
        sizes = self._pairs(training)
        solutions = [next(self._solve(training, pair, [self.C], sizes[pair])) for pair in sizes]
        return self._told(training, sizes, solutions)

    def _wanted(self, grades: list[float]) -> list[GradePair]:
        """Which grades, given in falling order, have a hyperplane."""
        return list(combinations(grades, 2))

    def _pairs(self, training: TrainingData) -> dict[GradePair, float]:
        """How many pairs of documents there are for each hyperplane; those without any have none."""
        grades = training.grades if training.weights is None else training.grades[training.weights > 0]
        wanted = self._wanted(sorted(set(grades.tolist()), reverse=True))
        sizes = dict.fromkeys(wanted, 0.0)
        for found in training.pairs:
            for pair in found.keys() & sizes.keys():
                sizes[pair] += found[pair]
        return {pair: size for pair, size in sizes.items() if size > 0}

    def _solve(
        self, training: TrainingData, pair: GradePair, strengths: Sequence[float | None], size: float
    ) -> Iterator[Solution]:
        chosen = np.isin(training.grades, pair)
        sums = np.concatenate([[0], np.cumsum(chosen)])
        offsets = sums[training.offsets]
        weights = None if training.weights is None else training.weights[chosen]
        lams = [1 / (2 * (USUAL / size if C is None else C)) for C in strengths]
        rows: tuple[Floats, Any, Floats] = training.X[chosen], offsets, training.grades[chosen]
        return solve_path(*rows, None, lams, row_weights=weights, tolerance=self.tolerance)

    def _told(
        self, training: TrainingData, sizes: Mapping[GradePair, float], solutions: Sequence[Solution]
    ) -> tuple[Model, dict[str, Any]]:
        if not sizes:
            raise SettingError(f"no two documents of a query have different grades: {self.name} has nothing to learn")
        model = VotingModel(np.array([solution.weights for solution in solutions]), tuple(sizes), self.votes)
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


class OrdRank(MHR):
    """OrdRank: a hyperplane for each two adjacent grades, mean vote; settings as those of MHR."""

    name: ClassVar[str] = "ordrank"
    title: ClassVar[str] = "Adjacent-grade hyperplanes, mean vote"

    def _wanted(self, grades: list[float]) -> list[GradePair]:
        return list(pairwise(grades))
