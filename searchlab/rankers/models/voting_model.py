"""Voting models: hyperplanes that compare every document of a query with every other (OrdRank, MHR)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from searchlab.rankers.models.base_model import ScorePart, read_numbers
from searchlab.types import Floats, Ints

VOTES = ("count", "score")


@dataclass(frozen=True, eq=False)
class VotingModel:
    """Hyperplanes, one a row of `planes`, each learnt from two grades of `grades`.

    In a query of n documents each hyperplane gives a document votes from −1 to 1, and its score is their mean:

        count   (documents that it beats − documents that beat it) / (n − 1)
        score   the mean over the other documents of clip(margin, −1, 1), the margin being the difference of the two
                hyperplane scores, at least 1 where training succeeded

    Counted votes order documents as the mean vote of Sun et al. (eq. 5) and the Borda count do; a tie is half a vote.
    """

    kind: ClassVar[str] = "votes"
    planes: Floats
    grades: tuple[tuple[float, float], ...]
    votes: str = "count"

    @property
    def n_features(self) -> int:
        """The number of features of a row."""
        return int(self.planes.shape[1])

    def score(self, X: Floats, offsets: Ints) -> Floats:
        """The mean of the hyperplanes' votes."""
        scores = np.zeros(len(X))
        projected = X @ self.planes.T
        for begin, end in pairwise(offsets.tolist()):
            if end > begin:
                scores[begin:end] = self._votes(projected[begin:end]).mean(axis=1)
        return scores

    def _votes(self, projected: Floats) -> Floats:
        """A row for each document of one query, a column for each hyperplane."""
        votes = np.empty_like(projected)
        for number, column in enumerate(projected.T):
            votes[:, number] = count_votes(column) if self.votes == "count" else clip_margins(column)
        return votes

    def parts(self, X: Floats, row: int) -> list[ScorePart]:
        """The vote of each hyperplane, divided by their number."""
        votes = self._votes(X @ self.planes.T)[row].tolist()
        n, parts = len(X), []
        for vote, (high, low) in zip(votes, self.grades, strict=True):
            if self.votes == "count":
                result = f"beats {(vote + 1) / 2 * (n - 1):.4g} of {n - 1} others"
            else:
                result = f"mean margin {vote:+.4g} over {n - 1} others"
            parts.append(ScorePart(None, vote / len(votes), f"grade {high:g} against {low:g}: {result}"))
        return parts

    def influences(self) -> list[ScorePart]:
        """The weights of each hyperplane."""
        return [
            ScorePart(number, weight, f"grade {high:g} against {low:g}")
            for plane, (high, low) in zip(self.planes.tolist(), self.grades, strict=True)
            for number, weight in enumerate(plane)
        ]

    def to_json(self) -> dict[str, Any]:
        """The model as plain JSON."""
        grades = [list(pair) for pair in self.grades]
        return {"kind": self.kind, "votes": self.votes, "grades": grades, "planes": self.planes.tolist()}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> VotingModel:
        """The model that `to_json` wrote."""
        grades = tuple((float(high), float(low)) for high, low in record["grades"])
        model = cls(read_numbers(record["planes"], 2), grades, record["votes"])
        if model.votes not in VOTES or len(grades) != len(model.planes) or not grades:
            raise ValueError("grades, planes and votes do not fit together")
        return model

    @classmethod
    def average(cls, models: Sequence[VotingModel], factors: Sequence[float]) -> VotingModel:
        """The hyperplanes of all models.

        The factors are ignored: votes are from −1 to 1 in every model, and a score is the mean over all hyperplanes.
        """
        grades = tuple(pair for model in models for pair in model.grades)
        return cls(np.vstack([model.planes for model in models]), grades, models[0].votes)


def count_votes(scores: Floats) -> Floats:
    """For each score, (number of smaller ones − number of larger ones) / (n − 1)."""
    ordered = np.sort(scores)
    smaller, not_larger = np.searchsorted(ordered, scores, "left"), np.searchsorted(ordered, scores, "right")
    return (smaller + not_larger - len(scores)) / max(len(scores) - 1, 1)


def clip_margins(scores: Floats) -> Floats:
    """For each score, the mean of clip(score − other, −1, 1) over the others, by prefix sums: O(n log n)."""
    n = len(scores)
    ordered = np.sort(scores)
    sums = np.concatenate([[0.0], np.cumsum(ordered)])
    low, high = np.searchsorted(ordered, scores - 1, "right"), np.searchsorted(ordered, scores + 1, "left")
    within = (high - low) * scores - (sums[high] - sums[low])
    return np.asarray(low - (n - high) + within) / max(n - 1, 1)
