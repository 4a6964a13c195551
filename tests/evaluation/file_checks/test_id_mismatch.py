"""Likely causes of ids that do not match."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchlab.evaluation.file_checks.id_mismatch import explain_mismatch


@pytest.mark.parametrize(
    ("unknown", "missing", "cause"),
    [
        (["Q1", "Q2"], ["q1", "q2"], "upper and lower case (Q1 here, q1 there)"),
        (["7"], ["007"], "leading zeros (7 here, 007 there)"),
        (["1.07"], ["1.7"], ""),
        (["doc12", "doc7"], ["12", "7"], "the prefix 'doc' (doc12 here, 12 there)"),
        (["12", "7"], ["doc12", "doc7"], "the prefix 'doc' (12 here, doc12 there)"),
        (["q1"], ["1"], "the prefix 'q' (q1 here, 1 there)"),
        (["a-1", "a-2"], ["b_1", "b_2"], "the prefix 'a-' here for 'b_' there (a-1 here, b_1 there)"),
        (["t-1", "t-22"], ["001", "022"], "the prefix 't-' and leading zeros (t-1 here, 001 there)"),
        (["x.txt", "y.txt"], ["x", "y"], "the suffix '.txt' (x.txt here, x there)"),
        (["A-1", "b-2"], ["a-01", "B-02"], "case and leading zeros (A-1 here, a-01 there)"),
        (["a", "b"], ["c", "d"], ""),
        # One id in a hundred does not explain the others.
        (["A", *map(str, range(99))], ["a", *map(chr, range(300, 399))], ""),
        ([], ["a"], ""),
        (["a"], [], ""),
    ],
)
def test_the_likely_cause_turns_most_unknown_ids_into_missing_ones(unknown, missing, cause):
    assert explain_mismatch(unknown, missing) == (f"; likely cause: {cause}" if cause else "")


@given(st.sets(st.integers(1, 10_000), min_size=3, max_size=30), st.sampled_from(["q", "MED-", "x_", "topic "]))
def test_any_prefix_is_detected(numbers, prefix):
    missing = {f"{number}" for number in numbers}
    cause = explain_mismatch(sorted(prefix + name for name in missing), missing)
    assert cause.startswith(f"; likely cause: the prefix {prefix!r} (")
