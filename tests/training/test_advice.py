"""Advice: the sentence fits the cross-validation, and the number of further topics is about right."""

from dataclasses import replace

import numpy as np
import pytest

from searchlab.errors import SettingError
from searchlab.evaluation.comparison import compare_values
from searchlab.evaluation.significance import paired_t_test
from searchlab.rankers.first_stage import FirstStage
from searchlab.records import Document, Topic
from searchlab.retrieval.engine import SearchEngine
from searchlab.training.advice import Advice, advise, advise_before, topics_needed
from searchlab.training.cross_validation import BUILT_IN, CrossValidationResult
from searchlab.training.from_index import train_from_index
from searchlab.training.learning_curve import CurvePoint, LearningCurve
from searchlab.training.recipe import Recipe


def differences(n, mean, deviation, seed=3):
    """Differences of n topics with exactly this mean and standard deviation."""
    drawn = np.random.default_rng(seed).normal(size=n)
    return mean + deviation * (drawn - np.mean(drawn)) / np.std(drawn, ddof=1)


def against(name, mean, deviation=0.1, n=20, seed=3):
    return compare_values("rsvm", 0.3 + differences(n, mean, deviation, seed), name, np.full(n, 0.3), "AP")


def advice_on(*comparisons, n=20, n_judgments=0):
    return advise(CrossValidationResult("rsvm", n, 5, "trec", {}, comparisons, n_judgments))


# The number of further topics, by hand.


def test_the_number_of_topics_is_that_of_the_formula():
    # (1.96 + .84)/1.4 = 2; 2² = 4 times as many topics are needed.
    assert topics_needed(20, 1.4) == pytest.approx(80)
    assert topics_needed(20, 2.8) == pytest.approx(20)
    assert topics_needed(20, 0.0) == topics_needed(20, -1.0) == float("inf")


def test_a_difference_that_may_be_chance_comes_with_the_number_of_topics_that_would_settle_it():
    # t = .02/(.08/√20) = 1.118: 20·(2.8/1.118)² = 125.4 topics, 105.4 more, rounded up to 110.
    advice = advice_on(against("BM25", 0.02, 0.08), n_judgments=160)
    assert (advice.kind, advice.n_more) == ("not yet", 110)
    assert advice.sentence == (
        "rsvm is not shown to help yet: AP .3000 → .3200 against BM25 on 20 held-out topics, p = .29, "
        "which may be chance; about 110 more topics (about 880 judgments at the rate so far) would probably settle it, "
        "if they are like these: stay with BM25 until then."
    )


def test_without_a_number_of_judgments_only_topics_are_counted():
    assert "about 110 more topics would probably settle it" in advice_on(against("BM25", 0.02, 0.08)).sentence


@pytest.mark.parametrize(
    ("t", "n_more"),
    [(2.0, 20), (1.9, 25), (1.0, 140), (0.85, 200), (0.84, None), (0.1, None)],
    ids=["19.2 more", "23.4 more", "136.8 more", "197 more", "202 more: more than ten times as many", "15,660 more"],
)
def test_the_number_is_rounded_up_and_left_out_where_it_is_out_of_proportion(t, n_more):
    advice = advice_on(against("BM25", t * 0.1 / np.sqrt(20)))
    assert (advice.kind, advice.n_more) == ("not yet", n_more)


def test_thousands_of_topics_are_not_asked_for_even_if_there_are_hundreds():
    # t = 1: 200·7.84 - 200 = 1368 more, less than ten times as many.
    advice = advice_on(against("BM25", 0.1 / np.sqrt(200), n=200), n=200)
    assert advice.n_more is None
    too_many = "; it would take too many more judgments to show so small a difference: stay with BM25."
    assert advice.sentence.endswith(too_many)


def test_the_number_of_topics_has_a_power_of_80_percent():
    """That many topics, drawn with the observed difference, are significant in about 80 % of the draws."""
    n, mean, deviation = 25, 0.03, 0.1
    found = against("BM25", mean, deviation, n=n)
    assert not found.significant
    total = round(topics_needed(n, found.t.statistic))
    random = np.random.default_rng(11)

    def power(size):
        return np.mean([paired_t_test(random.normal(mean, deviation, size)).p < 0.05 for _ in range(1500)])

    assert total == 87
    assert power(total) == pytest.approx(0.8, abs=0.04)
    assert power(n) < 0.4


# The other kinds of advice.


def test_a_model_that_helps_is_recommended():
    advice = advice_on(against("BM25", 0.1, 0.05), against("RM3", 0.11, 0.05))
    assert advice == Advice(
        "helps", "rsvm helps: AP .3000 → .4000 against BM25 on 20 held-out topics, p < .001: use it.", use="rsvm"
    )


def test_a_model_is_compared_with_the_built_in_one_and_with_the_best_search():
    advice = advice_on(against("BM25", 0.1, 0.05), against(BUILT_IN, 0.01, 0.1))
    assert (advice.kind, advice.use) == ("not yet", BUILT_IN)
    assert advice.sentence == (
        "rsvm is better than BM25, but not shown to be better than the built-in model yet: AP .3000 → .3100 against "
        "the built-in model on 20 held-out topics, p = .67, which may be chance; it would take too many more "
        "judgments to show so small a difference: stay with the built-in model."
    )


def test_a_model_that_is_better_than_the_built_in_one_too_is_recommended():
    advice = advice_on(against("BM25", 0.1, 0.05), against(BUILT_IN, 0.05, 0.05))
    assert (advice.kind, advice.use) == ("helps", "rsvm")
    assert advice.sentence == (
        "rsvm helps: AP .3000 → .3500 against the built-in model on 20 held-out topics, p < .001; "
        "AP .3000 → .4000 against BM25, p < .001: use it."
    )


def test_the_built_in_model_is_kept_where_it_is_as_good():
    advice = advice_on(against("BM25", 0.1, 0.05), against(BUILT_IN, -0.1, 0.05))
    assert (advice.kind, advice.use) == ("hurts", BUILT_IN)
    assert advice.sentence.startswith("rsvm is better than BM25, but worse than the built-in model: AP .3000 → .2000")
    assert advice.sentence.endswith(": stay with the built-in model.")


def test_corrected_p_values_decide_and_are_named():
    found = against("BM25", 0.04, 0.08)
    assert found.p < 0.05
    corrected = [replace(each, p_corrected=0.08) for each in (found, against("RM3", 0.05, 0.08))]
    advice = advice_on(*corrected)
    assert advice.kind == "not yet"
    assert ", p = .08 after correction, which may be chance; " in advice.sentence


def curve_of(gain, deviation):
    half = np.full(20, 0.3)
    points = CurvePoint(8, half - 0.1), CurvePoint(20, half), CurvePoint(40, half + differences(20, gain, deviation))
    return LearningCurve("AP", points)


@pytest.mark.parametrize(
    ("gain", "deviation", "expected"),
    [
        (0.05, 0.02, "AP +.050, p < .001: more judgments will probably help."),
        (0.01, 0.1, "AP +.010, p = .67, which may be chance: twice as many judgments of this kind would probably "),
        (-0.05, 0.02, "AP -.050, p < .001: twice as many judgments of this kind would probably change little."),
    ],
)
def test_the_last_doubling_says_whether_more_judgments_are_likely_to_help(gain, deviation, expected):
    result = CrossValidationResult("rsvm", 20, 5, "trec", {}, (against("BM25", 0.1),), curve=curve_of(gain, deviation))
    found = advise(result).more_judgments.replace("−", "-")
    assert found.startswith(f"Learning from 40 topics instead of 20: {expected}")


def test_a_model_that_hurts_is_not_recommended():
    advice = advice_on(against("BM25", -0.1, 0.05))
    assert advice == Advice(
        "hurts",
        "rsvm hurts: AP .3000 → .2000 against BM25 on 20 held-out topics, p < .001: stay with BM25.",
        use="BM25",
    )


def test_a_model_that_is_worse_perhaps_by_chance_does_not_help_so_far():
    advice = advice_on(against("BM25", -0.01, 0.1))
    assert (advice.kind, advice.n_more) == ("not yet", None)
    assert advice.sentence.startswith("rsvm does not help so far: AP .3000 → .2900 against BM25 on 20 held-out topics")
    assert advice.sentence.endswith(", which may be chance: stay with BM25 for now.")


def test_equal_rankings_make_no_difference():
    advice = advice_on(against("BM25", 0.0, 0.0))
    assert advice == Advice(
        "not yet",
        "rsvm makes no difference so far: AP .3000, as with BM25 on 20 held-out topics: stay with BM25 for now.",
        use="BM25",
    )


@pytest.mark.parametrize(
    ("mean", "deviation", "kind", "effect"),
    [
        (-0.1, 0.05, "hurts", "worse than the built-in model: AP .3000 → .2000"),
        (-0.01, 0.1, "not yet", "no better than the built-in model: AP .3000 → .2900"),
        (0.0, 0.0, "not yet", "no better than the built-in model: AP .3000, as with the built-in model"),
    ],
)
def test_a_baseline_that_is_as_good_and_needs_no_training_is_preferred(mean, deviation, kind, effect):
    advice = advice_on(against("BM25", 0.1, 0.05), against(BUILT_IN, mean, deviation))
    assert advice.kind == kind
    assert advice.sentence.startswith(f"rsvm is better than BM25, but {effect}")


def test_a_gain_that_may_be_chance_is_reported_as_such():
    advice = advice_on(against("BM25", 0.01, 0.1), against(BUILT_IN, -0.1, 0.05))
    assert advice.sentence.startswith("rsvm may be better than BM25, but worse than the built-in model: AP .3000 → ")
    assert ": stay with the built-in model" in advice.sentence


def test_a_model_is_compared_with_the_best_baseline():
    advice = advice_on(against("BM25", -0.1, 0.05), against("RM3", -0.2, 0.05))
    assert advice.kind == "hurts"
    assert advice.sentence.startswith("rsvm hurts: AP .3000 → .1000 against RM3 ")
    assert advice.use == "RM3"


# Too few topics.


@pytest.mark.parametrize("change", [0.1, -0.1])
def test_few_topics_allow_no_verdict(change):
    advice = advice_on(against("BM25", change, 0.01, n=7), n=7, n_judgments=70)
    assert (advice.kind, advice.n_more) == ("too few", 3)
    assert advice.sentence == (
        f"7 topics with a relevant document are too few to say whether rsvm helps (AP .3000 → {0.3 + change:.4f} "
        "against BM25): judge at least 3 more topics (about 30 judgments at the rate so far)."
    ).replace("0.", ".")
    assert advice_on(against("BM25", change, 0.01, n=10), n=10).kind != "too few"


def test_before_training_the_missing_topics_are_counted():
    assert advise_before(3, 30) == Advice(
        "too few",
        "Too few judgments: 3 topics have a relevant document, training needs 4, a verdict 10; "
        "judge 1 more topic (about 10 judgments at the rate so far).",
        1,
    )
    assert advise_before(0, 0).sentence.endswith("; judge 4 more topics.")
    assert advise_before(1, 5).sentence.startswith("Too few judgments: 1 topic has a relevant document")
    assert advise_before(4, 5) is None


def test_a_cross_validation_result_holds_its_advice():
    result = CrossValidationResult("rsvm", 20, 5, "trec", {}, (against("BM25", 0.02, 0.08),), 160)
    assert result.to_json()["advice"] == advise(result).to_json()
    assert list(advise(result).to_json()) == ["kind", "sentence", "n_more", "use", "more_judgments"]


def test_training_from_an_index_counts_the_judgments_of_each_topic(build):
    words = [f"w{number}" for number in range(6)]
    documents = [Document(f"{word}-{n}", "", f"{word} " * n + "a b c") for word in words for n in range(1, 4)]
    qrels = {word: {f"{word}-1": 1, f"{word}-2": 0, "elsewhere": 0} for word in words}
    recipe = Recipe("single", {"feature": 0}, measure="AP", dialect="trec", n_folds=2)
    with SearchEngine(build(documents)) as engine:
        topics = [Topic(word, word) for word in words]
        found = train_from_index(engine, topics, qrels, ["score.both.bm25"], recipe=recipe, first_stage=FirstStage(8))
    # Four more topics, of three judgments each.
    assert found.trial["advice"]["n_more"] == 4
    assert "(about 12 judgments at the rate so far)" in found.trial["advice"]["sentence"]
    assert found.training["topics"] == {word: word for word in words}


def test_an_unknown_kind_is_refused():
    with pytest.raises(SettingError, match="kind of advice is 'maybe', expected one of too few, not yet"):
        Advice("maybe", "")
