"""From a folder on the user's disk to results, without leaving the browser."""

import json
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import pytest

FILE, JSON = "application/octet-stream", "application/json"
# The states of the uploads that the page lists.
LISTED = "[...document.querySelectorAll('[data-upload-name]')].map(e => e.dataset.uploadName + ' ' + e.dataset.state)"
IS_INDEXED = """(() => { const request = new XMLHttpRequest();
request.open('GET', '/api/uploads?name=half-sent', false); request.send();
return JSON.parse(request.responseText).state === 'done' })()"""
HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def address(browser, medical, serve) -> str:
    return serve(medical)


def test_a_folder_becomes_an_index(show, find, wait, tmp_path):
    folder = tmp_path / "letters"
    (folder / "old").mkdir(parents=True)
    (folder / "old" / "one.txt").write_text(f"A letter about zebras {HOSTILE}\n\nZebras are striped.")
    (folder / "two.txt").write_text("Another letter\n\nNo animals.")
    (folder / ".hidden").write_text("secret zebras")
    (folder / "broken.pdf").write_bytes(b"%PDF-1.4")
    show("/")
    find(".note a[href^='/upload']").click()
    wait("document.querySelector('[data-upload]:not([hidden])')")
    find("[data-upload] button").click()
    find("#upload-name").send_keys("letters")
    find("[data-upload] button").click()
    wait("document.querySelector('[data-problem]:not([hidden])')")
    find("#upload-folder").send_keys(str(folder))
    wait("document.querySelector('[data-chosen]').textContent.startsWith('3 files')")
    find("[data-upload] button").click()
    wait("document.querySelector('[data-outcome]:not([hidden])')", seconds=60)
    assert "2 documents" in find("[data-account]").text
    assert "broken.pdf" in find("[data-events] ul").get_attribute("textContent")
    find("[data-search]").click()
    wait("document.body.dataset.index === 'letters'")
    find("#q").send_keys("zebras\n")
    wait("document.querySelectorAll('.result').length === 1")
    assert HOSTILE in find(".result h2").text


@pytest.fixture
def delete_files(find):
    """Delete the files of an upload, which takes a second click."""

    def deleted(name):
        row = f'[data-upload-name="{name}"]'
        assert not find(f'{row} form[action="/uploads/delete"] button').is_displayed()
        find(f"{row} .confirm summary").click()
        find(f'{row} form[action="/uploads/delete"] button').click()

    return deleted


def send(address, path, content, content_type):
    with urlopen(Request(address + path, content, {"Content-Type": content_type})) as answer:
        return json.load(answer)


def test_uploads_of_an_earlier_server_are_listed_and_deleted(
    show, browser, find, wait, serve, servers, medical, address, delete_files
):
    for name in ("half-sent", "empty"):
        send(address, "/api/uploads", json.dumps({"name": name}).encode(), JSON)
    send(address, "/api/uploads/file?name=half-sent&path=a.txt", b"Zebras are striped.", FILE)
    ended = servers.pop(address)
    ended.terminate()
    ended.wait(20)
    ended.stdout.close()
    assert serve(medical, port=urlsplit(address).port) == address
    show("/upload", width=390)
    # What was sent elsewhere since is listed when the page is looked at again.
    send(address, "/api/uploads", json.dumps({"name": "later"}).encode(), JSON)
    browser.execute_script("window.dispatchEvent(new Event('focus'))")
    wait("document.querySelector('[data-upload-name=later]')")
    delete_files("later")
    wait(f"{LISTED}.join() === 'empty receiving,half-sent receiving,letters done'")
    assert "2 documents" in find('[data-upload-name="letters"] .account').get_attribute("textContent")
    delete_files("empty")
    wait(f"{LISTED}.join() === 'half-sent receiving,letters done'")
    find('form[action="/uploads/index"] button').click()
    wait(f"{LISTED}[0] !== 'half-sent receiving'")
    wait(IS_INDEXED, seconds=60)
    show("/upload")
    # The index stays when the files are deleted, and so does the account of what was read.
    delete_files("letters")
    wait("document.querySelector('[data-upload-name=letters]').textContent.includes('Its files were deleted')")
    assert not (medical.parent / "uploads" / "letters").exists()
    find('[data-upload-name="letters"] a.button').click()
    wait("document.body.dataset.index === 'letters'")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_is_accessible(show, find, shortcomings, too_wide, faint_words, scheme):
    show("/upload", width=390, scheme=scheme)
    find(".uploads summary").click()
    assert (shortcomings(), too_wide(), faint_words()) == ([], [], [])


def test_an_upload_goes_on_when_the_connection_is_back(show, browser, find, wait, tmp_path):
    (tmp_path / "one.txt").write_text("A letter about zebras")
    show("/upload")
    find("#upload-name").send_keys("patient")
    find("#upload-files").send_keys(str(tmp_path / "one.txt"))
    offline = {"offline": True, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
    browser.execute_cdp_cmd("Network.enable", {})
    browser.execute_cdp_cmd("Network.emulateNetworkConditions", offline)
    try:
        find("[data-upload] button").click()
        wait("document.querySelector('[data-stage]').textContent === 'Connection lost, trying again …'")
    finally:
        browser.execute_cdp_cmd("Network.emulateNetworkConditions", offline | {"offline": False})
        browser.execute_cdp_cmd("Network.disable", {})
    # Answers are lost, too: that the file is there, and being indexed, already is no mistake.
    browser.execute_script(
        "const real = window.fetch; const lost = new Set();"
        "window.fetch = async (path, options) => { const answer = await real(path, options);"
        " const what = path.split('?')[0]; if (lost.has(what)) return answer;"
        " lost.add(what); throw new TypeError('Failed to fetch'); }"
    )
    wait("document.querySelector('[data-outcome]:not([hidden])')", seconds=60)
    assert "1 document" in find("[data-account]").text
    browser.get_log("browser")  # the failed requests
