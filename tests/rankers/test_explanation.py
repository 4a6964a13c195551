"""Explanations: contributions add up to the score, and are attributed to features, grades and terms."""

import math

import numpy as np
import pytest

from searchlab.features.feature_table import FeatureTable
from searchlab.features.preprocessing.preprocessor import Preprocessor
from searchlab.rankers.bundle import Bundle, columns_of
from searchlab.rankers.explanation import ContributionDifference, compare_explanations, describe_lead
from searchlab.rankers.models.kernel_model import KernelModel
from searchlab.rankers.models.linear_model import LinearModel
from searchlab.rankers.models.model_kinds import average_models
from searchlab.rankers.models.rule_model import RuleModel
from searchlab.rankers.models.voting_model import VotingModel
from searchlab.retrieval.results import Contribution, Explanation

FEATURES = ("a", "b", "c")


def some_table(seed=3):
    random = np.random.default_rng(seed)
    values = random.normal(size=(12, 3))
    values[random.random(values.shape) < 0.15] = np.nan
    return FeatureTable(FEATURES, np.repeat(["x", "y"], [5, 7]), [f"d{row}" for row in range(12)], values)


def make_bundle(model, rules=("query-minimum", "query-minmax", False), features=FEATURES):
    table = some_table().with_values(some_table().values[:, : len(features)], features)
    preprocessor = Preprocessor.named(*rules).fit(table)
    made = model(len(columns_of(features, preprocessor))) if callable(model) else model
    return Bundle("own", {}, made, features, preprocessor)


def votes(how, n_planes=2):
    pairs = ((2.0, 1.0), (1.0, 0.0)) * (n_planes // 2)
    return lambda n: VotingModel(np.random.default_rng(n).normal(size=(n_planes, n)), pairs, how)


def kernel(name):
    def make(n):
        random = np.random.default_rng(n)
        return KernelModel(random.normal(size=(4, n)), random.normal(size=4), 0.7, name, gamma=0.2, degree=2)

    return make


def rules(n):
    random = np.random.default_rng(n)
    return RuleModel(random.integers(0, n, 25), random.choice([0.2, 0.5, 0.8], 25), random.normal(size=25), n)


MODELS = {
    "linear": lambda n: LinearModel(np.random.default_rng(n).normal(size=n)),
    "counted votes": votes("count"),
    "weighed votes": votes("score"),
    "votes of several": votes("score", 6),
    "rules": rules,
    "no rules": lambda n: RuleModel(np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0), n),
    "rbf": kernel("rbf"),
    "poly": kernel("poly"),
    "linear kernel": kernel("linear"),
}
RULES = {
    "plain": ("query-minimum", "query-minmax", False),
    "powers": ("query-minimum", "query-minmax", True),
    "marked powers": ("indicator", "standard", True),
    "ranks": ("zero", "query-rank", False),
}
every_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
all_rules = pytest.mark.parametrize("how", RULES.values(), ids=RULES)


@every_model
@all_rules
def test_contributions_add_up_to_the_score_and_differences_to_the_lead(model, how):
    bundle, table = make_bundle(model, how), some_table()
    scores = bundle.scores(table)
    explanations = [bundle.explain(table, row) for row in range(12)]
    for row, explanation in enumerate(explanations):
        assert explanation.docno == f"d{row}"
        assert explanation.score == pytest.approx(scores[row], abs=1e-12)
        assert math.fsum(contribution.amount for contribution in explanation.parts) == pytest.approx(
            explanation.score, abs=1e-9
        )
        labels = [contribution.label for contribution in explanation.parts]
        assert len(set(labels)) == len(labels)
        amounts = [abs(contribution.amount) for contribution in explanation.parts]
        assert amounts == sorted(amounts, reverse=True)
    for first, second in ((0, 4), (6, 11), (11, 5)):
        found = compare_explanations(explanations[first], explanations[second])
        lead = scores[first] - scores[second]
        assert math.fsum(difference.amount for difference in found) == pytest.approx(lead, abs=1e-9)
        sizes = [abs(difference.amount) for difference in found]
        assert sizes == sorted(sizes, reverse=True)
    assert compare_explanations(explanations[3], explanations[3]) == []


def test_a_score_of_weights_worked_by_hand():
    table = FeatureTable(["a", "b"], ["q"] * 3, ["x", "y", "z"], [[1.0, 10.0], [3.0, np.nan], [5.0, 20.0]])
    bundle = Bundle("own", {}, LinearModel(np.array([2.0, -1.0])), ("a", "b"), Preprocessor.named())
    explanation = bundle.explain(table, 1)
    # a is halfway from 1 to 5; b is undefined, is imputed by the minimum, and is 0 when normalised.
    assert explanation.score == 1.0
    first, second = explanation.parts
    assert (first.label, first.amount, first.raw) == ("a", 1.0, 3.0)
    assert first.meaning == "0.500 ((3 - 1) / 4, by smallest value and range of the query)"
    assert (second.label, second.amount) == ("b", 0.0)
    assert second.raw is None
    assert "10" in second.meaning


def test_the_powers_of_a_feature_are_one_contribution():
    table = FeatureTable(["a"], ["q"] * 3, ["x", "y", "z"], [[0.0], [1.0], [4.0]])
    model = LinearModel(np.array([1.0, 10.0, 100.0]))
    bundle = Bundle("own", {}, model, ("a",), Preprocessor.named(powers=True))
    (contribution,) = bundle.explain(table, 1).parts
    # ¼ + 10·¹⁄₁₆ + 100·½.
    assert (contribution.label, contribution.raw) == ("a", 1.0)
    assert contribution.amount == pytest.approx(0.25 + 0.625 + 50)
    assert contribution.meaning.startswith("0.250 (")


def test_a_feature_that_is_named_like_a_power_is_a_feature():
    table = FeatureTable(["a", "a^2"], ["q"] * 2, ["x", "y"], [[0.0, 7.0], [1.0, 9.0]])
    bundle = Bundle("own", {}, LinearModel(np.array([3.0, 5.0])), ("a", "a^2"), Preprocessor.named())
    contributions = {contribution.label: contribution for contribution in bundle.explain(table, 1).parts}
    assert (contributions["a"].amount, contributions["a"].raw) == (3.0, 1.0)
    assert (contributions["a^2"].amount, contributions["a^2"].raw) == (5.0, 9.0)


def test_rows_are_explained_within_their_query():
    bundle, table = make_bundle(MODELS["counted votes"]), some_table()
    alone = table.rows(slice(5, 12))
    assert repr(bundle.explain(table, 8)) == repr(bundle.explain(alone, 3))
    labels = {contribution.label for contribution in bundle.explain(table, 8).parts}
    assert labels == {"grade 2 against 1", "grade 1 against 0"}


def test_votes_of_several_hyperplanes_on_the_same_grades_are_one_contribution():
    random = np.random.default_rng(1)
    single = [VotingModel(random.normal(size=(2, 3)), ((2.0, 1.0), (1.0, 0.0)), "score") for _ in range(3)]
    together, table = make_bundle(average_models(single, [1.0] * 3)), some_table()
    amounts = {contribution.label: contribution.amount for contribution in together.explain(table, 2).parts}
    apart = [make_bundle(each).explain(table, 2).parts for each in single]
    for label in ("grade 2 against 1", "grade 1 against 0"):
        expected = [
            contribution.amount
            for contributions in apart
            for contribution in contributions
            if contribution.label == label
        ]
        assert amounts[label] == pytest.approx(sum(expected) / 3)


def test_a_difference_names_both_sides_and_leaves_out_what_is_equal():
    first = Explanation("x", 3.0, (Contribution("a", 2.0), Contribution("b", 0.5), Contribution("only", 0.5)))
    second = Explanation("y", 2.5, (Contribution("a", 2.0), Contribution("b", -1.0), Contribution("other", 1.5)))
    found = compare_explanations(first, second)
    assert found == [
        ContributionDifference("b", 1.5, Contribution("b", 0.5), Contribution("b", -1.0)),
        ContributionDifference("other", -1.5, None, Contribution("other", 1.5)),
        ContributionDifference("only", 0.5, Contribution("only", 0.5), None),
    ]


def test_a_lead_by_rounding_is_described_as_such():
    first, second = (
        Explanation("x", 0.1 + 0.2, (Contribution("a", 0.3),)),
        Explanation("y", 0.3, (Contribution("a", 0.3),)),
    )
    sentence = describe_lead(first, second, compare_explanations(first, second))
    assert sentence.startswith("x scores ")
    assert sentence.endswith(" more than y, which is rounding: their scores have the same parts")


def test_influences_name_the_columns_largest_first():
    bundle = make_bundle(LinearModel(np.array([0.5, -2.0, 0.0, 1.0, 0.0, 0.0])), RULES["powers"], ("a", "b"))
    labels = [(contribution.label, contribution.amount) for contribution in bundle.influences()]
    assert labels[:3] == [("b", -2.0), ("b^2", 1.0), ("a", 0.5)]
    ruled = make_bundle(RuleModel(np.array([2, 0, 2]), np.array([0.5, 0.1, 0.5]), np.array([1.0, -4.0, 2.0]), 3))
    assert [(contribution.label, contribution.amount) for contribution in ruled.influences()] == [
        ("a > 0.1", -4.0),
        ("c > 0.5", 3.0),
    ]
