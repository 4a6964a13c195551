"""The page of topic sets shows topics, progress, agreement, and documents to judge next."""

import re
import shutil
from html import unescape
from html.parser import HTMLParser

import pytest

from searchlab.web.api.training import train as train_api
from searchlab.web.pages.judging import judge_page
from tests.web.pages.judging_client import HOSTILE, RUNNING, current, dots, page, pool, send, split_url, topic, words
from tests.web.search_client import client_for


@pytest.mark.parametrize(
    ("path", "first"),
    [
        ("/judge", "How to begin"),
        ("/train", "no judgments to train on yet"),
        ("/measure", "no judgments to measure by yet"),
    ],
)
def test_without_judgments_the_pages_say_how_to_begin(client, store, path, first):
    assert first in words(page(client, path))
    assert not store.path.exists()


def test_each_judge_is_led_to_topics_that_they_have_not_judged(client, store):
    first, second = topic(store), topic(store, "wings")
    for qid, docnos in [(first, dots(pool(client, first))), (second, ["w01"])]:
        for docno in docnos:
            store.judge("mine", qid, docno, judge="anna", grade=0)
    store.judge("mine", first, "d1", judge="me", grade=1)
    shown = page(client, "/judge")
    (url,) = re.findall(r'<a class="button primary" href="([^"]*)">Judge the next topic', shown)
    assert split_url(unescape(url))[1]["qid"] == [second]
    assert "judged relevant by you edit Choose topic 1 lymphoma cells 5 0 1 Edit Choose topic 2 wings 1 0 –" in words(
        shown
    )
    for docno in dots(pool(client, first)):
        store.judge("mine", first, docno, judge="me", grade=0)
    (url,) = re.findall(r'<a href="([^"]*)">the next topic', pool(client, first))
    assert split_url(unescape(url))[1]["qid"] == [second]
    store.judge("mine", second, "w01", judge="me", grade=0)
    assert "the next topic" not in words(page(client, "/judge"))


def test_topic_sets_and_topics_are_listed_with_their_progress(client, store):
    first, _ = topic(store), topic(store, "wings")
    topic(store, "heat", topic_set="theirs")
    store.judge("mine", first, "d1", judge="me", grade=2)
    store.judge("mine", first, "d2", judge="me", grade=0)
    text = words(page(client, "/judge", topic_set="mine"))
    assert "1 of 2 topics judged, 1 with a relevant document: 2 judgments, 1 relevant" in text
    assert "1 lymphoma cells 2 1" in text
    assert "2 wings – –" in text
    assert "Topics of theirs" in words(page(client, "/judge", topic_set="theirs"))


def test_of_many_topics_the_first_are_listed_by_default(client, store, monkeypatch):
    monkeypatch.setattr(judge_page, "MAX_LISTED_TOPICS", 2)
    for text in ("lymphoma", "wings", "heat"):
        topic(store, text)
    assert "heat" not in words(page(client, "/judge"))
    assert "1 more: show all topics" in words(page(client, "/judge"))
    assert "heat" in words(page(client, "/judge", all="true"))


def test_agreement_is_shown_in_numbers_and_words(client, store):
    qid = topic(store)
    for docno, anna, bert in [("d1", 2, 2), ("d2", 0, 0), ("d3", 0, 2), ("d5", 2, 2)]:
        store.judge("mine", qid, docno, judge="anna", grade=anna)
        store.judge("mine", qid, docno, judge="bert", grade=bert)
    text = words(page(client, "/judge"))
    # Observed 3/4, expected (2·1 + 2·3)/16 = 1/2.
    assert "anna and bert : the same grade for 75 % of 4 documents; κ = 0.50 , moderate agreement" in text
    assert "Judgments of anna" in text
    assert "anna ↓ bert → Not Definitely Not 1 1 Definitely 0 2" in text


@pytest.mark.parametrize(
    ("kappa", "named"),
    [
        (-0.1, "no better than chance"),
        (0.0, "no better than chance"),
        (0.2, "slight agreement"),
        (0.21, "fair agreement"),
        (0.6, "moderate agreement"),
        (0.61, "substantial agreement"),
        (0.81, "almost perfect agreement"),
        (1.0000000001, "almost perfect agreement"),
        (None, ""),
    ],
)
def test_kappa_has_words(kappa, named):
    assert judge_page.kappa_in_words(kappa) == named


def test_a_document_to_judge_next_links_to_its_pool(client, store):
    qid = topic(store)
    store.judge("mine", qid, "d1", judge="me", grade=2)
    shown = page(client, "/next", topic_set="mine", left="bm25", right="dirichlet", depth=5)
    listed = re.search(r'<ol class="plain-list next-documents">.*?</ol>', shown, re.DOTALL).group()
    urls = [split_url(unescape(url)) for url in re.findall(r'href="([^"]*)"', listed)]
    assert urls
    for path, parameters in urls:
        assert path == "/pool"
        assert parameters["systems"] == ["bm25", "dirichlet"]
        pooled = page(client, path, **parameters)
        assert current(pooled) == parameters["docno"][0] != "d1"
    # Nothing is compared if both systems are the same.
    assert "What to judge next" in words(page(client, "/next", left="bm25", right="bm25"))


class Attributes(HTMLParser):
    """The names of all tags and attributes of a page."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.names = [], []
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.names += [name for name, _ in attributes]


def test_hostile_texts_are_escaped(client, store, monkeypatch):
    set_name = "<b>'\"&"
    qid = topic(store, HOSTILE, topic_set=set_name)
    store.judge(set_name, qid, "d4<b>", judge="<i>x", grade=1, note=HOSTILE)
    store.judge(set_name, qid, "d1", judge="me", grade=1, note="</textarea><script>alert(3)</script>")
    failed = RUNNING | {"state": "failed", "error": HOSTILE, "name": "<u>", "topic_set": set_name}
    monkeypatch.setattr(train_api, "list_jobs", lambda state: {"jobs": [failed]})
    pages = [
        page(client, "/judge"),
        page(client, "/pool", topic_set=set_name, qid=qid, docno="d4<b>"),
        page(client, "/pool", topic_set=set_name, qid=qid, docno="d1"),
        page(client, "/pool", topic_set=set_name, qid=qid, docno=HOSTILE),
        page(client, "/train"),
        page(client, "/measure"),
    ]
    for shown in pages:
        seen = Attributes(shown)
        assert {"b", "i", "u", "img"}.isdisjoint(set(seen.tags) - ({"b"} if "won</b>" in shown else set()))
        assert not [name for name in seen.names if name.startswith("on") or name == "style"]
        assert "<script>alert" not in shown
        assert set(re.findall(r"<script[^>]*>", shown)) <= {
            f'<script type="module" src="/static/{name}.js">' for name in ("page", "keys", "judge", "jobs", "import")
        }


def test_a_second_index_has_its_own_judgments(client, folder, indexed_once, tmp_path):
    other = shutil.copytree(indexed_once, tmp_path / "other")
    with client_for(folder, other, follow_redirects=False) as both:
        path, parameters = split_url(send(both, "/topic", index="other", topic_set="mine", text="wings"))
        assert parameters["index"] == ["other"]
        shown = page(both, path, **parameters)
        urls = [unescape(each) for each in re.findall(r'<a class="dot" href="([^"]*)"', shown)]
        assert all(split_url(each)[1]["index"] == ["other"] for each in urls)
        assert "Topics of mine" in words(page(both, "/judge", index="other"))
        assert "How to begin" in words(page(both, "/judge"))
