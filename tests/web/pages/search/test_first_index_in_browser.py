"""From a server without any index to results, in the browser alone."""

import json
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from tests.web.server_process import ServerProcess


@pytest.fixture(scope="module")
def begin(tmp_path_factory, servers):
    """Start a server in a folder that is empty at first; returns its URL."""
    folder = tmp_path_factory.mktemp("empty")

    def started() -> str:
        process = ServerProcess(["--port", "0"], folder)
        url = process.stdout.readline().partition(" at ")[2].split()[0]
        servers[url] = process
        return url

    return started


@pytest.fixture(scope="module")
def address(browser, begin) -> str:
    return begin()


PATHS = ["/", "/?q=zebras", "/judge", "/train", "/models", "/measure", "/experiments", "/searches", "/document?docno=a"]


@pytest.mark.parametrize("path", PATHS)
def test_every_page_leads_to_the_one_where_documents_are_added(show, find, path):
    shown = show(path)
    assert shown.execute_script("return location.pathname") == "/upload"
    assert find(".lead").text.startswith("There is nothing to search yet. Choose documents or a folder")


def test_the_api_says_that_there_is_no_index(address):
    with pytest.raises(HTTPError) as refused:
        urlopen(f"{address}/api/search?q=zebras")
    assert refused.value.code == 404
    assert json.load(refused.value)["error"].startswith("there is no index yet")
    with urlopen(f"{address}/api/indexes") as answer:
        assert json.load(answer) == {"indexes": []}


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
@pytest.mark.parametrize("path", ["/upload", "/api-reference", "/nowhere"])
def test_pages_without_an_index_are_accessible(show, browser, shortcomings, too_wide, faint_words, path, width, scheme):
    show(path, width=width, scheme=scheme)
    assert (shortcomings(), too_wide(), faint_words()) == ([], [], [])
    browser.get_log("browser")  # the status of /nowhere


def test_the_first_documents_become_the_index_that_is_searched(show, browser, find, wait, begin, tmp_path):
    (tmp_path / "one.txt").write_text("A letter about zebras\n\nZebras are striped.")
    show("/")
    find("#upload-name").send_keys("first")
    find("#upload-files").send_keys(str(tmp_path / "one.txt"))
    find("[data-upload] button").click()
    wait("document.querySelector('[data-outcome]:not([hidden])')", seconds=60)
    find("[data-search]").click()
    wait("document.body.dataset.index === 'first'")
    find("#q").send_keys("zebras\n")
    wait("document.querySelectorAll('.result').length === 1")
    find(".grade").click()
    wait("document.querySelector('[aria-pressed=true]')")
    wait("document.getElementById('saving').textContent === ''")
    # A server that is started again there serves it.
    browser.get(f"{begin()}/?q=zebras")
    wait("document.querySelectorAll('.result').length === 1")
    assert find("[aria-pressed=true]").text == "Definitely"
