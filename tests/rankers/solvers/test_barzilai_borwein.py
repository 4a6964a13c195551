"""Barzilai–Borwein descent: the optimum of the quadratic programme, to a certified gap."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from searchlab.errors import SettingError
from searchlab.rankers.solvers.barzilai_borwein import solve_by_barzilai_borwein
from searchlab.rankers.solvers.pairwise_hinge import solve
from tests.hypothesis_profiles import examples
from tests.rankers.solvers.pairwise_examples import example, small_problem, uneven


@pytest.mark.parametrize("lam", [0.1, 1.0, 10.0, 1e3])
@pytest.mark.parametrize("cost", [None, uneven])
def test_descent_finds_the_optimum_of_the_quadratic_programme(lam, cost):
    X, offsets, grades = example(n_queries=10, n_docs=60, n_features=12)
    best = solve(X, offsets, grades, cost, lam, tolerance=1e-7)
    found = solve_by_barzilai_borwein(X, offsets, grades, cost, lam)
    assert found.converged
    assert found.gap <= 1e-4
    assert found.dual_objective <= best.objective
    # Not only by the gap, but by the optimum itself.
    assert best.dual_objective <= found.objective <= best.objective * (1 + 1e-4)


@settings(max_examples=examples(40), deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 6), st.sampled_from([0.01, 1.0, 100.0]), st.booleans())
def test_both_agree_on_small_problems(seed, n_grades, lam, weighted):
    X, offsets, grades, mass = small_problem(seed, n_grades, weighted)
    best = solve(X, offsets, grades, uneven, lam, row_weights=mass, tolerance=1e-7)
    found = solve_by_barzilai_borwein(
        X, offsets, grades, uneven, lam, row_weights=mass, tolerance=1e-3, max_iterations=20_000
    )
    assert found.objective <= best.objective * (1 + 1e-3) + 1e-12
    assert found.objective >= best.dual_objective * (1 - 1e-9)
    assert found.dual_objective <= best.objective * (1 + 1e-9)


def test_without_pairs_weights_are_zero():
    found = solve_by_barzilai_borwein(np.ones((2, 2)), [0, 1, 2], [0, 1], None, 1.0)
    assert (found.weights.tolist(), found.objective, found.converged) == ([0, 0], 0, True)


def test_rows_that_do_not_differ_lose_all():
    found = solve_by_barzilai_borwein(np.ones((4, 2)), [0, 4], [0, 0, 1, 1], None, 1.0)
    assert (found.weights.tolist(), found.objective, found.converged) == ([0, 0], 4, True)


def test_descent_that_is_cut_short_has_not_converged():
    X, offsets, grades = example()
    first, second = (solve_by_barzilai_borwein(X, offsets, grades, uneven, 5.0, max_iterations=3) for _ in range(2))
    assert first.weights.tobytes() == second.weights.tobytes()
    assert (first.n_iterations, first.converged) == (3, False)
    assert first.gap > 1e-4


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"tolerance": 0.0}, "tolerance is 0.0"),
        ({"max_iterations": 0}, "max_iterations is 0"),
        ({"lam": -1.0}, "lam is"),
    ],
)
def test_invalid_arguments_are_refused_by_name(changes, message):
    given = {"X": [[0.0], [1.0]], "offsets": [0, 2], "grades": [1, 0], "cost": None, "lam": 1.0} | changes
    with pytest.raises(SettingError, match=message):
        solve_by_barzilai_borwein(**given)
