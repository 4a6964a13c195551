"""The linear support vector machine: by hand, and the optimum of the quadratic programme by cvxopt."""

import cvxopt
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from searchlab.rankers.solvers.classification_hinge import solve_classification
from tests.hypothesis_profiles import examples


def objective_of(weights, intercept, X, signs, masses, C):
    return 0.5 * weights @ weights + C * masses @ np.maximum(0, 1 - signs * (X @ weights + intercept))


def primal_optimum(X, signs, masses, C):
    """minimise ½‖w‖² + C·Σ v·ξ with y(w·x + b) ≥ 1 − ξ, ξ ≥ 0, in the variables (w, b, ξ), by cvxopt."""
    n, k = X.shape
    quadratic = np.zeros((k + 1 + n, k + 1 + n))
    quadratic[:k, :k] = np.eye(k)
    linear = np.concatenate([np.zeros(k + 1), C * masses])
    margins = np.hstack([-signs[:, None] * X, -signs[:, None], -np.eye(n)])
    slack = np.hstack([np.zeros((n, k + 1)), -np.eye(n)])
    limits = np.concatenate([-np.ones(n), np.zeros(n)])
    options = {"show_progress": False, "abstol": 1e-12, "reltol": 1e-11, "feastol": 1e-11, "maxiters": 200}
    given = (quadratic, linear, np.vstack([margins, slack]), limits)
    found = np.array(cvxopt.solvers.qp(*map(cvxopt.matrix, given), options=options)["x"]).ravel()
    return objective_of(found[:k], found[k], X, signs, masses, C)


def test_two_points_worked_by_hand():
    # x = 5 and x = 3: the widest margin has w = 1 and b = −4, if C allows: with α the same for both, w = 2α ≤ 2C.
    X, labels = np.array([[5.0], [3.0]]), np.array([True, False])
    weights, intercept, _ = solve_classification(X, labels, np.ones(2), 10.0, 1e-9)
    assert [*weights, intercept] == pytest.approx([1.0, -4.0], abs=1e-4)
    weights, _, solution = solve_classification(X, labels, np.ones(2), 0.25, 1e-9)
    # ½·½² + ¼·(the loss of both together, 2 − ½·2), wherever the intercept between the points is.
    assert weights[0] == pytest.approx(0.5, abs=1e-5)
    assert 0.25 * solution.objective == pytest.approx(1 / 8 + 1 / 4)


@settings(max_examples=examples(30), deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([1e-3, 0.1, 1.0, 30.0]), st.sampled_from([0.0, 40.0]))
def test_the_objective_is_that_of_the_quadratic_programme(seed, C, offset):
    random = np.random.default_rng(seed)
    labels = np.concatenate([[True, False], random.random(20) < 0.3])
    X = random.normal(size=(22, 3)) + offset + labels[:, None]
    masses, signs = random.uniform(0.2, 3, 22), np.where(labels, 1.0, -1.0)
    weights, intercept, solution = solve_classification(X, labels, masses, C, 1e-8)
    found = objective_of(weights, intercept, X, signs, masses, C)
    assert found == pytest.approx(primal_optimum(X - offset, signs, masses, C), rel=1e-6)
    assert C * solution.objective == pytest.approx(found, rel=1e-6)
    assert solution.converged
