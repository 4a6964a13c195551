"""Do the pages of work lead through the loop without a script: judge blindly, undo, import, learn, measure?"""

import re
import shutil
from html import unescape
from html.parser import HTMLParser
from urllib.parse import parse_qs, urlsplit

import pytest
from starlette.testclient import TestClient

from searchlab.analysis.analyzer import AnalysisSettings
from searchlab.judgments.judgment_store import JudgmentStore, judgments_file
from searchlab.records import Document
from searchlab.web.api import train
from searchlab.web.app import make_app
from searchlab.web.middleware.security import Safety
from searchlab.web.pages import judge_page as judging_pages
from searchlab.web.state.app_state import Desk
from searchlab.web.state.open_indexes import Shelf

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)> \"'> </main> {{ 7*7 }} lymphoma"
DOCUMENTS = [
    Document("d1", "Lymphoma of T cells", "Lymphomas of T cells in mice. " * 3, {"year": 1988}),
    Document("d2", "Cells", "Cells divide, and cells die.", {"keywords": ["growth", "death"]}),
    Document("d3", "", "Mice with a lymphoma, fed on cells.", {}),
    Document("d4<b>", HOSTILE, HOSTILE, {"note": HOSTILE}),
    Document("d5", "A long story", "lymphoma and so on, " * 2000, {}),
    *(Document(f"w{number:02}", "Wings", f"Heat flow over wings {number}.") for number in range(12)),
]
RUNNING = {
    "id": "7",
    "index": "it",
    "set": "mine",
    "ranker": "rsvm",
    "features": "table1",
    "name": "mine-rsvm",
    "state": "running",
    "stage": "cross-validating",
    "done": 2,
    "of": 5,
    "seconds": 12.3,
    "advice": None,
    "verdict": None,
    "helps": None,
    "means": None,
    "n_topics": None,
    "error": None,
}
MEANS = {"rsvm": {"nDCG@10": 0.7, "AP": 0.4}, "BM25": {"nDCG@10": 0.6, "AP": 0.5}}


@pytest.fixture(scope="module")
def indexed_once(build, tmp_path_factory):
    return build(DOCUMENTS, settings=AnalysisSettings(), folder=tmp_path_factory.mktemp("work") / "it")


def client_for(*folders):
    safety = Safety(None, True, secret=b"s" * 32)
    return TestClient(make_app(Desk(Shelf(folders)), safety), base_url="http://127.0.0.1", follow_redirects=False)


@pytest.fixture
def folder(indexed_once, tmp_path):
    """The index, without any judgments yet."""
    return shutil.copytree(indexed_once, tmp_path / "it")


@pytest.fixture
def client(folder):
    with client_for(folder) as own:
        yield own


@pytest.fixture
def store(folder):
    with JudgmentStore(judgments_file(folder)) as own:
        yield own


def page(client, path, status=200, **parameters):
    answer = client.get(path, params=parameters)
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"].startswith("text/html")
    return answer.text


def words(html):
    """What is read: the text of the content."""
    content = re.search(r"<main.*</main>", html, re.DOTALL).group()
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", content)).split())


def send(client, path, status=303, **fields):
    """Send a form; gives the address to which it leads."""
    csrf = re.search(r'name="csrf" value="(\w+)"', client.get("/learn").text).group(1)
    answer = client.post(path, data={"csrf": csrf, "back": "/judge"} | fields)
    assert answer.status_code == status, answer.text
    return answer.headers["location"] if status == 303 else answer.text


def asked(address):
    """The path of an address, and its parameters."""
    parts = urlsplit(address)
    return parts.path, parse_qs(parts.query)


def topic(store, text="lymphoma cells", set="mine"):
    return store.add_topic(set, text).qid


def pool(client, qid, status=200, set="mine", rankers=("bm25", "bm25f"), **further):
    return page(client, "/pool", status, set=set, topic=qid, rankers=list(rankers), **further)


def dots(html):
    """The documents of the pool in their order, and their grades."""
    found = re.findall(r'<a class="dot" href="([^"]*)"( data-grade="\d")?', html)
    return {asked(unescape(address))[1]["at"][0]: grade[13:-1] for address, grade in found}


def current(html):
    return unescape(re.search(r'id="judging"[^>]*data-id="([^"]*)"', html).group(1))


@pytest.mark.parametrize(
    ("path", "first"),
    [
        ("/judge", "How to begin"),
        ("/learn", "nothing to learn from yet"),
        ("/measure", "no judgments to measure by yet"),
    ],
)
def test_where_there_is_nothing_it_is_told_how_to_begin(client, store, path, first):
    assert first in words(page(client, path))
    assert not store.path.exists()


def test_a_topic_that_is_added_leads_to_its_pool(client, store):
    place, parameters = asked(send(client, "/topic", set=" mine ", text="lymphoma cells"))
    assert place == "/pool"
    assert parameters == {"set": ["mine"], "topic": ["1"]}
    shown = pool(client, "1")
    assert set(dots(shown)) == {"d1", "d2", "d3", "d4<b>", "d5"}
    assert "0 of 5 judged" in words(shown)
    assert current(shown) == next(iter(dots(shown)))


def test_a_pool_does_not_tell_who_found_a_document_nor_where(client, store, folder):
    qid = topic(store)
    one, other = (
        pool(client, qid, rankers=rankers, depth=4) for rankers in (["bm25", "dirichlet"], ["dirichlet", "bm25"])
    )
    turned = re.sub(r"rankers=bm25(&amp;|&)rankers=dirichlet", r"rankers=dirichlet\1rankers=bm25", one)
    hidden = [f'<input type="hidden" name="rankers" value="{name}">\n' for name in ("bm25", "dirichlet")]
    assert turned.replace("".join(hidden), "".join(reversed(hidden))) == other
    opened = Shelf([folder]).get()
    for name in ("bm25", "dirichlet"):
        hits = opened.system(name).search("lymphoma cells", k=4)
        for score in hits.scores.tolist():
            assert f"{score:.2f}"[:-1] not in words(one)
    order = list(dots(one))
    assert order != opened.system("bm25").search("lymphoma cells", k=5).docnos[: len(order)]


def test_a_grade_leads_on_to_the_next_document_that_is_not_judged(client, store):
    qid = topic(store)
    order = list(dots(pool(client, qid)))
    shared = {"set": "mine", "topic": qid, "rankers": ["bm25", "bm25f"], "depth": "20"}
    for number, docno in enumerate(order):
        shown = pool(client, qid)
        assert current(shown) == docno
        assert f"{number} of 5 judged" in words(shown)
        upcoming = unescape(re.search(r'name="next" value="([^"]*)"', shown).group(1))
        assert upcoming == (order[number + 1] if number < 4 else "")
        place, parameters = asked(
            send(client, "/judge", id=docno, grade="2", note=f"n{number}", next=upcoming, **shared)
        )
        if upcoming:
            assert (place, parameters["at"]) == ("/pool", [upcoming])
            assert parameters["rankers"] == shared["rankers"]
        else:
            assert place == "/judge"
    said = {each.docno: (each.judge, each.grade, each.note) for each in store.judgments("mine")}
    assert said == {docno: ("me", 2, f"n{number}") for number, docno in enumerate(order)}
    told = words(pool(client, qid))
    assert "5 of 5 judged" in told
    assert "All 5 are judged" in told


def test_after_the_last_document_the_next_topic_is_offered(client, store):
    first, second, third = topic(store), topic(store, "wings"), topic(store, "heat flow")
    for docno in dots(pool(client, second)):
        store.judge("mine", second, docno, judge="me", grade=0)
    store.judge("mine", first, "d1", judge="me", grade=1)
    shown = pool(client, second)
    (address,) = re.findall(r'<a href="([^"]*)">the next topic', shown)
    assert asked(unescape(address))[1]["topic"] == [third]


def test_each_judge_is_led_to_topics_of_which_they_have_judged_nothing(client, store):
    first, second = topic(store), topic(store, "wings")
    for qid, docnos in [(first, dots(pool(client, first))), (second, ["w01"])]:
        for docno in docnos:
            store.judge("mine", qid, docno, judge="anna", grade=0)
    store.judge("mine", first, "d1", judge="me", grade=1)
    shown = page(client, "/judge")
    (address,) = re.findall(r'<a class="button primary" href="([^"]*)">Judge the next topic', shown)
    assert asked(unescape(address))[1]["topic"] == [second]
    assert "judged relevant by you 1 lymphoma cells 5 0 1 2 wings 1 0 –" in words(shown)
    for docno in dots(pool(client, first)):
        store.judge("mine", first, docno, judge="me", grade=0)
    (address,) = re.findall(r'<a href="([^"]*)">the next topic', pool(client, first))
    assert asked(unescape(address))[1]["topic"] == [second]
    store.judge("mine", second, "w01", judge="me", grade=0)
    assert "the next topic" not in words(page(client, "/judge"))


def test_a_grade_is_taken_back_and_a_note_saved_without_leaving_the_document(client, store):
    qid = topic(store)
    shared = {"set": "mine", "topic": qid, "id": "d1", "next": "d2", "back": "/pool?at=d1"}
    send(client, "/judge", grade="1", note="first", **shared)
    assert 'name="keep" value="1"' in pool(client, qid, at="d1")
    assert send(client, "/judge", keep="1", note="second", **shared) == "/pool?at=d1"
    assert [(each.grade, each.note) for each in store.judgments("mine")] == [(1, "second")]
    assert send(client, "/judge", grade="", note="second", **shared) == "/pool?at=d1"
    assert store.judgments("mine") == []


def test_undo_leads_to_what_was_undone(client, store):
    qid, other = topic(store), topic(store, "wings")
    for docno, grade in [("d1", "2"), ("d3", "0")]:
        send(client, "/judge", set="mine", topic=qid, id=docno, grade=grade)
    place, parameters = asked(send(client, "/undo", set="mine", topic=other, rankers="bm25", depth="9"))
    assert place == "/pool"
    assert parameters == {
        "set": ["mine"], "topic": [qid], "rankers": ["bm25"], "depth": ["9"], "at": ["d3"], "did": ["undone"]
    }  # fmt: skip
    assert "taken back" in words(page(client, place, **parameters))
    assert [each.docno for each in store.judgments("mine")] == ["d1"]
    send(client, "/undo", set="mine", topic=qid)
    place, parameters = asked(send(client, "/undo", set="mine", topic=qid))
    assert parameters["did"] == ["nothing"]
    assert "nothing to undo" in words(page(client, place, **parameters))
    assert send(client, "/undo", back="/?q=cells") == "/?q=cells"


def test_judges_do_not_see_what_others_said(client, store):
    qid = topic(store)
    store.judge("mine", qid, "d1", judge="anna", grade=2, note="hers")
    shown = pool(client, qid, at="d1")
    assert set(dots(shown).values()) == {""}
    assert "hers" not in shown
    client.cookies.set("judge", "anna")
    shown = pool(client, qid, at="d1")
    assert dots(shown)["d1"] == "2"
    assert "hers" in shown


def test_a_document_that_is_not_in_the_pool_is_not_silently_another(client, store):
    qid = topic(store)
    shown = pool(client, qid, at="w01")
    assert "w01 is not in this pool" in words(shown)
    assert current(shown) == next(iter(dots(shown)))
    assert "is not in this pool" not in words(pool(client, qid))
    for docno in dots(shown):
        store.judge("mine", qid, docno, judge="me", grade=0)
    assert "w01 is not in this pool; this is the first." in words(pool(client, qid, at="w01"))


def test_a_topic_that_nothing_matches_says_so(client, store):
    assert "No document matches" in words(pool(client, topic(store, "zebra")))
    pool(client, "99", 404)


def test_of_a_long_document_the_beginning_is_shown_with_its_marks(client, store):
    shown = pool(client, topic(store), at="d5")
    assert "This is the beginning of 40,000 characters" in words(shown)
    assert 500 < shown.count("<mark>lymphoma</mark>") < 700
    assert "…</div>" in shown


def test_a_topic_may_be_long_and_say_what_a_query_would_take_for_something_else(client, store):
    qid = topic(store, 'lymphoma AND "cells ( title:' + " word" * 700)
    shown = pool(client, qid, at="d3")
    assert current(shown) == "d3"
    assert "<mark>lymphoma</mark>" in shown
    page(client, "/measure", set="mine")


def test_what_is_judged_beside_results_makes_a_topic(client, store):
    fields = {"q": "heat flow", "id": "w01", "back": "/?q=heat+flow"}
    assert send(client, "/judge", grade="2", **fields) == "/?q=heat+flow"
    assert [(each.set, each.grade) for each in store.judgments("searches")] == [("searches", 2)]
    send(client, "/judge", grade="", **fields)
    assert store.judgments("searches") == []
    assert "3" in send(client, "/judge", 400, grade="3", **fields)


def test_the_overview_lists_sets_and_topics_with_their_state(client, store):
    first, _ = topic(store), topic(store, "wings")
    topic(store, "heat", set="theirs")
    store.judge("mine", first, "d1", judge="me", grade=2)
    store.judge("mine", first, "d2", judge="me", grade=0)
    told = words(page(client, "/judge", set="mine"))
    assert "1 of 2 topics judged: 2 judgments, 1 relevant" in told
    assert "1 lymphoma cells 2 1" in told
    assert "2 wings – –" in told
    assert "Topics of theirs" in words(page(client, "/judge", set="theirs"))


def test_of_many_topics_the_first_are_listed_unless_all_are_wanted(client, store, monkeypatch):
    monkeypatch.setattr(judging_pages, "LISTED", 2)
    for text in ("lymphoma", "wings", "heat"):
        topic(store, text)
    assert "heat" not in words(page(client, "/judge"))
    assert "1 more: show all topics" in words(page(client, "/judge"))
    assert "heat" in words(page(client, "/judge", all="true"))


def test_agreement_is_told_in_numbers_and_words(client, store):
    qid = topic(store)
    for docno, anna, bert in [("d1", 2, 2), ("d2", 0, 0), ("d3", 0, 2), ("d5", 2, 2)]:
        store.judge("mine", qid, docno, judge="anna", grade=anna)
        store.judge("mine", qid, docno, judge="bert", grade=bert)
    told = words(page(client, "/judge"))
    # Observed 3/4, expected (2·1 + 2·3)/16 = 1/2.
    assert "anna and bert : the same grade for 75 % of 4 documents; κ = 0.50 , moderate agreement" in told
    assert "Judgments of anna" in told
    assert "anna ↓ bert → Not Definitely Not 1 1 Definitely 0 2" in told


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
def test_words_for_agreement(kappa, named):
    assert judging_pages.words_for_kappa(kappa) == named


def test_what_to_judge_next_leads_into_the_pool_at_the_document(client, store):
    qid = topic(store)
    store.judge("mine", qid, "d1", judge="me", grade=2)
    shown = page(client, "/next", set="mine", left="bm25", right="dirichlet", depth=5)
    listed = re.search(r'<ol class="plain-list nexts">.*?</ol>', shown, re.DOTALL).group()
    addresses = [asked(unescape(address)) for address in re.findall(r'href="([^"]*)"', listed)]
    assert addresses
    for place, parameters in addresses:
        assert place == "/pool"
        assert parameters["rankers"] == ["bm25", "dirichlet"]
        pooled = page(client, place, **parameters)
        assert current(pooled) == parameters["at"][0] != "d1"
    # The same ranker twice has nothing to tell.
    assert "What to judge next" in words(page(client, "/next", left="bm25", right="bm25"))


class Attributes(HTMLParser):
    """All names of tags and attributes of a page."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.names = [], []
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.names += [name for name, _ in attributes]


def test_hostile_words_are_words(client, store, monkeypatch):
    set_name = "<b>'\"&"
    qid = topic(store, HOSTILE, set=set_name)
    store.judge(set_name, qid, "d4<b>", judge="<i>x", grade=1, note=HOSTILE)
    store.judge(set_name, qid, "d1", judge="me", grade=1, note="</textarea><script>alert(3)</script>")
    failed = RUNNING | {"state": "failed", "error": HOSTILE, "name": "<u>", "set": set_name}
    monkeypatch.setattr(train, "jobs", lambda desk: {"jobs": [failed]})
    pages = [
        page(client, "/judge"),
        page(client, "/pool", set=set_name, topic=qid, at="d4<b>"),
        page(client, "/pool", set=set_name, topic=qid, at="d1"),
        page(client, "/pool", set=set_name, topic=qid, at=HOSTILE),
        page(client, "/learn"),
        page(client, "/measure"),
    ]
    for shown in pages:
        seen = Attributes(shown)
        assert {"b", "i", "u", "img"}.isdisjoint(set(seen.tags) - ({"b"} if "won</b>" in shown else set()))
        assert not [name for name in seen.names if name.startswith("on") or name == "style"]
        assert "<script>alert" not in shown
        assert set(re.findall(r"<script[^>]*>", shown)) <= {
            f'<script type="module" src="/static/{name}.js">' for name in ("page", "keys", "judge", "train")
        }


def test_a_second_index_keeps_its_own_judgments(client, folder, indexed_once, tmp_path):
    other = shutil.copytree(indexed_once, tmp_path / "other")
    with client_for(folder, other) as both:
        place, parameters = asked(send(both, "/topic", index="other", set="mine", text="wings"))
        assert parameters["index"] == ["other"]
        shown = page(both, place, **parameters)
        addresses = [unescape(each) for each in re.findall(r'<a class="dot" href="([^"]*)"', shown)]
        assert all(asked(each)[1]["index"] == ["other"] for each in addresses)
        assert "Topics of mine" in words(page(both, "/judge", index="other"))
        assert "How to begin" in words(page(both, "/judge"))


@pytest.mark.parametrize("path", ["/judge", "/learn", "/measure"])
def test_what_came_with_the_documents_is_one_button_away(medical_once, tmp_path, path):
    with client_for(shutil.copytree(medical_once, tmp_path / "medical")) as own:
        assert "This collection brings 26 topics and 717 judgments along." in words(page(own, path))
        assert f'name="then" value="{path}"' in page(own, path)
        assert asked(send(own, "/import-own", then=path)) == (path, {"set": ["medical"]})
        assert "This collection brings" not in page(own, path, set="medical")
        assert "26 topics" in words(page(own, "/judge"))
        send(own, "/import-own", 400, then="//elsewhere.example")


def test_too_few_judgments_are_told_before_training(client, store):
    store.judge("mine", topic(store), "d1", judge="me", grade=2)
    shown = page(client, "/learn")
    assert "Too few judgments: 1 topic has a relevant document" in words(shown)
    assert re.findall(r'class="button primary"[^>]*>([^<]*)<', shown) == ["Judge more topics"]
    assert "Too few judgments" in send(client, "/train", 409, set="mine", ranker="rsvm", features="table1")


def test_a_training_that_runs_is_shown_with_its_progress(client, store, monkeypatch):
    store.judge("mine", topic(store), "d1", judge="me", grade=2)
    waiting = RUNNING | {"id": "8", "state": "waiting", "stage": "waiting", "name": "later", "done": 0, "of": 0}
    elsewhere = RUNNING | {"id": "9", "index": "another", "name": "elsewhere"}
    monkeypatch.setattr(train, "jobs", lambda desk: {"jobs": [elsewhere, waiting, RUNNING]})
    cancelled = []
    monkeypatch.setattr(train, "cancel", lambda desk, id: cancelled.append(id))
    shown = page(client, "/learn")
    assert 'data-job="7" data-state="running"' in shown
    assert '<progress value="2" max="5"' in shown
    assert "cross-validating: 2 of 5" in words(shown)
    assert "Refresh" in words(shown)
    assert "Then: later" in words(shown)
    assert "elsewhere" not in shown
    assert send(client, "/cancel", id="7", back="/learn?set=mine") == "/learn?set=mine"
    assert cancelled == ["7"]


@pytest.mark.parametrize(
    ("kind", "colour"), [("helps", "good"), ("hurts", "bad"), ("not yet", "warn"), ("too few", "warn")]
)
def test_what_was_learnt_is_told_in_one_sentence_and_a_table(client, store, monkeypatch, kind, colour):
    store.judge("mine", topic(store), "d1", judge="me", grade=2)
    advice = {"kind": kind, "sentence": "It is so.", "n_more": None}
    monkeypatch.setattr(
        train, "jobs", lambda desk: {"jobs": [RUNNING | {"state": "done", "advice": advice, "means": MEANS}]}
    )
    shown = page(client, "/learn")
    assert f'<p class="sentence {colour}">It is so.</p>' in shown
    assert re.findall(r'<td class="n winner">([\d.]+)</td>', shown) == ["0.700", "0.500"]
    assert 'href="/?ranker=model%3Amine-rsvm"' in shown
    (first, *_) = re.findall(r'class="button primary"[^>]*>([^<]*)<', shown)
    assert first == ("Search with it" if kind == "helps" else "Judge more topics")
    assert 'href="/compare?left=bm25&amp;right=model%3Amine-rsvm"' in shown


def test_models_are_listed_with_what_is_known_of_them(client, monkeypatch):
    unknown = dict.fromkeys(("ranker", "n_topics", "n_features", "set", "verdict", "helps", "means", "advice"))
    good = {"name": "good", "label": "good (rsvm)", "ranker": "rsvm", "n_topics": 26, "n_features": 7, "set": "mine"}
    good |= {"verdict": "a verdict", "helps": True, "means": MEANS, "advice": None, "fits": True, "why_not": None}
    broken = unknown | {"name": "broken", "label": "broken", "fits": False, "why_not": "it is no model"}
    monkeypatch.setattr(train, "models", lambda desk, index: {"models": [good, broken]})
    told = words(page(client, "/learn"))
    assert "good rsvm, 7 features, 26 topics a verdict Search with it" in told
    assert "broken It cannot be used: it is no model" in told


def test_measures_of_rankers_topic_by_topic(client, store):
    for text, relevant in [("lymphoma cells", ["d3", "d5"]), ("heat wings", ["w03"]), ("mice", ["d1"])]:
        qid = topic(store, text)
        for docno in relevant:
            store.judge("mine", qid, docno, judge="me", grade=1)
    parameters = {"rankers": ["bm25", "dirichlet", "tfidf"], "measures": ["AP", "RR"], "against": "dirichlet"}
    shown = page(client, "/measure", set="mine", **parameters)
    told = words(shown)
    answer = client.get("/api/measure", params={"set": "mine"} | parameters).json()
    for each in answer["rankers"]:
        row = f"{each['label']} {each['means']['AP']:.3f} {each['means']['RR']:.3f} {100 * each['judged']:.0f} %"
        assert row in told
    for each in answer["comparisons"]:
        assert each["sentence"].replace("-.", "−.") in told
    chart = re.search(r'<ol class="parts topics-chart">.*?</ol>', shown, re.DOTALL).group()
    rows = [asked(unescape(address)) for address in re.findall(r'href="([^"]*)"', chart)]
    assert [parameters["q"][0] for _, parameters in rows] == [each["text"] for each in answer["topics"]]
    assert all(path == "/compare" for path, _ in rows)
    assert all((own["left"], own["right"]) == (["bm25"], ["dirichlet"]) for _, own in rows)
    amounts = [each["difference"] for each in answer["topics"]]
    assert amounts == sorted(amounts, reverse=True)
    n_won, n_lost = sum(amount > 0 for amount in amounts), sum(amount < 0 for amount in amounts)
    assert f"{n_won} won , {n_lost} lost , {3 - n_won - n_lost} the same, in AP" in told
    assert "No report of an experiment was found" in told


def measured(n_topics=3, **changes):
    """An answer about a scorer and a model that has seen the topics."""
    own = {"label": "x", "kind": "scorer", "judged": 1.0, "learnt_from_these": False, "cross_validated": None}
    base = own | {"name": "bm25", "means": {"AP": 0.5, "RR": 0.4}}
    seen = own | {"name": "model:m", "means": {"AP": 0.9, "RR": 0.9}, "learnt_from_these": True}
    seen |= {"cross_validated": {"AP": 0.6}} | changes
    topics = [{"qid": str(n), "text": str(n), "values": {}, "difference": 1 - n / 10} for n in range(n_topics)]
    return {
        "measures": ["AP", "RR"],
        "rankers": [base, seen],
        "baseline": "bm25",
        "against": "model:m",
        "topics": topics,
    }


def test_a_model_that_has_seen_the_topics_is_shown_as_cross_validated():
    told = judging_pages.told_of(measured())
    assert [row["shown"] for row in told["rows"]] == [{"AP": 0.5, "RR": 0.4}, {"AP": 0.6, "RR": None}]
    assert [row["best"] for row in told["rows"]] == [["RR"], ["AP"]]
    assert told["unfair"]
    told = judging_pages.told_of(measured(cross_validated=None))
    assert [row["best"] for row in told["rows"]] == [["AP", "RR"], []]
    told = judging_pages.told_of(measured(learnt_from_these=False))
    assert told["rows"][1]["shown"] == {"AP": 0.9, "RR": 0.9}
    assert not told["unfair"]


@pytest.mark.parametrize(("n", "parts"), [(0, (0, 0, 0)), (60, (60, 0, 0)), (61, (25, 11, 25))])
def test_of_many_topics_both_ends_are_drawn(n, parts):
    told = judging_pages.told_of(measured(n))
    assert tuple(len(told[name]) for name in ("above", "between", "below")) == parts
    assert told["above"] + told["between"] + told["below"] == told["differences"]
    assert told["n_won"] == min(n, 10)
    assert told["n_lost"] == max(0, n - 11)


def test_a_single_ranker_has_nothing_to_be_held_against():
    told = judging_pages.told_of(measured() | {"against": None})
    assert told["differences"] == []
