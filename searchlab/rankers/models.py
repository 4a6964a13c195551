"""What has a ranker learnt, and why does a document get its score?

A model is what is left of a ranker after training: numbers, and how they become scores. It needs NumPy alone, can be
written as JSON, and every score can be taken apart: `parts` add up to it.

    linear     Σ_k w_k · x_k
    votes      each hyperplane lets every document of the query win or lose against every other (OrdRank, MHR)
    rules      Σ of the weights of all rules `x_k > threshold` that hold (RankBoost)
    kernel     Σ of coefficients times kernels with support vectors, + intercept (SVM)

The rows of a query stand together: query q has the rows `offsets[q]:offsets[q + 1]`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from searchlab.errors import SettingError, unknown_name
from searchlab.types import Floats

Offsets = npt.NDArray[np.int64]

KERNELS = ("rbf", "poly", "linear")
VOTES = ("count", "score")
# Points of a Gauss–Legendre rule on the way from the average document to the one that is explained.
QUADRATURE = 48
# No machine is trained with a kernel of a higher degree: its values would not be finite.
MOST_DEGREE = 1000


@dataclass(frozen=True, slots=True)
class Part:
    """A share of a score: which feature it is due to (its number, None if to no single one), and how it came about."""

    feature: int | None
    amount: float
    text: str


class Model(Protocol):
    """What all kinds have in common."""

    kind: ClassVar[str]

    @property
    def n_features(self) -> int:
        """How many features a row must have."""

    def score(self, X: Floats, offsets: Offsets) -> Floats:
        """The score of each row."""

    def parts(self, X: Floats, row: int) -> list[Part]:
        """What the score of one row consists of, X being all rows of its query."""

    def influences(self) -> list[Part]:
        """What counts in this model, for people to read: the amounts are weights."""

    def to_json(self) -> dict[str, Any]:
        """The model as plain JSON, from which `model_from_json` makes it again."""


@dataclass(frozen=True, eq=False)
class LinearModel:
    """A weight for each feature."""

    kind: ClassVar[str] = "linear"
    weights: Floats

    @property
    def n_features(self) -> int:
        """How many features a row must have."""
        return len(self.weights)

    def score(self, X: Floats, offsets: Offsets) -> Floats:
        """Σ_k w_k · x_k."""
        return np.asarray(X @ self.weights, dtype=np.float64)

    def parts(self, X: Floats, row: int) -> list[Part]:
        """Weight × value for each feature."""
        values, weights = X[row].tolist(), self.weights.tolist()
        return [
            Part(number, weight * value, f"{weight:.4g} × {value:.4g}")
            for number, (weight, value) in enumerate(zip(weights, values, strict=True))
        ]

    def influences(self) -> list[Part]:
        """The weights."""
        return [Part(number, weight, "") for number, weight in enumerate(self.weights.tolist())]

    def to_json(self) -> dict[str, Any]:
        """The model as plain JSON."""
        return {"kind": self.kind, "weights": self.weights.tolist()}


@dataclass(frozen=True, eq=False)
class VotingModel:
    """Hyperplanes, one a row of `planes`, each learnt from two grades of `grades`.

    In a query of n documents each hyperplane gives a document votes from −1 to 1, and its score is their mean:

        count   (documents that it beats − documents that beat it) / (n − 1)
        score   the mean over the others of clip(margin, −1, 1), the margin being the difference of the two
                hyperplane scores, which training wants to be at least 1

    Counted votes order documents as the mean vote of Sun et al. (eq. 5) and the Borda count do; a tie is half a vote.
    """

    kind: ClassVar[str] = "votes"
    planes: Floats
    grades: tuple[tuple[float, float], ...]
    votes: str = "count"

    @property
    def n_features(self) -> int:
        """How many features a row must have."""
        return int(self.planes.shape[1])

    def score(self, X: Floats, offsets: Offsets) -> Floats:
        """The mean of the hyperplanes' votes."""
        scores = np.zeros(len(X))
        projected = X @ self.planes.T
        for begin, end in pairwise(offsets.tolist()):
            if end > begin:
                scores[begin:end] = self._votes(projected[begin:end]).mean(axis=1)
        return scores

    def _votes(self, projected: Floats) -> Floats:
        """A row a document of one query, a column a hyperplane."""
        given = np.empty_like(projected)
        for number, column in enumerate(projected.T):
            given[:, number] = count_votes(column) if self.votes == "count" else clip_margins(column)
        return given

    def parts(self, X: Floats, row: int) -> list[Part]:
        """The vote of each hyperplane, divided by their number."""
        votes = self._votes(X @ self.planes.T)[row].tolist()
        n, found = len(X), []
        for vote, (high, low) in zip(votes, self.grades, strict=True):
            if self.votes == "count":
                won = f"beats {(vote + 1) / 2 * (n - 1):.4g} of {n - 1} others"
            else:
                won = f"mean margin {vote:+.4g} over {n - 1} others"
            found.append(Part(None, vote / len(votes), f"grade {high:g} against {low:g}: {won}"))
        return found

    def influences(self) -> list[Part]:
        """The weights of each hyperplane."""
        return [
            Part(number, weight, f"grade {high:g} against {low:g}")
            for plane, (high, low) in zip(self.planes.tolist(), self.grades, strict=True)
            for number, weight in enumerate(plane)
        ]

    def to_json(self) -> dict[str, Any]:
        """The model as plain JSON."""
        grades = [list(pair) for pair in self.grades]
        return {"kind": self.kind, "votes": self.votes, "grades": grades, "planes": self.planes.tolist()}


def count_votes(scores: Floats) -> Floats:
    """For each score, (how many are smaller − how many are larger) / (n − 1)."""
    ordered = np.sort(scores)
    smaller, not_larger = np.searchsorted(ordered, scores, "left"), np.searchsorted(ordered, scores, "right")
    return (smaller + not_larger - len(scores)) / max(len(scores) - 1, 1)


def clip_margins(scores: Floats) -> Floats:
    """For each score, the mean of clip(score − other, −1, 1) over the others; by prefix sums, not by pairs."""
    n = len(scores)
    ordered = np.sort(scores)
    sums = np.concatenate([[0.0], np.cumsum(ordered)])
    low, high = np.searchsorted(ordered, scores - 1, "right"), np.searchsorted(ordered, scores + 1, "left")
    within = (high - low) * scores - (sums[high] - sums[low])
    return np.asarray(low - (n - high) + within) / max(n - 1, 1)


@dataclass(frozen=True, eq=False)
class RuleModel:
    """Rules: rule r holds for a row if its feature `features[r]` is above `thresholds[r]`, and adds `weights[r]`."""

    kind: ClassVar[str] = "rules"
    features: npt.NDArray[np.int64]
    thresholds: Floats
    weights: Floats
    n_columns: int

    @property
    def n_features(self) -> int:
        """How many features a row must have."""
        return self.n_columns

    def score(self, X: Floats, offsets: Offsets) -> Floats:
        """Σ of the weights of the rules that hold: per feature a step function, looked up by binary search."""
        scores = np.zeros(len(X))
        for feature in np.unique(self.features).tolist():
            own = self.features == feature
            order = np.argsort(self.thresholds[own], kind="stable")
            steps = np.concatenate([[0.0], np.cumsum(self.weights[own][order])])
            scores += steps[np.searchsorted(self.thresholds[own][order], X[:, feature], "left")]
        return scores

    def parts(self, X: Floats, row: int) -> list[Part]:
        """Each rule that holds, those of the same feature and threshold as one."""
        found = []
        for feature, threshold, weight in self._distinct():
            if X[row, feature] > threshold:
                found.append(Part(feature, weight, f"{X[row, feature]:.4g} > {threshold:.4g}"))
        return found

    def influences(self) -> list[Part]:
        """The rules."""
        return [Part(feature, weight, f"> {threshold:.4g}") for feature, threshold, weight in self._distinct()]

    def _distinct(self) -> list[tuple[int, float, float]]:
        together: dict[tuple[int, float], float] = {}
        rules = zip(self.features.tolist(), self.thresholds.tolist(), self.weights.tolist(), strict=True)
        for feature, threshold, weight in rules:
            together[feature, threshold] = together.get((feature, threshold), 0.0) + weight
        return [(feature, threshold, weight) for (feature, threshold), weight in together.items()]

    def to_json(self) -> dict[str, Any]:
        """The model as plain JSON."""
        rules = zip(self.features.tolist(), self.thresholds.tolist(), self.weights.tolist(), strict=True)
        return {"kind": self.kind, "n_features": self.n_columns, "rules": [list(rule) for rule in rules]}


@dataclass(frozen=True, eq=False)
class KernelModel:
    """Support vectors (rows) with coefficients.

    Kernels: linear x·v, poly (γ x·v + coef0)^degree, rbf exp(−γ‖x − v‖²).
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
        """How many features a row must have."""
        return int(self.vectors.shape[1])

    def score(self, X: Floats, offsets: Offsets) -> Floats:
        """Σ c_v · K(x, v) + intercept, a block of rows at a time."""
        scores = np.empty(len(X))
        block = max(1, 4_000_000 // max(len(self.vectors), 1))
        for begin in range(0, len(X), block):
            scores[begin : begin + block] = self._kernel(X[begin : begin + block])[0] @ self.coefficients
        return scores + self.intercept

    def _kernel(self, X: Floats) -> tuple[Floats, Floats]:
        """K(x, v), and what its derivative by x·v (or by −½‖x − v‖²) is."""
        products = X @ self.vectors.T
        if self.kernel == "linear":
            return products, np.ones_like(products)
        if self.kernel == "poly":
            base = self.gamma * products + self.coef0
            return base**self.degree, self.gamma * self.degree * base ** (self.degree - 1)
        squares = (X * X).sum(axis=1)[:, None] + (self.vectors * self.vectors).sum(axis=1) - 2 * products
        values = np.exp(-self.gamma * np.maximum(squares, 0.0))
        return values, 2 * self.gamma * values

    def _gradients(self, X: Floats) -> Floats:
        slopes = self._kernel(X)[1] * self.coefficients
        pull = slopes @ self.vectors
        return np.asarray(pull if self.kernel != "rbf" else pull - slopes.sum(axis=1)[:, None] * X)

    def parts(self, X: Floats, row: int) -> list[Part]:
        """The score of the query's average document, and what each feature adds on the straight way from there.

        These are integrated gradients (Sundararajan, Taly and Yan 2017), which add up to the difference.
        """
        average = X.mean(axis=0)
        nodes, weights = np.polynomial.legendre.leggauss(QUADRATURE)
        way = X[row] - average
        along = average + (nodes[:, None] + 1) / 2 * way
        amounts = (weights / 2) @ self._gradients(along) * way
        base = float(self.score(average[None, :], np.array([0, 1]))[0])
        # What the quadrature leaves is no feature's.
        rest = float(self.score(X[row : row + 1], np.array([0, 1]))[0]) - base - math.fsum(amounts.tolist())
        found = [Part(None, base + rest, "the average document of the query")]
        return found + [
            Part(number, amount, f"{X[row, number]:.4g}, in the average document {average[number]:.4g}")
            for number, amount in enumerate(amounts.tolist())
        ]

    def influences(self) -> list[Part]:
        """How steep the score is along each feature: the root mean square of its slope at the support vectors."""
        if not len(self.vectors):
            return [Part(number, 0.0, "root mean square of the slope") for number in range(self.n_features)]
        slopes = np.sqrt((self._gradients(self.vectors) ** 2).mean(axis=0))
        return [Part(number, slope, "root mean square of the slope") for number, slope in enumerate(slopes.tolist())]

    def to_json(self) -> dict[str, Any]:
        """The model as plain JSON."""
        settings = {name: getattr(self, name) for name in ("kernel", "gamma", "degree", "coef0", "intercept")}
        vectors, coefficients = self.vectors.tolist(), self.coefficients.tolist()
        return {"kind": self.kind, **settings, "coefficients": coefficients, "vectors": vectors}


def average(models: Sequence[Model], spreads: Sequence[float]) -> Model:
    """The model whose scores are the mean of those of several of one kind, each divided by its spread.

    Votes are alike already: they are from −1 to 1, and the mean is that over the hyperplanes of all.
    """
    first, n = models[0], len(models)
    if n == 1:
        return first
    factors = [1 / (n * spread) if spread > 0 else 0.0 for spread in spreads]
    scaled = list(zip(models, factors, strict=True))
    if isinstance(first, LinearModel):
        return LinearModel(np.sum([factor * model.weights for model, factor in scaled], axis=0))  # type: ignore[attr-defined]
    if isinstance(first, VotingModel):
        grades = tuple(pair for model in models for pair in model.grades)  # type: ignore[attr-defined]
        return VotingModel(np.vstack([model.planes for model in models]), grades, first.votes)  # type: ignore[attr-defined]
    raise SettingError(f"{first.kind} models cannot be averaged")


def model_from_json(kept: Mapping[str, Any], n_features: int) -> Model:
    """The model that `to_json` wrote, which must have this many features."""
    if not isinstance(kept, Mapping):
        raise SettingError(f"a model is malformed (found {type(kept).__name__}, expected names with values)")
    kind = str(kept.get("kind", ""))
    if kind not in _READERS:
        raise unknown_name("kind of model", kind, _READERS)
    try:
        model = _READERS[kind](kept)
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise SettingError(f"a {kind} model is malformed ({type(error).__name__}: {error})") from None
    if model.n_features != n_features:
        raise SettingError(f"a {kind} model has {model.n_features} features, expected {n_features}")
    return model


def _read_linear(kept: Mapping[str, Any]) -> Model:
    return LinearModel(_numbers(kept["weights"], 1))


def _read_votes(kept: Mapping[str, Any]) -> Model:
    grades = tuple((float(high), float(low)) for high, low in kept["grades"])
    model = VotingModel(_numbers(kept["planes"], 2), grades, kept["votes"])
    if model.votes not in VOTES or len(grades) != len(model.planes) or not grades:
        raise ValueError("grades, planes and votes do not fit together")
    return model


def _read_rules(kept: Mapping[str, Any]) -> Model:
    n_columns = int(kept["n_features"])
    rules = np.zeros((0, 3)) if kept["rules"] == [] else _numbers(kept["rules"], 2)
    known = rules.shape[1] == 3 and np.isin(rules[:, 0], np.arange(n_columns)).all()
    if not known:
        raise ValueError(f"expected rules of feature, threshold and weight, features from 0 to {n_columns - 1}")
    return RuleModel(rules[:, 0].astype(np.int64), rules[:, 1], rules[:, 2], n_columns)


def _read_kernel(kept: Mapping[str, Any]) -> Model:
    vectors, coefficients = _numbers(kept["vectors"], 2), _numbers(kept["coefficients"], 1)
    settings = [float(kept[name]) for name in ("intercept", "gamma", "coef0")]
    if len(vectors) != len(coefficients) or kept["kernel"] not in KERNELS or not all(map(math.isfinite, settings)):
        raise ValueError("kernel, vectors and coefficients do not fit together")
    intercept, gamma, coef0 = settings
    degree = int(kept["degree"])
    if not 1 <= degree <= MOST_DEGREE:
        raise ValueError(f"degree is not from 1 to {MOST_DEGREE}")
    return KernelModel(vectors, coefficients, intercept, kept["kernel"], gamma, degree, coef0)


def _numbers(kept: Any, n_dimensions: int) -> Floats:
    numbers = np.array(kept, dtype=np.float64)
    if numbers.ndim != n_dimensions or not np.isfinite(numbers).all():
        raise ValueError(f"expected finite numbers in {n_dimensions} dimension{'s' * (n_dimensions > 1)}")
    return numbers


_READERS = {"linear": _read_linear, "votes": _read_votes, "rules": _read_rules, "kernel": _read_kernel}
