"""LambdaMART learns by LightGBM, from any order of rows, the same each time; its model needs no LightGBM."""

import subprocess
import sys

import numpy as np
import pytest

from searchlab.errors import SettingError
from searchlab.evaluation.score_evaluation import evaluate_scores
from searchlab.rankers.estimators.lambdamart import LambdaMART, grade_gains
from searchlab.rankers.models.tree_model import TreeModel
from searchlab.rankers.training_data import TrainingData

lightgbm = pytest.importorskip("lightgbm")
RANDOM = np.random.default_rng(5)
N_QUERIES, N_ROWS = 12, 30
QID = np.repeat(np.arange(N_QUERIES), N_ROWS)
X = RANDOM.normal(size=(len(QID), 4)).round(3)
# Grades by a rule that is no line: the product of two features, within each query.
Y = np.digitize(X[:, 0] * X[:, 1] + 0.1 * RANDOM.normal(size=len(X)), [0.2, 0.9])
OFFSETS = np.arange(0, len(QID) + 1, N_ROWS)
QUICK = {"trees": 30, "min_rows": 5}


def test_what_is_no_line_is_learnt():
    fitted = LambdaMART(**QUICK).fit(X, Y, QID)
    assert isinstance(fitted.model_, TreeModel)
    assert fitted.details_["n_trees"] == len(fitted.model_.trees) == 30
    ndcg = evaluate_scores(fitted.predict(X, QID), Y, OFFSETS, "nDCG@10").mean()
    by_feature = [evaluate_scores(column, Y, OFFSETS, "nDCG@10").mean() for column in X.T]
    assert ndcg > 0.9 > max(by_feature) + 0.2


def test_scores_are_those_of_lightgbm_on_the_same_rows():
    # Sorted as the estimator sorts them, so that LightGBM sees the same.
    order = np.lexsort((Y, *X.T[::-1], QID))
    rows = X[order].reshape(N_QUERIES, N_ROWS, -1)
    queries = np.lexsort(rows[:, 0, ::-1].T)
    sorted_rows = rows[queries].reshape(-1, 4)
    labels = Y[order].reshape(N_QUERIES, N_ROWS)[queries].reshape(-1)
    parameters = {
        "objective": "lambdarank",
        "num_leaves": 10,
        "min_data_in_leaf": 5,
        "min_sum_hessian_in_leaf": 0.0,
        "deterministic": True,
        "force_row_wise": True,
        "num_threads": 1,
        "verbosity": -1,
        "seed": 0,
    }
    theirs = lightgbm.train(parameters, lightgbm.Dataset(sorted_rows, labels, group=[N_ROWS] * N_QUERIES), 30)
    ours = LambdaMART(**QUICK).fit(X, Y, QID)
    assert ours.predict(X).tolist() == theirs.predict(X).tolist()


def test_a_path_has_the_models_of_single_fits():
    training = TrainingData.of(X, Y, QID)
    ranker = LambdaMART(trees=20, min_rows=5, query_share=0.5, feature_share=0.5)
    assert list(ranker.values(training)) == [10, 15, 20]
    for fitted in ranker.fit_path(training, [10, 20]):
        alone = LambdaMART(**fitted.get_params()).fit(X, Y, QID)
        assert fitted.details_ == alone.details_
        assert fitted.model_.to_json() == alone.model_.to_json()


def test_the_seed_draws_queries_and_features():
    def scores(**settings):
        return LambdaMART(**QUICK, **settings).fit(X, Y, QID).predict(X).tolist()

    assert scores(seed=1) == scores(seed=2)
    for share in ("query_share", "feature_share"):
        assert scores(**{share: 0.5}, seed=1) == scores(**{share: 0.5}, seed=1)
        assert scores(**{share: 0.5}, seed=1) != scores(**{share: 0.5}, seed=2)


def test_undefined_values_have_their_own_way():
    # Only where the feature is undefined are documents relevant: no threshold on the others tells them.
    values = np.where(Y > 0, np.nan, X[:, 0])[:, None]
    fitted = LambdaMART(**QUICK).fit(values, Y, QID)
    scores = fitted.predict(np.array([[np.nan], [-1.0], [0.0], [1.0]]))
    assert scores[0] > scores[1:].max()


def test_gains_are_those_of_the_grades():
    numbers, gains = grade_gains(np.array([3.0, 0.0, 0.5, -1.0, 3.0]))
    assert numbers.tolist() == [3, 1, 2, 0, 3]
    assert gains == pytest.approx([0.0, 0.0, 2**0.5 - 1, 7.0])
    # Where no document gains anything, nothing is preferred.
    assert LambdaMART(**QUICK).fit(X, Y - 5, QID).predict(X).tolist() == [0.0] * len(X)


@pytest.mark.parametrize("grades", [np.arange(32), np.array([0, 31])])
def test_too_many_or_too_high_grades_are_refused(grades):
    with pytest.raises(SettingError, match="different grades up to 31, expected at most 31 up to 30"):
        grade_gains(grades.astype(float))


def test_a_query_that_is_too_long_is_refused():
    with pytest.raises(SettingError, match="a query has 10,001 documents, expected at most 10,000"):
        LambdaMART().fit(np.zeros((10_001, 1)), np.arange(10_001) % 2, np.zeros(10_001))


def test_weights_with_fractions_are_refused():
    with pytest.raises(SettingError, match="sample_weight has fractions, expected whole numbers"):
        LambdaMART(**QUICK).fit(X, Y, QID, np.full(len(X), 0.5))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"trees": 0}, "trees is 0, expected a whole number from 1"),
        ({"leaves": 1}, "leaves is 1, expected a whole number from 2"),
        ({"leaves": 65}, "leaves is 65, expected a whole number from 2 to 64"),
        ({"learning_rate": 0}, "learning_rate is 0, expected a number above 0"),
        ({"min_rows": 0.5}, "min_rows is 0.5, expected a whole number from 1"),
        ({"l2": -1}, "l2 is -1, expected a number above 0"),
        ({"query_share": 1.5}, "query_share is 1.5, expected a number above 0 and up to 1"),
        ({"feature_share": 0}, "feature_share is 0, expected a number above 0"),
        ({"truncation": None}, "truncation is None, expected a whole number from 1"),
        ({"seed": -1}, "seed is -1, expected a whole number from 0"),
        ({"seed": 2**31}, "seed is 2147483648, expected a whole number from 0 to 2147483647"),
    ],
)
def test_settings_out_of_range_are_refused(settings, message):
    with pytest.raises(SettingError, match=message):
        LambdaMART(**settings).fit(X, Y, QID)


WITHOUT = """
import sys
sys.modules["lightgbm"] = None
import json
import numpy as np
from searchlab.errors import SettingError
from searchlab.rankers.estimators.lambdamart import LambdaMART
from searchlab.rankers.models.model_kinds import model_from_json
model = model_from_json(json.load(open(sys.argv[1])), 4)
print(model.score(np.zeros((1, 4)), np.array([0, 1]))[0])
print(model.parts(np.zeros((1, 4)), 0)[0].text)
try:
    LambdaMART().fit(np.eye(2), [0, 1], [1, 1])
except SettingError as error:
    print(error)
"""


def test_without_lightgbm_a_model_scores_and_learning_names_what_to_install(tmp_path):
    import json

    fitted = LambdaMART(**QUICK).fit(X, Y, QID)
    file = tmp_path / "model.json"
    file.write_text(json.dumps(fitted.model_.to_json()))
    ended = subprocess.run([sys.executable, "-c", WITHOUT, str(file)], capture_output=True, text=True, check=True)
    score, part, message = ended.stdout.splitlines()
    assert float(score) == fitted.predict(np.zeros((1, 4)))[0]
    assert part == "the mean training document"
    assert "LambdaMART learns by LightGBM" in message
    assert message.endswith("pip install 'searchlab[trees]'")
