"""Scores of neighbours: how well the candidates score that are nearest to a candidate.

Documents that are near to each other tend to be relevant to the same queries (the cluster hypothesis). A document whose
neighbours score well is more likely to be relevant than its own score says (Diaz, CIKM 2005). Near are documents in the
semantic space, or those that share rare words (`word_vectors.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from searchlab.types import Array

# Cosines that are held at once, four bytes each; those of 1,000 candidates are computed in one piece.
MAX_COSINES = 4_000_000


class Vectors(Protocol):
    """Vectors of length 1, or 0, a row for each candidate."""

    def __len__(self) -> int:
        """The number of rows."""

    def cosines(self, begin: int, end: int) -> Array:
        """The cosine of each row from `begin` to before `end` with all rows, in an array of its own."""


class DenseVectors:
    """Vectors that are rows of an array."""

    def __init__(self, rows: Array) -> None:
        self.rows = rows

    def __len__(self) -> int:
        return len(self.rows)

    def cosines(self, begin: int, end: int) -> Array:
        """The products of some rows with all rows."""
        products: Array = self.rows[begin:end] @ self.rows.T
        return products


def neighbour_means(vectors: Vectors, scores: Sequence[Array], sizes: Sequence[int]) -> list[Array]:
    """For each of `scores`, the mean of its k nearest neighbours at each row, weighted by cosine; `sizes` are the k.

    Scores are a number for each row, or several: then the means are those of each column.

    mean(d) = Σ max(cos(d, e), 0)·score(e) / Σ max(cos(d, e), 0)   over the k other rows e of largest cosine

    Rows as near as the k-th nearest are all neighbours, so that the order of rows does not matter. The mean is
    undefined where no other row has a positive cosine.

    Deviation from Diaz: scores are not replaced by their regularised values, which would need his matrix inverse; the
    mean of the neighbours is a feature beside the score itself, and learning finds the share of each. Time grows with
    the square of the number of rows, memory does not.
    """
    n = len(vectors)
    widths = [1 if numbers.ndim == 1 else numbers.shape[1] for numbers in scores]
    columns = np.column_stack(scores)
    size_of_column = np.repeat(sizes, widths)
    means = np.full(columns.shape, np.nan)
    n_rows = max(1, MAX_COSINES // max(n, 1))
    for begin in range(0, n, n_rows):
        rows = np.arange(begin, min(begin + n_rows, n))
        cosines = vectors.cosines(begin, begin + len(rows))
        np.maximum(cosines, 0, out=cosines)
        cosines[rows - begin, rows] = 0  # a row is no neighbour of its own
        for k in dict.fromkeys(sizes):
            nearest = _keep_largest(cosines, k).astype(np.float64)
            chosen = np.flatnonzero(size_of_column == k)
            totals = nearest.sum(axis=1)[:, None]
            sums = nearest @ columns[:, chosen]
            undefined = np.full(sums.shape, np.nan)
            means[np.ix_(rows, chosen)] = np.divide(sums, totals, out=undefined, where=totals > 0)
    parts = np.split(means, np.cumsum(widths)[:-1], axis=1)
    return [part.reshape(numbers.shape) for part, numbers in zip(parts, scores, strict=True)]


def _keep_largest(values: Array, k: int) -> Array:
    """The k largest values of each row, and those equal to the k-th; 0 in place of all others."""
    n = values.shape[1]
    if k >= n:
        return values
    least = np.partition(values, n - k, axis=1)[:, n - k]
    return np.where(values >= least[:, None], values, 0)
