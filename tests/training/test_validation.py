"""Validation measures: they give what an evaluation of the same rankings gives."""

import gc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchlab.errors import SettingError
from searchlab.evaluation.run_evaluation import evaluate_run
from searchlab.features.feature_table import FeatureTable
from searchlab.records import Ranking
from searchlab.training.validation import ValidationMeasure

MEASURES = ["AP", "nDCG@10", "nDCG", "P@5", "RR", "Rprec", "R@3", "Bpref", "infAP", "ERR@5", "Judged@4", "nDCG@3"]


def as_run(table, scores):
    """The run that ranks the rows of each query."""
    return [
        Ranking(qid, table.docnos[rows].tolist(), scores[rows].tolist())
        for qid, rows in table.queries()
    ]  # fmt: skip


@st.composite
def judged_tables(draw):
    """A table with grades from judgments, which name other documents too, and not all of the table's."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    qids, docnos, qrels = [], [], {}
    for query in range(draw(st.integers(1, 4))):
        names = [f"d{'é' * (number % 3 == 0)}{number}" for number in random.permutation(12).tolist()]
        n = int(random.integers(1, 10))
        qids += [f"q{query}"] * n
        docnos += names[:n]
        known = random.choice(names, int(random.integers(1, 12)), replace=False).tolist()
        qrels[f"q{query}"] = {docno: int(random.integers(0, 4)) for docno in known}
    grades = [qrels[qid].get(docno, 0) for qid, docno in zip(qids, docnos, strict=True)]
    # Few distinct scores make ties; some scores are equal only in 32 bits.
    scores = random.integers(-2, 3, len(qids)) + draw(st.sampled_from([0.0, 1e-12])) * random.random(len(qids))
    return FeatureTable(["f"], qids, docnos, np.zeros((len(qids), 1)), grades), scores, qrels


@given(judged_tables(), st.sampled_from(["trec", "paper", "letor3", "letor4"]))
def test_values_are_those_of_an_evaluated_run(case, dialect):
    table, scores, qrels = case
    expected = evaluate_run(qrels, as_run(table, scores), MEASURES, dialect=dialect, warn=False)
    assert list(expected.qids) == table.query_ids
    found = ValidationMeasure("AP", dialect, qrels).values(table, scores, MEASURES)
    assert found.tolist() == expected.values.tolist()


@given(judged_tables(), st.sampled_from(["letor3", "trec"]))
def test_without_judgments_only_the_rows_of_the_table_count_as_judged(case, dialect):
    table, scores, _ = case
    qrels = {
        qid: dict(zip(table.docnos[rows], table.grades[rows].tolist(), strict=True)) for qid, rows in table.queries()
    }
    expected = evaluate_run(qrels, as_run(table, scores), MEASURES, dialect=dialect, warn=False)
    assert ValidationMeasure("AP", dialect).values(table, scores, MEASURES).tolist() == expected.values.tolist()


TABLE = FeatureTable(["f"], ["1"] * 3 + ["2"] * 2, ["a", "b", "c", "a", "b"], np.zeros((5, 1)), [0, 1, 0, 0, 1])


def test_the_dialect_decides_how_ties_are_broken():
    tied = np.zeros(5)
    # By descending docno: c, b, a and b, a. In the order of the rows: a, b, c and a, b.
    assert ValidationMeasure("RR", "trec").per_query(TABLE, tied).tolist() == [0.5, 1.0]
    assert ValidationMeasure("RR", "letor3").per_query(TABLE, tied).tolist() == [0.5, 0.5]
    # trec_eval reads scores in 32 bits.
    near = np.array([0.0, 1e-12, 0.0, 1.0 + 1e-12, 1.0])
    assert ValidationMeasure("RR", "trec").per_query(TABLE, 1 + near).tolist() == [0.5, 1.0]
    assert ValidationMeasure("RR", "letor3").per_query(TABLE, 1 + near).tolist() == [1.0, 0.5]


def test_relevant_documents_beyond_the_table_count_where_judgments_are_given():
    scores = np.array([0.0, 1.0, 0.0, 0.0, 1.0])
    qrels = {"1": {"b": 1, "elsewhere": 1}, "2": {"b": 1}}
    assert ValidationMeasure("AP", "trec").per_query(TABLE, scores).tolist() == [1.0, 1.0]
    assert ValidationMeasure("AP", "trec", qrels).per_query(TABLE, scores).tolist() == [0.5, 1.0]
    # LETOR's rules count only documents in the list.
    assert ValidationMeasure("AP", "letor3", qrels).per_query(TABLE, scores).tolist() == [1.0, 1.0]
    assert ValidationMeasure("AP", "trec", {"1": {"b": 1}}).per_query(TABLE, scores).tolist() == [1.0, 0.0]


def test_the_cache_drops_tables_that_are_garbage_collected():
    measure = ValidationMeasure()
    for shift in range(3):
        table = FeatureTable(["f"], ["1", "1"], ["a", "b"], [[0.0], [1.0]], [shift % 2, 1 - shift % 2])
        assert measure.per_query(table, np.array([0.0, 1.0])).tolist() == [1.0 if shift % 2 == 0 else 0.5]
        del table
        gc.collect()
    assert len(measure._cache) == 0


def test_other_measures_can_be_computed_too():
    measure = ValidationMeasure("P@1", "trec")
    scores = np.array([3.0, 2.0, 1.0, 0.0, 1.0])
    assert measure.values(TABLE, scores).tolist() == [[0.0], [1.0]]
    assert measure.values(TABLE, scores, ["RR", "P@2"]).tolist() == [[0.5, 0.5], [1.0, 0.5]]
    assert measure.name == "P@1"
    assert ValidationMeasure("map").name == "map"


def test_unknown_names_and_missing_grades_are_refused():
    with pytest.raises(SettingError, match="measure"):
        ValidationMeasure("MAAP")
    with pytest.raises(SettingError, match="unknown dialect 'letor5'"):
        ValidationMeasure("AP", "letor5")
    with pytest.raises(SettingError, match="the validation table has no grades"):
        ValidationMeasure().per_query(TABLE.with_grades(None), np.zeros(5))
    with pytest.raises(SettingError, match="has grades that are not whole numbers"):
        ValidationMeasure().per_query(TABLE.with_grades([0.5, 0, 0, 0, 1]), np.zeros(5))
