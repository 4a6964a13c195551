"""The contract of all rankers: that of scikit-learn's estimators, and refusal of invalid data and settings."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import (
    check_get_params_invariance,
    check_no_attributes_set_in_init,
    check_parameters_default_constructible,
    check_set_params,
)

from searchlab.errors import SettingError
from searchlab.rankers.estimators.base_ranker import require_positive, require_whole
from searchlab.rankers.estimators.ordrank import MHR, OrdRank
from searchlab.rankers.estimators.ranksvm import RankSVM, RankSVMIR
from searchlab.rankers.ranker_registry import RANKERS, make_ranker
from searchlab.rankers.training_data import TrainingData

RANDOM = np.random.default_rng(3)
N = 60
QID = np.repeat(np.arange(6), 10)
Y = RANDOM.integers(0, 3, N)
X = RANDOM.normal(size=(N, 4)) + Y[:, None] * [0.6, 0.3, 0.0, -0.2]
# Rankers that ignore pairs of grades, and rankers that ignore weights.
UNWEIGHTED = {"single"}
VOTING = {"mhr", "mhr-weighted", "ordrank", "ordrank-weighted"}
# Rankers whose score of a row depends on the other rows of its query.
BY_QUERY = VOTING | {"rsvm-knn"}
CLASSIFYING = {"svm", "maxent"}
# Rankers that take undefined values.
NAN_ACCEPTING = {"lambdamart"}
QUICK = {"rankboost": {"rounds": 20}, "lambdamart": {"trees": 20, "min_rows": 2}}

every_ranker = pytest.mark.parametrize("name", RANKERS)


def make(name):
    """A registered ranker, with few rounds of boosting."""
    return make_ranker(name, QUICK.get(name))


def exact(name):
    """A registered ranker with a tolerance so small that equivalent inputs give equal results."""
    ranker = make(name)
    return ranker.set_params(tolerance=1e-9) if "tolerance" in ranker.get_params() else ranker


def scores_of(name, X=X, y=Y, qid=QID, weights=None, shown=None):
    rows, queries = (X, qid) if shown is None else shown
    return exact(name).fit(X, y, qid, weights).predict(rows, queries)


@every_ranker
def test_a_ranker_has_the_interface_of_an_estimator(name):
    ranker = make(name)
    check_parameters_default_constructible(name, ranker)
    check_no_attributes_set_in_init(name, ranker)
    check_get_params_invariance(name, ranker)
    check_set_params(name, ranker)


@every_ranker
def test_a_clone_has_the_settings_and_no_model(name):
    fitted = make(name).fit(X, Y, QID)
    copy = clone(fitted)
    assert type(copy) is type(fitted)
    assert copy.get_params() == fitted.get_params() == make(name).get_params()
    assert not hasattr(copy, "model_")
    assert np.array_equal(copy.fit(X, Y, QID).predict(X, QID), fitted.predict(X, QID))


@every_ranker
def test_fitting_changes_no_setting_and_sets_the_number_of_features(name):
    ranker = make(name)
    before = ranker.get_params()
    assert ranker.fit(X, Y, QID) is ranker
    assert ranker.get_params() == before
    assert ranker.n_features_in_ == 4
    assert ranker.model_.n_features == 4


@every_ranker
def test_a_pipeline_learns_what_its_steps_learn(name):
    pipeline = Pipeline([("scale", StandardScaler()), ("ranker", make(name))])
    wide = X * [1, 1000, 1e-3, 5] + 7
    pipeline.fit(wide, Y, ranker__qid=QID)
    scaled = StandardScaler().fit_transform(wide)
    alone = make(name).fit(scaled, Y, QID)
    assert np.array_equal(pipeline.predict(wide), alone.predict(scaled))
    assert np.array_equal(pipeline.predict(wide, qid=QID), alone.predict(scaled, QID))


@every_ranker
def test_learning_again_gives_the_same_to_the_last_bit(name):
    ranker = make(name)
    first = ranker.fit(X, Y, QID).predict(X, QID)
    details = ranker.details_
    ranker.fit(X[:40], Y[:40], QID[:40])
    again = ranker.fit(X, Y, QID)
    assert np.array_equal(again.predict(X, QID), first)
    assert again.details_ == details


@every_ranker
def test_rows_of_queries_may_be_interleaved(name):
    order = np.random.default_rng(5).permutation(N)
    mixed = exact(name).fit(X[order], Y[order], QID[order])
    assert mixed.predict(X, QID) == pytest.approx(scores_of(name), abs=1e-6)
    # Scores are in the order of the rows of X.
    assert np.array_equal(mixed.predict(X[order], QID[order]), mixed.predict(X, QID)[order])
    # Weights go with their rows.
    weights = np.random.default_rng(6).integers(0, 4, N)
    weighed = exact(name).fit(X[order], Y[order], QID[order], weights[order]).predict(X, QID)
    assert weighed == pytest.approx(scores_of(name, weights=weights), abs=1e-6)


@every_ranker
def test_queries_are_named_by_numbers_or_words(name):
    expected = make(name).fit(X, Y, QID).predict(X, QID)
    words = [f"q{number}" for number in QID]
    for qid in (words, np.array(words, dtype=object), QID.astype(float), QID.tolist()):
        assert np.array_equal(make(name).fit(X, Y, qid).predict(X, qid), expected)


@every_ranker
def test_rows_may_be_lists_and_grades_numbers_of_any_kind(name):
    expected = make(name).fit(X, Y, QID).predict(X, QID)
    assert np.array_equal(make(name).fit(X.tolist(), Y.tolist(), QID).predict(X.tolist(), QID), expected)
    assert np.array_equal(make(name).fit(np.asfortranarray(X), Y.astype(np.int8), QID).predict(X, QID), expected)


@every_ranker
def test_no_weights_are_weights_of_one(name):
    assert scores_of(name, weights=np.ones(N)) == pytest.approx(scores_of(name, weights=None), abs=1e-6)


@pytest.mark.parametrize("name", [name for name in RANKERS if name not in UNWEIGHTED])
def test_a_row_of_weight_two_counts_as_if_it_occurred_twice(name):
    weights = np.random.default_rng(6).integers(0, 4, N)
    copies = [np.repeat(what, weights, axis=0) for what in (X, Y, QID)]
    weighed, repeated = scores_of(name, weights=weights), scores_of(name, *copies, shown=(X, QID))  # type: ignore[misc]
    # The optimum of a classifier, and counted votes near a tie, are less exact.
    tolerance = {"mhr": 0.08, "ordrank": 0.08, "svm": 1e-3, "maxent": 1e-3}.get(name, 1e-4)
    assert weighed == pytest.approx(repeated, abs=tolerance)
    if name != "linear":
        assert np.max(np.abs(weighed - scores_of(name))) > 4 * tolerance


@pytest.mark.parametrize("name", [name for name in RANKERS if name not in UNWEIGHTED])
@pytest.mark.parametrize("left_out", ["a query", "the middle grade"])
def test_rows_of_weight_zero_have_no_effect(name, left_out):
    kept = QID != 2 if left_out == "a query" else Y != 1
    weighed = scores_of(name, weights=kept.astype(float))
    without = scores_of(name, X[kept], Y[kept], QID[kept], shown=(X, QID))
    assert weighed == pytest.approx(without, abs=1e-4)


@every_ranker
def test_a_pickled_ranker_scores_the_same(name):
    fitted = make(name).fit(X, Y, QID)
    again = pickle.loads(pickle.dumps(fitted))
    assert np.array_equal(again.predict(X, QID), fitted.predict(X, QID))
    assert again.details_ == fitted.details_
    assert again.get_params() == fitted.get_params()


@every_ranker
def test_an_unfitted_ranker_does_not_score(name):
    with pytest.raises(SettingError, match="has learnt nothing yet, expected fit before predict"):
        make(name).predict(X)


def spoilt(row, column, value):
    rows = X.copy()
    rows[row, column] = value
    return rows


@every_ranker
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_value_that_is_not_finite_is_refused_with_row_and_column(name, value):
    if np.isnan(value) and name in NAN_ACCEPTING:
        assert np.isfinite(make(name).fit(spoilt(7, 2, value), Y, QID).predict(spoilt(7, 2, value))).all()
        return
    message = rf"row 8, column 3 is {value}, expected a finite number"
    with pytest.raises(SettingError, match=message):
        make(name).fit(spoilt(7, 2, value), Y, QID)
    with pytest.raises(SettingError, match=message):
        make(name).fit(X, Y, QID).predict(spoilt(7, 2, value))


WRONG = {
    "flat": ((X[:, 0], Y, QID), "X has 1 dimensions, expected 2"),
    "deep": ((X[None], Y, QID), "X has 3 dimensions, expected 2"),
    "words": (([["a", "b"]] * N, Y, QID), "X is no table of numbers .could not convert string to float: .*a"),
    "ragged": (([[1.0], [1.0, 2.0]], [0, 1], [1, 1]), "X is no table of numbers"),
    "fewer grades": ((X, Y[:-1], QID), r"y has the shape \(59,\), expected \(60,\), a grade for each row of X"),
    "grades in a column": ((X, Y[:, None], QID), r"y has the shape \(60, 1\), expected \(60,\)"),
    "a grade that is none": ((X, np.where(np.arange(N) == 4, np.nan, Y), QID), "row 5: grade is nan"),
    "grades in words": ((X, ["good"] * N, QID), "y is no table of numbers"),
    "fewer queries": ((X, Y, QID[1:]), r"qid has the shape \(59,\), expected \(60,\), the query of each row of X"),
    "one query": ((X, Y, 3), r"qid has the shape \(\), expected"),
    "no query": ((X, Y), r"qid is missing, expected the query of each row as qid: fit\(X, y, qid\)"),
    "no rows": ((X[:0], Y[:0], QID[:0]), "X has no rows, expected at least one to learn from"),
    "a query that is none": ((X, Y, np.where(np.arange(N) == 6, np.nan, QID)), "row 7: qid is nan, expected the query"),
    "fewer weights": ((X, Y, QID, np.ones(59)), r"sample_weight has the shape \(59,\), expected 60 finite numbers"),
    "a weight below 0": ((X, Y, QID, np.full(N, -1.0)), "expected 60 finite numbers from 0"),
    "a weight that is none": ((X, Y, QID, np.full(N, np.nan)), "expected 60 finite numbers from 0"),
}


@pytest.mark.parametrize(("given", "message"), WRONG.values(), ids=WRONG)
def test_arguments_that_do_not_fit_together_are_refused_in_one_line(given, message):
    for name in ("rsvm-ir", "mhr", "rankboost", "linear"):
        with pytest.raises(SettingError, match=message) as caught:
            make(name).fit(*given)
        assert "\n" not in str(caught.value)


def test_queries_are_given_as_qid_and_in_no_other_way():
    fitted = RankSVM().fit(X, Y, QID)
    for call, method in ((RankSVM().fit, "fit"), (fitted.score, "score")):
        expected = rf"expected the query of each row as qid: {method}\(X, y, qid\)"
        with pytest.raises(SettingError, match=rf"^qid is missing, {expected}$"):
            call(X, Y)
        with pytest.raises(SettingError, match=rf"^{method} was given group, {expected}$"):
            call(X, Y, group=[10] * 6)


@every_ranker
def test_scoring_needs_the_features_of_training_and_as_many_queries_as_rows(name):
    fitted = make(name).fit(X, Y, QID)
    with pytest.raises(SettingError, match="X has 3 features, expected the 4 of training"):
        fitted.predict(X[:, :3])
    with pytest.raises(SettingError, match="X has 1 dimensions"):
        fitted.predict(X[0])
    with pytest.raises(SettingError, match=r"qid has the shape \(59,\), expected \(60,\)"):
        fitted.predict(X, QID[1:])
    assert fitted.predict(X[:0]).shape == (0,)
    assert fitted.predict(X[:0], []).shape == (0,)


@every_ranker
def test_without_qids_all_rows_are_of_one_query(name):
    fitted = make(name).fit(X, Y, QID)
    assert np.array_equal(fitted.predict(X), fitted.predict(X, np.zeros(N)))
    within = fitted.predict(X, QID)
    assert np.array_equal(fitted.predict(X), within) == (name not in BY_QUERY)


@pytest.mark.parametrize("name", [name for name in RANKERS if name not in CLASSIFYING | VOTING])
def test_where_no_grades_differ_nothing_is_preferred(name):
    # As in a part of the training queries; `fit` refuses what nothing can be learnt from.
    scores = make(name).fit_data(TrainingData.of(X, np.ones(N), QID)).predict(X, QID)
    if name in ("linear", "single"):
        assert make(name).fit(X, np.ones(N), QID).predict(X, QID).tolist() == scores.tolist()
    else:
        assert scores.tolist() == [0.0] * N
        with pytest.raises(SettingError, match="no two documents of a query have different grades: there is nothing"):
            make(name).fit(X, np.ones(N), QID)
    assert make(name).fit_data(TrainingData.of(X[:0], Y[:0], QID[:0])).predict(X).shape == (N,)


@pytest.mark.parametrize("name", sorted(VOTING))
def test_where_no_grades_differ_there_are_no_hyperplanes(name):
    ranker = make(name)
    for grades in (np.ones(N), QID):
        with pytest.raises(SettingError, match="no two documents of a query have different grades"):
            ranker.fit(X, grades, QID)
    training = TrainingData.of(X, np.ones(N), QID)
    assert list(ranker.values(training)) == [1.0]
    with pytest.raises(SettingError, match="no two documents"):
        list(ranker.fit_path(training, [1.0]))


@pytest.mark.parametrize("value", [1, 2.5, np.float64(0.1), np.float32(0.5), np.int64(3), 10**300])
def test_numbers_of_any_kind_are_settings(value):
    require_positive("C", value)


@pytest.mark.parametrize("value", [0, -1.0, np.nan, np.inf, True, "1", None, [1], 10**400, 1j])
def test_numbers_that_are_not_positive_are_refused(value):
    with pytest.raises(SettingError, match=r"C is .*expected a number above 0"):
        RankSVM(C=value if value is not None else "none").fit(X, Y, QID)


@pytest.mark.parametrize("value", [0, -1, 1.0, True, "1", None])
def test_numbers_that_are_not_whole_are_refused(value):
    with pytest.raises(SettingError, match=r"depth is .*expected a whole number from 1"):
        require_whole("depth", value)
    require_whole("depth", np.int32(1))


def test_a_grid_of_settings_can_be_searched_by_scikit_learn():
    """Queries are not split if the folds are by query: scikit-learn passes the qids on."""

    def score(ranker, X, y):
        scores = ranker.predict(X)
        return float(np.corrcoef(scores, y)[0, 1])

    folds = [(np.flatnonzero(part == QID % 2), np.flatnonzero(part != QID % 2)) for part in (0, 1)]
    grid = GridSearchCV(RankSVM(), {"C": np.array([1e-9, 1, 2])}, scoring=score, cv=folds, error_score="raise")
    grid.fit(X, Y, qid=QID)
    assert set(grid.best_params_) == {"C"}
    assert len(grid.cv_results_["params"]) == 3


@pytest.mark.parametrize(
    ("name", "settings", "expected"),
    [
        ("rsvm-ir", {"C": "0.01", "depth": "10", "draws": "null"}, {"C": 0.01, "depth": 10, "draws": None}),
        ("rsvm-ir", {"C": 2, "solver": "gd"}, {"C": 2, "solver": "gd"}),
        ("rsvm-ir", {"tau": '{"2-1": 0.5}', "mu": "false"}, {"tau": {"2-1": 0.5}, "mu": False}),
        ("rsvm-ir-gd", {"step": "1e-4"}, {"solver": "gd", "step": 1e-4, "tau": True, "mu": True}),
        ("rsvm-ir-rank", {}, {"tau": True, "mu": False}),
        ("rsvm-ir-query", {}, {"tau": False, "mu": True}),
        ("mhr-weighted", {}, {"votes": "score", "C": None}),
        ("ordrank", {}, {"votes": "count"}),
        ("linear", {"weights": "[1, 2.5]"}, {"weights": [1, 2.5]}),
    ],
)
def test_settings_are_given_as_texts_or_values(name, settings, expected):
    found = make_ranker(name, settings).get_params()
    assert {key: found[key] for key in expected} == expected


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("rsvmir", {}, "unknown ranker 'rsvmir' .did you mean rsvm-ir"),
        (
            "rsvm",
            {"c": 1},
            "unknown setting of rsvm 'c'.*; there is: C, max_iterations, prior, solver, step, tolerance",
        ),
        ("rsvm", {"C": "-1"}, "rsvm: C is -1, expected a number above 0"),
        ("rsvm", {"C": "1e999"}, "rsvm: C is inf"),
        ("rsvm", {"C": "much"}, "rsvm: C is 'much', expected a number above 0"),
        ("rsvm", {"tolerance": "0"}, "rsvm: tolerance is 0"),
        ("rsvm-ir", {"depth": "0"}, "rsvm-ir: depth is 0, expected a whole number from 1"),
        ("rsvm-ir", {"draws": "1.5"}, "rsvm-ir: draws is 1.5"),
        ("rsvm-ir", {"seed": "-1"}, "rsvm-ir: seed is -1, expected a whole number from 0"),
        ("rsvm-ir", {"solver": "qd"}, "rsvm-ir: unknown solver 'qd'.*there is: barzilai-borwein, cvxopt, gd, qp"),
        ("rsvm", {"step": "0.1"}, "rsvm: step is 0.1 with solver=qp, expected solver=gd"),
        ("rsvm", {"step": "0", "solver": "gd"}, "rsvm: step is 0, expected a number above 0"),
        ("rsvm", {"max_iterations": "0"}, "rsvm: max_iterations is 0, expected a whole number from 1"),
        ("rsvm-ir", {"tau": '{"2": 1}'}, "rsvm-ir: tau has the key '2', expected a grade and a lower one"),
        ("rsvm-ir", {"tau": "much"}, "rsvm-ir: tau is 'much', expected true, false, or numbers by grades"),
        ("rsvm-ir", {"mu": "2"}, "rsvm-ir: mu is 2, expected true or false"),
        ("rsvm-ir", {"tau_queries": "some"}, "rsvm-ir: unknown tau_queries 'some'; there is: all, with-both"),
        ("mhr", {"votes": "none"}, "mhr: unknown way to vote 'none'; there is: count, score"),
    ],
)
def test_invalid_settings_are_refused_when_a_ranker_is_made(name, settings, message):
    with pytest.raises(SettingError, match=message):
        make_ranker(name, settings)


def test_the_registry_and_the_classes_have_the_same_names():
    for name, kind in RANKERS.items():
        made = make_ranker(name)
        assert made.name == name or kind.settings
        assert made.title
        assert kind.description
        if made.tuned is not None:
            assert made.tuned in made.get_params()


def test_settings_of_a_family_are_inherited():
    assert set(RankSVM().get_params()) < set(RankSVMIR().get_params())
    assert set(OrdRank().get_params()) == set(MHR().get_params())
    assert (OrdRank().averaged, OrdRank().powers) == (False, False)
    assert (OrdRank(votes="score").averaged, OrdRank(votes="score").powers) == (True, True)
