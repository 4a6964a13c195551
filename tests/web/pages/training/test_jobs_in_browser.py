"""Training in a browser while other things happen: the same job again, other tabs, and the end of the server."""

import json
import signal
from contextlib import contextmanager
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import pytest

JOB = "document.querySelector('[data-job]')"
LOOK_AGAIN = "window.dispatchEvent(new Event('focus'))"
# Slow enough to be interrupted.
SETTINGS = {"topic_set": "medical", "ranker": "lambdamart", "features": "table1"}


@pytest.fixture(scope="module")
def address(browser, serve, medical) -> str:
    url = serve(medical)
    send(url, "/api/import", topic_set="medical", collection=True)
    return url


def send(address, path, **values):
    request = Request(address + path, json.dumps(values).encode(), {"Content-Type": "application/json"})
    with urlopen(request) as answer:
        return json.load(answer)


@pytest.fixture
def train(address):
    """Start a training, as another tab would; it is cancelled at the end of the test."""
    started = []

    def begin(name):
        started.append(send(address, "/api/train", name=name, **SETTINGS)["id"])
        return started[-1]

    yield begin
    for id in started:
        send(address, "/api/jobs/cancel", id=id)


def choose(find, settings):
    from selenium.webdriver.support.ui import Select

    for field, value in settings.items():
        Select(find(f"#{field.replace('_', '-')}")).select_by_value(value)


def test_the_same_training_again_is_refused_and_its_entries_are_kept(show, browser, find, wait, train):
    train("twice")
    show("/train")
    choose(find, SETTINGS)
    find("#name").send_keys("twice")
    find(".train button").click()
    assert "already: wait for it, or cancel it" in wait("document.querySelector('.mistake')?.textContent")
    assert "already: wait for it" in find("#name ~ .problem").text
    kept = [find(f"#{id}").get_attribute("value") for id in ("topic-set", "ranker", "features", "name")]
    assert kept == [*SETTINGS.values(), "twice"]
    assert "status of 409" in browser.get_log("browser")[0]["message"]
    assert find(".job h2").text == "Training twice"


def test_what_is_being_entered_is_kept_when_a_training_ends(show, find, wait, train, address):
    id = train("ends")
    show("/train")
    wait(f"{JOB}?.dataset.job === '{id}' && {JOB}.dataset.state === 'running'")
    choose(find, {"ranker": "rankboost"})
    find("#name").send_keys("half-a-na")
    send(address, "/api/jobs/cancel", id=id)
    wait(f"!{JOB} || {JOB}.dataset.state !== 'running'")
    assert find("#name").get_attribute("value") == "half-a-na"
    assert find("#ranker").get_attribute("value") == "rankboost"
    # Where it was being written, it goes on.
    assert wait("document.activeElement.id") == "name"


def test_a_page_that_is_looked_at_again_shows_what_another_tab_has_begun(show, browser, wait, train):
    show("/train")
    wait(f"!{JOB} || {JOB}.dataset.state === 'cancelled'")
    id = train("elsewhere")
    browser.execute_script(LOOK_AGAIN)
    wait(f"{JOB}?.dataset.job === '{id}' && {JOB}.textContent.includes('Training elsewhere')")
    wait("document.querySelector('.strip').textContent.includes('training')")


def test_the_ranker_in_use_is_still_in_use_after_a_restart(show, browser, find, wait, serve, servers, medical, address):
    show("/?q=lymphoma&system=dirichlet")
    ranked = browser.execute_script("return [...document.querySelectorAll('.result')].map(e => e.dataset.docno)")
    send(address, "/api/models/use", system="dirichlet", judge="me")
    ended = servers.pop(address)
    ended.terminate()
    ended.wait(20)
    ended.stdout.close()
    assert serve(medical, port=urlsplit(address).port) == address
    show("/?q=lymphoma")
    try:
        assert find("#system option:checked").text == "Language model (Dirichlet), in use"
        assert "in use: Dirichlet" in find(".strip").text
        again = browser.execute_script("return [...document.querySelectorAll('.result')].map(e => e.dataset.docno)")
        assert again == ranked
        show("/?q=lymphoma&system=bm25")
        other = browser.execute_script("return [...document.querySelectorAll('.result')].map(e => e.dataset.docno)")
        assert other != ranked
    finally:
        send(address, "/api/models/use", system="", judge="me")


@contextmanager
def hanging(browser, server):
    """The server accepts connections, and answers nothing."""
    browser.execute_script("document.body.dataset.answerSeconds = '0.4'")
    server.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        server.send_signal(signal.SIGCONT)


def test_progress_says_that_a_server_hangs(show, browser, wait, train, servers, address):
    id = train("hangs")
    show("/train")
    wait(f"{JOB}?.dataset.job === '{id}' && {JOB}.dataset.state === 'running'")
    with hanging(browser, servers[address]):
        wait("document.querySelector('[data-lost]').checkVisibility()")
    wait("!document.querySelector('[data-lost]')?.checkVisibility()")


def test_a_judgment_for_a_server_that_hangs_is_made_once(show, browser, press, wait, servers, address):
    show("/pool?topic_set=medical&qid=4")
    wait("performance.getEntriesByType('resource').filter(each => each.name.includes('/pool?')).length >= 2")
    n = "Number(document.querySelector('.pool-head .progress span').textContent.split(' ')[0])"
    before = wait(f"String({n})")
    with hanging(browser, servers[address]):
        press("2")
        wait("document.getElementById('saving').textContent.startsWith('Connection lost, trying again: 1 judgment')")
        # Two more attempts, which the server receives when it goes on.
        wait("performance.getEntriesByType('resource').filter(each => each.name.endsWith('/judgments')).length >= 2")
    wait(f"{n} === {before} + 1 && document.getElementById('saving').textContent === ''")
    press("u")
    wait(f"{n} === {before} && document.querySelector('.notice').textContent.includes('Undone')")


def test_a_training_that_a_restart_interrupts_is_offered_again_and_open_pages_go_on(
    show, browser, find, press, wait, serve, servers, medical, address
):
    show("/pool?topic_set=medical&qid=2")
    wait("performance.getEntriesByType('resource').filter(each => each.name.includes('/pool?')).length >= 2")
    pool = browser.current_window_handle
    browser.switch_to.new_window("tab")
    try:
        show("/train")
        choose(find, SETTINGS)
        find("#name").send_keys("cut-off")
        find(".train button").click()
        wait(f"{JOB}?.textContent.includes('Training cut-off')")
        ended = servers.pop(address)
        ended.kill()
        ended.wait(20)
        ended.stdout.close()
        wait("document.querySelector('[data-lost]')?.checkVisibility()")
        assert serve(medical, port=urlsplit(address).port) == address
        interrupted = wait("document.querySelector('.interrupted')?.textContent")
        assert "The training of cut-off was interrupted when the server ended." in interrupted
        find(".interrupted .primary").click()
        wait(f"{JOB}?.textContent.includes('Training cut-off')")
        assert browser.find_elements("css selector", ".interrupted") == []
        find(".job .danger").click()
        wait(f"{JOB}?.dataset.state === 'cancelled'")
    finally:
        browser.get_log("browser")  # the requests during the restart
        browser.close()
        browser.switch_to.window(pool)
    # The keys and the forms of a page that was open during the restart go on.
    n = "Number(document.querySelector('.pool-head .progress span').textContent.split(' ')[0])"
    before = wait(f"String({n})")
    press("2")
    wait(f"{n} === {before} + 1 && document.getElementById('saving').textContent === ''")
    press("u")
    wait(f"{n} === {before} && document.querySelector('.notice').textContent.includes('Undone')")
