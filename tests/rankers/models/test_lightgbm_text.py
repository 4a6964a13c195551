"""LightGBM's models are read from their text, and score and explain as LightGBM does."""

import re

import numpy as np
import pytest

from searchlab.errors import SettingError
from searchlab.rankers.models.lightgbm_text import read_lightgbm

lightgbm = pytest.importorskip("lightgbm")
N_FEATURES = 6


def train(seed, n_trees=40, **settings):
    """A model on random rows with undefined values and zeros, by settings of LightGBM."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(600, N_FEATURES)).round(1)
    X[random.random(X.shape) < 0.2] = np.nan
    X[random.random(X.shape) < 0.2] = 0.0
    y = random.integers(0, 3, 600)
    usual = {"objective": "lambdarank", "min_data_in_leaf": 3, "verbosity": -1, "num_threads": 1, "seed": seed}
    data = lightgbm.Dataset(X, y, group=[20] * 30)
    return lightgbm.train({**usual, **settings}, data, n_trees), X


WAYS = {
    "small trees": {"num_leaves": 4},
    "large trees": {"num_leaves": 64},
    "stumps": {"num_leaves": 2},
    "zeros are missing": {"num_leaves": 15, "zero_as_missing": True},
    "nothing is missing": {"num_leaves": 15, "use_missing": False},
    "random parts": {"num_leaves": 9, "bagging_fraction": 0.5, "bagging_freq": 1, "feature_fraction": 0.4},
    "regression": {"num_leaves": 9, "objective": "regression"},
    "no splits": {"num_leaves": 9, "min_data_in_leaf": 601},
}


@pytest.mark.parametrize("settings", WAYS.values(), ids=WAYS)
def test_scores_and_contributions_are_those_of_lightgbm(settings):
    booster, X = train(7, **settings)
    model = read_lightgbm(booster.model_to_string())
    random = np.random.default_rng(8)
    rows = np.vstack([X, random.choice([-1.0, 0.0, -0.0, 1e-40, -1e-36, 1e-30, 0.3, np.nan, 1e9], (200, N_FEATURES))])
    assert model.score(rows, np.array([0, len(rows)])).tolist() == booster.predict(rows, raw_score=True).tolist()
    theirs = booster.predict(rows[590:610], pred_contrib=True)
    for row, expected in zip(rows[590:610], theirs, strict=True):
        parts = model.parts(row[None], 0)
        amounts = np.zeros(N_FEATURES + 1)
        for part in parts:
            amounts[N_FEATURES if part.feature is None else part.feature] += part.amount
        assert amounts.tolist() == pytest.approx(expected.tolist(), abs=1e-9)


def test_a_node_that_parts_undefined_values_from_all_others_has_a_finite_threshold():
    text = train(7, n_trees=1, num_leaves=2)[0].model_to_string()
    (threshold,) = re.findall(r"^threshold=(\S+)$", text, re.MULTILINE)
    tree = read_lightgbm(text.replace(f"threshold={threshold}", "threshold=inf")).trees[0]
    assert tree.thresholds.tolist() == [np.finfo(np.float64).max]
    assert tree.goes_left(np.array([1e308])).tolist() == [True]


def test_importances_are_those_of_lightgbm():
    booster, _ = train(3, num_leaves=12)
    gains = booster.feature_importance("gain")
    splits = booster.feature_importance("split")
    parts = read_lightgbm(booster.model_to_string()).influences()
    assert len(parts) == N_FEATURES
    assert [part.amount for part in parts] == pytest.approx((gains / gains.sum()).tolist(), rel=1e-4)
    assert [int(part.text) for part in parts] == splits.tolist()


def test_what_a_tree_model_has_not_is_refused():
    booster, X = train(1)
    text = booster.model_to_string()
    forest, _ = train(1, boosting="rf", bagging_fraction=0.5, bagging_freq=1)
    many, _ = train(1, num_leaves=100)
    named = lightgbm.Dataset(np.abs(X).round(), np.arange(600) % 2, categorical_feature=[0, 1, 2, 3, 4, 5])
    categorical = lightgbm.train({"objective": "binary", "verbosity": -1, "min_data_per_group": 1}, named, 3)
    several = lightgbm.train(
        {"objective": "multiclass", "num_class": 3, "verbosity": -1}, lightgbm.Dataset(X, np.arange(600) % 3), 2
    )
    for spoilt, message in (
        (forest.model_to_string(), "averages its trees"),
        (many.model_to_string(), "leaves, expected 1 to 64"),
        (categorical.model_to_string(), "categorical splits, expected thresholds"),
        (several.model_to_string(), "num_class=3, expected 1"),
        (text.replace("is_linear=0", "is_linear=1"), "linear models in leaves"),
        (text.replace("left_child=", "left_child=x "), "cannot be read"),
        (text.replace("split_feature=", "split_feature=9 "), "cannot be read"),
        ("", "num_class=None"),
    ):
        with pytest.raises(SettingError, match=message) as caught:
            read_lightgbm(spoilt)
        assert "\n" not in str(caught.value)
