"""URLs carry the state of a page, texts are split at marks, numbers are formatted."""

import pytest

from searchlab.web.pages.rendering import Links, format_cell, split_at_marks, typeset

STATE = {"index": None, "q": "a b", "system": "bm25", "filter": ["year=1988"], "k": 10, "page": 3, "docno": "x"}


def test_a_url_carries_query_and_filters_but_neither_page_nor_document():
    assert Links(STATE)("/compare") == "/compare?q=a+b&filter=year%3D1988"


def test_values_other_than_defaults_are_carried():
    assert Links(STATE | {"system": "jm", "k": 20, "index": "it"})("/") == (
        "/?index=it&q=a+b&system=jm&filter=year%3D1988&k=20"
    )


def test_changes_are_made_and_empty_values_are_left_out():
    url = Links(STATE)
    assert url("/", q=None, filter=None) == "/"
    assert url("/", filter=["u=1", "v=2"], page=2) == "/?q=a+b&filter=u%3D1&filter=v%3D2&page=2"
    assert url("/document", docno="a/b&c") == "/document?q=a+b&filter=year%3D1988&docno=a%2Fb%26c"


def test_the_url_of_a_page_has_all_its_parameters_but_the_action_just_completed():
    values = {"topic_set": "mine", "qid": "1", "did": "undone", "all": True, "depth": 20, "systems": ["a", "b"]}
    assert Links(STATE | values | {"judge": ""}).same_page("/pool") == (
        "/pool?q=a+b&filter=year%3D1988&page=3&docno=x&topic_set=mine&qid=1&all=true&depth=20&systems=a&systems=b"
    )
    assert Links({"index": None, "page": 1, "system": "bm25"}).same_page("/") == "/"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("-2.0 × 1 (-.797)", "−2.0 × 1 (−.797)"),
        (
            "AP +.1, p = .03: 1-2 of T-cell, med-045, f(x)-1",
            "AP +.1, p\u00a0=\u00a0.03: 1-2 of T-cell, med-045, f(x)-1",
        ),
        ("p < .001", "p\u00a0<\u00a0.001"),
    ],
)
def test_sentences_have_minus_signs(text, expected):
    assert typeset(text) == expected


@pytest.mark.parametrize(
    ("text", "marks", "expected"),
    [
        ("one two", [[4, 7]], [("one ", False), ("two", True)]),
        ("one two", [[0, 3], [4, 7]], [("one", True), (" ", False), ("two", True)]),
        ("one", [], [("one", False)]),
        ("", [], []),
    ],
)
def test_a_text_is_split_at_marks(text, marks, expected):
    assert split_at_marks(text, marks) == expected


def test_numbers_are_short():
    assert [format_cell(value) for value in (None, 1234, 0.123456, -2.5)] == ["–", "1,234", "0.1235", "−2.5"]
