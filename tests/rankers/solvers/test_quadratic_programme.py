"""The dual by cvxopt: by hand, the box and the optimality conditions, and the optimum of the other solver."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from searchlab.errors import SettingError
from searchlab.rankers.solvers.pairwise_hinge import solve
from searchlab.rankers.solvers.quadratic_programme import MAX_PAIRS, solve_by_quadratic_programme
from tests.hypothesis_profiles import examples


def uneven(query, high, low):
    return (1 + query) * (high - low)


def test_one_pair_worked_by_hand():
    # d = 2: α − ½·4α² is highest at α = ¼, unless the box 0 ≤ α ≤ C = 1/(2λ) ends before; w = 2α.
    for lam, alpha in ((1.0, 0.25), (5.0, 0.1)):
        solution, duals = solve_by_quadratic_programme([[3.0], [1.0]], [0, 2], [1, 0], None, lam)
        assert duals.alphas == pytest.approx([alpha], rel=1e-8)
        assert duals.bounds.tolist() == [1 / (2 * lam)]
        assert duals.pairs.tolist() == [[0, 1]]
        assert solution.weights == pytest.approx([2 * alpha], rel=1e-8)
        assert solution.objective == pytest.approx(lam * 4 * alpha**2 + max(0, 1 - 4 * alpha), rel=1e-7)
        assert solution.converged


def test_bounds_are_those_of_theorem_1_and_pairs_without_a_cost_are_not_listed():
    # Query 1: grades 0, 2, 1; query 2: grades 1, 0, the second of weight 3.
    def cost(query, high, low):
        return 0.0 if (high, low) == (1, 0) and query == 0 else 10.0 * query + 2 * high - low

    X, mass = np.random.default_rng(1).normal(size=(5, 2)), [1, 1, 1, 1, 3.0]
    _, duals = solve_by_quadratic_programme(X, [0, 3, 5], [0, 2, 1, 1, 0], cost, 0.25, row_weights=mass)
    assert duals.pairs.tolist() == [[1, 0], [1, 2], [3, 4]]
    assert duals.bounds.tolist() == [4 / 0.5, 3 / 0.5, 3 * 12 / 0.5]


@settings(max_examples=examples(30), deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 4), st.sampled_from([0.05, 1.0, 20.0]), st.booleans())
def test_the_solution_is_optimal(seed, n_grades, lam, weighted):
    random = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(random.integers(0, 8, 3))])
    grades = random.integers(0, n_grades, offsets[-1])
    X = random.normal(size=(len(grades), 4)) + 0.5 * grades[:, None]
    mass = random.uniform(0, 3, len(X)) if weighted else None
    solution, duals = solve_by_quadratic_programme(X, offsets, grades, uneven, lam, row_weights=mass)
    best = solve(X, offsets, grades, uneven, lam, row_weights=mass, tolerance=1e-9)
    assert solution.objective == pytest.approx(best.objective, rel=1e-6)
    assert solution.dual_objective == pytest.approx(best.objective, rel=1e-6)
    if not len(duals.pairs):
        assert not solution.weights.any()
        return
    # The box (eq. 19), and w as the sum over the support pairs (eq. 16).
    assert ((duals.alphas >= 0) & (duals.alphas <= duals.bounds)).all()
    support = duals.alphas > 0
    differences = X[duals.pairs[:, 0]] - X[duals.pairs[:, 1]]
    assert solution.weights == pytest.approx(duals.alphas[support] @ differences[support], abs=1e-12)
    # The conditions of Karush, Kuhn and Tucker: margin ≥ 1 where α = 0, ≤ 1 where α = C, 1 between.
    margins = differences @ solution.weights
    full = duals.alphas == duals.bounds
    assert (margins[~support] >= 1 - 1e-4).all()
    assert (margins[full] <= 1 + 1e-4).all()
    assert margins[support & ~full] == pytest.approx(np.ones(int((support & ~full).sum())), abs=1e-4)


def test_without_pairs_there_are_no_alphas():
    solution, duals = solve_by_quadratic_programme(np.ones((2, 3)), [0, 1, 2], [0, 1], None, 1.0)
    assert solution.weights.tolist() == [0, 0, 0]
    assert (duals.alphas.shape, duals.bounds.shape, duals.pairs.shape) == ((0,), (0,), (0, 2))


def test_too_many_pairs_are_refused_with_the_limit_and_the_other_solver():
    grades = np.repeat([1, 0], 60)
    message = rf"3,600 pairs, expected at most {MAX_PAIRS:,} for solver=cvxopt; solver=qp has no such limit"
    with pytest.raises(SettingError, match=message):
        solve_by_quadratic_programme(np.ones((120, 1)), [0, 120], grades, None, 1.0)
