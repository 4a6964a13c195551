from datetime import datetime

import pytest

from searchlab.indexing.storage.field_values import parse_date, parse_number, seconds_since_year_1


@pytest.mark.parametrize(
    ("text", "number"),
    [("1988", 1988), ("-2.5", -2.5), ("1e5", None), ("", None), ("12a", None), ("nan", None), ("٣", 3)],
)
def test_texts_that_are_numbers(text, number):
    assert parse_number(text) == number


@pytest.mark.parametrize("text", ["1988-13", "1988-02-30", "1988", "0000-01", "1988-1-1x", "1988-01-01T25:00"])
def test_texts_that_are_no_dates(text):
    assert parse_date(text) is None


def test_texts_that_are_dates():
    assert parse_date("2024-05-17T12:30:05Z") == seconds_since_year_1(datetime(2024, 5, 17, 12, 30, 5))
    assert parse_date("2024/5") == seconds_since_year_1(datetime(2024, 5, 1))
