"""Reports in a browser: layout, colours and print."""

import base64

import pytest

from searchlab.report.writer import write_report
from tests.colours import contrast, luminance

WIDTHS = [1280, 800, 390, 320]


@pytest.fixture(scope="module")
def address(hostile_report, tmp_path_factory) -> str:
    return write_report(hostile_report, tmp_path_factory.mktemp("report"))[0].as_uri()


@pytest.fixture
def show(browser, address):
    """Open the report with a width and a colour scheme."""

    def opened(width=1280, scheme="light"):
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
        browser.get(address)
        return browser

    return opened


def test_the_browser_logs_no_errors_and_loads_nothing(show):
    shown = show()
    assert shown.get_log("browser") == []
    assert shown.execute_script("return performance.getEntriesByType('resource').map(entry => entry.name)") == []
    assert shown.execute_script("return document.compatMode") == "CSS1Compat"
    # The log works: what the policy forbids is logged.
    shown.execute_script("document.body.append(Object.assign(new Image(), {src: 'http://localhost:9/a.png'}))")
    assert any("Content Security Policy" in entry["message"] for entry in shown.get_log("browser"))


@pytest.mark.parametrize("width", WIDTHS)
def test_every_figure_is_visible(show, width):
    sizes = show(width).execute_script(
        "return [...document.querySelectorAll('figure svg')].map(svg => svg.getBoundingClientRect())"
    )
    assert len(sizes) == 2
    assert all(size["width"] > 250 and size["height"] > 150 for size in sizes)


@pytest.mark.parametrize("width", WIDTHS)
def test_the_page_is_no_wider_than_the_screen(show, width):
    shown = show(width)
    assert shown.execute_script("return document.documentElement.scrollWidth") <= width
    assert shown.execute_script("return document.documentElement.clientWidth") > width - 20
    outside = shown.execute_script(
        "return [...document.querySelectorAll('main *')].filter(e => !e.closest('.scroll') && "
        "e.getBoundingClientRect().right > document.documentElement.clientWidth + 1).map(e => e.outerHTML.slice(0, 99))"
    )
    assert outside == []


def test_a_wide_table_scrolls_within_its_box(show):
    widths = (
        "return [...document.querySelectorAll('.scroll:has(table)')].map(box => [box.scrollWidth, box.clientWidth])"
    )
    whole, seen = show(390).execute_script(widths)[1]
    assert whole > 2 * seen


def test_the_first_column_and_its_heading_stay_when_a_table_is_scrolled(show):
    moved = show(320).execute_script(
        "const box = document.querySelector('.scroll:has(.named)'), rows = [...box.querySelectorAll('tr')];"
        "const places = () => rows.map(row => [0, 1].map(n => row.cells[n].getBoundingClientRect().left));"
        "const before = places(); box.scrollLeft = 40; const after = places();"
        "return before.map((row, n) => row.map((place, m) => place - after[n][m]))"
    )
    assert moved == [[0, 40]] * 4


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_text_has_enough_contrast(show, scheme):
    shown = show(scheme=scheme)
    paper = shown.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert (luminance(paper) < 0.05) == (scheme == "dark")
    colours = shown.execute_script(
        "return [...document.querySelectorAll('main *:not(svg, svg *)')].map(e => getComputedStyle(e).color)"
    )
    assert len(set(colours)) >= 3
    assert min(contrast(colour, paper) for colour in set(colours)) >= 4.5


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_in_drawings_has_the_colour_of_the_page(show, scheme):
    shown = show(scheme=scheme)
    ink = shown.execute_script("return getComputedStyle(document.body).color")
    fills = shown.execute_script("return [...document.querySelectorAll('svg text')].map(e => getComputedStyle(e).fill)")
    assert len(fills) > 10
    assert set(fills) == {ink}


def test_decimal_points_are_aligned(show):
    """The right ends of the numbers without marks, in a column where all have decimals."""
    ends = show().execute_script(
        "return [...document.querySelectorAll('#table-1 tbody tr')].map(row => "
        "row.cells[1].firstElementChild.getBoundingClientRect().right)"
    )
    assert len(ends) == 3
    assert ends == pytest.approx([ends[0]] * 3, abs=0.5)


def test_hostile_texts_are_plain_text(show, hostile_report):
    shown = show()
    assert "<script>alert(1)</script>" in shown.execute_script("return document.querySelector('h1').textContent")
    assert shown.execute_script("return document.querySelectorAll('script, img, main style').length") == 0


def test_print_is_light_and_shows_whole_tables(show):
    shown = show(scheme="dark")
    shown.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    paper, ink = shown.execute_script("const s = getComputedStyle(document.body); return [s.backgroundColor, s.color]")
    assert (paper, ink) == ("rgb(255, 255, 255)", "rgb(0, 0, 0)")
    boxes = shown.execute_script(
        "return [...document.querySelectorAll('.scroll')].map(box => getComputedStyle(box).overflowX)"
    )
    assert set(boxes) == {"visible"}
    printed = shown.execute_cdp_cmd("Page.printToPDF", {"preferCSSPageSize": True})
    assert base64.b64decode(printed["data"]).startswith(b"%PDF")
