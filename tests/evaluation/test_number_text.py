"""Numbers and counts in sentences."""

from searchlab.evaluation.number_text import format_count, format_difference, format_p_value, format_share, format_value


def test_numbers_are_printed_as_in_papers():
    assert [format_p_value(p) for p in (1.0, 0.5, 0.031, 0.0096, 0.0044, 0.0009)] == [
        "p = 1.00",
        "p = .50",
        "p = .03",
        "p = .01",
        "p = .004",
        "p < .001",
    ]
    assert [format_value(value) for value in (0.41234, -0.5, 0.0, 1.25)] == [".4123", "-.5000", ".0000", "1.2500"]
    assert [format_difference(d) for d in (0.0314, -0.2, 0.0004, 1.5)] == ["+.031", "-.200", "+.0004", "+1.500"]
    # Rounding of sums leaves 1e-17 where there is no difference.
    assert [format_difference(d) for d in (0.0, 1e-17, -4e-7, -6e-7)] == [".000", ".000", ".000", "-.000001"]


def test_nouns_agree_with_their_number():
    assert [format_count(n, "topic") for n in (0, 1, 1200)] == ["0 topics", "1 topic", "1,200 topics"]
    assert [format_count(n, "query", "queries") for n in (1, 2)] == ["1 query", "2 queries"]
    assert [format_share(1, n, "topic") for n in (1, 3)] == ["1 of 1 topic", "1 of 3 topics"]
