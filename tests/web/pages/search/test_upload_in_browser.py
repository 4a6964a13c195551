"""From a folder on the user's disk to results, without leaving the browser."""

import json
import signal
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


def test_the_name_of_an_index_is_suggested_until_one_is_written(show, browser, find, wait, tmp_path):
    folder = tmp_path / "Lettres d'été (2)"
    folder.mkdir()
    for name in ("a.txt", "b.txt"):
        (folder / name).write_text("A letter")
    named = "document.querySelector('#upload-name').value === arguments[0]"
    show("/upload")
    find("#upload-files").send_keys(str(folder / "a.txt"))
    wait(named, "a")
    find("#upload-files").send_keys(str(folder / "b.txt"))  # a second one
    wait(named, "")
    show("/upload")
    find("#upload-folder").send_keys(str(folder))
    wait(named, "lettres-d-ete-2")
    assert browser.execute_script("return document.querySelector('[data-upload]').checkValidity()")
    find("#upload-name").clear()
    find("#upload-name").send_keys("mine")
    find("#upload-files").send_keys(str(folder / "a.txt"))
    wait("document.querySelector('[data-chosen]').textContent.startsWith('3 files')")
    assert find("#upload-name").get_attribute("value") == "mine"


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


def test_a_page_opened_while_documents_are_being_indexed_shows_when_they_are(show, browser, find, wait, address):
    words = " ".join(f"word{number % 5000}" for number in range(100_000))
    send(address, "/api/uploads", json.dumps({"name": "later"}).encode(), JSON)
    for number in range(8):
        send(address, f"/api/uploads/file?name=later&path={number}.txt", f"{number} {words}".encode(), FILE)
    send(address, "/api/uploads/index", json.dumps({"name": "later"}).encode(), JSON)
    show("/upload")
    assert find('[data-upload-name="later"]').get_attribute("data-state") == "indexing"
    assert "Being indexed now" in find('[data-upload-name="later"]').text
    browser.execute_script("window.wasHere = true")
    wait("document.querySelector('[data-upload-name=later]').dataset.state === 'done'", seconds=60)
    assert browser.execute_script("return window.wasHere")
    assert find('[data-upload-name="later"] a.button').text == "Search it"


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


def test_an_upload_to_a_server_that_hangs_goes_on_when_it_does(show, browser, find, wait, servers, address, tmp_path):
    (tmp_path / "one.txt").write_text("A letter about zebras")
    show("/upload")
    find("#upload-name").send_keys("unmoved")
    find("#upload-files").send_keys(str(tmp_path / "one.txt"))
    browser.execute_script("document.body.dataset.answerSeconds = '0.4'")
    servers[address].send_signal(signal.SIGSTOP)
    try:
        find("[data-upload] button").click()
        wait("document.querySelector('[data-stage]').textContent === 'Connection lost, trying again …'")
    finally:
        servers[address].send_signal(signal.SIGCONT)
        browser.execute_script("document.body.dataset.answerSeconds = '8'")
    wait("document.querySelector('[data-outcome]:not([hidden])')", seconds=60)
    assert "1 document" in find("[data-account]").text
    browser.get_log("browser")  # that the upload was begun already


# Drops a folder with a file, and a file; entries are what browsers give for what is dropped.
DROP = """
const file = (name, text) => ({isFile: true, fullPath: '/' + name,
  file: (resolve) => resolve(new File([text], name.split('/').pop()))});
const folder = {isFile: false, createReader: () => { const left = [[file('notes/a.txt', 'Zebras are striped.')], []];
  return {readEntries: (resolve) => resolve(left.shift())}; }};
const entries = [folder, file('b.txt', 'No animals.'), file('.hidden', 'secret')];
const [types, megabytes] = arguments;
const large = {size: megabytes * 2 ** 20};
if (megabytes) entries.push({isFile: true, fullPath: '/large.pdf', file: (resolve) => resolve(large)});
const zone = document.querySelector('[data-drop]');
for (const type of types) {
  const event = new Event(type, {bubbles: true, cancelable: true});
  event.dataTransfer = {items: entries.map(entry => ({webkitGetAsEntry: () => entry}))};
  if (zone.dispatchEvent(event)) throw new Error('the browser would open the file instead');
}
"""


def test_what_is_dropped_is_uploaded_and_the_page_names_its_folder_and_bounds(show, browser, find, wait, medical):
    show("/upload")
    note = find("main > .note").text
    assert "in its folder uploads/, until they are deleted here" in note
    assert "At most 5,000 files, 100 MB each and 500 MB together; hidden files are left out." in note
    browser.execute_script(DROP, ["dragover"])
    assert "over" in find("[data-drop]").get_attribute("class")
    browser.execute_script(DROP, ["drop"])
    wait("document.querySelector('[data-chosen]').textContent.startsWith('2 files')")
    assert "over" not in find("[data-drop]").get_attribute("class")
    find("#upload-name").send_keys("dropped")
    find("[data-upload] button").click()
    wait("document.querySelector('[data-outcome]:not([hidden])')", seconds=60)
    stored = medical.parent / "uploads" / "dropped"
    assert sorted(str(path.relative_to(stored)) for path in stored.rglob("*.txt")) == ["b.txt", "notes/a.txt"]


def test_what_is_too_much_is_said_before_anything_is_sent(show, browser, wait):
    show("/upload")
    browser.execute_script(DROP, ["drop"], 101)
    problem = "document.querySelector('[data-problem]:not([hidden])')?.textContent"
    assert wait(problem) == "Not uploaded: large.pdf is larger than 100 MB"
    browser.execute_script(DROP, ["drop"], 501)
    wait(f"{problem} === 'Not uploaded: 501 MB, expected at most 500'")
