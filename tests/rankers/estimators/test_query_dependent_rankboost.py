# mypy: disable-error-code="attr-defined"
"""Query-dependent RankBoost: loss and gradients against explicit pairs, query features, and the descent."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from searchlab.errors import SettingError
from searchlab.rankers.estimators.query_dependent_rankboost import (
    QueryDependentRankBoost,
    QueryLoss,
    describe_queries,
    minimise,
    spreads_within,
    standardise,
)
from searchlab.rankers.solvers.exponential_loss import GradedRows
from searchlab.rankers.training_data import TrainingData
from tests.hypothesis_profiles import examples


def some_training(seed=1, n_grades=4, n_rows=50, weighted=False):
    random = np.random.default_rng(seed)
    grades = random.integers(0, n_grades, n_rows)
    X = random.normal(size=(n_rows, 4)) * [1, 10, 0.1, 1] + grades[:, None] * [0.5, 2.0, -0.02, 0]
    qid = random.integers(0, 6, n_rows)
    grades[qid == 5] = 1  # no pairs
    grades[qid == 4] = np.maximum(grades[qid == 4], 1)  # no transactional pairs
    return TrainingData.of(X, grades, qid, random.integers(0, 3, n_rows) if weighted else None)


def loss_by_pairs(training, settings, w, share_weights, loss):
    """L as printed, pair by pair; `loss` gives the scales and the query features."""
    weights = np.ones(len(training.X)) if training.weights is None else training.weights
    f = training.X / loss.scales @ w
    total, place = 0.0, 0
    for begin, end in pairwise(training.offsets.tolist()):
        y = training.grades
        rows = [row for row in range(begin, end) if weights[row] > 0]
        pairs = [(i, j) for i in rows for j in rows if y[i] > y[j]]
        if not pairs:
            continue
        best = max(y[row] for row in rows)
        kinds = [
            pairs,
            [(i, j) for i, j in pairs if y[i] >= settings.relevant > y[j]],
            [(i, j) for i, j in pairs if y[i] == best],
        ]
        logits = [float(own @ loss.query_features[place]) for own in share_weights]
        raised = [math.exp(logit) if own else 0.0 for logit, own in zip(logits, kinds, strict=True)]
        for share, own in zip(raised, kinds, strict=True):
            mass = [weights[i] * weights[j] for i, j in own]
            terms = [m * math.exp(f[j] - f[i]) for m, (i, j) in zip(mass, own, strict=True)]
            if own:
                total += share / sum(raised) * sum(terms) / sum(mass)
        place += 1
    return total / place + settings.decay * (w**2).sum() + settings.share_decay * (share_weights**2).sum()


def finite_differences(function, x, step=1e-6):
    gradient = np.empty_like(x)
    for place in np.ndindex(*x.shape):
        moved = np.zeros_like(x)
        moved[place] = step
        gradient[place] = (function(x + moved)[0] - function(x - moved)[0]) / (2 * step)
    return gradient


@pytest.mark.parametrize("weighted", [False, True])
def test_loss_is_that_of_explicit_pairs_and_gradients_are_its_slopes(weighted):
    training = some_training(weighted=weighted)
    ranker = QueryDependentRankBoost(decay=0.3, share_decay=0.2, top=3)
    loss = QueryLoss.of(training, ranker)
    # Queries without transactional pairs: one by construction, another by rows of weight 0.
    assert np.isneginf(loss.log_counts).sum() == 1 + weighted
    random = np.random.default_rng(2)
    w, share_weights = random.normal(size=4), random.normal(size=(3, 5))
    expected = loss_by_pairs(training, ranker, w, share_weights, loss)
    by_weights, by_shares = loss.by_weights(share_weights), loss.by_shares(w)
    assert by_weights(w)[0] == pytest.approx(expected)
    assert by_shares(share_weights)[0] == pytest.approx(expected)
    assert by_weights(w)[1] == pytest.approx(finite_differences(by_weights, w), rel=1e-5, abs=1e-7)
    assert by_shares(share_weights)[1] == pytest.approx(
        finite_differences(by_shares, share_weights), rel=1e-5, abs=1e-7
    )


def two_grade_training(n_queries=12, seed=4):
    """Queries of two grades with several relevant documents each, in which one feature finds some and one finds all."""
    random = np.random.default_rng(seed)
    grades = np.tile([1] * 6 + [0] * 14, n_queries)
    qid = np.repeat(np.arange(n_queries), 20)
    X = random.normal(size=(len(grades), 3))
    # In even queries the first feature lifts one relevant document far up, in odd ones the second lifts all a little.
    even = qid % 2 == 0
    X[(np.arange(len(grades)) % 20 == 0) & even, 0] += 4.0
    X[(grades == 1) & ~even, 1] += 1.5
    return TrainingData.of(X, grades, qid)


@pytest.mark.parametrize("weighted", [False, True])
def test_gradients_by_positions_are_the_slopes_of_the_loss(weighted):
    training = some_training(n_grades=2 + weighted, n_rows=80, weighted=weighted)
    depths = {"informational_depth": 4, "transactional_depth": 2}
    ranker = QueryDependentRankBoost(decay=0.3, share_decay=0.2, top=3, losses="positions", **depths)
    loss = QueryLoss.of(training, ranker)
    random = np.random.default_rng(2)
    for _ in range(5):
        w, share_weights = random.normal(size=4), random.normal(size=(3, 4))
        by_weights, by_shares = loss.by_weights(share_weights), loss.by_shares(w)
        assert by_weights(w)[0] == pytest.approx(by_shares(share_weights)[0])
        assert by_weights(w)[1] == pytest.approx(finite_differences(by_weights, w), rel=1e-5, abs=1e-7)
        assert by_shares(share_weights)[1] == pytest.approx(
            finite_differences(by_shares, share_weights), rel=1e-5, abs=1e-7
        )


def test_with_two_grades_shares_move_and_categories_differ():
    training = two_grade_training()
    (ranker,) = QueryDependentRankBoost().fit_path(training, [0.01])
    assert ranker.details_["reading"] == "positions"
    assert ranker.details_["warnings"] == []
    assert max(ranker.details_["coinciding"].values()) == 0.0
    # A third each in all queries would be no movement.
    assert ranker.details_["shares"]["informational"] < 0.25
    assert min(ranker.details_["share_spreads"].values()) > 0.05
    (by_grades,) = QueryDependentRankBoost(losses="grades").fit_path(training, [0.01])
    assert by_grades.details_["shares"] == pytest.approx(dict.fromkeys(by_grades.details_["shares"], 1 / 3))
    assert max(by_grades.details_["share_spreads"].values()) < 1e-9
    losses = QueryLoss.of(training, ranker).category_losses(np.array([1.0, 0.5, 0.0]))[0]
    assert (losses[:, 2] < losses[:, 1]).all()
    assert (losses[:, 1] < losses[:, 0]).all()
    (plain,) = QueryDependentRankBoost(categories=False).fit_path(training, [0.01])
    directions = [each.model_.weights / np.linalg.norm(each.model_.weights) for each in (ranker, plain)]
    assert directions[0] @ directions[1] < 0.999


def test_losses_are_by_positions_only_if_no_query_has_three_grades():
    graded, binary = some_training(), two_grade_training()
    for training, expected in ((graded, "grades"), (binary, "positions")):
        (auto,) = QueryDependentRankBoost().fit_path(training, [0.1])
        (given,) = QueryDependentRankBoost(losses=expected).fit_path(training, [0.1])
        (other,) = QueryDependentRankBoost(losses={"grades": "positions"}.get(expected, "grades")).fit_path(
            training, [0.1]
        )
        assert auto.details_["reading"] == expected
        assert np.array_equal(auto.model_.weights, given.model_.weights)
        assert not np.allclose(auto.model_.weights, other.model_.weights, rtol=1e-3)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"losses": "grades"}, "by grades, the losses of all categories coincide in all training queries: "),
        (
            {"transactional_depth": 1},
            "by positions, the losses of transactional and navigational queries coincide in all training queries: ",
        ),
        ({"informational_depth": 1, "transactional_depth": 1}, "by positions, the losses of all categories coincide"),
        ({}, None),
    ],
)
def test_coinciding_categories_are_reported(settings, expected):
    (ranker,) = QueryDependentRankBoost(**settings).fit_path(two_grade_training(), [0.1])
    warnings = ranker.details_["warnings"]
    assert len(warnings) == (expected is not None)
    assert all(text.startswith(expected) for text in warnings)


def test_one_relevant_document_a_query_leaves_one_category():
    X, y, qid = np.arange(8.0)[:, None], [0, 0, 0, 1] * 2, [0] * 4 + [1] * 4
    ranker = QueryDependentRankBoost().fit(X, y, qid)
    assert ranker.details_["reading"] == "positions"
    assert ranker.details_["warnings"] == [
        "by positions, the losses of all categories coincide in all training queries: query categories have no effect"
    ]
    plain = QueryDependentRankBoost(categories=False).fit(X, y, qid)
    assert ranker.model_.weights == pytest.approx(plain.model_.weights, rel=1e-3)


def test_by_positions_a_row_of_weight_two_counts_as_if_it_occurred_twice():
    random = np.random.default_rng(5)
    X, y, qid = random.normal(size=(60, 3)), random.integers(0, 2, 60), random.integers(0, 3, 60)
    times = random.integers(0, 3, 60)
    ranker = QueryDependentRankBoost(top=5, informational_depth=6, transactional_depth=2)
    weighted = clone(ranker).fit(X, y, qid, sample_weight=times)
    repeated = clone(ranker).fit(np.repeat(X, times, 0), np.repeat(y, times), np.repeat(qid, times))
    assert weighted.details_["reading"] == "positions"
    assert weighted.model_.weights == pytest.approx(repeated.model_.weights, rel=1e-4)
    assert weighted.details_["shares"] == pytest.approx(repeated.details_["shares"], rel=1e-4)


def test_query_features_are_variances_over_the_top_documents_by_mean_value():
    X = [[0.0, 2.0], [9.0, 9.0], [4.0, 6.0], [0.0, 0.0], [1.0, 1.0], [3.0, 1.0]]
    training = TrainingData.of(X, [0, 1, 2, 0, 1, 0], ["a"] * 3 + ["b"] * 3)
    rows = GradedRows.of(training)
    # a: of means 1, 9, 5 the rows (9, 9) and (4, 6); b: (1, 1) and (3, 1).
    described = describe_queries(training.X[rows.rows], rows, 2)
    assert described.tolist() == [[6.25, 2.25], [1.0, 0.0]]
    # A `top` above the number of documents takes all.
    described = describe_queries(training.X[rows.rows], rows, 50)
    assert described[1].tolist() == pytest.approx(np.var(X[3:], axis=0).tolist())


def test_standardised_query_features_have_a_constant_and_ignore_what_does_not_vary():
    described = np.array([[1.0, 0.1], [3.0, 0.1]])
    assert standardise(described, constant=True).tolist() == [[-1.0, 0.0, 1.0], [1.0, 0.0, 1.0]]
    assert standardise(described, constant=False).tolist() == [[-1.0, 0.0], [1.0, 0.0]]


def test_spreads_are_those_within_queries():
    training = TrainingData.of([[1.0, 5.0], [3.0, 5.0], [100.0, 5.0], [106.0, 5.0]], [0, 1, 0, 1], [0, 0, 1, 1])
    rows = GradedRows.of(training)
    # Deviations ±1 and ±3 have the mean square 5; a constant is not scaled.
    assert spreads_within(training.X[rows.rows], rows).tolist() == pytest.approx([math.sqrt(5), 1.0])


def test_minimum_of_one_pair_is_where_its_gradient_vanishes():
    # X is divided by its deviation ½, so the difference is 2: min exp(−2w) + λw² where exp(−2w) = λw.
    ranker = QueryDependentRankBoost(decay=0.5, categories=False, tolerance=1e-12).fit([[0.0], [1.0]], [0, 1], [0, 0])
    w = ranker.model_.weights[0] * 0.5
    assert math.exp(-2 * w) == pytest.approx(0.5 * w, rel=1e-5)
    assert ranker.details_["converged"]
    assert ranker.details_["losses"] == pytest.approx([1.0, math.exp(-2 * w) + 0.5 * w**2])


@pytest.mark.parametrize("decay", [10.0, 0.1, 0.001])
@pytest.mark.parametrize("share_decay", [1.0, 0.01])
@pytest.mark.parametrize("reading", ["grades", "positions"])
def test_the_loss_never_rises_and_shares_do_not_collapse(decay, share_decay, reading):
    training = some_training(n_rows=80)
    ranker = QueryDependentRankBoost(share_decay=share_decay, tolerance=1e-8, losses=reading)
    (ranker,) = ranker.fit_path(training, [decay])
    losses = ranker.details_["losses"]
    assert losses[0] == pytest.approx(1.0)
    assert all(after <= before for before, after in pairwise(losses))
    assert losses[-1] < losses[0]
    shares = ranker.details_["shares"]
    assert sum(shares.values()) == pytest.approx(1.0)
    assert min(shares.values()) > 0.02
    assert ranker.details_["converged"]


def test_strongly_penalised_shares_stay_equal_where_all_categories_have_pairs():
    training = some_training()
    ranker = QueryDependentRankBoost(share_decay=1e6)
    (fitted,) = ranker.fit_path(training, [1.0])
    # Five queries have pairs, one of them none that are transactional.
    shares = fitted.details_["shares"]
    assert shares["transactional"] == pytest.approx(4 / 5 / 3, abs=1e-4)
    assert shares["informational"] == pytest.approx((4 / 3 + 1 / 2) / 5, abs=1e-4)


def test_by_grades_two_grades_make_all_categories_one():
    training = some_training(n_grades=2)
    plain, dependent = (
        next(QueryDependentRankBoost(categories=categories, tolerance=1e-10, losses="grades").fit_path(training, [0.1]))
        for categories in (False, True)
    )
    assert dependent.model_.weights == pytest.approx(plain.model_.weights, rel=1e-3)
    assert "shares" not in plain.details_


def test_a_change_of_units_changes_nothing_but_the_weights():
    training = some_training()
    units = np.array([1e-3, 1.0, 1e4, 7.0])
    qid = np.repeat(np.arange(len(training.offsets) - 1), np.diff(training.offsets))
    plain = QueryDependentRankBoost(categories=False).fit(training.X, training.grades, qid)
    other = QueryDependentRankBoost(categories=False).fit(training.X * units, training.grades, qid)
    assert other.model_.weights * units == pytest.approx(plain.model_.weights)


def test_a_row_of_weight_two_counts_as_if_it_occurred_twice():
    random = np.random.default_rng(5)
    X, y, qid = random.normal(size=(40, 3)), random.integers(0, 3, 40), random.integers(0, 3, 40)
    times = random.integers(0, 3, 40)
    weighted = QueryDependentRankBoost(top=5).fit(X, y, qid, sample_weight=times)
    repeated = QueryDependentRankBoost(top=5).fit(np.repeat(X, times, 0), np.repeat(y, times), np.repeat(qid, times))
    assert weighted.model_.weights == pytest.approx(repeated.model_.weights)
    assert weighted.details_["shares"] == pytest.approx(repeated.details_["shares"])


@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3), st.integers(-3, 3)), max_size=20),
    st.booleans(),
)
@settings(max_examples=examples(30))
def test_any_shape_is_learnt_from(rows, categories):
    X = np.array([[value, 3.0, value * grade] for grade, _, value in rows], dtype=float).reshape(-1, 3)
    ranker = QueryDependentRankBoost(categories=categories, decay=0.1)
    ranker.fit_data(TrainingData.of(X, [grade for grade, _, _ in rows], [qid for _, qid, _ in rows]))
    assert np.isfinite(ranker.model_.weights).all()
    assert ranker.model_.weights[1] == pytest.approx(0.0, abs=1e-9)
    losses = ranker.details_["losses"]
    assert all(after <= before for before, after in pairwise(losses))


def test_descent_halves_steps_that_would_diverge():
    seen = []

    def steep(x):
        seen.append(float(x[0]))
        return float(500 * x[0] ** 2), 1000 * x

    found, came_to_rest = minimise(steep, np.array([1.0]), 100, 1e-12)
    assert min(seen) < -100  # the first step was far too long
    assert came_to_rest and abs(found[0]) < 1e-6
    assert minimise(steep, np.array([1.0]), 1, 1e-12)[1] is False


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"decay": 0}, "decay is 0, expected a number above 0"),
        ({"share_decay": -1}, "share_decay is -1"),
        ({"tolerance": math.nan}, "tolerance is nan"),
        ({"top": 1}, "top is 1, expected a whole number from 2"),
        ({"turns": 0}, "turns is 0"),
        ({"losses": "ranks"}, "unknown reading of losses 'ranks'; there is: auto, grades, positions"),
        ({"informational_depth": 0}, "informational_depth is 0, expected a whole number from 1"),
        ({"transactional_depth": 1.5}, "transactional_depth is 1.5, expected a whole number from 1"),
        ({"iterations": 0}, "iterations is 0"),
        ({"categories": 3}, "categories is 3, expected True or False"),
        ({"relevant": "d"}, "relevant is 'd', expected the least grade that is relevant"),
    ],
)
def test_invalid_settings_are_refused(wrong, message):
    with pytest.raises(SettingError, match=message):
        QueryDependentRankBoost(**wrong).fit([[1.0], [0.0]], [1, 0], [0, 0])
