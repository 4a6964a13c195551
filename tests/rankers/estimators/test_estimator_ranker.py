# mypy: disable-error-code="attr-defined"
"""Estimators of other libraries as rankers: they see the queries in their own way, and score as they do alone."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LogisticRegression, PoissonRegressor, Ridge, RidgeClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from searchlab.errors import SettingError
from searchlab.rankers.estimators.estimator_ranker import EstimatorRanker, estimator_name
from searchlab.rankers.estimators.ranksvm import RankSVM
from searchlab.rankers.models.estimator_model import EstimatorModel
from searchlab.rankers.models.linear_model import LinearModel
from searchlab.rankers.models.tree_model import TreeModel
from searchlab.rankers.ranker_registry import as_ranker

RANDOM = np.random.default_rng(9)
SIZES = [7, 12, 5, 16]
QID = np.repeat(["d", "b", "c", "a"], SIZES)
N = len(QID)
Y = RANDOM.integers(0, 3, N)
X = RANDOM.normal(size=(N, 3)) + Y[:, None] * [0.8, 0.2, 0.0]
MIXED = RANDOM.permutation(N)


class Recorder(BaseEstimator):  # type: ignore[misc]
    """Remembers what `fit` was given."""

    seen: dict[str, object]

    def fit(self, X, y, group=None):
        self.seen = {"X": X, "y": y, "group": group}
        return self

    def predict(self, X):
        return X[:, 0]


class QueryRecorder(Recorder):
    def fit(self, X, y, qid=None):
        self.seen = {"X": X, "y": y, "qid": qid}
        return self


class Plain:
    """No estimator of scikit-learn: no settings."""

    def fit(self, X, y):
        self.mean = X.mean(axis=0)

    def predict(self, X):
        return X @ self.mean


def learnt(estimator, X=X, y=Y, qid=QID, weights=None):
    fitted = EstimatorRanker(estimator).fit(X, y, qid, weights)
    assert isinstance(fitted.model_, EstimatorModel)
    return fitted.model_.estimator


@pytest.mark.parametrize("wrap", [lambda each: each, lambda each: make_pipeline(make_pipeline(each))])
def test_queries_are_given_as_the_estimator_takes_them(wrap):
    # Rows of a query are brought together, queries in the order in which they appear.
    appeared = list(dict.fromkeys(QID[MIXED].tolist()))
    sizes = [int(np.sum(qid == QID)) for qid in appeared]
    order = [row for qid in appeared for row in MIXED if QID[row] == qid]
    for kind, name, expected in (
        (Recorder, "group", sizes),
        (QueryRecorder, "qid", np.repeat(np.arange(4), sizes).tolist()),
    ):
        fitted = learnt(wrap(kind()), X[MIXED], Y[MIXED], QID[MIXED])
        while isinstance(fitted, Pipeline):
            fitted = fitted[-1]
        assert fitted.seen[name].tolist() == expected
        assert np.array_equal(fitted.seen["X"], X[order])
        assert np.array_equal(fitted.seen["y"], Y[order])
        assert fitted.seen["y"].dtype.kind == "i"


def test_weights_repeat_rows():
    weights = np.arange(N) % 3
    seen = learnt(Recorder(), weights=weights).seen
    assert np.array_equal(seen["X"], np.repeat(X, weights, axis=0))
    assert sum(seen["group"]) == weights.sum()
    with pytest.raises(SettingError, match="sample_weight has fractions"):
        learnt(Recorder(), weights=weights / 2)


def test_the_given_estimator_is_not_changed():
    given = Recorder()
    ranker = EstimatorRanker(given).fit(X, Y, QID)
    assert not hasattr(given, "seen")
    assert not hasattr(clone(ranker), "model_")


def test_a_regressor_scores_by_its_predictions():
    forest = RandomForestRegressor(5, random_state=0)
    scores = EstimatorRanker(forest).fit(X, Y, QID).predict(X[MIXED], QID[MIXED])
    assert np.array_equal(scores, clone(forest).fit(X, Y).predict(X[MIXED]))
    fitted = EstimatorRanker(Plain()).fit(X, Y, QID)
    assert fitted.predict(X).tolist() == (X @ X.mean(axis=0)).tolist()


@pytest.mark.parametrize("classifier", [RandomForestClassifier(5, random_state=0), LogisticRegression()])
def test_a_classifier_scores_by_the_expected_grade(classifier):
    scores = EstimatorRanker(classifier).fit(X, 2 * Y, QID).predict(X)
    shares = clone(classifier).fit(X, 2 * Y).predict_proba(X)
    assert scores == pytest.approx(2 * shares[:, 1] + 4 * shares[:, 2])


def test_a_classifier_without_probabilities_scores_by_its_decisions():
    alone = LinearSVC(random_state=0).fit(X, Y > 0)
    assert EstimatorRanker(LinearSVC(random_state=0)).fit(X, (Y > 0) * 1, QID).predict(X) == pytest.approx(
        alone.decision_function(X)
    )
    values = np.exp(RidgeClassifier().fit(X, Y).decision_function(X))
    expected = (values[:, 1] + 2 * values[:, 2]) / values.sum(axis=1)
    assert EstimatorRanker(RidgeClassifier()).fit(X, Y, QID).predict(X) == pytest.approx(expected)


def test_a_linear_regressor_becomes_a_linear_model():
    fitted = EstimatorRanker(Ridge()).fit(X, Y, QID)
    assert isinstance(fitted.model_, LinearModel)
    assert fitted.model_.weights.tolist() == Ridge().fit(X, Y).coef_.tolist()
    # A monotone function of a linear one is not the linear one.
    assert isinstance(EstimatorRanker(PoissonRegressor()).fit(X, Y, QID).model_, EstimatorModel)
    # The weights of a step are not those of the whole pipeline.
    assert isinstance(EstimatorRanker(make_pipeline(StandardScaler(), Ridge())).fit(X, Y, QID).model_, EstimatorModel)


def test_lightgbm_becomes_trees():
    lightgbm = pytest.importorskip("lightgbm")
    given = lightgbm.LGBMRanker(n_estimators=10, num_leaves=4, min_child_samples=2, verbosity=-1)
    fitted = EstimatorRanker(given).fit(X, Y, QID)
    assert isinstance(fitted.model_, TreeModel)
    theirs = clone(given).fit(X, Y, group=SIZES)
    assert fitted.predict(X).tolist() == theirs.predict(X).tolist()
    large = lightgbm.LGBMRanker(n_estimators=2, num_leaves=200, min_child_samples=1, verbosity=-1)
    rows = np.random.default_rng(0).normal(size=(3000, 3))
    held = EstimatorRanker(large).fit(rows, np.arange(3000) % 3, np.arange(3000) // 100).model_
    with pytest.raises(SettingError, match=r"cannot be written to a file .*leaves, expected 1 to 64"):
        held.to_json()


def test_xgboost_ranks():
    xgboost = pytest.importorskip("xgboost")
    given = xgboost.XGBRanker(n_estimators=5, max_depth=2, n_jobs=1)
    undefined = np.where(RANDOM.random(X.shape) < 0.2, np.nan, X)
    fitted = EstimatorRanker(given).fit(undefined, Y, QID)
    theirs = clone(given).fit(undefined, Y, qid=np.repeat(np.arange(4), SIZES))
    assert fitted.predict(undefined) == pytest.approx(theirs.predict(undefined).astype(float))


def test_an_estimator_model_is_not_written_and_explains_by_its_score():
    model = EstimatorRanker(RandomForestRegressor(3, random_state=0)).fit(X, Y, QID).model_
    with pytest.raises(SettingError, match=r"of RandomForestRegressor cannot be written to a file .only a pickle"):
        model.to_json()
    with pytest.raises(ValueError, match="not stored"):
        type(model).from_json({})
    with pytest.raises(SettingError, match="estimator models cannot be averaged"):
        type(model).average([model, model], [1, 1])
    (part,) = model.parts(X, 3)
    assert part.amount == model.score(X, np.array([0, N]))[3]
    assert part.text == "score of RandomForestRegressor"
    importances = [each.amount for each in model.influences()]
    assert importances == model.estimator.feature_importances_.tolist()
    assert EstimatorRanker(Plain()).fit(X, Y, QID).model_.influences() == []
    assert model.score(X[:0], np.array([0])).shape == (0,)


class Broken(Plain):
    def __init__(self, scores=None):
        self.scores = scores

    def fit(self, X, y):
        if self.scores is None:
            raise RuntimeError("no\nluck")

    def predict(self, X):
        return self.scores(X)


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (Broken(), "Broken failed to learn .RuntimeError: no luck"),
        (Broken(lambda X: 1 / 0), "Broken failed to score .ZeroDivisionError"),
        (
            Broken(lambda X: X),
            r"Broken gave scores of the shape \(40, 3\), expected a finite number for each of 40 rows",
        ),
        (Broken(lambda X: X[:, 0] * np.nan), "Broken gave scores that are not finite"),
        (RandomForestRegressor, "the class RandomForestRegressor, expected an object: RandomForestRegressor.."),
        (3, "ranker is int, expected a name, or an estimator with fit and predict"),
        (StandardScaler(), "ranker is StandardScaler, expected a name, or an estimator"),
    ],
)
def test_what_cannot_rank_is_refused_in_one_line(estimator, message):
    with pytest.raises(SettingError, match=message) as caught:
        EstimatorRanker(estimator).fit(X, Y, QID).predict(X)
    assert "\n" not in str(caught.value)


def test_settings_are_those_of_the_estimator():
    ranker = EstimatorRanker(Ridge(alpha=2.0))
    assert ranker.with_settings({}) is ranker
    changed = ranker.with_settings({"alpha": 5.0})
    assert (changed.estimator.alpha, ranker.estimator.alpha) == (5.0, 2.0)
    assert changed.settings_record()["alpha"] == 5.0
    assert EstimatorRanker(make_pipeline(Ridge())).settings_record()["steps"] == "[('ridge', Ridge())]"
    with pytest.raises(SettingError, match=r"Ridge: Invalid parameter 'beta'"):
        ranker.with_settings({"beta": 1})
    with pytest.raises(SettingError, match="Plain: "):
        EstimatorRanker(Plain()).with_settings({"beta": 1})
    assert EstimatorRanker(Plain()).settings_record() == {}


def test_estimators_are_named_by_their_class_or_last_step():
    assert estimator_name(make_pipeline(StandardScaler(), Ridge())) == "Ridge"
    assert as_ranker(Plain()).label == "Plain"
    assert as_ranker(RankSVM(C=2.0)).label == "rsvm"


def test_what_can_be_written_is_known_before_training():
    assert EstimatorRanker(Ridge()).storable
    assert not EstimatorRanker(RandomForestRegressor()).storable
    assert not EstimatorRanker(LogisticRegression()).storable


def test_trees_of_a_regressor_of_lightgbm_are_written_if_they_are_its_predictions():
    lightgbm = pytest.importorskip("lightgbm")
    given = lightgbm.LGBMRegressor(n_estimators=10, num_leaves=4, min_child_samples=2, verbosity=-1)
    assert EstimatorRanker(given).storable
    fitted = EstimatorRanker(given).fit(X, Y, QID)
    assert isinstance(fitted.model_, TreeModel)
    assert fitted.predict(X).tolist() == clone(given).fit(X, Y).predict(X).tolist()
    # exp(sum of the trees)
    poisson = EstimatorRanker(clone(given).set_params(objective="poisson")).fit(X, Y, QID)
    with pytest.raises(SettingError, match=r"file .its prediction is not the sum of its trees"):
        poisson.model_.to_json()


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (
            make_pipeline(StandardScaler(), Ridge()),
            "a model of Ridge cannot be written to a file (it comes after StandardScaler in a pipeline, of which only "
            "a pickle could be written; expected Ridge alone: searchlab normalises features itself)",
        ),
        (LogisticRegression(), "(a classifier scores by the expected grade, which is not linear; only a pickle"),
        (PoissonRegressor(), "(its prediction is not linear; only a pickle"),
        (make_pipeline(StandardScaler(), RandomForestRegressor(2)), "file (only a pickle"),
    ],
)
def test_why_a_model_is_not_written_is_said(estimator, message):
    with pytest.raises(SettingError) as caught:
        EstimatorRanker(estimator).fit(X, Y, QID).model_.to_json()
    assert message in str(caught.value)
