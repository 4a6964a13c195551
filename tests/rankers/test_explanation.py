"""Do the shares of a score add up to it, and say what they are due to?"""

import math

import numpy as np
import pytest

from searchlab.features.feature_table import FeatureTable
from searchlab.features.preprocessing.preprocessor import Preparation
from searchlab.rankers.bundle import Bundle, columns_of
from searchlab.rankers.explanation import Account, Difference, Share, account_of_terms, set_against, tell_lead
from searchlab.rankers.models import KernelModel, LinearModel, RuleModel, VotingModel, average
from searchlab.retrieval.results import Explanation
from searchlab.scorers.execution.bound_scorer import TermContribution

FEATURES = ("a", "b", "c")


def some_table(seed=3):
    random = np.random.default_rng(seed)
    values = random.normal(size=(12, 3))
    values[random.random(values.shape) < 0.15] = np.nan
    return FeatureTable(FEATURES, np.repeat(["x", "y"], [5, 7]), [f"d{row}" for row in range(12)], values)


def make_bundle(model, rules=("query-minimum", "query-minmax", "none"), features=FEATURES):
    table = some_table().with_values(some_table().values[:, : len(features)], features)
    preparation = Preparation.named(*rules).fit(table)
    made = model(len(columns_of(features, preparation))) if callable(model) else model
    return Bundle("own", {}, made, features, preparation)


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
    "plain": ("query-minimum", "query-minmax", "none"),
    "powers": ("query-minimum", "query-minmax", "powers"),
    "marked powers": ("indicator", "standard", "powers"),
    "ranks": ("zero", "query-rank", "none"),
}
every_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
all_rules = pytest.mark.parametrize("how", RULES.values(), ids=RULES)


@every_model
@all_rules
def test_shares_add_up_to_the_score_and_differences_to_the_lead(model, how):
    bundle, table = make_bundle(model, how), some_table()
    scores = bundle.scores(table)
    accounts = [bundle.account(table, row) for row in range(12)]
    for row, account in enumerate(accounts):
        assert account.docno == f"d{row}"
        assert account.score == pytest.approx(scores[row], abs=1e-12)
        assert math.fsum(share.amount for share in account.shares) == pytest.approx(account.score, abs=1e-9)
        labels = [share.label for share in account.shares]
        assert len(set(labels)) == len(labels)
        amounts = [abs(share.amount) for share in account.shares]
        assert amounts == sorted(amounts, reverse=True)
    for first, second in ((0, 4), (6, 11), (11, 5)):
        found = set_against(accounts[first], accounts[second])
        lead = scores[first] - scores[second]
        assert math.fsum(difference.amount for difference in found) == pytest.approx(lead, abs=1e-9)
        sizes = [abs(difference.amount) for difference in found]
        assert sizes == sorted(sizes, reverse=True)
    assert set_against(accounts[3], accounts[3]) == []


def test_a_score_of_weights_worked_by_hand():
    table = FeatureTable(["a", "b"], ["q"] * 3, ["x", "y", "z"], [[1.0, 10.0], [3.0, np.nan], [5.0, 20.0]])
    bundle = Bundle("own", {}, LinearModel(np.array([2.0, -1.0])), ("a", "b"), Preparation.named())
    account = bundle.account(table, 1)
    # a is half way from 1 to 5; b is undefined and becomes the smallest, 0 when normalised.
    assert account.score == 1.0
    first, second = account.shares
    assert (first.label, first.amount, first.raw) == ("a", 1.0, 3.0)
    assert first.meaning == "0.500 ((3 - 1) / 4, by smallest value and range of the query)"
    assert (second.label, second.amount) == ("b", 0.0)
    assert second.raw is None
    assert "10" in second.meaning


def test_the_powers_of_a_feature_are_one_share():
    table = FeatureTable(["a"], ["q"] * 3, ["x", "y", "z"], [[0.0], [1.0], [4.0]])
    model = LinearModel(np.array([1.0, 10.0, 100.0]))
    bundle = Bundle("own", {}, model, ("a",), Preparation.named(bends="powers"))
    (share,) = bundle.account(table, 1).shares
    # ¼ + 10·¹⁄₁₆ + 100·½.
    assert (share.label, share.raw) == ("a", 1.0)
    assert share.amount == pytest.approx(0.25 + 0.625 + 50)
    assert share.meaning.startswith("0.250 (")


def test_a_feature_that_is_called_like_a_power_is_itself():
    table = FeatureTable(["a", "a^2"], ["q"] * 2, ["x", "y"], [[0.0, 7.0], [1.0, 9.0]])
    bundle = Bundle("own", {}, LinearModel(np.array([3.0, 5.0])), ("a", "a^2"), Preparation.named())
    shares = {share.label: share for share in bundle.account(table, 1).shares}
    assert (shares["a"].amount, shares["a"].raw) == (3.0, 1.0)
    assert (shares["a^2"].amount, shares["a^2"].raw) == (5.0, 9.0)


def test_rows_are_explained_within_their_query():
    bundle, table = make_bundle(MODELS["counted votes"]), some_table()
    alone = table.rows(slice(5, 12))
    assert repr(bundle.account(table, 8)) == repr(bundle.account(alone, 3))
    labels = {share.label for share in bundle.account(table, 8).shares}
    assert labels == {"grade 2 against 1", "grade 1 against 0"}


def test_votes_of_several_hyperplanes_on_the_same_grades_are_one_share():
    random = np.random.default_rng(1)
    single = [VotingModel(random.normal(size=(2, 3)), ((2.0, 1.0), (1.0, 0.0)), "score") for _ in range(3)]
    together, table = make_bundle(average(single, [1.0] * 3)), some_table()
    amounts = {share.label: share.amount for share in together.account(table, 2).shares}
    apart = [make_bundle(each).account(table, 2).shares for each in single]
    for label in ("grade 2 against 1", "grade 1 against 0"):
        expected = [share.amount for shares in apart for share in shares if share.label == label]
        assert amounts[label] == pytest.approx(sum(expected) / 3)


def test_a_difference_names_both_sides_and_leaves_out_what_is_equal():
    first = Account("x", 3.0, (Share("a", 2.0), Share("b", 0.5), Share("only", 0.5)))
    second = Account("y", 2.5, (Share("a", 2.0), Share("b", -1.0), Share("other", 1.5)))
    found = set_against(first, second)
    assert found == [
        Difference("b", 1.5, Share("b", 0.5), Share("b", -1.0)),
        Difference("other", -1.5, None, Share("other", 1.5)),
        Difference("only", 0.5, Share("only", 0.5), None),
    ]


def test_a_lead_by_rounding_is_told_as_such():
    first, second = Account("x", 0.1 + 0.2, (Share("a", 0.3),)), Account("y", 0.3, (Share("a", 0.3),))
    told = tell_lead(first, second, set_against(first, second))
    assert told.startswith("x scores ")
    assert told.endswith(" more than y, which is rounding: their scores have the same parts")


def test_shares_of_terms_stand_with_the_largest_on_top():
    parts = (
        TermContribution("a", 1, 2, 0.5),
        TermContribution("b", 1, 1, -2.0),
        TermContribution("c", 1, 1, 1.0),
        TermContribution("a", 1, 2, 0.75),
    )
    account = account_of_terms(Explanation("x", parts))
    assert [(share.label, share.amount) for share in account.shares] == [("b", -2.0), ("a", 1.25), ("c", 1.0)]
    assert account.score == 0.25


def test_influences_name_the_columns_largest_first():
    bundle = make_bundle(LinearModel(np.array([0.5, -2.0, 0.0, 1.0, 0.0, 0.0])), RULES["powers"], ("a", "b"))
    labels = [(share.label, share.amount) for share in bundle.influences()]
    assert labels[:3] == [("b", -2.0), ("b^2", 1.0), ("a", 0.5)]
    ruled = make_bundle(RuleModel(np.array([2, 0, 2]), np.array([0.5, 0.1, 0.5]), np.array([1.0, -4.0, 2.0]), 3))
    assert [(share.label, share.amount) for share in ruled.influences()] == [("a > 0.1", -4.0), ("c > 0.5", 3.0)]
