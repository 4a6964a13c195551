"""The page of measures shows means, comparisons, and differences per topic."""

import re
from html import unescape

import pytest

from searchlab.web.pages.measuring import measure_page
from searchlab.web.pages.measuring.measure_page import measures_context
from tests.web.pages.judging_client import page, split_url, topic, words


def test_systems_are_measured_topic_by_topic(client, store):
    for text, relevant in [("lymphoma cells", ["d3", "d5"]), ("heat wings", ["w03"]), ("mice", ["d1"])]:
        qid = topic(store, text)
        for docno in relevant:
            store.judge("mine", qid, docno, judge="me", grade=1)
    parameters = {"systems": ["bm25", "dirichlet", "tfidf"], "measures": ["AP", "RR"], "against": "dirichlet"}
    shown = page(client, "/measure", topic_set="mine", **parameters)
    text = words(shown)
    answer = client.get("/api/measure", params={"topic_set": "mine"} | parameters).json()
    for each in answer["systems"]:
        row = f"{each['label']} {each['means']['AP']:.3f} {each['means']['RR']:.3f} {100 * each['judged']:.0f} %"
        assert row in text
    for each in answer["comparisons"]:
        assert each["sentence"].replace("-.", "−.") in text
    chart = re.search(r'<ol class="parts topics-chart">.*?</ol>', shown, re.DOTALL).group()
    rows = [split_url(unescape(address)) for address in re.findall(r'href="([^"]*)"', chart)]
    assert [parameters["q"][0] for _, parameters in rows] == [each["text"] for each in answer["topics"]]
    assert all(path == "/compare" for path, _ in rows)
    assert all((values["left"], values["right"]) == (["bm25"], ["dirichlet"]) for _, values in rows)
    amounts = [each["difference"] for each in answer["topics"]]
    assert amounts == sorted(amounts, reverse=True)
    n_won, n_lost = sum(amount > 0 for amount in amounts), sum(amount < 0 for amount in amounts)
    assert f"{n_won} won , {n_lost} lost , {3 - n_won - n_lost} the same, in AP" in text
    assert "There are none yet" in text


def measured(n_topics=3, **changes):
    """The answer for a scorer and a model that has learnt from the topics."""
    common = {"label": "x", "kind": "scorer", "judged": 1.0, "learnt_from_these": False}
    common |= {"cross_validated": None, "held_out": False}
    base = common | {"name": "bm25", "means": {"AP": 0.5, "RR": 0.4}}
    learnt = common | {"name": "model:m", "means": {"AP": 0.9, "RR": 0.9}, "learnt_from_these": True}
    learnt |= {"cross_validated": {"AP": 0.6}} | changes
    topics = [{"qid": str(n), "text": str(n), "values": {}, "difference": 1 - n / 10} for n in range(n_topics)]
    return {
        "measures": ["AP", "RR"],
        "systems": [base, learnt],
        "baseline": "bm25",
        "against": "model:m",
        "topics": topics,
    }


def test_a_model_that_has_learnt_from_the_topics_is_shown_as_cross_validated():
    context = measures_context(measured())
    assert [row["shown"] for row in context["rows"]] == [{"AP": 0.5, "RR": 0.4}, {"AP": 0.6, "RR": None}]
    assert [row["best"] for row in context["rows"]] == [["RR"], ["AP"]]
    assert context["biased"]
    context = measures_context(measured(cross_validated=None))
    assert [row["best"] for row in context["rows"]] == [["AP", "RR"], []]
    context = measures_context(measured(learnt_from_these=False))
    assert context["rows"][1]["shown"] == {"AP": 0.9, "RR": 0.9}
    assert not context["biased"]


def compared(baseline):
    """The answer for two scorers, the second one better, and a model that is significantly better than the first."""
    common = {"kind": "scorer", "judged": 1.0, "learnt_from_these": False, "cross_validated": None, "held_out": False}
    systems = [
        common | {"name": "bm25", "label": "BM25", "means": {"AP": 0.5}},
        common | {"name": "bm25+rm3", "label": "BM25 + RM3", "means": {"AP": 0.6}},
        common | {"name": "model:m", "label": "m", "kind": "model", "means": {"AP": 0.61}},
    ]
    others = [each["name"] for each in systems if each["name"] != baseline]
    comparison = {"sentence": "better on 9", "wins": 9, "losses": 1, "ties": 0, "difference": 0.1, "p": 0.01}
    return {
        "topic_set": "mine",
        "measures": ["AP"],
        "systems": systems,
        "baseline": baseline,
        "against": "model:m",
        "comparisons": [comparison | {"name": name} for name in others],
        "topics": [],
        "n_topics": 10,
        **dict.fromkeys(("n_without_relevant", "n_unjudged_topics", "n_left_out"), 0),
    }


@pytest.mark.parametrize(("baseline", "n_green"), [("bm25+rm3", 2), ("bm25", 0)])
def test_only_what_is_better_than_the_best_baseline_is_green(client, store, monkeypatch, baseline, n_green):
    store.judge("mine", topic(store, "lymphoma"), "d1", judge="me", grade=1)
    monkeypatch.setattr(measure_page, "measure_systems", lambda state, **values: compared(baseline))
    shown = page(client, "/measure", topic_set="mine", measures=["AP"])
    assert shown.count('<li class="good">') == n_green
    assert f"Is it better than {'BM25 + RM3' if n_green else 'BM25'} ?" in words(shown)
    assert ("Compare with the best one" in shown) == (n_green == 0)


@pytest.mark.parametrize(("n", "parts"), [(0, (0, 0, 0)), (60, (60, 0, 0)), (61, (25, 11, 25))])
def test_of_many_topics_both_ends_are_drawn(n, parts):
    context = measures_context(measured(n))
    assert tuple(len(context[name]) for name in ("top", "middle", "bottom")) == parts
    assert context["top"] + context["middle"] + context["bottom"] == context["differences"]
    assert context["n_won"] == min(n, 10)
    assert context["n_lost"] == max(0, n - 11)


def test_a_single_system_has_no_differences():
    context = measures_context(measured() | {"against": None})
    assert context["differences"] == []
