"""Are numbers written as papers write them, and do they stand below each other?"""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchlab.report.content import Table
from searchlab.report.number_format import format_number, format_tick, format_ticks
from searchlab.report.table_layout import BEST_NOTE, lay_out_table


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
def test_a_number_is_written_as_in_papers(value, digits, text):
    assert format_number(value, digits) == text


@given(st.floats(-1e6, 1e6), st.integers(0, 8))
def test_what_is_written_is_the_number_to_its_digits(value, digits):
    text = format_number(value, digits).replace(",", "").replace("−", "-")
    assert float(text) == float(f"{value:.{digits}f}")
    assert len(text.partition(".")[2]) == digits


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.1 + 0.2, ".3"), (0.0, "0"), (-0.5, "−.5"), (10.0, "10"), (1000, "1,000"), (1e-6, "1e−06"), (2.5, "2.5")],
)
def test_places_on_an_axis_are_short(value, text):
    assert format_tick(value) == text


def test_places_on_an_axis_have_the_same_decimals():
    assert format_ticks([-0.1, 0.0, 0.05, 1.0]) == ["−.10", "0", ".05", "1.00"]
    assert format_ticks([0, 5, 10]) == ["0", "5", "10"]
    assert format_ticks([1e-6, 1.0]) == ["1e−06", "1"]
    assert format_ticks([]) == []


def table(columns, *rows, **settings):
    return lay_out_table(Table("t", "", columns, rows, **settings))


def test_the_best_is_marked_and_so_is_what_looks_the_same():
    shown = table(("s", "AP"), ("a", 0.44971), ("b", 0.4497), ("c", 0.4), ("d", math.nan), ("e", None), best=True)
    assert [row[1].best for row in shown.rows] == [True, True, False, False, False]
    assert [row[1].text for row in shown.rows] == [".4497", ".4497", ".4000", "–", "–"]
    assert shown.note == BEST_NOTE


def test_negative_numbers_are_compared_as_numbers():
    shown = table(("d",), (-0.5,), (-0.25,), best=True)
    assert [row[0].best for row in shown.rows] == [False, True]


def test_counts_have_no_best_nor_has_a_single_number():
    shown = table(("n", "AP"), (3, 0.5), (4, None), best=True)
    assert not any(cell.best for row in shown.rows for cell in row)
    assert shown.note == ""


def test_the_best_is_marked_only_in_the_columns_that_are_named():
    shown = table(("AP", "p"), (0.25, 0.9), (0.5, 0.01), best=("AP",))
    assert [[cell.best for cell in row] for row in shown.rows] == [[False, False], [True, False]]


def test_without_asking_none_is_best():
    assert not any(row[0].best for row in table(("AP",), (0.1,), (0.2,)).rows)


def test_whole_numbers_among_decimals_lack_the_places_after_the_point():
    shown = table(("x", "n"), (1.5, 3), (2, 4), ("<.01", 5), digits=3)
    assert [[cell.pad_places for cell in row] for row in shown.rows] == [[0, 0], [4, 0], [0, 0]]
    assert [column.numeric for column in shown.columns] == [True, True]


def test_a_column_without_numbers_is_text():
    shown = table(("s", "judged"), ("a", True), (None, False))
    assert [column.numeric for column in shown.columns] == [False, False]
    assert [[cell.text for cell in row] for row in shown.rows] == [["a", "yes"], ["–", "no"]]


def test_room_is_kept_for_the_longest_mark():
    shown = table(("a", "b"), (0.1, 0.2), (0.3, 0.4), marks={(0, 1): "†‡", (1, 1): "†"}, note="† ‡: why")
    assert [column.mark_length for column in shown.columns] == [0, 2]
    assert [row[1].mark for row in shown.rows] == ["†‡", "†"]
    assert shown.note == "† ‡: why"


def test_a_table_without_rows_has_its_headings():
    shown = table(("a", "b"), best=True)
    assert [column.heading for column in shown.columns] == ["a", "b"]
    assert shown.rows == ()
