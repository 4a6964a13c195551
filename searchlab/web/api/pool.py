"""What is to be judged for a topic, and what first?

A judge sees the documents of a pool without knowing who found them. What to judge first is what could change most in
the comparison of two rankers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from searchlab.evaluation.measures import parse_measure
from searchlab.judgments import priorities
from searchlab.judgments.judgment_store import JudgmentStore
from searchlab.judgments.pooling import pool as make_pool
from searchlab.rankers.systems import MODEL, System
from searchlab.records import Topic
from searchlab.retrieval.results import Hit, Hits
from searchlab.web.api.collection_topics import has_learnt_from
from searchlab.web.api.endpoint import Endpoint
from searchlab.web.api.parameters import INDEX, JUDGE, SET, Parameter
from searchlab.web.api.search import marked, ranker_record
from searchlab.web.api.topic_rankings import DEPTH, MOST_TOPICS, RANKERS, chosen_rankers, rank_all, rank_topic
from searchlab.web.http_errors import Failure, NotFound
from searchlab.web.state.app_state import Desk
from searchlab.web.state.open_indexes import Opened


def pool(
    desk: Desk,
    *,
    index: str | None,
    set: str,
    topic: str,
    rankers: Sequence[str] = (),
    depth: int = 20,
    judge: str = "",
) -> dict[str, Any]:
    """The best documents of several rankers, in an order that does not tell which of them found a document."""
    opened = desk.shelf.get(index)
    store = desk.store(opened.name)
    asked = find_topic(store, set, topic)
    systems = chosen_rankers(opened, rankers)
    found = {system.name: rank_topic(opened, system.name, asked, depth).docnos for system in systems}
    docnos = make_pool(found, depth, qid=asked.qid)
    said = {each.docno: each for each in store.judgments(set, asked.qid, judge)} if judge else {}
    documents = [
        {
            "id": hit.docno,
            "title": marked(hit.marked_title),
            "snippet": marked(hit.snippet),
            "fields": dict(hit.document.fields),
            "grade": said[hit.docno].grade if hit.docno in said else None,
            "note": said[hit.docno].note if hit.docno in said else "",
        }
        for hit in _look_at(opened, asked.text, docnos)
    ]
    return {
        "index": opened.name,
        "set": set,
        "topic": {"qid": asked.qid, "text": asked.text},
        "depth": depth,
        "rankers": [ranker_record(system) for system in systems],
        "n_pool": len(docnos),
        "n_judged": sum(docno in said for docno in docnos),
        "documents": documents,
        "at": next((place for place, docno in enumerate(docnos) if docno not in said), None),
    }


def what_next(
    desk: Desk,
    *,
    index: str | None,
    set: str,
    left: str,
    right: str,
    measure: str = "nDCG@10",
    depth: int = 20,
    n: int = 10,
) -> dict[str, Any]:
    """The documents that nobody has judged whose judgments could change most in the comparison of two rankers."""
    opened = desk.shelf.get(index)
    store = desk.store(opened.name)
    if left == right:
        raise Failure(400, f"left and right are both {left[:60]!r}, expected two different rankers")
    systems = chosen_rankers(opened, [left, right])
    topics = set_topics(store, opened, set)[:MOST_TOPICS]
    cutoff = parse_measure(measure).cutoff  # 0 if it has none: then it looks at all that was found
    deep = max(cutoff, depth) if cutoff else DEPTH
    runs = rank_all(desk, opened, systems, topics, deep)
    grades = store.grades(set)
    judged = [topic for topic in topics if topic.qid in grades]
    found = priorities.what_next(runs[left], runs[right], grades, measure=measure, depth=depth, n=n)
    texts = {topic.qid: topic.text for topic in topics}
    return {
        "index": opened.name,
        "set": set,
        "measure": found.measure,
        "left": _compared(opened, systems[0], judged),
        "right": _compared(opened, systems[1], judged),
        "difference": found.difference,
        "n_topics": found.n_topics,
        "n_waiting": found.n_waiting,
        "documents": [
            {
                "qid": each.qid,
                "text": texts[each.qid],
                "id": each.docno,
                "title": opened.engine.document(each.docno).title,
                "swing": each.swing,
            }
            for each in found.documents
        ],
    }


def find_topic(store: JudgmentStore, set: str, qid: str) -> Topic:
    """A topic by its name."""
    topic = store.topic(set, qid)
    if topic is None:
        raise NotFound(f"the set {set[:60]!r} has no topic {qid[:60]!r}")
    return topic


def set_topics(store: JudgmentStore, opened: Opened, set: str) -> list[Topic]:
    """The topics of a set, which has to have some."""
    found = [Topic(each.qid, each.text) for each in store.topics(set)]
    if not found:
        raise NotFound(f"the index {opened.name} has no set of topics {set[:60]!r}")
    return found


def _compared(opened: Opened, system: System, judged: Sequence[Topic]) -> dict[str, Any]:
    """A ranker, and whether it has learnt from the topics that it is compared by, which flatters it."""
    bundle = opened.models.get(system.name.removeprefix(MODEL)) if system.kind == "model" else None
    learnt = bundle is not None and has_learnt_from(opened, bundle, judged)
    return ranker_record(system) | {"learnt_from_these": learnt}


def _look_at(opened: Opened, text: str, docnos: Sequence[str]) -> list[Hit]:
    """Documents with the words of a topic marked."""
    places = [opened.engine.snapshot.locate(docno) for docno in docnos]
    shards, docs = np.array(places, np.int64).reshape(-1, 2).T
    query = opened.engine.parse(text, syntax="plain")
    return list(Hits(opened.engine.snapshot, query, shards, docs, np.zeros(len(docnos)), 0.0))


TOPIC = Parameter("topic", "text", "a topic of the set, by its number", long=200)
DEEP = Parameter("depth", "whole", "so many of the best documents of each ranker", default=20, least=1, most=100)
LEFT = Parameter("left", "text", "a ranker", long=200)
RIGHT = Parameter("right", "text", "the ranker to compare it with", long=200)
MEASURE = Parameter("measure", "text", "what they are compared by", default="nDCG@10", long=60)
MANY = Parameter("n", "whole", "how many documents", default=10, least=1, most=100)

ENDPOINTS = (
    Endpoint(
        "GET",
        "/api/pool",
        pool,
        "The documents to judge for a topic, in an order that does not tell who found them",
        (INDEX, SET, TOPIC, RANKERS, DEEP, JUDGE),
        heavy=True,
    ),
    Endpoint(
        "GET",
        "/api/next",
        what_next,
        "The documents whose judgments could change most in the comparison of two rankers",
        (INDEX, SET, LEFT, RIGHT, MEASURE, DEEP, MANY),
        slow=True,
    ),
)
