"""Tree models: importances, averages, and the first trees of a model."""

import numpy as np
import pytest

from searchlab.errors import SettingError
from searchlab.rankers.models.model_kinds import average_models, model_from_json
from searchlab.rankers.models.tree_model import TreeModel
from tests.rankers.models.tree_examples import BY_HAND, make_tree, random_rows, random_tree

RANDOM = np.random.default_rng(4)
TREES = tuple(random_tree(RANDOM, 6, 3) for _ in range(8))
X = random_rows(RANDOM, 30, 3)
OFFSETS = np.array([0, 30])


def test_importances_are_shares_of_the_gains():
    # Gains of 30 for x0 and 10 for x1, twice, and 20 for x2; x3 is in no tree.
    other = make_tree([2], [0.0], [-1], [-2], [0.0, 1.0], [1, 1], gains=[20.0])
    parts = TreeModel((BY_HAND, BY_HAND, other), 4).influences()
    assert [(part.feature, part.amount, part.text) for part in parts] == [(0, 0.6, "2"), (1, 0.2, "2"), (2, 0.2, "1")]
    assert TreeModel((), 4).influences() == []


def test_parts_are_the_mean_and_the_features_of_splits():
    parts = TreeModel((BY_HAND,), 4).parts(np.zeros((1, 4)), 0)
    assert [part.feature for part in parts] == [None, 0, 1]
    assert [part.amount for part in parts] == pytest.approx([6.0, -4.25, -0.75])
    assert [part.text for part in parts] == ["the mean training document", "0 in 1 split", "0 in 1 split"]


def test_an_average_has_shared_trees_once():
    whole = TreeModel(TREES, 3)
    parts = [whole.first(2), whole.first(5), whole]
    together = average_models(parts, [0.5, 2.0, 4.0])
    assert isinstance(together, TreeModel)
    assert len(together.trees) == 8
    scores = [model.score(X, OFFSETS) / (3 * spread) for model, spread in zip(parts, [0.5, 2.0, 4.0], strict=True)]
    assert together.score(X, OFFSETS).tolist() == pytest.approx(np.sum(scores, axis=0).tolist(), abs=1e-12)


@pytest.mark.parametrize("wrong", [True, 1.5, "3", None])
def test_the_number_of_features_is_a_whole_number(wrong):
    record = TreeModel(TREES, 3).to_json() | {"n_features": wrong}
    with pytest.raises(SettingError, match="expected a number of features and a list of trees"):
        model_from_json(record, 3)


def test_a_model_without_trees_scores_nothing_and_is_not_read():
    assert TreeModel((), 3).score(X, OFFSETS).tolist() == [0.0] * len(X)
    with pytest.raises(SettingError, match="there are no trees, expected at least one"):
        model_from_json({"kind": "trees", "n_features": 2, "trees": []}, 2)
