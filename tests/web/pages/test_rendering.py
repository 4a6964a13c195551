"""URLs carry the state of a page, texts are marked, numbers are formatted."""

from urllib.parse import urlencode

import pytest
from markupsafe import escape

from searchlab.web.pages.rendering import (
    SEARCH_TEMPLATES,
    Links,
    environment,
    format_cell,
    format_score,
    mark_text,
    quote,
    typeset,
)

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


@pytest.mark.parametrize("state", [{}, {"q": "<a> & b"}])
def test_urls_that_differ_in_one_parameter_are_those_made_one_by_one(state):
    url = Links(state)
    for docno in ("d1", "a/b&c", "<é>", "1 2"):
        one_by_one = escape(url("/explain", page=2, docno=docno))
        assert url.up_to("/explain", "docno", page=2) + quote(docno) == one_by_one
        template = environment().from_string("{{ url.up_to('/explain', 'docno', page=2) }}{{ quote(docno) }}")
        assert template.render(url=url, docno=docno) == one_by_one  # it is not escaped again
    assert Links({}).up_to("/", "filter") + quote("year=1") == "/?filter=year%3D1"


@pytest.mark.parametrize(("amount", "text"), [(1.2346, "1.235"), (-0.5, "\u22120.500"), (12345.0, "12345.000")])
def test_scores_have_three_decimals_and_a_minus_sign(amount, text):
    assert format_score(amount) == text


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
        ("one two", [[4, 7]], "one <mark>two</mark>"),
        ("one two", [[0, 3], [4, 7]], "<mark>one</mark> <mark>two</mark>"),
        ("<b> & 'one'\ftwo", [[0, 3], [7, 10]], "<mark>&lt;b&gt;</mark> &amp; &#39;<mark>one</mark>&#39;\n\ntwo"),
        ("one", [], "one"),
        ("", [], ""),
    ],
)
def test_a_text_is_marked_and_escaped(text, marks, expected):
    html = mark_text(text, marks)
    assert html == expected
    assert html.__html__() == expected  # a template does not escape it again


def test_a_url_quotes_as_browsers_send_forms():
    chars = "".join(map(chr, range(1, 0x180)))
    assert Links({"q": chars})("/") == "/?" + urlencode({"q": chars})
    assert Links({})("/", filter=("ä=1", "b"), page=0, all=True, k=[]) == "/?filter=%C3%A4%3D1&filter=b&page=0&all=true"


def test_numbers_are_short():
    assert [format_cell(value) for value in (None, 1234, 0.123456, -2.5)] == ["–", "1,234", "0.1235", "−2.5"]


def test_the_search_page_needs_no_templates_but_those_that_are_compiled_at_the_start(client, monkeypatch):
    found, used = environment().get_template, set()

    def get_template(name, *more):
        used.add(name)
        return found(name)

    monkeypatch.setattr(environment(), "get_template", get_template)
    assert client.get("/", params={"q": "heart wings"}).status_code == 200
    assert used == set(SEARCH_TEMPLATES)
