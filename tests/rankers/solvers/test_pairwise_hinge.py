"""The pairwise hinge solver: the optimum of the quadratic programme, and a true gap."""

import math
import time
import tracemalloc
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from searchlab.errors import SettingError
from searchlab.rankers.solvers import smoothed_newton
from searchlab.rankers.solvers.pair_weights import count_pairs
from searchlab.rankers.solvers.pairwise_hinge import solve, solve_path
from searchlab.rankers.solvers.pairwise_problem import Bound, curvature, evaluate, make_problem
from tests.hypothesis_profiles import examples


def explicit_pairs(X, offsets, grades, cost, mass=None):
    """All pairs of the definition: differences of features, and costs."""
    mass = np.ones(len(X)) if mass is None else mass
    differences, costs = [np.empty((0, X.shape[1]))], []
    for query, (begin, end) in enumerate(pairwise(offsets)):
        winners, losers = np.nonzero(grades[begin:end, None] > grades[None, begin:end])
        winners, losers = winners + begin, losers + begin
        differences.append(X[winners] - X[losers])
        costs += [
            mass[i] * mass[j] * (1.0 if cost is None else cost(query, grades[i], grades[j]))
            for i, j in zip(winners.tolist(), losers.tolist(), strict=True)
        ]
    return np.concatenate(differences), np.array(costs)


def objective_of(weights, differences, costs, lam, centre=0):
    return lam * np.sum((weights - centre) ** 2) + costs @ np.maximum(0, 1 - differences @ weights)


def reference(differences, costs, lam, centre=None):
    """The optimum of the paper's dual by cvxopt: maximise Σα − ½‖Σα·x‖² with 0 ≤ α ≤ C = c/(2λ) (eq. 18–19).

    A centre changes what each pair still lacks, and is added to the weights.
    """
    import cvxopt

    centre = np.zeros(differences.shape[1]) if centre is None else centre
    lacking = 1 - differences @ centre

    bounds = costs / (2 * lam)
    # In units of the largest bound and of the loss at zero weights: cvxopt's tolerances are meant for numbers near 1.
    unit = bounds.max()
    n = len(bounds)
    Q = unit * differences @ differences.T
    inequalities = cvxopt.matrix(np.vstack([-np.eye(n), np.eye(n)]))
    limits = cvxopt.matrix(np.concatenate([np.zeros(n), bounds / unit]))
    options = {"show_progress": False, "abstol": 1e-13, "reltol": 1e-11, "feastol": 1e-11, "maxiters": 200}
    found = cvxopt.solvers.qp(cvxopt.matrix(Q), cvxopt.matrix(-lacking), inequalities, limits, options=options)
    alphas = np.clip(np.array(found["x"]).ravel() * unit, 0, bounds)
    dual = 2 * lam * (alphas @ lacking - 0.5 * np.sum((alphas @ differences) ** 2))
    return dual, objective_of(centre + alphas @ differences, differences, costs, lam, centre)


@st.composite
def problems(draw):
    seed = draw(st.integers(0, 2**32 - 1))
    random = np.random.default_rng(seed)
    sizes = draw(st.lists(st.integers(0, 9), min_size=1, max_size=4))
    n_grades = draw(st.integers(2, 6))
    n_features = draw(st.integers(1, 6))
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(int)
    grades = random.integers(0, n_grades, offsets[-1])
    if draw(st.booleans()):
        grades[: sizes[0]] = 1
    X = random.normal(size=(offsets[-1], n_features))
    if draw(st.booleans()):
        X = np.round(X)
    if draw(st.booleans()):
        X = np.hstack([X, X[:, :1], np.full((len(X), 1), 3.0)])
    if draw(st.booleans()):
        X += grades[:, None]
    unit = 10.0 ** draw(st.integers(-6, 6))
    varied = (
        10.0 ** random.uniform(-1, 1, size=(len(sizes), 6, 6)) if draw(st.booleans()) else np.ones((len(sizes), 6, 6))
    )
    lam = 10.0 ** draw(st.integers(-2, 2)) * max(unit, 1e-3 if draw(st.booleans()) else unit)
    return X, offsets, grades, lambda query, high, low: unit * varied[query, int(high), int(low)], lam


@settings(max_examples=examples(150), deadline=None)
@given(problems(), st.sampled_from([0, smoothed_newton.MAX_LISTED_SIZE]))
def test_optimum_is_that_of_the_quadratic_programme(problem, listed_size):
    X, offsets, grades, cost, lam = problem
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(smoothed_newton, "MAX_LISTED_SIZE", listed_size)
        found = solve(X, offsets, grades, cost, lam, tolerance=1e-7)
    differences, costs = explicit_pairs(X, offsets, grades, cost)
    if not len(costs):
        assert not found.weights.any()
        assert (found.objective, found.gap, found.converged) == (0, 0, True)
        return
    assert found.converged
    assert found.gap <= 1e-7
    assert found.objective == pytest.approx(objective_of(found.weights, differences, costs, lam), rel=1e-9)
    dual, primal = reference(differences, costs, lam)
    # The optimum lies between both, for either method.
    assert found.dual_objective <= primal * (1 + 1e-9)
    assert dual <= found.objective * (1 + 1e-9)
    assert found.objective == pytest.approx(dual, rel=1e-6)


@settings(max_examples=examples(120), deadline=None)
@given(problems(), st.integers(0, 2**32 - 1), st.sampled_from([0, smoothed_newton.MAX_LISTED_SIZE]))
def test_optimum_around_a_centre_is_that_of_the_quadratic_programme(problem, seed, listed_size):
    X, offsets, grades, cost, lam = problem
    centre = np.random.default_rng(seed).normal(size=X.shape[1])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(smoothed_newton, "MAX_LISTED_SIZE", listed_size)
        found = solve(X, offsets, grades, cost, lam, tolerance=1e-7, centre=centre)
    differences, costs = explicit_pairs(X, offsets, grades, cost)
    if not len(costs):
        assert found.weights == pytest.approx(centre)
        return
    assert found.converged
    assert found.gap <= 1e-7
    assert found.objective == pytest.approx(
        objective_of(found.weights, differences, costs, lam, centre), rel=1e-9, abs=1e-12 * costs.sum()
    )
    dual, primal = reference(differences, costs, lam, centre)
    slack = 1e-9 * costs.sum()
    assert found.dual_objective <= primal * (1 + 1e-9) + slack
    assert dual <= found.objective * (1 + 1e-9) + slack
    assert found.objective == pytest.approx(dual, rel=1e-6, abs=slack)


@pytest.mark.parametrize(
    ("centre", "lam", "expected"),
    [
        (0.0, 2.0, 0.25),  # c/(2λ) from the centre, which is not enough for a margin of 1
        (0.5, 2.0, 0.75),
        (0.5, 0.5, 1.0),  # as far as the margin of 1, and no farther
        (3.0, 0.5, 3.0),  # the centre has the margin
        (-1.0, 2.0, -0.75),
    ],
)
def test_single_pair_moves_the_weight_from_the_centre_towards_its_margin(centre, lam, expected):
    # By hand: minimise λ(w − w₀)² + max(0, 1 − w). The slope is 2λ(w − w₀) − 1 below 1, and 2λ(w − w₀) above.
    found = solve([[1.0], [0.0]], [0, 2], [1, 0], None, lam, centre=[centre], tolerance=1e-9)
    assert found.converged
    assert found.weights[0] == pytest.approx(expected, abs=1e-6)
    loss = lam * (expected - centre) ** 2 + max(0.0, 1 - expected)
    assert found.objective == pytest.approx(loss, abs=1e-8)


def test_gradient_around_a_centre_is_that_of_finite_differences():
    X, offsets, grades = example()
    random = np.random.default_rng(5)
    centre, weights = random.normal(size=X.shape[1]), random.normal(size=X.shape[1])
    problem = make_problem(X, offsets, grades, None, centre=centre)
    point = evaluate(problem, 0.7, weights, 0.5)
    step = 1e-6
    for number in range(X.shape[1]):
        change = np.zeros(X.shape[1])
        change[number] = step
        ahead, behind = (evaluate(problem, 0.7, weights + sign * change, 0.5).smooth for sign in (1, -1))
        assert point.gradient[number] == pytest.approx((ahead - behind) / (2 * step), rel=1e-5, abs=1e-5)


def test_path_around_a_centre_runs_from_the_centre_to_the_solution_without_one():
    X, offsets, grades = example()
    centre = np.random.default_rng(6).normal(size=X.shape[1])
    strong, *_, weak = solve_path(X, offsets, grades, None, np.geomspace(1e9, 1e-4, 14), centre=centre, tolerance=1e-8)
    free = solve(X, offsets, grades, None, 1e-4, tolerance=1e-8)
    assert strong.weights == pytest.approx(centre, abs=1e-5)
    differences, costs = explicit_pairs(X, offsets, grades, None)
    assert objective_of(weak.weights, differences, costs, 0) == pytest.approx(
        objective_of(free.weights, differences, costs, 0), rel=1e-3
    )


def test_centre_of_another_number_of_features_is_refused():
    with pytest.raises(SettingError, match=r"centre has the shape \(2,\), expected 1 finite weights"):
        solve([[1.0], [0.0]], [0, 2], [1, 0], None, 1.0, centre=[1.0, 2.0])


@settings(max_examples=examples(60), deadline=None)
@given(problems(), st.data(), st.sampled_from([0, smoothed_newton.MAX_LISTED_SIZE]))
def test_weight_of_a_row_is_its_number_of_copies(problem, data, listed_size):
    X, offsets, grades, cost, lam = problem
    copies = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(X), max_size=len(X))), dtype=int)
    bounds = np.concatenate([[0], np.cumsum(copies)])[offsets]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(smoothed_newton, "MAX_LISTED_SIZE", listed_size)
        weighed = solve(X, offsets, grades, cost, lam, row_weights=copies, tolerance=1e-8)
    repeated = solve(np.repeat(X, copies, axis=0), bounds, np.repeat(grades, copies), cost, lam, tolerance=1e-8)
    assert weighed.converged
    assert repeated.converged
    assert weighed.objective == pytest.approx(repeated.objective, rel=3e-8)
    assert weighed.dual_objective == pytest.approx(repeated.dual_objective, rel=3e-8)
    # λ‖w − w*‖² ≤ P(w) − P*: weights are as near to each other as their objectives allow.
    distance = lam * np.sum((weighed.weights - repeated.weights) ** 2)
    gaps = weighed.objective - weighed.dual_objective + repeated.objective - repeated.dual_objective
    assert distance <= 2 * gaps + 1e-12 * weighed.objective


@settings(max_examples=examples(60), deadline=None)
@given(problems(), st.integers(0, 2**32 - 1), st.sampled_from([0, smoothed_newton.MAX_LISTED_SIZE]))
def test_optimum_with_weights_of_any_size_is_that_of_the_quadratic_programme(problem, seed, listed_size):
    X, offsets, grades, cost, lam = problem
    mass = 10.0 ** np.random.default_rng(seed).uniform(-2, 1, len(X))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(smoothed_newton, "MAX_LISTED_SIZE", listed_size)
        found = solve(X, offsets, grades, cost, lam, row_weights=mass, tolerance=1e-7)
    differences, costs = explicit_pairs(X, offsets, grades, cost, mass)
    if not len(costs):
        assert not found.weights.any()
        return
    assert found.converged
    assert found.objective == pytest.approx(objective_of(found.weights, differences, costs, lam), rel=1e-9)
    dual, primal = reference(differences, costs, lam)
    assert found.dual_objective <= primal * (1 + 1e-9)
    assert found.objective == pytest.approx(dual, rel=1e-6)


@pytest.mark.parametrize("unit", [1e-40, 1e-3, 1e40])
def test_weights_of_rows_in_other_units_are_another_lambda(unit):
    X, offsets, grades = example()
    plain = solve(X, offsets, grades, None, 5.0, tolerance=1e-9)
    scaled = solve(X, offsets, grades, None, 5.0 * unit**2, row_weights=np.full(len(X), unit), tolerance=1e-9)
    assert scaled.converged
    assert scaled.weights == pytest.approx(plain.weights, rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("smallest", [1e-12, 1e-200])
def test_rows_of_tiny_weight_have_a_tiny_effect(smallest):
    X, offsets, grades = example()
    light = np.random.default_rng(7).random(len(X)) < 0.3
    without = solve(X, offsets, grades, uneven, 5.0, row_weights=np.where(light, 0.0, 1.0), tolerance=1e-9)
    found = solve(X, offsets, grades, uneven, 5.0, row_weights=np.where(light, smallest, 1.0), tolerance=1e-9)
    assert found.converged
    assert found.objective == pytest.approx(without.objective, rel=1e-8)


def test_path_takes_weights_of_rows():
    X, offsets, grades = example()
    mass = np.random.default_rng(8).integers(0, 5, len(X))
    found = [solution.objective for solution in solve_path(X, offsets, grades, None, [9.0, 3.0], row_weights=mass)]
    assert found == pytest.approx(
        [solve(X, offsets, grades, None, lam, row_weights=mass).objective for lam in (9.0, 3.0)], rel=1e-5
    )
    assert found[0] != pytest.approx(solve(X, offsets, grades, None, 9.0).objective, rel=0.01)


def example(n_queries=6, n_docs=30, n_features=8, n_grades=4, seed=1):
    random = np.random.default_rng(seed)
    offsets = np.arange(n_queries + 1) * n_docs
    X = random.normal(size=(n_queries * n_docs, n_features))
    noise = random.normal(size=len(X))
    scores = X @ random.normal(size=n_features) + 2 * noise
    grades = np.clip(np.floor(scores / 2 + n_grades / 2), 0, n_grades - 1).astype(int)
    return X, offsets, grades


def uneven(query, high, low):
    return (1 + query) * (high - low)


@pytest.mark.parametrize("width", [2.0, 0.3, 0.01])
def test_gradient_and_curvature_are_those_of_finite_differences(width):
    problem, lam = unscaled(make_problem(*example(), uneven)), 3.0  # type: ignore[call-arg]
    weights = np.random.default_rng(2).normal(size=8) / 2
    point = evaluate(problem, lam, weights, width)
    for number, unit in enumerate(np.eye(8)):
        ahead, behind = (evaluate(problem, lam, weights + step * unit, width) for step in (1e-6, -1e-6))
        assert point.gradient[number] == pytest.approx((ahead.smooth - behind.smooth) / 2e-6, rel=1e-4, abs=1e-2)
    # Curvature jumps where a pair enters the band: by few pairs if steps are small.
    random = np.random.default_rng(3).normal(size=8)
    ahead, behind = (evaluate(problem, lam, weights + step * random, width) for step in (1e-9, -1e-9))
    expected = (ahead.gradient - behind.gradient) / 2e-9
    assert curvature(problem, lam, point) @ random == pytest.approx(
        expected, rel=1e-3, abs=1e-3 * np.abs(expected).max()
    )


def unscaled(problem):
    """The problem with a unit of 1."""
    return replace(problem, costs=problem.costs * problem.unit, unit=1.0)


# A wide band is summed by differences of suffix sums, a narrow one singly. Without masses, and with masses of all
# sizes.
@pytest.mark.parametrize("width", [8.0, 2.0, 0.3, 0.01])
@pytest.mark.parametrize("weighted", [False, True])
def test_one_sweep_equals_sums_over_explicit_pairs(width, weighted):
    X, offsets, grades = example(1, 700, n_grades=2) if width == 8 else example()
    mass = 10.0 ** np.random.default_rng(5).uniform(-2, 1, len(X)) if weighted else None
    differences, costs = explicit_pairs(X, offsets, grades, uneven, mass)
    weights = np.random.default_rng(2).normal(size=8) / 2
    lack = 1 - differences @ weights
    alphas = costs * np.clip(0.5 + lack / width, 0, 1)
    above = np.clip(lack + width / 2, 0, width)
    rounded = costs * np.where(lack > width / 2, lack, above**2 / (2 * width))
    problem = unscaled(make_problem(X, offsets, grades, uneven, mass))
    assert problem.total_cost == pytest.approx(costs.sum(), rel=1e-12)
    point = evaluate(problem, 3.0, weights, width)
    size = 3.0 * weights @ weights
    pull = alphas @ differences
    band = np.abs(lack) < width / 2
    assert point.objective == pytest.approx(objective_of(weights, differences, costs, 3.0), rel=1e-12)
    assert point.smooth == pytest.approx(size + rounded.sum(), rel=1e-12)
    assert point.gradient == pytest.approx(6.0 * weights - pull, rel=1e-9, abs=1e-9 * np.abs(pull).max())
    assert point.bound.value == pytest.approx(alphas.sum() - pull @ pull / 12, rel=1e-9)
    assert point.band_gap == pytest.approx(costs @ np.maximum(lack, 0) - alphas @ lack, rel=1e-6, abs=1e-6)
    assert point.n_in_band == band.sum()
    expected = 6 * np.eye(8) + (differences[band].T * costs[band] / width) @ differences[band]
    close = {"rel": 1e-9, "abs": 1e-9 * np.abs(expected).max()}
    assert curvature(problem, 3.0, point) == pytest.approx(expected, **close)
    # The curvature of another width is that of the point with that width.
    other = evaluate(problem, 3.0, weights, width / 2, near=point)
    assert curvature(problem, 3.0, point, width / 2) == pytest.approx(curvature(problem, 3.0, other), **close)


@pytest.mark.parametrize("n_sampled", [500, 1000])
def test_sampled_curvature_is_near_the_whole(n_sampled):
    X, offsets, grades = example(n_docs=200)
    problem = unscaled(make_problem(X, offsets, grades, uneven))
    point = evaluate(problem, 3.0, np.full(8, 0.1), 1.0)
    assert point.n_in_band > 5 * len(X)
    whole = curvature(problem, 3.0, point)
    sampled = curvature(problem, 3.0, point, n_sampled=n_sampled)
    shares = np.linalg.eigvals(np.linalg.solve(whole, sampled))
    assert 1e-3 < np.abs(shares - 1).max() < 0.3
    # The sampled pairs represent the others: no direction is lost.
    assert shares.mean() == pytest.approx(1, abs=0.1)


def test_order_of_nearby_scores_does_not_change_the_result():
    X, offsets, grades = example(n_docs=200)
    problem = make_problem(X, offsets, grades, uneven)
    random = np.random.default_rng(6)
    first = evaluate(problem, 1.0, random.normal(size=8), 0.5)
    for move in (0.0, 1e-3, 10.0):
        weights = first.weights + move * random.normal(size=8)
        alone, helped = evaluate(problem, 1.0, weights, 0.5), evaluate(problem, 1.0, weights, 0.5, near=first)
        assert np.array_equal(alone.blocks[0], helped.blocks[0])
        assert np.array_equal(alone.blocks[2], helped.blocks[2])


@given(st.integers(0, 2**32 - 1))
def test_bound_between_two_is_the_best_on_the_line(seed):
    random = np.random.default_rng(seed)
    lam = 10.0 ** random.uniform(-2, 2)
    one, other = (Bound.at(lam, random.uniform(0, 5), random.normal(size=3)) for _ in range(2))
    best = one.joined(lam, other)
    shares = np.linspace(0, 1, 101)
    values = [
        Bound.at(lam, s * other.total + (1 - s) * one.total, s * other.pull + (1 - s) * one.pull).value for s in shares
    ]
    assert best.value >= max(values) - 1e-12 * max(1, abs(max(values)))
    assert best.value == pytest.approx(Bound.at(lam, best.total, best.pull).value, rel=1e-12)
    assert best.value <= max(values) + 0.01 * (abs(one.value) + abs(other.value)) + 1e-12


@pytest.mark.parametrize("tolerance", [1e-2, 1e-5, 1e-8])
@pytest.mark.parametrize("lam", [1e-3, 1.0, 1e3])
def test_gap_is_reached_and_true(lam, tolerance, monkeypatch):
    monkeypatch.setattr(smoothed_newton, "MAX_LISTED_SIZE", 5000)
    X, offsets, grades = example()
    found = solve(X, offsets, grades, uneven, lam, tolerance=tolerance)
    differences, costs = explicit_pairs(X, offsets, grades, uneven)
    best = solve(X, offsets, grades, uneven, lam, tolerance=1e-10).dual_objective
    assert found.converged
    assert found.objective == pytest.approx(objective_of(found.weights, differences, costs, lam), rel=1e-12)
    assert found.gap == pytest.approx((found.objective - found.dual_objective) / found.objective, abs=1e-15)
    assert (found.objective - best) / found.objective <= found.gap + 1e-10
    assert found.dual_objective <= best * (1 + 2e-10)


def test_conditions_of_an_optimum_hold():
    # Karush, Kuhn, Tucker: 2λw is a sum of c·(x_i − x_j) over pairs with margin below 1, and of a share of it over
    # those with margin 1. The shares are found here by bounded least squares.
    from scipy.optimize import lsq_linear

    X, offsets, grades = example()
    found = solve(X, offsets, grades, uneven, 20.0, tolerance=1e-11)
    differences, costs = explicit_pairs(X, offsets, grades, uneven)
    margins = differences @ found.weights
    at_corner = np.abs(margins - 1) < 1e-4
    below = (margins < 1) & ~at_corner
    left = 40.0 * found.weights - costs[below] @ differences[below]
    shares = lsq_linear((differences[at_corner] * costs[at_corner, None]).T, left, bounds=(0, 1))
    assert 0 < at_corner.sum() < 30
    assert np.abs(shares.fun).max() < 1e-3 * np.abs(40.0 * found.weights).max()


def test_worked_by_hand_one_pair():
    # x = 2: λw² + c·max(0, 1 − 2w). With λ = 1, c = 1 the corner w = ½ is best: slope 2λw = 1 ≤ 2c. P = ¼.
    found = solve([[2.0], [0.0]], [0, 2], [1, 0], None, 1.0, tolerance=1e-9)
    assert found.weights == pytest.approx([0.5], abs=1e-6)
    assert found.objective == pytest.approx(0.25, rel=1e-8)
    # With c = ¼ the slope 2c = ½ is met at w = ¼: P = 1/16 + ¼·½.
    found = solve([[2.0], [0.0]], [0, 2], [1, 0], lambda *_: 0.25, 1.0, tolerance=1e-9)
    assert found.weights == pytest.approx([0.25], abs=1e-6)
    assert found.objective == pytest.approx(3 / 16, rel=1e-8)


def test_costs_of_one_are_the_default():
    X, offsets, grades = example()
    plain, priced = solve(X, offsets, grades, None, 1.0), solve(X, offsets, grades, lambda *_: 1.0, 1.0)
    assert np.array_equal(plain.weights, priced.weights)


def test_problem_in_other_units_has_the_same_weights():
    X, offsets, grades = example()
    one = solve(X, offsets, grades, lambda *_: 1.0, 1.0, tolerance=1e-9)
    for unit in (1e-12, 1e12):
        other = solve(X, offsets, grades, lambda *_, unit=unit: unit, unit, tolerance=1e-9)
        assert other.converged
        assert other.objective == pytest.approx(one.objective * unit, rel=1e-8)


def test_pairs_without_cost_do_not_count():
    X, offsets, grades = example()
    kept = grades != 1
    sizes = [kept[begin:end].sum() for begin, end in pairwise(offsets)]
    without = solve(X[kept], np.concatenate([[0], np.cumsum(sizes)]), grades[kept], None, 1.0, tolerance=1e-9)
    free = solve(X, offsets, grades, lambda _, high, low: float(1 not in (high, low)), 1.0, tolerance=1e-9)
    assert free.objective == pytest.approx(without.objective, rel=1e-8)


@pytest.mark.parametrize(
    ("offsets", "grades"), [([0, 3], [1, 1, 1]), ([0, 1, 2, 3], [0, 1, 2]), ([0, 0, 3, 3], [5, 5, 5])]
)
def test_without_pairs_weights_are_zero(offsets, grades):
    found = solve(np.ones((3, 2)), offsets, grades, None, 1.0)
    assert not found.weights.any()
    assert found.converged


def test_no_rows_give_zero_weights():
    found = solve(np.empty((0, 4)), [0], [], None, 1.0)
    assert found.weights.tolist() == [0, 0, 0, 0]


def test_rows_that_do_not_differ_lose_all():
    found = solve(np.ones((4, 2)), [0, 4], [0, 0, 1, 1], None, 1.0)
    assert not found.weights.any()
    assert found.objective == pytest.approx(4)


def test_solver_is_deterministic_and_leaves_its_input_alone():
    X, offsets, grades = example()
    before = X.copy()
    first, second = (solve(X, offsets, grades, uneven, 1.0) for _ in range(2))
    assert first.weights.tobytes() == second.weights.tobytes()
    assert np.array_equal(X, before)


def test_start_near_the_optimum_saves_steps():
    X, offsets, grades = example(n_docs=200)
    cold = solve(X, offsets, grades, None, 10.0)
    warm = solve(X, offsets, grades, None, 10.0, start=solve(X, offsets, grades, None, 12.0).weights)
    assert warm.converged
    assert warm.objective == pytest.approx(cold.objective, rel=1e-5)
    assert warm.n_iterations < cold.n_iterations


def test_path_equals_single_fits():
    X, offsets, grades = example(n_docs=100)
    lams = [100.0, 30.0, 10.0]
    path = list(solve_path(X, offsets, grades, uneven, lams))
    assert all(solution.converged for solution in path)
    singles = [solve(X, offsets, grades, uneven, lam).objective for lam in lams]
    assert [solution.objective for solution in path] == pytest.approx(singles, rel=1e-5)
    with pytest.raises(SettingError, match="lam is -1"):
        list(solve_path(X, offsets, grades, uneven, [1.0, -1.0]))


@pytest.mark.parametrize("lam", [1e-8, 1e8])
def test_features_of_very_different_sizes_and_repeated_ones_are_solved(lam):
    X, offsets, grades = example()
    X = np.hstack([X * 10.0 ** np.arange(-3, 5), X[:, :2], X[:, :1]])
    assert solve(X, offsets, grades, None, lam).converged


def test_one_query_with_ten_thousand_documents_needs_no_memory_for_its_pairs():
    X, offsets, grades = example(n_queries=1, n_docs=10_000, n_features=20, n_grades=5)
    solve(X[:100], [0, 100], grades[:100], None, 1.0)
    n_pairs = sum(count_pairs(offsets, grades)[0].values())
    assert n_pairs > 2e7
    tracemalloc.start()
    begin = time.perf_counter()
    found = solve(X, offsets, grades, None, 1000.0)
    seconds = time.perf_counter() - begin
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.converged
    assert peak < 100e6
    assert seconds < 60


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"X": [[0.0, 1.0], [math.nan, 2.0]]}, "row 2, column 1 is nan, expected a finite number"),
        ({"X": [[0.0, math.inf], [1.0, 2.0]]}, "row 1, column 2 is inf, expected a finite number"),
        ({"X": [[0.0, 1.0], [1.0, -1e308]]}, "row 2, column 2 is -1e[+]308, expected .* at most 1e[+]100 in size"),
        ({"cost": lambda *_: 1e200}, "lam is 1.0 and the largest cost 1e[+]200"),
        ({"grades": [1, math.nan]}, "row 2: grade is nan"),
        ({"grades": [1]}, "expected a grade for each row"),
        ({"offsets": [0, 1]}, "offsets do not rise from 0 to 2"),
        ({"lam": 0.0}, "lam is 0.0, expected a number above 0"),
        ({"lam": math.nan}, "lam is nan"),
        ({"cost": lambda *_: math.nan}, "query 1: cost of grades 1 and 0 is nan"),
        ({"cost": lambda *_: -1.0}, "query 1: cost of grades 1 and 0 is -1.0"),
        ({"tolerance": 0.0}, "tolerance is 0.0"),
        ({"row_weights": [1.0]}, "expected a weight for each of 2 rows"),
        ({"row_weights": [1.0, -1.0]}, "row 2: weight is -1.0, expected a number from 0"),
        ({"row_weights": [math.nan, 1.0]}, "row 1: weight is nan"),
        ({"row_weights": [1.0, math.inf]}, "row 2: weight is inf"),
        ({"row_weights": [1e-200, 1e-200]}, "expected numbers that can be compared"),
        ({"start": [1.0]}, "expected 2 finite weights"),
    ],
)
def test_invalid_arguments_are_refused_by_name(changes, message):
    given = {"X": [[0.0, 1.0], [1.0, 2.0]], "offsets": [0, 2], "grades": [1, 0], "cost": None, "lam": 1.0} | changes
    with pytest.raises(SettingError, match=message):
        solve(**given)
