"""From a folder on the user's disk to results, without leaving the browser."""

import pytest

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


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_is_accessible(show, shortcomings, too_wide, faint_words, scheme):
    show("/upload", width=390, scheme=scheme)
    assert (shortcomings(), too_wide(), faint_words()) == ([], [], [])
