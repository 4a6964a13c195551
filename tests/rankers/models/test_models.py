# mypy: disable-error-code="attr-defined"
"""Models of all kinds: scores by their formulas, parts that add up, and JSON round trips."""

import json
import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchlab.errors import SettingError
from searchlab.rankers.models.kernel_model import KernelModel
from searchlab.rankers.models.linear_model import LinearModel
from searchlab.rankers.models.model_kinds import average_models, model_from_json
from searchlab.rankers.models.neighbourhood_model import NeighbourhoodModel, QuerySpace, mean_features
from searchlab.rankers.models.rule_model import RuleModel
from searchlab.rankers.models.tree_model import TreeModel
from searchlab.rankers.models.voting_model import VotingModel, clip_margins, count_votes
from tests.rankers.models.tree_examples import random_tree

RANDOM = np.random.default_rng(8)
X = RANDOM.normal(size=(13, 3))
OFFSETS = np.array([0, 5, 5, 6, 13])
VECTORS = RANDOM.normal(size=(6, 3))
COEFFICIENTS = RANDOM.normal(size=6)
GRADES = ((2.0, 1.0), (1.0, 0.0))
SPACE = QuerySpace(RANDOM.normal(size=(4, 3)), reference=1, top=2)
NEIGHBOURS = np.array([[0, 1], [1, 3], [2, 0], [3, 1]])

MODELS = {
    "linear": LinearModel(np.array([0.1, -2.5, 1 / 3])),
    "counted votes": VotingModel(RANDOM.normal(size=(2, 3)), GRADES, "count"),
    "shared votes": VotingModel(np.round(RANDOM.normal(size=(2, 3))), GRADES, "count", 0.5),
    "weighed votes": VotingModel(RANDOM.normal(size=(2, 3)), GRADES, "score"),
    "rules": RuleModel(
        RANDOM.integers(0, 3, 40), RANDOM.choice([-0.5, 0.0, 0.7], 40), RANDOM.normal(size=40), n_columns=3
    ),
    "no rules": RuleModel(np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0), n_columns=3),
    "trees": TreeModel(tuple(random_tree(RANDOM, n, 3) for n in (1, 2, 5, 30)), 3),
    "linear kernel": KernelModel(VECTORS, COEFFICIENTS, 0.3, "linear"),
    "poly": KernelModel(VECTORS, COEFFICIENTS, 0.3, "poly", gamma=0.4, degree=3, coef0=1.0),
    "poly of degree 1": KernelModel(VECTORS, COEFFICIENTS, 0.3, "poly", gamma=0.4, degree=1, coef0=0.0),
    "sigmoid": KernelModel(VECTORS, COEFFICIENTS, 0.3, "sigmoid", gamma=0.4, coef0=0.5),
    "rbf": KernelModel(VECTORS, COEFFICIENTS, -1.7, "rbf", gamma=0.6),
    "offline-1": NeighbourhoodModel(SPACE, NEIGHBOURS, RANDOM.normal(size=(4, 3)), "offline-1"),
    "offline-2": NeighbourhoodModel(SPACE, NEIGHBOURS, RANDOM.normal(size=(4, 3)), "offline-2"),
    "no neighbourhoods": NeighbourhoodModel(
        QuerySpace(np.zeros((0, 3)), 0, 2), np.zeros((0, 1), dtype=np.int64), np.zeros((0, 3))
    ),
}
VOTES = {"kind": "votes", "votes": "count", "ties": 0, "grades": [[1, 0]], "planes": [[1, 2, 3]]}
all_models = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)


@all_models
def test_parts_add_up_to_the_score(model):
    scores = model.score(X, OFFSETS)
    assert scores.shape == (13,)
    for begin, end in pairwise(OFFSETS.tolist()):
        for row in range(begin, end):
            parts = model.parts(X[begin:end], row - begin)
            assert math.fsum(part.amount for part in parts) == pytest.approx(scores[row], abs=1e-9)
            assert all(part.feature is None or 0 <= part.feature < 3 for part in parts)


@all_models
def test_a_model_read_back_from_json_scores_the_same_to_the_last_bit(model):
    again = model_from_json(json.loads(json.dumps(model.to_json())), 3)
    assert type(again) is type(model)
    assert np.array_equal(again.score(X, OFFSETS), model.score(X, OFFSETS))
    assert again.influences() == model.influences()
    assert again.to_json() == model.to_json()


@all_models
def test_a_model_of_another_number_of_features_is_refused(model):
    assert model.n_features == 3
    with pytest.raises(SettingError, match=f"a {model.kind} model has 3 features, expected 4"):
        model_from_json(model.to_json(), 4)


@all_models
def test_each_missing_or_mistyped_value_is_refused_in_one_line(model):
    record = model.to_json()
    spoilt = [{name: value for name, value in record.items() if name != absent} for absent in record]
    for name, value in record.items():
        wrong = [None, "much", {}, [[]], [[1], [2, 3]]]
        if isinstance(value, float):
            wrong += [math.inf, math.nan]  # type: ignore[list-item]
        spoilt += [record | {name: each} for each in wrong if each != value]
    assert len(spoilt) > 8
    for each in spoilt:
        with pytest.raises(SettingError) as caught:
            model_from_json(each, 3)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ([1, 2], "a model is malformed .found list, expected names with values"),
        ({}, "unknown kind of model ''"),
        (
            {"kind": "forest"},
            "unknown kind of model 'forest'; there is: kernel, linear, neighbourhoods, rules, trees, votes",
        ),
        ({"kind": ["linear"]}, "unknown kind of model"),
        ({"kind": "linear", "weights": [1, math.nan, 3]}, "expected finite numbers in 1 dimension"),
        ({"kind": "linear", "weights": [[1, 2, 3]]}, "expected finite numbers in 1 dimension"),
        ({"kind": "rules", "n_features": 3, "rules": [[3, 0.5, 1]]}, "features from 0 to 2"),
        ({"kind": "rules", "n_features": 3, "rules": [[-1, 0.5, 1]]}, "features from 0 to 2"),
        ({"kind": "rules", "n_features": 3, "rules": [[0.5, 0.5, 1]]}, "features from 0 to 2"),
        ({"kind": "rules", "n_features": 3, "rules": [[0, 0.5]]}, "expected rules of feature, threshold and weight"),
        ({"kind": "rules", "n_features": 3, "rules": [[]]}, "expected rules of feature, threshold and weight"),
        ({"kind": "rules", "n_features": math.inf, "rules": []}, "a rules model is malformed"),
        (VOTES | {"planes": [[1, 2, 3]] * 2}, "do not fit together"),
        (VOTES | {"votes": "veto"}, "do not fit together"),
        (VOTES | {"ties": 1}, "do not fit together"),
        (VOTES | {"grades": [[1]]}, "a votes model is malformed"),
        (MODELS["rbf"].to_json() | {"kernel": "cosine"}, "do not fit together"),
        (MODELS["rbf"].to_json() | {"coefficients": [1.0]}, "do not fit together"),
        (MODELS["rbf"].to_json() | {"gamma": math.inf}, "do not fit together"),
        (MODELS["rbf"].to_json() | {"degree": math.inf}, "a kernel model is malformed"),
        (MODELS["offline-1"].to_json() | {"variant": "online"}, "do not fit together"),
        (MODELS["offline-1"].to_json() | {"reference": 3}, "do not fit together"),
        (MODELS["offline-1"].to_json() | {"reference": True}, "expected a whole number, found bool"),
        (MODELS["offline-1"].to_json() | {"top": 0}, "do not fit together"),
        (MODELS["offline-1"].to_json() | {"neighbours": [[0], [1], [2], [4]]}, "do not fit together"),
        (MODELS["offline-1"].to_json() | {"neighbours": [[0], [1], [2], [0.5]]}, "do not fit together"),
        (MODELS["offline-1"].to_json() | {"neighbours": [[0], [1], [2]]}, "do not fit together"),
        (MODELS["offline-1"].to_json() | {"planes": [[1, 2]] * 4}, "do not fit together"),
    ],
)
def test_malformed_models_are_refused(record, message):
    with pytest.raises(SettingError, match=message):
        model_from_json(record, 3)


def test_linear_scores_are_weighted_sums():
    assert MODELS["linear"].score(np.array([[1.0, 2.0, 3.0]]), np.array([0, 1])).tolist() == pytest.approx([-3.9])
    part = LinearModel(np.array([2.0])).parts(np.array([[0.25]]), 0)[0]
    assert (part.feature, part.amount, part.text) == (0, 0.5, "2 × 0.25")


values = st.lists(st.integers(-4, 4).map(lambda number: number / 2), min_size=1, max_size=12)


@given(values)
def test_votes_are_counted_against_each_other_document(numbers):
    n = len(numbers)
    wins = [sum(a > b for b in numbers) / max(n - 1, 1) for a in numbers]
    assert count_votes(np.array(numbers)).tolist() == pytest.approx(wins)
    equal = [(sum(a == b for b in numbers) - 1) / max(n - 1, 1) for a in numbers]
    half = [win + tie / 2 for win, tie in zip(wins, equal, strict=True)]
    assert count_votes(np.array(numbers), 0.5).tolist() == pytest.approx(half)


@given(values, st.sampled_from([1.0, 0.37]))
def test_margins_are_clipped_against_each_other_document(numbers, scale):
    scores = np.array(numbers) * scale
    n = len(numbers)
    expected = [sum(min(max(a - b, -1), 1) for b in scores) / max(n - 1, 1) for a in scores]
    assert clip_margins(scores).tolist() == pytest.approx(expected, abs=1e-12)


def test_votes_are_taken_within_queries():
    model = VotingModel(np.array([[1.0]]), ((1.0, 0.0),), "count")
    scores = model.score(np.array([[1.0], [2.0], [9.0], [9.0], [0.0]]), np.array([0, 2, 5]))
    # 1 against 1 other; 9 ties with 9 and beats 0, which is beaten by both.
    assert scores.tolist() == [0.0, 1.0, 0.5, 0.5, 0.0]
    assert model.score(np.array([[5.0]]), np.array([0, 1])).tolist() == [0.0]


rules = st.lists(st.tuples(st.integers(0, 2), st.integers(-2, 2), st.floats(-3, 3)), max_size=15)


@given(rules, st.lists(st.tuples(*[st.integers(-3, 3)] * 3), min_size=1, max_size=6))
def test_rules_that_hold_add_their_weights(found, rows):
    model = RuleModel(
        np.array([rule[0] for rule in found], dtype=np.int64),
        np.array([rule[1] for rule in found], dtype=np.float64),
        np.array([rule[2] for rule in found], dtype=np.float64),
        n_columns=3,
    )
    table = np.array(rows, dtype=np.float64)
    expected = [sum(weight for k, threshold, weight in found if row[k] > threshold) for row in rows]
    assert model.score(table, np.array([0, len(rows)])).tolist() == pytest.approx(expected, abs=1e-12)
    assert len(model.influences()) == len({rule[:2] for rule in found})


@pytest.mark.parametrize("name", ["linear kernel", "poly", "poly of degree 1", "rbf", "sigmoid"])
def test_kernel_scores_are_sums_over_support_vectors_and_gradients_their_slopes(name):
    model = MODELS[name]
    kernels = {
        "linear": lambda x, v: x @ v,
        "poly": lambda x, v: (model.gamma * (x @ v) + model.coef0) ** model.degree,
        "sigmoid": lambda x, v: math.tanh(model.gamma * (x @ v) + model.coef0),
        "rbf": lambda x, v: math.exp(-model.gamma * ((x - v) ** 2).sum()),
    }
    K = kernels[model.kernel]

    def score(x):
        return sum(c * K(x, v) for c, v in zip(COEFFICIENTS, VECTORS, strict=True)) + model.intercept

    assert model.score(X, OFFSETS).tolist() == pytest.approx([score(x) for x in X])
    step = 1e-5
    for x, gradient in zip(X, model._gradients(X), strict=True):
        for k in range(3):
            move = step * np.eye(3)[k]
            assert gradient[k] == pytest.approx((score(x + move) - score(x - move)) / (2 * step), rel=1e-5, abs=1e-7)


def test_a_kernel_score_is_explained_by_the_difference_from_the_average_document():
    # On a straight line through a linear kernel, each feature adds weight · deviation.
    model = KernelModel(np.array([[2.0, -1.0]]), np.array([3.0]), 0.5, "linear")
    rows = np.array([[0.0, 0.0], [2.0, 4.0]])
    parts = model.parts(rows, 1)
    assert [part.feature for part in parts] == [None, 0, 1]
    # The average is (1, 2), of score 3·(2 − 2) + ½; from there 6·1 and −3·2.
    assert [part.amount for part in parts] == pytest.approx([0.5, 6.0, -6.0])
    assert [part.amount for part in model.influences()] == pytest.approx([6.0, 3.0])


def test_many_rows_are_scored_in_blocks_as_if_at_once():
    model = KernelModel(RANDOM.normal(size=(3000, 2)), RANDOM.normal(size=3000), 0.0, "rbf", gamma=0.5)
    rows = RANDOM.normal(size=(3000, 2))
    whole = model.score(rows, np.array([0, 3000]))
    assert whole[[0, 1332, 1333, 2999]] == pytest.approx(model.score(rows[[0, 1332, 1333, 2999]], np.array([0, 4])))


def test_query_features_are_means_over_the_first_documents_by_the_reference_feature():
    rows = np.array([[1.0, 5.0], [2.0, 7.0], [6.0, 5.0], [9.0, 1.0]])
    # The first is (2, 7); two share the second place.
    assert mean_features(rows, np.array([0, 4]), 1, 2).tolist() == [[(2 + 3.5) / 2, 6.0]]
    assert mean_features(rows, np.array([0, 0, 4]), 0, 1).tolist() == [[0.0, 0.0], [9.0, 1.0]]
    # The second row twice, the third not at all.
    weighted = mean_features(rows, np.array([0, 4]), 1, 3, np.array([1.0, 2.0, 0.0, 1.0]))
    assert weighted.tolist() == [[pytest.approx(5 / 3), pytest.approx(19 / 3)]]


def test_a_query_uses_the_neighbourhood_that_its_variant_chooses():
    # Training queries at 0, 1, 3 and 10 with their two nearest. A query at 2.1 is nearest to 3, then to 1.
    space = QuerySpace(np.array([[0.0], [1.0], [3.0], [10.0]]), 0, 1)
    neighbours = np.array([[0, 1], [1, 0], [2, 1], [3, 2]])
    planes = np.array([[1.0], [2.0], [3.0], [4.0]])
    rows = np.array([[2.1], [-1.0]])
    for variant in ("offline-1", "offline-2"):
        model = NeighbourhoodModel(space, neighbours, planes, variant)
        assert model.score(rows, np.array([0, 2])).tolist() == pytest.approx([6.3, -3.0])
    # The neighbourhood of the nearest query may have less in common than another: 3 is nearest, {3, 1} are its two.
    other = np.array([[0, 1], [1, 2], [2, 3], [3, 2]])
    chosen = {
        variant: NeighbourhoodModel(space, other, planes, variant).parts(rows, 0)
        for variant in ("offline-1", "offline-2")
    }
    texts = {variant: parts[0].text for variant, parts in chosen.items()}
    assert texts == {
        "offline-1": "neighbourhood of training query 2: has 2 of the 2 nearest training queries",
        "offline-2": "neighbourhood of training query 3: has 1 of the 2 nearest training queries",
    }
    assert [part.amount for part in chosen["offline-1"]] == pytest.approx([0.0, 4.2])
    influence = NeighbourhoodModel(space, other, planes).influences()
    assert [(part.amount, part.text) for part in influence] == [(2.5, "from 1 to 4")]


def test_models_of_neighbourhoods_are_not_averaged():
    with pytest.raises(SettingError, match="neighbourhoods models cannot be averaged"):
        average_models([MODELS["offline-1"]] * 2, [1.0, 1.0])  # type: ignore[list-item]


def test_a_query_too_far_away_to_measure_is_the_farthest():
    space = QuerySpace(np.array([[1e300], [1.0], [-1e300]]), 0, 1)
    assert space.nearest(np.array([0.0]), 3).tolist() == [1, 0, 2]
