"""Strict JSON: what Python's reader lets pass is refused, in one line."""

import pytest

from searchlab.json_records import (
    file_table,
    finite_number,
    has_checksum,
    inner_path,
    json_checksum,
    one_line,
    parse_json,
    parse_record,
    whole_number,
)

NOT_JSON = {
    "NaN": ("[NaN]", "found NaN, expected a number"),
    "infinity": ("[-Infinity]", "found -Infinity, expected a number"),
    "too large": ("[1e999]", "found '1e999', expected a number up to"),
    "twice": ('{"a": 1, "b": {"a": 1, "a": 2}}', "found 'a' twice"),
    "deep": ("[" * 100_000, "nested too deeply"),
    "huge": ("9" * 5000, "Exceeds the limit"),
    "cut": ('{"a": ', "Expecting value"),
}


@pytest.mark.parametrize(("text", "problem"), NOT_JSON.values(), ids=NOT_JSON)
def test_what_is_not_json_is_refused_in_one_line(text, problem):
    with pytest.raises(ValueError, match=problem) as refused:
        parse_json(text)
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 200


def test_json_is_read_as_python_reads_it():
    assert parse_json('{"a": [1, -2.5e-3, "é", null, true], "b": {}}') == {"a": [1, -0.0025, "é", None, True], "b": {}}
    with pytest.raises(ValueError, match=r"found \[1\], expected names with values"):
        parse_record("[1]")


@pytest.mark.parametrize("value", [True, 1.0, -1, 11, "1", None, [1]])
def test_a_whole_number_is_one_within_its_bounds(value):
    assert whole_number({"n": 10}, "n", 0, 10) == 10
    with pytest.raises(ValueError, match=r"n is .*, expected a whole number from 0 to 10"):
        whole_number({"n": value}, "n", 0, 10)
    with pytest.raises(ValueError, match="lacks m"):
        whole_number({"n": 1}, "m")


@pytest.mark.parametrize("value", [True, "1", None, float("nan"), 10**400, 1.01])
def test_a_number_is_one_within_its_bounds(value):
    assert finite_number({"x": 1}, "x", 0, 1) == 1.0
    with pytest.raises(ValueError, match=r"x is .*, expected a number from 0 to 1"):
        finite_number({"x": value}, "x", 0, 1)


@pytest.mark.parametrize("value", ["a\nb", "\x1b[2J", "\u202e", "\ud800", 1])
def test_a_line_has_no_control_characters(value):
    with pytest.raises(ValueError, match=r"name is .*, expected a") as refused:
        one_line({"name": value}, "name")
    assert str(refused.value).isprintable()


@pytest.mark.parametrize("name", ["", ".", "..", "../x", "a/../b", "/etc/passwd", "a//b", "./a", "a/", "a\nb"])
def test_a_path_stays_within_its_folder(name):
    assert inner_path("whoosh/MAIN.pst") == "whoosh/MAIN.pst"
    with pytest.raises(ValueError, match="expected the name of a file within the folder"):
        inner_path(name)


@pytest.mark.parametrize("entry", [None, 1, [1], [1, 2, 3], [-1, 0], [0, 2**32], [0.0, 0], ["1", "2"]])
def test_a_file_has_a_size_and_a_checksum(entry):
    assert file_table({"files": {"a": [3, 7]}}, "files") == {"a": (3, 7)}
    with pytest.raises(ValueError, match="expected"):
        file_table({"files": {"a": entry}}, "files")


def test_a_checksum_is_that_of_all_else():
    record = {"a": 1, "b": [0.5]}
    assert has_checksum(record | {"checksum": json_checksum(record)})
    assert not has_checksum({"a": 2, "b": [0.5], "checksum": json_checksum(record)})
    assert not has_checksum(record)
