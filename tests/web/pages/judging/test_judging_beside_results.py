"""Judging beside the results and on the page of a document: undo and redo by click and by key, also without scripts;
what counts as relevant, and the words to highlight."""

import pytest

ANNOUNCED = "document.getElementById('announcement').textContent"
PRESSED = "[...document.querySelectorAll('.grade[aria-pressed=true]')].map(e => e.textContent).join()"
MARKS = "[...document.querySelectorAll('main mark')].map(e => e.textContent.toLowerCase())"
CRITERIA = "document.querySelector('.criteria-of-topic')"
EDIT = ".topic-details a[href*='/topic?']"
UNDO, REDO = "[data-take-back=undo] button", "[data-take-back=redo] button"


@pytest.fixture(scope="module")
def address(browser, serve, medical) -> str:
    return serve(medical)


@pytest.mark.parametrize("path", ["/?q=hip+fracture&k=2", "/document?docno=med-088&q=knee+surgery"])
def test_on_a_phone_judgments_are_undone_and_done_again_by_click(show, find, wait, too_wide, path):
    show(path, width=390, scheme="dark")
    title = find(".open, .document h1").text
    query = path.rpartition("q=")[2].removesuffix("&k=2").replace("+", " ")
    assert not find(UNDO).is_displayed()
    find(".grade[data-grade='2']").click()
    wait(f"{ANNOUNCED}.startsWith('Judged definitely')")
    find(UNDO).click()
    about = f"your judgment of “{title}” for “{query}” of searches"
    assert wait(f"{ANNOUNCED}.startsWith('Undone') && {ANNOUNCED}") == f"Undone: {about}"
    assert wait(f"{PRESSED} === '' && location.pathname") == path.partition("?")[0]
    find(REDO).click()
    assert wait(f"{ANNOUNCED}.startsWith('Done again') && {ANNOUNCED}") == f"Done again: {about}"
    assert wait(PRESSED) == "Definitely"
    assert too_wide() == []


def test_beside_results_a_key_does_again_what_was_undone(show, press, wait):
    show("/?q=glaucoma")
    press("j", "1")
    wait(f"{ANNOUNCED}.startsWith('Judged possibly')")
    press("u")
    wait(f"{ANNOUNCED}.startsWith('Undone') && {PRESSED} === ''")
    press("r")
    wait(f"{ANNOUNCED}.startsWith('Done again') && {PRESSED} === 'Possibly'")
    press("r")
    wait(f"{ANNOUNCED} === 'Nothing to redo for this query'")


@pytest.mark.parametrize("path", ["/?q=wound+healing&k=2", "/document?docno=med-088&q=wound+infection"])
def test_without_scripts_an_undo_names_document_topic_and_set(show, browser, find, until, path):
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        show(path, scripts=False)
        title = find(".open, .document h1").text
        query = path.rpartition("q=")[2].removesuffix("&k=2").replace("+", " ")
        find(".grade[data-grade='2']").click()
        until(lambda: find(".grade[data-grade='2']").get_attribute("aria-pressed") == "true")
        find(UNDO).click()
        notice = until(lambda: find("main .notice").text)
        assert notice == f"Undone: your judgment of “{title}” for “{query}” of searches."
        assert find(".grade[data-grade='2']").get_attribute("aria-pressed") == "false"
        find(REDO).click()
        until(lambda: find("main .notice").text.startswith("Done again: your judgment of"))
        assert find(".grade[data-grade='2']").get_attribute("aria-pressed") == "true"
        find(REDO).click()
        until(lambda: find("main .notice").text == "There is nothing to undo or redo for this query.")
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def test_beside_results_and_on_a_document_a_topic_shows_its_criteria_and_its_words_are_marked(
    show, find, wait, send, too_wide
):
    topic = {"topic_set": "kept", "qid": send("/api/topics", topic_set="kept", text="stroke")["qid"]}
    criteria = "Trials with patients.\nNot: animals."
    send("/api/topic/edit", **topic, criteria=criteria, highlight="patients", judge="me")
    shown = show("/?q=stroke", width=390)
    assert "patients" in wait(MARKS)
    assert find(".criteria-of-topic").text == f"What counts as relevant: {criteria}"
    assert too_wide() == []
    with_word = "e => e.querySelector('.snippet').innerText.includes('patients')"
    found = wait(f"[...document.querySelectorAll('.result')].find({with_word}).dataset.docno")
    show(f"/document?docno={found}&q=stroke", width=390)
    assert "patients" in wait(MARKS)
    assert find(".criteria-of-topic").is_displayed()
    # Long criteria are folded.
    send("/api/topic/edit", **topic, criteria="long " * 60, judge="me")
    shown.refresh()
    assert wait(f"{CRITERIA}.tagName") == "DETAILS"
    assert wait(f"String({CRITERIA}.open)") == "false"
    find(EDIT).click()
    assert wait("location.pathname === '/topic' && location.search").endswith("topic_set=kept&qid=1")


def test_a_query_that_becomes_a_topic_by_its_first_judgment_leads_to_it(show, find, wait):
    show("/?q=pneumonia")
    find(".grade[data-grade='0']").click()
    wait(f'document.querySelector("{EDIT}")?.checkVisibility()')
    find(EDIT).click()
    assert wait("document.getElementById('topic-text')?.value") == "pneumonia"
