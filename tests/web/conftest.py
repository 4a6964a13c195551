"""A server in a separate process, and a browser to open its pages with."""

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from searchlab.corpus.trec.qrels import read_qrels
from searchlab.corpus.trec.topics import read_topics
from searchlab.experiments.experiment import run_experiment
from searchlab.experiments.inputs import make_inputs
from searchlab.experiments.stored_results import experiments_folder
from searchlab.experiments.system_plans import plan_systems
from searchlab.retrieval.engine import SearchEngine
from tests.colours import contrast
from tests.web.server_process import ServerProcess

SEARCHLAB = (sys.executable, "-c", "from searchlab.cli import main; main()")
MEDICAL = Path(__file__).parents[2] / "corpora" / "medical"


@pytest.fixture(scope="session")
def medical_once(tmp_path_factory) -> Path:
    """The bundled collection, indexed."""
    folder = tmp_path_factory.mktemp("indexed") / "medical"
    subprocess.run([*SEARCHLAB, "index", MEDICAL, "-i", folder, "-j", "1"], check=True, capture_output=True)
    return folder


@pytest.fixture(scope="module")
def medical(medical_once, tmp_path_factory) -> Path:
    """A copy of the indexed collection for one module, which may write judgments beside it."""
    return shutil.copytree(medical_once, tmp_path_factory.mktemp("medical") / "medical")


@pytest.fixture(scope="module")
def experiment(medical) -> str:
    """The name of an experiment on the collection, whose results lie beside the index."""
    plan = plan_systems(
        "Do titles help?", experiments_folder(medical) / "titles", ["bm25", "bm25f"], [], ["nDCG@10", "AP"]
    )
    with SearchEngine(medical) as engine:
        inputs = make_inputs(engine, read_topics(MEDICAL / "topics.tsv"), read_qrels(MEDICAL / "qrels.txt"), plan)
        run_experiment(plan, inputs=inputs, n_jobs=1)
    return plan.output.name


@pytest.fixture(scope="module")
def servers() -> Iterator[dict[str, ServerProcess]]:
    """The processes of the servers that `serve` has started, by URL."""
    processes: dict[str, ServerProcess] = {}
    yield processes
    for process in processes.values():
        process.terminate()
    for process in processes.values():
        process.wait(20)
        process.stdout.close()


@pytest.fixture(scope="module")
def serve(servers) -> Callable[..., str]:
    """Serve the indexes in some folders; returns the URL."""

    def begin(*folders: Path, port: int = 0, options: Sequence[str] = ()) -> str:
        served = [part for folder in folders for part in ("-i", folder)]
        kept = ("--uploads", folders[0].parent / "uploads")
        # The command opens all indexes before it prints the address: the first page never waits for that.
        process = ServerProcess(["--port", str(port), *served, *kept, *options])
        line = process.stdout.readline()
        assert " at http" in line, "the server did not start"
        url = line.partition(" at ")[2].split()[0]
        servers[url] = process
        return url

    return begin


# A page that has not been painted yet ignores keys and clicks.
# A busy headless browser may paint no frame at all: then after a second.
PAINTED = """const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done)));
setTimeout(done, 1000)"""


@pytest.fixture
def look(browser):
    """Change the width and the colour scheme of the open page."""

    def looked(width=1280, scheme="light"):
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        # Without motion, colours change at once.
        preferences = {"prefers-color-scheme": scheme, "prefers-reduced-motion": "reduce"}
        features = [{"name": name, "value": value} for name, value in preferences.items()]
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": features})

    return looked


@pytest.fixture
def show(browser, address, look):
    """Open a page with a width and a colour scheme; after the test the log of the browser must be empty."""

    def opened(path="/", width=1280, scheme="light", scripts=True):
        look(width, scheme)
        browser.get(address + path)
        if scripts:
            browser.execute_async_script(PAINTED)
        return browser

    browser.get("about:blank")  # the last page may still ask a server that has ended
    browser.get_log("browser")
    yield opened
    assert browser.get_log("browser") == []


@pytest.fixture
def wait(browser):
    """Evaluate a script until its value is true; returns the value."""
    from selenium.webdriver.support.ui import WebDriverWait

    def until(script, *arguments, seconds=10):
        waiting = WebDriverWait(browser, seconds, poll_frequency=0.02)
        value = waiting.until(lambda driver: driver.execute_script(f"return {script}", *arguments), f"never: {script}")
        browser.execute_async_script(PAINTED)
        return value

    return until


@pytest.fixture
def until(browser):
    """Call a condition until its value is true, also without scripts; returns the value."""
    from selenium.common.exceptions import WebDriverException
    from selenium.webdriver.support.ui import WebDriverWait

    def held(condition):
        # While a page is being loaded its elements are gone, which Chromium reports in several ways.
        waiting = WebDriverWait(browser, 10, poll_frequency=0.02, ignored_exceptions=(WebDriverException,))
        value = waiting.until(lambda driver: condition())
        browser.get_screenshot_as_png()  # the page is painted then, and accepts clicks
        return value

    return held


@pytest.fixture
def press(browser):
    """Press keys, one after the other."""
    from selenium.webdriver import ActionChains

    def pressed(*keys):
        browser.execute_async_script(PAINTED)
        for key in keys:
            ActionChains(browser, duration=0).send_keys(key).perform()

    return pressed


# All visible words, with their colours and the colours of their backgrounds.
WORDS = """
const seen = [];
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const element = walker.currentNode.parentElement;
  if (!walker.currentNode.data.trim() || !element.checkVisibility({visibilityProperty: true})) continue;
  if (element.closest('option, script, .visually-hidden')) continue;
  const drawn = getComputedStyle(element.closest('mark') ?? element).backgroundImage.match(/rgb\\([^)]*\\)/);
  let ground = element;
  const clear = (one) => getComputedStyle(one).backgroundColor === 'rgba(0, 0, 0, 0)';
  while (ground.parentElement && clear(ground)) ground = ground.parentElement;
  const below = drawn ? drawn[0] : getComputedStyle(ground).backgroundColor;
  seen.push([getComputedStyle(element).color, below, element.textContent.slice(0, 40)]);
}
return seen;
"""


@pytest.fixture
def faint_words(browser):
    """The words of the page with too little contrast, by WCAG 2 AA."""

    def found():
        seen = browser.execute_script(WORDS)
        assert len(seen) > 10
        return [
            (text, round(contrast(colour, ground), 2))
            for colour, ground, text in seen
            if contrast(colour, ground) < 4.5
        ]

    return found


@pytest.fixture
def shortcomings(browser):
    """Accessibility faults of the page, as a list of messages."""
    return lambda: browser.execute_script(SHORTCOMINGS)


SHORTCOMINGS = """
const wrong = [], all = (what) => [...document.querySelectorAll(what)];
const text = (id) => document.getElementById(id)?.textContent.trim();
for (const one of all('input:not([type=hidden], [hidden]), select, textarea, button, a[href], summary')) {
  const labels = [...(one.labels ?? [])].map(label => label.textContent.trim()).join('');
  const text_content = one.matches('button, a, summary') ? one.textContent.trim() : '';
  const name = one.getAttribute('aria-label') || text(one.getAttribute('aria-labelledby')) || labels || text_content;
  if (!name) wrong.push('no name: ' + one.outerHTML.slice(0, 99));
}
const ids = all('[id]').map(one => one.id);
for (const id of ids.filter((id, at) => ids.indexOf(id) !== at)) wrong.push('two have the id ' + id);
for (const one of all('[aria-labelledby], [aria-controls], label[for]'))
  for (const id of ['aria-labelledby', 'aria-controls', 'for'].map(name => one.getAttribute(name)))
    if (id !== null && !document.getElementById(id)) wrong.push('no id ' + id);
const levels = all('h1, h2, h3, h4, h5, h6').filter(one => !one.closest('dialog')).map(one => Number(one.tagName[1]));
if (levels.filter(level => level === 1).length !== 1) wrong.push('not one h1');
if (levels[0] !== 1) wrong.push('the first heading is not h1');
levels.forEach((level, at) => { if (at && level > levels[at - 1] + 1) wrong.push('a heading is skipped: ' + levels); });
for (const what of ['main', 'header', 'nav', 'footer']) if (!document.querySelector(what)) wrong.push('no ' + what);
if (!document.documentElement.lang) wrong.push('no language');
if (!document.title.trim()) wrong.push('no title');
for (const one of all('*')) for (const {name} of one.attributes)
  if (name.startsWith('on') || name === 'style') wrong.push(name + ' in ' + one.tagName);
for (const one of all('[tabindex]')) if (one.tabIndex > 0) wrong.push('a tabindex above 0');
for (const one of all('img:not([alt])')) wrong.push('no words for ' + one.outerHTML);
return wrong;
"""


@pytest.fixture
def too_wide(browser):
    """The elements that extend beyond the right edge of the screen."""
    return lambda: browser.execute_script(
        "const width = document.documentElement.clientWidth;"
        "const all = [...document.querySelectorAll('body *')].filter(one => one.checkVisibility() &&"
        " !one.closest('.scroll, .visually-hidden, .skip, svg, .menu:not([open])'));"
        "const out = all.filter(one => one.getBoundingClientRect().right > width + 1).map("
        "  one => one.outerHTML.slice(0, 99));"
        "return document.documentElement.scrollWidth > width ? ['the page', ...out] : out"
    )


@pytest.fixture
def check_page(show, look, faint_words, shortcomings, too_wide):
    """Check a page: names for all controls, headings in order, nothing wider than the screen, enough contrast."""

    def checked(path):
        show(path, width=320, scheme="dark")
        assert shortcomings() == []
        assert faint_words() == []
        assert too_wide() == []
        for width in (390, 768, 1280):
            look(width)
            assert too_wide() == []
        assert faint_words() == []

    return checked
