"""Do the pages of searching say what there is, what can be done next, and what went wrong, without a script?"""

import re
from html import unescape

import pytest
from starlette.testclient import TestClient

from searchlab.analysis.analyzer import AnalysisSettings
from searchlab.records import Document
from searchlab.web.app import make_app
from searchlab.web.limits import Limits
from searchlab.web.middleware.security import Safety
from searchlab.web.state.app_state import Desk
from searchlab.web.state.open_indexes import Shelf

DOCUMENTS = [
    *(Document(f"d{number}", f"Mice {number}", "Cells of mice.", {"year": 1980 + number}) for number in range(25)),
    Document("long", "Many words", "growth " * 2000, {"keywords": [f"k{number}" for number in range(30)]}),
]
BARE = [Document(f"n{number}", "", "A bare note.") for number in range(3)]


@pytest.fixture(scope="module")
def folders(build, tmp_path_factory):
    home = tmp_path_factory.mktemp("pages")
    settings = AnalysisSettings()
    return [build(own, settings=settings, folder=home / name) for own, name in [(DOCUMENTS, "mice"), (BARE, "bare")]]


@pytest.fixture(scope="module")
def client(folders):
    desk = Desk(Shelf(folders), limits=Limits(depth=20))
    with TestClient(make_app(desk, Safety(None, True, secret=b"s" * 32)), base_url="http://127.0.0.1") as own:
        yield own


def page(client, path="/", **parameters):
    answer = client.get(path, params=parameters)
    assert answer.status_code == 200, answer.text
    return answer.text


def words(html):
    """What is read: the text of the content."""
    content = re.search(r"<main.*</main>", html, re.DOTALL).group()
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", content)).split())


def again(html):
    """Where the form for one's name leads back to."""
    form = re.search(r'<form method="post" action="/name">.*?</form>', html, re.DOTALL).group()
    return unescape(re.search(r'name="back" value="([^"]*)"', form).group(1))


@pytest.mark.parametrize(
    ("parameters", "told"),
    [
        ({"q": "growth"}, r"1 result in [\d.]+ ms from 26 documents"),
        ({"q": "mice", "k": 3}, r"Results 1–3 in [\d.]+ ms"),
        ({"q": "year:[1980 TO 1984]", "k": 3, "page": 2}, r"Results 4–5 of 5 in [\d.]+ ms"),
    ],
)
def test_the_ranks_that_are_shown_are_told_and_how_many_there_are_if_that_is_known(client, parameters, told):
    assert re.search(told, words(page(client, **parameters)))


def test_nobody_is_led_below_the_last_rank_that_is_shown(client):
    first, last = page(client, q="mice"), page(client, q="mice", page=2)
    assert 'rel="next"' in first
    assert 'rel="next"' not in last
    assert "The first 20 are shown, not more." in words(last)
    assert "Page 3 of 10 ends below rank 20" in words(page(client, q="mice", page=3))


def test_what_cannot_be_searched_for_is_told_beside_the_query(client):
    shown = page(client, q="mice", filter=["year=1981", "nowhere=1"])
    assert "Unknown field 'nowhere'" in words(shown)
    assert 'name="q" type="search" value="mice"' in shown
    assert [unescape(each) for each in re.findall(r'class="chip"><bdi>(.*?)</bdi>', shown)] == [
        "year=1981",
        "nowhere=1",
    ]
    assert client.get("/", params={"q": "mice", "index": "nowhere"}).status_code == 404


@pytest.mark.parametrize(
    ("query", "told", "untold"),
    [
        ("the", "as frequent as the", "Ask for less"),
        ("+mice +growth", "Ask for less", "In no document"),
        ("zzz", "In no document: zzz", "as frequent as the"),
    ],
)
def test_where_nothing_is_found_the_advice_fits_the_query(client, query, told, untold):
    shown = words(page(client, q=query))
    assert "No document matches." in shown
    assert told in shown
    assert untold not in shown


def test_of_many_values_of_a_field_the_first_are_shown_beside_a_result(client):
    shown = words(page(client, q="growth"))
    assert "k7 , and 22 more" in shown
    assert "k8" not in shown
    assert "k29" in words(page(client, "/document", id="long"))


def test_what_is_offered_fits_the_fields_that_there_are(client):
    shown = words(page(client))
    assert "other fields are keywords , year" in shown
    assert "year:[1988 TO 1990]" in shown
    assert "<summary>Filter</summary>" in page(client, q="mice")
    shown = words(page(client, index="bare"))
    assert "other fields are" not in shown
    assert "year:" not in shown
    assert "<summary>Filter</summary>" not in page(client, q="note", index="bare")


def test_a_document_without_a_title_is_called_by_its_name_once(client):
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
        ("/document", {"id": "d1", "q": "mice", "page": "2"}, "/document?index=mice&q=mice&id=d1&page=2"),
        ("/similar", {"id": "d1"}, "/similar?index=mice&id=d1"),
        ("/compare", {"q": "mice", "right": "jm"}, "/compare?index=mice&q=mice&right=jm&left=bm25"),
        ("/explain", {"q": "mice", "id": "d1", "against": "d2"}, "/explain?index=mice&q=mice&id=d1&against=d2"),
    ],
)
def test_whoever_says_a_name_comes_back_to_the_very_page(client, path, parameters, expected):
    assert again(page(client, path, **parameters)) == expected


def test_documents_with_one_score_are_explained_in_one_sentence(client):
    shown = words(page(client, "/explain", q="mice", id="d1", against="d2"))
    assert shown.count("same score") == 1
    assert "The difference" not in shown


def test_two_rankings_that_are_the_same_are_said_to_be(client):
    assert "Both rank the same documents alike." in words(page(client, "/compare", q="growth", right="jm"))
    shown = words(page(client, "/compare", q="zzz"))
    assert "No document matches" in shown
    assert "of the first" not in shown
