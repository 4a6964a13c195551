# mypy: disable-error-code="attr-defined"
"""RankBoost: rules and losses against explicit pairs, thresholds, and numerical range."""

import math
from itertools import chain, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from searchlab.errors import SettingError
from searchlab.rankers.estimators.rankboost import RankBoost, cut_features
from searchlab.rankers.solvers.exponential_loss import GradedRows, pair_potentials
from searchlab.rankers.training_data import TrainingData
from tests.hypothesis_profiles import examples

NOTHING = TrainingData.of(np.zeros((0, 1)), [], [])


def list_pairs(training):
    """All (better, worse) rows of each query."""
    pairs = []
    for begin, end in pairwise(training.offsets.tolist()):
        rows = range(begin, end)
        pairs.append([(i, j) for i in rows for j in rows if training.grades[i] > training.grades[j]])
    return pairs


def boost_slowly(training, rounds, weighing):
    """RankBoost as printed, D over explicit pairs: its rules, the loss before each round and after all, and |r|."""
    weights = np.ones(len(training.X)) if training.weights is None else training.weights
    pairs, masses = [], []
    for own in list_pairs(training):
        mass = [weights[i] * weights[j] for i, j in own]
        masses += [m / (sum(mass) if weighing == "query" else 1.0) for m in mass if m > 0]
        pairs += [pair for pair, m in zip(own, mass, strict=True) if m > 0]
    masses = np.array(masses) / np.sum(masses)
    used = sorted({row for pair in pairs for row in pair})
    f = np.zeros(len(training.X))
    rules, losses, gains = [], [], []
    for _ in range(rounds):
        D = masses * np.exp([f[j] - f[i] for i, j in pairs])
        losses.append(D.sum())
        D = D / D.sum()
        best = None
        for k in range(training.X.shape[1]):
            values = np.unique(training.X[used, k])
            for threshold in (values[:-1] + values[1:]) / 2:
                h = (training.X[:, k] > threshold) * 1.0
                r = sum(d * (h[i] - h[j]) for d, (i, j) in zip(D, pairs, strict=True))
                if best is None or abs(r) > abs(best[0]) + 1e-12:
                    best = (r, k, threshold, h)
        r, k, threshold, h = best  # type: ignore[misc]
        alpha = 0.5 * math.log((1 + r) / (1 - r))
        f += alpha * h
        rules.append((k, threshold, alpha))
        gains.append(abs(r))
    D = masses * np.exp([f[j] - f[i] for i, j in pairs])
    return rules, [*losses, D.sum()], gains


def some_training(seed=3, n_grades=3, n_rows=24, weighted=False):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n_rows, 3)).round(2)
    grades = random.integers(0, n_grades, n_rows)
    X[:, 0] += 0.7 * grades
    qid = np.sort(random.integers(0, 4, n_rows))
    return TrainingData.of(X, grades, qid, random.integers(0, 4, n_rows) if weighted else None)


@pytest.mark.parametrize("weighing", ["pair", "query"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_grades", [2, 5])
def test_rules_and_losses_are_those_of_explicit_pairs(weighing, weighted, n_grades):
    training = some_training(n_grades=n_grades, weighted=weighted)
    rules, losses, gains = boost_slowly(training, 6, weighing)
    (found,) = RankBoost(weighing=weighing).fit_path(training, [6])
    model = found.model_
    assert model.features.tolist() == [k for k, _, _ in rules]
    assert model.thresholds.tolist() == pytest.approx([threshold for _, threshold, _ in rules])
    assert model.weights.tolist() == pytest.approx([alpha for _, _, alpha in rules])
    assert found.details_["losses"] == pytest.approx(losses)
    # Theorem 1 with the third method: each round multiplies the loss by √(1 − r²) at most.
    for before, after, gain in zip(losses, losses[1:], gains, strict=False):
        assert after <= before * math.sqrt(1 - gain**2) + 1e-12


def test_first_rule_worked_by_hand():
    # Pairs (0, 1), (0, 2), each D = ½. x > 1.5 holds for rows 0 and 2 (values 3, 1, 2): r = ½; x > 2.5: r = 1, capped.
    ranker = RankBoost(rounds=1).fit([[3], [1], [2]], [1, 0, 0], [7, 7, 7])
    assert ranker.model_.thresholds.tolist() == [2.5]
    assert ranker.model_.weights.tolist() == pytest.approx([0.5 * math.log((2 - 1e-6) / 1e-6)])
    # Of four pairs, x > 1.5 orders the two with the row of value 1, and the others not at all: r = ½.
    ranker = RankBoost(rounds=1).fit([[2], [2], [1], [2]], [1, 1, 0, 0], [0, 0, 0, 0])
    assert ranker.model_.weights.tolist() == pytest.approx([0.5 * math.log(1.5 / 0.5)])


def test_a_rule_may_prefer_smaller_values():
    ranker = RankBoost(rounds=5).fit([[1.0], [2.0], [3.0], [0.0]], [1, 0, 0, 0], [0, 0, 0, 1])
    assert ranker.model_.weights[0] < 0
    scores = ranker.predict([[1.0], [2.0], [3.0]])
    assert scores[0] > max(scores[1], scores[2])


def test_a_path_has_the_first_rounds_of_one_run():
    training = some_training(n_rows=60)
    whole = RankBoost(rounds=20).fit(training.X, training.grades, np.repeat(np.arange(4), np.diff(training.offsets)))
    path = list(RankBoost(rounds=20).fit_path(training, [3, 20, 1]))
    assert [ranker.rounds for ranker in path] == [3, 20, 1]
    for ranker in path:
        assert ranker.model_.weights.tolist() == whole.model_.weights[: ranker.rounds].tolist()
        assert ranker.details_["losses"] == whole.details_["losses"][: ranker.rounds + 1]
        alone = clone(ranker)._learn(training)[0]
        assert np.array_equal(alone.score(training.X, training.offsets), ranker.predict(training.X))


def test_a_row_of_weight_two_counts_as_if_it_occurred_twice():
    random = np.random.default_rng(5)
    X, y, qid = random.normal(size=(30, 4)), random.integers(0, 3, 30), random.integers(0, 3, 30)
    times = random.integers(0, 3, 30)
    weighted = RankBoost(rounds=8).fit(X, y, qid, sample_weight=times)
    repeated = RankBoost(rounds=8).fit(np.repeat(X, times, 0), np.repeat(y, times), np.repeat(qid, times))
    assert weighted.model_.features.tolist() == repeated.model_.features.tolist()
    assert weighted.model_.weights == pytest.approx(repeated.model_.weights)
    assert weighted.details_["n_pairs"] == pytest.approx(repeated.details_["n_pairs"])


graded = st.integers(2, 6).flatmap(
    lambda n_grades: st.lists(
        st.tuples(st.integers(0, n_grades - 1), st.integers(0, 3), st.integers(-2, 2)), min_size=0, max_size=30
    )
)


@given(graded, st.sampled_from(["pair", "query"]), st.sampled_from([1.0, 0.3]), st.sampled_from([None, 1, 2]))
@settings(max_examples=examples(80))
def test_the_loss_falls_in_every_round_whatever_the_shape(rows, weighing, rate, n_thresholds):
    grades = [grade for grade, _, _ in rows]
    # A weak feature, a constant one, and one that determines the grade up to noise.
    X = np.array([[value, 7, grade + value] for grade, _, value in rows], dtype=float).reshape(-1, 3)
    qids = [qid for _, qid, _ in rows]
    ranker = RankBoost(12, n_thresholds, rate, weighing).fit_data(TrainingData.of(X, grades, qids))
    losses = ranker.details_["losses"]
    contrasted = [q for q in set(qids) if len({g for g, own in zip(grades, qids, strict=True) if own == q}) > 1]
    assert ranker.details_["n_queries_with_pairs"] == len(contrasted)
    assert all(after < before for before, after in pairwise(losses))
    assert 1 not in ranker.model_.features
    scores = ranker.predict(X)
    assert np.isfinite(scores).all()
    if contrasted:
        training = TrainingData.of(X, grades, qids)
        f = ranker.model_.score(training.X, training.offsets)
        per_query = [[math.exp(f[j] - f[i]) for i, j in own] for own in list_pairs(training) if own]
        counted = [np.mean(own) for own in per_query] if weighing == "query" else list(chain(*per_query))
        expected = np.mean(counted)
        assert ranker.details_["losses"][-1] == pytest.approx(expected)
    else:
        assert losses == [] and not scores.any()


@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 2), st.floats(0.1, 3)), max_size=25),
    st.sampled_from([1, 3, 150, 300, 2000]),
)
def test_potentials_are_sums_over_explicit_pairs(rows, scale):
    training = TrainingData.of(np.zeros((len(rows), 1)), *zip(*rows, strict=True)) if rows else NOTHING
    kept = GradedRows.of(training)
    random = np.random.default_rng(len(rows))
    f = random.normal(scale=scale, size=len(rows))
    logs, slopes = pair_potentials(f[kept.rows], kept.grades, kept.log_weights, kept.offsets)
    expected_logs, expected = [], np.zeros(len(rows))
    for own in list_pairs(training):
        largest = max((f[j] - f[i] for i, j in own), default=0.0)
        terms = {(i, j): training.weights[i] * training.weights[j] * math.exp(f[j] - f[i] - largest) for i, j in own}
        total = sum(terms.values())
        if own:
            expected_logs.append(largest + math.log(total))
        for (i, j), term in terms.items():
            expected[i] += term / total
            expected[j] -= term / total
    assert logs.tolist() == pytest.approx(expected_logs)
    assert slopes.tolist() == pytest.approx(expected[kept.rows].tolist(), abs=1e-12)
    assert set(np.flatnonzero(expected)) <= set(kept.rows.tolist())


def test_potentials_of_huge_scores_neither_overflow_nor_vanish():
    # Pairs: (2, 0), (2, 1), (1, 0) with differences −2000, −3000 and 1000: the second outweighs all.
    logs, slopes = pair_potentials(
        np.array([1000.0, 2000.0, -1000.0]), np.array([0.0, 1.0, 2.0]), np.zeros(3), np.array([0, 3])
    )
    assert logs.tolist() == [3000.0]
    assert slopes.tolist() == [0.0, -1.0, 1.0]
    # One of three pairs is far apart, and does not matter.
    logs, slopes = pair_potentials(
        np.array([0.0, 0.0, 0.0, 1419.0]), np.array([0.0, 1.0, 1.0, 1.0]), np.zeros(4), np.array([0, 4])
    )
    assert logs.tolist() == pytest.approx([math.log(2)])
    assert slopes.tolist() == pytest.approx([-1.0, 0.5, 0.5, 0.0])
    logs, slopes = pair_potentials(np.array([-4000.0, 4000.0]), np.array([0.0, 1.0]), np.zeros(2), np.array([0, 2]))
    assert logs.tolist() == [-8000.0]
    assert slopes.tolist() == [-1.0, 1.0]


def test_what_one_rule_separates_stays_finite_over_many_rounds():
    ranker = RankBoost(rounds=400).fit([[0.0], [1.0], [0.5], [2.0]], [0, 1, 0, 1], [0, 0, 1, 1])
    scores = ranker.predict([[0.0], [1.0]])
    assert np.isfinite(scores).all() and scores[1] - scores[0] > 1000


def test_thresholds_are_between_adjacent_values():
    huge = np.finfo(float).max
    X = np.array([[1.0, 5, -huge, 1.0], [2.0, 5, huge, np.nextafter(1.0, 2)], [4.0, 5, huge / 2, 1.0]])
    thresholds, codes = cut_features(X)
    assert thresholds[0].tolist() == [1.5, 3.0]
    assert thresholds[1].tolist() == []
    assert thresholds[2].tolist() == [-huge / 4, huge * 0.75]
    assert 1.0 <= thresholds[3][0] < X[1, 3]
    assert codes.tolist() == [[0, 1, 2], [0, 0, 0], [0, 2, 1], [0, 1, 0]]


def test_a_limited_number_of_thresholds_splits_rows_into_equal_parts():
    X = np.arange(100.0)[:, None]
    assert cut_features(X, 3)[0][0].tolist() == [24.5, 49.5, 74.5]
    # Half of the rows are 0: the thresholds among them become one.
    X = np.maximum(np.arange(100.0) - 49, 0)[:, None]
    assert cut_features(X, 3)[0][0].tolist() == [0.5, 25.5]
    assert len(cut_features(X, 1000)[0][0]) == 50


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"rounds": 0}, "rounds is 0, expected a whole number from 1"),
        ({"rounds": 2.5}, "rounds is 2.5"),
        ({"n_thresholds": 0}, "n_thresholds is 0"),
        ({"learning_rate": 0}, "learning_rate is 0, expected a number above 0"),
        ({"learning_rate": 1.5}, "learning_rate is 1.5, expected a number above 0 and up to 1"),
        ({"weighing": "grade"}, "weighing is 'grade', expected one of pair, query"),
    ],
)
def test_invalid_settings_are_refused(wrong, message):
    with pytest.raises(SettingError, match=message):
        RankBoost(**wrong).fit([[1.0], [0.0]], [1, 0], [0, 0])


def test_values_rise_to_the_rounds():
    training = some_training()
    assert RankBoost(rounds=40).values(training) == [10, 15, 22, 33, 40]
    assert RankBoost(rounds=4).values(training) == [4]
