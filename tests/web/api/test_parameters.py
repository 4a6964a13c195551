"""Values of requests are checked by the declarations of parameters."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchlab.web.api.parameters import Parameter, parse_body, parse_texts
from searchlab.web.http_errors import HttpError

TEXT = Parameter("t", "string", "a text", default="x", max_length=5)
TEXTS = Parameter("ts", "strings", "texts", default=(), max_items=2, max_length=5)
INTEGER = Parameter("n", "integer", "a number", default=3, minimum=1, maximum=9)
NULLABLE = Parameter("g", "integer", "a grade", minimum=0, maximum=2, nullable=True)
NUMBER = Parameter("x", "number", "a number", default=0.5, minimum=0, maximum=1)
BOOLEAN = Parameter("f", "boolean", "yes or no", default=False)
CHOICE = Parameter("c", "string", "one of two", default="a", choices=("a", "b"))
ALL = (TEXT, TEXTS, INTEGER, NUMBER, BOOLEAN, CHOICE)


def test_missing_values_are_defaults():
    expected = {"t": "x", "ts": [], "n": 3, "x": 0.5, "f": False, "c": "a"}
    assert parse_texts(ALL, {}, strict=True) == expected
    assert parse_body(ALL, {}) == expected


def test_texts_are_parsed_as_declared():
    texts = {"t": ["a", "b"], "ts": ["u", "", "v"], "n": ["4"], "x": ["0.25"], "f": ["true"], "c": ["b"]}
    assert parse_texts(ALL, texts, strict=True) == {"t": "b", "ts": ["u", "v"], "n": 4, "x": 0.25, "f": True, "c": "b"}


@pytest.mark.parametrize(
    ("parameter", "text", "message"),
    [
        (INTEGER, "0", "n is 0, expected a whole number from 1 to 9"),
        (INTEGER, "10", "n is 10, expected"),
        (INTEGER, "1.5", "n is '1.5', expected a whole number"),
        (INTEGER, "", "n is '', expected a whole number"),
        (NUMBER, "nan", "x is nan, expected a number from 0 to 1"),
        (NUMBER, "inf", "expected a number"),
        (TEXT, "123456", "t has 6 characters, expected at most 5"),
        (TEXT, "a\x00b", "not text"),
        (TEXT, "\ud800", "not text"),
        (BOOLEAN, "maybe", "f is 'maybe', expected true or false"),
        (CHOICE, "z", "expected one of a, b"),
    ],
)
def test_values_out_of_range_are_rejected_in_one_line(parameter, text, message):
    with pytest.raises(HttpError) as error:
        parse_texts([parameter], {parameter.name: [text]}, strict=True)
    assert error.value.status == 400
    assert message in error.value.message
    assert len(error.value.message.splitlines()) == 1


@pytest.mark.parametrize("value", [True, "3", 3.0, [3], {"a": 1}, None])
def test_values_of_a_body_have_the_declared_types(value):
    with pytest.raises(HttpError, match="expected a whole number"):
        parse_body([Parameter("n", "integer", "a number")], {"n": value})


def test_null_is_the_default_unless_it_is_a_declared_value():
    assert parse_body([INTEGER], {"n": None}) == {"n": 3}
    assert parse_body([NULLABLE], {"g": None}) == {"g": None}
    assert parse_texts([NULLABLE], {"g": [""]}, strict=False) == {"g": None}
    with pytest.raises(HttpError, match="g is missing"):
        parse_body([NULLABLE], {})


def test_undeclared_names_are_rejected_by_the_api_and_ignored_by_pages():
    with pytest.raises(HttpError, match="unknown parameter 'y', expected one of t"):
        parse_texts([TEXT], {"y": ["1"]}, strict=True)
    assert parse_texts([TEXT], {"y": ["1"]}, strict=False) == {"t": "x"}
    with pytest.raises(HttpError, match="unknown parameter 'y'"):
        parse_body([TEXT], {"y": 1})


@pytest.mark.parametrize("body", [[], "x", 3, None])
def test_a_body_is_an_object(body):
    with pytest.raises(HttpError, match="expected a JSON object"):
        parse_body([TEXT], body)


def test_too_many_texts_are_rejected():
    with pytest.raises(HttpError, match="3 values, expected at most 2"):
        parse_texts([TEXTS], {"ts": ["a", "b", "c"]}, strict=True)


def test_defaults_are_not_shared_between_requests():
    first = parse_texts([TEXTS], {}, strict=True)
    first["ts"].append("mine")
    assert parse_texts([TEXTS], {}, strict=True) == {"ts": []}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda values: st.lists(values) | st.dictionaries(st.text(), values),
)


@given(st.dictionaries(st.sampled_from([parameter.name for parameter in ALL]), JSON))
def test_any_body_is_parsed_or_rejected(body):
    try:
        values = parse_body(ALL, body)
    except HttpError as error:
        assert error.status == 400
        assert len(error.message.splitlines()) == 1
    else:
        assert values.keys() == {parameter.name for parameter in ALL}
        assert 1 <= values["n"] <= 9 and 0 <= values["x"] <= 1 and len(values["t"]) <= 5


def test_the_schema_has_what_is_checked():
    assert INTEGER.schema() == {"type": "integer", "minimum": 1, "maximum": 9, "default": 3}
    assert NULLABLE.schema() == {"type": ["integer", "null"], "minimum": 0, "maximum": 2}
    assert TEXTS.schema() == {
        "type": "array",
        "maxItems": 2,
        "items": {"type": "string", "maxLength": 5},
        "default": [],
    }
    assert CHOICE.schema()["enum"] == ["a", "b"]
    assert json.dumps([parameter.schema() for parameter in ALL])
