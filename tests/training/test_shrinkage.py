# mypy: disable-error-code="attr-defined"
"""Shrinkage of a model towards its prior: by the gains on held-out queries, worked by hand."""

from dataclasses import replace

import numpy as np
import pytest

from searchlab.features.preprocessing.preprocessor import Preprocessor
from searchlab.rankers.bundle import Bundle
from searchlab.rankers.models.linear_model import LinearModel
from searchlab.rankers.prior import Prior
from searchlab.training.recipe import Recipe
from searchlab.training.selection import Choice, SettingTrial
from searchlab.training.shrinkage import probability_of_loss, shrink_to_prior
from searchlab.training.validation import ValidationMeasure
from tests.training.example_tables import some_table

PLAIN = Preprocessor.named("zero", "none")


def test_the_probability_of_loss():
    # The mean is .2, the standard error .1633/√4 = .0816: 2.449 standard errors.
    assert probability_of_loss(np.array([0.0, 0.2, 0.4, 0.2])) == pytest.approx(0.00715, abs=1e-4)
    assert probability_of_loss(np.array([-1.0, 1.0])) == 0.5
    assert probability_of_loss(np.array([0.0, -0.2, -0.4, -0.2])) == pytest.approx(1 - 0.00715, abs=1e-4)
    assert [probability_of_loss(np.full(3, gain)) for gain in (0.1, 0.0, -0.1)] == [0.0, 0.5, 1.0]
    assert probability_of_loss(np.array([0.3])) == 0.0


@pytest.fixture
def table():
    return some_table(n_queries=6)


@pytest.mark.parametrize("gain", [1.0, -1.0])
def test_a_model_that_always_gains_is_kept_and_one_that_always_loses_is_replaced(table, gain):
    measure = ValidationMeasure("nDCG@10", "trec")
    n = table.values.shape[1]
    own, other = np.eye(n)[0], np.eye(n)[1]
    prior = Prior.of(Bundle("rsvm", {}, LinearModel(other), table.names, PLAIN))
    before = measure.per_query(table, prior.bundle.scores(table))
    trial = SettingTrial(PLAIN, 1.0, before + gain, None)
    choice = Choice(LinearModel(own), PLAIN.fit(table), (), (trial,), (trial,))
    shrunk = shrink_to_prior(choice, prior, table, [table], measure)
    assert shrunk.prior_share == (0.0 if gain > 0 else 1.0)
    kept, column = (own, 0) if gain > 0 else (other, 1)
    assert shrunk.model.weights == pytest.approx(kept / np.std(table.values[:, column]))


def test_half_of_each_where_nothing_is_known(table):
    measure = ValidationMeasure("nDCG@10", "trec")
    n = table.values.shape[1]
    prior = Prior.of(Bundle("rsvm", {}, LinearModel(np.eye(n)[1]), table.names, PLAIN))
    trial = SettingTrial(PLAIN, 1.0, measure.per_query(table, prior.bundle.scores(table)), None)
    choice = Choice(LinearModel(np.eye(n)[0]), PLAIN.fit(table), (), (trial,), (trial,))
    weights = shrink_to_prior(choice, prior, table, [table], measure).model.weights
    assert weights[:2] == pytest.approx(0.5 / np.std(table.values[:, :2], axis=0))


def test_learning_with_a_prior_shrinks_towards_it(table):
    recipe = Recipe.for_search("rsvm", normalisation="none", imputation="zero", n_parts=2)
    prior = Bundle("rsvm", {}, LinearModel(np.ones(table.values.shape[1])), table.names, recipe.preprocessor)
    choice = replace(recipe, prior=prior).learn(table, ValidationMeasure("nDCG@10", "trec"))
    assert 0 <= choice.prior_share <= 1
    assert choice.prior is not None
