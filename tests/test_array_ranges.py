import numpy as np
import pytest

from searchlab.array_ranges import concatenate_ranges, offsets_of


def test_ranges_follow_one_another():
    # By hand: 2, 3, 4; nothing; 0.
    assert concatenate_ranges(np.array([2, 1, 0]), np.array([5, 1, 1]), 5).tolist() == [2, 3, 4, 0]
    assert concatenate_ranges(np.zeros(0, np.int64), np.zeros(0, np.int64), 0).tolist() == []


@pytest.mark.parametrize(("start", "end"), [(3, 2), (-1, 2), (0, 6), (0, 2**62), (-(2**62), 2**62 - 1)])
def test_a_range_outside_of_the_array_is_refused_before_it_takes_memory(start, end):
    with pytest.raises(IndexError, match="not within 0 to 5"):
        concatenate_ranges(np.array([1, start]), np.array([2, end]), 5)


def test_offsets_of_pieces():
    assert offsets_of([2, 0, 3]).tolist() == [0, 2, 2, 5]
    assert offsets_of([]).tolist() == [0]
