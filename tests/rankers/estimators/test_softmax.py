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
    assert SoftmaxRanker(prior=PRIOR).settings_record() == {"C": 0.3, "tolerance": 1e-5}
