"""Claims of papers compared with results."""

from types import SimpleNamespace

import numpy as np
import pytest

from searchlab.report.content import Paragraph, Table
from searchlab.reproduction.paper_reports.claims import (
    Claim,
    claim_blocks,
    claims_table,
    compare_pairs,
    compare_rankers,
    describe_order,
)

N = 12


def result_of(**values):
    """A result with these values for every query, by measure."""
    return SimpleNamespace(
        values=lambda measure: np.broadcast_to(np.asarray(values[measure], dtype=float), (N,)),
        mean=lambda measure: float(np.mean(values[measure])),
    )


ALTERNATING = np.tile([0.0, 1.0], N // 2)
RESULTS = {
    "good": result_of(A=0.9, B=0.5, C=ALTERNATING),
    "bad": result_of(A=0.1, B=0.6, C=ALTERNATING[::-1]),
}


def test_a_ranker_is_better_by_some_measures_and_significantly_by_fewer():
    found = compare_rankers(RESULTS, "good", "bad", ["A", "B", "C"])
    assert found is not None
    assert found.n_better == 1
    # All 12 queries agree by A and by B: p = 2/2¹², times 3 and 2 after correction. C is as often better as worse.
    assert [each.significant for each in found.comparisons] == [True, True, False]
    assert found.verdict() == "better by 1 of 3 measures (C .000), 1 significantly and 1 significantly worse"


def test_without_a_significant_difference_the_verdict_says_so():
    found = compare_rankers(RESULTS, "good", "bad", ["C"])
    assert found is not None
    assert found.verdict() == "better by 0 of 1 measure (C .000), no difference significant"


def test_p_values_are_corrected_over_all_comparisons():
    alone, two = (compare_pairs(RESULTS, [("good", "bad", each) for each in measures]) for measures in ("A", "AB"))
    assert two[0].p == alone[0].p
    assert alone[0].p_corrected == alone[0].p
    assert two[0].p_corrected == pytest.approx(2 * alone[0].p)


def test_a_ranker_that_was_not_tried_is_not_compared():
    assert compare_rankers(RESULTS, "good", "absent", ["A"]) is None
    assert claim_blocks("x", "something", None) == []


def test_the_claim_is_followed_by_what_is_found_and_by_the_numbers():
    text, table = claim_blocks("x", "good better than bad", compare_rankers(RESULTS, "good", "bad", ["C", "A"]))
    assert isinstance(text, Paragraph)
    assert text.text == (
        "The paper finds good better than bad; here, against bad, good is better by 1 of 2 measures (A +.800), "
        "1 significantly."
    )
    assert isinstance(table, Table)
    assert table.columns[0] == "good against"
    assert [(row[:2], row[3:6]) for row in table.rows] == [(("bad", "C"), (6, 0, 6)), (("bad", "A"), (12, 0, 0))]
    assert [row[2] for row in table.rows] == pytest.approx([0, 0.8])


@pytest.mark.parametrize(
    ("claimed", "found"),
    [
        (["a", "b", "c"], "the same: a > b > c"),
        (["c", "b", "a"], "the reverse: a > b > c"),
        (["b", "a", "c"], "another: a > b > c"),
        (["c", "absent", "a"], "the reverse: a > c"),
        (["a"], None),
    ],
)
def test_the_order_of_rankers_is_compared_with_the_claimed_one(claimed, found):
    results = {"a": result_of(A=0.3), "b": result_of(A=0.2), "c": result_of(A=0.1)}
    assert describe_order(results, claimed, "A") == found


def test_the_table_has_a_column_for_each_recipe_and_leaves_out_what_was_not_tried():
    claims = [
        Claim("Cao", "one", {"paper": "yes", "tuned": "no"}),
        Claim("Cao", "two", {}),
        Claim("Sun", "three", {"tuned": "maybe"}),
    ]
    (table,) = claims_table(claims)
    assert isinstance(table, Table)
    assert table.columns == ("paper", "claim", "found, recipe paper", "found, recipe tuned")
    assert table.rows == (("Cao", "one", "yes", "no"), ("Sun", "three", None, "maybe"))
    assert claims_table([claims[1]]) == []
