"""An experiment is started from its page and read, and a mistake is shown at its field with all entries kept."""

from urllib.parse import urlsplit

import pytest

from searchlab.corpus.trec.qrels import read_qrels
from searchlab.corpus.trec.topics import read_topics
from searchlab.judgments.judgment_store import JudgmentStore, judgments_file
from tests.web.conftest import MEDICAL

PAGES = ["/experiments", "/experiment?name=titles", "/experiment?name=titles&qid=2"]


@pytest.fixture(scope="module")
def address(serve, medical, experiment):
    with JudgmentStore(judgments_file(medical)) as store:
        topics, grades = read_topics(MEDICAL / "topics.tsv"), read_qrels(MEDICAL / "qrels.txt")
        store.import_judgments("medical", topics, grades, judge="me")
    return serve(medical)


@pytest.mark.parametrize("path", PAGES)
def test_pages_are_accessible(check_page, path):
    check_page(path)


def test_experiments_lead_from_measure_to_documents_and_reports_lead_back(show, find, wait):
    shown = show("/measure")
    shown.find_element("link text", "Do titles help?").click()
    wait("location.pathname === '/experiment' && document.querySelector('.strip')")
    find("td a").click()
    wait("document.querySelectorAll('.rankings li a').length > 10")
    find(".rankings li a").click()
    wait("location.pathname === '/document' && document.querySelector('main h1')")
    shown.back()
    wait("document.querySelector('.rankings')")
    shown.back()
    wait("document.querySelector('#means')")
    shown.find_element("link text", "the report").click()
    wait("location.pathname === '/report/titles/' && document.querySelector('nav')")
    shown.find_element("link text", "Results, with links to topics and documents").click()
    wait("location.pathname === '/experiment' && location.search.includes('name=titles')")
    shown.back()
    wait("document.querySelector('nav')")
    shown.find_element("link text", "← Experiments").click()
    wait("location.pathname === '/experiments'")


def test_the_baseline_is_chosen_and_by_default_the_best_that_learns_nothing(show, find, wait):
    from selenium.webdriver.support.ui import Select

    shown = show("/measure?systems=dirichlet&systems=bm25&systems=bm25%2Brm3")
    rows = {
        row.find_element("css selector", "th").text: float(row.find_element("css selector", "td").text)
        for row in shown.find_elements("css selector", "#means ~ .scroll tbody tr")
    }
    best = max(rows, key=rows.get)
    assert find("#better").text == f"Is it better than {best}?"
    assert f"{best} is the best of these systems that learns nothing" in find("#better ~ .note").text
    worst = {"BM25": "bm25", "Dirichlet": "dirichlet", "BM25 + RM3": "bm25+rm3"}[min(rows, key=rows.get)]
    Select(find("#baseline")).select_by_value(worst)
    find(".choose .button").click()
    named = f"Is it better than {min(rows, key=rows.get)}?"
    wait("document.getElementById('better')?.textContent === arguments[0]", named)
    assert shown.find_elements("css selector", ".sentences .good") == []
    shown.find_element("link text", "Compare with the best one").click()
    wait("document.getElementById('better')?.textContent === arguments[0]", f"Is it better than {best}?")


@pytest.mark.parametrize("path", ["/measure", "/experiments"])
def test_measures_are_explained_where_they_are_chosen(show, find, path):
    shown = show(path)
    find(".choose .meant > summary").click()
    offered = [each.get_attribute("value") for each in shown.find_elements("css selector", "[name=measures]")]
    terms = [each.text for each in shown.find_elements("css selector", ".choose .meant dt")]
    assert terms == offered
    explained = [each.text for each in shown.find_elements("css selector", ".choose .meant dd")]
    assert explained[terms.index("RR")].startswith("1 if the first document is relevant")
    assert all(explained)


@pytest.mark.parametrize(("path", "menus"), [("/train", "form.train option"), ("/experiments", ".choose label")])
def test_menus_have_plain_words_and_technical_names_open_below(show, find, path, menus):
    shown = show(path)
    words = [each.get_attribute("textContent").strip() for each in shown.find_elements("css selector", menus)]
    assert "Which of two documents is better? Top ranks count more" in words
    technical = ("rsvm", "softmax", "mhr", "lambdamart", "letor", "nallapati", "table1", "compact", "tuned", "ordrank")
    assert [each for each in words if any(name in each.lower() for name in technical)] == []
    find("form .names > summary").click()
    named = find("form .names").text
    assert "rsvm-ir: RSVM-IR: pairs weighed by grades" in named
    if path == "/train":
        assert "Recommended: 19 properties of words, neighbours and feedback" in words
        assert "Recommended: the best few settings, averaged" in words
        assert "compact: score.both.bm25, " in named and "tuned: powers of the features" in named


def choose(shown, name, *values):
    """Tick these boxes of a group, and no others."""
    for box in shown.find_elements("css selector", f'[name="{name}"]'):
        if box.is_selected() != (box.get_attribute("value") in values):
            shown.execute_script("arguments[0].click()", box)


def test_an_experiment_is_started_and_read(show, find, wait):
    shown = show("/experiments")
    choose(shown, "systems", "bm25", "dirichlet")
    choose(shown, "rankers")
    choose(shown, "measures", "AP")
    find("#title").send_keys("Which model of language?")
    find(".choose .button").click()
    # Without a reload, the card shows the progress, then the result.
    wait("document.querySelector('.job')?.dataset.state === 'done'", seconds=60)
    assert find("#job").text == "Which model of language? is complete"
    find(".job .primary").click()
    wait("location.pathname === '/experiment'")
    assert find("h1").text == "Which model of language?"
    assert [each.text for each in shown.find_elements("css selector", "#means ~ .scroll th[scope=row]")] == [
        "BM25",
        "dirichlet",
    ]
    find("td a").click()
    wait("document.querySelectorAll('.rankings li a').length > 10")
    find(".rankings li a").click()
    wait("location.pathname === '/document'")


def start_slow_experiment(shown, find, wait, title):
    """An experiment that takes long enough to be cancelled."""
    choose(shown, "systems", "bm25", "bm25+rm3")
    choose(shown, "rankers", "lambdamart")
    find("#title").clear()
    find("#title").send_keys(title)
    find(".choose .button").click()
    wait("document.getElementById('job')?.textContent.includes(arguments[0])", title)


def test_an_identical_experiment_is_refused_and_one_that_finished_is_shown_rather_than_a_cancelled_one(
    show, browser, find, wait
):
    shown = show("/experiments")
    assert find("#job").text == "Which model of language? is complete"
    start_slow_experiment(shown, find, wait, "Trees")
    assert find("#job").text == "Running Trees"
    # The same one again: refused, with the entries kept.
    choose(shown, "systems", "bm25", "bm25+rm3")
    choose(shown, "rankers", "lambdamart")
    find("#title").send_keys("Trees")
    find(".choose .button").click()
    assert "already: wait for it, or cancel it" in wait("document.querySelector('.mistake')?.textContent")
    assert find("#title").get_property("value") == "Trees"
    browser.get_log("browser")  # the status 409
    find(".job .danger").click()
    wait("document.querySelector('.notice')?.textContent.includes('Trees was cancelled')")
    assert wait("document.getElementById('job')?.textContent") == "Which model of language? is complete"
    assert find(".job .primary").text == "See the results"


def test_a_mistake_has_the_focus_and_all_entries_are_kept(show, browser, find, wait):
    shown = show("/experiments")
    choose(shown, "systems", "bm25f")
    choose(shown, "rankers")
    choose(shown, "measures", "AP", "RR")
    find("#title").send_keys("Alone")
    find(".choose .button").click()
    wait("document.getElementById('problem')")
    assert find("#problem").text == "choose at least two systems or rankers to compare"
    assert browser.execute_script("return document.activeElement.getAttribute('aria-describedby')") == "problem"
    ticked = [
        box.get_attribute("value") for box in browser.find_elements("css selector", ".choose [type=checkbox]:checked")
    ]
    assert (ticked, find("#title").get_property("value")) == (["bm25f", "AP", "RR"], "Alone")
    browser.get_log("browser")  # the status 400


def test_a_form_that_was_open_during_a_restart_is_accepted(show, find, wait, serve, servers, medical, address):
    shown = show("/experiments")
    choose(shown, "systems", "bm25", "jm")
    choose(shown, "rankers")
    find("#title").send_keys("After the restart")
    ended = servers.pop(address)
    ended.terminate()
    ended.wait(20)
    ended.stdout.close()
    assert serve(medical, port=urlsplit(address).port) == address
    find(".choose .button").click()
    wait("document.getElementById('job')?.textContent.includes('After the restart')")
