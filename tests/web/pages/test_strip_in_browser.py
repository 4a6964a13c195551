"""The strip in a browser: what it counts, and for which topic set."""

import json
import re
import shutil
from urllib.request import Request, urlopen

import pytest

STRIP = "document.querySelector('.strip').innerText"


@pytest.fixture
def address(browser, serve, medical_once, tmp_path) -> str:
    return serve(shutil.copytree(medical_once, tmp_path / "medical"))


@pytest.fixture
def add(address):
    """Add topics to a set, each with one document of a grade; None leaves it unjudged."""

    def send(path, **values):
        request = Request(address + path, json.dumps(values).encode(), {"Content-Type": "application/json"})
        with urlopen(request) as answer:
            return json.load(answer)

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
