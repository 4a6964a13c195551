"""Judging beside the results and on the page of a document: undo and redo by click and by key, also without scripts."""

import json
from urllib.request import Request, urlopen

import pytest

ANNOUNCED = "document.getElementById('announcement').textContent"
PRESSED = "[...document.querySelectorAll('.grade[aria-pressed=true]')].map(e => e.textContent).join()"
UNDO, REDO = "[data-take-back=undo] button", "[data-take-back=redo] button"


@pytest.fixture(scope="module")
def address(browser, serve, medical) -> str:
    return serve(medical)


@pytest.fixture
def send(address):
    """Send JSON to the API; returns the answer."""

    def sent(path, **values):
        request = Request(address + path, json.dumps(values).encode(), {"Content-Type": "application/json"})
        with urlopen(request) as answer:
            return json.load(answer)

    return sent


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
