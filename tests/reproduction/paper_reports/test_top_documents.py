"""The best documents of one query: Table 3 of Cao et al., Table 2 of Xu et al."""

from types import SimpleNamespace

import numpy as np
import pytest

from searchlab.evaluation.score_evaluation import evaluate_scores
from searchlab.report.content import Paragraph, Table
from searchlab.reproduction.paper_reports import published
from searchlab.reproduction.paper_reports.top_documents import COLUMNS, OHSUMED_LETTERS, top_documents
from searchlab.training.validation import ValidationMeasure
from tests.reproduction.example_queries import table_of

THREE_GRADES = table_of({"9": [(2, [0.0]), (1, [0.0]), (0, [0.0])]})


def result_of(qid, grades, first, fifth):
    per_query = dict(zip(COLUMNS, (np.array([first]), np.array([fifth])), strict=True))
    return SimpleNamespace(folds=[SimpleNamespace(qids=(qid,), top_grades={qid: grades}, per_query=per_query)])


def test_grades_reversed_pairs_and_ndcg_of_the_top_five():
    results = {"rsvm": result_of("9", (1, 2, 2, 1, 0), 1 / 3, 0.5453), "rsvm-ir": result_of("9", (2, 1, 0), 1, 1)}
    (table,) = top_documents(results, THREE_GRADES, "9", known=False)
    assert isinstance(table, Table)
    assert table.rows == (("rsvm", "p d d p n", "2 (d, p)", 1 / 3, 0.5453), ("rsvm-ir", "d p n", "none", 1, 1))


def test_other_numbers_of_grades_have_no_letters():
    five = table_of({"9": [(4, [0.0]), (3, [0.0]), (0, [0.0])]})
    (table,) = top_documents({"rsvm": result_of("9", (0, 3, 4), 0, 0.5)}, five, "9", known=False)
    assert isinstance(table, Table)
    assert table.rows[0][1:3] == ("0 3 4", "1 (4, 3), 1 (4, 0), 1 (3, 0)")
    assert "definitely" not in table.note


def test_the_papers_rankings_are_shown_for_its_query_only():
    for qid, known, n_rows in (("9", True, 3), ("9", False, 1), ("8", True, 1)):
        (table,) = top_documents({"rsvm": result_of(qid, (2, 1), 1, 1)}, THREE_GRADES, qid, known=known)
        assert isinstance(table, Table)
        assert len(table.rows) == n_rows
    (table,) = top_documents({"rsvm": result_of("9", (2, 1), 1, 1)}, THREE_GRADES, "9", known=True)
    assert isinstance(table, Table)
    assert table.rows[1:] == (
        ("RSVM (paper)", "p d d p n", "2 (d, p)", 0.3333, 0.5453),
        ("RSVM-IR-QP (paper)", "d p d n p", "1 (d, p), 1 (p, n)", 1.0, 0.6238),
    )


def test_a_query_that_was_never_tested_is_named():
    (text,) = top_documents({"rsvm": result_of("9", (2, 1), 1, 1)}, THREE_GRADES, "10", known=False)
    assert isinstance(text, Paragraph)
    assert "Query 10 is in no test set" in text.text


def test_published_numbers_follow_from_published_rankings():
    # Eq. 20, with at least five documents of grade d in the query, as query 9 has in OHSUMED.
    rank = {letter: grade for grade, letter in OHSUMED_LETTERS.items()}
    for shown, first, fifth in published.TOP_FIVE.values():
        grades = [rank[letter] for letter in shown.split()] + [2] * 5
        scores = -np.arange(len(grades), dtype=float)
        measures = ["nDCG(dcg='exp-log2')@1", "nDCG(dcg='exp-log2')@5"]
        assert evaluate_scores(scores, grades, [0, len(grades)], measures)[0] == pytest.approx([first, fifth], abs=5e-5)


def test_the_best_grades_are_in_the_order_that_is_measured():
    table = table_of({"a": [(0, [0.0]), (2, [0.0]), (1, [0.0])], "b": [(1, [0.0])]})
    scores = np.array([5.0, 5.0, 7.0, 1.0])
    # Equal scores: in the order of the rows, or by docno, descending.
    assert ValidationMeasure("AP", "letor3").top_grades(table, scores, 2) == {"a": (1, 0), "b": (1,)}
    assert ValidationMeasure("AP", "trec").top_grades(table, scores, 2) == {"a": (1, 2), "b": (1,)}
