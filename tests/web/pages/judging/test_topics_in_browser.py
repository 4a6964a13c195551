"""Topics, sets and imports in a browser: added, sorted, edited, merged, deleted, undone, exported; several tabs."""

import csv
import io
import json
import shutil
from urllib.parse import urlencode
from urllib.request import urlopen

import pytest

from searchlab.corpus.trec.qrels import read_qrels

TEXTS = "[...document.querySelectorAll('.topics tbody th')].map(e => e.textContent)"
SET = "new URLSearchParams(location.search).get('topic_set')"
NOTICE = "document.querySelector('[data-changed] p')?.textContent"
LOOK_AGAIN = "window.dispatchEvent(new Event('focus'))"


@pytest.fixture(scope="module")
def address(browser, serve, medical) -> str:
    return serve(medical)


@pytest.fixture
def get(address):
    """The text of an answer of the API."""

    def got(path, **values):
        with urlopen(f"{address}{path}?{urlencode(values)}") as answer:
            return answer.read().decode("utf-8-sig")

    return got


@pytest.fixture
def edit(show, find, wait):
    """Write into the form of a topic and save it."""

    def edited(path, **texts):
        show(path)
        fill(find, texts)
        find('form[action="/topic/edit"] button').click()
        wait("document.readyState === 'complete' && !location.pathname.startsWith('/topic?')")

    return edited


def fill(find, texts):
    for field, text in texts.items():
        find(f"#{field}").clear()
        find(f"#{field}").send_keys(text)


def test_topics_are_added_one_a_line_and_sorted(show, find, wait, send):
    from selenium.webdriver.support.ui import Select

    show("/judge")
    fill(find, {"text": "wound healing\n\nasthma in children\nknee pain", "into": "lines"})
    find('form[action="/topic"] button').click()
    assert wait(f"{SET} === 'lines' && {TEXTS}") == ["wound healing", "asthma in children", "knee pain"]
    send("/api/judgments", topic_set="lines", qid="1", docno="med-004", grade=1, judge="ann")
    for order, texts in (
        ("text", ["asthma in children", "knee pain", "wound healing"]),
        ("unjudged", ["asthma in children", "knee pain", "wound healing"]),
        ("judged", ["wound healing", "asthma in children", "knee pain"]),
    ):
        Select(find("#order")).select_by_value(order)
        find(".narrow-topics button").click()
        wait(f"new URLSearchParams(location.search).get('order') === '{order}'")
        assert wait(TEXTS) == texts


def test_a_filter_keeps_the_pools_and_says_if_no_topic_has_its_words(show, find, wait, send):
    for text in ("gout", "knee pain"):
        send("/api/topics", topic_set="filtered", text=text)
    show("/judge?topic_set=filtered&systems=dirichlet&depth=7")
    fill(find, {"words": "knee"})
    find(".narrow-topics button").click()
    assert wait(f"new URLSearchParams(location.search).get('words') === 'knee' && {TEXTS}") == ["knee pain"]
    assert "systems=dirichlet&depth=7" in find(".topics th a").get_attribute("href")
    fill(find, {"words": "elbow"})
    find(".narrow-topics button").click()
    notice = wait(
        "[...document.querySelectorAll('.notice')].find(e => e.textContent.includes('these words'))?.outerHTML"
    )
    assert "No topic of <bdi>filtered</bdi> has these words." in notice
    find('[aria-labelledby="topics"] .notice a').click()
    assert wait(f"!location.search.includes('words') && {TEXTS}") == ["gout", "knee pain"]


def test_enter_in_the_checkbox_of_a_topic_deletes_nothing(show, find, wait, press, send):
    send("/api/topics", topic_set="entered", text="gout")
    show("/judge?topic_set=entered")
    find(".topics [type=checkbox]").click()
    press("\ue007")
    assert find(".topics [type=checkbox]").is_selected()
    # Nor without scripts: the first button merges, and asks into which topic.
    first = wait("document.querySelector('form:has(.topics) button').formAction")
    assert first.endswith("/topics/merge")
    assert wait("String(document.querySelector('[data-changed]'))") == "null"


def test_criteria_and_words_of_a_topic_are_beside_its_documents_until_that_is_undone(
    show, find, wait, edit, send, look, too_wide
):
    send("/api/topics", topic_set="kept", text="stroke")
    criteria = {"criteria": "Trials with patients.\nNot: animals.", "highlight": "patients"}
    edit("/topic?topic_set=kept&qid=1", **criteria | {"topic-text": "depression after stroke"})
    assert wait(NOTICE).startswith("Topic 1 of kept: 'stroke' is 'depression after stroke' now")
    show("/pool?topic_set=kept&qid=1")
    assert find(".criteria .note").text.splitlines() == criteria["criteria"].splitlines()
    assert find(".criteria .note").is_displayed()
    marked = wait("[...document.querySelectorAll('.paper mark')].map(e => e.textContent.toLowerCase())")
    assert "patients" in marked
    # On a phone, too, they are read before the document.
    look(390)
    above = "document.querySelector('.criteria').getBoundingClientRect().bottom"
    assert wait(f"{above} <= document.querySelector('.paper').getBoundingClientRect().top")
    assert too_wide() == []
    show("/judge?topic_set=kept")
    find("details:has(li form) summary").click()
    find("li form button").click()
    assert wait(NOTICE).startswith("Undone: topic 1 of kept")
    assert wait(TEXTS) == ["stroke"]
    show("/pool?topic_set=kept&qid=1")
    assert find(".criteria").text.splitlines() == ["What counts as relevant", "Write it down"]


def test_what_another_tab_has_changed_of_a_topic_is_not_overwritten_unseen(show, browser, find, wait, send, get):
    send("/api/topics", topic_set="shared", text="gout")
    show("/topic?topic_set=shared&qid=1")
    send("/api/topic/edit", topic_set="shared", qid="1", criteria="Of adults.", judge="ann")
    fill(find, {"highlight": "uric acid"})
    find('form[action="/topic/edit"] button').click()
    assert wait(NOTICE).startswith("Words to highlight of topic 1 of shared")
    topic = json.loads(get("/api/topic", topic_set="shared", qid="1"))
    assert (topic["criteria"], topic["highlight"]) == ("Of adults.", "uric acid")
    # The same field: the message stands there, what was written is kept, and is saved if that is wanted.
    show("/topic?topic_set=shared&qid=1")
    send("/api/topic/edit", topic_set="shared", qid="1", criteria="Of children.", judge="ann")
    fill(find, {"criteria": "Of dogs."})
    find('form[action="/topic/edit"] button').click()
    message = wait("document.querySelector('#criteria ~ #problem')?.textContent")
    assert "is 'Of children.' now" in message
    assert find("#criteria").get_attribute("value") == "Of dogs."
    assert "status of 409" in browser.get_log("browser")[0]["message"]
    find('form[action="/topic/edit"] button').click()
    assert wait(NOTICE).startswith("Criteria of topic 1 of shared")
    assert json.loads(get("/api/topic", topic_set="shared", qid="1"))["criteria"] == "Of dogs."


def test_sets_are_renamed_merged_and_deleted_with_undo(show, find, wait, send):
    for name, text in (("first", "gout"), ("second", "gout"), ("second", "knee pain")):
        send("/api/topics", topic_set=name, text=text)
    show("/judge?topic_set=first")
    rename = 'form[action="/set/rename"]'
    find(f"details:has({rename}) summary").click()
    fill(find, {"set-name": "renamed"})
    find(f"{rename} button").click()
    wait(f"{SET} === 'renamed'")
    assert wait(NOTICE) == "Renamed the topic set first: renamed."
    find("[data-changed] button").click()
    assert wait(f"{NOTICE}?.startsWith('Undone') && {NOTICE}") == "Undone: renamed the topic set first: renamed."
    show("/judge?topic_set=first")
    find(f"details:has({rename}) summary").click()
    fill(find, {"set-name": "second"})
    find(f"{rename} button").click()
    wait(f"{SET} === 'second'")
    assert wait(TEXTS) == ["gout", "knee pain"]
    assert wait(NOTICE) == "Merged the topic set first into second."
    find("[data-changed] button").click()
    wait(f"{NOTICE}?.startsWith('Undone') && document.querySelector('.topic-sets').textContent.includes('first')")
    show("/judge?topic_set=second")
    find(f"details:has({rename}) summary").click()
    find('form[action="/set/delete"] button').click()
    assert wait(NOTICE) == "Deleted the topic set second, 2 topics."
    find("[data-changed] button").click()
    wait(f"{NOTICE}?.startsWith('Undone') && document.querySelector('.topic-sets').textContent.includes('second')")


def test_the_deletion_of_the_only_set_can_be_undone(show, browser, find, wait, serve, medical_once, tmp_path):
    alone = serve(shutil.copytree(medical_once, tmp_path / "alone"))
    browser.get(f"{alone}/judge")
    fill(find, {"text": "gout\nasthma"})
    find('form[action="/topic"] button').click()
    wait(f"{SET} === 'mine'")
    find('details:has(form[action="/set/delete"]) summary').click()
    find('form[action="/set/delete"] button').click()
    assert wait(NOTICE) == "Deleted the topic set mine, 2 topics."
    find("[data-changed] button").click()
    assert wait(f"document.querySelector('.topics') && {TEXTS}") == ["gout", "asthma"]


def import_text(find, wait, text, topic_set):
    fill(find, {"import-set": topic_set, "import-text": text})
    find("[data-preview]").click()
    wait("document.querySelector('[data-understood] .primary')")
    understood = find("[data-understood]").text
    find("[data-understood] .primary").click()
    wait("document.querySelector('[data-understood] .notice')")
    return understood


def test_an_import_is_undone_where_it_is_shown(show, browser, find, wait, send, get):
    show("/judge")
    table = "query,docid,rating,who,when\ngout,med-004,1,ann,1999\ngout,med-004,2,bob,1999\nasthma,med-010,0,ann,1999\n"
    understood = import_text(find, wait, table, "imported")
    # What is not imported is said before.
    assert "1 line gives a document another grade: the last counts." in understood
    assert "The columns 'who', 'when' are not used." in understood
    find("[data-understood] a.primary").click()
    assert wait(NOTICE) == "Imported 2 topics and 2 judgments into imported."
    # Judgments since then are not lost: the message leads nowhere, as no field is wrong.
    send("/api/judgments", topic_set="imported", qid="1", docno="med-041", grade=1, judge="ann")
    find("[data-changed] button").click()
    message = wait("document.querySelector('.mistake')?.textContent")
    assert "which would be lost" in message
    assert browser.find_elements("css selector", ".mistake a") == []
    assert "status of 400" in browser.get_log("browser")[0]["message"]
    send("/api/judgments", topic_set="imported", qid="1", docno="med-041", grade=None, judge="ann")
    find("details:has(li form) summary").click()
    find("li form button").click()
    assert wait(f"{NOTICE}?.startsWith('Undone') && {NOTICE}").startswith("Undone: imported 2 topics")
    assert "imported" not in [each["name"] for each in json.loads(get("/api/topic-sets"))["topic_sets"]]


@pytest.mark.parametrize("path", ["/judge", "/train", "/measure", "/experiments"])
def test_an_import_of_the_collection_says_what_was_added_and_is_undone_where_it_stands(
    show, browser, find, wait, serve, medical_once, tmp_path, too_wide, look, path
):
    fresh = serve(shutil.copytree(medical_once, tmp_path / "fresh"))
    look(390)
    browser.get(f"{fresh}{path}")
    find('form[action="/import-collection"] button').click()
    # Systems are measured, or features computed, then.
    assert wait(NOTICE, seconds=60) == "Imported 26 topics and 717 judgments into fresh."
    assert wait("location.pathname") == path
    assert too_wide() == []
    find("[data-changed] button").click()
    assert wait(f"{NOTICE}?.startsWith('Undone') && {NOTICE}").startswith("Undone: imported 26 topics")
    assert wait("document.querySelector('form[action=\"/import-collection\"]') !== null")


def test_one_import_after_the_other_without_a_reload(show, find, wait, get, tmp_path):
    (tmp_path / "later.txt").write_text("knee pain\n")
    show("/judge")
    wait("window.isSamePage = true")
    assert "1 new topic" in import_text(find, wait, "gout", "twice")
    assert find("#import-text").get_attribute("value") == ""
    # A file and lines at once: the page says so, instead of leaving out one of them.
    fill(find, {"import-text": "asthma"})
    find("#import-file").send_keys(str(tmp_path / "later.txt"))
    find("[data-preview]").click()
    assert wait("document.querySelector('#import-text ~ [data-problem]:not([hidden])')?.textContent") == (
        "Not imported: later.txt is chosen, too: one of the two at a time"
    )
    find("[data-unchoose]").click()
    assert "1 new topic" in import_text(find, wait, "asthma", "twice")
    find("#import-file").send_keys(str(tmp_path / "later.txt"))
    find("[data-preview]").click()
    wait("document.querySelector('[data-understood] button.primary')")
    find("[data-understood] .primary").click()
    wait("document.querySelector('[data-understood] .notice')")
    assert wait("window.isSamePage")
    texts = [each["text"] for each in json.loads(get("/api/topics", topic_set="twice"))["topics"]]
    assert texts == ["gout", "asthma", "knee pain"]


def test_topics_imported_into_the_set_of_the_page_are_listed_at_once(show, find, wait, send):
    send("/api/topics", topic_set="listed", text="asthma")
    show("/judge?topic_set=listed")
    assert wait(TEXTS) == ["asthma"]
    import_text(find, wait, "gout", "listed")
    assert wait(f"{TEXTS}.length === 2 && {TEXTS}") == ["asthma", "gout"]
    assert find("[data-understood] .notice").text == "1 topic, 0 judgments added."


def test_an_import_without_a_connection_is_tried_again(show, browser, find, wait):
    show("/judge")
    fill(find, {"import-set": "again", "import-text": "one query a line"})
    offline = {"offline": True, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
    browser.execute_cdp_cmd("Network.enable", {})
    browser.execute_cdp_cmd("Network.emulateNetworkConditions", offline)
    try:
        find("[data-preview]").click()
        message = wait("document.querySelector('[data-problem]:not([hidden])')?.textContent")
        assert message == "Not imported: the connection is lost; try again"
    finally:
        browser.execute_cdp_cmd("Network.emulateNetworkConditions", offline | {"offline": False})
        browser.execute_cdp_cmd("Network.disable", {})
    browser.get_log("browser")  # the failed request
    assert "1 new topic" in import_text(find, wait, "one query a line", "again")


def test_judgments_are_exported_as_a_table_and_for_trec(show, browser, find, wait, send, tmp_path):
    send("/api/topics", topic_set="out", text="gout, =1+1")
    send("/api/judgments", topic_set="out", qid="1", docno="med-004", grade=2, judge="ann", note="good\none")
    show("/judge?topic_set=out")
    links = browser.find_elements("css selector", '[aria-labelledby="export"] a')
    files = {link.get_attribute("download"): link.get_attribute("href") for link in links}
    assert list(files) == ["out.qrels", "out.csv", "out.tsv"]
    texts = {name: wait(f"fetch('{url}').then(answer => answer.text())") for name, url in files.items()}
    (tmp_path / "out.qrels").write_text(texts["out.qrels"])
    assert read_qrels(tmp_path / "out.qrels") == {"1": {"med-004": 2}}
    rows = list(csv.DictReader(io.StringIO(texts["out.csv"].removeprefix("\ufeff"))))
    assert [(row["docid"], row["rating"], row["judge"], row["note"]) for row in rows] == [
        ("med-004", "2", "ann", "good\none")
    ]
    assert texts["out.tsv"] == "1\tgout, =1+1\n"


def test_a_list_of_topics_that_is_looked_at_again_shows_what_others_have_judged(show, browser, find, wait, send):
    send("/api/topics", topic_set="watched", text="gout")
    show("/judge?topic_set=watched")
    judged = "document.querySelector('.topics td:nth-child(3)').textContent"
    assert wait(judged) == "–"
    before = wait("document.querySelector('.strip').textContent")
    send("/api/judgments", topic_set="watched", qid="1", docno="med-004", grade=2, judge="ann")
    browser.execute_script(LOOK_AGAIN)
    wait(f"{judged} === '1'")
    wait("document.querySelector('.strip').textContent !== arguments[0]", before)
    assert "1 of 1 topic judged" in find(".overview-main .progress").text
    # A topic that is being chosen stays chosen.
    find(".topics [type=checkbox]").click()
    send("/api/topics", topic_set="watched", text="knee pain")
    browser.execute_script(LOOK_AGAIN)
    wait("document.querySelector('.overview-main .progress').textContent.includes('1 of 2 topics')")
    assert find(".topics [type=checkbox]").is_selected()


def test_a_long_document_stays_where_it_was_read_to(show, browser, find, wait, send, address):
    send("/api/topics", topic_set="long", text="patients")
    show("/pool?topic_set=long&qid=1", width=390)
    docno = browser.execute_script("return document.querySelector('#judging').dataset.docno")
    browser.get(f"{browser.current_url}&docno={docno}")
    browser.execute_script("document.querySelector('.paper .body').style.minHeight = '3000px'; scrollTo(0, 900)")
    # Another judge has judged another document: the page is refreshed, and does not move.
    other = browser.execute_script(
        "return new URL(document.querySelectorAll('.dot')[3].href).searchParams.get('docno')"
    )
    send("/api/judgments", topic_set="long", qid="1", docno=other, grade=1, judge="me")
    browser.execute_script("document.documentElement.style.minHeight = '4000px'")
    browser.execute_script(LOOK_AGAIN)
    wait("document.querySelectorAll('.dot')[3].dataset.grade === '1'")
    assert browser.execute_script("return scrollY") == 900


GRADES = "[...document.querySelectorAll('.dot')].map(e => e.textContent).join('')"


def test_a_judgment_that_is_refused_is_not_shown_as_made(show, browser, press, wait, send):
    send("/api/topics", topic_set="gone", text="depression after stroke")
    show("/pool?topic_set=gone&qid=1")
    wait("performance.getEntriesByType('resource').filter(each => each.name.includes('/pool?')).length >= 3")
    change = json.loads(delete_topics(browser, "gone", "1"))["id"]
    press("2")
    message = wait("document.querySelector('[data-failed]')?.textContent")
    assert message.startswith("Not judged: med-")
    assert set(wait(GRADES)) == {"·"}
    assert "status of 404" in browser.get_log("browser")[0]["message"]
    send("/api/changes/undo", change=change)
    press("2")
    wait("!document.querySelector('[data-failed]')")
    assert wait(GRADES).count("2") == 1


def delete_topics(browser, topic_set, qid):
    """Delete a topic, as another tab would; returns the answer."""
    return browser.execute_async_script(
        "const done = arguments[2];"
        "fetch(`/api/topics?topic_set=${arguments[0]}&qids=${arguments[1]}`, {method: 'DELETE'})"
        ".then(answer => answer.text()).then(done)",
        topic_set,
        qid,
    )


def test_an_undo_whose_answer_is_lost_is_not_done_twice(show, browser, press, wait):
    show("/?q=memory+loss")
    press("j", "2", "j", "1")
    wait(
        "document.querySelector('[data-n]').textContent === '2' && document.getElementById('saving').textContent === ''"
    )
    browser.execute_script(
        "const real = window.fetch;"
        "window.fetch = async (path, options) => { const answer = await real(path, options);"
        " if (path === '/api/judgments/undo') { window.fetch = real; throw new TypeError('Failed to fetch'); }"
        " return answer; }"
    )
    press("u")
    wait("document.getElementById('announcement').textContent.includes('the connection was lost')")
    browser.refresh()
    pressed = "[...document.querySelectorAll('.grade[aria-pressed=true]')].map(e => e.dataset.grade).join('')"
    assert wait(pressed) == "2"


def test_judgments_beside_the_results_are_queued_visibly_at_high_latency(show, browser, press, wait):
    show("/?q=pain+in+cancer")
    slow = {"offline": False, "latency": 800, "downloadThroughput": -1, "uploadThroughput": -1}
    browser.execute_cdp_cmd("Network.enable", {})
    browser.execute_cdp_cmd("Network.emulateNetworkConditions", slow)
    try:
        press("j", "2", "j", "1", "j", "0")
        assert browser.execute_script("return document.getElementById('saving').textContent") == "Saving 3 judgments …"
        wait("document.getElementById('saving').textContent === ''")
    finally:
        browser.execute_cdp_cmd("Network.emulateNetworkConditions", slow | {"latency": 0})
        browser.execute_cdp_cmd("Network.disable", {})
    browser.refresh()
    pressed = "[...document.querySelectorAll('.grade[aria-pressed=true]')].map(e => e.dataset.grade).join('')"
    assert wait(pressed) == "210"


def test_a_busy_server_loses_no_judgment(show, browser, press, wait, send):
    send("/api/topics", topic_set="busy", text="depression after stroke")
    show("/pool?topic_set=busy&qid=1")
    browser.execute_script(
        "const real = window.fetch; let n = 0;"
        "window.fetch = (path, options) => path === '/api/judgments' && n++ < 1"
        ' ? Promise.resolve(new Response(\'{"error": "busy"}\', {status: 503})) : real(path, options)'
    )
    press("2")
    wait("document.getElementById('saving').textContent.includes('The server is busy, trying again: 1 judgment')")
    wait("document.getElementById('saving').textContent === ''")
    browser.refresh()
    assert wait(GRADES).count("2") == 1
