"""Do addresses keep the state of a page, and are texts cut where words matched?"""

import pytest

from searchlab.web.pages.rendering import Links, count, number, pieces, typeset

STATE = {"index": None, "q": "a b", "ranker": "bm25", "filter": ["year=1988"], "k": 10, "page": 3, "id": "x"}


def test_an_address_keeps_the_query_and_filters_but_neither_page_nor_document():
    assert Links(STATE)("/compare") == "/compare?q=a+b&filter=year%3D1988"


def test_what_is_not_the_default_is_kept():
    assert Links(STATE | {"ranker": "jm", "k": 20, "index": "it"})("/") == (
        "/?index=it&q=a+b&ranker=jm&filter=year%3D1988&k=20"
    )


def test_changes_are_made_and_what_is_empty_is_left_out():
    url = Links(STATE)
    assert url("/", q=None, filter=None) == "/"
    assert url("/", filter=["u=1", "v=2"], page=2) == "/?q=a+b&filter=u%3D1&filter=v%3D2&page=2"
    assert url("/document", id="a/b&c") == "/document?q=a+b&filter=year%3D1988&id=a%2Fb%26c"


def test_the_address_of_a_page_has_all_that_it_was_asked_for_but_what_was_just_done():
    own = {"set": "mine", "at": "d1", "did": "undone", "all": True, "depth": 20, "rankers": ["a", "b"], "judge": ""}
    assert Links(STATE | own).again("/pool") == (
        "/pool?q=a+b&filter=year%3D1988&page=3&id=x&set=mine&at=d1&all=true&depth=20&rankers=a&rankers=b"
    )
    assert Links({"index": None, "page": 1, "ranker": "bm25"}).again("/") == "/"


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
def test_sentences_have_true_minus_signs(text, expected):
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
def test_a_text_is_cut_where_words_matched(text, marks, expected):
    assert pieces({"text": text, "marks": marks}) == expected


def test_numbers_are_short():
    assert [number(value) for value in (None, 1234, 0.123456, -2.5)] == ["–", "1,234", "0.1235", "−2.5"]
    assert [count(1, "document"), count(1230, "document")] == ["1 document", "1,230 documents"]
