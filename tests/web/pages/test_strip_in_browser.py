"""The strip in a browser: what it counts, and for which topic set."""

import re
import shutil

import pytest

STRIP = "document.querySelector('.strip').innerText"


@pytest.fixture
def address(browser, serve, medical_once, tmp_path) -> str:
    return serve(shutil.copytree(medical_once, tmp_path / "medical"))


@pytest.fixture
def add(send):
    """Add topics to a set, each with one document of a grade; None leaves it unjudged."""

    def added(topic_set, *grades):
        for number, grade in enumerate(grades):
            topic = send("/api/topics", topic_set=topic_set, text=f"{topic_set} {number}")
            if grade is not None:
                judged = {"docno": "med-004", "grade": grade, "judge": "me"}
                send("/api/judgments", topic_set=topic_set, qid=topic["qid"], **judged)

    return added


def words(text):
    return " ".join(text.split())


@pytest.mark.parametrize("grades", [[1] * 9 + [0] * 3, [1] * 10 + [0] * 2])
def test_topics_without_a_relevant_document_are_counted_alike_by_strip_and_page(show, find, add, too_wide, grades):
    add("mine", *grades)
    n = sum(grades)
    show("/judge", width=390)
    assert words(find(".overview-main .progress").text) == (
        f"12 of 12 topics judged, {n} with a relevant document: 12 judgments, {n} relevant"
    )
    counted = re.match(r"✓? ?(\d+ of \d+ topics with a relevant document)", words(find(".strip li").text)).group(1)
    assert counted == f"{n} of {10 if n < 10 else 12} topics with a relevant document"
    assert find(".strip .next").text == ("Add topics →" if n < 10 else "Train a model →")
    assert too_wide() == []


def test_a_finished_pool_leads_where_the_strip_leads_and_never_to_an_impossible_training(
    show, browser, find, press, wait, send, add
):
    qid = send("/api/topics", topic_set="mine", text="stroke")["qid"]
    show(f"/pool?topic_set=mine&qid={qid}&systems=bm25&depth=1", width=390)
    press("2")
    finished = "document.querySelector('.pool-head .notice.good')"
    assert wait(f"{finished}?.innerText").startswith("The only document is judged. Next: Add topics, or measure")
    assert find(".pool-head .notice.good a").get_attribute("href") == find(".strip .next").get_attribute("href")
    # Nor is there a button that could only be refused, until a set has enough judgments.
    show("/train?topic_set=mine", width=390)
    assert "Too few judgments" in find("[data-live=advice]").text
    assert browser.find_elements("css selector", "form.train") == []
    add("enough", 1, 1, 1, 1)
    browser.execute_script("window.dispatchEvent(new Event('focus'))")
    wait("document.querySelector('form.train')")
    assert "Other topic sets have enough judgments:" in wait("document.querySelector('[data-live=advice]').innerText")
    assert find("#topic-set").get_attribute("value") == "enough"
    assert find("#topic-set option[disabled]").get_attribute("value") == "mine"
    # What is being chosen stays as it is.
    find("#ranker option[value=rankboost]").click()
    add("more", 1)
    browser.execute_script("window.dispatchEvent(new Event('focus'))")
    wait("document.querySelector('[data-live=judged]').innerText.includes('more: 1 judgment')")
    assert find("#ranker").get_attribute("value") == "rankboost"


def test_with_several_sets_the_strip_names_the_one_that_the_page_is_about(show, find, wait, send, add):
    add("large", *[1] * 6)
    add("small", 1, None)
    send("/api/judgments", query="stroke", docno="med-004", grade=1, judge="me")
    for path, named in (
        ("/", "large: 6 of 10"),
        ("/?q=stroke", "searches: 1 of 10"),
        ("/compare?q=small+0", "small: 1 of 10"),
        ("/document?docno=med-004&q=small+1", "small: 1 of 10"),
        ("/explain?docno=med-004&q=stroke", "searches: 1 of 10"),
        ("/judge?topic_set=small", "small: 1 of 10"),
        ("/measure", "large: 6 of 10"),
    ):
        show(path, width=390)
        assert words(find(".strip li").text).startswith(named), path
    # A training without a set in its address shows that of the last job.
    send("/api/train", topic_set="large", ranker="maxent", features="table1", name="of-large")
    add("huge", *[1] * 20)
    for path in ("/train", "/model?name=of-large"):
        wait("fetch('/api/jobs').then(answer => answer.json()).then(({jobs}) => jobs[0].state === 'done')", seconds=240)
        show(path)
        assert words(find(".strip li").text).startswith("large: 6 of 10"), path
        assert "measured" in find(".strip").text
