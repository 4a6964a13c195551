"""Baselines: scores by fixed weights and by one feature."""

import numpy as np
import pytest

from searchlab.errors import SettingError
from searchlab.rankers.estimators.baselines import LinearRanker, SingleFeatureRanker
from searchlab.rankers.training_data import TrainingData

X = [[1.0, 5.0, 0.0], [2.0, 3.0, 0.0], [3.0, 4.0, 0.0]]
Y = [0, 1, 0]
QID = [1, 1, 1]


@pytest.mark.parametrize("weights", [[2, -1, 0], (2.0, -1.0, 0.0), np.array([2.0, -1.0, 0.0])])
def test_fixed_weights_are_used_unchanged(weights):
    assert LinearRanker(weights).fit(X, Y, QID).predict(X).tolist() == [-3.0, 1.0, 2.0]


def test_without_weights_features_are_added_up():
    assert LinearRanker().fit(X, Y, QID).predict(X).tolist() == [6.0, 5.0, 7.0]


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, 2], "weights has 2 numbers, expected 3, one for each feature"),
        ("abc", "weights is 'abc', expected a list of finite numbers"),
        ([[1, 2, 3]], "expected a list of finite numbers"),
        ([1, [2], 3], "expected a list of finite numbers"),
        ([1, 2, float("nan")], "expected a list of finite numbers"),
        (3, "weights is 3, expected a list"),
        ([1, 2, 10**400], "expected a list of finite numbers"),
    ],
)
def test_weights_that_do_not_fit_are_refused(weights, message):
    with pytest.raises(SettingError, match=message):
        LinearRanker(weights).fit(X, Y, QID)


def test_one_feature_is_the_score():
    ranker = SingleFeatureRanker(feature=1).fit(X, Y, QID)
    assert ranker.predict(X).tolist() == [5.0, 3.0, 4.0]
    assert ranker.details_ == {"feature": 1}
    assert SingleFeatureRanker(feature=1, sign=-1).fit(X, Y, QID).predict(X).tolist() == [-5.0, -3.0, -4.0]


def test_the_feature_of_the_highest_precision_on_the_training_rows_is_chosen():
    # Row 1 alone is relevant. Descending: feature 0 ranks it second, 1 third; equal scores keep the order: second.
    assert SingleFeatureRanker().fit(X, Y, QID).details_ == {"feature": 0}
    assert SingleFeatureRanker(sign=-1).fit(X, Y, QID).details_ == {"feature": 1}
    # Means over queries: ½·(½ + 1) for feature 0, ½·(⅓ + 1) for 1, ½·(½ + ½) for 2, whose scores are equal.
    two = SingleFeatureRanker().fit([*X, [0.0, 0.0, 0.0], [1.0, 1.0, 0.0]], [*Y, 0, 1], [1, 1, 1, 2, 2])
    assert two.details_ == {"feature": 0}


def test_all_columns_are_tried():
    training = TrainingData.of(X, Y, QID)
    ranker = SingleFeatureRanker()
    assert list(ranker.values(training)) == [0, 1, 2]
    path = list(ranker.fit_path(training, ranker.values(training)))
    assert [each.predict(X).tolist() for each in path] == np.array(X).T.tolist()


@pytest.mark.parametrize(
    ("ranker", "message"),
    [
        (SingleFeatureRanker(feature=3), "feature is 3, expected a column from 0 to 2"),
        (SingleFeatureRanker(feature=-1), "feature is -1, expected a whole number from 0"),
        (SingleFeatureRanker(feature="bm25"), "feature is 'bm25'"),
        (SingleFeatureRanker(sign=0), "sign is 0, expected 1 or -1"),
        (SingleFeatureRanker(sign=True), "sign is True"),
    ],
)
def test_an_invalid_column_is_refused(ranker, message):
    with pytest.raises(SettingError, match=message):
        ranker.fit(X, Y, QID)


def test_a_table_without_columns_or_rows_is_handled():
    with pytest.raises(SettingError, match="X has no features"):
        SingleFeatureRanker().fit(np.zeros((2, 0)), [0, 1], [1, 1])
    assert SingleFeatureRanker().fit_data(TrainingData.of(np.zeros((0, 2)), [], [])).details_ == {"feature": 0}
