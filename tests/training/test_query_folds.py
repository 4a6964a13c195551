"""Folds: each query is in one, sizes differ by one at most, and the seed alone decides which."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchlab.errors import SettingError
from searchlab.training.query_folds import deal_folds


@given(st.integers(1, 40), st.integers(1, 40), st.integers(0, 5))
def test_every_query_is_in_one_fold_and_folds_differ_by_one_at_most(n_queries, n_folds, seed):
    if n_folds > n_queries:
        with pytest.raises(SettingError, match=f"{n_folds} folds for {n_queries} queries, expected at least one query"):
            deal_folds(n_queries, n_folds, seed)
        return
    folds = deal_folds(n_queries, n_folds, seed)
    assert len(folds) == n_folds
    assert sorted(number for fold in folds for number in fold.tolist()) == list(range(n_queries))
    sizes = {len(fold) for fold in folds}
    assert max(sizes) - min(sizes) <= 1
    again = deal_folds(n_queries, n_folds, seed)
    assert all(np.array_equal(one, other) for one, other in zip(folds, again, strict=True))


def test_folds_are_dealt_by_the_seed():
    assert [fold.tolist() for fold in deal_folds(20, 4, 1)] != [fold.tolist() for fold in deal_folds(20, 4, 2)]


def test_folds_are_every_nth_query_of_a_seeded_permutation():
    # The permutation of NumPy's PCG64 with seed 0 is 4 6 2 7 3 5 9 0 8 1.
    assert [fold.tolist() for fold in deal_folds(10, 3, 0)] == [[1, 4, 7, 9], [0, 3, 6], [2, 5, 8]]
