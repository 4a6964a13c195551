"""The interface of trained models.

A model is the result of training a ranker: numbers, and a formula that turns them into scores. It depends on NumPy
alone, is written as JSON, and decomposes every score into `parts` that add up to it.

    linear           Σ_k w_k · x_k
    votes            each hyperplane compares every document of the query with every other (OrdRank, MHR)
    rules            Σ of the weights of all rules `x_k > threshold` that hold (RankBoost)
    kernel           Σ of coefficients times kernels with support vectors, + intercept (SVM)
    trees            Σ of the values of the leaves that a row reaches (LambdaMART)
    neighbourhoods   Σ_k w_k · x_k, with weights w that depend on the query (Ranking SVM of the nearest queries)

The rows of a query are adjacent: query q has the rows `offsets[q]:offsets[q + 1]`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from searchlab.types import Floats, Ints


@dataclass(frozen=True, slots=True)
class ScorePart:
    """A summand of a score: the number of its feature (None if it belongs to no single one), and how it is computed.

    A note has the amount 0 and says on which numbers of the model the others depend; it is shown first.
    """

    feature: int | None
    amount: float
    text: str
    is_note: bool = False


class Model(Protocol):
    """What all kinds of models have in common."""

    kind: ClassVar[str]

    @property
    def n_features(self) -> int:
        """The number of features of a row."""

    def score(self, X: Floats, offsets: Ints) -> Floats:
        """The score of each row."""

    def parts(self, X: Floats, row: int) -> list[ScorePart]:
        """The summands of the score of one row; X holds all rows of its query."""

    def influences(self) -> list[ScorePart]:
        """The weights of the model, for people to read."""

    def to_json(self) -> dict[str, Any]:
        """The model as plain JSON, the inverse of `from_json`."""

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Model:
        """The model that `to_json` wrote; raises KeyError, TypeError, ValueError or OverflowError on anything else."""

    @classmethod
    def average(cls, models: Sequence[Any], factors: Sequence[float]) -> Model:
        """The model whose scores are the sum of those of `models`, all of this class, times `factors`.

        Raises SettingError if models of this kind cannot be averaged.
        """


def read_numbers(record: Any, n_dimensions: int) -> Floats:
    """A JSON list of finite numbers, nested to `n_dimensions`, as an array."""
    numbers = np.array(record, dtype=np.float64)
    if numbers.ndim != n_dimensions or not np.isfinite(numbers).all():
        raise ValueError(f"expected finite numbers in {n_dimensions} dimension{'s' * (n_dimensions > 1)}")
    return numbers
