"""Which pages are there to work with judgments? Judge, a pool, learn, measure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from searchlab.features.sets import SETS
from searchlab.rankers import ranker_registry
from searchlab.retrieval.highlight.full_text import mark_all
from searchlab.web.api import judge, measure, pool, train
from searchlab.web.api.parameters import INDEX, SET, Parameter
from searchlab.web.api.search import find_document, marked
from searchlab.web.api.topic_rankings import RANKERS
from searchlab.web.pages.forms import FORMS as FORMS
from searchlab.web.pages.search_pages import Page, Visitor
from searchlab.web.state.app_state import Desk
from searchlab.web.state.open_indexes import Opened

# What pools and tables are made of unless rankers are chosen; so many models, the latest, are added.
USUAL, MODELS = ("bm25", "bm25+rm3", "bm25f"), 3
# So much of a document is shown to be judged, in characters; most are shown whole.
LONGEST = 12_000
# So many topics are listed unless all are asked for.
LISTED = 250
# So many topics are drawn at each end, where two rankers differ most.
DRAWN = 25
MEASURES = ("nDCG@10", "AP", "P@10", "RR", "R@100", "nDCG@100")
# What a κ of at most so much is called (Landis & Koch, Biometrics 33, 1977).
KAPPAS = (
    (0.0, "no better than chance"),
    (0.2, "slight agreement"),
    (0.4, "fair agreement"),
    (0.6, "moderate agreement"),
    (0.8, "substantial agreement"),
    (1.0, "almost perfect agreement"),
)


def _judge(desk: Desk, visitor: Visitor, asked: dict[str, Any]) -> dict[str, Any]:
    opened = desk.shelf.get(asked["index"])
    told = judge.sets(desk, index=opened.name)
    chosen = _chosen(told["sets"], asked["set"])
    context = {
        "sets": told["sets"],
        "own": None if _has_own(told) else told["own"],
        "chosen": chosen,
        "asked_rankers": asked["rankers"],
        "pooled": asked["rankers"] or usual_rankers(opened),
        "depth": asked["depth"],
        "left": asked["left"] or USUAL[0],
        "right": asked["right"] or next((name for name in _models(opened)), USUAL[1]),
        "topics": [],
        "by_you": False,
        "following": None,
        "n_hidden": 0,
        "agreement": [],
        "upcoming": None,
    }
    if chosen is None:
        return context
    name = chosen["name"]
    topics = _topics(desk, opened, visitor, name)
    listed = topics if asked["all"] else topics[:LISTED]
    pairs = judge.agreement(desk, index=opened.name, set=name)["pairs"]
    context |= {
        "topics": listed,
        "by_you": any(judge != visitor.judge for judge in chosen["judges"]),
        "following": next((topic for topic in topics if not topic["n_own"]), None),
        "n_hidden": len(topics) - len(listed),
        "agreement": [pair | {"words": words_for_kappa(pair["kappa"])} for pair in pairs],
    }
    return context


def _next(desk: Desk, visitor: Visitor, asked: dict[str, Any]) -> dict[str, Any]:
    """The page of a set, with what to judge next."""
    context = _judge(desk, visitor, asked)
    left, right = context["left"], context["right"]
    if context["chosen"] is None or left == right:
        return context
    own = {"index": asked["index"], "set": context["chosen"]["name"], "depth": asked["depth"]}
    return context | {"upcoming": pool.what_next(desk, **own, left=left, right=right)}


def _pool(desk: Desk, visitor: Visitor, asked: dict[str, Any]) -> dict[str, Any]:
    """One document of a pool: the one that is asked for, or the first that this judge has not judged."""
    opened = desk.shelf.get(asked["index"])
    chosen = asked["rankers"] or usual_rankers(opened)
    pooled = {name: asked[name] for name in ("set", "topic", "depth")} | {"index": opened.name, "rankers": chosen}
    answer = pool.pool(desk, **pooled, judge=visitor.judge)
    documents = answer["documents"]
    ids = [each["id"] for each in documents]
    first = answer["at"]
    place = ids.index(asked["at"]) if asked["at"] in ids else first or 0
    context = {
        "answer": answer,
        "chosen": chosen,
        "place": place,
        "did": asked["did"],
        "strayed": asked["at"] if asked["at"] not in ids else "",
        "following": None,
    }
    if not documents:
        return context
    if first is None:
        topics = _topics(desk, opened, visitor, asked["set"])
        here = [topic["qid"] for topic in topics].index(answer["topic"]["qid"])
        context["following"] = next((each for each in topics[here + 1 :] + topics[:here] if not each["n_own"]), None)
    others = [each["id"] for each in documents[place + 1 :] + documents[:place] if each["grade"] is None]
    return context | {
        "current": documents[place],
        "document": _in_full(opened, ids[place], answer["topic"]["text"]),
        "previous": ids[place - 1] if place else None,
        "next": ids[place + 1] if place + 1 < len(ids) else None,
        "unjudged": None if first in (None, place) else ids[first],
        "upcoming": next(iter(others), None),
    }


def _topics(desk: Desk, opened: Opened, visitor: Visitor, name: str) -> list[dict[str, Any]]:
    """The topics of a set, and how many documents of each the visitor has judged."""
    own = Counter(each.qid for each in desk.store(opened.name).judgments(name, judge=visitor.judge))
    topics = judge.topics(desk, index=opened.name, set=name)["topics"]
    return [topic | {"n_own": own[topic["qid"]]} for topic in topics]


def _learn(desk: Desk, visitor: Visitor, asked: dict[str, Any]) -> dict[str, Any]:
    opened = desk.shelf.get(asked["index"])
    told = judge.sets(desk, index=opened.name)
    sets = told["sets"]
    jobs = [job for job in train.jobs(desk)["jobs"] if job["index"] == opened.name]
    waiting = [job for job in reversed(jobs) if job["state"] == "waiting"]
    under_way = [job for job in jobs if job["state"] == "running"] or waiting[:1]
    shown = (under_way or jobs or [None])[0]
    chosen = _chosen(sorted(sets, key=lambda own: -own["n_judgments"]), asked["set"] or (shown or {}).get("set", ""))
    ready = train.readiness(desk, index=opened.name, set=chosen["name"]) if chosen else {"advice": None}
    return {
        "sets": sets,
        "own": None if _has_own(told) else told["own"],
        "chosen": chosen["name"] if chosen else None,
        "n_judgments": sum(own["n_judgments"] for own in sets),
        "before": ready["advice"],
        "learners": [(name, ranker_registry.RANKERS[name].what) for name in train.LEARNERS],
        "features": [(name, len(names)) for name, names in SETS.items()],
        "job": shown,
        "waiting": [job for job in waiting if job is not shown],
        "models": train.models(desk, index=opened.name)["models"],
    }


def _measure(desk: Desk, visitor: Visitor, asked: dict[str, Any]) -> dict[str, Any]:
    opened = desk.shelf.get(asked["index"])
    told = judge.sets(desk, index=opened.name)
    sets = told["sets"]
    chosen = _chosen(sorted(sets, key=lambda own: -own["n_judgments"]), asked["set"])
    compared = asked["rankers"] or usual_rankers(opened)
    measures = asked["measures"] or list(MEASURES[:3])
    n_judgments = sum(own["n_judgments"] for own in sets)
    context = {
        "sets": sets,
        "own": None if _has_own(told) else told["own"],
        "chosen": chosen["name"] if chosen else None,
        "n_judgments": n_judgments,
        "compared": compared,
        "measures": measures,
        "offered": [*MEASURES, *(name for name in measures if name not in MEASURES)],
        "reports": measure.reports(desk),
        "answer": None,
        "differences": [],
    }
    if chosen is None or not chosen["n_judgments"]:
        return context
    against = asked["against"] if asked["against"] in compared else ""
    answer = measure.measure(
        desk, index=opened.name, set=chosen["name"], rankers=compared, measures=measures, judge="", against=against
    )
    return context | {"answer": answer} | told_of(answer)


def told_of(answer: dict[str, Any]) -> dict[str, Any]:
    """What is shown of measures: honest means with the best of them, and where one ranker differs from the first."""
    rows = []
    for each in answer["rankers"]:
        honest = each["cross_validated"] or {} if each["learnt_from_these"] else each["means"]
        rows.append(each | {"shown": {measure: honest.get(measure) for measure in answer["measures"]}})
    for row in rows:
        row["best"] = [name for name in answer["measures"] if row["shown"][name] == _best(rows, name) is not None]
    topics, against = answer["topics"] if answer["against"] else [], answer["against"]
    amounts = [topic["difference"] for topic in topics]
    few = len(topics) <= 2 * DRAWN + 10
    return {
        "rows": rows,
        "labels": {each["name"]: each["label"] for each in rows},
        "others": [each["name"] for each in rows if each["name"] not in (against, answer["baseline"])],
        "unfair": any(each["learnt_from_these"] for each in rows if each["name"] == against),
        "differences": topics,
        "above": topics if few else topics[:DRAWN],
        "between": [] if few else topics[DRAWN:-DRAWN],
        "below": [] if few else topics[-DRAWN:],
        "least": min(amounts, default=0),
        "most": max(amounts, default=0),
        "n_won": sum(amount > 0 for amount in amounts),
        "n_lost": sum(amount < 0 for amount in amounts),
    }


def _best(rows: Sequence[dict[str, Any]], measure: str) -> float | None:
    return max((row["shown"][measure] for row in rows if row["shown"][measure] is not None), default=None)


def words_for_kappa(kappa: float | None) -> str:
    """How good an agreement is, in words."""
    return "" if kappa is None else next(words for most, words in KAPPAS if kappa <= most or most == 1.0)


def _in_full(opened: Opened, docno: str, text: str) -> dict[str, Any]:
    """A document to be judged, with the words of a topic marked; `cut` is how long it is if only a part is shown."""
    own = find_document(opened, docno)
    terms = opened.engine.parse(text, syntax="plain").to_mark
    analyzer = opened.engine.snapshot.analyzer
    too_long = len(own.body) > LONGEST
    body = f"{own.body[:LONGEST]}…" if too_long else own.body
    return {
        "id": docno,
        "title": marked(mark_all(own.title, terms, analyzer)),
        "body": marked(mark_all(body, terms, analyzer)),
        "fields": dict(own.fields),
        "cut": len(own.body) if too_long else 0,
    }


def usual_rankers(opened: Opened) -> list[str]:
    """The rankers to begin with: some scorers, the latest models."""
    return [*USUAL, *_models(opened)[:MODELS]]


def _models(opened: Opened) -> list[str]:
    return [name for name, _, kind in opened.systems() if kind == "model"]


def _chosen(sets: Sequence[dict[str, Any]], name: str) -> dict[str, Any] | None:
    """The set of this name; without one, the first."""
    return next((own for own in sets if own["name"] == name), sets[0] if sets else None)


def _has_own(told: dict[str, Any]) -> bool:
    """Whether what came with the documents has been imported, as far as can be seen."""
    own = told["own"]
    return own is not None and any(
        each["name"] == told["index"] and each["n_topics"] >= own["n_topics"] for each in told["sets"]
    )


AT = Parameter("at", "text", "a document of the pool", default="")
DID = Parameter("did", "text", "what was just done", default="", choices=("", "undone", "nothing"))
LEFT = Parameter("left", "text", "one of two rankers", default="", long=200)
RIGHT = Parameter("right", "text", "the other", default="", long=200)
ALL = Parameter("all", "flag", "list all topics", default=False)
MEASURED = Parameter("measures", "texts", "what to measure", default=(), long=60)

PAGES = (
    Page("/judge", "judge.html", "judge", _judge, (INDEX, judge.ANY_SET, RANKERS, pool.DEEP, LEFT, RIGHT, ALL)),
    Page(
        "/next",
        "judge.html",
        "judge",
        _next,
        (INDEX, judge.ANY_SET, RANKERS, pool.DEEP, LEFT, RIGHT, ALL),
        slow=True,
    ),
    Page(
        "/pool",
        "pool.html",
        "judge",
        _pool,
        (INDEX, SET, pool.TOPIC, RANKERS, pool.DEEP, AT, DID),
        heavy=True,
    ),
    Page("/learn", "train.html", "learn", _learn, (INDEX, judge.ANY_SET)),
    Page(
        "/measure",
        "measure.html",
        "measure",
        _measure,
        (INDEX, judge.ANY_SET, RANKERS, MEASURED, measure.AGAINST),
        slow=True,
    ),
)
