"""Rankers in scikit-learn's tools: scoring, cross-validation, grids and pipelines that pass the qids on, and checks."""

import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_checks, get_tags

import searchlab
from searchlab.errors import SettingError
from searchlab.evaluation.score_evaluation import evaluate_scores
from searchlab.rankers.ranker_registry import BUILT_IN, make_ranker

RANDOM = np.random.default_rng(3)
QID = np.repeat(np.arange(12), 8)
Y = RANDOM.integers(0, 3, len(QID))
X = RANDOM.normal(size=(len(QID), 3)) + Y[:, None] * [0.9, 0.4, 0.0]
FOLDS = GroupKFold(3)
QUICK = {"rankboost": {"rounds": 5}, "lambdamart": {"trees": 5, "min_rows": 2}}
every_ranker = pytest.mark.parametrize("name", BUILT_IN)


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def by_hand(make, measure="nDCG@10"):
    """The mean measure of each fold, by training and evaluation without scikit-learn's tools."""
    found = []
    for train, test in FOLDS.split(X, Y, QID):
        scores = make().fit(X[train], Y[train], QID[train]).predict(X[test], QID[test])
        offsets = np.arange(0, len(test) + 1, 8)
        found.append(float(evaluate_scores(scores, Y[test], offsets, measure, dialect="trec").mean()))
    return found


@every_ranker
def test_the_score_is_the_mean_ndcg_of_the_queries(name):
    fitted = make_ranker(name, QUICK.get(name)).fit(X, Y, QID)
    scores, offsets = fitted.predict(X, QID), np.arange(0, len(QID) + 1, 8)
    assert fitted.score(X, Y, QID) == evaluate_scores(scores, Y, offsets, "nDCG@10", dialect="trec").mean()
    assert fitted.score(X, Y, QID, measure="AP") == evaluate_scores(scores, Y, offsets, "AP", dialect="trec").mean()
    mixed = np.random.default_rng(0).permutation(len(QID))
    assert fitted.score(X[mixed], Y[mixed], QID[mixed]) == pytest.approx(fitted.score(X, Y, QID), abs=0.05)


def test_the_score_is_that_of_the_same_rows_as_a_run():
    ranker = searchlab.RankSVM(C=0.1).fit(X, Y, QID)
    docnos = [f"{999 - row}" for row in range(len(X))]  # equal scores are in descending order of docno
    qrels = searchlab.Qrels.from_columns(QID, docnos, Y)
    run = searchlab.Run.from_columns(QID, docnos, ranker.predict(X, QID))
    assert ranker.score(X, Y, QID) == pytest.approx(searchlab.evaluate_run(qrels, run, "nDCG@10").means["nDCG@10"])


def test_scoring_needs_a_model_rows_and_a_measure():
    ranker = searchlab.RankSVM(C=0.1)
    with pytest.raises(SettingError, match="expected fit before predict"):
        ranker.score(X, Y, QID)
    ranker.fit(X, Y, QID)
    with pytest.raises(SettingError, match="X has no rows, expected at least one to score"):
        ranker.score(X[:0], Y[:0], QID[:0])
    with pytest.raises(SettingError, match="unknown measure 'nDCC'"):
        ranker.score(X, Y, QID, measure="nDCC")
    with pytest.raises(SettingError, match="sample_weight is given, expected none"):
        ranker.score(X, Y, QID, sample_weight=np.ones(len(X)))
    with pytest.raises(SettingError, match="X has 2 features, expected the 3 of training"):
        ranker.score(X[:, :2], Y, QID)


@every_ranker
def test_cross_validation_passes_the_qids_on(routing, name):
    ranker = make_ranker(name, QUICK.get(name)).set_fit_request(qid=True).set_score_request(qid=True)
    found = cross_val_score(ranker, X, Y, cv=FOLDS, params={"qid": QID, "groups": QID})
    assert found.tolist() == by_hand(lambda: make_ranker(name, QUICK.get(name)))


def test_a_grid_chooses_by_ndcg_on_held_out_queries(routing):
    ranker = searchlab.RankSVM().set_fit_request(qid=True).set_score_request(qid=True)
    grid = GridSearchCV(ranker, {"C": [1e-9, 0.1]}, cv=FOLDS).fit(X, Y, qid=QID, groups=QID)
    expected = [np.mean(by_hand(lambda C=C: searchlab.RankSVM(C=C))) for C in (1e-9, 0.1)]
    assert grid.cv_results_["mean_test_score"].tolist() == pytest.approx(expected)
    assert grid.best_params_ == {"C": [1e-9, 0.1][int(np.argmax(expected))]}


def test_a_pipeline_scales_and_ranks(routing):
    ranker = searchlab.RankSVM(C=0.1).set_fit_request(qid=True).set_score_request(qid=True)
    pipeline = Pipeline([("scale", StandardScaler()), ("rank", ranker)])
    found = cross_val_score(pipeline, X * [1, 100, 5], Y, cv=FOLDS, params={"qid": QID, "groups": QID})
    expected = []
    for train, test in FOLDS.split(X, Y, QID):
        scale = StandardScaler().fit(X[train])
        fitted = searchlab.RankSVM(C=0.1).fit(scale.transform(X[train]), Y[train], QID[train])
        expected.append(fitted.score(scale.transform(X[test]), Y[test], QID[test]))
    assert found.tolist() == pytest.approx(expected)
    grid = GridSearchCV(pipeline, {"rank__C": [1e-9, 0.1]}, cv=FOLDS).fit(X, Y, qid=QID, groups=QID)
    assert set(grid.best_params_) == {"rank__C"}


@every_ranker
def test_the_tags_say_what_a_ranker_needs(name):
    tags = get_tags(make_ranker(name))
    assert tags.target_tags.required
    assert tags.requires_fit
    assert tags.input_tags.allow_nan == (name == "lambdamart")
    assert not tags.input_tags.sparse


class OneQuery(BaseEstimator):  # type: ignore[misc]
    """A ranker whose rows are all of one query, for checks that know no queries."""

    def __init__(self, name="rsvm", settings=None):
        self.name = name
        self.settings = settings

    def fit(self, X, y):
        rows, y = np.asarray(X, dtype=float), np.asarray(y)
        self.ranker_ = make_ranker(self.name, self.settings).fit(rows, np.unique(y, return_inverse=True)[1] % 3, y * 0)
        self.n_features_in_ = self.ranker_.n_features_in_
        return self

    def predict(self, X):
        return self.ranker_.predict(X)

    def score(self, X, y):
        return self.ranker_.score(X, np.unique(y, return_inverse=True)[1] % 3, np.zeros(len(X)))


CHECKS = [
    "check_dict_unchanged",
    "check_estimators_dtypes",
    "check_estimators_fit_returns_self",
    "check_estimators_overwrite_params",
    "check_estimators_pickle",
    "check_fit2d_1feature",
    "check_fit_idempotent",
    "check_fit_score_takes_y",
    "check_methods_subset_invariance",
    "check_n_features_in",
    "check_pipeline_consistency",
    "check_readonly_memmap_input",
]
# Scores of voting models and of neighbourhoods depend on the other rows of a query.
BY_QUERY = {"mhr", "mhr-weighted", "ordrank", "ordrank-weighted", "rsvm-knn"}


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("name", ["rsvm-ir", "mhr", "rankboost", "lambdamart", "maxent", "linear"])
def test_checks_of_scikit_learn_hold(name, check):
    if name in BY_QUERY and check == "check_methods_subset_invariance":
        pytest.skip("its scores depend on the other rows of a query")
    run = getattr(estimator_checks, check)
    run(name, OneQuery(name, QUICK.get(name)))
