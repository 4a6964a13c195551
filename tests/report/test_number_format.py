"""Number format of reports and axes."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchlab.report.number_format import format_number, format_tick, format_ticks


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (0.4497, 4, ".4497"),
        (0.44965, 4, ".4496"),  # the nearest float is below the half
        (0.99999, 4, "1.0000"),
        (1.25, 4, "1.2500"),
        (0.0, 4, ".0000"),
        (-0.0, 4, ".0000"),
        (-0.00001, 4, ".0000"),
        (-0.012, 4, "−.0120"),
        (12345.678, 2, "12,345.68"),
        (0.4, 0, "0"),
        (100.0, 0, "100"),
        (106, 4, "106"),
        (-12345, 4, "−12,345"),
        (math.nan, 4, "–"),
        (math.inf, 4, "∞"),
        (-math.inf, 4, "−∞"),
        (np.float64(0.5), 2, ".50"),
    ],
)
def test_a_number_is_formatted_as_in_papers(value, digits, text):
    assert format_number(value, digits) == text


@given(st.floats(-1e6, 1e6), st.integers(0, 8))
def test_a_formatted_number_is_rounded_to_its_digits(value, digits):
    text = format_number(value, digits).replace(",", "").replace("−", "-")
    assert float(text) == float(f"{value:.{digits}f}")
    assert len(text.partition(".")[2]) == digits


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.1 + 0.2, ".3"), (0.0, "0"), (-0.5, "−.5"), (10.0, "10"), (1000, "1,000"), (1e-6, "1e−06"), (2.5, "2.5")],
)
def test_ticks_are_short(value, text):
    assert format_tick(value) == text


def test_ticks_of_an_axis_have_the_same_number_of_decimals():
    assert format_ticks([-0.1, 0.0, 0.05, 1.0]) == ["−.10", "0", ".05", "1.00"]
    assert format_ticks([0, 5, 10]) == ["0", "5", "10"]
    assert format_ticks([1e-6, 1.0]) == ["1e−06", "1"]
    assert format_ticks([]) == []
