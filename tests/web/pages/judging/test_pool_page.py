"""A pool is judged document by document, without scripts."""

import re
from html import unescape

from searchlab.web.state.open_indexes import OpenIndexes
from tests.web.pages.judging_client import current, dots, page, pool, split_url, topic, words


def test_a_pool_reveals_neither_systems_nor_ranks(client, store, folder):
    qid = topic(store)
    one, other = (
        pool(client, qid, systems=systems, depth=4) for systems in (["bm25", "dirichlet"], ["dirichlet", "bm25"])
    )
    turned = re.sub(r"systems=bm25(&amp;|&)systems=dirichlet", r"systems=dirichlet\1systems=bm25", one)
    hidden = [f'<input type="hidden" name="systems" value="{name}">\n' for name in ("bm25", "dirichlet")]
    assert turned.replace("".join(hidden), "".join(reversed(hidden))) == other
    opened = OpenIndexes([folder]).get()
    for name in ("bm25", "dirichlet"):
        hits = opened.system(name).search("lymphoma cells", k=4)
        for score in hits.scores.tolist():
            assert f"{score:.2f}"[:-1] not in words(one)
    order = list(dots(one))
    assert order != opened.system("bm25").search("lymphoma cells", k=5).docnos[: len(order)]


def test_after_the_last_document_the_next_topic_is_offered(client, store):
    first, second, third = topic(store), topic(store, "wings"), topic(store, "heat flow")
    for docno in dots(pool(client, second)):
        store.judge("mine", second, docno, judge="me", grade=0)
    store.judge("mine", first, "d1", judge="me", grade=1)
    shown = pool(client, second)
    (url,) = re.findall(r'<a href="([^"]*)">the next topic', shown)
    assert split_url(unescape(url))[1]["qid"] == [third]


def test_judges_do_not_see_the_grades_of_others(client, store):
    qid = topic(store)
    store.judge("mine", qid, "d1", judge="anna", grade=2, note="hers")
    shown = pool(client, qid, docno="d1")
    assert set(dots(shown).values()) == {""}
    assert "hers" not in shown
    client.cookies.set("judge", "anna")
    shown = pool(client, qid, docno="d1")
    assert dots(shown)["d1"] == "2"
    assert "hers" in shown


def test_a_document_that_is_not_in_the_pool_is_reported(client, store):
    qid = topic(store)
    shown = pool(client, qid, docno="w01")
    assert "w01 is not in this pool" in words(shown)
    assert current(shown) == next(iter(dots(shown)))
    assert "is not in this pool" not in words(pool(client, qid))
    for docno in dots(shown):
        store.judge("mine", qid, docno, judge="me", grade=0)
    assert "w01 is not in this pool; this is the first document." in words(pool(client, qid, docno="w01"))


def test_a_topic_without_matches_is_reported(client, store):
    assert "No document matches" in words(pool(client, topic(store, "zebra")))
    pool(client, "99", 404)


def test_of_a_long_document_the_beginning_is_shown_with_its_marks(client, store):
    shown = pool(client, topic(store), docno="d5")
    assert "This is the beginning of 40,000 characters" in words(shown)
    assert 500 < shown.count("<mark>lymphoma</mark>") < 700
    assert "…</div>" in shown


def test_a_topic_may_be_long_and_contain_operators(client, store):
    qid = topic(store, 'lymphoma AND "cells ( title:' + " word" * 700)
    shown = pool(client, qid, docno="d3")
    assert current(shown) == "d3"
    assert "<mark>lymphoma</mark>" in shown
    page(client, "/measure", topic_set="mine")
