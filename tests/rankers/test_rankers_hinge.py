"""Is the solver's answer the optimum, and does it know how near it is?"""

import math
import time
import tracemalloc
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from searchlab.errors import SettingError
from searchlab.rankers import hinge
from searchlab.rankers.hinge import arrange, curvature, evaluate, solve, solve_path
from searchlab.rankers.pairs import count_pairs, query_factors, rank_factors, simulate_rank_factors


def explicit_pairs(X, offsets, grades, cost):
    """Every pair of the definition: differences of features, and costs."""
    differences, costs = [], []
    for query, (begin, end) in enumerate(pairwise(offsets)):
        for i in range(begin, end):
            for j in range(begin, end):
                if grades[i] > grades[j]:
                    differences.append(X[i] - X[j])
                    costs.append(1.0 if cost is None else cost(query, grades[i], grades[j]))
    return np.array(differences).reshape(-1, X.shape[1]), np.array(costs)


def objective_of(weights, differences, costs, lam):
    return lam * weights @ weights + costs @ np.maximum(0, 1 - differences @ weights)


def reference(differences, costs, lam):
    """The optimum of the paper's dual by cvxopt: maximise Σα − ½‖Σα·x‖² with 0 ≤ α ≤ C = c/(2λ) (eq. 18–19)."""
    import cvxopt

    bounds = costs / (2 * lam)
    # In units of the largest bound and of the loss at zero weights: cvxopt's tolerances are meant for numbers near 1.
    unit = bounds.max()
    n = len(bounds)
    Q = unit * differences @ differences.T
    inequalities = cvxopt.matrix(np.vstack([-np.eye(n), np.eye(n)]))
    limits = cvxopt.matrix(np.concatenate([np.zeros(n), bounds / unit]))
    options = {"show_progress": False, "abstol": 1e-13, "reltol": 1e-11, "feastol": 1e-11, "maxiters": 200}
    found = cvxopt.solvers.qp(cvxopt.matrix(Q), cvxopt.matrix(-np.ones(n)), inequalities, limits, options=options)
    alphas = np.clip(np.array(found["x"]).ravel() * unit, 0, bounds)
    dual = 2 * lam * (alphas.sum() - 0.5 * np.sum((alphas @ differences) ** 2))
    return dual, objective_of(alphas @ differences, differences, costs, lam)


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


@settings(max_examples=150, deadline=None)
@given(problems(), st.sampled_from([0, hinge.LISTED_SIZE]))
def test_optimum_is_that_of_the_quadratic_programme(problem, listed_size):
    X, offsets, grades, cost, lam = problem
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hinge, "LISTED_SIZE", listed_size)
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
    problem = arrange(*example(), uneven, 3.0)
    weights = np.random.default_rng(2).normal(size=8) / 2
    point = evaluate(problem, weights, width)
    for number, unit in enumerate(np.eye(8)):
        ahead, behind = (evaluate(problem, weights + step * unit, width) for step in (1e-6, -1e-6))
        assert point.gradient[number] == pytest.approx((ahead.smooth - behind.smooth) / 2e-6, rel=1e-4, abs=1e-2)
    # Curvature jumps where a pair enters the band: by few pairs if steps are small.
    random = np.random.default_rng(3).normal(size=8)
    ahead, behind = (evaluate(problem, weights + step * random, width) for step in (1e-9, -1e-9))
    expected = (ahead.gradient - behind.gradient) / 2e-9
    assert curvature(problem, point) @ random == pytest.approx(expected, rel=1e-3, abs=1e-3 * np.abs(expected).max())


@pytest.mark.parametrize("width", [2.0, 0.3, 0.01])
def test_one_pass_adds_up_what_the_pairs_say(width):
    X, offsets, grades = example()
    differences, costs = explicit_pairs(X, offsets, grades, uneven)
    weights = np.random.default_rng(2).normal(size=8) / 2
    lack = 1 - differences @ weights
    alphas = costs * np.clip(lack / width, 0, 1)
    rounded = costs * np.where(lack > width, lack - width / 2, np.maximum(lack, 0) ** 2 / (2 * width))
    point = evaluate(arrange(X, offsets, grades, uneven, 3.0), weights, width)
    size = 3.0 * weights @ weights
    pull = alphas @ differences
    factor = min(1, alphas.sum() / (2 * pull @ pull / 12))
    assert point.objective == pytest.approx(objective_of(weights, differences, costs, 3.0), rel=1e-12)
    assert point.smooth == pytest.approx(size + rounded.sum(), rel=1e-12)
    assert point.gradient == pytest.approx(6.0 * weights - pull, rel=1e-10, abs=1e-10)
    assert point.dual == pytest.approx(factor * alphas.sum() - factor**2 * pull @ pull / 12, rel=1e-10)
    band = (lack > 0) & (lack < width)
    expected = 6 * np.eye(8) + (differences[band].T * costs[band] / width) @ differences[band]
    assert curvature(arrange(X, offsets, grades, uneven, 3.0), point) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("tolerance", [1e-2, 1e-5, 1e-8])
@pytest.mark.parametrize("lam", [1e-3, 1.0, 1e3])
def test_gap_is_reached_and_true(lam, tolerance, monkeypatch):
    monkeypatch.setattr(hinge, "LISTED_SIZE", 5000)
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


def test_no_rows_no_weights_to_speak_of():
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


def test_path_gives_what_single_fits_give():
    X, offsets, grades = example(n_docs=100)
    lams = [100.0, 30.0, 10.0]
    path = list(solve_path(X, offsets, grades, uneven, lams))
    assert all(solution.converged for solution in path)
    singles = [solve(X, offsets, grades, uneven, lam).objective for lam in lams]
    assert [solution.objective for solution in path] == pytest.approx(singles, rel=1e-5)
    with pytest.raises(SettingError, match="lam is -1"):
        list(solve_path(X, offsets, grades, uneven, [1.0, -1.0]))


@pytest.mark.parametrize("lam", [1e-8, 1e8])
def test_features_of_very_different_sizes_and_repeated_ones_are_no_trouble(lam):
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
        ({"start": [1.0]}, "expected 2 finite weights"),
    ],
)
def test_what_cannot_be_solved_is_refused_by_name(changes, message):
    given = {"X": [[0.0, 1.0], [1.0, 2.0]], "offsets": [0, 2], "grades": [1, 0], "cost": None, "lam": 1.0} | changes
    with pytest.raises(SettingError, match=message):
        solve(**given)


def test_pairs_are_counted_by_query_and_grades():
    assert count_pairs([0, 4, 5, 7], [2, 0, 0, 1, 3, 1, 1]) == [{(2, 1): 1, (2, 0): 2, (1, 0): 2}, {}, {}]


def test_query_factor_is_the_largest_number_of_pairs_by_its_own():
    # 2·2 = 4 pairs, 1 pair, none.
    assert query_factors([0, 4, 6, 8], [1, 1, 0, 0, 1, 0, 1, 1]).tolist() == [1, 4, 1]
    assert query_factors([0, 2], [1, 1]).tolist() == [1]
    assert query_factors([0], []).tolist() == []


def test_rank_factors_worked_by_hand():
    # Query 1: grades 2, 2, 0: the swap touches rank 1 in half of the cases, and then loses all: ½.
    # Query 2: grades 2, 1, 0: from 3 to 1 loses ⅔, from 3 to 0 all; a swap of 1 and 0 does not touch rank 1.
    factors = rank_factors([0, 3, 6], [0, 2, 2, 1, 2, 0])
    assert factors == pytest.approx({(2, 1): 2 / 3, (2, 0): 3 / 4, (1, 0): 0})


@pytest.mark.parametrize("depth", [1, 3, 10])
def test_rank_factors_are_the_expectation_of_their_simulation(depth):
    grades = np.random.default_rng(4).integers(0, 4, 60)
    offsets = [0, 10, 30, 31, 60]
    expected = rank_factors(offsets, grades, depth)
    simulated = simulate_rank_factors(offsets, grades, depth, n_draws=4000, seed=5)
    assert list(simulated) == list(expected)
    assert len(expected) == 6
    assert list(simulated.values()) == pytest.approx(list(expected.values()), abs=0.01)
    assert simulated == simulate_rank_factors(offsets, grades, depth, n_draws=4000, seed=5)


def test_rank_factors_of_high_grades_do_not_overflow():
    assert rank_factors([0, 2], [5000, 0]) == {(5000, 0): 1.0}


@pytest.mark.parametrize("ask", [rank_factors, simulate_rank_factors])
def test_rank_factors_refuse_what_has_no_gain(ask):
    with pytest.raises(SettingError, match="grade is -1, expected a number from 0"):
        ask([0, 2], [1, -1])
    with pytest.raises(SettingError, match="depth is 0"):
        ask([0, 2], [1, 0], 0)
