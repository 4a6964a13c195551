"""Training data of rankers: rows of features with grades, grouped by query and checked."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from searchlab.errors import SettingError
from searchlab.rankers.solvers.pair_weights import GradePair, count_pairs
from searchlab.row_groups import group_rows
from searchlab.types import Array, Floats, Ints


@dataclass(frozen=True, eq=False)
class TrainingData:
    """Rows X with their grades; query q has the rows `offsets[q]:offsets[q + 1]`.

    A row of weight 2 counts as if it occurred twice; with `weights` None each row counts once. `order` has the number
    that each row had before the rows of a query were brought together; None if they were together.
    """

    X: Floats
    grades: Floats
    offsets: Ints
    weights: Floats | None = None
    order: Ints | None = None

    @cached_property
    def pairs(self) -> list[dict[GradePair, float]]:
        """For each query, the number of pairs of each (grade, lower grade)."""
        return count_pairs(self.offsets, self.grades, self.weights)

    @cached_property
    def cache(self) -> dict[Any, Any]:
        """Results that rankers have computed from these rows and may need again."""
        return {}

    def repeated(self) -> TrainingData:
        """The same rows without weights, each as often as its weight says, which must be a whole number."""
        if self.weights is None:
            return self
        if not np.array_equal(self.weights, np.rint(self.weights)):
            raise SettingError("sample_weight has fractions, expected whole numbers: rows are repeated")
        times = self.weights.astype(np.int64)
        offsets = np.concatenate([[0], np.cumsum(times)])[self.offsets]
        # Queries of which no row is left would be empty.
        kept = np.concatenate([[True], np.diff(offsets) > 0])
        return TrainingData(np.repeat(self.X, times, axis=0), np.repeat(self.grades, times), offsets[kept])

    @property
    def n_pairs(self) -> float:
        """The number of pairs of all queries."""
        return sum(sum(pairs.values()) for pairs in self.pairs)

    @classmethod
    def of(
        cls,
        X: npt.ArrayLike,
        y: npt.ArrayLike,
        qid: Any,
        sample_weight: npt.ArrayLike | None = None,
        *,
        allow_nan: bool = False,
    ) -> TrainingData:
        """Check the arguments of `Ranker.fit`, and bring the rows of each query together."""
        rows = check_rows(X, allow_nan=allow_nan)
        grades = _as_numbers("y", y)
        if grades.shape != (len(rows),):
            raise SettingError(f"y has the shape {grades.shape}, expected {(len(rows),)}, a grade for each row of X")
        if not np.isfinite(grades).all():
            row = int(np.flatnonzero(~np.isfinite(grades))[0])
            raise SettingError(f"row {row + 1}: grade is {grades[row]}, expected a finite number")
        weights = None
        if sample_weight is not None:
            weights = _as_numbers("sample_weight", sample_weight)
            if weights.shape != (len(rows),) or not (np.isfinite(weights) & (weights >= 0)).all():
                raise SettingError(
                    f"sample_weight has the shape {weights.shape}, expected {len(rows)} finite numbers from 0"
                )
        offsets, order = group_rows(check_row_qids(qid, len(rows)))
        if order is not None:
            rows, grades = rows[order], grades[order]
            weights = None if weights is None else weights[order]
        return cls(rows, grades, offsets, weights, order)


def check_rows(X: npt.ArrayLike, n_features: int | None = None, *, allow_nan: bool = False) -> Floats:
    """X as a table of finite numbers, and NaN if that is allowed, with `n_features` columns if that is given."""
    rows = _as_numbers("X", X)
    if rows.ndim != 2:
        raise SettingError(f"X has {rows.ndim} dimensions, expected 2: a row for each document, a column a feature")
    if n_features is not None and rows.shape[1] != n_features:
        raise SettingError(f"X has {rows.shape[1]} features, expected the {n_features} of training")
    # isfinite of the whole table would allocate an eighth of its size; NaN makes the minimum NaN.
    if rows.size and not (np.isfinite(np.min(rows)) and np.isfinite(np.max(rows))):
        wrong = np.isinf(rows) if allow_nan else ~np.isfinite(rows)
        if not wrong.any():
            return rows
        row, column = np.argwhere(wrong)[0]
        raise SettingError(f"row {row + 1}, column {column + 1} is {rows[row, column]}, expected a finite number")
    return rows


def check_row_qids(qid: Any, n_rows: int) -> Array:
    """The query of each row, as an array."""
    qids = np.asarray(qid)
    if qids.shape != (n_rows,):
        raise SettingError(f"qid has the shape {qids.shape}, expected {(n_rows,)}, the query of each row of X")
    if qids.dtype.kind == "f" and np.isnan(qids).any():
        raise SettingError(
            f"row {int(np.argmax(np.isnan(qids))) + 1}: qid is nan, expected the query that it belongs to"
        )
    return qids


def _as_numbers(name: str, values: Any) -> Floats:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise SettingError(f"{name} is no table of numbers ({error})") from None
