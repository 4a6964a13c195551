"""Can one judge by keys, train on the bundled collection, search with what was learnt, and see whether it helps?"""

import json
from urllib.request import Request, urlopen

import pytest

PAGES = [
    "/judge?set=medical",
    "/next?set=medical&left=bm25&right=dirichlet",
    "/pool?set=medical&topic=2",
    "/learn",
    "/measure",
]
# Training yields to whatever else runs on the machine.
PATIENCE = 240

PROGRESS = "document.querySelector('.pool-head .progress span').textContent"
CURRENT = "document.querySelector('#judging').dataset.id"
READY = "!document.querySelector('[aria-busy]')"


@pytest.fixture(scope="module")
def address(serve, medical):
    return serve(medical)


@pytest.fixture
def find(browser):
    from selenium.webdriver.common.by import By

    return lambda what: browser.find_element(By.CSS_SELECTOR, what)


@pytest.fixture
def judged(browser, wait):
    """Wait until so many are judged; gives the document that is shown then."""

    def until(n):
        wait(f"{READY} && {PROGRESS}.startsWith('{n} of ')")
        return browser.execute_script(f"return {CURRENT}")

    return until


def send(address, path, **values):
    asked = Request(address + path, json.dumps(values).encode(), {"Content-Type": "application/json"})
    with urlopen(asked) as answer:
        return json.load(answer)


@pytest.fixture(scope="module")
def collection(address):
    """The judgments of the collection, imported, and one of another judge."""
    assert send(address, "/api/import", set="medical", own=True)["set"] == "medical"
    send(address, "/api/judgments", set="medical", topic="1", id="med-004", grade=1, judge="ann")


@pytest.fixture
def topic(show, find, wait):
    """Add a topic by the form; its pool is shown then."""

    def added(text):
        show("/judge")
        find("#text").send_keys(text)
        find("#into").clear()
        find("#into").send_keys("mine")
        find('form[action="/topic"] button').click()
        wait("location.pathname === '/pool'")

    return added


def test_a_pool_is_judged_by_keys_and_can_be_resumed(show, browser, find, press, wait, judged, topic):
    topic("depression after stroke")
    order = browser.execute_script(
        "return [...document.querySelectorAll('.dot')].map(dot => new URL(dot.href).searchParams.get('at'))"
    )
    n = len(order)
    assert n > 20
    assert judged(0) == order[0]
    press("2")
    assert judged(1) == order[1]
    press("0")
    assert judged(2) == order[2]
    assert browser.title.startswith(f"2 of {n}")
    press("u")
    assert judged(1) == order[1]
    wait("document.getElementById('said').textContent.includes('taken back')")
    # What was done is told once.
    assert find(".notice").text == "The last judgment was taken back."
    browser.refresh()
    assert judged(1) == order[1]
    assert browser.find_elements("css selector", ".notice") == []
    assert "did=" not in browser.current_url
    press("1")
    assert judged(2) == order[2]
    press("k")
    wait(f"{READY} && {CURRENT} === arguments[0]", order[1])
    assert find('.verdict[aria-pressed="true"]').get_attribute("value") == "1"
    press("j")
    wait(f"{READY} && {CURRENT} === arguments[0]", order[2])
    press("n", "seen 2 twice, 0 doubts")
    assert judged(2) == order[2]
    press("\ue00c", "2")  # Escape
    assert judged(3) == order[3]
    # What was judged is there on another day, in another window.
    place = browser.current_url.partition("&at=")[0]
    browser.get(place)
    assert judged(3) == order[3]
    marks = browser.execute_script("return [...document.querySelectorAll('.dot')].map(dot => dot.textContent)")
    assert marks == ["2", "1", "2"] + ["·"] * (n - 3)
    browser.get(f"{place}&at={order[2]}")
    assert find("#note").get_attribute("value") == "seen 2 twice, 0 doubts"
    press("j")
    wait(f"{READY} && {CURRENT} === arguments[0]", order[3])
    browser.back()
    wait(f"{READY} && {CURRENT} === arguments[0]", order[2])


def test_a_note_that_was_begun_is_not_lost_by_looking_around(browser, press, wait, judged, topic):
    topic("iron in bowel disease")
    first = judged(0)
    press("n", "half a thought", "\ue00c", "j")
    wait(f"{READY} && {CURRENT} !== arguments[0]", first)
    assert browser.execute_script("return document.getElementById('note').value") == ""
    press("k")
    wait(f"{READY} && {CURRENT} === arguments[0]", first)
    assert browser.execute_script("return document.getElementById('note').value") == "half a thought"


def test_a_pool_is_judged_without_scripts(browser, find, topic, until):
    topic("common cold")
    place = browser.current_url

    def judged(n):
        return lambda: find(".pool-head .progress span").text.startswith(f"{n} of ")

    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.get(place)
        until(judged(0))
        first = find("#judging").get_attribute("data-id")
        find('.verdict[data-grade="2"]').click()
        until(judged(1))
        assert find("#judging").get_attribute("data-id") != first
        find('[form="undoing"]').click()
        until(judged(0))
        assert find("#judging").get_attribute("data-id") == first
        assert "taken back" in find(".notice").text
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def test_files_are_imported_or_it_is_told_why_not(show, browser, find, wait, tmp_path):
    (tmp_path / "topics.tsv").write_text("1\tlymphoma\n2\tdepression\n")
    (tmp_path / "good.qrels").write_text("1 0 med-004 1\n2 0 med-010 2\n2 0 med-004 0\n")
    (tmp_path / "bad.qrels").write_text("1 0 med-004 much\n")
    show("/judge")
    find("#import-set").clear()
    find("#import-set").send_keys("from files")
    find("#import-topics").send_keys(str(tmp_path / "topics.tsv"))
    find("#import-qrels").send_keys(str(tmp_path / "bad.qrels"))
    find("[data-import] button").click()
    told = wait("document.querySelector('[data-problem]:not([hidden])')?.textContent")
    assert told.startswith("Not imported: ")
    assert "much" in told
    (refused,) = browser.get_log("browser")
    assert "status of 400" in refused["message"]
    find("#import-qrels").send_keys(str(tmp_path / "good.qrels"))
    find("[data-import] button").click()
    wait("new URLSearchParams(location.search).get('set') === 'from files'")
    assert "2 of 2 topics judged: 3 judgments, 2 relevant" in find(".work-main .progress").text


def test_what_is_learnt_from_the_collection_is_tried_used_and_measured(show, browser, find, wait, collection):
    from selenium.webdriver.support.ui import Select, WebDriverWait

    show("/learn")
    Select(find("#set")).select_by_value("medical")
    Select(find("#ranker")).select_by_value("svm")  # the fastest
    Select(find("#features")).select_by_value("table1")
    find("#name").send_keys("mine")
    find(".train button").click()
    wait("document.querySelector('[data-job] progress')")
    assert not find("[data-refresh]").is_displayed()
    ended = "return document.querySelector('[data-job]:not([data-state=running], [data-state=waiting])') !== null"
    WebDriverWait(browser, PATIENCE, poll_frequency=0.1).until(lambda driver: driver.execute_script(ended))
    sentence = find(".job .sentence").text
    assert "on 26 held-out topics" in sentence
    rows = [row.split() for row in find(".job tbody").text.splitlines()]
    assert [row[0] for row in rows] == ["svm", "BM25", "RM3"]
    assert find(".model h3").text == "mine"
    find('.job .button[href^="/?ranker="]').click()
    wait("location.pathname === '/'")
    assert find("#ranker").get_attribute("value") == "model:mine"
    find("#q").send_keys("depression after stroke\ue007")
    wait("document.querySelectorAll('.result').length === 10")
    assert "mine" in Select(find("#ranker")).first_selected_option.text
    show("/measure?set=medical&rankers=bm25&rankers=model:mine&against=model:mine")
    measured = [row.split() for row in find("table tbody").text.splitlines()]
    assert measured[0][:2] == ["BM25", rows[1][1]]
    # What is told of the model is what cross-validation said, not how well it knows what it has seen.
    assert measured[1][:3] == ["mine", "(svm)", "†"]
    assert measured[1][3] == rows[0][1]
    assert browser.execute_script("return document.querySelectorAll('.topics-chart .bar rect').length") == 26
    find(".topics-chart a").click()
    wait("location.pathname === '/compare' && document.querySelectorAll('.ranking').length === 2")


def test_a_training_is_cancelled_and_leaves_nothing(show, browser, find, wait, collection):
    from selenium.webdriver.support.ui import Select

    show("/learn?set=medical")
    Select(find("#features")).select_by_value("table1")
    find("#name").send_keys("unwanted")
    find(".train button").click()
    wait("document.querySelector('[data-job]')?.textContent.includes('Training unwanted')")
    find(".job .danger").click()
    wait("document.querySelector('[data-job]')?.dataset.state === 'cancelled'")
    assert "unwanted was cancelled" in find(".job").text
    assert "unwanted" not in [each.text for each in browser.find_elements("css selector", ".model h3")]


@pytest.mark.parametrize("path", PAGES)
def test_pages_are_sound(show, look, faint_words, shortcomings, too_wide, collection, path):
    """Names for all controls, headings in order, nothing wider than the screen, all words can be read."""
    show(path, width=320, scheme="dark")
    assert shortcomings() == []
    assert faint_words() == []
    assert too_wide() == []
    for width in (390, 768, 1280):
        look(width)
        assert too_wide() == []
    assert faint_words() == []


@pytest.mark.parametrize("width", [1280, 390])
def test_the_grades_stay_where_they_are_however_long_the_document_is(show, browser, press, wait, collection, width):
    show("/pool?set=medical&topic=2", width=width)
    seen = []
    for _ in range(4):
        seen.append(
            browser.execute_script(
                "const box = document.querySelector('.deciding').getBoundingClientRect();"
                "return [document.querySelector('.paper .body').offsetHeight, box.top, box.bottom]"
            )
        )
        before = browser.execute_script(f"return {CURRENT}")
        press("j")
        wait(f"{READY} && {CURRENT} !== arguments[0]", before)
    assert len({long for long, _, _ in seen}) > 1
    assert len({top for _, top, _ in seen}) == 1
    assert {bottom for _, _, bottom in seen} == {900}


def test_on_paper_there_are_no_buttons(show, browser, collection):
    show("/pool?set=medical&topic=2")
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    seen = "return [...document.querySelectorAll('button, select, textarea')].filter(e => e.checkVisibility()).length"
    assert browser.execute_script(seen) == 0
    assert browser.find_element("id", "paper-title").is_displayed()
