"""Rows grouped by query, and their order by score."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from searchlab.row_groups import find_duplicate, group_rows, order_by_score


def test_interleaved_rows_are_grouped_in_the_order_of_first_appearance():
    # By hand: b has the rows 0 and 2, a the row 1.
    offsets, order = group_rows(np.array(["b", "a", "b"], object))
    assert (offsets.tolist(), order.tolist()) == ([0, 2, 3], [0, 2, 1])
    offsets, order = group_rows(np.array(["b", "b", "a"], object))
    assert (offsets.tolist(), order) == ([0, 2, 3], None)


def test_a_docno_may_occur_once_in_a_group():
    docnos = np.array(["x", "y", "x", "", ""], object)
    assert find_duplicate(docnos, np.array([0, 2, 5])) is None
    assert find_duplicate(docnos, np.array([0, 3, 5])) == (0, 2)


def test_rows_in_order_need_no_other():
    assert order_by_score(np.array([2.0, 1.0, 3.0]), np.array([0, 2, 3]), lambda group: []) is None
    assert order_by_score(np.zeros(0), np.zeros(1, np.int64), lambda group: []) is None


@given(groups=st.lists(st.lists(st.tuples(st.sampled_from([0.0, -0.0, 1.0, 2.5]), st.text(max_size=2)), max_size=6)))
def test_the_order_is_that_of_a_sort_by_score_and_docno(groups):
    offsets = np.cumsum([0, *map(len, groups)])
    scores = np.array([score for group in groups for score, _ in group])
    order = order_by_score(scores, offsets, lambda group: [docno for _, docno in groups[group]])
    rows = [row for group in groups for row in group]
    found = rows if order is None else [rows[row] for row in order]
    expected = [
        row for group in groups for row in sorted(group, key=lambda row: (row[0], row[1].encode()), reverse=True)
    ]
    assert found == expected
