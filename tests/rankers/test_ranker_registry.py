"""Rankers of a user's own are registered by a decorator, and work by their names as built-in ones do."""

import pytest
from sklearn.linear_model import Ridge

import searchlab
from searchlab import extensions
from searchlab.errors import SettingError
from searchlab.rankers import ranker_registry
from searchlab.rankers.estimators.estimator_ranker import EstimatorRanker
from searchlab.rankers.estimators.ranksvm import RankSVM
from searchlab.rankers.ranker_registry import BUILT_IN, RANKERS, make_ranker


@pytest.fixture(autouse=True)
def registry(monkeypatch):
    """Registries that forget what a test has registered."""
    monkeypatch.setattr(ranker_registry, "RANKERS", dict(RANKERS))
    monkeypatch.setattr(extensions, "ORIGINS", {})


def test_a_function_makes_a_ranker_of_its_settings():
    @searchlab.ranker("own.ridge")
    def ridge(strength=1.0):
        """Ridge regression.

        More text.
        """
        return Ridge(alpha=strength)

    assert ridge(2.0).alpha == 2.0
    made = make_ranker("own.ridge", {"strength": "0.5"})
    assert isinstance(made, EstimatorRanker)
    assert made.estimator.alpha == 0.5
    assert ranker_registry.RANKERS["own.ridge"].description == "Ridge regression."
    assert extensions.origin_of("ranker", "own.ridge") == extensions.Origin.of(ridge)
    with pytest.raises(SettingError, match=r"unknown setting of own.ridge 'alpha'.*; there is: strength"):
        make_ranker("own.ridge", {"alpha": 1})


def test_a_class_is_registered_with_a_description():
    searchlab.ranker("own.svm", "my SVM")(RankSVM)
    made = make_ranker("own.svm", {"C": "2"})
    assert isinstance(made, RankSVM)
    assert made.C == 2
    assert ranker_registry.RANKERS["own.svm"].description == "my SVM"
    with pytest.raises(SettingError, match=r"own.svm: C is -1, expected a number above 0"):
        make_ranker("own.svm", {"C": "-1"})


def test_any_setting_goes_to_a_function_that_takes_any():
    searchlab.ranker("own.any")(lambda **settings: Ridge(**settings))
    assert make_ranker("own.any", {"alpha": 3}).estimator.alpha == 3
    with pytest.raises(SettingError, match=r"ranker own.any failed .*unexpected keyword argument 'beta'"):
        make_ranker("own.any", {"beta": 3})


def test_a_function_that_fails_is_named_with_its_line():
    searchlab.ranker("own.failing")(lambda depth=0: Ridge(alpha=1 / depth))
    with pytest.raises(
        SettingError, match=r"^ranker own.failing failed .*: ZeroDivisionError: .* .test_ranker_reg.*line"
    ):
        make_ranker("own.failing")


def test_what_makes_no_ranker_is_refused():
    with pytest.raises(SettingError, match="ranker own is Ridge, expected a class or function that makes it"):
        searchlab.ranker("own")(Ridge())  # type: ignore[type-var]
    with pytest.raises(SettingError, match="ranker rsvm is built in, expected another name"):
        searchlab.ranker("rsvm")(Ridge)
    searchlab.ranker("own.number")(lambda: 3)
    with pytest.raises(SettingError, match=r"own.number: ranker is int, expected a name, or an estimator"):
        make_ranker("own.number")


def test_built_in_names_are_those_without_extensions():
    searchlab.ranker("own.ridge")(Ridge)
    assert "own.ridge" in ranker_registry.RANKERS
    assert "own.ridge" not in BUILT_IN
    assert "lambdamart" in BUILT_IN
