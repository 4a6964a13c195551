"""Is what cross-validation says said by queries that a model has not seen, and is it put plainly?"""

from dataclasses import replace

import numpy as np
import pytest

from searchlab.errors import SettingError
from searchlab.evaluation.comparison import compare_values
from searchlab.features.feature_table import FeatureTable
from searchlab.rankers.bundle import load_bundle
from searchlab.training import from_table
from searchlab.training.cross_validation import deal_folds
from searchlab.training.from_table import Recipe, Trial, cross_validate, train_from_table
from searchlab.training.validation import Judge


def some_table(n_queries=12, signal=1.0, seed=1, first=0, n_docs=10):
    """Two features that tell of the grade, each in part, and one of noise."""
    random = np.random.default_rng(seed)
    n = n_queries * n_docs
    grades = random.integers(0, 3, n)
    values = random.normal(size=(n, 3)) + signal * grades[:, None] * [0.8, 0.8, 0.0]
    qids = np.repeat([f"q{first + number}" for number in range(n_queries)], n_docs)
    return FeatureTable(["a", "b", "noise"], qids, [f"d{row}" for row in range(n)], values, grades)


QUICK = {"C": 0.01}
TUNED = Recipe("rsvm-ir", n_parts=2, n_folds=3, bends="none")


def memory_table(n_queries=8, n_docs=4):
    """Each query has a feature of its own, which is its grade; in other queries it says nothing.

    A model that has seen a query orders it perfectly; one that has not knows nothing of it.
    """
    random = np.random.default_rng(3)
    grades = random.integers(0, 3, n_queries * n_docs)
    grades[::n_docs] = 2
    grades[1::n_docs] = 0
    values = np.zeros((len(grades), n_queries))
    for number in range(n_queries):
        rows = slice(number * n_docs, (number + 1) * n_docs)
        values[rows, number] = grades[rows]
    qids = np.repeat([f"q{number}" for number in range(n_queries)], n_docs)
    docnos = [f"d{row}" for row in range(len(grades))]
    return FeatureTable([f"f{number}" for number in range(n_queries)], qids, docnos, values, grades)


@pytest.mark.parametrize(
    ("ranker", "settings"),
    [("rsvm-ir", {}), ("rsvm", QUICK), ("mhr", QUICK), ("rankboost", {"rounds": 30}), ("svm", {}), ("single", {})],
)
def test_nothing_of_a_query_leaks_into_the_model_that_ranks_it(ranker, settings):
    table = memory_table()
    recipe = Recipe(ranker, settings, normalisation="none", bends="none", n_folds=4, n_parts=2)
    scores = cross_validate(recipe, table, recipe.judge())
    for _, rows in table.queries():
        assert np.ptp(scores[rows]) < 1e-9
    # One that has seen them knows better.
    seen = recipe.learn(table, recipe.judge()).scores(table)
    assert any(np.ptp(seen[rows]) > 1e-3 for _, rows in table.queries())
    if ranker == "rsvm-ir":
        assert recipe.judge().per_query(table, seen).tolist() == [1.0] * 8


def test_a_fold_is_trained_tuned_and_prepared_without_its_queries(monkeypatch):
    table = some_table(9)
    asked = []
    learn = from_table.choose

    def listen(ranker, train, **options):
        asked.append((set(train.query_ids), options.get("valid")))
        return learn(ranker, train, **options)

    monkeypatch.setattr(from_table, "choose", listen)
    recipe = Recipe("rsvm", QUICK, normalisation="standard", n_folds=3)
    scores = cross_validate(recipe, table, recipe.judge())
    folds = deal_folds(9, 3, recipe.seed)
    assert [qids for qids, _ in asked] == [
        {f"q{number}" for number in range(9)} - {f"q{number}" for number in fold} for fold in folds
    ]
    assert [valid for _, valid in asked] == [None] * 3
    # The scores of a fold are those of a model of the others.
    held_out = table.only([f"q{number}" for number in folds[1]])
    rest = table.only([qid for qid in table.query_ids if qid not in held_out.query_ids])
    expected = recipe.learn(rest, recipe.judge()).scores(held_out)
    rows = np.isin(table.qids.astype(str), held_out.query_ids)
    assert scores[rows].tolist() == expected.tolist()


def test_progress_is_told():
    told = []
    recipe = Recipe("rsvm", QUICK, n_folds=2)
    train_from_table(recipe, some_table(4), progress=lambda *step: told.append(step))
    assert told[:3] == [("cross-validating", 0, 2), ("cross-validating", 1, 2), ("cross-validating", 2, 2)]
    assert told[-1][0] == "training"
    assert told[-1][1] == told[-1][2]


# What a bundle tells of a training.


@pytest.fixture(scope="module")
def trained():
    return train_from_table(TUNED, some_table(18), source="features.txt")


def test_signal_in_several_features_helps(trained):
    trial = trained.trial
    assert trial["helps"]
    assert trial["verdict"].startswith("rsvm-ir helps: AP .")
    assert "against the best single feature on 18 held-out topics (" in trial["verdict"]
    assert trial["verdict"].endswith("; recommended: use it.")
    assert (trial["n_queries"], trial["n_folds"], trial["dialect"]) == (18, 3, "letor3")
    means = trial["means"]
    assert means["rsvm-ir"]["AP"] > means["the best single feature"]["AP"] + 0.02


def test_the_means_are_those_of_the_held_out_queries(trained):
    recipe, table = TUNED, some_table(18)
    judge = recipe.judge()
    own = judge.per_query(table, cross_validate(recipe, table, judge))
    assert trained.trial["means"]["rsvm-ir"]["AP"] == pytest.approx(float(np.mean(own)))
    # The single feature is chosen on the others as well.
    single = replace(TUNED, ranker="single")
    other = judge.per_query(table, cross_validate(single, table, judge))
    assert trained.trial["means"]["the best single feature"]["AP"] == pytest.approx(float(np.mean(other)))
    compared = compare_values("rsvm-ir", own, "the best single feature", other, "AP", seed=0)
    assert trained.trial["comparisons"] == [compared.sentence()]


def test_noise_is_not_recommended():
    bundle = train_from_table(Recipe("rsvm", QUICK, n_folds=3), some_table(15, signal=0.0))
    assert not bundle.trial["helps"]
    assert "rsvm is not shown to help: AP ." in bundle.trial["verdict"]
    assert bundle.trial["verdict"].endswith("recommended: stay with the best single feature.")


def test_what_was_tried_and_what_was_learnt_is_kept(trained, tmp_path):
    assert trained.ranker == "rsvm-ir"
    assert trained.settings == {"depth": 1, "draws": None, "seed": 0, "solver": "qp", "tolerance": 1e-5}
    assert trained.features == ("a", "b", "noise")
    assert trained.preparation.label == "query-minimum, query-minmax"
    assert (trained.analyser, trained.first_stage, dict(trained.definitions)) == (None, None, {})
    assert trained.training["source"] == "features.txt"
    assert (trained.training["n_queries"], trained.training["n_rows"], trained.training["seed"]) == (18, 180, 0)
    assert sum(trained.training["grades"].values()) == 180
    assert list(trained.training["grades"]) == ["0", "1", "2"]
    assert [details["converged"] for details in trained.training["details"]] == [True] * 5
    choice = trained.choice
    assert (choice["measure"], choice["dialect"], choice["setting"]) == ("AP", "letor3", "C")
    assert choice["by"] == "2 parts of the training queries in turn"
    assert len(choice["tried"]) == 16
    assert len(choice["chosen"]) == 5
    best = max(choice["tried"], key=lambda tried: tried["mean"])
    assert best["value"] in choice["chosen"]
    trained.save(tmp_path / "model.json")
    assert load_bundle(tmp_path / "model.json").to_json() == trained.to_json()


def test_the_model_that_is_kept_learnt_from_all(trained):
    recipe, table = TUNED, some_table(18)
    assert np.array_equal(trained.scores(table), recipe.learn(table, recipe.judge()).scores(table))


def test_a_validation_set_chooses_and_is_part_of_the_trial():
    train, valid = some_table(6), some_table(4, seed=2, first=50)
    bundle = train_from_table(Recipe("svm", n_folds=2), train, valid)
    assert bundle.choice["by"] == "validation set"
    assert bundle.trial["n_queries"] == 10
    assert bundle.training["n_queries"] == 6
    judge = Judge()
    best = max(bundle.choice["tried"], key=lambda tried: tried["mean"])
    assert bundle.settings["C"] == best["value"]
    assert best["mean"] == pytest.approx(float(np.mean(judge.per_query(valid, bundle.scores(valid)))))
    with pytest.raises(SettingError, match="query q3 is in the training set and in the validation set"):
        train_from_table(Recipe("svm", n_folds=2), train, some_table(2, first=3))


@pytest.mark.parametrize(("ranker", "settings"), [("rsvm", QUICK), ("linear", {"weights": [1, 1, 0]})])
def test_where_nothing_was_chosen_nothing_is_said_to_be(ranker, settings):
    bundle = train_from_table(Recipe(ranker, settings, n_folds=0, bends="none"), some_table(4))
    assert bundle.trial is None
    assert (bundle.choice["by"], bundle.choice["tried"]) == ("nothing: there was no choice", [])
    assert {name: bundle.settings[name] for name in settings} == settings


def test_a_setting_that_is_given_is_not_chosen_even_if_it_is_the_default():
    table = some_table()
    given, open_ = (Recipe("rankboost", settings) for settings in ({"rounds": 300}, {}))
    assert len(given.learn(table, given.judge()).trials) == 1
    assert len(open_.learn(table, open_.judge()).trials) > 1


def test_the_seed_deals_queries():
    tables = [train_from_table(Recipe("rsvm", QUICK, n_folds=3, seed=seed), some_table(12)) for seed in (0, 0, 1)]
    first, same, other = [table.trial["means"]["rsvm"]["AP"] for table in tables]
    assert first == same != other


def test_folds_are_no_more_than_queries():
    bundle = train_from_table(Recipe("rsvm", QUICK, n_folds=10), some_table(5))
    assert bundle.trial["n_folds"] == 5
    assert bundle.trial["verdict"].startswith("Too few topics to say whether rsvm helps: AP ")


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (some_table(3), "3 queries to cross-validate with, expected at least 4, or 0 folds"),
        (some_table(1), "1 query to cross-validate with"),
        (some_table(5).with_grades(None), "without grades, expected rows with grades"),
        (some_table(5).with_grades([1] * 50), "none of 5 queries has documents of different grades"),
        (some_table(5).with_grades(np.repeat(range(5), 10)), "none of 5 queries has documents of different grades"),
        (some_table(5).rows(slice(0, 0)), "0 rows to train with"),
    ],
)
def test_what_nothing_can_be_learnt_from_is_refused(table, message):
    with pytest.raises(SettingError, match=message):
        train_from_table(Recipe("rsvm", QUICK), table)


# Recipes.


def test_pairs_are_weighed_by_the_measure_that_is_chosen_by():
    assert Recipe(measure="nDCG@10").make_ranker().depth == 10
    assert Recipe(measure="ndcg_cut_5").make_ranker().depth == 5
    assert Recipe(measure="AP").make_ranker().depth == 1
    assert Recipe(measure="nDCG").make_ranker().depth == 1
    assert Recipe(measure="nDCG@10", settings={"depth": 3}).make_ranker().depth == 3
    assert "depth" not in Recipe("rsvm", measure="nDCG@10").make_ranker().get_params()


def test_how_features_are_bent_is_left_to_the_ranker():
    assert Recipe("rsvm").preparation.bends == "powers"
    assert Recipe("rankboost").preparation.bends == "none"
    assert Recipe("mhr").preparation.bends == "none"
    assert Recipe("mhr-weighted").preparation.bends == "powers"
    assert Recipe("rsvm", bends="none").preparation.bends == "none"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"ranker": "rsvn"}, "unknown ranker 'rsvn'"),
        ({"settings": {"D": 1}}, "unknown setting of rsvm-ir 'D'"),
        ({"settings": {"C": -1}}, "rsvm-ir: C is -1"),
        ({"filling": "nil"}, "unknown filling 'nil'"),
        ({"normalisation": "nil"}, "unknown normalisation 'nil'"),
        ({"bends": "cubes"}, "unknown way to bend features 'cubes'"),
        ({"measure": "nDGC@10"}, "nDGC@10"),
        ({"dialect": "letor9"}, "unknown dialect 'letor9'"),
        ({"n_parts": 1}, "parts is 1, expected a whole number from 2"),
        ({"n_parts": 2.0}, r"parts is 2\.0, expected a whole number from 2"),
        ({"n_folds": 1}, "folds is 1, expected"),
        ({"n_folds": -1}, "folds is -1, expected"),
        ({"n_folds": True}, "folds is True, expected"),
        ({"seed": -1}, "seed is -1, expected a whole number from 0"),
    ],
)
def test_a_recipe_that_makes_no_sense_is_refused_at_once(settings, message):
    with pytest.raises(SettingError, match=message):
        Recipe(**settings)


# Verdicts.


def compared(name, change, n=20, noise=0.0, mean=0.4, seed=5):
    """A model against something, `change` better on average."""
    random = np.random.default_rng(seed)
    other = np.full(n, mean) + 0.1 * random.normal(size=n)
    own = other + change + noise * random.normal(size=n)
    own += change - np.mean(own - other)
    return compare_values("rsvm", own, name, other, "AP")


def verdict_of(*comparisons, n=20):
    trial = Trial("rsvm", n, 5, "trec", {}, comparisons)
    assert trial.to_json()["verdict"] == trial.verdict()
    assert trial.to_json()["helps"] == trial.helps
    return trial


def test_better_on_most_topics_helps():
    trial = verdict_of(compared("BM25", 0.1))
    assert trial.helps
    first = trial.comparisons[0]
    change = f"{first.mean_b:.4f} → {first.mean_a:.4f}".replace("0.", ".")
    assert trial.verdict() == (
        f"rsvm helps: AP {change} against BM25 on 20 held-out topics (20 better, 0 worse, p < .001); "
        "recommended: use it."
    )


def test_what_else_it_is_better_than_is_told():
    trial = verdict_of(compared("BM25", 0.1), compared("RM3", 0.01, noise=0.2))
    assert trial.helps
    assert "; against RM3 ." in trial.verdict()
    assert trial.verdict().endswith(", may be chance); recommended: use it.")


def test_worse_on_most_topics_hurts():
    trial = verdict_of(compared("BM25", -0.1))
    assert not trial.helps
    assert trial.verdict().startswith("rsvm hurts: AP .")
    assert trial.verdict().endswith("(0 better, 20 worse, p < .001); recommended: stay with BM25.")


@pytest.mark.parametrize("change", [0.01, -0.01])
def test_what_may_be_chance_is_not_shown_to_help(change):
    trial = verdict_of(compared("BM25", change, noise=0.2))
    assert not trial.helps
    assert trial.verdict().startswith("rsvm is not shown to help: AP .")
    assert trial.verdict().endswith(", may be chance); recommended: stay with BM25.")


def test_equal_rankings_are_not_shown_to_help():
    trial = verdict_of(compared("BM25", 0.0))
    assert not trial.helps
    assert "rsvm is not shown to help" in trial.verdict()


@pytest.mark.parametrize(("change", "noise", "how"), [(-0.05, 0.0, "hurts"), (-0.01, 0.2, "is not shown to help")])
def test_better_than_the_first_search_is_not_enough_if_expansion_is_better_still(change, noise, how):
    trial = verdict_of(compared("BM25", 0.1), compared("RM3", change, noise=noise))
    assert not trial.helps
    assert trial.verdict().startswith(f"rsvm {how}: AP .")
    assert " against RM3 on 20 held-out topics (" in trial.verdict()
    assert trial.verdict().endswith("recommended: stay with RM3.")


def test_what_hurts_the_first_search_is_told_against_it():
    verdict = verdict_of(compared("BM25", -0.1), compared("RM3", 0.05)).verdict()
    assert verdict.startswith("rsvm hurts: AP .")
    assert verdict.endswith("recommended: stay with BM25.")


@pytest.mark.parametrize("n", [5, 9])
def test_of_few_topics_nothing_is_concluded(n):
    trial = verdict_of(compared("BM25", 0.1, n=n), n=n)
    assert trial.verdict().startswith("Too few topics to say whether rsvm helps: AP .")
    assert trial.verdict().endswith("; recommended: judge more topics.")
    assert f"on {n} held-out topics" in trial.verdict()
    assert "Too few" not in verdict_of(compared("BM25", 0.1, n=10), n=10).verdict()
