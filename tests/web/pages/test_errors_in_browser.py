"""Pages of errors keep what was typed, and lead back; what cannot be done says what to do first."""

import json
import shutil
from urllib.request import Request, urlopen

import pytest

TOKEN = "a-token-of-many-letters"


@pytest.fixture(scope="module")
def address(browser, medical, serve) -> str:
    return serve(medical)


@pytest.fixture(scope="module")
def judged(address):
    """The topic set `kept`, with a judgment."""
    body = {"topic_set": "kept", "topics": "1\tlymphoma\n", "qrels": "1 0 med-004 1\n", "judge": "ann"}
    request = Request(f"{address}/api/import", json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urlopen(request) as answer:
        assert json.load(answer)["n_judgments"] == 1


def test_an_error_page_keeps_the_query_and_leads_back(show, browser, find, wait, shortcomings, faint_words, too_wide):
    show("/?q=asthma&page=2")
    browser.execute_script("location = '/explain?q=asthma&docno=nowhere'")
    wait("document.querySelector('h1')?.textContent === 'Not found'")
    assert browser.get_log("browser") != []  # the status
    assert find("#q").get_attribute("value") == "asthma"
    assert (shortcomings(), faint_words(), too_wide()) == ([], [], [])
    assert find(".strip .next").is_displayed()
    find("main a.primary").click()
    wait("location.search === '?q=asthma&page=2'")


def test_a_form_without_its_cookie_is_refused_on_a_page_that_leads_back(show, browser, find, wait, faint_words):
    show("/judge")
    browser.delete_all_cookies()
    find("#text").send_keys("a topic that is not lost")
    find('form[action="/topic"] button').click()
    wait("document.querySelector('h1')?.textContent === 'Not allowed'")
    assert browser.get_log("browser") != []
    assert "expired" in find(".notice").text
    assert faint_words() == []
    find("main a.primary").click()
    wait("location.pathname === '/judge'")


def test_a_judge_without_a_name_is_asked_for_it(show, browser, find, press, wait, serve, medical):
    with_token = serve(medical, options=("--token", TOKEN)).partition("/?")[0]
    browser.get(f"{with_token}/?token={TOKEN}&q=asthma")
    wait("document.querySelector('.result')")
    find(".grade").click()
    wait("document.activeElement.id === 'judge-name'")
    assert "Give your name first" in find("#announcement").text
    browser.get(f"{with_token}/judge")
    find("#text").send_keys("asthma")
    find('form[action="/topic"] button').click()
    wait("location.pathname === '/pool' && document.querySelector('.verdict')")
    press("2")
    wait("document.activeElement.id === 'judge-name'")
    find("#judge-name").send_keys("ann\n")
    wait("document.body.dataset.judge === 'ann' && document.querySelector('.verdict')")
    press("2")
    wait("document.querySelectorAll('.dot[data-grade=\"2\"]').length === 1")


@pytest.mark.parametrize(
    ("path", "kept"),
    [
        ("/compare?q=asthma&left=bm25&right=model%3Agone", {"q": "asthma", "left": "bm25"}),
        ("/measure?topic_set=kept&systems=dirichlet&systems=model%3Agone", {"topic-set": "kept"}),
        ("/pool?topic_set=kept&qid=1&systems=bm25&systems=model%3Agone", {"note": ""}),
        ("/judge?topic_set=gone&words=gout", {"words": "gout"}),
        ("/train?topic_set=gone", {"name": ""}),
    ],
)
def test_a_page_whose_link_names_what_is_gone_is_shown_with_the_rest(show, browser, find, judged, path, kept):
    show(path)
    assert "gone" in find(".mistake").text
    assert {name: find(f"#{name}").get_attribute("value") for name in kept} == kept
    assert "status of 400" in browser.get_log("browser")[0]["message"]


def test_two_equal_systems_to_judge_for_are_refused_in_words(show, find, judged):
    show("/next?topic_set=kept&left=bm25&right=bm25")
    assert find("[aria-labelledby=next] .notice").text == "Choose two different systems."


def test_an_error_keeps_the_index_and_what_was_written(show, browser, find, wait, serve, medical_once, tmp_path):
    folders = [shutil.copytree(medical_once, tmp_path / name) for name in ("first", "second")]
    both = serve(*folders)
    browser.get(f"{both}/judge?index=second")
    find("#text").send_keys("x" * 4001)
    find("#into").clear()
    find("#into").send_keys("mine")
    browser.execute_script("document.getElementById('text').removeAttribute('maxlength')")
    find('form[action="/topic"] button').click()
    assert "4,001 characters" in wait("document.querySelector('#text ~ #problem')?.textContent")
    assert wait("document.body.dataset.index") == "second"
    assert find("#text").get_attribute("value") == "x" * 4001
    assert wait("document.activeElement.id") == "text"
    browser.get(f"{both}/document?index=second&docno=nowhere&q=asthma")
    assert wait("document.querySelector('h1')?.textContent") == "Not found"
    find("main form button").click()
    assert wait("document.body.dataset.index === 'second' && document.getElementById('q').value") == "asthma"
    browser.get_log("browser")  # the statuses
