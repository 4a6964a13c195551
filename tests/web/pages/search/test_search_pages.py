"""The search pages show results, next steps and errors, without scripts."""

import re
from html import unescape

import pytest

from searchlab.analysis.analyzer import AnalysisSettings
from searchlab.records import Document
from searchlab.web.limits import Limits
from tests.web.search_client import client_for

DOCUMENTS = [
    *(Document(f"d{number}", f"Mice {number}", "Cells of mice.", {"year": 1980 + number}) for number in range(25)),
    Document("long", "Many words", "growth " * 2000, {"keywords": [f"k{number}" for number in range(30)]}),
]
BARE = [Document(f"n{number}", "", "A bare note.") for number in range(3)]


@pytest.fixture(scope="module")
def folders(build, tmp_path_factory):
    home = tmp_path_factory.mktemp("pages")
    settings = AnalysisSettings()
    return [build(each, settings=settings, folder=home / name) for each, name in [(DOCUMENTS, "mice"), (BARE, "bare")]]


@pytest.fixture(scope="module")
def client(folders):
    with client_for(*folders, limits=Limits(max_rank=20)) as client:
        yield client


def page(client, path="/", **parameters):
    answer = client.get(path, params=parameters)
    assert answer.status_code == 200, answer.text
    return answer.text


def words(html):
    """The text of the content of a page."""
    content = re.search(r"<main.*</main>", html, re.DOTALL).group()
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", content)).split())


def return_url(html):
    """The URL to which the form for the judge's name returns."""
    form = re.search(r'<form method="post" action="/name">.*?</form>', html, re.DOTALL).group()
    return unescape(re.search(r'name="back" value="([^"]*)"', form).group(1))


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({"q": "growth"}, r"1 result in [\d.]+ ms from 26 documents"),
        ({"q": "mice", "k": 3}, r"Results 1–3 of 25 in [\d.]+ ms"),
        ({"q": "year:[1980 TO 1984]", "k": 3, "page": 2}, r"Results 4–5 of 5 in [\d.]+ ms"),
    ],
)
def test_ranks_and_the_number_of_results_are_shown(client, parameters, expected):
    assert re.search(expected, words(page(client, **parameters)))


def test_there_is_no_link_beyond_the_last_rank(client):
    first, last = page(client, q="mice"), page(client, q="mice", page=2)
    assert 'rel="next"' in first
    assert 'rel="next"' not in last
    assert "Only the first 20 results are shown." in words(last)
    assert "Page 3 of 10 ends at rank 30, expected at most 20" in words(page(client, q="mice", page=3))


def test_errors_of_a_query_are_shown_beside_it(client):
    shown = page(client, q="mice", filter=["year=1981", "nowhere=1"])
    assert "Unknown field 'nowhere'" in words(shown)
    assert 'name="q" type="search" value="mice"' in shown
    assert [unescape(each) for each in re.findall(r'class="chip"><bdi>(.*?)</bdi>', shown)] == [
        "year=1981",
        "nowhere=1",
    ]
    assert client.get("/", params={"q": "mice", "index": "nowhere"}).status_code == 404


@pytest.mark.parametrize(
    ("query", "shown", "hidden"),
    [
        ("the", "Very frequent words such as the", "Require less"),
        ("+mice +growth", "Require less", "In no document"),
        ("zzz", "In no document: zzz", "Very frequent words such as the"),
    ],
)
def test_without_results_the_advice_fits_the_query(client, query, shown, hidden):
    text = words(page(client, q=query))
    assert "No document matches." in text
    assert shown in text
    assert hidden not in text


def test_of_many_values_of_a_field_the_first_are_shown_beside_a_result(client):
    shown = words(page(client, q="growth"))
    assert "k7 , and 22 more" in shown
    assert "k8" not in shown
    assert "k29" in words(page(client, "/document", docno="long"))


def test_syntax_and_filters_fit_the_fields_of_the_index(client):
    shown = words(page(client))
    assert "other fields are keywords , year" in shown
    assert "year:[1988 TO 1990]" in shown
    assert "<summary>Filter</summary>" in page(client, q="mice")
    shown = words(page(client, index="bare"))
    assert "other fields are" not in shown
    assert "year:" not in shown
    assert "<summary>Filter</summary>" not in page(client, q="note", index="bare")


def test_a_document_without_a_title_is_shown_with_its_docno_once(client):
    shown = page(client, q="note", index="bare")
    assert re.findall(r'docno"[^>]*>(\w+)<', shown) == ["n2", "n1", "n0"]


@pytest.mark.parametrize(
    ("path", "parameters", "expected"),
    [
        ("/", {"q": "mice", "page": "2", "k": "3"}, "/?index=mice&q=mice&k=3&page=2"),
        (
            "/",
            {"q": "note", "index": "bare", "filter": ["a=1", "b=2"]},
            "/?index=bare&q=note&filter=a%3D1&filter=b%3D2",
        ),
        ("/document", {"docno": "d1", "q": "mice", "page": "2"}, "/document?index=mice&q=mice&docno=d1&page=2"),
        ("/similar", {"docno": "d1"}, "/similar?index=mice&docno=d1"),
        ("/compare", {"q": "mice", "right": "jm"}, "/compare?index=mice&q=mice&right=jm&left=bm25"),
        ("/explain", {"q": "mice", "docno": "d1", "against": "d2"}, "/explain?index=mice&q=mice&docno=d1&against=d2"),
    ],
)
def test_the_form_for_a_name_returns_to_the_same_page(client, path, parameters, expected):
    assert return_url(page(client, path, **parameters)) == expected


def test_documents_with_one_score_are_explained_in_one_sentence(client):
    shown = words(page(client, "/explain", q="mice", docno="d1", against="d2"))
    assert shown.count("same score") == 1
    assert "The difference" not in shown


def test_equal_rankings_are_reported(client):
    assert "Both rankings are the same." in words(page(client, "/compare", q="growth", right="jm"))
    shown = words(page(client, "/compare", q="zzz"))
    assert "No document matches" in shown
    assert "of the first" not in shown


WINGS = [
    Document(f"d{n}", "Wing", "wing", {"kind": ["<b>", "Blue"][n % 2], "id": f"x{n}", "year": 1980 + n})
    for n in range(5)
]


@pytest.fixture(scope="module")
def wings(build):
    with client_for(build(WINGS)) as client:
        yield client


def test_a_page_is_sorted_and_its_links_keep_the_order(wings):
    html = page(wings, q="wing", sort="year:desc", k=2)
    assert re.findall(r'<li class="result"[^>]* data-docno="(\w+)"', html) == ["d4", "d3"]
    assert '<span class="chosen" aria-current="true"><bdi>year, newest first</bdi></span>' in html
    assert 'href="/?q=wing&amp;k=2"><bdi>relevance</bdi>' in html
    assert 'rel="next" href="/?q=wing&amp;sort=year%3Adesc&amp;k=2&amp;page=2"' in html
    assert '<input type="hidden" name="sort" value="year:desc">' in html
    assert "Why above the next one?" not in html
    assert "Why above the next one?" in page(wings, q="wing", k=2)
    assert "Unknown field" in words(page(wings, q="wing", sort="colour"))


def test_facets_link_to_filters_with_their_counts(wings):
    html = page(wings, q="wing")
    facet = 'href="/?q=wing&amp;filter=kind%3D%3Cb%3E" title="only kind=&lt;b&gt;"><bdi>&lt;b&gt;</bdi></a>'
    assert f'{facet} <span class="n">3</span>' in html
    assert '<section aria-label="id">' not in html, "no two documents share a value"
    restricted = page(wings, q="wing", filter="kind=Blue")
    assert "2 results" in words(restricted)
    assert '<span class="chosen" aria-current="true"><bdi>Blue</bdi></span>' in restricted


def test_words_of_other_fields_are_linked(wings):
    html = page(wings, q="blue")
    assert '<a href="/?q=kind%3Ablue">2 documents by <bdi><code>kind:blue</code></bdi></a>' in html


def test_results_can_be_exported_from_the_page(client):
    html = page(client, q="mice", filter="year=[1980 TO 1990]", index="mice", k=5)
    form = re.search(r'<form class="export.*?</form>', html, re.DOTALL).group()
    assert re.findall(r'name="format" value="(\w+)"', form) == ["ris", "csv", "bib", "jsonl", "run"]
    fields = [
        (name, unescape(value)) for name, value in re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', form)
    ]
    # All results, not only those of the page; or those that are ticked.
    answer = client.get("/api/export/results", params=[*fields, ("format", "ris")])
    assert (answer.status_code, answer.text.count("\nER  - ")) == (200, 11)
    ticked = re.findall(r'name="docno" value="([^"]*)" form="export"', html)
    assert len(ticked) == 5
    answer = client.get("/api/export/results", params=[*fields, ("docno", ticked[3]), ("format", "run")])
    assert [line.split()[2] for line in answer.text.splitlines()] == [ticked[3]]
    assert "the first 20 if none is" in words(page(client, q="mice", index="mice"))
    assert "/api/export" not in page(client, q="nothing-at-all", index="mice")


def test_duplicates_are_grouped_on_request_and_links_keep_that(build):
    documents = [Document(f"d{n}", "Wing", "wing " * (9 - n), {"pmid": n // 2}) for n in range(6)]
    with client_for(build(documents)) as client:
        assert ">Group duplicates</a>" in page(client, q="wing")
        html = page(client, q="wing", group_duplicates="true", k=2)
        assert re.findall(r'<li class="result"[^>]* data-docno="(\w+)"', html) == ["d0", "d2"]
        assert "Also d1 (same PMID)" in words(html)
        assert 'rel="next" href="/?q=wing&amp;group_duplicates=true&amp;k=2&amp;page=2"' in html
        assert 'href="/?q=wing&amp;k=2">Show all duplicates</a>' in html
        second = page(client, q="wing", group_duplicates="true", k=2, page=2)
        assert re.findall(r'<li class="result"[^>]* data-docno="(\w+)"', second) == ["d4"]
        assert "Also d5 (same PMID)" in words(second)
        found = client.get("/api/search", params={"q": "wing", "group_duplicates": "true"}).json()
        assert [(hit["docno"], [each["docno"] for each in hit["duplicates"]]) for hit in found["hits"]] == [
            ("d0", ["d1"]),
            ("d2", ["d3"]),
            ("d4", ["d5"]),
        ]
        assert found["n_matches"] == 6


def test_a_long_document_is_shown_in_parts_and_first_the_best_passage(build):
    text = [f"w{number % 500}" for number in range(100_000)]
    text[70_000] = "lymphoma"
    book = Document("book", "A book", " ".join(text))
    with client_for(build([book])) as client:
        found = client.get("/api/document", params={"docno": "book", "q": "lymphoma", "length": 50_000}).json()
        start, n_characters = found["start"], found["n_characters"]
        assert n_characters == len(book.body)
        assert found["body"] == book.body[start : start + 50_000]
        assert [found["body"][slice(*mark)] for mark in found["marks"]["body"]] == ["lymphoma"]
        whole = client.get("/api/document", params={"docno": "book", "q": "lymphoma"}).json()
        assert (whole["start"], whole["body"]) == (0, book.body)
        beyond = client.get("/api/document", params={"docno": "book", "start": n_characters, "length": 1}).json()
        assert beyond["body"] == ""

        html = page(client, "/document", docno="book", q="lymphoma")
        assert f"Characters {start + 1:,} to {start + 100_000:,} of {n_characters:,}" in words(html)
        assert "<mark>lymphoma</mark>" in html
        assert f'rel="prev" href="/document?q=lymphoma&amp;docno=book&amp;start={start - 100_000}"' in html
        last = page(client, "/document", docno="book", start=n_characters - 10)
        assert 'rel="prev"' in last
        assert 'rel="next"' not in last
        assert 'rel="prev"' not in page(client, "/document", docno="book")
