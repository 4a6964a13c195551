# mypy: disable-error-code="attr-defined"
"""Ranking SVM on the nearest queries: against a Ranking SVM on those queries alone, for each variant."""

import json
from itertools import pairwise

import numpy as np
import pytest

from searchlab.errors import SettingError
from searchlab.rankers.estimators.knn_ranksvm import KNNRankSVM, count_ordered_pairs
from searchlab.rankers.estimators.ranksvm import RankSVM
from searchlab.rankers.models.model_kinds import model_from_json
from searchlab.rankers.models.neighbourhood_model import mean_features
from searchlab.rankers.training_data import TrainingData

N_QUERIES, SIZE = 9, 12
RANDOM = np.random.default_rng(11)
QID = np.repeat(np.arange(N_QUERIES), SIZE)
Y = RANDOM.integers(0, 3, N_QUERIES * SIZE)
# Queries lie on a line by the last feature, and the useful feature changes along it.
PLACE = QID / N_QUERIES
X = RANDOM.normal(size=(len(Y), 4))
X[:, 0] += Y * (1 - PLACE)
X[:, 1] += Y * PLACE
X[:, 3] = 3 * PLACE
TEST = RANDOM.normal(size=(2 * SIZE, 4))
TEST[:, 3] = np.repeat([0.6, 2.2], SIZE)
TEST_QID = np.repeat([0, 1], SIZE)
SETTINGS = {"reference": 0, "top": 4, "tolerance": 1e-9}


def alone(queries):
    """A Ranking SVM trained on some queries, which has no other settings."""
    kept = np.isin(QID, queries)
    return RankSVM(tolerance=1e-9).fit(X[kept], Y[kept], QID[kept])


def described(rows, sizes):
    return mean_features(rows, np.concatenate([[0], np.cumsum(sizes)]), 0, 4)


def by_distance(point):
    """All training queries, the nearest first, without the code under test."""
    centres = described(X, [SIZE] * N_QUERIES)
    return sorted(range(N_QUERIES), key=lambda query: (np.linalg.norm(centres[query] - point), query))


@pytest.mark.parametrize("k", [1, 3, 9])
@pytest.mark.parametrize("variant", ["online", "offline-1", "offline-2"])
def test_a_query_is_ranked_by_what_its_neighbourhood_taught(variant, k):
    fitted = KNNRankSVM(k, variant, **SETTINGS).fit(X, Y, QID)
    centres = described(X, [SIZE] * N_QUERIES)
    points = described(TEST, [SIZE, SIZE])
    own = [set(by_distance(centre)[:k]) for centre in centres]
    for query in (0, 1):
        order = by_distance(points[query])
        nearest = set(order[:k])
        chosen = {
            "online": nearest,
            "offline-1": own[max(order, key=lambda each: (len(own[each] & nearest), -order.index(each)))],
            "offline-2": own[order[0]],
        }[variant]
        rows = query == TEST_QID
        expected = alone(sorted(chosen)).predict(TEST[rows])
        assert fitted.predict(TEST, TEST_QID)[rows] == pytest.approx(expected, abs=1e-5)


def test_all_queries_as_neighbours_are_one_ranking_svm_solved_once():
    fitted = KNNRankSVM(100, **SETTINGS).fit(X, Y, QID)
    plain = RankSVM(tolerance=1e-9).fit(X, Y, QID)
    assert fitted.predict(TEST, TEST_QID) == pytest.approx(plain.predict(TEST), abs=1e-6)
    assert fitted.details_["k"] == N_QUERIES
    assert fitted.details_["n_hyperplanes"] == 1
    assert fitted.details_["n_pairs"] == plain.details_["n_pairs"]
    assert fitted.details_["gap"] <= 1e-9


def test_c_is_that_of_each_ranking_svm():
    fitted = KNNRankSVM(1, "online", C=0.05, **SETTINGS).fit(X, Y, QID)
    (nearest, *_), kept = by_distance(described(TEST[:SIZE], [SIZE])[0]), TEST_QID == 0
    own = np.flatnonzero(nearest == QID)
    expected = RankSVM(0.05, tolerance=1e-9).fit(X[own], Y[own], QID[own]).predict(TEST[kept])
    assert fitted.predict(TEST[kept]) == pytest.approx(expected, abs=1e-5)


def test_queries_without_pairs_are_nobodys_neighbours():
    grades = np.where(QID == 4, 1, Y)
    fitted = KNNRankSVM(1, **SETTINGS).fit(X, grades, QID)
    kept = QID != 4
    without = KNNRankSVM(1, **SETTINGS).fit(X[kept], Y[kept], QID[kept])
    assert fitted.details_["n_queries"] == N_QUERIES - 1
    assert fitted.predict(TEST, TEST_QID) == pytest.approx(without.predict(TEST, TEST_QID), abs=1e-6)


@pytest.mark.parametrize("variant", ["online", "offline-1", "offline-2"])
def test_parts_name_the_neighbourhood_and_add_up(variant):
    model = KNNRankSVM(2, variant, **SETTINGS).fit(X, Y, QID).model_
    assert model.n_features == 4
    offsets = np.array([0, SIZE, 2 * SIZE])
    scores = model.score(TEST, offsets)
    for begin, end in pairwise(offsets.tolist()):
        parts = model.parts(TEST[begin:end], 3)
        assert parts[0].feature is None
        assert "nearest training queries" in parts[0].text
        assert [part.feature for part in parts[1:]] == [0, 1, 2, 3]
        assert sum(part.amount for part in parts) == pytest.approx(scores[begin + 3])


def test_an_offline_model_is_stored_and_an_online_one_refuses():
    offline = KNNRankSVM(2).fit(X, Y, QID).model_
    again = model_from_json(json.loads(json.dumps(offline.to_json())), 4)
    assert np.array_equal(again.score(TEST, np.array([0, len(TEST)])), offline.score(TEST, np.array([0, len(TEST)])))
    online = KNNRankSVM(2, "online").fit(X, Y, QID).model_
    assert online.influences() == []
    with pytest.raises(SettingError, match="cannot be written: expected variant=offline-1 or offline-2"):
        online.to_json()
    with pytest.raises(SettingError, match="online neighbourhoods models cannot be averaged"):
        type(online).average([online, online], [0.5, 0.5])


def test_the_reference_is_the_feature_with_most_pairs_in_order():
    rows = [[0.0, 5.0, 1.0], [1.0, 5.0, 0.0], [2.0, 5.0, 0.0], [7.0, 1.0, 0.0], [7.0, 0.0, 3.0]]
    training = TrainingData.of(rows, [0, 1, 2, 0, 1], ["a", "a", "a", "b", "b"])
    # Pairs: three in a, one in b. The first feature orders three and ties one, the second ties three and orders none.
    assert count_ordered_pairs(training).tolist() == [3.5 / 4, 1.5 / 4, 1.5 / 4]
    fitted = KNNRankSVM(1).fit(rows, [0, 1, 2, 0, 1], ["a", "a", "a", "b", "b"])
    assert fitted.details_["reference"] == 0
    weighted = TrainingData.of(rows, [0, 1, 2, 0, 1], ["a", "a", "a", "b", "b"], [1, 0, 1, 3, 1])
    # Of weight 1 the pair (2, 0) in a, of weight 3 that of b.
    assert count_ordered_pairs(weighted).tolist() == [2.5 / 4, 0.5 / 4, 3 / 4]


def test_values_to_try_are_halves_of_the_queries_with_pairs():
    assert list(KNNRankSVM().values(TrainingData.of(X, Y, QID))) == [9, 4]
    training = TrainingData.of(np.zeros((126, 1)), [0, 1] * 63, np.repeat(np.arange(63), 2))
    assert list(KNNRankSVM().values(training)) == [63, 31, 15, 7, 3]
    assert list(KNNRankSVM().values(TrainingData.of([[1.0]], [1], [1]))) == [1]


def test_rows_without_features_are_refused():
    with pytest.raises(SettingError, match="X has no features, expected at least one to choose a reference from"):
        KNNRankSVM().fit(np.zeros((2, 0)), [0, 1], [0, 0])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"k": 0}, "k is 0, expected a whole number from 1"),
        ({"variant": "offline"}, "unknown variant 'offline'.*there is: offline-1, offline-2, online"),
        ({"C": -1}, "C is -1, expected a number above 0"),
        ({"reference": -1}, "reference is -1, expected a whole number from 0"),
        ({"reference": 4}, "reference is 4, expected a column from 0 to 3"),
        ({"top": 0}, "top is 0"),
        ({"tolerance": 0}, "tolerance is 0"),
    ],
)
def test_invalid_settings_are_refused(wrong, message):
    with pytest.raises(SettingError, match=message):
        KNNRankSVM(**wrong).fit(X, Y, QID)
