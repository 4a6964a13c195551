"""CSV text that a spreadsheet opens without running anything."""

import csv
import io

import numpy as np
import pytest

from searchlab.csv_text import to_csv


def read_cell(text):
    ((first, cell),) = csv.reader(io.StringIO(to_csv([["a", text]]), newline=""))
    assert first == "a"
    return cell


@pytest.mark.parametrize(
    "text",
    ["=1+1", "+cmd|' /C calc'!A0", "-1+1", "@SUM(A1)", " =1", "\t=1", "\r=1", "\n=1", "\tx", "-", "=", "-1e5x", "+1;2"],
)
def test_an_apostrophe_precedes_what_a_spreadsheet_would_run(text):
    assert read_cell(text) == f"'{text}"


@pytest.mark.parametrize(
    "text", ["BM25", "-.0123", "+5%", "-1,234.5", "-1e-05", "a=b", "a\tb", "-1", "'", 'a,"b"\r\nc']
)
def test_other_texts_and_numbers_are_unchanged(text):
    assert read_cell(text) == text


def test_numbers_have_all_digits_and_none_is_empty():
    rows = [["a", -0.1 - 0.2, np.float64(-1e-7)], [None, -3, "=x"]]
    assert to_csv(rows) == "a,-0.30000000000000004,-1e-07\n,-3,'=x\n"
