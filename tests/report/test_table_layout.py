"""Table layout: best cells, padding and marks."""

import math

from searchlab.report.content import Table
from searchlab.report.table_layout import BEST_NOTE, lay_out_table


def table(columns, *rows, **settings):
    return lay_out_table(Table("t", "", columns, rows, **settings))


def test_the_best_number_and_those_that_look_the_same_are_marked():
    shown = table(("s", "AP"), ("a", 0.44971), ("b", 0.4497), ("c", 0.4), ("d", math.nan), ("e", None), best=True)
    assert [row[1].best for row in shown.rows] == [True, True, False, False, False]
    assert [row[1].text for row in shown.rows] == [".4497", ".4497", ".4000", "–", "–"]
    assert shown.note == BEST_NOTE


def test_negative_numbers_are_compared_as_numbers():
    shown = table(("d",), (-0.5,), (-0.25,), best=True)
    assert [row[0].best for row in shown.rows] == [False, True]


def test_counts_and_single_numbers_have_no_best():
    shown = table(("n", "AP"), (3, 0.5), (4, None), best=True)
    assert not any(cell.best for row in shown.rows for cell in row)
    assert shown.note == ""


def test_the_best_is_marked_only_in_the_named_columns():
    shown = table(("AP", "p"), (0.25, 0.9), (0.5, 0.01), best=("AP",))
    assert [[cell.best for cell in row] for row in shown.rows] == [[False, False], [True, False]]


def test_by_default_no_number_is_marked_as_best():
    assert not any(row[0].best for row in table(("AP",), (0.1,), (0.2,)).rows)


def test_integers_among_decimals_are_padded():
    shown = table(("x", "n"), (1.5, 3), (2, 4), ("<.01", 5), digits=3)
    assert [[cell.pad_places for cell in row] for row in shown.rows] == [[0, 0], [4, 0], [0, 0]]
    assert [column.numeric for column in shown.columns] == [True, True]


def test_a_column_without_numbers_is_text():
    shown = table(("s", "judged"), ("a", True), (None, False))
    assert [column.numeric for column in shown.columns] == [False, False]
    assert [[cell.text for cell in row] for row in shown.rows] == [["a", "yes"], ["–", "no"]]


def test_columns_know_the_length_of_their_longest_mark():
    shown = table(("a", "b"), (0.1, 0.2), (0.3, 0.4), marks={(0, 1): "†‡", (1, 1): "†"}, note="† ‡: why")
    assert [column.mark_length for column in shown.columns] == [0, 2]
    assert [row[1].mark for row in shown.rows] == ["†‡", "†"]
    assert shown.note == "† ‡: why"


def test_a_table_without_rows_has_headings():
    shown = table(("a", "b"), best=True)
    assert [column.heading for column in shown.columns] == ["a", "b"]
    assert shown.rows == ()
