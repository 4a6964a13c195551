"""Forms judge, undo, add topics and import, and lead to the next page, without scripts."""

import re
import shutil
from html import unescape

import pytest

from searchlab.judgments.judgment_store import GradedDocument
from tests.web.pages.judging_client import current, dots, page, pool, send, split_url, topic, words
from tests.web.search_client import client_for


def test_a_new_topic_leads_to_its_pool(client, store):
    page_path, parameters = split_url(send(client, "/topic", topic_set=" mine ", text="lymphoma cells"))
    assert page_path == "/pool"
    assert parameters == {"topic_set": ["mine"], "qid": ["1"]}
    shown = pool(client, "1")
    assert set(dots(shown)) == {"d1", "d2", "d3", "d4<b>", "d5"}
    assert "0 of 5 judged" in words(shown)
    assert current(shown) == next(iter(dots(shown)))


def test_a_grade_leads_to_the_next_unjudged_document(client, store):
    qid = topic(store)
    order = list(dots(pool(client, qid)))
    shared = {"topic_set": "mine", "qid": qid, "systems": ["bm25", "bm25f"], "depth": "20"}
    for number, docno in enumerate(order):
        shown = pool(client, qid)
        assert current(shown) == docno
        assert f"{number} of 5 judged" in words(shown)
        upcoming = unescape(re.search(r'name="next" value="([^"]*)"', shown).group(1))
        assert upcoming == (order[number + 1] if number < 4 else "")
        page_path, parameters = split_url(
            send(client, "/judge", docno=docno, grade="2", note=f"n{number}", next=upcoming, **shared)
        )
        if upcoming:
            assert (page_path, parameters["docno"]) == ("/pool", [upcoming])
            assert parameters["systems"] == shared["systems"]
        else:
            assert page_path == "/judge"
    judged = {each.docno: (each.judge, each.grade, each.note) for each in store.judgments("mine")}
    assert judged == {docno: ("me", 2, f"n{number}") for number, docno in enumerate(order)}
    text = words(pool(client, qid))
    assert "5 of 5 judged" in text
    assert "All 5 documents are judged" in text


def test_removing_a_grade_and_saving_a_note_stay_on_the_document(client, store):
    qid = topic(store)
    shared = {"topic_set": "mine", "qid": qid, "docno": "d1", "next": "d2", "back": "/pool?docno=d1"}
    send(client, "/judge", grade="1", note="first", **shared)
    assert 'name="keep" value="1"' in pool(client, qid, docno="d1")
    assert send(client, "/judge", keep="1", note="second", **shared) == "/pool?docno=d1"
    assert [(each.grade, each.note) for each in store.judgments("mine")] == [(1, "second")]
    assert send(client, "/judge", grade="", note="second", **shared) == "/pool?docno=d1"
    assert store.judgments("mine") == []


def test_more_judgments_than_a_request_takes_are_undone_and_counted(client, store):
    qid = topic(store)
    store.judge_all("mine", qid, [GradedDocument(f"x{number}", 1) for number in range(1001)], judge="me")
    page_path, parameters = split_url(send(client, "/undo", topic_set="mine", qid=qid))
    assert "Undone: 1,001 judgments made together" in words(page(client, page_path, **parameters))


def test_undo_leads_to_the_document_of_the_judgment(client, store):
    qid, other = topic(store), topic(store, "wings")
    for docno, grade in [("d1", "2"), ("d3", "0")]:
        send(client, "/judge", topic_set="mine", qid=qid, docno=docno, grade=grade)
    _, elsewhere = split_url(send(client, "/undo", topic_set="mine", qid=other))
    assert elsewhere["did"] == ["nothing"]
    page_path, parameters = split_url(send(client, "/undo", topic_set="mine", qid=qid, systems="bm25", depth="9"))
    assert page_path == "/pool"
    assert parameters == {
        "topic_set": ["mine"], "qid": [qid], "systems": ["bm25"], "depth": ["9"], "docno": ["d3"], "did": ["undone"]
    }  # fmt: skip
    shown = words(page(client, page_path, **parameters))
    assert "Undone: your judgment of “ d3 ” for the topic “ lymphoma cells ” of mine" in shown
    assert [each.docno for each in store.judgments("mine")] == ["d1"]
    send(client, "/undo", topic_set="mine", qid=qid)
    page_path, parameters = split_url(send(client, "/undo", topic_set="mine", qid=qid))
    assert parameters["did"] == ["nothing"]
    assert "nothing to undo" in words(page(client, page_path, **parameters))
    _, parameters = split_url(send(client, "/redo", topic_set="mine", qid=qid))
    assert (parameters["did"], parameters["docno"]) == (["redone"], ["d1"])
    assert "Expected topic_set and qid" in send(client, "/undo", 400, back="/?q=cells")
    assert [each.docno for each in store.judgments("mine")] == ["d1"]


def test_grading_a_result_creates_a_topic(client, store):
    fields = {"q": "heat flow", "docno": "w01", "back": "/?q=heat+flow"}
    assert send(client, "/judge", grade="2", **fields) == "/?q=heat+flow"
    assert [(each.topic_set, each.grade) for each in store.judgments("searches")] == [("searches", 2)]
    send(client, "/judge", grade="", **fields)
    assert store.judgments("searches") == []
    assert "3" in send(client, "/judge", 400, grade="3", **fields)


@pytest.mark.parametrize("path", ["/judge", "/train", "/measure"])
def test_topics_and_judgments_of_the_collection_are_imported_by_one_button(medical_once, tmp_path, path):
    with client_for(shutil.copytree(medical_once, tmp_path / "medical"), follow_redirects=False) as client:
        assert "This collection comes with 26 topics and 717 judgments." in words(page(client, path))
        assert f'name="then" value="{path}"' in page(client, path)
        shown = {"topic_set": ["medical"], "change": ["1"]}
        assert split_url(send(client, "/import-collection", then=path)) == (path, shown)
        assert "This collection comes with" not in page(client, path, topic_set="medical")
        assert "26 topics" in words(page(client, "/judge"))
        send(client, "/import-collection", 400, then="//elsewhere.example")


def test_an_error_keeps_the_query_and_what_was_typed_and_leads_back(client):
    refused = send(client, "/topic", 400, topic_set="x" * 101, text="why <b>wings</b>", back="/nowhere?topic_set=mine")
    assert 'href="/nowhere?topic_set=mine">Back to the page' in refused
    assert "why &lt;b&gt;wings&lt;/b&gt;</textarea>" in refused
    # From a page of the site: that page again, as `/` is for any other site.
    elsewhere = send(client, "/topic", 400, topic_set="x" * 101, text="why", back="//evil.example/")
    assert "Back to the page" not in elsewhere
    # Browsers drop tabs and line breaks from an address.
    for sign in "\t\n\r":
        assert f"/{sign}/evil" not in page(client, "/explain", 404, q="x", docno="none", back=f"/{sign}/evil.example")
    missing = page(client, "/explain", 404, q='lymphoma "cells"', docno="none")
    assert 'value="lymphoma &#34;cells&#34;"' in missing
    assert "To the search page" in missing


MISTAKES = [
    ("/topic", {"topic_set": "mine", "text": "y" * 1001, "back": "/judge"}, "text", "1,001 characters"),
    ("/topic", {"topic_set": "x" * 101, "text": "why wings", "back": "/judge"}, "topic_set", "101 characters"),
    ("/topic/edit", {"topic_set": "mine", "qid": "1", "text": " ", "criteria": "kept words"}, "text", "empty"),
    ("/topic/edit", {"topic_set": "mine", "qid": "1", "text": "a", "criteria": "c" * 4001}, "criteria", "4,001"),
    ("/set/rename", {"topic_set": "mine", "new_name": "", "back": "/judge"}, "new_name", "empty"),
    ("/topics/merge", {"topic_set": "mine", "qids": ["1"], "into": "7", "back": "/judge"}, "into", "7"),
    ("/train", {"topic_set": "mine", "name": "../up", "ranker": "mhr", "back": "/train"}, "topic_set", "topics"),
    ("/save-search", {"q": "cells", "name": "x" * 101, "back": "/?q=cells"}, "name", "101 characters"),
]


@pytest.mark.parametrize(("path", "entries", "field", "message"), MISTAKES)
def test_a_mistake_is_shown_at_its_field_with_all_entries_kept(client, store, path, entries, field, message):
    qid = topic(store)
    topic(store, "wings")
    store.judge("mine", qid, "d1", judge="me", grade=1)
    refused = send(
        client, path, 409 if path == "/train" else 400, **{"back": f"/topic?topic_set=mine&qid={qid}"} | entries
    )
    control = re.search(rf'<(?:input|textarea|select)[^>]*name="{field}"[^>]*aria-invalid="true"[^>]*>', refused)
    assert control
    assert 'aria-describedby="problem' in control.group()
    assert "autofocus" in control.group()
    (said,) = re.findall(r'id="problem">([^<]*)<', refused)
    assert message in unescape(said)
    assert 'role="alert"' in refused
    typed = entries.get("text", "").strip() or entries.get("criteria", "") or entries.get("name", "")
    assert typed in refused
    assert '<nav aria-label="Pages">' in refused


def test_a_mistake_in_one_line_adds_no_topic(client, store):
    send(client, "/topic", 400, topic_set="mine", text="wings\n" + "y" * 1001, back="/judge")
    assert store.topics("mine") == []


def test_a_wrong_parameter_of_a_page_is_reported_on_the_page(client):
    shown = page(client, "/", 400, q="cells", k="many")
    assert "K is &#39;many&#39;, expected a whole number" in shown
    assert 'class="results"' in shown
    assert page(client, "/document", 400).count("Docno is missing") == 1
