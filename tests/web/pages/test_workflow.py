"""The strip of every page says how far judging has come, and its action leads somewhere."""

import re
from types import SimpleNamespace

import pytest

from searchlab.web import handlers
from searchlab.web.pages.judging.judge_page import filter_topics, sort_topics
from searchlab.web.pages.workflow import describe_workflow
from tests.web.pages.judging_client import page, send, topic, words


def strip(client, path="/", **parameters):
    shown = page(client, path, **parameters)
    text = re.search(r'<nav class="strip".*?</nav>', shown, re.DOTALL).group()
    steps = " ".join(re.sub(r"<[^>]*>", " ", text).split())
    return steps, re.search(r'class="next" href="([^"]*)"', text).group(1).replace("&amp;", "&")


@pytest.mark.parametrize("path", ["/", "/compare", "/judge", "/train", "/measure"])
def test_every_page_has_it_and_without_topics_it_leads_to_adding_some(client, path):
    steps, action = strip(client, path)
    assert steps.startswith("0 of 10 topics with a relevant document train measured in use Add topics")
    assert action == "/judge#add"


def test_it_leads_to_an_unjudged_topic_and_then_to_adding_topics(client, store):
    first, second = topic(store), topic(store, "wings")
    store.judge("mine", first, "d1", judge="me", grade=2)
    steps, action = strip(client)
    assert (steps.split(" topics")[0], action) == ("1 of 10", f"/pool?topic_set=mine&qid={second}")
    assert "Relevant to: wings" in words(client.get(action).text)
    store.judge("mine", second, "w01", judge="me", grade=1)
    assert strip(client)[1] == "/judge?topic_set=mine#add"


def test_on_the_page_of_a_topic_it_leads_to_another_one(client, store):
    first, second = topic(store, "zebra"), topic(store, "wings")
    assert strip(client, "/pool", topic_set="mine", qid=first)[1] == f"/pool?topic_set=mine&qid={second}"
    assert strip(client, "/pool", topic_set="mine", qid=second)[1] == f"/pool?topic_set=mine&qid={first}"
    # So a topic that no document matches is no dead end.
    shown = page(client, "/pool", topic_set="mine", qid=first)
    assert "No document matches" in shown and "the next topic: <bdi>wings" in shown
    store.judge("mine", first, "d1", judge="me", grade=1)
    assert strip(client, "/pool", topic_set="mine", qid=second)[1] == "/judge?topic_set=mine#add"


def test_with_enough_judged_topics_it_leads_to_training(client, store):
    for number in range(10):
        store.judge("mine", topic(store, f"lymphoma {number}"), "d1", judge="me", grade=1)
    steps, action = strip(client)
    counted = steps.split(" train")[0]
    assert (counted, action) == ("10 of 10 topics with a relevant document", "/train?topic_set=mine#train")


@pytest.mark.parametrize(
    ("n_judged", "n_more", "use", "expected"),
    [
        # Too few for a verdict, although there is a model: more topics.
        (5, 5, "", ("5 of 10", "Add topics", "/judge")),
        # The verdict could be settled, and a topic is left that nobody has judged.
        (10, 15, "BM25", ("10 of 11", "Judge the next topic", "/pool")),
        (10, None, "BM25", ("10 of 11", "Search", "/")),
        # What is recommended comes first.
        (10, 15, "RM3", ("10 of 11", "Use BM25+RM3", "/model")),
    ],
)
def test_with_a_model_it_leads_to_what_its_verdict_asks_for(store, n_judged, n_more, use, expected):
    for number in range(n_judged + (n_judged == 10)):
        qid = topic(store, f"lymphoma {number}")
        if number < n_judged:
            store.judge("mine", qid, "d1", judge="me", grade=1)
    advice = {"kind": "not yet", "sentence": "It is not shown to help yet.", "n_more": n_more, "use": use}
    model = SimpleNamespace(
        training={"set": "mine"},
        trial={"advice": advice},
        label="softmax",
        first_stage=SimpleNamespace(scorer="bm25", settings={}),
    )
    index = SimpleNamespace(
        name="it",
        models={"m": model},
        default_ranker=None,
        default_system="bm25",
        systems=[("bm25", "BM25", "scorer"), ("bm25+rm3", "BM25+RM3", "scorer")],
        system=lambda name: SimpleNamespace(label=name.upper()),
    )
    uncached = SimpleNamespace(get=lambda index, key, compute: compute())
    no_jobs = SimpleNamespace(list=list)
    state = SimpleNamespace(index=index, judgments=store, measurements=uncached, training_jobs=no_jobs)
    found = describe_workflow(state)
    assert (
        f"{found['n_useful']} of {found['n_topics']}",
        found["action"]["label"],
        found["action"]["path"],
    ) == expected


def test_a_training_under_way_is_not_ticked(client, monkeypatch):
    for training, shown in (
        (True, '<li><a href="/train">training<'),
        (False, '<li class="done"><a href="/train">trained<'),
    ):
        given = {"model": "mine", "training": training}
        monkeypatch.setattr(
            handlers, "describe_workflow", lambda *state, given=given: describe_workflow(*state) | given
        )
        assert shown in page(client, "/")


# Topics: added one a line, filtered, sorted, edited, deleted and merged with undo


def test_topics_are_added_one_a_line(client, store):
    assert send(client, "/topic", topic_set="mine", text="lymphoma\r\n\r\n T cells \nmice") == "/judge?topic_set=mine"
    assert [each.text for each in store.topics("mine")] == ["lymphoma", "T cells", "mice"]
    assert send(client, "/topic", topic_set="mine", text="wings").startswith("/pool?")


def test_topics_are_filtered_and_sorted():
    topics = [
        {"qid": "1", "text": "b cells", "n_judged": 2, "n_relevant": 0},
        {"qid": "2", "text": "A cell", "n_judged": 1, "n_relevant": 1},
    ]
    assert [each["qid"] for each in filter_topics(topics, "CELL a")] == ["2"]
    assert [each["qid"] for each in filter_topics(topics, "")] == ["1", "2"]
    orders = {order: "".join(each["qid"] for each in sort_topics(topics, order)) for order in ("", "text", "unjudged")}
    assert orders == {"": "12", "text": "21", "unjudged": "21"}


def test_criteria_and_highlighted_words_are_shown_beside_the_document(client, store):
    qid = topic(store, "lymphoma")
    texts = {"text": "lymphomas", "criteria": "only <b>mice</b>", "highlight": "cells"}
    url = send(client, "/topic/edit", topic_set="mine", qid=qid, **texts)
    assert "Undo" in words(client.get(url).text)
    shown = page(client, "/pool", topic_set="mine", qid=qid, systems=["bm25"], docno="d1")
    assert "What counts as relevant only <b>mice</b>" in words(shown)
    assert "<mark>cells</mark>" in shown
    assert "only &lt;b&gt;mice" in page(client, "/topic", topic_set="mine", qid=qid)


def test_topics_and_sets_are_deleted_merged_and_renamed_with_undo(client, store):
    qids = [topic(store, text) for text in ("lymphoma", "cells", "mice")]
    store.judge("mine", qids[0], "d1", judge="me", grade=2)

    def undo(url):
        shown = client.get(url).text
        change = re.search(r'data-changed.*?name="change" value="(\d+)"', shown, re.DOTALL).group(1)
        send(client, "/change/undo", topic_set="mine", change=change)

    url = send(client, "/topics/delete", topic_set="mine", qids=qids[:2])
    assert [each.qid for each in store.topics("mine")] == qids[2:]
    assert "Deleted 2 topics of mine" in words(client.get(url).text)
    undo(url)
    assert [each.qid for each in store.topics("mine")] == qids
    url = send(client, "/topics/merge", topic_set="mine", qids=qids[:2], into=qids[1])
    assert store.grades("mine") == {qids[1]: {"d1": 2}}
    undo(url)
    assert store.grades("mine") == {qids[0]: {"d1": 2}}
    url = send(client, "/set/rename", topic_set="mine", new_name=" ours ")
    assert [each.name for each in store.topic_sets()] == ["ours"]
    undo(url)
    send(client, "/set/delete", topic_set="mine")
    assert store.topic_sets() == []
