"""HTML pages: contents, accessibility, and no references to the outside."""

import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from searchlab.report.content import Report, Section, Table
from searchlab.report.escaping import printable_line
from searchlab.report.html_page import render_html


@pytest.fixture(scope="module")
def page(hostile_report) -> ElementTree.Element:
    """The page parsed as XML."""
    return ElementTree.fromstring(render_html(hostile_report).partition("\n")[2])


def local(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2]


def cells(section: Section) -> list[list[ElementTree.Element]]:
    root = ElementTree.fromstring(render_html(Report("", "", (section,))).partition("\n")[2])
    return [list(row) for row in root.iter("tr")]


def test_the_page_has_only_known_elements(page):
    drawing = {"svg", "g", "defs", "clipPath", "path", "rect", "use", "text"}
    text = {
        "h1",
        "h2",
        "h3",
        "p",
        "a",
        "b",
        "bdi",
        "code",
        "div",
        "span",
        "strong",
        "sup",
        "ol",
        "li",
        "dl",
        "dt",
        "dd",
    }
    tables = {"figure", "figcaption", "table", "thead", "tbody", "tr", "th", "td"}
    frame = {"html", "head", "meta", "title", "style", "body", "main", "header", "nav", "section"}
    assert {local(element) for element in page.iter()} == frame | text | tables | drawing


def test_the_page_has_no_external_references(page):
    ids = [element.get("id") for element in page.iter() if element.get("id")]
    assert len(ids) == len(set(ids)) > 10
    references = 0
    for element in page.iter():
        assert not {"src", "srcset", "action", "data", "background"} & set(element.attrib)
        assert not [name for name in element.attrib if name.startswith("on")]
        pointed = [element.get("href", "#")[1:], *re.findall(r"url\(#([^)]*)\)", " ".join(element.attrib.values()))]
        pointed += element.get("aria-labelledby", "").split()
        assert element.get("href", "#").startswith("#")
        assert set(filter(None, pointed)) <= set(ids)
        references += len(list(filter(None, pointed)))
    assert references > 10
    style = next(page.iter("style")).text or ""
    assert "{" in style
    assert not re.search(r"url\(|@import|@font-face", style)
    (policy,) = [meta.get("content") for meta in page.iter("meta") if "http-equiv" in meta.attrib]
    assert policy == "default-src 'none'; style-src 'unsafe-inline'"


def test_hostile_texts_are_shown_literally(page, hostile_report):
    words = printable_line(hostile_report.title)
    assert "<script>alert(1)</script>" in words
    assert "{{ 7*7 }}" in words
    for tag in ("title", "h1", "h2", "h3", "figcaption", "a", "p", "th", "dt", "dd", "bdi", "sup"):
        assert [element for element in page.iter(tag) if words in "".join(element.itertext())], tag
    assert {svg.get("aria-label") for svg in page.iter("{http://www.w3.org/2000/svg}svg")} == {words}


def test_the_page_is_accessible(page):
    assert page.get("lang") == "en"
    levels = [int(local(element)[1]) for element in page.iter() if re.fullmatch("h[1-6]", local(element))]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    headers = list(page.iter("th"))
    assert {header.get("scope") for header in headers} == {"row", "col"}
    drawings = list(page.iter("{http://www.w3.org/2000/svg}svg"))
    assert [drawing.get("role") for drawing in drawings] == ["img", "img"]
    scrolled = [element for element in page.iter("div") if "scroll" in element.get("class", "")]
    assert {element.get("tabindex") for element in scrolled} == {"0"}


def test_numbers_are_formatted_in_the_page(small_table):
    rows = cells(Section("", (small_table,)))
    assert [["".join(cell.itertext()) for cell in row] for row in rows] == [
        ["system", "AP", "n"],
        ["BM25", ".2500", "106"],
        ["RSVM_IR", ".4497†", "1,234"],
        ["none", "–", "0"],
    ]
    assert [cell.find("strong") is not None for cell in rows[2]] == [False, True, False]
    assert [cell.get("class") for cell in rows[1]] == [None, "n", "n"]
    assert [cell.find("sup").get("style") for row in rows for cell in row[1:2]] == ["width: 1.5ch"] * 4


def test_an_integer_among_decimals_ends_at_the_point():
    rows = cells(Section("", (Table("t", "", ("x",), ((0.5,), (3,)), digits=2),)))
    assert ["".join(row[0].itertext()) for row in rows[1:]] == [".50", "3\u2008\u2007\u2007"]


def test_the_table_of_contents_links_to_the_sections(page):
    (nav,) = page.iter("nav")
    targets = [link.get("href", "")[1:] for link in nav.iter("a")]
    headings = [heading.get("id") for heading in page.iter("h2")]
    assert targets == headings == ["section-1", "section-2", "facts"]


def test_a_notebook_shows_the_page_in_a_frame_where_nothing_runs(hostile_report):
    frame = ElementTree.fromstring(hostile_report._repr_html_())
    assert frame.tag == "iframe"
    assert frame.attrib["sandbox"] == ""
    assert " ".join(frame.attrib["srcdoc"].split()) == " ".join(render_html(hostile_report).split())
