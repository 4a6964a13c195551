"""axe-core finds nothing on any page: wide and light, narrow and dark.

axe-core (MPL 2.0) is no part of this project: npm puts it into pytest's cache. Without npm, or without a registry that
npm can reach, these tests are skipped; AXE_CORE names a copy of axe.min.js to use instead.
"""

import os
import shutil
import subprocess
import tarfile
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from searchlab.judgments.judgment_store import JudgmentStore, judgments_file
from searchlab.records import Topic

AXE = "axe-core@4"
QUERY = "q=heart+attack+depression"
PAGES = {
    "home": "/",
    "search": f"/?{QUERY}&filter=year%3D%5B1990+TO+2020%5D",
    "unknown word": "/?q=lymph",
    "nothing": "/?q=zzzz",
    "similar": "/similar?docno=med-045",
    "document": f"/document?docno=med-045&{QUERY}",
    "compare": f"/compare?{QUERY}&left=bm25&right=bm25%2Brm3",
    "explain": f"/explain?{QUERY}&docno=med-045",
    "against": f"/explain?{QUERY}&docno=med-045&against=med-121",
    "searches": "/searches",
    "upload": "/upload",
    "judge": "/judge",
    "pool": "/pool?topic_set=mine&qid=1",
    "next": "/next?topic_set=mine&left=bm25&right=dirichlet",
    "topic": "/topic?topic_set=mine&qid=1",
    "train": "/train",
    "model": "/model?name=builtin",
    "models": "/models",
    "measure": "/measure",
    "experiments": "/experiments",
    "experiment": "/experiment?name=titles",
    "rankings": "/experiment?name=titles&qid=2",
    "api": "/api-reference",
}
# What opens on a page: the script that opens it, and what is there then.
OPENED = {
    "keys": ("/", "document.querySelector('[data-keys]').click()", "document.querySelector('#keys[open]')"),
    "suggestions": (
        "/",
        "const box = document.getElementById('q'); box.value = 'lymph'; box.focus();"
        "box.dispatchEvent(new Event('input'))",
        "document.querySelector('.option')",
    ),
    "import": (
        "/judge",
        "const form = document.querySelector('[data-import]'); form.elements.text.value = 'query,docid,rating\\na,b,c';"
        "form.querySelector('[data-preview]').click()",
        "document.querySelector('[data-understood] .unread')",
    ),
    "mistake": (
        "/experiments",
        "for (const one of document.querySelectorAll('[name=systems], [name=rankers]')) one.checked = false;"
        "document.querySelector('.choose .primary').click()",
        "document.querySelector('.mistake')",
    ),
    "not found": ("/document?docno=nowhere", "", "document.querySelector('.notice, .lead')"),
}
RUN = """
const done = arguments[0];
axe.run(document, {resultTypes: ['violations']}).then(({violations}) => done(violations.map(each =>
  [each.impact, each.id, each.nodes.map(node => node.html.slice(0, 150)).slice(0, 3)])),
  error => done([String(error)]));
"""


def download_axe(folder: Path) -> str:
    """The path of axe.min.js, fetched by npm if it is not in the folder yet; skips the test if it cannot be had."""
    script = folder / "package" / "axe.min.js"
    if not script.is_file():
        npm = shutil.which("npm")
        if npm is None:
            pytest.skip("axe-core: npm is not installed")
        packed = subprocess.run(
            [npm, "pack", "--silent", AXE], cwd=folder, capture_output=True, text=True, timeout=120, check=False
        )
        if packed.returncode:
            pytest.skip("axe-core: npm cannot fetch it")
        with tarfile.open(folder / packed.stdout.split()[-1]) as package:
            package.extract("package/axe.min.js", folder, filter="data")
    return str(script)


@pytest.fixture(scope="module")
def axe(request) -> str:
    path = os.environ.get("AXE_CORE") or download_axe(request.config.cache.mkdir("axe-core"))
    return Path(path).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def address(browser, medical, experiment, serve) -> str:
    with JudgmentStore(judgments_file(medical)) as store:
        grades = {"1": {"med-045": 2, "med-004": 0}, "2": {"med-010": 1}}
        store.import_judgments(
            "mine", [Topic("1", "heart attack depression"), Topic("2", "lymphoma")], grades, judge="me"
        )
    url = serve(medical)
    for path, content in (
        ("", b'{"name": "letters"}'),
        ("/file?name=letters&path=a.txt", b"Zebras are striped."),
        ("/index", b'{"name": "letters"}'),
    ):
        content_type = "application/octet-stream" if "file" in path else "application/json"
        urlopen(Request(f"{url}/api/uploads{path}", content, {"Content-Type": content_type})).close()
    return url


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
@pytest.mark.parametrize("page", PAGES)
def test_axe_finds_nothing(axe, show, page, width, scheme):
    shown = show(PAGES[page], width=width, scheme=scheme)
    shown.execute_script("for (const one of document.querySelectorAll('main details')) one.open = true")
    shown.execute_script(axe)
    assert shown.execute_async_script(RUN) == []


@pytest.mark.parametrize("page", PAGES)
def test_the_strip_is_on_every_page_with_one_next_action(show, page):
    shown = show(PAGES[page], width=390)
    strip = shown.find_element("css selector", ".strip")
    assert len(strip.find_elements("css selector", "li")) == 4
    assert strip.find_element("css selector", "li").text == "2 of 10 topics with a relevant document"
    (action,) = strip.find_elements("css selector", ".next")
    assert action.is_displayed() and action.text.startswith("Add topics")


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
@pytest.mark.parametrize("opened", OPENED)
def test_axe_finds_nothing_in_what_opens(axe, browser, show, wait, opened, width, scheme):
    path, script, is_there = OPENED[opened]
    shown = show(path, width=width, scheme=scheme)
    shown.execute_script(script)
    wait(is_there)
    shown.execute_script(axe)
    assert shown.execute_async_script(RUN) == []
    browser.get_log("browser")  # the statuses of pages of errors


def test_axe_finds_nothing_about_a_complete_upload(axe, show, wait):
    shown = show("/upload", width=390)
    wait(
        "document.querySelector('[data-upload-name=letters]')?.dataset.state === 'done' || location.reload()",
        seconds=60,
    )
    shown.execute_script(axe)
    assert shown.execute_async_script(RUN) == []


def test_axe_finds_faults(axe, show):
    shown = show("/")
    shown.execute_script("document.querySelector('main').appendChild(document.createElement('img')); " + axe)
    assert "image-alt" in [rule for _, rule, _ in shown.execute_async_script(RUN)]
