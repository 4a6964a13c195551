# mypy: disable-error-code="attr-defined"
"""Classifiers: decision values of scikit-learn, class weights, samples, and refused settings."""

import math
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

from searchlab.errors import SettingError
from searchlab.rankers.estimators import classifiers
from searchlab.rankers.estimators.classifiers import Examples, MaxEntClassifier, SVMClassifier
from searchlab.rankers.models.kernel_model import KernelModel
from searchlab.rankers.models.linear_model import LinearModel
from searchlab.rankers.training_data import TrainingData


def some_rows(n_rows=120, seed=3):
    random = np.random.default_rng(seed)
    grades = (random.random(n_rows) < 0.3) * random.integers(1, 3, n_rows)
    X = random.normal(size=(n_rows, 4)) + grades[:, None] * [1.0, 0.5, 0, -0.3]
    return X, grades, np.sort(random.integers(0, 5, n_rows))


@pytest.mark.parametrize("kernel", ["rbf", "poly", "sigmoid"])
def test_scores_of_kernel_machines_are_decision_values(kernel):
    X, y, qid = some_rows()
    ranker = SVMClassifier(kernel=kernel, C=2.0, degree=2, class_weight=None).fit(X, y, qid)
    expected = SVC(C=2.0, kernel=kernel, degree=2, coef0=1.0).fit(X, y > 0)
    assert isinstance(ranker.model_, KernelModel)
    assert ranker.model_.gamma == pytest.approx(1 / (4 * X.var()))
    assert ranker.predict(X) == pytest.approx(expected.decision_function(X), abs=1e-9)
    assert ranker.details_ == {
        "n_relevant": int((y > 0).sum()),
        "n_not_relevant": int((y == 0).sum()),
        "n_rows": 120,
        "n_vectors": len(expected.support_vectors_),
        "converged": True,
    }


@pytest.mark.parametrize("C", [0.01, 0.5, 20.0])
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_the_linear_machine_has_the_hinge_loss_and_a_free_intercept(C, class_weight):
    X, y, qid = some_rows()
    ranker = SVMClassifier(C=C, class_weight=class_weight, tolerance=1e-9).fit(X + 50, y, qid)
    expected = SVC(C=C, kernel="linear", class_weight=class_weight, tol=1e-8).fit(X, y > 0)
    assert isinstance(ranker.model_, LinearModel)
    assert ranker.model_.weights == pytest.approx(expected.coef_[0], abs=1e-3)
    scores = expected.decision_function(X) - expected.intercept_[0]
    assert ranker.predict(X) == pytest.approx(scores, abs=0.01)
    assert ranker.details_["gap"] <= 1e-9 and ranker.details_["converged"]


def test_the_squared_hinge_has_its_own_name():
    X, y, qid = some_rows()
    ranker = SVMClassifier(C=0.5, loss="squared-hinge").fit(X, y, qid)
    # The gradient of ½‖w‖² + C·Σ v·max(0, 1 − y(w·x + b))² vanishes, for w and for the free intercept b.
    weights = Examples.of(TrainingData.of(X, y, qid), 1, "balanced").weights
    w, signs = ranker.model_.weights, np.where(y > 0, 1, -1)

    def slopes(b):
        return weights * signs * np.maximum(0, 1 - signs * (X @ w + b))

    low, high = -5.0, 5.0
    for _ in range(60):
        b = (low + high) / 2
        low, high = (b, high) if slopes(b).sum() > 0 else (low, b)
    assert w == pytest.approx(2 * 0.5 * slopes(b) @ X, abs=1e-3)
    plain = SVMClassifier(C=0.5).fit(X, y, qid)
    assert np.max(np.abs(plain.model_.weights - w)) > 0.01


@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_maximum_entropy_is_logistic_regression(class_weight):
    X, y, qid = some_rows()
    ranker = MaxEntClassifier(C=0.5, class_weight=class_weight).fit(X, y, qid)
    expected = LogisticRegression(C=0.5, class_weight=class_weight, tol=1e-6).fit(X, y > 0)
    assert ranker.predict(X) == pytest.approx(expected.decision_function(X) - expected.intercept_[0], abs=1e-4)
    # The gradient of ½‖w‖² + C·Σ v_i·(−ln P) vanishes.
    weights = Examples.of(TrainingData.of(X, y, qid), 1, class_weight).weights
    w = ranker.model_.weights
    P = 1 / (1 + np.exp(-(X @ w + expected.intercept_[0])))
    assert w + 0.5 * ((P - (y > 0)) * weights) @ X == pytest.approx(np.zeros(4), abs=1e-2)


def test_relevant_is_the_least_grade_that_counts():
    X, y, qid = some_rows()
    strict = MaxEntClassifier(relevant=2).fit(X, y, qid)
    assert strict.details_["n_relevant"] == (y == 2).sum()
    assert np.array_equal(strict.model_.weights, MaxEntClassifier().fit(X, y == 2, qid).model_.weights)


@pytest.mark.parametrize("ranker", [MaxEntClassifier(), SVMClassifier(), SVMClassifier(kernel="rbf")])
def test_a_row_of_weight_two_counts_as_if_it_occurred_twice(ranker):
    X, y, qid = some_rows(60)
    times = np.random.default_rng(1).integers(0, 3, 60)
    weighted = clone(ranker).fit(X, y, qid, sample_weight=times).predict(X)
    repeated = clone(ranker).fit(np.repeat(X, times, 0), np.repeat(y, times), np.repeat(qid, times)).predict(X)
    assert weighted == pytest.approx(repeated, abs=0.01)


def test_balanced_classes_have_equal_weights_and_rows_the_same_mean_weight():
    training = TrainingData.of(np.zeros((4, 1)), [1, 0, 0, 0], [0, 0, 0, 0], [3, 1, 1, 1])
    assert Examples.of(training, 1, None).weights.tolist() == [3, 1, 1, 1]
    training = TrainingData.of(np.zeros((5, 1)), [1, 0, 0, 0, 1], [0, 0, 0, 0, 0], [1, 1, 1, 1, 0])
    assert Examples.of(training, 1, "balanced").weights.tolist() == pytest.approx([2, 2 / 3, 2 / 3, 2 / 3])


def test_kernel_machines_learn_from_a_sample_if_they_are_told_to():
    X, y, qid = some_rows(300)
    for max_rows in (None, 300):
        whole = SVMClassifier(kernel="rbf", max_rows=max_rows).fit(X, y, qid)
        assert whole.details_["n_rows"] == 300
        assert "n_rows_given" not in whole.details_
    ranker = SVMClassifier(kernel="rbf", max_rows=100).fit(X, y, qid)
    assert (ranker.details_["n_rows"], ranker.details_["n_rows_given"]) == (100, 300)
    assert ranker.details_["n_relevant"] + ranker.details_["n_not_relevant"] == 300
    again = SVMClassifier(kernel="rbf", max_rows=100).fit(X, y, qid)
    assert np.array_equal(ranker.predict(X), again.predict(X))
    other = SVMClassifier(kernel="rbf", max_rows=100, seed=1).fit(X, y, qid)
    assert not np.array_equal(ranker.predict(X), other.predict(X))
    # A sample is stratified by class, and has the total weight of all rows.
    examples = Examples.of(TrainingData.of(X, y, qid), 1, None)
    drawn = examples.sampled(100, 0)
    assert drawn.labels.sum() == round(100 * (y > 0).mean())
    assert drawn.weights.sum() == pytest.approx(300)
    assert len({tuple(row) for row in drawn.X}) == 100
    rare = Examples(np.arange(50.0)[:, None], np.arange(50) == 7, np.ones(50)).sampled(10, 0)
    assert rare.labels.sum() == 1


def test_too_few_steps_are_reported_in_the_details(monkeypatch):
    X, y, qid = some_rows()
    monkeypatch.setattr(classifiers, "MAX_ITERATIONS", 1)
    squared, kernel = SVMClassifier(loss="squared-hinge"), SVMClassifier(kernel="rbf", max_iterations=1)
    for ranker in (MaxEntClassifier(), squared, kernel):
        assert ranker.fit(X, y, qid).details_["converged"] is False


def test_other_warnings_are_passed_on():
    class Machine:
        def fit(self, X, y, sample_weight):
            warnings.warn("odd", UserWarning, stacklevel=1)

    examples = Examples(np.zeros((1, 1)), np.array([True]), np.ones(1))
    with pytest.warns(UserWarning, match="odd"):
        assert classifiers._fit(Machine(), examples) is True


@pytest.mark.parametrize("ranker", [MaxEntClassifier(), SVMClassifier()])
def test_one_class_is_not_enough(ranker):
    with pytest.raises(SettingError, match="none of 2 rows have a grade from 1, expected some but not all"):
        ranker.fit([[1.0], [2.0]], [0, 0], [1, 1])
    with pytest.raises(SettingError, match="all of 2 rows have a grade from 1"):
        ranker.fit([[1.0], [2.0], [3.0]], [1, 2, 0], [1, 1, 1], sample_weight=[1, 1, 0])


def test_constant_features_leave_all_scores_equal():
    scores = SVMClassifier(kernel="rbf").fit(np.ones((4, 2)), [0, 1, 0, 1], [0, 0, 1, 1]).predict(np.ones((3, 2)))
    assert np.ptp(scores) == 0 and np.isfinite(scores).all()


@pytest.mark.parametrize(
    ("ranker", "message"),
    [
        (SVMClassifier(kernel="cosine"), "kernel is 'cosine', expected one of linear, poly, rbf, sigmoid"),
        (SVMClassifier(loss="log"), "unknown loss 'log'; there is: hinge, squared-hinge"),
        (SVMClassifier(loss="squared-hinge", kernel="rbf"), "loss is squared-hinge with kernel=rbf, expected hinge"),
        (SVMClassifier(tolerance=0), "tolerance is 0, expected a number above 0"),
        (SVMClassifier(max_iterations=0), "max_iterations is 0, expected a whole number from 1"),
        (SVMClassifier(C=0), "C is 0, expected a number above 0"),
        (SVMClassifier(gamma="auto"), "gamma is 'auto'"),
        (SVMClassifier(gamma=-1.0), "gamma is -1.0"),
        (SVMClassifier(degree=0), "degree is 0"),
        (SVMClassifier(coef0=math.inf), "coef0 is inf, expected a number"),
        (SVMClassifier(max_rows=1), "max_rows is 1, expected a whole number from 2"),
        (SVMClassifier(seed=-1), "seed is -1"),
        (SVMClassifier(class_weight="even"), "class_weight is 'even', expected None or 'balanced'"),
        (MaxEntClassifier(C=math.nan), "C is nan"),
        (MaxEntClassifier(relevant="d"), "relevant is 'd', expected a number"),
    ],
)
def test_invalid_settings_are_refused(ranker, message):
    with pytest.raises(SettingError, match=message):
        ranker.fit([[1.0], [0.0]], [1, 0], [0, 0])


@pytest.mark.parametrize("ranker", [MaxEntClassifier(), SVMClassifier(), SVMClassifier(kernel="poly")])
def test_a_path_equals_single_fits(ranker):
    X, y, qid = some_rows()
    training = TrainingData.of(X, y, qid)
    values = ranker.values(training)
    assert len(values) > 3 and list(values) == sorted(values)
    for value, fitted in zip(values[:2], ranker.fit_path(training, values[:2]), strict=True):
        alone = clone(ranker).set_params(C=value).fit(X, y, qid)
        assert np.array_equal(alone.predict(X), fitted.predict(X))
