"""What is chosen among results in a browser: all values of a facet, ticks on several pages, groups of duplicates."""

import urllib.request

import pytest

from searchlab.records import Document

SENDS = "const form = document.getElementById('export'); const fields = new URLSearchParams(new FormData(form));"
SELECTED = "document.querySelector('[data-selected]').innerText"


@pytest.fixture(scope="module")
def address(browser, serve, medical, build) -> str:
    text = "Twins are the same article, word for word, in two journals of the same year. " * 3
    twins = [Document(f"t{n}", "Twins", text, {"doi": "10.1000/1"}) for n in range(2)]
    twins.append(Document("other", "Other twins", "A short text about twins.", {"doi": "10.1000/2"}))
    return serve(medical, build(twins, folder=medical.parent / "twins"))


@pytest.fixture
def exported(browser, address):
    """The docnos that the form would export as a run."""

    def docnos():
        url = browser.execute_script(f"{SENDS} fields.set('format', 'run'); return form.action + '?' + fields")
        with urllib.request.urlopen(url) as answer:
            return [line.split()[2] for line in answer.read().decode().splitlines()]

    return docnos


def tick(find, position):
    find(f".result:nth-child({position}) .numbered input").click()


def test_all_values_of_a_facet_are_shown_on_demand(show, browser, find, wait, too_wide):
    show("/?q=patients", width=390)
    find("#facets summary").click()
    values = "document.querySelectorAll('[aria-label=year] .values li').length"
    assert wait(values) == 10
    link = "[aria-label=year] .note a"
    n_more = int(find(link).text.split()[0])
    find(link).click()
    assert wait(f"document.querySelector('#facets').open && {values} > 10 && {values}") == 10 + n_more
    assert too_wide() == []
    find("[aria-label=year] li:last-child a").click()
    wait("document.querySelector('.chip')")
    assert "values_of" not in browser.current_url


def test_ticks_outlast_the_pages_of_a_search_and_all_are_exported(show, browser, find, wait, exported, too_wide):
    show("/?q=patients&index=medical", width=390)
    tick(find, 2)
    first = find(".result:nth-child(2)").get_attribute("data-docno")
    find("[rel=next]").click()
    wait("new URLSearchParams(location.search).get('page') === '2'")
    assert wait(SELECTED) == "the result that is ticked"
    find("#tick-page").click()
    page = browser.execute_script("return [...document.querySelectorAll('.result')].map(e => e.dataset.docno)")
    assert wait(SELECTED) == f"the {1 + len(page)} results that are ticked"
    assert sorted(exported()) == sorted([first, *page])
    assert too_wide() == []
    find("[rel=prev]").click()
    wait("!new URLSearchParams(location.search).get('page')")
    assert wait("document.querySelector('.result:nth-child(2) .numbered input').checked")
    # Another search has ticks of its own.
    show("/?q=stroke&index=medical")
    assert wait(SELECTED).startswith("the results that are ticked, or all")
    show("/?q=patients&index=medical")
    find("[data-untick]").click()
    assert wait(SELECTED).startswith("the results that are ticked, or all")
    assert browser.execute_script("return document.querySelectorAll('.numbered input:checked').length") == 0


def test_grouped_duplicates_are_exported_once(show, browser, find, wait, exported):
    show("/?q=twins&index=twins")
    assert sorted(exported()) == ["other", "t0", "t1"]
    find(".narrow .note a").click()
    wait("document.querySelectorAll('.result').length === 2")
    shown = browser.execute_script("return [...document.querySelectorAll('.result')].map(e => e.dataset.docno)")
    assert exported() == shown
