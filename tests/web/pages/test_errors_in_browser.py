"""Pages of errors keep what was typed, and lead back; what cannot be done says what to do first."""

import json
import shutil
from urllib.parse import urlsplit
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


def test_a_form_without_its_cookie_is_refused_on_a_page_that_leads_back(
    show, browser, find, wait, faint_words, shortcomings
):
    show("/judge")
    browser.delete_all_cookies()
    find("#text").send_keys("a topic that is not lost")
    find('form[action="/topic"] button').click()
    wait("document.querySelector('h1')?.textContent === 'Not allowed'")
    assert browser.get_log("browser") != []
    assert "expired" in find(".notice").text
    assert find("#written-text").get_attribute("value") == "a topic that is not lost"
    assert find("#written-topic_set").get_attribute("value") == "mine"
    assert (faint_words(), shortcomings()) == ([], [])
    find("main a.primary").click()
    wait("location.pathname === '/judge'")


def post(address, path, **values):
    request = Request(address + path, json.dumps(values).encode(), {"Content-Type": "application/json"})
    with urlopen(request) as answer:
        return json.load(answer)


WRITTEN = {"text": "what is lost", "criteria": "Trials of\nнового лекарства", "highlight": "trial cohort"}


def test_what_was_written_about_a_topic_that_is_gone_is_given_back(show, browser, find, wait, address, too_wide):
    created = post(address, "/api/topics", topic_set="short-lived", text="gout")
    show(f"/topic?topic_set=short-lived&qid={created['qid']}", width=390)
    for name, text in WRITTEN.items():
        field = find(f"[name={name}]")
        field.clear()
        field.send_keys(text)
    gone = f"/api/topics?topic_set=short-lived&qids={created['qid']}&judge=ann"
    urlopen(Request(address + gone, method="DELETE")).close()
    find('form[action="/topic/edit"] button').click()
    wait("document.querySelector('h1')?.textContent === 'Not found'")
    kept = {name: find(f"#written-{name}").get_attribute("value") for name in WRITTEN}
    assert kept == WRITTEN
    labels = [each.text for each in browser.find_elements("css selector", ".written label")]
    assert labels == ["What a searcher wants to know", "What counts as relevant", "Words to highlight"]
    assert too_wide() == []
    browser.get_log("browser")  # the status


def test_the_longest_entries_in_any_script_are_accepted(show, find, browser, wait):
    show("/judge")
    lines = "\n".join(f"{n:02} {'ф' * 995}" for n in range(20))  # 20,000 characters, 120,000 bytes as it is sent
    browser.execute_script("document.getElementById('text').value = arguments[0]", lines)
    find("#into").clear()
    find("#into").send_keys("cyrillic")
    find('form[action="/topic"] button').click()
    wait("location.search.includes('topic_set=cyrillic') && document.querySelector('.topics')")
    # What is changed is sent together with what was there before.
    path = browser.find_element("css selector", "a[href*='/topic?']").get_attribute("href")
    for criteria in ("ж" * 4000, "ю" * 4000):
        browser.get(path)
        browser.execute_script("document.getElementById('criteria').value = arguments[0]", criteria)
        browser.execute_script("document.getElementById('highlight').value = arguments[0]", criteria)
        find('form[action="/topic/edit"] button').click()
        wait("location.pathname !== '/topic'")
    browser.get(path)
    assert wait("document.getElementById('criteria')?.value") == "ю" * 4000


def test_a_form_that_is_too_large_says_that_it_is_not_lost(show, browser, find, wait):
    show("/judge")
    script = (
        "const box = document.getElementById('text'); box.removeAttribute('maxlength'); box.value = 'a'.repeat(9e5)"
    )
    browser.execute_script(script)
    find('form[action="/topic"] button').click()
    wait("document.querySelector('h1')?.textContent === 'Too large'")
    assert "Go back with your browser" in find("main").text
    browser.back()
    assert wait("document.getElementById('text')?.value.length") == 900_000
    browser.get_log("browser")  # the status


def test_what_was_written_is_given_back_where_the_login_has_ended(show, browser, find, wait, serve, medical, too_wide):
    with_token = serve(medical, options=("--token", TOKEN)).partition("/?")[0]
    browser.get(f"{with_token}/?token={TOKEN}")
    browser.get(f"{with_token}/judge")
    find("#text").send_keys("a topic that is not lost")
    browser.delete_all_cookies()
    find('form[action="/topic"] button').click()
    wait("document.getElementById('token')")
    assert find("#written-text").get_attribute("value") == "a topic that is not lost"
    assert too_wide() == []
    find("#token").send_keys(TOKEN + "\n")
    wait("location.pathname === '/judge'")
    browser.get_log("browser")  # the status


def test_a_restart_keeps_an_automatic_token_and_what_is_being_written(
    show, browser, find, wait, serve, servers, medical
):
    link = serve(medical, options=("--token", "auto"))
    with_token = link.partition("/?")[0]
    browser.get(link)
    browser.get(f"{with_token}/judge")
    find("#text").send_keys("lymphoma and\ngout")
    find("#into").clear()
    find("#into").send_keys("restarted")
    ended = servers.pop(link)
    ended.terminate()
    ended.wait(20)
    ended.stdout.close()
    assert serve(medical, port=urlsplit(link).port, options=("--token", "auto")) == link
    find('form[action="/topic"] button').click()
    wait("location.search.includes('topic_set=restarted')")
    assert "gout" in find("main").text
    browser.get_log("browser")  # what the page asked during the restart


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
