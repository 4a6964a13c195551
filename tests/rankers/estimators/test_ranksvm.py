# mypy: disable-error-code="attr-defined"
"""Ranking SVMs: the optimum of the quadratic programme, a true gap, the factors τ and μ, and paths of C."""

import math
from collections.abc import Callable
from functools import partial
from itertools import pairwise

import cvxopt
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from searchlab.errors import SettingError
from searchlab.rankers.estimators.ranksvm import (
    DEFAULT_STRENGTH,
    STRENGTHS,
    RankSVM,
    RankSVMIR,
)
from searchlab.rankers.solvers.pair_weights import query_factors, rank_factors
from searchlab.rankers.training_data import TrainingData
from tests.hypothesis_profiles import examples

BY_RANK, BY_QUERY = partial(RankSVMIR, mu=False), partial(RankSVMIR, tau=False)
KINDS: dict[str, Callable[..., RankSVM]] = {
    "rsvm": RankSVM,
    "rsvm-ir": RankSVMIR,
    "rsvm-ir-rank": BY_RANK,
    "rsvm-ir-query": BY_QUERY,
}
every_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)


def some_training(seed=1, sizes=(9, 4, 12, 1), n_grades=3, n_features=3, weighted=False):
    random = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    grades = random.integers(0, n_grades, offsets[-1])
    X = random.normal(size=(offsets[-1], n_features)) + 0.5 * grades[:, None]
    weights = random.integers(0, 3, len(X)).astype(float) if weighted else None
    return TrainingData(X, grades.astype(float), offsets, weights)


def explicit_pairs(training, cost):
    """All pairs of the definition: differences of features, and costs."""
    mass = np.ones(len(training.X)) if training.weights is None else training.weights
    differences, costs = [], []
    for query, (begin, end) in enumerate(pairwise(training.offsets.tolist())):
        for i in range(begin, end):
            for j in range(begin, end):
                high, low = training.grades[i], training.grades[j]
                if high > low and mass[i] * mass[j] > 0:
                    differences.append(training.X[i] - training.X[j])
                    costs.append(mass[i] * mass[j] * cost(query, high, low))
    return np.array(differences), np.array(costs)


def costs_of(kind, training, depth=1):
    """c = τ·μ; an ablation has only one of the factors, and RSVM none."""
    tau = rank_factors(training.offsets, training.grades, depth, training.weights)
    mu = query_factors(training.offsets, training.grades, training.weights)
    by_rank, by_query = kind in (RankSVMIR, BY_RANK), kind in (RankSVMIR, BY_QUERY)

    def cost(query, high, low):
        return (tau[high, low] if by_rank else 1.0) * (mu[query] if by_query else 1.0)

    return cost


def objective_of(weights, differences, costs, C):
    return 0.5 * weights @ weights + C * costs @ np.maximum(0, 1 - differences @ weights)


@every_kind
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("C", [0.02, 1.5, None])
def test_objective_and_gap_are_true(kind, weighted, C):
    training = some_training(weighted=weighted)
    fitted = kind(C=C, tolerance=1e-6).fit_data(training)
    differences, costs = explicit_pairs(training, costs_of(kind, training))
    used = fitted.details_["C"]
    assert used == (C if C is not None else pytest.approx(DEFAULT_STRENGTH / costs.sum()))
    objective = objective_of(fitted.model_.weights, differences, costs, used)
    assert fitted.details_["objective"] == pytest.approx(objective, rel=1e-9)
    gap = (fitted.details_["objective"] - fitted.details_["dual_objective"]) / fitted.details_["objective"]
    assert fitted.details_["gap"] == pytest.approx(gap, abs=1e-9)
    assert 0 <= fitted.details_["gap"] <= 1e-6
    assert fitted.details_["converged"]
    # In no direction are there weights better than the gap allows.
    random = np.random.default_rng(2)
    for size in (1e-3, 0.1, 1.0):
        other = fitted.model_.weights + size * random.normal(size=3)
        assert objective_of(other, differences, costs, used) >= objective * (1 - 2e-6)


def solve_dual(differences, costs, C):
    """The optimum by cvxopt: maximise Σα − ½‖Σα·x‖² with 0 ≤ α ≤ C·c (eq. 18–19)."""
    n = len(costs)
    inequalities = cvxopt.matrix(np.vstack([-np.eye(n), np.eye(n)]))
    limits = cvxopt.matrix(np.concatenate([np.zeros(n), C * costs]))
    options = {"show_progress": False, "abstol": 1e-12, "reltol": 1e-11, "feastol": 1e-11, "maxiters": 200}
    Q = cvxopt.matrix(differences @ differences.T)
    found = cvxopt.solvers.qp(Q, cvxopt.matrix(-np.ones(n)), inequalities, limits, options=options)
    return np.array(found["x"]).ravel() @ differences


@settings(max_examples=examples(25))
@given(
    seed=st.integers(0, 2**32 - 1),
    sizes=st.lists(st.integers(1, 8), min_size=1, max_size=4),
    n_grades=st.integers(2, 4),
    C=st.sampled_from([0.05, 0.5, 3.0]),
    kind=st.sampled_from(list(KINDS.values())),
    weighted=st.booleans(),
)
def test_the_weights_are_those_of_the_quadratic_programme(seed, sizes, n_grades, C, kind, weighted):
    training = some_training(seed, tuple(sizes), n_grades, weighted=weighted)
    fitted = kind(C=C, tolerance=1e-9).fit_data(training)
    differences, costs = explicit_pairs(training, costs_of(kind, training))
    if not len(costs):
        assert fitted.model_.weights.tolist() == [0, 0, 0]
        assert fitted.details_["n_pairs"] == 0
        return
    expected = solve_dual(differences, costs, C)
    best = objective_of(expected, differences, costs, C)
    assert fitted.details_["objective"] <= best * (1 + 1e-7)
    # ½‖w − w*‖² ≤ P(w) − P*: two optima are as near as the objectives allow.
    assert 0.5 * np.sum((fitted.model_.weights - expected) ** 2) <= 2e-6 * best + 1e-12


def test_one_pair_worked_by_hand():
    # ½w² + C·max(0, 1 − 2w): the slope w − 2C vanishes at w = 2C, unless the corner w = ½ comes first.
    for C, weight in ((0.1, 0.2), (0.2, 0.4), (5.0, 0.5)):
        fitted = RankSVM(C=C, tolerance=1e-10).fit([[3.0], [1.0]], [1, 0], [7, 7])
        assert fitted.model_.weights.tolist() == pytest.approx([weight], abs=1e-4)
        assert fitted.details_["objective"] == pytest.approx(0.5 * weight**2 + C * (1 - 2 * weight), rel=1e-8)


def test_pairs_are_counted_within_queries():
    # Grades 2, 1, 0 make three pairs; 1, 0, 0 two; and what is in different queries makes none.
    fitted = RankSVM().fit(np.eye(6), [2, 1, 0, 1, 0, 0], [1, 1, 1, 2, 2, 2])
    assert fitted.details_["n_pairs"] == 5
    assert fitted.details_["C"] == 100 / 5
    weighed = RankSVM().fit(np.eye(6), [2, 1, 0, 1, 0, 0], [1, 1, 1, 2, 2, 2], [2, 1, 0, 1, 3, 0])
    assert weighed.details_["n_pairs"] == 2 + 3


def test_factors_of_one_change_nothing():
    # With one relevant document in each query, and the same number of others, τ and μ are 1.
    random = np.random.default_rng(4)
    grades = np.tile([0, 0, 1, 0, 0], 6)
    X = random.normal(size=(30, 3)) + grades[:, None]
    qid = np.repeat(np.arange(6), 5)
    plain = RankSVM(C=0.3, tolerance=1e-9).fit(X, grades, qid)
    for kind in KINDS.values():
        same = kind(C=0.3, tolerance=1e-9).fit(X, grades, qid)
        assert same.model_.weights == pytest.approx(plain.model_.weights, abs=1e-5)
        assert same.details_.get("tau", {"1 over 0": 1.0}) == {"1 over 0": pytest.approx(1.0)}
    # With queries of other sizes the factors have an effect.
    grades[:2] = 1
    other, plain = (kind(C=0.3).fit(X, grades, qid).model_.weights for kind in (RankSVMIR, RankSVM))
    assert np.max(np.abs(other - plain)) > 0.01


@pytest.mark.parametrize("depth", [1, 3])
def test_the_ablations_are_the_two_factors_of_a_pairs_cost(depth):
    training = some_training(7, (10, 6, 14), 4, weighted=True)
    whole, by_rank, by_query = (kind(depth=depth)._cost(training) for kind in (RankSVMIR, BY_RANK, BY_QUERY))
    expected = costs_of(RankSVMIR, training, depth)
    seen = set()
    for query in range(3):
        for high in range(1, 4):
            for low in range(high):
                found = whole(query, high, low)
                assert found == pytest.approx(by_rank(query, high, low) * by_query(query, high, low), rel=1e-12)
                assert found == pytest.approx(expected(query, high, low), rel=1e-12)
                seen.add(round(found, 9))
    assert len(seen) > 9
    assert RankSVM()._cost(training) is None


def test_simulated_factors_are_near_the_exact_ones_and_depend_on_the_seed():
    training = some_training(7, (10, 6, 14), 3)
    exact = RankSVMIR().fit_data(training).details_["tau"]
    assert list(exact) == ["2 over 1", "2 over 0", "1 over 0"]
    drawn = RankSVMIR(draws=4000).fit_data(training).details_["tau"]
    assert drawn == pytest.approx(exact, abs=0.03)
    assert drawn != exact
    assert RankSVMIR(draws=4000).fit_data(training).details_["tau"] == drawn
    assert RankSVMIR(draws=4000, seed=1).fit_data(training).details_["tau"] != drawn
    with pytest.raises(SettingError, match="sample_weight cannot be simulated, expected draws=None"):
        RankSVMIR(draws=10).fit_data(some_training(weighted=True))


@every_kind
@pytest.mark.parametrize("weighted", [False, True])
def test_the_faster_descent_finds_the_same_optimum(kind, weighted):
    training = some_training(9, (20, 15, 30), 3, 5, weighted)
    exact = kind(tolerance=1e-8).fit_data(training).details_
    descended = kind(solver="barzilai-borwein", tolerance=1e-4).fit_data(training).details_
    assert descended["converged"]
    assert descended["gap"] <= 1e-4
    assert descended["objective"] == pytest.approx(exact["objective"], rel=1e-4)
    assert descended["n_iterations"] != exact["n_iterations"]


def test_the_faster_descent_reaches_the_tolerance():
    training = some_training(9, (20, 15, 30), 3, 5)
    limits = (0.1, 1e-3, 1e-6)
    gaps = [RankSVMIR(solver="barzilai-borwein", tolerance=limit).fit_data(training).details_ for limit in limits]
    assert [each["gap"] <= limit for each, limit in zip(gaps, limits, strict=True)] == [True] * 3
    assert gaps[0]["n_iterations"] < gaps[1]["n_iterations"] < gaps[2]["n_iterations"]


@every_kind
def test_a_fixed_step_is_figure_3(kind):
    training = some_training(9, (20, 15, 30), 3, 5)
    differences, costs = explicit_pairs(training, costs_of(kind, training))
    step = 0.01 / costs.sum()
    fitted = kind(C=0.5, solver="gd", step=step, max_iterations=2).fit_data(training)
    # λ = 1/(2C) = 1. From w = 0 every pair is violated.
    first = step * costs @ differences
    violated = differences @ first < 1
    second = first + step * (costs[violated] @ differences[violated] - 2 * first)
    assert fitted.model_.weights == pytest.approx(second, rel=1e-12)
    assert (fitted.details_["n_iterations"], fitted.details_["converged"]) == (2, False)


@every_kind
def test_gradient_descent_by_line_search_comes_near_the_optimum(kind):
    training = some_training(9, (50, 40, 60), 3, 5)
    exact = kind(tolerance=1e-8).fit_data(training).details_
    descended = kind(solver="gd", tolerance=1e-6).fit_data(training).details_
    assert descended["converged"]
    assert exact["objective"] * (1 - 1e-7) <= descended["objective"] <= exact["objective"] * 1.02
    assert descended["dual_objective"] <= exact["objective"]


@every_kind
@pytest.mark.parametrize("weighted", [False, True])
def test_cvxopt_has_the_optimum_and_its_dual_variables(kind, weighted):
    training = some_training(9, (12, 8, 15), 3, 5, weighted)
    exact = kind(C=0.4, tolerance=1e-9).fit_data(training)
    assert (exact.pairs_, exact.dual_coef_, exact.dual_bounds_, exact.support_) == (None,) * 4
    fitted = kind(C=0.4, solver="cvxopt").fit_data(training)
    assert fitted.details_["objective"] == pytest.approx(exact.details_["objective"], rel=1e-6)
    assert fitted.details_["converged"]
    # C_i = τμ/(2λ) = C·τμ, times the weights of both rows.
    _, costs = explicit_pairs(training, costs_of(kind, training))
    assert sorted(fitted.dual_bounds_) == pytest.approx(sorted(0.4 * costs[costs > 0]))
    assert ((fitted.dual_coef_ >= 0) & (fitted.dual_coef_ <= fitted.dual_bounds_)).all()
    assert fitted.details_["n_support_pairs"] == len(fitted.support_) == (fitted.dual_coef_ > 0).sum() > 0
    better, worse = fitted.pairs_[fitted.support_].T
    assert (training.grades[better] > training.grades[worse]).all()
    sums = fitted.dual_coef_[fitted.support_] @ (training.X[better] - training.X[worse])
    assert fitted.model_.weights == pytest.approx(sums, abs=1e-12)
    # Another solver leaves no dual variables of an earlier fit behind.
    assert fitted.set_params(solver="qp").fit_data(training).dual_coef_ is None


def test_support_pairs_are_rows_of_the_table_that_was_given():
    training = some_training(9, (6, 5), 3, 4)
    order = np.random.default_rng(2).permutation(11)
    X, y, qid = training.X[order], training.grades[order], np.repeat([0, 1], [6, 5])[order]
    fitted = RankSVMIR(solver="cvxopt").fit(X, y, qid)
    better, worse = fitted.pairs_.T
    assert (y[better] > y[worse]).all() and (qid[better] == qid[worse]).all()
    assert fitted.model_.weights == pytest.approx(fitted.dual_coef_ @ (X[better] - X[worse]), abs=1e-12)


def test_cvxopt_refuses_many_pairs():
    training = some_training(1, (200,), 3)
    with pytest.raises(SettingError, match=r"pairs, expected at most 3,000 for solver=cvxopt; solver=qp has no such"):
        RankSVM(solver="cvxopt").fit_data(training)


def test_given_factors_are_the_costs_of_pairs():
    training = some_training(7, (10, 6, 14), 3)
    given = {(2, 1): 0.3, (2, 0): 2, (1, 0): 0.0}
    ranker = RankSVMIR(tau=given, mu=False)
    cost = ranker._cost(training)
    assert [cost(0, *pair) for pair in given] == [0.3, 2.0, 0.0]
    mu = query_factors(training.offsets, training.grades)
    assert RankSVMIR(tau=given)._cost(training)(1, 2, 0) == 2 * mu[1]
    fitted = ranker.fit_data(training)
    assert fitted.details_["tau"] == {"2 over 1": 0.3, "2 over 0": 2.0, "1 over 0": 0.0}
    differences, costs = explicit_pairs(training, cost)
    objective = objective_of(fitted.model_.weights, differences, costs, fitted.details_["C"])
    assert fitted.details_["objective"] == pytest.approx(objective)
    words = {"2 over 1": 0.3, "2-0": 2, "1-0": 0}
    assert np.array_equal(RankSVMIR(tau=words, mu=False).fit_data(training).model_.weights, fitted.model_.weights)
    # The factors of the training set, given by hand, are the default; 1 for all is τ left out.
    exact = RankSVMIR().fit_data(training)
    again = RankSVMIR(tau=exact.details_["tau"]).fit_data(training)
    assert np.array_equal(again.model_.weights, exact.model_.weights)
    ones = RankSVMIR(tau=dict.fromkeys(given, 1)).fit_data(training)
    assert np.array_equal(ones.model_.weights, BY_QUERY().fit_data(training).model_.weights)


def test_missing_factors_are_listed():
    training = some_training(7, (10, 6, 14), 3)
    message = "tau has no number for 2 over 0, 1 over 0, expected one for each of 2 over 1, 2 over 0, 1 over 0"
    with pytest.raises(SettingError, match=message):
        RankSVMIR(tau={"2 over 1": 0.3}).fit_data(training)
    # Grades that do not occur do no harm.
    more = RankSVMIR(tau={"9 over 2": 9, "2-1": 1, "2-0": 1, "1-0": 1}).fit_data(training)
    assert more.details_["converged"]


@pytest.mark.parametrize("draws", [None, 50])
def test_factors_are_averaged_over_all_queries_or_those_with_both_grades(draws):
    # One of two queries has a document of grade 2.
    X, y, qid = np.random.default_rng(1).normal(size=(5, 2)), [2, 1, 0, 1, 0], [1, 1, 1, 2, 2]
    every = RankSVMIR(draws=draws).fit(X, y, qid).details_["tau"]
    some = RankSVMIR(draws=draws, tau_queries="with-both").fit(X, y, qid).details_["tau"]
    assert some == pytest.approx({"2 over 1": 2 / 3, "2 over 0": 1, "1 over 0": 1 / 2})
    assert every == pytest.approx({"2 over 1": 1 / 3, "2 over 0": 1 / 2, "1 over 0": 1 / 2})


@every_kind
def test_a_path_equals_single_fits(kind):
    training = some_training(11, (12, 8, 15), 3, 4)
    ranker = kind(tolerance=1e-8)
    values = [0.001, 0.1, 5.0, None, 0.1]
    path = list(ranker.fit_path(training, values))
    assert [each.C for each in path] == values
    assert ranker.C is None
    assert not hasattr(ranker, "model_")
    for value, each in zip(values, path, strict=True):
        alone = kind(C=value, tolerance=1e-8).fit_data(training)
        assert each.details_["C"] == alone.details_["C"]
        assert each.details_["objective"] == pytest.approx(alone.details_["objective"], rel=1e-7)
        assert each.model_.weights == pytest.approx(alone.model_.weights, abs=1e-3)
    assert np.linalg.norm(path[0].model_.weights) < np.linalg.norm(path[2].model_.weights) / 2


@pytest.mark.parametrize("solver", ["gd", "barzilai-borwein", "cvxopt"])
def test_a_path_by_other_solvers_equals_single_fits(solver):
    training = some_training(11, (12, 8, 15), 3, 4)
    ranker = RankSVMIR(solver=solver, tolerance=1e-6)
    path = list(ranker.fit_path(training, [0.01, 1.0]))
    for each in path:
        alone = RankSVMIR(C=each.C, solver=solver, tolerance=1e-6).fit_data(training)
        assert np.array_equal(each.model_.weights, alone.model_.weights)
        assert (each.dual_coef_ is None) == (solver != "cvxopt")
    if solver == "cvxopt":
        assert path[1].dual_bounds_ == pytest.approx(100 * np.array(path[0].dual_bounds_))


def test_a_path_refuses_an_invalid_value_before_it_starts():
    with pytest.raises(SettingError, match=r"C is -1, expected a number above 0"):
        next(RankSVM().fit_path(some_training(), [1.0, -1]))


@every_kind
def test_values_to_try_depend_on_the_total_cost_of_pairs(kind):
    training = some_training(weighted=True)
    _, costs = explicit_pairs(training, costs_of(kind, training))
    assert list(kind().values(training)) == pytest.approx((STRENGTHS / costs.sum()).tolist())
    assert STRENGTHS[0] < DEFAULT_STRENGTH < STRENGTHS[-1]
    alike = TrainingData(training.X, np.ones(len(training.X)), training.offsets)
    assert list(kind().values(alike)) == [1.0]
    assert kind().fit_data(alike).details_["C"] == 1.0


def test_the_default_learns_the_same_from_twice_the_queries():
    random = np.random.default_rng(12)
    grades = random.integers(0, 3, 40)
    X = random.normal(size=(40, 3)) + 0.4 * grades[:, None]
    qid = np.repeat([0, 1], 20)
    once = RankSVMIR(tolerance=1e-9).fit(X, grades, qid)
    twice = RankSVMIR(tolerance=1e-9).fit(np.tile(X, (2, 1)), np.tile(grades, 2), [*qid, *(qid + 2)])
    assert twice.model_.weights == pytest.approx(once.model_.weights, abs=1e-4)
    assert twice.details_["C"] == pytest.approx(once.details_["C"] / 2)


def test_grades_without_a_gain_are_refused_where_gains_matter():
    X, y, qid = np.eye(3), [1, 0, -1], [1, 1, 1]
    assert RankSVM().fit(X, y, qid).details_["n_pairs"] == 3
    with pytest.raises(SettingError, match="grade is -1, expected a number from 0"):
        RankSVMIR().fit(X, y, qid)


# Priors.


def test_with_a_prior_strong_regularisation_leaves_the_order_of_the_prior():
    X, y, qid = prior_example()
    prior = (1.0, 2.0, 0.5)
    ranker = RankSVMIR(C=1e-9, prior=prior).fit(X, y, qid)
    weights = ranker.model_.weights
    assert weights / np.linalg.norm(weights) == pytest.approx(np.array(prior) / np.linalg.norm(prior), abs=1e-3)


def test_the_unit_of_a_prior_does_not_matter():
    X, y, qid = prior_example()
    one, other = (RankSVM(C=0.01, prior=tuple(unit * np.array([2.0, 1.0, 0.5]))).fit(X, y, qid) for unit in (1, 1000))
    assert one.model_.weights == pytest.approx(other.model_.weights, rel=1e-2, abs=1e-3)


def test_a_prior_that_is_wrong_throughout_is_left_out():
    X, y, qid = prior_example()
    away = -RankSVM(C=10.0).fit(X, y, qid).model_.weights
    with_prior = RankSVM(C=0.01, prior=tuple(away)).fit(X, y, qid)
    assert with_prior.model_.weights == pytest.approx(RankSVM(C=0.01).fit(X, y, qid).model_.weights, abs=1e-3)


def test_with_a_prior_every_second_value_is_tried():
    training = TrainingData.of(*prior_example())
    assert RankSVM(prior=(1.0, 0.0, 0.0)).values(training) == RankSVM().values(training)[::2]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"prior": (1.0,)}, "prior has 1 weights, expected one for each of 3 features"),
        ({"prior": (1.0, math.nan, 0.0)}, "prior is malformed, expected a list of finite weights"),
        ({"prior": "builtin"}, "prior is malformed, expected a list of finite weights"),
        ({"prior": (1.0, 0.0, 0.0), "solver": "gd"}, "a prior with solver=gd, expected solver=qp"),
    ],
)
def test_priors_that_do_not_fit_are_refused(settings, message):
    with pytest.raises(SettingError, match=message):
        RankSVM(**settings).fit(*prior_example())


def prior_example(n_queries=8, n_docs=12):
    random = np.random.default_rng(8)
    X = random.normal(size=(n_queries * n_docs, 3))
    y = np.clip(np.rint(X @ [1.0, 0.5, 0.0] + random.normal(size=len(X))), 0, 2)
    return X, y, np.repeat(np.arange(n_queries), n_docs)
