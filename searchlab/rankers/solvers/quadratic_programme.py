"""The dual of the pairwise hinge problem over listed pairs, by the packaged solver of cvxopt.

    maximise  Σ α_i − ½ Σ_i Σ_i' α_i·α_i'·⟨d_i, d_i'⟩   with  0 ≤ α_i ≤ C_i      (Cao et al., SIGIR 2006, eq. 18–19)

d_i = x⁽¹⁾ − x⁽²⁾ is the difference of the better and the worse row of pair i (so z_i = 1), and C_i = c_i/(2λ) with
c = τ·μ (theorem 1). The weights are w = Σ α_i·d_i (eq. 16). Pairs with α_i > 0 are the support pairs; those with
α_i < C_i have a margin of at least 1.

The matrix of the ⟨d_i, d_i'⟩ has a number for each two pairs, and an interior-point step takes time cubic in the pairs:
this is for small problems, where the α themselves are of interest. `pairwise_hinge.py` finds the same w for any number
of pairs.

Numbers that an interior-point method leaves near a bound, up to a share of 10⁻⁷ of it, are set to that bound.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from searchlab.blas_threads import one_thread
from searchlab.errors import SettingError
from searchlab.rankers.solvers.pairwise_problem import (
    Bound,
    Cost,
    Problem,
    Solution,
    certify,
    evaluate,
    make_problem,
    scale_lambda,
)
from searchlab.types import Array, Floats, Ints

# The matrix of 3,000 pairs has 72 MB, and is factorised some twenty times.
MAX_PAIRS = 3000
# α nearer to a bound than this share of C_i are at the bound.
AT_BOUND = 1e-7
OPTIONS = {"show_progress": False, "abstol": 1e-13, "reltol": 1e-11, "feastol": 1e-11, "maxiters": 200}


@dataclass(frozen=True, eq=False)
class PairDuals:
    """The dual variables: α and C of each pair, whose rows (better, worse) are in `pairs`."""

    alphas: Floats
    bounds: Floats
    pairs: Ints


def solve_by_quadratic_programme(
    X: npt.ArrayLike,
    offsets: npt.ArrayLike,
    grades: npt.ArrayLike,
    cost: Cost | None,
    lam: float,
    *,
    row_weights: npt.ArrayLike | None = None,
    tolerance: float = 1e-5,
    max_pairs: int = MAX_PAIRS,
) -> tuple[Solution, PairDuals]:
    """The solution and its α; the arguments are those of `pairwise_hinge.solve`.

    A pair of rows with weights m has the bound m_i·m_j·c/(2λ); pairs without a cost are not listed. `converged` means
    that the relative duality gap is at most `tolerance`.
    """
    problem = make_problem(X, offsets, grades, cost, row_weights)
    scaled = scale_lambda(problem, lam)
    if problem.n_pairs > max_pairs:
        raise SettingError(
            f"{problem.n_pairs:,} pairs, expected at most {max_pairs:,} for solver=cvxopt; solver=qp has no such limit"
        )
    rows = np.asarray(X, dtype=np.float64)
    pairs, costs = _list_pairs(offsets, grades, cost, row_weights)
    bounds = costs / (2 * lam)
    if not len(pairs):
        return Solution(np.zeros(rows.shape[1]), 0.0, 0.0, 0.0, 0, True), PairDuals(bounds, bounds, pairs)
    differences = rows[pairs[:, 0]] - rows[pairs[:, 1]]
    alphas, n_iterations = _maximise(differences, bounds)
    with one_thread():
        solution = _certify(problem, scaled, alphas / bounds, alphas @ differences, costs, n_iterations)
    return replace(solution, converged=solution.gap <= tolerance), PairDuals(alphas, bounds, pairs)


def _list_pairs(
    offsets: npt.ArrayLike, grades: npt.ArrayLike, cost: Cost | None, row_weights: npt.ArrayLike | None
) -> tuple[Ints, Floats]:
    """The rows (better, worse) of each pair with a cost, and the costs."""
    levels = np.asarray(grades, dtype=np.float64)
    mass = np.ones(len(levels)) if row_weights is None else np.asarray(row_weights, dtype=np.float64)
    pairs: list[tuple[int, int]] = []
    costs: list[float] = []
    for query, (begin, end) in enumerate(pairwise(np.asarray(offsets).tolist())):
        for better in range(begin, end):
            for worse in range(begin, end):
                if levels[better] > levels[worse] and mass[better] * mass[worse] > 0:
                    price = 1.0 if cost is None else cost(query, float(levels[better]), float(levels[worse]))
                    if price > 0:
                        pairs.append((better, worse))
                        costs.append(float(mass[better] * mass[worse]) * price)
    return np.array(pairs, dtype=np.int64).reshape(-1, 2), np.array(costs)


def _maximise(differences: Array, bounds: Floats) -> tuple[Floats, int]:
    """The α of the dual, and the number of steps."""
    from cvxopt import matrix, solvers, sparse, spmatrix

    # In units of the largest bound: the tolerances of cvxopt are meant for numbers near 1.
    unit = float(bounds.max())
    n = len(bounds)
    quadratic = matrix(unit * (differences @ differences.T))
    # −α ≤ 0 and α ≤ C.
    inequalities = sparse([spmatrix(sign, range(n), range(n)) for sign in (-1.0, 1.0)])
    limits = matrix(np.concatenate([np.zeros(n), bounds / unit]))
    found = solvers.qp(quadratic, matrix(-1.0, (n, 1)), inequalities, limits, options=OPTIONS)
    alphas = np.clip(np.array(found["x"]).ravel() * unit, 0.0, bounds)
    alphas[alphas <= AT_BOUND * bounds] = 0.0
    full = alphas >= (1 - AT_BOUND) * bounds
    alphas[full] = bounds[full]
    return alphas, int(found["iterations"])


def _certify(
    problem: Problem, lam: float, shares: Floats, weights: Floats, costs: Floats, n_iterations: int
) -> Solution:
    """The objective of the weights, and the bound of the α = share·c, in the problem's units."""
    total = float(shares @ costs) / problem.unit
    # Σ α·d in the problem's units is 2λw.
    bound = Bound.at(lam, total, 2 * lam * weights)
    # The width of the smoothing does not change the objective.
    objective = evaluate(problem, lam, weights, 1.0).objective
    return certify(problem, weights, objective, bound, n_iterations, True)
