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
# The vote of a document against one with the same score: that of eq. 3, and half a vote for each.
TIES = (0.0, 0.5)


@dataclass(frozen=True, eq=False)
class VotingModel:
    """Hyperplanes, one a row of `planes`, each learnt from two grades of `grades`.

    In a query of n documents each hyperplane gives a document a vote, and its score is the mean of these:

        count   (documents that it beats + ties · documents of the same score) / (n − 1), from 0 to 1
        score   the mean over the other documents of clip(margin, −1, 1), the margin being the difference of the two
                hyperplane scores, at least 1 where training succeeded

    With ties = 0 counted votes are those of Sun et al.: v_ij = 1 if s_i > s_j, otherwise 0 (eq. 3–5); the mean is over
    the n − 1 others, as v_ii is always 0. The Borda count, a point for each document ranked below, is the same number
    times (n − 1) and the number of hyperplanes. With ties = ½ two documents of the same score share the vote.
    """

    kind: ClassVar[str] = "votes"
    planes: Floats
    grades: tuple[tuple[float, float], ...]
    votes: str = "count"
    ties: float = 0.0

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
                scores[begin:end] = self._mean_votes(self._votes(projected[begin:end]))
        return scores

    def _mean_votes(self, votes: Floats) -> Floats:
        """The mean vote of each document; counted votes are added as whole numbers, so that equal means are equal."""
        if self.votes != "count":
            return np.asarray(votes.mean(axis=1))
        halves = 2 * max(len(votes) - 1, 1)
        return np.asarray(np.rint(halves * votes.sum(axis=1)) / (halves * votes.shape[1]))

    def _votes(self, projected: Floats) -> Floats:
        """A row for each document of one query, a column for each hyperplane."""
        votes = np.empty_like(projected)
        for number, column in enumerate(projected.T):
            votes[:, number] = count_votes(column, self.ties) if self.votes == "count" else clip_margins(column)
        return votes

    def parts(self, X: Floats, row: int) -> list[ScorePart]:
        """The vote of each hyperplane, divided by their number."""
        votes = self._votes(X @ self.planes.T)[row].tolist()
        n, parts = len(X), []
        for vote, (high, low) in zip(votes, self.grades, strict=True):
            if self.votes == "count":
                result = f"beats {vote * (n - 1):.4g} of {n - 1} others"
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
        settings = {"votes": self.votes, "ties": self.ties}
        return {"kind": self.kind, **settings, "grades": grades, "planes": self.planes.tolist()}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> VotingModel:
        """The model that `to_json` wrote."""
        grades = tuple((float(high), float(low)) for high, low in record["grades"])
        model = cls(read_numbers(record["planes"], 2), grades, record["votes"], float(record["ties"]))
        has_valid_settings = model.votes in VOTES and model.ties in TIES
        if not has_valid_settings or len(grades) != len(model.planes) or not grades:
            raise ValueError("grades, planes, votes and ties do not fit together")
        return model

    @classmethod
    def average(cls, models: Sequence[VotingModel], factors: Sequence[float]) -> VotingModel:
        """The hyperplanes of all models.

        The factors are ignored: votes have one scale in every model, and a score is the mean over all hyperplanes.
        """
        grades = tuple(pair for model in models for pair in model.grades)
        return cls(np.vstack([model.planes for model in models]), grades, models[0].votes, models[0].ties)


def count_votes(scores: Floats, ties: float = 0.0) -> Floats:
    """For each score, (number of smaller ones + ties · number of equal others) / (n − 1)."""
    ordered = np.sort(scores)
    smaller, not_larger = np.searchsorted(ordered, scores, "left"), np.searchsorted(ordered, scores, "right")
    return np.asarray(smaller + ties * (not_larger - smaller - 1)) / max(len(scores) - 1, 1)


def clip_margins(scores: Floats) -> Floats:
    """For each score, the mean of clip(score − other, −1, 1) over the others, by prefix sums: O(n log n)."""
    n = len(scores)
    ordered = np.sort(scores)
    sums = np.concatenate([[0.0], np.cumsum(ordered)])
    low, high = np.searchsorted(ordered, scores - 1, "right"), np.searchsorted(ordered, scores + 1, "left")
    within = (high - low) * scores - (sums[high] - sums[low])
    return np.asarray(low - (n - high) + within) / max(n - 1, 1)
