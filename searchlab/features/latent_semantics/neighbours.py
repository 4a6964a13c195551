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
        """The products of some rows with all rows; of all rows, which takes half of the operations."""
        products: Array = self.rows[begin:end] @ self.rows.T
        return products


def neighbour_means(
    vectors: Vectors, scores: Sequence[Array], sizes: Sequence[int], *, compiled: bool = False
) -> list[Array]:
    """For each of `scores`, the mean of its k nearest neighbours at each row, weighted by cosine; `sizes` are the k.

    Scores are a number for each row, or several: then the means are those of each column.

    mean(d) = Σ max(cos(d, e), 0)·score(e) / Σ max(cos(d, e), 0)   over the k other rows e of largest cosine

    Rows as near as the k-th nearest are all neighbours, so that the order of rows does not matter. The mean is
    undefined where no other row has a positive cosine.

    Deviation from Diaz: scores are not replaced by their regularised values, which would need his matrix inverse; the
    mean of the neighbours is a feature beside the score itself, and learning finds the share of each. Time grows with
    the square of the number of rows, memory does not. With `compiled`, a loop over the cosines of each row finds the
    neighbours, in which the sums are formed in the same order.
    """
    n = len(vectors)
    n_rows = max(1, MAX_COSINES // max(n, 1))
    if compiled and n:
        return _compiled_means(vectors, scores, sizes, n_rows)
    means = [np.full(numbers.shape, np.nan) for numbers in scores]
    n_largest = min(max(sizes, default=0), n)
    for begin in range(0, n, n_rows):
        end = min(begin + n_rows, n)
        cosines = np.maximum(vectors.cosines(begin, end), 0)
        own = np.arange(end - begin)
        cosines[own, begin + own] = 0  # a row is no neighbour of its own
        largest = np.sort(np.partition(cosines, n - n_largest, axis=1)[:, n - n_largest :], axis=1)
        near = np.flatnonzero(cosines >= largest[:, :1])
        row, other, weights = near // n, near % n, cosines.ravel()[near].astype(float)
        for mean, numbers, k in zip(means, scores, sizes, strict=True):
            chosen = weights * (weights >= largest[row, -min(k, n)])
            totals = np.bincount(row, chosen, end - begin)
            for of_column, column in zip(_columns(mean[begin:end]), _columns(numbers), strict=True):
                sums = np.bincount(row, chosen * column[other], end - begin)
                np.divide(sums, totals, out=of_column, where=totals > 0)
    return means


def _compiled_means(vectors: Vectors, scores: Sequence[Array], sizes: Sequence[int], n_rows: int) -> list[Array]:
    """The same by compiled loops, equal to the last bit."""
    from searchlab.features.latent_semantics.neighbour_kernels import fill_means

    tables = [_columns(numbers) for numbers in scores]
    numbers = np.ascontiguousarray(np.concatenate(tables).T, np.float64)
    size_of_columns = np.repeat(np.array(sizes), [len(table) for table in tables])
    means = np.full(numbers.shape, np.nan)
    for begin in range(0, len(numbers), n_rows):
        fill_means(vectors.cosines(begin, min(begin + n_rows, len(numbers))), begin, numbers, size_of_columns, means)
    bounds = np.cumsum([len(table) for table in tables])[:-1]
    parts = np.split(means, bounds, axis=1)
    return [part.reshape(given.shape) for part, given in zip(parts, scores, strict=True)]


def _columns(numbers: Array) -> Array:
    """The columns of a table, or the one of a list of numbers, as views."""
    return numbers.T if numbers.ndim == 2 else numbers[None]
