"""Is what a request says held against what was declared?"""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchlab.web.api.parameters import Parameter, read_address, read_body
from searchlab.web.http_errors import Failure

TEXT = Parameter("t", "text", "a text", default="x", long=5)
TEXTS = Parameter("ts", "texts", "texts", default=(), many=2, long=5)
WHOLE = Parameter("n", "whole", "a number", default=3, least=1, most=9)
OPEN = Parameter("g", "whole", "a grade", least=0, most=2, open=True)
NUMBER = Parameter("x", "number", "a number", default=0.5, least=0, most=1)
FLAG = Parameter("f", "flag", "yes or no", default=False)
CHOICE = Parameter("c", "text", "one of two", default="a", choices=("a", "b"))
ALL = (TEXT, TEXTS, WHOLE, NUMBER, FLAG, CHOICE)


def test_what_is_not_said_has_its_default():
    expected = {"t": "x", "ts": [], "n": 3, "x": 0.5, "f": False, "c": "a"}
    assert read_address(ALL, {}, strict=True) == expected
    assert read_body(ALL, {}) == expected


def test_addresses_are_read_as_what_was_declared():
    said = {"t": ["a", "b"], "ts": ["u", "", "v"], "n": ["4"], "x": ["0.25"], "f": ["true"], "c": ["b"]}
    assert read_address(ALL, said, strict=True) == {"t": "b", "ts": ["u", "v"], "n": 4, "x": 0.25, "f": True, "c": "b"}


@pytest.mark.parametrize(
    ("parameter", "text", "told"),
    [
        (WHOLE, "0", "n is 0, expected a whole number from 1 to 9"),
        (WHOLE, "10", "n is 10, expected"),
        (WHOLE, "1.5", "n is '1.5', expected a whole number"),
        (WHOLE, "", "n is '', expected a whole number"),
        (NUMBER, "nan", "x is nan, expected a number from 0 to 1"),
        (NUMBER, "inf", "expected a number"),
        (TEXT, "123456", "t has 6 characters, expected at most 5"),
        (TEXT, "a\x00b", "no text"),
        (TEXT, "\ud800", "no text"),
        (FLAG, "maybe", "f is 'maybe', expected true or false"),
        (CHOICE, "z", "expected one of a, b"),
    ],
)
def test_values_out_of_range_are_refused_in_one_line(parameter, text, told):
    with pytest.raises(Failure) as refused:
        read_address([parameter], {parameter.name: [text]}, strict=True)
    assert refused.value.status == 400
    assert told in refused.value.message
    assert len(refused.value.message.splitlines()) == 1


@pytest.mark.parametrize("value", [True, "3", 3.0, [3], {"a": 1}, None])
def test_a_body_has_the_types_that_were_declared(value):
    with pytest.raises(Failure, match="expected a whole number"):
        read_body([Parameter("n", "whole", "a number")], {"n": value})


def test_null_is_the_default_where_there_is_one_and_a_value_where_it_is_declared():
    assert read_body([WHOLE], {"n": None}) == {"n": 3}
    assert read_body([OPEN], {"g": None}) == {"g": None}
    assert read_address([OPEN], {"g": [""]}, strict=False) == {"g": None}
    with pytest.raises(Failure, match="g is missing"):
        read_body([OPEN], {})


def test_names_that_nobody_declared_are_refused_by_the_api_and_ignored_by_pages():
    with pytest.raises(Failure, match="unknown parameter 'y'; there is: t"):
        read_address([TEXT], {"y": ["1"]}, strict=True)
    assert read_address([TEXT], {"y": ["1"]}, strict=False) == {"t": "x"}
    with pytest.raises(Failure, match="unknown parameter 'y'"):
        read_body([TEXT], {"y": 1})


@pytest.mark.parametrize("body", [[], "x", 3, None])
def test_a_body_is_an_object(body):
    with pytest.raises(Failure, match="expected a JSON object"):
        read_body([TEXT], body)


def test_too_many_texts_are_refused():
    with pytest.raises(Failure, match="3 values, expected at most 2"):
        read_address([TEXTS], {"ts": ["a", "b", "c"]}, strict=True)


def test_defaults_are_not_shared_between_requests():
    first = read_address([TEXTS], {}, strict=True)
    first["ts"].append("mine")
    assert read_address([TEXTS], {}, strict=True) == {"ts": []}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda own: st.lists(own) | st.dictionaries(st.text(), own),
)


@given(st.dictionaries(st.sampled_from([parameter.name for parameter in ALL]), JSON))
def test_any_body_is_read_or_refused(body):
    try:
        read = read_body(ALL, body)
    except Failure as refused:
        assert refused.status == 400
        assert len(refused.message.splitlines()) == 1
    else:
        assert read.keys() == {parameter.name for parameter in ALL}
        assert 1 <= read["n"] <= 9 and 0 <= read["x"] <= 1 and len(read["t"]) <= 5


def test_the_schema_says_what_is_checked():
    assert WHOLE.schema() == {"type": "integer", "minimum": 1, "maximum": 9, "default": 3}
    assert OPEN.schema() == {"type": ["integer", "null"], "minimum": 0, "maximum": 2}
    assert TEXTS.schema() == {
        "type": "array",
        "maxItems": 2,
        "items": {"type": "string", "maxLength": 5},
        "default": [],
    }
    assert CHOICE.schema()["enum"] == ["a", "b"]
    assert json.dumps([parameter.schema() for parameter in ALL])
