"""The numbers of OrdRank's figures and of its table of training times."""

import numpy as np
import pytest

from searchlab.rankers.estimators.ordrank import MHR, OrdRank
from searchlab.reproduction.paper_reports.hyperplanes import hyperplane_pairs, share_in_order, time_hyperplane
from tests.reproduction.example_queries import QUERIES, SPLIT, table_of


def test_rsvm_has_one_hyperplane_mhr_one_for_each_two_grades_and_ordrank_one_for_adjacent_ones():
    table = table_of(QUERIES)
    assert hyperplane_pairs("rsvm", table) == [None]
    assert hyperplane_pairs("mhr", table) == [(2, 1), (2, 0), (1, 0)]
    assert hyperplane_pairs("ordrank", table) == [(2, 1), (1, 0)]


def test_grades_that_no_query_has_together_have_no_hyperplane():
    table = table_of({"a": [(3, [0.0]), (1, [0.0])], "b": [(1, [0.0]), (0, [0.0])]})
    assert hyperplane_pairs("mhr", table) == [(3, 1), (1, 0)]
    assert hyperplane_pairs("ordrank", table) == [(3, 1), (1, 0)]


@pytest.mark.parametrize(("name", "ranker"), [("mhr", MHR), ("ordrank", OrdRank)])
def test_the_hyperplanes_are_those_that_the_ranker_learns_with_as_many_pairs(name, ranker):
    table = table_of(SPLIT)
    fitted = ranker(C=0.5).fit(table.values, table.grades, table.qids)
    timed = [time_hyperplane(table, pair, 0.5) for pair in hyperplane_pairs(name, table)]
    assert [each.pair for each in timed] == list(fitted.model_.grades)
    assert sum(each.n_pairs for each in timed) == fitted.details_["n_pairs"]
    assert all(each.seconds > 0 for each in timed)


def test_all_pairs_together_are_one_hyperplane():
    # a: 1·1 + 1·2 + 1·2 = 5 pairs, b: 1.
    assert time_hyperplane(table_of(SPLIT), None, 1.0).n_pairs == 6


def test_the_share_of_pairs_in_order_is_counted_for_each_two_grades():
    table = table_of({"a": [(2, [0.0]), (1, [0.0]), (1, [0.0]), (0, [0.0])], "b": [(1, [0.0]), (0, [0.0])]})
    # a: 2 over 1 is right once and tied once, 2 over 0 right, 1 over 0 right once and wrong once; b: wrong.
    scores = np.array([5.0, 5, 1, 3, 0, 1])
    assert share_in_order(table, scores) == pytest.approx({(2, 1): 1.5 / 2, (2, 0): 1, (1, 0): 1 / 3})
