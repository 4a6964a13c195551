import numpy as np
import pytest

from searchlab.errors import SettingError
from searchlab.features.feature_table import FeatureTable
from searchlab.features.preprocessing.preprocessor import Preprocessor
from searchlab.rankers.bundle import Bundle
from searchlab.rankers.models.linear_model import LinearModel
from searchlab.rankers.table_ranking import name_rows, rank_table


def table_of(qids, docnos, values):
    return FeatureTable(("f1",), qids, docnos, np.array(values, float)[:, None])


def test_rows_are_ranked_by_score_and_equal_scores_by_docno_descending():
    bundle = Bundle("linear", {}, LinearModel(np.array([2.0])), ("f1",), Preprocessor.named(normalisation="none"))
    rankings = rank_table(bundle, table_of(["7", "7", "7", "8"], ["a", "b", "", "c"], [1, 1, 3, 5]))
    assert [(ranking.qid, list(ranking.docnos), list(ranking.scores)) for ranking in rankings] == [
        ("7", ["7-3", "b", "a"], [6, 2, 2]),
        ("8", ["c"], [10]),
    ]


def test_rows_without_a_docno_are_named_by_query_and_row():
    assert name_rows(table_of(["7", "7", "8"], ["", "b", ""], [1, 2, 3])) == ["7-1", "b", "8-1"]


def test_a_name_that_another_row_has_is_refused():
    with pytest.raises(SettingError, match="query 7: the name of a row without a docno is another row's"):
        name_rows(table_of(["7", "7"], ["7-2", ""], [1, 2]))
