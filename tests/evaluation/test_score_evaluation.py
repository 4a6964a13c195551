"""Evaluation of scores: ties, empty queries and invalid arguments."""

import math

import numpy as np
import pytest

from searchlab.errors import SettingError
from searchlab.evaluation.score_evaluation import evaluate_scores


def test_empty_queries_score_0_and_no_queries_give_no_rows():
    assert evaluate_scores([1.0], [1], [0, 0, 1, 1], ["nDCG", "AP", "P@1", "Judged", "SetP"]).tolist() == [
        [0, 0, 0, 0, 0],
        [1, 1, 1, 1, 1],
        [0, 0, 0, 0, 0],
    ]
    assert evaluate_scores([], np.zeros(0, int), [0], ["nDCG"]).shape == (0, 1)


def test_ties_keep_row_order_in_letor_and_docno_order_in_trec():
    scores, grades, offsets = [1.0, 1.0, 2.0, 1.0, 1.0], [0, 1, 0, 0, 1], [0, 3, 5]
    assert evaluate_scores(scores, grades, offsets, "RR")[:, 0].tolist() == [1 / 3, 1 / 2]
    docnos = ["a", "é", "x", "b", "B"]  # descending: é before a, b before B
    rr = [evaluate_scores(scores, grades, offsets, "RR", dialect="trec", docnos=given) for given in (None, docnos)]
    assert [values[:, 0].tolist() for values in rr] == [[1 / 3, 1 / 2], [1 / 2, 1 / 2]]
    swapped = evaluate_scores(scores, grades, offsets, "RR", dialect="trec", docnos=["é", "a", "x", "B", "b"])
    assert swapped[:, 0].tolist() == [1 / 3, 1]


def test_trec_compares_scores_in_32_bits():
    close = [1.0, 1.0 + 1e-9]
    assert evaluate_scores(close, [1, 0], [0, 2], "RR", dialect="letor3")[0, 0] == 1 / 2
    assert evaluate_scores(close, [1, 0], [0, 2], "RR", dialect="trec", docnos=["b", "a"])[0, 0] == 1
    huge = [1e300, 1e301]
    assert evaluate_scores(huge, [1, 0], [0, 2], "RR", dialect="trec", docnos=["b", "a"])[0, 0] == 1


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (([1.0, math.nan], [0, 1], [0, 2], "AP"), "the score of row 1 is not a number"),
        (([1.0], [0, 1], [0, 2], "AP"), "expected one score for each grade"),
        (([1.0, 2.0], [0, 1], [0, 1], "AP"), "expected offsets that rise from 0 to the 2 rows"),
        (([1.0, 2.0], [0, 1], [0, 3, 2], "AP"), "expected offsets that rise"),
        (([1.0, 2.0], [0, 1], [1, 2], "AP"), "expected offsets that rise"),
        (([1.0, 2.0], [0, 0.5], [0, 2], "AP"), "grades are not all whole numbers"),
        (([1.0], [5], [0, 1], "ERR@20"), "found grade 5, expected at most 4; use ERR(max_grade=5)"),
        (([1.0], [5], [0, 1], []), "no measures"),
        (([1.0], [5], [0, 1], ["AP", "map"]), "measure map is named twice (as AP)"),
    ],
)
def test_invalid_scores_are_errors(arguments, complaint):
    with pytest.raises(SettingError) as error:
        evaluate_scores(*arguments)
    assert complaint in str(error.value)


def test_grades_may_be_whole_floats():
    assert evaluate_scores([1.0, 2.0], [1.0, 0.0], [0, 2], "RR")[0, 0] == 1 / 2


@pytest.mark.parametrize(("ranked", "printed"), [("pddpn", (0.3333, 0.5453)), ("dpdnp", (1.0, 0.6238))])
def test_ndcg_of_the_rankings_that_a_paper_prints(ranked, printed):
    # Xu et al. (2006), Table 2: the first five documents of query 9 by two rankers, NDCG@1 and NDCG@5. The query has
    # at least five documents of the highest grade; three of those here are ranked below the five.
    grades = ["npd".index(letter) for letter in ranked + "ddd"]
    scores = -np.arange(len(grades), dtype=float)
    found = evaluate_scores(scores, grades, [0, len(grades)], ["nDCG@1", "nDCG@5"], dialect="paper")
    assert found[0].round(4).tolist() == list(printed)
