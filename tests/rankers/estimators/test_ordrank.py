# mypy: disable-error-code="attr-defined"
"""OrdRank and MHR: votes by hand and by the equations of the papers, hyperplanes as Ranking SVMs."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from searchlab.errors import SettingError
from searchlab.rankers.estimators.ordrank import MHR, OrdRank
from searchlab.rankers.estimators.ranksvm import STRENGTHS, RankSVM
from searchlab.rankers.models.voting_model import VotingModel
from searchlab.rankers.training_data import TrainingData
from tests.hypothesis_profiles import examples

BOTH = pytest.mark.parametrize("kind", [MHR, OrdRank])


def some_training(seed=1, sizes=(10, 7, 13), grades=(0, 1, 2, 4), weighted=False):
    random = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    y = random.choice(grades, offsets[-1])
    X = random.normal(size=(offsets[-1], 3)) + 0.4 * y[:, None]
    weights = random.integers(0, 3, len(X)).astype(float) if weighted else None
    return TrainingData(X, y.astype(float), offsets, weights)


@pytest.mark.parametrize("ties", [0.0, 0.5])
def test_mean_votes_worked_by_hand(ties):
    # Two hyperplanes, x₁ and −x₂, on three documents.
    model = VotingModel(np.array([[1.0, 0.0], [0.0, -1.0]]), ((2.0, 1.0), (1.0, 0.0)), "count", ties)
    X = np.array([[3.0, 5.0], [2.0, 1.0], [1.0, 5.0]])
    # By x₁ they beat 2, 1 and 0 of the 2 others. By −x₂ the second beats both others, which are equal, and beat none:
    # by eq. 3 they have no vote, or else half a vote.
    scores = model.score(X, np.array([0, 3])).tolist()
    assert scores == pytest.approx([(2 + ties) / 4, (1 + 2) / 4, (0 + ties) / 4])
    parts = model.parts(X, 0)
    assert [(part.amount, part.text) for part in parts] == [
        (0.5, "grade 2 against 1: beats 2 of 2 others"),
        (ties / 4, f"grade 1 against 0: beats {ties:g} of 2 others"),
    ]


def test_a_tie_can_change_the_order():
    # By the first hyperplane all but the last are equal; by eq. 3 being above many equals counts for nothing more.
    planes, X = np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0], [0.0, 9.0]])
    printed, shared = (
        VotingModel(planes, ((2.0, 1.0), (1.0, 0.0)), "count", ties).score(X, np.array([0, 4])) for ties in (0.0, 0.5)
    )
    assert printed.tolist() == pytest.approx([1 / 6, 1 / 6, 1 / 6, 3 / 6])
    assert shared.tolist() == pytest.approx([3 / 6, 3 / 6, 3 / 6, 3 / 6])


@BOTH
def test_ties_are_a_setting(kind):
    training = some_training()
    assert kind().fit_data(training).model_.ties == 0
    assert kind(ties=0.5).fit_data(training).model_.ties == 0.5
    for ties in (1, True, "half", None):
        with pytest.raises(SettingError, match=r"ties is .*, expected 0 .no vote for a tie. or 0.5 .half a vote."):
            kind(ties=ties).fit_data(training)


def ordrank_by_equations(planes, X, ties=0.0):
    """Sun et al.: v_ij is 1 if s_i > s_j, and otherwise 0 (eq. 3–4); the mean over hyperplanes and others (eq. 5)."""
    n = len(X)
    votes = np.zeros(n)
    for plane in planes:
        s = X @ plane
        for i in range(n):
            for j in range(n):
                if i != j:
                    votes[i] += 1 if s[i] > s[j] else ties if s[i] == s[j] else 0
    return votes / (len(planes) * max(n - 1, 1))


def borda(planes, X):
    """Qin et al.: each hyperplane ranks the documents; a document has a point for each that is ranked below it."""
    points = np.zeros(len(X))
    for plane in planes:
        points[np.argsort(X @ plane)] += np.arange(len(X))
    return points


@settings(max_examples=examples(60))
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 9), n_planes=st.integers(1, 6))
def test_counted_votes_are_those_of_the_equations_and_have_the_order_of_borda(seed, n, n_planes):
    random = np.random.default_rng(seed)
    planes, X = random.normal(size=(n_planes, 3)), random.normal(size=(n, 3))
    model = VotingModel(planes, ((1.0, 0.0),) * n_planes, "count")
    found = model.score(X, np.array([0, n]))
    assert found.tolist() == pytest.approx(ordrank_by_equations(planes, X).tolist())
    # Points are the same numbers, on another scale.
    assert (n_planes * (n - 1) * found).tolist() == pytest.approx(borda(planes, X).tolist())
    # Rounded numbers have ties.
    rough, whole = np.round(planes), np.round(X)
    for ties in (0.0, 0.5):
        found = VotingModel(rough, ((1.0, 0.0),) * n_planes, "count", ties).score(whole, np.array([0, n]))
        assert found.tolist() == pytest.approx(ordrank_by_equations(rough, whole, ties).tolist())


@settings(max_examples=examples(60))
@given(seed=st.integers(0, 2**32 - 1), sizes=st.lists(st.integers(1, 6), min_size=1, max_size=3))
def test_weighted_votes_are_mean_clipped_margins(seed, sizes):
    random = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    planes, X = random.normal(size=(2, 3)), np.round(random.normal(size=(offsets[-1], 3)), 1)
    expected = np.zeros(len(X))
    for begin, end in pairwise(offsets.tolist()):
        for i in range(begin, end):
            for plane in planes:
                margins = [float(plane @ X[i] - plane @ X[j]) for j in range(begin, end) if j != i]
                expected[i] += sum(min(max(margin, -1.0), 1.0) for margin in margins) / max(len(margins), 1) / 2
    model = VotingModel(planes, ((1.0, 0.0),) * 2, "score")
    assert model.score(X, offsets).tolist() == pytest.approx(expected.tolist(), abs=1e-12)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (MHR, ((4, 2), (4, 1), (4, 0), (2, 1), (2, 0), (1, 0))),
        (OrdRank, ((4, 2), (2, 1), (1, 0))),
    ],
)
def test_there_is_a_hyperplane_for_all_or_for_adjacent_grades(kind, expected):
    fitted = kind().fit_data(some_training())
    assert fitted.model_.grades == expected
    assert fitted.model_.planes.shape == (len(expected), 3)
    assert fitted.details_["n_hyperplanes"] == len(expected)


@BOTH
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("C", [None, 0.05])
def test_each_hyperplane_is_a_ranking_svm_of_two_grades(kind, weighted, C):
    training = some_training(weighted=weighted)
    fitted = kind(C=C, tolerance=1e-9).fit_data(training)
    n_pairs = 0
    for plane, pair in zip(fitted.model_.planes, fitted.model_.grades, strict=True):
        rows = np.isin(training.grades, pair)
        qid = np.repeat(np.arange(3), np.diff(training.offsets))[rows]
        weights = None if training.weights is None else training.weights[rows]
        alone = RankSVM(C=C, tolerance=1e-9).fit(training.X[rows], training.grades[rows], qid, weights)
        assert plane == pytest.approx(alone.model_.weights, abs=1e-4)
        n_pairs += alone.details_["n_pairs"]
    assert fitted.details_["n_pairs"] == n_pairs
    assert fitted.details_["gap"] <= 1e-9
    assert fitted.details_["converged"]
    assert fitted.details_["C"] == C


def test_two_grades_have_one_hyperplane_with_either_method():
    training = some_training(grades=(0, 1))
    ordrank, mhr = OrdRank().fit_data(training), MHR().fit_data(training)
    assert np.array_equal(ordrank.model_.planes, mhr.model_.planes)
    linear = RankSVM().fit_data(training).model_.score(training.X, training.offsets)
    votes = ordrank.model_.score(training.X, training.offsets)
    for begin, end in pairwise(training.offsets.tolist()):
        assert np.argsort(linear[begin:end]).tolist() == np.argsort(votes[begin:end]).tolist()


def test_grades_that_never_meet_in_a_query_have_no_hyperplane():
    X = np.random.default_rng(2).normal(size=(6, 2))
    fitted = MHR().fit(X, [2, 1, 2, 1, 1, 0], [1, 1, 2, 2, 3, 3])
    assert fitted.model_.grades == ((2, 1), (1, 0))
    with pytest.raises(SettingError, match="no two documents of a query have different grades: ordrank has nothing"):
        # 2 and 0 meet, but they are not adjacent: 1 is between them.
        OrdRank().fit(X, [2, 0, 2, 0, 1, 1], [1, 1, 2, 2, 3, 3])


def test_a_grade_without_weight_is_not_between_two_others():
    X, y, qid = np.random.default_rng(2).normal(size=(6, 2)), [2, 1, 0, 2, 1, 0], [1, 1, 1, 2, 2, 2]
    fitted = OrdRank().fit(X, y, qid, sample_weight=[1, 0, 1, 1, 0, 1])
    assert fitted.model_.grades == ((2, 0),)


@BOTH
def test_a_path_equals_single_fits(kind):
    training = some_training()
    values = [0.01, None, 3.0]
    path = list(kind(tolerance=1e-9, votes="score").fit_path(training, values))
    assert [each.C for each in path] == values
    for value, each in zip(values, path, strict=True):
        alone = kind(C=value, votes="score", tolerance=1e-9).fit_data(training)
        assert each.model_.planes == pytest.approx(alone.model_.planes, abs=1e-3)
        assert each.model_.grades == alone.model_.grades
        assert each.model_.votes == "score"
        assert each.details_["C"] == value


@BOTH
def test_values_to_try_depend_on_the_pairs_of_a_hyperplane(kind):
    training = some_training()
    fitted = kind().fit_data(training)
    each = fitted.details_["n_pairs"] / fitted.details_["n_hyperplanes"]
    assert list(kind().values(training)) == pytest.approx((STRENGTHS / each).tolist())
