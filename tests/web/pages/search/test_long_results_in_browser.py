"""Results of an index with duplicates and more than a thousand matches: grouping, the end of paging, exports."""

import csv
import json
from io import StringIO

import pytest

from searchlab.analysis.analyzer import AnalysisSettings
from searchlab.records import Document

N_WINGS = 1030
PASSAGE = "Heat flow over the wings of a model was measured in a tunnel at several speeds and angles of attack. " * 3
COPIES = [
    Document(name, "Boundary layers on plates", PASSAGE, {"year": 1960, "authors": ["Smith, Jane"]})
    for name in ("copy-1", "copy-2", "copy-3")
]


@pytest.fixture(scope="module")
def address(build, serve, tmp_path_factory) -> str:
    wings = [Document(f"w{n:04}", f"Wings, report {n}", f"Lift and drag {n}.") for n in range(N_WINGS)]
    folder = tmp_path_factory.mktemp("long") / "reports"
    return serve(build([*wings, *COPIES], folder=folder, settings=AnalysisSettings()))


def texts(shown, selector):
    return [each.text for each in shown.find_elements("css selector", selector)]


def test_paging_ends_at_the_first_thousand_and_says_so(show, find, wait):
    shown = show("/?q=wings&k=50&page=19")
    assert texts(shown, ".summary p")[0].startswith("Results 901–950 of 1,033")
    find("[rel=next]").click()
    wait("location.search.includes('page=20') && document.querySelectorAll('.result').length === 50")
    assert texts(shown, ".summary p")[0].startswith("Results 951–1,000 of 1,033")
    assert shown.find_elements("css selector", "[rel=next]") == []
    assert "Only the first 1,000 results are shown." in texts(shown, "nav .note")
    find("[rel=prev]").click()
    wait("location.search.includes('page=19')")


def test_duplicates_are_grouped_and_shown_again(show, find, wait):
    shown = show("/?q=boundary")
    assert len(texts(shown, ".result")) == 3
    shown.find_element("link text", "Group duplicates").click()
    wait("document.querySelectorAll('.result').length === 1")
    (also,) = [note for note in texts(shown, ".result .note") if note.startswith("Also ")]
    first = find(".result").get_attribute("data-docno")
    assert [each.docno in also for each in COPIES] == [each.docno != first for each in COPIES]
    shown.find_element("link text", "Show all duplicates").click()
    wait("document.querySelectorAll('.result').length === 3")


# Sends the form of the page as a click on this button would, but keeps the answer.
PRESSED = """
const [format, done] = arguments;
const form = document.getElementById('export'), button = form.querySelector(`[value=${format}]`);
const query = new URLSearchParams(new FormData(form, button));
fetch(`${form.getAttribute('action')}?${query}`).then(async (answer) =>
  done([answer.status, answer.headers.get('content-disposition'), await answer.text()]));
"""


def read_csv(text):
    return [row["docno"] for row in csv.DictReader(StringIO(text.lstrip("\ufeff")))]


READERS = {
    "ris": lambda text: [line[6:] for line in text.splitlines() if line.startswith(("ID  - ", "AN  - "))][:3],
    "csv": read_csv,
    "bib": lambda text: [each for each in (copy.docno for copy in COPIES) if each in text],
    "jsonl": lambda text: [json.loads(line)["docno"] for line in text.splitlines()],
    "run": lambda text: [line.split()[2] for line in text.splitlines()],
}


@pytest.mark.parametrize("format", READERS)
def test_each_button_exports_the_results_in_its_format(show, format):
    shown = show("/?q=boundary")
    button = shown.find_element("css selector", f"#export [value={format}]")
    assert button.is_displayed()
    status, disposition, text = shown.execute_async_script(PRESSED, format)
    assert status == 200
    assert disposition.startswith("attachment; filename=") and f".{format}" in disposition
    assert sorted(READERS[format](text)) == [each.docno for each in COPIES]
