"""Scores of neighbours: how well the candidates score that are nearest to a candidate in the semantic space.

Documents that are near to each other tend to be relevant to the same queries (the cluster hypothesis). A document whose
neighbours score well is more likely to be relevant than its own score says (Diaz, CIKM 2005).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from searchlab.types import Array

# Cosines that are held at once, four bytes each; those of 1,000 candidates are computed in one piece.
MAX_COSINES = 4_000_000


def neighbour_means(vectors: Array, scores: Sequence[Array], sizes: Sequence[int]) -> list[Array]:
    """For each of `scores`, the mean of its k nearest neighbours at each row, weighted by cosine; `sizes` are the k.

    mean(d) = Σ max(cos(d, e), 0)·score(e) / Σ max(cos(d, e), 0)   over the k other rows e of largest cosine

    `vectors` have length 1, or 0. Rows as near as the k-th nearest are all neighbours, so that the order of rows does
    not matter. The mean is undefined where no other row has a positive cosine.

    Deviation from Diaz: scores are not replaced by their regularised values, which would need his matrix inverse; the
    mean of the neighbours is a feature beside the score itself, and learning finds the share of each. Time grows with
    the square of the number of rows, memory does not.
    """
    n = len(vectors)
    means = [np.full(n, np.nan) for _ in sizes]
    n_rows = max(1, MAX_COSINES // max(n, 1))
    n_largest = min(max(sizes, default=0), n)
    for begin in range(0, n, n_rows):
        part = vectors[begin : begin + n_rows]
        # All rows at once are a product of a matrix with itself, which takes half of the operations.
        cosines = np.maximum(part @ vectors.T, 0)
        own = np.arange(len(part))
        cosines[own, begin + own] = 0  # a row is no neighbour of its own
        largest = np.sort(np.partition(cosines, n - n_largest, axis=1)[:, n - n_largest :], axis=1)
        near = np.flatnonzero(cosines >= largest[:, :1])
        row, other, weights = near // n, near % n, cosines.ravel()[near].astype(float)
        for mean, numbers, k in zip(means, scores, sizes, strict=True):
            chosen = weights * (weights >= largest[row, -min(k, n)])
            totals = np.bincount(row, chosen, len(part))
            sums = np.bincount(row, chosen * numbers[other], len(part))
            np.divide(sums, totals, out=mean[begin : begin + len(part)], where=totals > 0)
    return means
