"""Priors: weights by the names of columns, and models that do not fit are refused with the reason."""

import numpy as np
import pytest

from searchlab.errors import SettingError
from searchlab.features.preprocessing.preprocessor import Preprocessor
from searchlab.rankers.builtin import load_builtin
from searchlab.rankers.bundle import Bundle
from searchlab.rankers.models.kernel_model import KernelModel
from searchlab.rankers.models.linear_model import LinearModel
from searchlab.rankers.prior import Prior

MINMAX = Preprocessor.named("query-minimum", "query-minmax")


def bundle_of(*features, weights=(1.0, 2.0), preprocessor=MINMAX):
    return Bundle("rsvm", {}, LinearModel(np.array(weights)), features, preprocessor)


def test_weights_belong_to_names_and_unknown_columns_start_from_0():
    prior = Prior.of(bundle_of("a", "b"))
    assert prior.weights_for(["b", "own", "a"]) == (2.0, 0.0, 1.0)
    assert prior.find_misfit(["b", "own", "a"], MINMAX) == ""


def test_powers_have_weights_of_their_own():
    prepared = Preprocessor.named("query-minimum", "query-minmax", powers=True)
    prior = Prior.of(bundle_of("a", weights=(1.0, 2.0, 3.0), preprocessor=prepared))
    assert prior.weights_for(prior.columns) == (1.0, 2.0, 3.0)
    assert "its features are prepared by query-minimum, query-minmax, powers, those" in prior.find_misfit(
        prior.columns, MINMAX
    )


def test_what_does_not_fit_is_told():
    prior = Prior.of(bundle_of("a", "b"))
    assert prior.find_misfit(["a", "c"], MINMAX) == "it needs b, which the features to learn from lack"
    ranks = Preprocessor.named("query-minimum", "query-rank")
    expected = (
        "its features are prepared by query-minimum, query-minmax, those to learn from by query-minimum, query-rank"
    )
    assert prior.find_misfit(["a", "b"], ranks) == expected


def test_only_linear_models_are_priors():
    kernel = KernelModel.__new__(KernelModel)
    with pytest.raises(SettingError, match="prior svm is a model of svm, expected linear weights"):
        Prior.of(Bundle("svm", {}, kernel, ("a",), MINMAX))


def test_a_prior_is_known_by_its_name_and_its_weights(tmp_path):
    first, second = bundle_of("a", "b"), bundle_of("a", "b", weights=(1.0, 2.5))
    first.save(tmp_path / "sister.json")
    record = Prior.of(tmp_path / "sister.json").to_json()
    assert record["name"] == "sister.json"
    assert record["fingerprint"] == Prior.of(first).to_json()["fingerprint"]
    assert record["fingerprint"] != Prior.of(second).to_json()["fingerprint"]
    assert Prior.of("builtin").bundle is load_builtin()
