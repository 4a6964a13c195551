"""Invalid reports, tables and figures are errors."""

import numpy as np
import pytest

from searchlab.errors import SettingError
from searchlab.report.content import Figure, Report, Section, Table, slugify

ONE = Table("one", "", ("a",), ((1,),))


@pytest.mark.parametrize("name", ["", "../etc", "a/b", ".hidden", "a b", "a.csv", "é", "x" * 101, "a\n"])
def test_a_name_that_is_not_a_file_name_is_an_error(name):
    with pytest.raises(SettingError, match="expected letters"):
        Table(name, "", ("a",), ())
    with pytest.raises(SettingError, match="expected letters"):
        Figure(name, "", "alt", "<svg/>")


@pytest.mark.parametrize(
    ("words", "name"), [("nDCG@10 of RSVM-IR", "ndcg-10-of-rsvm-ir"), ("ΔAP", "ap"), ("…", "unnamed"), ("../x", "x")]
)
def test_any_text_becomes_a_valid_name(words, name):
    assert slugify(words) == name
    assert Table(slugify(words), "", ("a",), ()).name == name


def test_a_long_text_is_cut_to_a_valid_name():
    assert Table(slugify("word " * 50), "", ("a",), ()).name == ("word-" * 20)[:99]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"rows": ((1, 2), (1,))}, "row 1 has 1 cells, expected 2"),
        ({"rows": ((1, np.int64(2)),)}, "row 0 has a int64, expected text, numbers or None"),
        ({"columns": (), "rows": ()}, "found no columns"),
        ({"digits": 13}, "digits is 13, expected 0 to 12"),
        ({"digits": True}, "digits is True"),
        ({"best": ("c",)}, "expected headings of columns"),
        ({"marks": {(1, 0): "†"}, "note": "†"}, r"a mark at \(1, 0\), expected within 1 rows and 2 columns"),
        ({"marks": {(0, -1): "†"}, "note": "†"}, r"a mark at \(0, -1\)"),
        ({"marks": {(0, 1): "†"}}, "found marks without a note"),
    ],
)
def test_an_inconsistent_table_is_an_error(settings, message):
    fitting = {"name": "t", "caption": "", "columns": ("a", "b"), "rows": ((1, 2),)}
    assert Table(**fitting).rows == ((1, 2),)
    with pytest.raises(SettingError, match=message):
        Table(**(fitting | settings))


def test_a_figure_without_description_is_an_error():
    with pytest.raises(SettingError, match="alt is empty"):
        Figure("f", "A caption", "", "<svg/>")


def test_two_tables_with_the_same_name_are_an_error():
    Report("", "", (Section("", (ONE, Figure("one", "", "alt", "<svg/>"))),))  # a CSV and an SVG
    with pytest.raises(SettingError, match="two tables called one"):
        Report("", "", (Section("", (ONE,)), Section("", (Table("ONE", "", ("a",), ()),))))
