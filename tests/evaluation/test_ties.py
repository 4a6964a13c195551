"""The effect of ties against an evaluation of all orders."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from searchlab.evaluation.dialects import DIALECTS
from searchlab.evaluation.measure_families import FAMILIES
from searchlab.evaluation.run_evaluation import evaluate_run
from searchlab.evaluation.ties import evaluate_ties
from searchlab.records import Ranking
from tests.hypothesis_profiles import examples

EXACT = ["nDCG", "nDCG@2", "AP", "AP@3", "P@2", "P@9", "R@3", "R", "RR", "RR@2", "Rprec", "Success@2", "Judged@3"]
FIXED = ["SetP", "SetF", "NumRet", "NumRelRet"]
SAMPLED = ["RBP@4", "Bpref", "ERR", "IPrec@0.5", "infAP"]


def every_order(qrels, scores, measures, dialect):
    """The values for all orders of equal scores, obtained by renaming docnos, which break ties."""
    docnos = list(scores)
    found = []
    for names in itertools.permutations(docnos):
        renamed = dict(zip(docnos, names, strict=True))
        # The new docno breaks ties; the document keeps its grade and its score.
        judged = {renamed.get(docno, docno): grade for docno, grade in qrels.items()}
        ranking = Ranking("1", [renamed[docno] for docno in docnos], list(scores.values()))
        found.append(evaluate_run({"1": judged}, [ranking], measures, dialect=dialect, warn=False).values[0])
    return np.array(found)


@given(
    grades=st.dictionaries(st.sampled_from("abcdefg"), st.integers(-1, 3), min_size=1),
    scores=st.dictionaries(st.sampled_from("abcde"), st.sampled_from([1.0, 1.0 + 1e-12, 2.0]), min_size=2, max_size=4),
    dialect=st.sampled_from(["trec", "paper"]),
)
@settings(max_examples=examples(30))
def test_the_range_equals_that_of_all_orders(grades, scores, dialect):
    measures = [*EXACT, *FIXED, *SAMPLED]
    orders = every_order(grades, scores, measures, dialect)
    ranking = Ranking("1", list(scores), list(scores.values()))
    found = evaluate_ties({"1": grades}, [ranking], measures, dialect=dialect)
    # All but infAP, which depends on the ranks of unjudged documents.
    np.testing.assert_allclose(found.best.values[0, :-1], orders.max(axis=0)[:-1], atol=1e-12)
    np.testing.assert_allclose(found.worst.values[0, :-1], orders.min(axis=0)[:-1], atol=1e-12)
    n = len(EXACT) + len(FIXED)
    np.testing.assert_allclose(found.expected.values[0, :n], orders.mean(axis=0)[:n], atol=1e-12)
    # 200 draws of values between 0 and 1: their mean is this close in all but one of ten thousand cases.
    np.testing.assert_allclose(found.expected.values[0, n:], orders.mean(axis=0)[n:], atol=4 * 0.5 / np.sqrt(200))


def test_every_family_is_tested():
    tried = {name.split("@")[0] for name in [*EXACT, *FIXED, *SAMPLED]}
    assert set(FAMILIES) - tried == {"GMAP", "SetR", "SetAP", "NumRel", "NumQ"}  # as AP, SetP and NumRet


def test_a_tie_worked_by_hand():
    # One relevant document among three tied at ranks 2 to 4: RR is 1/2, 1/3 or 1/4.
    rankings = [Ranking("1", ["x", "a", "b", "c"], [2.0, 1.0, 1.0, 1.0]), Ranking("2", ["a"], [1.0])]
    found = evaluate_ties({"1": {"b": 1}, "2": {"a": 1}}, rankings, ["RR"])
    assert found.best.values_of("RR").tolist() == [1 / 2, 1]
    assert found.worst.values_of("RR").tolist() == [1 / 4, 1]
    assert found.expected.values_of("RR").tolist() == pytest.approx([(1 / 2 + 1 / 3 + 1 / 4) / 3, 1])
    assert found.tied == ("1",)
    assert found.width("RR") == 1 / 8
    assert found.warning() == (
        "run: 1 of 2 topics with equal scores, whose order could change RR from 0.6250 to 0.7500 (expected 0.6806)"
    )
    assert found.warning(above=0.2) == ""


def test_without_ties_all_values_are_equal():
    found = evaluate_ties({"1": {"a": 1}}, [Ranking("1", ["a", "b"], [2.0, 1.0])], ["AP", "ERR"])
    assert found.best.values.tolist() == found.expected.values.tolist() == found.worst.values.tolist()
    assert (found.tied, found.warning()) == ((), "")


def test_scores_that_are_equal_in_32_bits_are_ties_only_in_trec():
    rankings = [Ranking("1", ["a", "b"], [1.0 + 1e-12, 1.0])]
    assert evaluate_ties({"1": {"a": 1}}, rankings, ["RR"]).width("RR") == 1 / 2
    assert evaluate_ties({"1": {"a": 1}}, rankings, ["RR"], dialect="letor3").width("RR") == 0


def test_expected_ndcg_of_short_lists_is_0_in_letor4():
    rankings = [Ranking("1", ["a", "b"], [1.0, 1.0])]
    measures = ["nDCG@2", "nDCG@3", "P@3"]
    found = evaluate_ties({"1": {"a": 1, "b": 0}}, rankings, measures, dialect="letor4")
    assert found.expected.values[0].tolist() == pytest.approx([1, 0, 1 / 3])
    assert found.best.dialect is DIALECTS["letor4"]


def test_sampling_is_seeded():
    rankings = [Ranking("1", list("abcdef"), [1.0] * 6)]
    qrels = {"1": {"a": 3, "b": 1, "c": 2}}
    values = [evaluate_ties(qrels, rankings, "ERR", seed=seed).expected.mean("ERR") for seed in (0, 0, 1)]
    assert values[0] == values[1] != values[2]
