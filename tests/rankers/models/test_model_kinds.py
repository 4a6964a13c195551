# mypy: disable-error-code="attr-defined"
"""Averages of models of one kind."""

import numpy as np
import pytest

from searchlab.errors import SettingError
from searchlab.rankers.models.linear_model import LinearModel
from searchlab.rankers.models.model_kinds import average_models
from searchlab.rankers.models.rule_model import RuleModel
from searchlab.rankers.models.voting_model import VotingModel


def test_averaged_voting_models_have_the_hyperplanes_of_all():
    random = np.random.default_rng(3)
    X, offsets = random.normal(size=(9, 2)), np.array([0, 4, 9])
    models = [VotingModel(random.normal(size=(2, 2)), ((2.0, 1.0), (1.0, 0.0)), "score") for _ in range(3)]
    together = average_models(models, [0.1, 5.0, 0.0])
    assert np.array_equal(together.planes, np.vstack([model.planes for model in models]))
    assert together.grades == models[0].grades * 3
    assert together.votes == "score"
    expected = np.mean([model.score(X, offsets) for model in models], axis=0)
    assert together.score(X, offsets) == pytest.approx(expected)


def test_linear_models_are_averaged_by_their_spreads():
    models = [LinearModel(np.array([1.0, 0.0])), LinearModel(np.array([0.0, 8.0])), LinearModel(np.array([5.0, 5.0]))]
    # ⅓·(1/½)·(1, 0) + ⅓·¼·(0, 8); a model without spread is left out.
    assert average_models(models, [0.5, 4.0, 0.0]).weights.tolist() == pytest.approx([2 / 3, 2 / 3])
    assert average_models(models[:1], [0.5]) is models[0]
    rules = RuleModel(np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0), 1)
    with pytest.raises(SettingError, match="rules models cannot be averaged"):
        average_models([rules, rules], [1.0, 1.0])
