"""Judging priorities: swings against an evaluation of both cases."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from searchlab.errors import SettingError
from searchlab.evaluation.run_evaluation import evaluate_run
from searchlab.judgments import priorities
from searchlab.judgments.priorities import prioritise_judgments
from searchlab.records import Ranking
from tests.hypothesis_profiles import examples

DOCNOS = list("abcdefgh")


def ranked(qid, docnos):
    return Ranking(qid, list(docnos), [float(-place) for place in range(len(docnos))])


def test_two_rankings_by_hand():
    # P@2 of the judged topic: left has x relevant, right nothing. Judging w (left, rank 2) can add 1/2, as can y or z.
    left, right = [ranked("1", "xw")], [ranked("1", "yz")]
    found = prioritise_judgments(left, right, {"1": {"x": 1}}, measure="P@2")
    assert (found.measure, found.difference, found.n_topics, found.n_waiting) == ("P@2", 0.5, 1, 0)
    assert [(each.qid, each.docno, each.swing) for each in found.documents] == [
        ("1", "y", 0.5),
        ("1", "w", 0.5),
        ("1", "z", 0.5),
    ]
    # Both have y at the same rank, so that its judgment changes nothing.
    same = prioritise_judgments([ranked("1", "xy")], [ranked("1", "zy")], {"1": {"x": 1, "z": 0}}, measure="P@2")
    assert [(each.docno, each.swing) for each in same.documents] == [("y", 0.0)]


def test_reciprocal_ranks_by_hand():
    # RR: y at rank 1 of right would raise 1/2 to 1; w at rank 2 of left changes nothing below the relevant x.
    found = prioritise_judgments([ranked("1", "xw")], [ranked("1", "yx")], {"1": {"x": 1}}, measure="RR")
    assert found.difference == 0.5
    assert [(each.docno, each.swing) for each in found.documents] == [("y", 0.5), ("w", 0.0)]


def test_a_topic_without_judgments_is_counted_from_its_first_judgment_on():
    left, right = [ranked("1", "x"), ranked("2", "y")], [ranked("1", ""), ranked("2", "z")]
    found = prioritise_judgments(left, right, {"1": {"x": 1}}, measure="P@1")
    assert (found.difference, found.n_topics) == (1, 1)
    assert [(each.qid, each.docno, each.swing) for each in found.documents] == [("2", "y", 0.5), ("2", "z", 0.5)]
    nothing = prioritise_judgments(left, right, {}, measure="P@1")
    assert (nothing.difference, nothing.n_topics) == (0, 0)
    assert {each.swing for each in nothing.documents} == {1.0}


def by_brute_force(left, right, grades, measure, pair):
    """|Δ(relevant) - Δ(not relevant)| by four evaluations."""
    qids = {ranking.qid for ranking in [*left, *right]}

    def difference(grade):
        judged = {qid: dict(judged) for qid, judged in grades.items() if qid in qids}
        judged.setdefault(pair[0], {})[pair[1]] = grade
        means = []
        for run in (left, right):
            complete = [*run, *(Ranking(qid, [], []) for qid in qids - {ranking.qid for ranking in run})]
            means.append(evaluate_run(judged, complete, measure, warn=False).mean(measure))
        return means[0] - means[1]

    return abs(difference(1) - difference(0))


RUNS = st.dictionaries(
    st.sampled_from("123"),
    st.lists(st.tuples(st.sampled_from(DOCNOS), st.integers(0, 3)), unique_by=lambda pair: pair[0], max_size=8),
    min_size=1,
)
GRADES = st.dictionaries(
    st.sampled_from("1234"), st.dictionaries(st.sampled_from(DOCNOS), st.integers(-1, 2), min_size=1, max_size=5)
)
MEASURES = ["nDCG@3", "nDCG", "AP", "AP@4", "P@5", "RR", "R@2", "Rprec", "Bpref", "ERR@3", "infAP", "Judged@3", "SetF"]


def as_run(run):
    return [
        Ranking(qid, [docno for docno, _ in pairs], [float(score) for _, score in pairs]) for qid, pairs in run.items()
    ]


@settings(max_examples=examples(60))
@pytest.mark.parametrize("measure", MEASURES)
@given(left=RUNS, right=RUNS, grades=GRADES, depth=st.integers(1, 9))
def test_a_swing_equals_that_of_evaluating_both_cases(measure, left, right, grades, depth):
    left, right = as_run(left), as_run(right)
    found = prioritise_judgments(left, right, grades, measure=measure, depth=depth)
    swings = {(each.qid, each.docno): each.swing for each in found.documents}
    assert list(swings.values()) == sorted(swings.values(), reverse=True)
    for pair, swing in swings.items():
        assert pair[1] not in grades.get(pair[0], {})
        assert math.isclose(swing, by_brute_force(left, right, grades, measure, pair), abs_tol=1e-12)
    if depth == 9 and "@" not in measure:
        assert swings.keys() == {
            (run.qid, docno) for run in [*left, *right] for docno in run.docnos if docno not in grades.get(run.qid, {})
        }


def test_candidates_are_within_depth_and_cutoff():
    left, right = [ranked("1", "abcd")], [ranked("1", "efgh")]

    def candidates(**options):
        return sorted(each.docno for each in prioritise_judgments(left, right, {}, **options).documents)

    assert candidates(measure="AP", depth=1) == ["a", "e"]
    assert candidates(measure="P@2", depth=3) == ["a", "b", "e", "f"]
    assert candidates(measure="AP", depth=99) == DOCNOS
    assert len(candidates(measure="AP", depth=99, n=3)) == 3


def test_with_too_many_candidates_the_best_ranked_are_evaluated_first(monkeypatch):
    # Each candidate needs two cases with eight ranked documents each.
    monkeypatch.setattr(priorities, "MAX_RANKED_DOCUMENTS", 50)
    found = prioritise_judgments([ranked("1", "abcd")], [ranked("1", "efgh")], {}, measure="AP")
    assert sorted(each.docno for each in found.documents) == ["a", "b", "e"]
    assert found.n_waiting == 5


def test_a_relevant_document_has_the_lowest_relevant_grade_of_the_measure():
    found = prioritise_judgments([ranked("1", "a")], [ranked("1", "b")], {}, measure="P(rel=2)@1")
    assert [each.swing for each in found.documents] == [1.0, 1.0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"depth": 0}, "depth is 0"),
        ({"measure": "GMAP"}, "measure is GMAP, expected one that is averaged over topics"),
        ({"measure": "NumRel"}, "expected one that is averaged"),
        ({"measure": "nDGC@10"}, "unknown measure"),
    ],
)
def test_invalid_options_are_errors(options, message):
    with pytest.raises(SettingError, match=message):
        prioritise_judgments([ranked("1", "a")], [ranked("1", "b")], {}, **options)


def test_invalid_runs_are_errors():
    with pytest.raises(SettingError, match="topic 1 has two rankings"):
        prioritise_judgments([ranked("1", "a"), ranked("1", "b")], [], {})
    with pytest.raises(SettingError, match="not a number"):
        prioritise_judgments([Ranking("1", ["a"], [math.nan])], [], {})
