"""Kernel models: support vectors with coefficients (SVM)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from searchlab.errors import SettingError
from searchlab.rankers.models.base_model import ScorePart, read_numbers
from searchlab.types import Floats, Ints

KERNELS = ("rbf", "poly", "sigmoid", "linear")
# Nodes of the Gauss–Legendre rule that integrates gradients from the average document to the explained one.
QUADRATURE_NODES = 48
# A kernel of a higher degree has no finite values, so that no machine is trained with one.
MAX_DEGREE = 1000
# Kernel values computed at a time.
BLOCK_VALUES = 4_000_000


@dataclass(frozen=True, eq=False)
class KernelModel:
    """Score Σ_v c_v · K(x, v) + intercept, over the support vectors v, the rows of `vectors`.

    Kernels: linear x·v, poly (γ x·v + coef0)^degree, rbf exp(−γ‖x − v‖²), sigmoid tanh(γ x·v + coef0).
    """

    kind: ClassVar[str] = "kernel"
    vectors: Floats
    coefficients: Floats
    intercept: float
    kernel: str = "rbf"
    gamma: float = 1.0
    degree: int = 3
    coef0: float = 1.0

    @property
    def n_features(self) -> int:
        """The number of features of a row."""
        return int(self.vectors.shape[1])

    def score(self, X: Floats, offsets: Ints) -> Floats:
        """Σ_v c_v · K(x, v) + intercept, a block of rows at a time."""
        scores = np.empty(len(X))
        block = max(1, BLOCK_VALUES // max(len(self.vectors), 1))
        for begin in range(0, len(X), block):
            scores[begin : begin + block] = self._kernel(X[begin : begin + block])[0] @ self.coefficients
        return scores + self.intercept

    def _kernel(self, X: Floats) -> tuple[Floats, Floats]:
        """K(x, v), and its derivative by x·v (for rbf, by −½‖x − v‖²)."""
        products = X @ self.vectors.T
        if self.kernel == "linear":
            return products, np.ones_like(products)
        if self.kernel == "poly":
            base = self.gamma * products + self.coef0
            return base**self.degree, self.gamma * self.degree * base ** (self.degree - 1)
        if self.kernel == "sigmoid":
            values = np.tanh(self.gamma * products + self.coef0)
            return values, self.gamma * (1 - values * values)
        squares = (X * X).sum(axis=1)[:, None] + (self.vectors * self.vectors).sum(axis=1) - 2 * products
        values = np.exp(-self.gamma * np.maximum(squares, 0.0))
        return values, 2 * self.gamma * values

    def _gradients(self, X: Floats) -> Floats:
        slopes = self._kernel(X)[1] * self.coefficients
        pull = slopes @ self.vectors
        return np.asarray(pull if self.kernel != "rbf" else pull - slopes.sum(axis=1)[:, None] * X)

    def parts(self, X: Floats, row: int) -> list[ScorePart]:
        """The score of the query's average document, and what each feature adds on the straight line from there.

        These are integrated gradients (Sundararajan, Taly and Yan 2017), which add up to the difference.
        """
        average = X.mean(axis=0)
        nodes, weights = np.polynomial.legendre.leggauss(QUADRATURE_NODES)
        direction = X[row] - average
        points = average + (nodes[:, None] + 1) / 2 * direction
        amounts = (weights / 2) @ self._gradients(points) * direction
        base = float(self.score(average[None, :], np.array([0, 1]))[0])
        # The error of the quadrature belongs to no feature.
        rest = float(self.score(X[row : row + 1], np.array([0, 1]))[0]) - base - math.fsum(amounts.tolist())
        parts = [ScorePart(None, base + rest, "the average document of the query")]
        return parts + [
            ScorePart(number, amount, f"{X[row, number]:.4g}, in the average document {average[number]:.4g}")
            for number, amount in enumerate(amounts.tolist())
        ]

    def influences(self) -> list[ScorePart]:
        """The steepness of the score along each feature: the root mean square of its slope at the support vectors."""
        slopes = np.zeros(self.n_features)
        if len(self.vectors):
            slopes = np.sqrt((self._gradients(self.vectors) ** 2).mean(axis=0))
        return [
            ScorePart(number, slope, "root mean square of the slope") for number, slope in enumerate(slopes.tolist())
        ]

    def to_json(self) -> dict[str, Any]:
        """The model as plain JSON."""
        settings = {name: getattr(self, name) for name in ("kernel", "gamma", "degree", "coef0", "intercept")}
        vectors, coefficients = self.vectors.tolist(), self.coefficients.tolist()
        return {"kind": self.kind, **settings, "coefficients": coefficients, "vectors": vectors}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> KernelModel:
        """The model that `to_json` wrote."""
        vectors, coefficients = read_numbers(record["vectors"], 2), read_numbers(record["coefficients"], 1)
        intercept, gamma, coef0 = settings = [float(record[name]) for name in ("intercept", "gamma", "coef0")]
        has_valid_settings = record["kernel"] in KERNELS and all(map(math.isfinite, settings))
        if len(vectors) != len(coefficients) or not has_valid_settings:
            raise ValueError("kernel, vectors and coefficients do not fit together")
        degree = int(record["degree"])
        if not 1 <= degree <= MAX_DEGREE:
            raise ValueError(f"degree is not from 1 to {MAX_DEGREE}")
        return cls(vectors, coefficients, intercept, record["kernel"], gamma, degree, coef0)

    @classmethod
    def average(cls, models: Sequence[KernelModel], factors: Sequence[float]) -> KernelModel:
        """Refused."""
        raise SettingError(f"{cls.kind} models cannot be averaged")
