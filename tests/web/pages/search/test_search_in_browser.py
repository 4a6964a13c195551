"""Searching, judging, comparing and explaining in a browser: by mouse, by keyboard, on a phone, without scripts."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest

from searchlab.analysis.analyzer import AnalysisSettings
from searchlab.records import Document

QUERY = "heart attack depression"
SEARCHED = "/?q=heart+attack+depression"
PAGES = {
    "home": "/",
    "search": SEARCHED + "&filter=year%3D%5B1990+TO+2020%5D",
    "misspelt": "/?q=lymphomma+treatment",
    "nothing": "/?q=zzzz",
    "document": "/document?docno=med-045&q=heart+attack+depression",
    "similar": "/similar?docno=med-045",
    "compare": "/compare?q=heart+attack+depression&left=bm25&right=bm25%2Brm3",
    "compared with nothing": "/compare",
    "explain": "/explain?q=heart+attack+depression&docno=med-045",
    "against": "/explain?q=heart+attack+depression&docno=med-045&against=med-121",
    "invalid": "/?q=heart&filter=nowhere%3D1",
    "missing": "/nowhere",
    "hostile": "/?q=lymphoma&index=hostile",
    "hostile compared": "/compare?q=lymphoma+title%3Alymphoma&index=hostile",
}
SCRIPT = "<script>alert(1)</script> lymphoma \"quoted\" 'x' & <b>bold</b> {{ 7 * 7 }}"
BODY = "<img src=x onerror=alert(1)> lymphoma </mark></p></script><style>*{display:none}</style> \u202egnp.exe"
HOSTILE = [
    Document("h<1>&\"'", SCRIPT, BODY, {"journal": '<i>J</i>" onmouseover="alert(1)', "<b>x": "javascript:alert(1)"}),
    Document("h2", "\u202eلمفوما lymphoma العربية", "عربي lymphoma " + "very" * 60, {"year": "1999"}),
    Document("h/3?x=1&y=#z", "", "A lymphoma without a title.", {}),
]


@pytest.fixture(scope="module")
def address(browser, medical, serve, build) -> str:
    hostile = build(HOSTILE, folder=medical.parent / "hostile", settings=AnalysisSettings())
    return serve(medical, hostile)


def texts(browser, what: str) -> list[str]:
    return browser.execute_script("return [...document.querySelectorAll(arguments[0])].map(e => e.textContent)", what)


def click(browser, what: str) -> None:
    browser.find_element("css selector", what).click()


def pressed(browser, result: int = 0) -> list[str]:
    """The grade of a result."""
    return browser.execute_script(
        "const form = document.querySelectorAll('form.grades')[arguments[0]];"
        "return [...form.querySelectorAll('[aria-pressed=true]')].map(e => e.textContent)",
        result,
    )


# Search


def test_a_typed_query_is_searched(show, press, wait):
    shown = show()
    wait("document.activeElement.id === 'q'")
    press(*QUERY, "\n")
    wait("document.querySelectorAll('.result').length === 10")
    assert shown.title == f"{QUERY} – searchlab"
    assert texts(shown, "h1") == [f"Results for {QUERY}"]
    assert re.fullmatch(r"Results 1–10 of \d+ in \d+\.\d ms from 160 documents", texts(shown, ".summary p")[0])
    assert "depression" in texts(shown, ".result:first-child .snippet mark")
    assert shown.switch_to.active_element.tag_name == "body"


def test_pages_and_filters_are_links(show, wait):
    shown = show(SEARCHED)
    click(shown, "[rel=next]")
    wait("document.querySelector('.rank').textContent === '11'")
    assert shown.execute_script("return document.querySelector('.results').start") == 11
    click(shown, "[rel=prev]")
    wait("document.querySelector('.rank').textContent === '1'")
    year = texts(shown, ".result .citation > a")[0]
    click(shown, ".result .citation > a")
    wait("document.querySelector('.chip')")
    assert texts(shown, ".chip bdi") == [f"year={year}"]
    assert set(texts(shown, ".result .citation > a")) == {year}
    click(shown, ".chip .drop")
    wait("!document.querySelector('.chip')")
    click(shown, ".filter summary")
    shown.find_element("id", "filter").send_keys("journal=Meridian Cardiology Review\n")
    wait("document.querySelector('.chip')")
    assert shown.current_url.endswith("filter=journal%3DMeridian+Cardiology+Review")


def test_facets_have_counts_and_restrict_the_results(show, wait):
    shown = show(SEARCHED)
    click(shown, ".facets > summary")
    name, n_docs = shown.execute_script(
        "const item = document.querySelector('.facets section[aria-label=journal] li');"
        "return [item.querySelector('a').textContent, Number(item.querySelector('.n').textContent)]"
    )
    assert n_docs > 1
    click(shown, ".facets section[aria-label=journal] li a")
    wait("document.querySelector('.chip bdi')?.textContent === arguments[0]", f"journal={name}")
    assert re.search(rf"\b{n_docs} (results|in) ", texts(shown, ".summary p")[0])


def test_results_are_sorted(show, wait):
    shown = show(SEARCHED)
    click(shown, ".sort > summary")
    click(shown, ".sort li:nth-child(2) a")
    wait("document.querySelector('.sort summary')?.textContent.includes('year, newest first')")
    years = [int(re.search(r"\d{4}", text)[0]) for text in texts(shown, ".result .citation")]
    assert len(years) == 10
    assert years == sorted(years, reverse=True)


def test_a_correction_is_offered(show, wait):
    shown = show("/?q=lymphomma+treatment")
    assert texts(shown, ".did-you-mean a") == ["lymphoma treatment"]
    click(shown, ".did-you-mean a")
    wait("document.title.startsWith('lymphoma treatment')")
    assert not texts(shown, ".did-you-mean")


def test_a_document_is_shown_in_full_and_links_back(show, wait):
    shown = show(SEARCHED)
    title = texts(shown, ".result h2")[0]
    click(shown, ".result .open")
    wait("document.querySelector('.document')")
    assert texts(shown, "h1") == [title]
    assert len(texts(shown, ".body mark")) >= 3
    assert "Meridian Cardiology Review" in texts(shown, ".fields dd a")
    click(shown, ".back a")
    wait("document.querySelectorAll('.result').length === 10")
    assert "q=heart+attack+depression" in shown.current_url


def test_a_document_links_back_to_its_page_of_results(show, wait):
    shown = show(SEARCHED + "&page=2&k=5")
    for what in (".result .open", ".result .actions a"):
        click(shown, what)
        wait("document.querySelector('.back')")
        click(shown, ".back a")
        wait("document.querySelector('.rank')?.textContent === '6'")
        assert len(texts(shown, ".result")) == 5


def test_an_invalid_filter_is_reported_beside_the_query(show, wait):
    shown = show(PAGES["invalid"])
    assert texts(shown, ".notice") == ["Unknown field 'nowhere'; there is: docno, journal, keywords, year."]
    assert shown.find_element("id", "q").get_property("value") == "heart"
    click(shown, ".chip .drop")
    wait("document.querySelectorAll('.result').length === 10")


def test_arabic_text_is_set_from_right_to_left(show):
    shown = show(PAGES["hostile"])
    position = texts(shown, ".result .docno").index("h2")
    direction = "return [...document.querySelectorAll(arguments[0])].map(e => getComputedStyle(e).direction)"
    for what in (".result h2", ".snippet"):
        assert shown.execute_script(direction, what)[position] == "rtl"
        assert "ltr" in shown.execute_script(direction, what)
    shown = show("/document?docno=h2&index=hostile&q=lymphoma")
    assert shown.execute_script(direction, ".document h1, .document .body") == ["rtl", "rtl"]


def test_fields_are_beside_the_text_if_there_is_room(show, look):
    shown = show(PAGES["document"])
    boxes = "return ['.body', '#fields'].map(what => document.querySelector(what).getBoundingClientRect())"
    text, fields = shown.execute_script(boxes)
    assert text["right"] <= fields["left"]
    assert text["top"] == fields["top"]
    look(width=390)
    text, fields = shown.execute_script(boxes)
    assert text["bottom"] <= fields["top"]
    assert text["left"] == fields["left"]


# Suggestions


def test_suggestions_are_chosen_with_the_arrows(show, press, wait):
    from selenium.webdriver import Keys

    shown = show("/?q=lymphoma+treatment")  # recorded as a past query
    press("/", Keys.DELETE, *"lymph")
    wait("document.querySelectorAll('.option').length > 2")
    box = shown.find_element("id", "q")
    assert (box.get_attribute("role"), box.get_attribute("aria-expanded")) == ("combobox", "true")
    kinds = texts(shown, ".option .kind")
    assert kinds == sorted(kinds)
    assert set(kinds) == {"past query", "word"}
    press(Keys.ARROW_DOWN, Keys.ARROW_DOWN)
    chosen = shown.find_element("css selector", ".option[aria-selected=true]")
    assert chosen.get_attribute("id") == box.get_attribute("aria-activedescendant")
    assert box.get_property("value") == chosen.get_attribute("data-text") != "lymph"
    press(Keys.ARROW_UP, Keys.ARROW_UP)
    assert box.get_property("value") == "lymph"
    press(Keys.ARROW_UP)
    assert box.get_property("value") == texts(shown, ".option bdi")[-1]
    press(Keys.ESCAPE)
    assert (box.get_property("value"), box.get_attribute("aria-expanded")) == ("lymph", "false")
    press(Keys.ARROW_DOWN)
    wait("document.querySelector('#q').getAttribute('aria-expanded') === 'true'")
    press(Keys.ARROW_DOWN)
    chosen = box.get_property("value")
    press(Keys.ENTER)
    wait("document.title === arguments[0] + ' – searchlab'", chosen)


def test_a_suggestion_is_chosen_by_a_click(show, press, wait):
    shown = show()
    press(*"depressi")
    wait("document.querySelectorAll('.option').length > 0")
    word = texts(shown, ".option bdi")[0]
    click(shown, ".option")
    wait("document.title === arguments[0] + ' – searchlab'", word)


# Keys


def test_keys_move_the_focus_over_results(show, press, wait):
    shown = show(SEARCHED)
    focused = "[...document.querySelectorAll('.result')].indexOf(document.activeElement.closest('.result'))"
    press("j", "j", "j", "k")
    assert shown.execute_script(f"return {focused}") == 1
    press(*"jjjjjjjjjjjj")
    assert shown.execute_script(f"return {focused}") == 9
    box = shown.execute_script("return document.activeElement.getBoundingClientRect()")
    assert 0 <= box["top"] < box["bottom"] <= 900
    assert shown.execute_script("return getComputedStyle(document.activeElement).outlineStyle") == "solid"
    press("k")
    title = shown.switch_to.active_element.text
    press("o")
    wait("document.querySelector('h1').textContent === arguments[0]", title)


def test_keys_are_letters_in_a_text_box(show, press):
    from selenium.webdriver import ActionChains, Keys

    shown = show(SEARCHED)
    press("/", *"jk?20u")
    assert shown.find_element("id", "q").get_property("value") == "jk?20u"
    assert not shown.find_element("id", "keys").is_displayed()
    shown.execute_script("document.activeElement.blur()")
    ActionChains(shown).key_down(Keys.CONTROL).send_keys("j").key_up(Keys.CONTROL).perform()
    assert shown.switch_to.active_element.tag_name == "body"


def test_help_opens_and_closes(show, press):
    from selenium.webdriver import Keys

    shown = show(SEARCHED)
    press("?")
    assert shown.find_element("id", "keys").is_displayed()
    press("j")
    assert shown.execute_script("return document.activeElement.closest('dialog') !== null")
    press(Keys.ESCAPE)
    assert not shown.find_element("id", "keys").is_displayed()


# Judge


def test_judgments_by_click_and_by_key_are_there_after_a_reload(show, press, wait):
    announcement = "document.getElementById('announcement').textContent"
    shown = show("/?q=stroke")
    press("1")
    wait(f"{announcement}.startsWith('Which result?')")
    click(shown, ".result:nth-child(1) [data-grade='2']")
    wait(f"{announcement}.startsWith('Judged definitely relevant')")
    press("j", "1")
    wait(f"{announcement}.startsWith('Judged possibly relevant')")
    press("j", "0")
    wait(f"{announcement}.startsWith('Judged not relevant')")
    shown.refresh()
    assert [pressed(shown, n) for n in range(4)] == [["Definitely"], ["Possibly"], ["Not"], []]


def test_the_results_show_how_many_are_judged_and_which_is_next(show, press, wait):
    so_far = "document.querySelector('[data-judged]').innerText"
    shown = show("/?q=anemia")
    assert not shown.find_element("css selector", "[data-judged]").is_displayed()
    for result, n_judged in ((1, 1), (3, 2)):
        click(shown, f".result:nth-child({result}) [data-grade='1']")
        wait(f"{so_far} === arguments[0]", f"{n_judged} judged for this topic; next: result 2")
    show("/?q=anemia")
    assert shown.find_element("css selector", "[data-judged]").text == "2 judged for this topic; next: result 2"
    click(shown, "[data-next]")
    wait("location.hash === '#result-2'")
    press("u")
    wait(f"{so_far}.startsWith('1 judged')")
    show("/?q=anemia&k=1")
    assert shown.find_element("css selector", "[data-judged]").text.endswith("all on this page are judged, next page")


def test_a_grade_chosen_again_is_removed_and_restored_by_undo(show, press, wait):
    announcement = "document.getElementById('announcement').textContent"
    shown = show("/?q=children")
    press("j", "2")
    wait(f"{announcement}.startsWith('Judged definitely relevant')")
    press("2")
    wait(f"{announcement}.startsWith('Judgment removed')")
    assert pressed(shown) == []
    press("u")
    wait(f"{announcement}.startsWith('Undone')")
    assert pressed(shown) == ["Definitely"]
    shown.refresh()
    assert pressed(shown) == ["Definitely"]
    press("u")  # what was judged before the reload
    wait("document.querySelectorAll('[aria-pressed=true]').length === 0")


def test_a_document_is_judged_on_its_page(show, press, wait):
    shown = show("/?q=asthma")
    press("j", "\n")
    wait("document.querySelector('.document')")
    press("1")
    wait("document.getElementById('announcement').textContent.startsWith('Judged possibly relevant')")
    assert pressed(shown) == ["Possibly"]
    shown.back()
    wait("document.querySelector('.result [data-grade=\"1\"]')?.ariaPressed === 'true'")


def test_a_judge_has_a_name(show, wait):
    shown = show(SEARCHED)
    click(shown, ".who .menu:last-child summary")
    box = shown.find_element("id", "judge-name")
    box.clear()
    box.send_keys("Ann <b>\n")
    wait("document.body.dataset.judge === 'Ann <b>'")
    assert texts(shown, ".who .menu:last-child summary bdi") == ["Ann <b>"]
    assert "q=heart+attack+depression" in shown.current_url
    shown.delete_cookie("judge")


@pytest.mark.parametrize("page", ["document", "against"])
def test_setting_a_name_stays_on_the_page(show, wait, page):
    shown = show(PAGES[page] + "&k=7")
    before = shown.execute_script("return location.pathname"), parse_qs(urlsplit(shown.current_url).query)
    click(shown, ".who .menu:last-child summary")
    click(shown, ".who form .button")
    wait("!document.querySelector('.menu[open]') && document.readyState === 'complete'")
    after = shown.execute_script("return location.pathname"), parse_qs(urlsplit(shown.current_url).query)
    assert before[0] == after[0]
    assert before[1].items() <= ({"left": ["bm25"]} | after[1]).items()


def test_a_menu_closes_by_escape_and_when_the_focus_leaves_it(show, press):
    from selenium.webdriver import Keys

    shown = show(SEARCHED)
    opened = "return document.querySelectorAll('.menu[open]').length"
    click(shown, ".who .menu:last-child summary")
    assert shown.execute_script(opened) == 1
    press(Keys.TAB, Keys.ESCAPE)
    assert shown.execute_script(opened) == 0
    assert shown.switch_to.active_element.tag_name == "summary"
    press(Keys.ENTER, Keys.TAB, Keys.TAB)
    assert shown.execute_script(opened) == 1
    press(Keys.TAB)
    assert shown.execute_script(opened) == 0
    assert shown.execute_script("return document.activeElement.closest('.strip') !== null")


def test_another_index_is_chosen_without_leaving_the_page(show, wait):
    shown = show("/judge")
    click(shown, ".who .menu summary")
    click(shown, ".who .menu li:last-child a")
    wait("document.body.dataset.index === 'hostile'")
    assert texts(shown, "h1") == ["Judge"]


# Compare and explain


def test_lines_connect_the_rows_of_one_document(show):
    """Both ends of every line are at the middle of the rows that it connects, to a pixel."""
    shown = show(PAGES["compare"])
    ends = shown.execute_script(
        "const middle = (row) => { const box = row.getBoundingClientRect(); return (box.top + box.bottom) / 2; };"
        "return [...document.querySelectorAll('.lines path')].map(path => {"
        "  const matrix = path.getScreenCTM(), long = path.getTotalLength();"
        "  const drawn = [0, long].map(at => path.getPointAtLength(at).matrixTransform(matrix).y);"
        "  const rows = [...document.querySelectorAll('.ranking li')].filter("
        "    row => row.dataset.same === path.dataset.same);"
        "  return [drawn, rows.map(middle)]; })"
    )
    overlap = int(re.match(r"(\d+) of the first 10", texts(shown, ".summary")[0]).group(1))
    assert len(ends) == overlap > 3
    for drawn, rows in ends:
        assert drawn == pytest.approx(rows, abs=1)


def test_moves_are_shown_in_words_on_both_sides(show):
    shown = show(PAGES["compare"])
    rows = shown.execute_script(
        "return [...document.querySelectorAll('.side')].map(side => [...side.querySelectorAll('li')].map("
        "row => [row.dataset.same, row.value, row.querySelector('.move').textContent]))"
    )
    left, right = ({docno: (rank, words) for docno, rank, words in side} for side in rows)
    assert len(left) == len(right) == 10
    for docno in left.keys() & right.keys():
        before, after = left[docno][0], right[docno][0]
        way = "up" if after < before else "down"
        words = ("same rank",) * 2 if before == after else (f"goes {way} to {after}", f"{way} from {before}")
        assert left[docno][1].endswith(words[0])
        assert right[docno][1].endswith(words[1])
    assert texts(shown, ".moves h3 a")


def test_a_document_is_highlighted_on_both_sides(show):
    from selenium.webdriver import ActionChains

    shown = show(PAGES["compare"])
    row = shown.find_element("css selector", ".ranking li")
    ActionChains(shown).move_to_element(row).perform()
    lit = shown.execute_script("return [...document.querySelectorAll('.lit')].map(e => e.dataset.same)")
    assert lit == [row.get_attribute("data-same")] * 3


def test_rankings_are_below_each_other_on_a_phone(show):
    shown = show(PAGES["compare"], width=390)
    assert not shown.find_element("css selector", ".lines").is_displayed()
    left, right = shown.execute_script(
        "return [...document.querySelectorAll('.side')].map(e => e.getBoundingClientRect())"
    )
    assert left["bottom"] <= right["top"]
    assert left["x"] == right["x"]


def amount(text: str) -> float:
    return float(text.replace("−", "-"))


@pytest.mark.parametrize("page", ["explain", "against"])
def test_parts_add_up_and_bars_are_proportional(show, page):
    shown = show(PAGES[page])
    lists = shown.execute_script(
        "return [...document.querySelectorAll('.total')].map(total => ["
        "total.querySelector('strong').textContent, [...total.previousElementSibling.querySelectorAll('.part')].map("
        "part => [part.querySelector('.n').textContent, part.querySelector('rect').getBoundingClientRect().width])])"
    )
    assert len(lists) == (1 if page == "explain" else 3)
    for total, parts in lists:
        amounts = [amount(text) for text, _ in parts]
        assert sum(amounts) == pytest.approx(amount(total), abs=0.0005 * len(parts) + 0.0005)
        longest, widest = max(map(abs, amounts)), max(width for _, width in parts)
        for part, (_, width) in zip(amounts, parts, strict=True):
            assert width == pytest.approx(widest * abs(part) / longest, abs=1)
    if page == "against":
        assert texts(shown, ".notice")[0].startswith("med-045 scores")


# Accessibility


@pytest.mark.parametrize("page", PAGES)
def test_pages_are_accessible(show, look, shortcomings, too_wide, faint_words, page):
    """Names for all controls, headings in order, nothing wider than the screen, enough contrast."""
    shown = show(PAGES[page], width=320, scheme="dark")
    assert shortcomings() == []
    assert too_wide() == []
    assert faint_words() == []
    look()
    assert too_wide() == []
    assert faint_words() == []
    loaded = shown.execute_script("return performance.getEntriesByType('resource').map(entry => entry.name)")
    assert loaded
    assert {re.match(r"https?://[^/]*", name).group() for name in loaded} == {
        re.match(r".*?//[^/]*", shown.current_url).group()
    }
    if page == "missing":  # Chromium logs every missing page
        assert len(shown.get_log("browser")) == 1


def test_faults_of_a_page_would_be_found(show, shortcomings, too_wide, faint_words):
    shown = show(SEARCHED)
    shown.execute_script(
        "const add = (tag, properties) => document.querySelector('main').appendChild("
        "Object.assign(document.createElement(tag), properties));"
        "add('input', {}); add('h4', {id: 'q'}).setAttribute('onclick', ''); add('p', {textContent: 'faint'});"
        "add('p', {textContent: 'wide'}).style.width = '200vw'; add('img', {alt: '', src: 'http://localhost:9/a.png'});"
        "[...document.querySelectorAll('main > p')].at(-2).style.color = '#999'"
    )
    found = "\n".join(shortcomings())
    for fault in ("no name: <input>", "two have the id q", "a heading is skipped", "onclick in H4", "style in P"):
        assert fault in found
    assert too_wide()[0] == "the page"
    assert [text for text, _ in faint_words()] == ["faint"]
    assert "Content Security Policy" in shown.get_log("browser")[0]["message"]


def test_dark_pages_are_dark_and_print_is_light(show):
    ground = "return getComputedStyle(document.body).backgroundColor"
    assert show(SEARCHED, scheme="light").execute_script(ground) == "rgb(253, 253, 252)"
    shown = show(SEARCHED, scheme="dark")
    assert shown.execute_script(ground) == "rgb(21, 24, 28)"
    shown.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    assert shown.execute_script(ground) == "rgb(255, 255, 255)"
    assert not shown.find_element("css selector", ".search").is_displayed()


def test_the_focus_moves_in_order_and_is_visible(show, press):
    from selenium.webdriver import Keys

    shown = show(SEARCHED)
    way = []
    n_links = shown.execute_script("return document.querySelectorAll('.strip a').length")
    for _ in range(36 + n_links):
        press(Keys.TAB)
        way.append(
            shown.execute_script(
                "const e = document.activeElement, s = getComputedStyle(e), b = e.getBoundingClientRect();"
                "return [e.id || e.dataset.grade || e.textContent.trim(), s.outlineStyle, b.width > 0 && b.left >= 0]"
            )
        )
    strip = [each.text for each in shown.find_elements("css selector", ".strip a")]
    assert [name for name, _, _ in way[9 : 9 + n_links]] == strip
    assert all(visible for _, _, visible in way[9 : 9 + n_links])
    del way[9 : 9 + n_links]
    assert [name for name, _, _ in way][:9] == [
        "Skip to the content",
        "searchlab",
        *("Search", "Compare", "Judge", "Train", "Measure"),
        "Index: medical",
        "Judging as me",
    ]
    assert [name for name, _, _ in way][9:22] == [
        *("q", "system", "Search", "Filter", "year-from", "slide-from", "slide-to", "year-to", "Show"),
        *("Sorted by relevance", "Group duplicates", "Narrow by journal, year", "Save this search"),
    ]
    assert [name for name, _, _ in way][-4:] == ["More like this", "2", "1", "0"]
    assert {(style, seen) for _, style, seen in way} == {("solid", True)}


def test_nothing_moves_with_reduced_motion(show):
    durations = "return [...document.querySelectorAll('*')].map(e => getComputedStyle(e).transitionDuration)"
    shown = show(SEARCHED)
    assert set(shown.execute_script(durations)) == {"0s"}
    shown.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    assert len(set(shown.execute_script(durations))) > 1


def test_searching_and_judging_work_without_scripts(show, until):
    shown = show()
    shown.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})

    def seen(what):
        return [one.text for one in shown.find_elements("css selector", what)]

    try:
        shown = show(scripts=False)
        shown.find_element("id", "q").send_keys("patients\n")
        until(lambda: shown.title == "patients – searchlab")
        assert seen("[role=combobox]") == []
        chosen = "form.grades [aria-pressed=true]"
        click(shown, ".result:nth-child(2) [data-grade='1']")
        until(lambda: seen(chosen) == ["Possibly"])
        assert "q=patients" in shown.current_url
        click(shown, chosen)
        until(lambda: seen(".rank") and not seen(chosen))
        click(shown, ".result .citation > a")
        until(lambda: seen(".chip bdi"))
        assert seen(".chip bdi")[0].startswith("year=")
        click(shown, ".chip .drop")
        until(lambda: seen(".rank") and not seen(".chip"))
        click(shown, "[rel=next]")
        until(lambda: seen(".rank")[:1] == ["11"])
    finally:
        shown.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


# Hostile documents


def test_hostile_documents_are_escaped(show, wait, press):
    shown = show(PAGES["hostile"])
    assert SCRIPT in texts(shown, ".result h2 a")
    assert any("<img src=x onerror=alert(1)>" in text for text in texts(shown, ".snippet"))
    sources = "return [...document.scripts].map(script => new URL(script.src).pathname)"
    assert set(shown.execute_script(sources)) == {
        f"/static/{name}.js" for name in ("page", "keys", "suggest", "results")
    }
    assert shown.execute_script("return document.querySelectorAll('main img, main style, main b, main i').length") == 0
    for docno, title in [(HOSTILE[0].docno, SCRIPT), (HOSTILE[2].docno, HOSTILE[2].docno)]:
        shown = show(PAGES["hostile"])
        position = texts(shown, ".result .docno").index(docno)
        press(*"j" * (position + 1), "2")
        wait("document.getElementById('announcement').textContent.startsWith('Judged definitely relevant')")
        press("o")
        wait("document.querySelector('.document')")
        assert texts(shown, "h1") == [title]
        assert pressed(shown) == ["Definitely"]
        assert texts(shown, ".fields .docno") == [docno]


def test_a_hostile_field_links_to_the_documents_that_have_it(show, wait):
    shown = show(PAGES["hostile"])
    position = texts(shown, ".result h2 a").index(SCRIPT) + 1
    click(shown, f".result:nth-child({position}) .facts a")
    wait("document.querySelector('.chip')")
    assert len(texts(shown, ".result")) == 1
