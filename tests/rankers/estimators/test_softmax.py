"""The softmax ranker: what its settings do, and how it starts from a prior."""

import numpy as np
import pytest

from searchlab.errors import SettingError
from searchlab.rankers.estimators.softmax import SoftmaxRanker
from searchlab.rankers.models.linear_model import LinearModel
from searchlab.rankers.solvers.softmax_loss import SoftmaxProblem

RANDOM = np.random.default_rng(5)
QID = np.repeat(np.arange(8), 12)
Y = RANDOM.integers(0, 3, 96)
X = RANDOM.normal(size=(96, 3)) + Y[:, None] * [0.8, 0.2, 0.0]
PRIOR = (1.0, 2.0, 0.5)


def weights_of(ranker):
    """The weights that a ranker learns."""
    model = ranker.fit(X, Y, QID).model_
    assert isinstance(model, LinearModel)
    return model.weights


def test_weights_are_a_minimum_of_what_is_documented():
    fitted = SoftmaxRanker(C=0.7, tolerance=1e-10)
    weights = weights_of(fitted)
    assert fitted.details_["converged"]
    assert fitted.details_["gap"] <= 1e-10
    problem = SoftmaxProblem.of(X, np.arange(0, 97, 12), Y.astype(float))

    def objective(weights):
        return 0.5 * float(weights @ weights) + 0.7 * problem.evaluate(weights)[0]

    lowest = fitted.details_["objective"]
    assert lowest == pytest.approx(objective(weights))
    assert all(objective(weights + step) > lowest for step in RANDOM.normal(scale=0.05, size=(20, 3)))


def test_smaller_C_keeps_weights_smaller():
    sizes = [float(np.linalg.norm(weights_of(SoftmaxRanker(C=C)))) for C in (0.001, 0.1, 10)]
    assert sizes == sorted(sizes)
    assert sizes[0] < sizes[2] / 10


def test_with_little_C_a_prior_decides_and_with_much_the_rows():
    near = weights_of(SoftmaxRanker(C=1e-9, prior=PRIOR))
    assert near / near[0] == pytest.approx(PRIOR, rel=1e-4)
    far = weights_of(SoftmaxRanker(C=1e4, prior=PRIOR, tolerance=1e-9))
    assert far == pytest.approx(weights_of(SoftmaxRanker(C=1e4, tolerance=1e-9)), abs=1e-2)


@pytest.mark.parametrize("unit", [1e-3, 1000.0])
def test_the_unit_of_a_prior_does_not_matter(unit):
    expected = weights_of(SoftmaxRanker(prior=PRIOR, tolerance=1e-9))
    found = weights_of(SoftmaxRanker(prior=tuple(unit * weight for weight in PRIOR), tolerance=1e-9))
    assert found == pytest.approx(expected, rel=1e-3)


def test_a_prior_that_ranks_backwards_is_left_out():
    expected = weights_of(SoftmaxRanker(tolerance=1e-9))
    assert weights_of(SoftmaxRanker(prior=(-1.0, 0.0, 0.0), tolerance=1e-9)) == pytest.approx(expected, abs=1e-3)


def test_a_prior_of_zeros_is_no_prior():
    assert np.array_equal(weights_of(SoftmaxRanker(prior=(0.0, 0.0, 0.0))), weights_of(SoftmaxRanker()))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"C": 0}, "C is 0, expected a number above 0"),
        ({"tolerance": -1}, "tolerance is -1, expected a number above 0"),
        ({"prior": "many"}, "prior is malformed, expected a list of finite weights, one for each feature"),
        ({"prior": (1.0, 2.0)}, "prior has 2 weights, expected one for each of 3 features"),
    ],
)
def test_wrong_settings_are_refused(settings, message):
    with pytest.raises(SettingError, match=message):
        SoftmaxRanker(**settings).fit(X, Y, QID)


def test_a_ranker_with_a_prior_takes_no_other_and_records_none():
    assert SoftmaxRanker().takes_prior
    assert not SoftmaxRanker(prior=PRIOR).takes_prior
    assert SoftmaxRanker(C=0.3, prior=PRIOR).settings_record() == {"C": 0.3, "tolerance": 1e-5}


def queries_of_two(n, signs):
    """n queries of a relevant and another document, which one feature tells apart, or where the sign is −1 inverts."""
    X = np.tile([[1.0], [0.0]], (n, 1)) * np.repeat(signs, 2)[:, None]
    return X, np.tile([1, 0], n), np.repeat(np.arange(n), 2)


def test_where_held_out_queries_are_much_better_with_more_C_it_is_chosen():
    # The loss of a query is ln(1 + exp(−w)) by any part, and w grows with C: each query gains the same, so p is 0.
    X, y, qid = queries_of_two(8, np.ones(8))
    fitted = SoftmaxRanker(tolerance=1e-9).fit(X, y, qid)
    assert fitted.details_["C"] == 10
    # Without a part there are six queries left: w = C · 6 / (1 + exp(w)).
    losses = fitted.details_["held_out_losses"]
    for C, loss in zip((0.1, 0.3, 1, 3, 10), losses, strict=True):
        weight = -np.log(np.expm1(loss))
        assert weight == pytest.approx(C * 6 / (1 + np.exp(weight)), rel=1e-3)
    given = SoftmaxRanker(C=10, tolerance=1e-9).fit(X, y, qid)
    assert np.array_equal(fitted.predict(X), given.predict(X))


def test_where_other_values_are_not_shown_to_be_better_the_usual_C_is_kept():
    # Five of eight queries are ranked well by the feature, three badly: whatever C gains is far from certain.
    X, y, qid = queries_of_two(8, np.array([1, 1, -1, 1, -1, 1, 1, -1]))
    fitted = SoftmaxRanker().fit(X, y, qid)
    assert fitted.details_["C"] == 0.3
    assert min(fitted.details_["held_out_losses"]) < fitted.details_["held_out_losses"][1]


def test_a_single_query_cannot_be_held_out_and_a_given_C_is_not_chosen():
    X, y, qid = queries_of_two(1, np.ones(1))
    single, given = SoftmaxRanker().fit(X, y, qid), SoftmaxRanker(C=2).fit(X, y, qid)
    assert (single.details_["C"], single.details_["held_out_losses"]) == (0.3, [])
    assert (given.details_["C"], given.details_["held_out_losses"]) == (2, [])
