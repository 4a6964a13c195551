"""Measures against values worked by hand and slow references, in every dialect."""

import math
import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchlab.evaluation.dialects import DIALECTS
from searchlab.evaluation.measure_families import FAMILIES
from searchlab.evaluation.run_evaluation import evaluate_run
from searchlab.evaluation.score_evaluation import evaluate_scores
from searchlab.records import Ranking

LOG3 = math.log2(3)


def measure(grades, name, dialect="trec"):
    """The value of one measure for ranked grades of documents that are all judged."""
    scores = -np.arange(len(grades), dtype=float)
    return evaluate_scores(scores, grades, [0, len(grades)], [name], dialect=dialect)[0, 0]


def judged(grades, ranked, name, dialect="trec"):
    """The value of one measure for a ranking of docnos."""
    ranking = Ranking("1", list(ranked), [float(-i) for i in range(len(ranked))])
    return evaluate_run({"1": grades}, [ranking], name, dialect=dialect).values[0, 0]


@pytest.mark.parametrize(
    ("dialect", "expected"),
    [
        ("letor3", (0 + 1 + 3 / LOG3) / (3 + 1)),
        ("letor4", (0 + 1 + 3 / LOG3) / (3 + 1)),
        ("trec", (1 / LOG3 + 2 / 2) / (2 + 1 / LOG3)),
        ("paper", (1 / LOG3 + 3 / 2) / (3 + 1 / LOG3)),
    ],
)
def test_one_ranking_has_three_ndcgs(dialect, expected):
    assert measure([0, 1, 2], "nDCG@3", dialect) == pytest.approx(expected, abs=1e-15)
    published = {"letor3": 0.7232, "letor4": 0.7232, "trec": 0.6199, "paper": 0.5869}
    assert round(expected, 4) == published[dialect]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        # Grades by rank: 0 2 1 0 1. Relevant at ranks 2, 3 and 5.
        ("AP", (1 / 2 + 2 / 3 + 3 / 5) / 3),
        ("AP@3", (1 / 2 + 2 / 3) / 3),
        ("AP(rel=2)", 1 / 2),
        ("MAP", (1 / 2 + 2 / 3 + 3 / 5) / 3),
        ("P@2", 1 / 2),
        ("P@10", 3 / 10),
        ("P(rel=2)@5", 1 / 5),
        ("R@3", 2 / 3),
        ("R", 1),
        ("Recall@1", 0),
        ("RR", 1 / 2),
        ("RR@1", 0),
        ("Rprec", 2 / 3),
        ("Success@1", 0),
        ("Success@2", 1),
        # One irrelevant document precedes the first two relevant ones, two precede the last; there are two.
        ("Bpref", (1 / 2 + 1 / 2 + 0) / 3),
        ("IPrec@0.0", 2 / 3),
        ("IPrec@0.9", 3 / 5),
        ("SetP", 3 / 5),
        ("SetR", 1),
        ("SetF", 2 * (3 / 5) / (8 / 5)),
        ("SetAP", 3 / 5),
        ("Judged@3", 1),
        ("NumRet", 5),
        ("NumRel", 3),
        ("NumRelRet", 3),
        ("NumRel(rel=2)", 1),
        ("NumQ", 1),
        # (2^2 - 1)/16 = 3/16 at rank 2, then 1/16 at ranks 3 and 5.
        ("ERR", 3 / 16 / 2 + 13 / 16 / 16 / 3 + 13 / 16 * 15 / 16 / 16 / 5),
        ("ERR@2", 3 / 32),
        ("ERR(max_grade=2)@3", 3 / 4 / 2 + 1 / 4 * 1 / 4 / 3),
        # p^(rank - 1) at ranks 2, 3 and 5, times 1 - p.
        ("RBP", 0.2 * (0.8 + 0.8**2 + 0.8**4)),
        ("RBP(p=0.5)", 1 / 4 + 1 / 8 + 1 / 32),
        ("RBP(p=0.5)@3", 1 / 4 + 1 / 8),
        ("RBP(p=0.5,rel=2)", 1 / 4),
    ],
)
def test_measures_worked_by_hand(name, expected):
    assert measure([0, 2, 1, 0, 1], name) == pytest.approx(expected, abs=1e-15)


def test_rbp_is_that_of_cwl_eval():
    # By cwl-eval 1.0.12, through ir_measures.
    draw = random.Random(8)
    docnos = [f"d{number:02}" for number in range(30)]
    qrels = {qid: {docno: draw.randint(0, 4) for docno in draw.sample(docnos, 12)} for qid in "123"}
    rankings = []
    for qid in "123":
        found = draw.sample(docnos, 20)
        rankings.append(Ranking(qid, found, [round(30 - rank + draw.random() / 2, 3) for rank in range(20)]))
    names = ["RBP(p=0.8,rel=1)", "RBP(p=0.5,rel=2)", "RBP(p=0.95,rel=1)", "RBP(rel=3)"]
    expected = [
        [0.3870195530399743, 0.5049285888671875, 0.20684639575468222, 0.2846195530399743],
        [0.1809902791418708, 0.1269989013671875, 0.14570504795112826, 0.04938739943997441],
        [0.4644629006791475, 0.6304779052734375, 0.3137309346962966, 0.3675068271755263],
    ]
    np.testing.assert_allclose(evaluate_run(qrels, rankings, names).values, expected, rtol=0, atol=1e-12)


def test_inferred_precision_of_fully_judged_documents_is_nearly_ap():
    assert measure([1, 0, 1], "infAP") == pytest.approx((1 + 2 / 3) / 2, abs=1e-4)


def test_documents_that_are_not_retrieved_lower_values_in_trec_but_not_in_letor():
    grades = {"a": 1, "b": 2, "c": 0}
    assert judged(grades, "ca", "AP") == pytest.approx((1 / 2) / 2)
    assert judged(grades, "ca", "AP", "letor3") == pytest.approx(1 / 2)
    assert judged(grades, "ca", "nDCG") == pytest.approx((1 / LOG3) / (2 + 1 / LOG3))
    assert judged(grades, "ca", "nDCG", "letor3") == 1.0  # ranks 1 and 2 are not discounted
    assert judged(grades, "ca", "R@2", "paper") == 0.0  # only b has grade 2


def test_unjudged_documents_are_not_relevant_and_are_counted_by_judged():
    grades = {"a": 1, "b": 0, "c": -1}
    assert judged(grades, "xaybc", "Judged@2") == 1 / 2
    assert judged(grades, "xaybc", "Judged@10") == 3 / 5
    assert judged(grades, "xaybc", "Bpref") == 1.0  # x is unjudged, not irrelevant
    assert judged(grades, "bxa", "Bpref") == 0.0
    assert judged(grades, "cxa", "Bpref") == 1.0  # c has a grade below 0, which counts as unjudged


def test_ndcg_of_short_lists_is_0_in_letor4():
    assert measure([2, 1], "nDCG@3", "letor3") == 1
    assert measure([2, 1], "nDCG@3", "letor4") == 0
    assert measure([2, 1], "nDCG@2", "letor4") == 1
    assert measure([2, 1], "nDCG", "letor4") == 1
    assert measure([2, 1], "P@4", "letor4") == 1 / 2


def test_grade_1_is_not_relevant_in_the_dialect_paper():
    assert measure([1, 2], "AP", "paper") == 1 / 2
    assert measure([1, 2], "AP(rel=1)", "paper") == 1
    assert measure([1, 2], "P@1", "paper") == 0


def test_settings_of_a_measure_override_the_dialect():
    for dialect in DIALECTS:
        assert measure([0, 1, 2], "nDCG(dcg='exp-log2')@3", dialect) == pytest.approx(0.5869, abs=5e-5)
        assert measure([0, 1, 2], 'nDCG(dcg="log2")@3', dialect) == pytest.approx(0.6199, abs=5e-5)
        assert measure([0, 1, 2], "nDCG(dcg=letor)@3", dialect) == pytest.approx(0.7232, abs=5e-5)
        assert measure([0, 1, 2], "AP(rel=2)", dialect) == pytest.approx(1 / 3)


def test_a_query_without_relevant_documents_scores_0_except_for_counts():
    counts = {"NumRet": 2, "NumQ": 1, "Judged": 1}
    for family in FAMILIES.values():
        name = family.name + {"required": "@0.5" if family.name == "IPrec" else "@3"}.get(family.cutoff, "")
        for dialect in DIALECTS:
            assert measure([0, 0], name, dialect) == counts.get(family.name, 0), name


def reference_ndcg(grades, k, dialect):
    def discount(rank):
        if dialect.discount == "letor":
            return 1.0 if rank < 3 else 1 / math.log2(rank)
        return 1 / math.log2(1 + rank)

    def dcg(ranked):
        gains = [2**g - 1 if dialect.gain == "exponential" else g for g in ranked[:k]]
        return sum(gain * discount(rank) for rank, gain in enumerate(gains, start=1))

    best = dcg(sorted(grades, reverse=True))
    return dcg(grades) / best if best else 0.0


def reference_ap(grades, rel):
    precisions = [sum(g >= rel for g in grades[: i + 1]) / (i + 1) for i, grade in enumerate(grades) if grade >= rel]
    return sum(precisions) / len(precisions) if precisions else 0.0


QUERIES = st.lists(
    st.lists(
        st.tuples(st.integers(0, 4), st.sampled_from([-1.0, 0.0, -0.0, 0.5, 1.0]) | st.floats(-1, 1)), max_size=30
    ),
    min_size=1,
    max_size=5,
)


@given(queries=QUERIES, k=st.integers(1, 12), name=st.sampled_from(["letor3", "trec", "paper"]))
def test_all_queries_at_once_equal_each_query_alone(queries, k, name):
    dialect = replace(DIALECTS[name], float32=False)
    offsets = np.cumsum([0, *map(len, queries)])
    rows = [row for query in queries for row in query]
    grades, scores = np.array([g for g, _ in rows], int), np.array([s for _, s in rows], float)
    values = evaluate_scores(scores, grades, offsets, [f"nDCG@{k}", "AP", f"P@{k}"], dialect=dialect)
    for query, (ndcg, ap, precision) in zip(queries, values, strict=True):
        ranked = [grade for grade, _ in sorted(query, key=lambda row: -row[1])]  # stable
        assert ndcg == pytest.approx(reference_ndcg(ranked, k, dialect), abs=1e-12)
        assert ap == pytest.approx(reference_ap(ranked, dialect.rel), abs=1e-12)
        assert precision == pytest.approx(sum(g >= dialect.rel for g in ranked[:k]) / k, abs=1e-12)


def test_grades_of_any_size_have_an_ideal_ranking():
    assert measure([5, 700], "nDCG") == pytest.approx((5 + 700 / LOG3) / (700 + 5 / LOG3))
    assert measure([3, 64, 1], "nDCG@1", "paper") == pytest.approx(7 / (2.0**64 - 1))
