"""The linear support vector machine with the hinge loss and an unpenalised intercept.

    minimise  ½‖w‖² + C · Σ_i v_i · max(0, 1 − y_i·(w·x_i + b)),  y_i = ±1

A document of class +1 that should score 1 above an anchor with features 0, and an anchor that should score 1 above each
document of class −1, are pairs: this is the problem of `pairwise_hinge.py`, which solves it to a certified duality gap.
The intercept is the weight of one more feature, s for a document and 0 for the anchor, so that its penalty is
½(b/s)². With features centred on their mean, which changes b alone, and s² = 10⁸ / min(1, C·Σv), the penalty is
below 10⁻⁸ of the loss at zero weights as long as |b| is about 1.
"""

from __future__ import annotations

import math

import numpy as np

from searchlab.rankers.solvers.pairwise_hinge import Solution, solve
from searchlab.types import Array, Floats

# s at C·Σv = 1.
INTERCEPT_SCALE = 1e4


def solve_classification(
    X: Floats, labels: Array, row_weights: Floats, C: float, tolerance: float = 1e-6
) -> tuple[Floats, float, Solution]:
    """The weights, the intercept, and the certificate of the pairs; `labels` are True for class +1."""
    mean = np.average(X, axis=0, weights=row_weights)
    scale = INTERCEPT_SCALE / math.sqrt(min(1.0, C * float(row_weights.sum())))
    rows = np.hstack([X - mean, np.full((len(X), 1), scale)])
    anchor = np.zeros((1, rows.shape[1]))
    n_positive = int(labels.sum())
    # Two queries: the class +1 above its anchor, and an anchor above the class −1.
    table = np.vstack([rows[labels], anchor, anchor, rows[~labels]])
    grades = np.concatenate([np.ones(n_positive), [0, 1], np.zeros(len(X) - n_positive)])
    masses = np.concatenate([row_weights[labels], [1, 1], row_weights[~labels]])
    offsets = [0, n_positive + 1, len(table)]
    solution = solve(table, offsets, grades, None, 1 / (2 * C), row_weights=masses, tolerance=tolerance)
    weights = solution.weights[:-1]
    return weights, float(scale * solution.weights[-1] - mean @ weights), solution
