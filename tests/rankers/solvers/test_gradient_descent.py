"""Gradient descent: step for step as in the paper, with a fixed step and with the line search."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from searchlab.errors import SettingError
from searchlab.rankers.solvers.gradient_descent import solve_by_gradient_descent
from searchlab.rankers.solvers.pairwise_hinge import solve
from tests.hypothesis_profiles import examples
from tests.rankers.solvers.pairwise_examples import example, small_problem, uneven


def explicit_pairs(X, offsets, grades, cost):
    differences, costs = [], []
    for query, (begin, end) in enumerate(pairwise(offsets)):
        for i in range(begin, end):
            for j in range(begin, end):
                if grades[i] > grades[j]:
                    differences.append(X[i] - X[j])
                    costs.append(cost(query, grades[i], grades[j]))
    return np.array(differences), np.array(costs)


def figure_3(differences, costs, lam, step, n_steps):
    """The paper's loop over all pairs: the weights after each step, the first being 0."""
    weights = np.zeros(differences.shape[1])
    yield weights
    for _ in range(n_steps):
        change = np.zeros_like(weights)
        for difference, cost in zip(differences, costs, strict=True):
            if weights @ difference < 1:
                change = change + cost * difference
        weights = weights + step * (change - 2 * lam * weights)
        yield weights


@pytest.mark.parametrize("n_steps", [1, 2, 9])
def test_fixed_step_is_figure_3(n_steps):
    X, offsets, grades = example(n_queries=2, n_docs=15)
    differences, costs = explicit_pairs(X, offsets, grades, uneven)
    found = solve_by_gradient_descent(X, offsets, grades, uneven, 2.0, step=1e-4, max_iterations=n_steps)
    path = list(figure_3(differences, costs, 2.0, 1e-4, n_steps))
    objectives = [2.0 * w @ w + costs @ np.maximum(0, 1 - differences @ w) for w in path]
    # The loss still decreases: the last weights are the best.
    assert np.argmin(objectives) == n_steps
    assert found.weights == pytest.approx(path[-1], rel=1e-12)
    assert found.objective == pytest.approx(objectives[-1], rel=1e-12)
    assert (found.n_iterations, found.converged) == (n_steps, False)


def test_one_step_worked_by_hand():
    # x = 2, λ = ¼: from 0 the step is ¼·2, to w = ½, where the margin is 1 and the loss λw² alone.
    found = solve_by_gradient_descent([[2.0], [0.0]], [0, 2], [1, 0], None, 0.25, step=0.25, max_iterations=1)
    assert found.weights.tolist() == [0.5]
    assert found.objective == 1 / 16


def test_fixed_step_stops_near_the_optimum():
    X, offsets, grades = example()
    best = solve(X, offsets, grades, uneven, 5.0)
    found = solve_by_gradient_descent(X, offsets, grades, uneven, 5.0, step=2e-6, max_iterations=20_000)
    assert found.converged
    assert found.n_iterations < 20_000
    assert best.dual_objective <= found.objective <= best.objective * 1.01
    assert found.dual_objective <= best.objective


def test_step_that_is_too_large_ends_at_the_best_weights_seen():
    X, offsets, grades = example()
    found = solve_by_gradient_descent(X, offsets, grades, uneven, 5.0, step=1e6)
    assert not found.converged
    assert np.isfinite(found.weights).all()
    loss_of_zero = explicit_pairs(X, offsets, grades, uneven)[1].sum()
    assert found.objective <= loss_of_zero * (1 + 1e-12)


def along(direction, weights, differences, costs, lam):
    """The loss on the line, as a function of η."""

    def loss(step):
        w = weights + step * direction
        return lam * w @ w + costs @ np.maximum(0, 1 - differences @ w)

    return loss


def test_line_search_worked_by_hand():
    # Along w = 2η the loss is ¼·(2η)² + max(0, 1 − 4η): its slope 2η − 4 is negative up to the corner η = ¼, and 2η
    # after it. At w = ½ the gradient of eq. 12 is 2λw, but a smaller w costs 2 for each unit: the descent ends.
    found = solve_by_gradient_descent([[2.0], [0.0]], [0, 2], [1, 0], None, 0.25)
    assert found.weights == pytest.approx([0.5], rel=1e-5)
    assert found.objective == pytest.approx(1 / 16, rel=1e-5)
    assert found.converged
    # With λ = 4 the minimum 8·(2η)·2 = 4, η = ⅛, comes before the corner: w = ¼ is the optimum.
    found = solve_by_gradient_descent([[2.0], [0.0]], [0, 2], [1, 0], None, 4.0)
    assert found.weights == pytest.approx([0.25], rel=1e-4)
    assert found.objective == pytest.approx(4 / 16 + 1 / 2)


@pytest.mark.parametrize("lam", [0.5, 5.0, 100.0])
def test_each_step_of_the_line_search_is_the_minimum_along_the_gradient(lam):
    X, offsets, grades = example(n_queries=3, n_docs=15)
    differences, costs = explicit_pairs(X, offsets, grades, uneven)
    weights, losses = np.zeros(X.shape[1]), [costs.sum()]
    for n_steps in range(1, 5):
        found = solve_by_gradient_descent(X, offsets, grades, uneven, lam, max_iterations=n_steps)
        assert found.n_iterations == n_steps
        violated = differences @ weights < 1
        direction = costs[violated] @ differences[violated] - 2 * lam * weights
        loss = along(direction, weights, differences, costs, lam)
        step = (found.weights - weights) @ direction / (direction @ direction)
        assert found.weights == pytest.approx(weights + step * direction, abs=1e-12)
        assert step > 0
        # A convex function: what is lowest among near neighbours is lowest.
        assert all(loss(step) <= loss(step * factor) for factor in (0.5, 0.9, 0.999, 1.001, 1.1, 2.0))
        assert found.objective == pytest.approx(loss(step), rel=1e-12)
        weights = found.weights
        losses.append(found.objective)
    assert losses == sorted(losses, reverse=True)


@pytest.mark.parametrize("lam", [300.0, 3000.0])
def test_line_search_comes_near_the_optimum_where_pairs_are_many(lam):
    X, offsets, grades = example(n_queries=10, n_docs=60, n_features=12)
    best = solve(X, offsets, grades, uneven, lam, tolerance=1e-7)
    found = solve_by_gradient_descent(X, offsets, grades, uneven, lam)
    assert found.converged
    assert best.dual_objective <= found.objective <= best.objective * 1.001
    assert found.dual_objective <= best.objective
    assert found.gap == pytest.approx((found.objective - found.dual_objective) / found.objective)


@settings(max_examples=examples(40), deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 6), st.sampled_from([0.01, 1.0, 100.0]), st.booleans())
def test_line_search_ends_between_the_optimum_and_its_start(seed, n_grades, lam, weighted):
    X, offsets, grades, mass = small_problem(seed, n_grades, weighted)
    best = solve(X, offsets, grades, uneven, lam, row_weights=mass, tolerance=1e-7)
    found = solve_by_gradient_descent(X, offsets, grades, uneven, lam, row_weights=mass)
    at_zero = solve_by_gradient_descent(X, offsets, grades, uneven, lam, row_weights=mass, step=1e-30)
    assert best.dual_objective * (1 - 1e-9) <= found.objective <= at_zero.objective * (1 + 1e-12)
    assert found.dual_objective <= best.objective * (1 + 1e-9)
    assert found.objective == 0 or found.objective < at_zero.objective or not found.weights.any()


def test_descent_is_deterministic():
    X, offsets, grades = example()
    for step in (None, 1e-6):
        first, second = (solve_by_gradient_descent(X, offsets, grades, uneven, 5.0, step=step) for _ in range(2))
        assert first.weights.tobytes() == second.weights.tobytes()


def test_without_pairs_weights_are_zero():
    for step in (None, 0.1):
        found = solve_by_gradient_descent(np.ones((2, 2)), [0, 1, 2], [0, 1], None, 1.0, step=step)
        assert (found.weights.tolist(), found.objective, found.converged) == ([0, 0], 0, True)


def test_rows_that_do_not_differ_lose_all():
    for step in (None, 0.1):
        found = solve_by_gradient_descent(np.ones((4, 2)), [0, 4], [0, 0, 1, 1], None, 1.0, step=step)
        assert (found.weights.tolist(), found.objective, found.converged) == ([0, 0], 4, True)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"step": 0.0}, "step is 0.0, expected a number above 0"),
        ({"step": math.inf}, "step is inf"),
        ({"tolerance": 0.0}, "tolerance is 0.0"),
        ({"max_iterations": 0}, "max_iterations is 0"),
        ({"lam": -1.0}, "lam is -1.0"),
        ({"X": [[0.0], [math.nan]]}, "row 2, column 1 is nan"),
        ({"row_weights": [1.0, -2.0]}, "row 2: weight is -2.0"),
    ],
)
def test_invalid_arguments_are_refused_by_name(changes, message):
    given = {"X": [[0.0], [1.0]], "offsets": [0, 2], "grades": [1, 0], "cost": None, "lam": 1.0} | changes
    with pytest.raises(SettingError, match=message):
        solve_by_gradient_descent(**given)
