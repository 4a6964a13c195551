"""The results page as a librarian uses it: citations, links, years, synonyms, selection, export, saved searches."""

import subprocess
import sys
import urllib.request

import numpy as np
import pytest

from searchlab.analysis.analyzer import AnalysisSettings
from searchlab.features.preprocessing.preprocessor import Preprocessor
from searchlab.judgments.judgment_store import JudgmentStore, judgments_file
from searchlab.rankers.bundle import Bundle
from searchlab.rankers.first_stage import FirstStage
from searchlab.rankers.model_store.model_files import trained_model_file
from searchlab.rankers.models.linear_model import LinearModel
from searchlab.records import Document, Topic

SERVER = """
import sys
from pathlib import Path
from searchlab.retrieval.query.synonyms import Synonyms
from searchlab.web.state.app_state import AppState
from searchlab.web.server import serve
from searchlab.web.state.open_indexes import OpenIndexes, local_engines
synonyms = Synonyms.given([["mice", "rodents"]])
serve(AppState(OpenIndexes([Path(sys.argv[1])], (), local_engines(synonyms))), port=0)
"""
# More than the five of which an explanation shows all.
FEATURES = tuple(f"letor.{text}.{name}" for text in ("title", "body", "both") for name in ("tf", "idf", "bm25"))
BIDI = "\u202eLymphoma \u2067of mice"
DOCUMENTS = [
    Document(
        "3045678",
        "Lymphoma of T cells in mice",
        "Lymphomas of T cells in mice and men.",
        {
            "authors": ["Smith, Jane", "Jones, Karl", "Ruiz, Pablo", "Wang, Li"],
            "journal": "The Lancet",
            "year": 1988,
            "volume": "12",
            "issue": "3",
            "pages": "45-67",
            "doi": "10.1016/S0140-6736(88)1",
            "pmid": "3045678",
        },
    ),
    Document("paper.pdf", "A lymphoma report", "Lymphoma in cells.", {"n_pages": 3, "year": 1995}),
    Document("bidi", BIDI, "Lymphoma.", {"urls": ["javascript:alert(1)"], "year": 2001}),
    Document("rodents", "Rodents of the lab", "Rodents only.", {"year": 2003}),
    Document("long", "A long report", "Zebras. " + "Filler of a report. " * 6000 + "Giraffes."),
    *(Document(f"c{n:02}", "Heart failure in men", f"Cells {n} of the heart.", {"year": 1990 + n}) for n in range(14)),
]


@pytest.fixture(scope="module")
def folder(build, tmp_path_factory):
    made = build(DOCUMENTS, folder=tmp_path_factory.mktemp("results") / "refs", settings=AnalysisSettings())
    with JudgmentStore(judgments_file(made)) as store:
        store.import_judgments("mine", [Topic("1", "lymphoma")], {"1": {"paper.pdf": 2, "bidi": 0}}, judge="me")
        store.judge("mine", "1", "paper.pdf", judge="eve", grade=2)
    model = LinearModel(np.arange(1.0, 1 + len(FEATURES)))
    Bundle("linear", {}, model, FEATURES, Preprocessor.named(), first_stage=FirstStage()).save(trained_model_file(made))
    return made


@pytest.fixture(scope="module")
def address(browser, folder):
    process = subprocess.Popen([sys.executable, "-c", SERVER, folder], stdout=subprocess.PIPE, text=True)
    yield process.stdout.readline().partition(" at ")[2].split()[0]
    process.terminate()
    process.wait(20)
    process.stdout.close()


def texts(browser, what: str) -> list[str]:
    script = "return [...document.querySelectorAll(arguments[0])].map(e => e.textContent.replace(/\\s+/g, ' ').trim())"
    return browser.execute_script(script, what)


def click(browser, what: str) -> None:
    browser.find_element("css selector", what).click()


def result(browser, docno: str, what: str) -> list[str]:
    return texts(browser, f".result[data-docno='{docno}'] {what}")


def test_a_result_is_cited_and_linked(show):
    shown = show("/?q=lymphoma")
    cited = result(shown, "3045678", ".citation")
    assert cited == ["Smith, Jane; Jones, Karl; Ruiz, Pablo and 1 more. The Lancet. 1988;12(3):45–67"]
    links = shown.execute_script(
        "return [...document.querySelectorAll('.result .outside')].map(a => [a.textContent, a.href, a.rel])"
    )
    rel = "noopener noreferrer external"
    assert links == [
        ["DOI 10.1016/S0140-6736(88)1", "https://doi.org/10.1016/S0140-6736%2888%291", rel],
        ["PMID 3045678", "https://pubmed.ncbi.nlm.nih.gov/3045678/", rel],
    ]
    assert result(shown, "3045678", ".docno") == []  # the PMID says it
    assert result(shown, "paper.pdf", ".citation") == ["1995, 3 pages"]
    assert result(shown, "paper.pdf", ".facts:not(.actions) li") != []
    schemes = shown.execute_script("return [...new Set([...document.links].map(link => link.protocol))].sort()")
    assert schemes == ["http:", "https:"]


def test_bidi_controls_stay_within_their_title(show):
    """The words after a title are where they would be without its direction controls."""
    shown = show("/?q=lymphoma")
    places = shown.execute_script(
        "const item = document.querySelector(\".result[data-docno='bidi']\");"
        "return [getComputedStyle(item.querySelector('h2 a')).unicodeBidi,"
        " getComputedStyle(item.querySelector('.facts')).direction]"
    )
    assert places == ["isolate", "ltr"]
    assert show("/document?docno=bidi").title == "Lymphoma of mice – searchlab"


def test_years_restrict_the_results_and_can_be_changed(show, wait):
    shown = show("/?q=cells")
    assert texts(shown, ".summary p")[0].startswith("Results 1–10 of 16 ")
    for box, year in (("year-from", "1994"), ("year-to", "1996")):
        shown.find_element("id", box).send_keys(year)
    click(shown, ".years .button")
    wait("document.querySelector('.chip')")
    assert texts(shown, ".chip bdi") == ["year=[1994 TO 1996]"]
    assert texts(shown, ".summary p")[0].startswith("4 results ")
    assert shown.find_element("id", "year-from").get_property("value") == "1994"
    shown.find_element("id", "year-from").clear()
    click(shown, ".years .button")
    wait("document.querySelector('.chip bdi').textContent === 'year=[TO 1996]'")
    assert texts(shown, ".summary p")[0].startswith("9 results ")


def test_a_bar_of_the_histogram_restricts_the_years(show, wait):
    shown = show("/?q=cells")
    assert texts(shown, "#years-found") == ["Results from 1988 to 2003, most of them in 1995 (2)"]
    bars = shown.find_elements("css selector", ".histogram a")
    heights = [float(bar.find_element("css selector", ".up").get_attribute("height")) for bar in bars]
    assert (len(bars), max(heights), heights.count(100)) == (15, 100, 1)
    click(shown, ".histogram a:nth-child(2)")
    wait("document.querySelector('.chip')")
    assert texts(shown, ".chip bdi") == ["year=[1990 TO 1990]"]
    # All years of the query stay, and the chosen one is marked.
    bars = shown.find_elements("css selector", ".histogram.restricted a")
    assert [bool(bar.find_elements("css selector", ".chosen")) for bar in bars] == [False, True] + 13 * [False]
    words = "Results from 1988 to 2003, most of them in 1995 (2); 1 of 16 are of the chosen years"
    assert texts(shown, "#years-found") == [words]
    # Another year takes the place of the first.
    click(shown, ".histogram a:nth-child(3)")
    wait("document.querySelector('.chip bdi').textContent !== 'year=[1990 TO 1990]'")
    assert texts(shown, ".chip bdi") == ["year=[1991 TO 1991]"]
    click(shown, ".all-years")
    wait("!document.querySelector('.chip')")
    assert not shown.find_elements("css selector", ".histogram.restricted")


def test_sliders_choose_the_years(show, press, wait):
    from selenium.webdriver import ActionChains, Keys

    shown = show("/?q=cells")
    chosen = "[...document.querySelectorAll('#year-from, #year-to')].map(box => box.value).join(' to ')"
    first, last = shown.find_elements("css selector", "[data-years] input")
    assert [each.get_property("value") for each in (first, last)] == ["1988", "2003"]
    first.send_keys(Keys.ARROW_RIGHT * 6)
    assert shown.execute_script(f"return {chosen}") == "1994 to "
    # One of them pushes the other, and moves back alone.
    last.send_keys(Keys.HOME, Keys.ARROW_RIGHT * 8)
    assert shown.execute_script(f"return {chosen}") == " to 1996"
    first.send_keys(Keys.ARROW_RIGHT * 6, Keys.ENTER)
    wait("document.querySelector('.chip')?.textContent.includes('year=[1994 TO 1996]')")
    assert texts(shown, ".summary p")[0].startswith("4 results ")
    # Letting go of a thumb shows the results; at its end, that end is open.
    first, last = shown.find_elements("css selector", "[data-years] input")
    assert [each.get_property("value") for each in (first, last)] == ["1994", "1996"]
    width, height = last.size["width"], last.size["height"]
    at = (1996 - 1988) / (2003 - 1988) * (width - height) - (width - height) / 2
    thumb = ActionChains(shown, duration=0).move_to_element_with_offset(last, round(at), 0)
    thumb.click_and_hold().move_by_offset(width, 0).release().perform()
    wait("document.querySelector('.chip bdi')?.textContent === 'year=[1994 TO]'")
    shown.find_element("id", "year-from").clear()
    shown.find_element("id", "year-from").send_keys("2000")
    first = shown.find_element("css selector", "[data-years] input")
    assert first.get_property("value") == "2000"


def test_of_a_long_document_the_part_with_the_words_is_loaded_and_others_on_demand(show, find, wait):
    shown = show("/document?docno=long&q=giraffes")
    assert texts(shown, ".body mark") == ["Giraffes"]
    assert len(find(".body").text) <= 100_000 < 120_000
    find(".parts [rel=prev]").click()
    wait("!document.querySelector('.body').textContent.includes('Giraffes')")
    assert len(find(".body").text) <= 100_000


def test_a_model_is_explained_by_five_parts_in_words_and_the_others_folded(show, find):
    shown = show("/?q=lymphoma")
    model = texts(shown, "#system optgroup:last-child option")[0]
    assert model.startswith("Learned from judgments (")
    shown = show("/explain?q=lymphoma&docno=paper.pdf&system=model:model")
    assert texts(shown, "h2")[0] == "What matters most"
    labels = texts(shown, ".explain > .parts .label")
    assert len(labels) == 5
    assert not set(labels) & set(FEATURES)
    rest = find(".rest")
    assert rest.get_attribute("open") is None
    rest.find_element("tag name", "summary").click()
    assert len(shown.find_elements("css selector", ".rest .part")) == len(FEATURES) - 5
    find(".meaning > summary").click()
    assert "The five properties with the largest effect" in find(".meaning p").text


def test_how_several_judges_are_merged_is_said(show):
    assert "the lower median of their grades counts" in " ".join(texts(show("/measure?topic_set=mine"), ".note"))


def test_ticked_results_are_exported(show, address):
    shown = show("/?q=cells")
    for position in (2, 3):
        click(shown, f".result:nth-child({position}) .numbered input")
    assert texts(shown, "[data-selected]") == ["the 2 results that are ticked"]
    url = shown.execute_script(
        "const form = document.getElementById('export'), button = form.querySelector('[value=run]');"
        "const fields = new URLSearchParams(new FormData(form, button)); return form.action + '?' + fields"
    )
    with urllib.request.urlopen(url) as answer:
        lines = answer.read().decode().splitlines()
    ticked = texts(shown, ".result:has(input:checked) .docno")
    assert [line.split()[2] for line in lines] == ticked
    assert len(ticked) == 2


def test_an_unknown_word_offers_the_words_that_begin_so(show, wait):
    shown = show("/?q=lymph")
    assert texts(shown, ".note b bdi") == ["lymph", "lymph"]
    assert texts(shown, ".note a bdi")[:2] == ["lymphoma", "lymphomas"]
    click(shown, ".note a:has(bdi)")
    wait("document.title.startsWith('lymphoma')")


def test_synonyms_are_switched_off_and_on(show, wait):
    shown = show("/?q=mice")
    found = "[...document.querySelectorAll('.result')].map(e => e.dataset.docno).includes('rodents')"
    assert shown.execute_script(f"return {found}")
    shown.find_element("link text", "Without synonyms").click()
    wait(f"document.querySelector('.result') && !{found}")
    assert "synonyms=off" in shown.find_element("css selector", ".result .open").get_attribute("href")
    shown.find_element("link text", "With synonyms").click()
    wait(found)


def test_home_offers_phrases_of_this_index(show, wait):
    shown = show("/")
    assert texts(shown, ".examples a")[0] == "heart failure"
    click(shown, ".examples a")
    wait("document.querySelectorAll('.result').length === 10")


def test_the_syntax_is_shown_by_queries_that_find_something(show):
    shown = show("/")
    links = "[...document.querySelectorAll('.syntax code a')].map(link => [link.text, link.href])"
    queries = shown.execute_script(f"return {links}")
    assert [text for text, _ in queries] == [
        *("heart failure", '"heart failure"', "+failure heart -mice", "title:failure", "failu*", "failure~"),
    ]
    for _, href in queries:
        shown.get(href)
        assert texts(shown, ".result .rank") != []


def test_a_search_is_saved_found_again_and_deleted(show, wait):
    shown = show("/?q=cells&filter=year%3D1995&sort=year%3Adesc")
    shown.find_element("css selector", ".save > summary").click()
    box = shown.find_element("id", "search-name")
    assert box.get_property("value") == "cells"
    box.clear()
    box.send_keys("My <b> cells\n")
    notice = "document.querySelector('main .notice.good')?.innerText"
    assert wait(notice) == "Saved: My <b> cells. All saved searches"
    shown.refresh()
    assert wait(f"{notice} ?? 'none'") == "none"
    shown = show("/searches")
    assert texts(shown, ".searches:not(.past) a") == ["My <b> cells"]
    described = texts(shown, ".searches:not(.past) .note")[0]
    assert described.startswith(
        "cells · year=1995 · sorted by year, newest first · ranked by Standard (BM25) · saved by"
    )
    assert "cells" in texts(shown, ".past a")
    click(shown, ".searches:not(.past) a")
    wait("document.querySelector('.chip')")
    assert "sort=year%3Adesc" in shown.current_url
    shown = show("/searches")
    click(shown, ".searches:not(.past) .link")
    assert wait("document.querySelector('main .notice p')?.innerText") == "Deleted: My <b> cells."
    assert texts(shown, ".searches:not(.past) a") == []
    click(shown, "main .notice button")
    wait("document.querySelector('.searches:not(.past)') && !document.querySelector('main .notice')")
    assert texts(shown, ".searches:not(.past) .note")[0] == described
    # The past searches are those of all: the page says so before it deletes them.
    click(shown, ".confirm summary")
    assert "those of everybody who searches refs" in shown.find_element("css selector", ".confirm .note").text
    click(shown, ".confirm .button.danger")
    wait("document.readyState === 'complete' && !document.querySelector('.past')")


def test_a_saved_search_keeps_all_its_settings_and_the_earlier_one_of_its_name(show, wait, too_wide):
    settings = "filter=year%3D%5B1988+TO+2003%5D&group_duplicates=true&synonyms=off&k=20"
    for number, path in enumerate(("/?q=mice", f"/?q=mice&{settings}")):
        shown = show(path, width=390)
        click(shown, ".save > summary")
        assert wait("document.querySelector('.save[open] form').getBoundingClientRect().left") > 0
        click(shown, ".save button")
        wait(f"document.querySelector('main .notice.good bdi')?.innerText === 'mice{' (2)' if number else ''}'")
        assert too_wide() == []
    shown = show("/searches", width=390)
    assert texts(shown, ".searches:not(.past) a")[:2] == ["mice (2)", "mice"]
    about = texts(shown, ".searches:not(.past) .note")[0]
    assert "duplicates grouped · without synonyms · 20 a page ·" in about
    assert too_wide() == []
    click(shown, ".searches:not(.past) a")
    asked = wait("document.querySelector('.result') && [...new URLSearchParams(location.search)].flat()")
    expected = {"group_duplicates": "true", "synonyms": "off", "k": "20", "filter": "year=[1988 TO 2003]"}
    assert dict(zip(asked[::2], asked[1::2], strict=True)).items() >= expected.items()
    # What another tab saves is there when the page is looked at again.
    shown = show("/searches")
    body = "new URLSearchParams({q: 'zebras', csrf: document.querySelector('[name=csrf]').value})"
    shown.execute_script(f"return fetch('/save-search', {{method: 'POST', body: {body}}})")
    shown.execute_script("window.dispatchEvent(new Event('focus'))")
    wait("document.querySelector('.searches:not(.past) a').textContent === 'zebras'")


def test_the_quality_of_a_judged_query_is_beside_its_ranker(show):
    shown = show("/?q=lymphoma")
    first = texts(shown, ".result h2")[0]
    quality = texts(shown, ".summary .quality")[0]
    assert quality.startswith("nDCG@10 ")
    assert (quality == "nDCG@10 1.000") == (first == "A lymphoma report")
    shown = show("/compare?q=lymphoma&left=bm25&right=tfidf")
    assert len(texts(shown, ".side .quality")) == 2
    assert set(texts(shown, ".graded")) == {"definitely relevant", "not relevant"}


def test_a_row_of_a_comparison_has_room_for_a_long_title_with_rank_and_grade(show):
    shown = show("/compare?q=lymphoma&left=bm25&right=tfidf", width=1280)
    outside = shown.execute_script("""
        for (const each of document.querySelectorAll('.ranking .open')) each.textContent = 'Cells of mice '.repeat(20);
        const box = (what) => what.getBoundingClientRect();
        const isOutside = (row) => (each) => box(each).top < box(row).top || box(each).bottom > box(row).bottom;
        return [...document.querySelectorAll('.ranking li')]
          .map((row) => [...row.querySelectorAll('div, .graded')].filter(isOutside(row)).length);
    """)
    assert len(outside) >= 4
    assert len(texts(shown, ".graded")) == 4
    assert set(outside) == {0}


@pytest.mark.parametrize("path", ["/?q=lymphoma", "/compare?q=lymphoma&left=bm25&right=tfidf"])
def test_the_quality_of_a_ranking_is_explained_by_keys_alone(show, look, press, path):
    from selenium.webdriver.common.keys import Keys

    shown = show(path, width=390)
    (summary, *_) = shown.find_elements("css selector", ".measured > summary")
    shown.execute_script("arguments[0].focus()", summary)
    press(Keys.ENTER)
    assert texts(shown, ".measured[open] > .note")[0].startswith("1 is the best possible order")
    for width in (390, 1280):  # what opens covers nothing
        look(width)
        bottom, top = shown.execute_script(
            "const box = (what) => document.querySelector(what).getBoundingClientRect();"
            "return [box('.measured[open] > .note').bottom, box('.results, .side h2').top]"
        )
        assert 0 < bottom <= top


def test_grades_of_a_comparison_are_those_of_now_when_it_is_looked_at_again(show, wait):
    shown = show("/compare?q=zebras&left=bm25&right=tfidf")
    graded = "[...document.querySelectorAll('.graded')].map(e => e.innerText).join()"
    assert wait(f"{graded} === '' && 'none'") == "none"
    body = "JSON.stringify({query: 'zebras', docno: 'long', grade: 2, judge: 'me'})"
    settings = f"{{method: 'POST', headers: {{'Content-Type': 'application/json'}}, body: {body}}}"
    shown.execute_script(f"return fetch('/api/judgments', {settings})")
    shown.execute_script("window.dispatchEvent(new Event('focus'))")
    wait(f"{graded} === 'definitely relevant,definitely relevant'")


def test_menus_have_plain_words_with_technical_names(show):
    shown = show("/")
    options = texts(shown, "#system option")
    assert options[0] == "Standard (BM25)"
    assert "Standard, with related words (BM25 + RM3)" in options
    assert texts(show("/explain?q=lymphoma&docno=bidi"), ".meaning summary") == ["What is a score?"]


@pytest.mark.parametrize("path", ["/?q=lymph&filter=year%3D%5B1980+TO+1990%5D", "/?q=lymphoma", "/searches"])
def test_pages_are_accessible(show, look, shortcomings, too_wide, faint_words, path):
    show(path, width=320, scheme="dark")
    assert (shortcomings(), too_wide(), faint_words()) == ([], [], [])
    look()
    assert (too_wide(), faint_words()) == ([], [])


def test_single_keys_can_be_switched_off(show, press):
    shown = show("/?q=cells")
    press("?")
    click(shown, "#single-keys")
    shown.find_element("css selector", "#keys form button").click()
    try:
        shown = show("/?q=cells")
        press("j", "?")
        assert shown.switch_to.active_element.tag_name == "body"
        assert not shown.find_element("id", "keys").is_displayed()
        click(shown, "[data-keys]")
        assert not shown.find_element("id", "single-keys").is_selected()
        click(shown, "#single-keys")
        shown.find_element("css selector", "#keys form button").click()
        press("j")
        assert shown.execute_script("return document.activeElement.closest('.result') !== null")
    finally:
        shown.execute_script("localStorage.clear()")


def test_the_api_is_described_without_a_network(show):
    shown = show("/")
    shown.find_element("link text", "API").click()
    headings = texts(shown, ".operation h2")
    assert "GET /api/search" in headings
    assert "POST /api/judgments/batch" in headings
    loaded = shown.execute_script(
        "return performance.getEntriesByType('resource').map(entry => new URL(entry.name).host)"
    )
    assert set(loaded) == {shown.execute_script("return location.host")}


def test_marked_words_have_enough_contrast_in_both_schemes(show, faint_words):
    for scheme in ("light", "dark"):
        shown = show("/?q=lymphoma", scheme=scheme)
        assert len(texts(shown, "mark")) > 3
        assert faint_words() == []
        shown.execute_script("document.documentElement.style.setProperty('--mark', '#5a636e')")
        shown.execute_script("document.documentElement.style.setProperty('--ink', '#666')")
        assert any(word for word, _ in faint_words() if "ymphoma" in word)
