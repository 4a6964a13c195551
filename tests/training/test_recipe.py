"""Recipes: defaults that depend on the ranker or the measure, and settings that are refused."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from searchlab.errors import SettingError
from searchlab.features.preprocessing.preprocessor import Preprocessor
from searchlab.rankers.bundle import Bundle
from searchlab.rankers.estimators.lambdamart import LambdaMART
from searchlab.rankers.estimators.ranksvm import RankSVM, RankSVMIR
from searchlab.rankers.models.linear_model import LinearModel
from searchlab.rankers.ranker_registry import RANKERS
from searchlab.training.recipe import NO_PRIOR, Recipe
from tests.training.example_tables import some_table


def test_pairs_are_weighted_by_the_measure_that_settings_are_chosen_by():
    assert Recipe(measure="nDCG@10").make_ranker().depth == 10
    assert Recipe(measure="ndcg_cut_5").make_ranker().depth == 5
    assert Recipe(measure="AP").make_ranker().depth == 1
    assert Recipe(measure="nDCG").make_ranker().depth == 1
    assert Recipe(measure="nDCG@10", settings={"depth": 3}).make_ranker().depth == 3
    assert "depth" not in Recipe("rsvm", measure="nDCG@10").make_ranker().get_params()


def test_the_paper_recipe_weighs_pairs_by_ndcg_at_1_whatever_measure_chooses():
    assert Recipe(measure="nDCG@10", name="paper").make_ranker().depth == 1
    assert Recipe(measure="nDCG@10", name="paper", settings={"depth": 3}).make_ranker().depth == 3


@pytest.mark.parametrize(
    ("settings", "rules"),
    [
        ({"name": "paper"}, (False, 1, 1)),
        ({"name": "tuned"}, (True, 5, 1)),
        ({"name": "paper", "measure": "nDCG@10"}, (False, 1, 1)),
        ({"name": "tuned", "measure": "nDCG@10"}, (True, 5, 10)),
        ({"name": "tuned", "from_search": True}, (False, 5, 1)),
        ({"name": "tuned", "from_search": True, "powers": True}, (True, 5, 1)),
        ({"name": "paper", "powers": True, "n_best": 3, "settings": {"depth": 7}}, (True, 3, 7)),
        # A given C leaves nothing to average, a query's weight alone has no τ, and boosting neither.
        ({"name": "tuned", "settings": {"C": 1}}, (True, 1, 1)),
        ({"name": "tuned", "settings": {"C": 1}, "n_best": 3}, (True, 1, 1)),
        ({"name": "tuned", "ranker": "rsvm-ir-query", "measure": "nDCG@10"}, (True, 5, None)),
        ({"name": "tuned", "ranker": "rankboost", "n_best": 3}, (False, 1, None)),
        ({"name": "tuned", "ranker": "ordrank"}, (False, 1, None)),
        ({"name": "tuned", "ranker": "ordrank-weighted"}, (True, 5, None)),
    ],
)
def test_a_recipe_decides_on_powers_averaging_and_depth_unless_they_are_given(settings, rules):
    found = Recipe(**settings).rules
    assert (found.powers, found.n_averaged, found.tau_depth) == rules


@pytest.mark.parametrize(
    ("settings", "label"),
    [
        ({"name": "paper"}, "rsvm-ir"),
        ({"name": "tuned"}, "rsvm-ir, tuned"),
        ({"name": "tuned", "from_search": True}, "rsvm-ir, tuned"),
        ({"name": "paper", "powers": False, "n_best": 1}, "rsvm-ir"),
        ({"name": "tuned", "powers": True, "n_best": 5}, "rsvm-ir, tuned"),
        ({"name": "paper", "powers": True}, "rsvm-ir, powers"),
        ({"name": "paper", "n_best": 3, "settings": {"depth": 10}}, "rsvm-ir, average of 3, depth 10"),
        ({"name": "tuned", "powers": False}, "rsvm-ir, tuned, no powers"),
        ({"name": "tuned", "n_best": 1}, "rsvm-ir, tuned, not averaged"),
        # What remains of the tuned recipe is the paper's.
        ({"name": "tuned", "powers": False, "n_best": 1}, "rsvm-ir"),
        ({"name": "tuned", "ranker": "rankboost"}, "rankboost"),
        ({"name": "tuned", "ranker": "rankboost", "powers": True}, "rankboost, tuned, powers"),
        ({"name": "tuned", "ranker": "mhr"}, "mhr"),
        ({"name": "tuned", "ranker": "svm"}, "svm, tuned"),
        ({"name": "tuned", "ranker": "svm", "settings": {"loss": "hinge"}}, "svm, tuned, loss=hinge"),
        ({"name": "tuned", "ranker": "svm", "settings": {"loss": "hinge"}, "powers": False}, "svm"),
        ({"name": "paper", "ranker": "svm", "settings": {"loss": "squared-hinge"}}, "svm, loss=squared-hinge"),
        ({"name": "tuned", "ranker": "svm", "settings": {"kernel": "rbf"}}, "svm"),
    ],
)
def test_the_label_marks_the_tuned_recipe_and_what_was_given(settings, label):
    recipe = Recipe(**settings)
    assert recipe.label == label
    ranker, comma, marks = label.partition(", ")
    assert recipe.inline_label == (f"{ranker} ({marks})" if comma else ranker)


def test_recipes_are_shared_exactly_where_both_do_the_same():
    shared = {name for name in RANKERS if name != "linear" and Recipe(name).is_shared}
    assert {"rankboost", "mhr", "ordrank", "maxent", "single"} <= shared
    assert shared.isdisjoint(
        {"rsvm", "rsvm-ir", "rsvm-ir-rank", "rsvm-ir-query", "mhr-weighted", "ordrank-weighted", "svm"}
    )
    assert Recipe("rsvm", powers=True, n_best=2).is_shared
    # τ alone makes a difference if NDCG@10 chooses, none if AP does.
    given = {"powers": False, "n_best": 1}
    assert Recipe("rsvm-ir", measure="AP", **given).is_shared
    assert not Recipe("rsvm-ir", measure="nDCG@10", **given).is_shared


def test_a_recipe_says_what_it_does():
    assert Recipe(name="paper").describe() == "recipe paper: no powers, one value of C, τ from NDCG@1"
    tuned = Recipe(measure="nDCG@10")
    assert tuned.describe() == (
        "recipe tuned: powers of the features, average over the 5 best values of C, τ from NDCG@10"
    )
    assert Recipe("svm", name="paper").describe() == "recipe paper: no powers, one value of C, loss=hinge"
    assert Recipe("rankboost", name="paper").describe() == "recipe paper: no powers, one value of rounds"


def test_the_recipe_decides_how_many_models_are_averaged():
    table = some_table()
    for settings, n_members in [({"name": "paper"}, 1), ({"name": "tuned"}, 5), ({"name": "paper", "n_best": 2}, 2)]:
        recipe = Recipe("rsvm", **settings)
        choice = recipe.learn(table, recipe.validation_measure())
        assert len(choice.rankers) == len(choice.chosen) == n_members


def test_the_ranker_decides_by_default_how_features_are_bent():
    assert Recipe("rsvm").preprocessor.powers
    assert Recipe("rankboost").preprocessor.powers is False
    assert Recipe("mhr").preprocessor.powers is False
    assert Recipe("mhr-weighted").preprocessor.powers
    assert Recipe("rsvm", powers=False).preprocessor.powers is False


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"ranker": "rsvn"}, "unknown ranker 'rsvn'"),
        ({"settings": {"D": 1}}, "unknown setting of rsvm-ir 'D'"),
        ({"settings": {"C": -1}}, "rsvm-ir: C is -1"),
        ({"imputation": "nil"}, "unknown imputation 'nil'"),
        ({"normalisation": "nil"}, "unknown normalisation 'nil'"),
        ({"powers": "cubes"}, "powers is 'cubes', expected true or false"),
        ({"measure": "nDGC@10"}, "nDGC@10"),
        ({"dialect": "letor9"}, "unknown dialect 'letor9'"),
        ({"n_parts": 1}, "parts is 1, expected a whole number from 2"),
        ({"n_parts": 2.0}, r"parts is 2\.0, expected a whole number from 2"),
        ({"n_folds": 1}, "folds is 1, expected"),
        ({"n_folds": -1}, "folds is -1, expected"),
        ({"n_folds": True}, "folds is True, expected"),
        ({"name": "papers"}, r"unknown recipe 'papers' \(did you mean paper"),
        ({"n_best": 0}, "n_best is 0, expected a whole number from 1"),
        ({"n_best": True}, "n_best is True, expected a whole number from 1"),
        ({"seed": -1}, "seed is -1, expected a whole number from 0"),
    ],
)
def test_settings_out_of_range_are_refused(settings, message):
    with pytest.raises(SettingError, match=message):
        Recipe(**settings)


def test_a_setting_that_is_given_is_not_chosen_even_if_it_is_the_default():
    table = some_table()
    given, open_ = (Recipe("rankboost", settings) for settings in ({"rounds": 300}, {}))
    assert len(given.learn(table, given.validation_measure()).trials) == 1
    assert len(open_.learn(table, open_.validation_measure()).trials) > 1


def test_an_estimator_is_a_ranker():
    recipe = Recipe(Ridge(alpha=2.0), {"alpha": 5.0})
    assert (recipe.label, recipe.inline_label, recipe.ranker_name) == ("Ridge", "Ridge", "Ridge")
    assert recipe.is_shared
    assert recipe.make_ranker().estimator.alpha == 5.0
    assert recipe.ranker_description == "Ridge(alpha=2.0)"
    assert recipe.describe() == "recipe tuned: no powers"
    choice = recipe.learn(some_table(), recipe.validation_measure())
    assert len(choice.rankers) == 1


def test_a_ranker_of_ours_is_given_by_name_or_as_an_object():
    for made, named in [
        (Recipe(RankSVM()), Recipe("rsvm")),
        (Recipe(RankSVM(C=0.1)), Recipe("rsvm", {"C": 0.1})),
        (Recipe(RankSVMIR(mu=False), measure="nDCG@5"), Recipe("rsvm-ir-rank", measure="nDCG@5")),
        (Recipe(RankSVMIR(depth=7)), Recipe("rsvm-ir", {"depth": 7})),
        (Recipe(LambdaMART(leaves=15)), Recipe("lambdamart", {"leaves": 15})),
        (Recipe(LambdaMART(), {"leaves": 15}, name="paper"), Recipe("lambdamart", {"leaves": 15}, name="paper")),
    ]:
        assert made.rules == named.rules
        assert made.make_ranker().get_params() == named.make_ranker().get_params()
    assert Recipe(LambdaMART(leaves=15)).label == "lambdamart, tuned, leaves=15"
    with pytest.raises(SettingError, match="unknown setting of rsvm 'D'"):
        Recipe(RankSVM(), {"D": 1})
    with pytest.raises(SettingError, match="leaves is 1, expected a whole number from 2"):
        Recipe(LambdaMART(leaves=1))


def test_undefined_values_stay_for_rankers_that_take_them():
    assert Recipe("lambdamart", imputation="none").preprocessor.imputation.name == "none"
    assert Recipe(Ridge(), imputation="none").preprocessor.imputation.name == "none"
    with pytest.raises(SettingError, match="imputation is none, expected another: rsvm takes no undefined values"):
        Recipe("rsvm", imputation="none")


def test_the_recipes_of_lambdamart():
    paper, tuned = (Recipe("lambdamart", name=name) for name in ("paper", "tuned"))
    assert paper.describe() == (
        "recipe paper: no powers, one value of trees, leaves=10, learning_rate=0.1, min_rows=20, query_share=1.0, "
        "feature_share=1.0"
    )
    assert tuned.describe() == (
        "recipe tuned: no powers, average over the 5 best values of trees, leaves=7, learning_rate=0.05, min_rows=100, "
        "query_share=0.5, feature_share=0.3"
    )
    assert (paper.label, tuned.label) == ("lambdamart", "lambdamart, tuned")


# Priors.


def prior_bundle(*features, weights):
    preprocessor = Preprocessor.named("query-minimum", "query-minmax")
    return Bundle("rsvm", {}, LinearModel(np.array(weights)), features, preprocessor)


def test_learning_starts_from_a_prior_that_is_given():
    table = some_table(8)
    recipe = Recipe("rsvm", {"C": 1e-9}, powers=False, prior=prior_bundle("noise", "a", weights=[3.0, 1.0]))
    choice = recipe.learn(table, recipe.validation_measure())
    assert isinstance(choice.model, LinearModel)
    weights = choice.model.weights
    assert weights / weights[0] == pytest.approx([1.0, 0.0, 3.0], abs=0.01)
    assert choice.prior.bundle is recipe.prior
    assert recipe.to_json()["prior"] == choice.prior.to_json()
    assert "prior" not in replace(recipe, prior="none").to_json()


def test_a_prior_that_does_not_fit_the_features_is_refused_by_name():
    recipe = Recipe("rsvm", {"C": 1.0}, powers=False, prior=prior_bundle("a", "z", weights=[1.0, 1.0]))
    with pytest.raises(SettingError, match="prior rsvm: it needs z, which the features to learn from lack"):
        recipe.learn(some_table(8), recipe.validation_measure())
    with pytest.raises(SettingError, match="prior builtin: its features are prepared by"):
        replace(recipe, prior="builtin", normalisation="query-rank").find_prior(some_table(8))


def test_by_itself_only_a_tuned_ranking_svm_starts_from_the_built_in_model_and_only_with_its_features():
    assert Recipe.for_search("rsvm-ir").to_json()["prior"]["name"] == "builtin"
    assert Recipe.for_search("rsvm-ir").find_prior(some_table(8)) is None
    for recipe in (
        Recipe("rsvm-ir"),
        Recipe.for_search("rsvm-ir", name="paper"),
        Recipe.for_search("rsvm-ir-gd"),
        Recipe.for_search("rankboost"),
    ):
        assert "prior" not in recipe.to_json()


def test_a_search_is_learnt_from_by_softmax_around_the_built_in_model_without_a_path_of_values():
    recipe = Recipe.for_search()
    assert (recipe.label, recipe.to_json()["prior"]["name"]) == ("softmax", "builtin")
    assert recipe.is_shared
    table = some_table(8)
    choice = replace(recipe, prior=NO_PRIOR).learn(table, recipe.validation_measure())
    assert len(choice.rankers) == 1
    assert not len(choice.chosen[0].per_query)


def test_a_prior_for_a_ranker_that_takes_none_is_refused():
    with pytest.raises(SettingError, match="a prior for rankboost, expected softmax, a Ranking SVM with solver=qp"):
        Recipe("rankboost", prior="builtin")
    with pytest.raises(SettingError, match="the model is int, expected a Bundle, the path of one, or 'builtin'"):
        Recipe("rsvm", prior=3)


def test_repeats_become_fewer_with_many_queries_and_with_slow_rankers():
    recipe = Recipe("rsvm")
    assert [recipe.count_repeats(n) for n in (10, 200, 225, 500, 2000)] == [5, 5, 4, 2, 1]
    assert Recipe("rankboost").count_repeats(10) == Recipe("rsvm-ir-gd").count_repeats(10) == 1
    assert Recipe("rankboost", n_repeats=3).count_repeats(10) == 3
