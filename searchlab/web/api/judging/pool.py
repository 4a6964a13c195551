"""Pools of documents to judge, and the documents to judge first.

A judge sees the documents of a pool without knowing which system found them. The documents to judge first are those
whose judgments could change the comparison of two systems most.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from searchlab.evaluation.measures import parse_measure
from searchlab.judgments import priorities
from searchlab.judgments.judgment_store import JudgmentStore
from searchlab.judgments.pooling import pool_documents
from searchlab.rankers.systems import MODEL, System
from searchlab.records import Topic
from searchlab.retrieval.highlight.snippets import texts_as_json
from searchlab.retrieval.results import Hit, Hits
from searchlab.web.api.measuring.collection_topics import has_learnt_from
from searchlab.web.api.measuring.topic_rankings import (
    MAX_TOPICS,
    RANKING_DEPTH,
    choose_systems,
    rank_topic,
    rank_topics,
)
from searchlab.web.api.parameters import Parameter
from searchlab.web.api.search.compare import require_different
from searchlab.web.api.search.search import system_record
from searchlab.web.http_errors import NotFound
from searchlab.web.state.open_index import OpenIndex
from searchlab.web.state.request_state import RequestState

QID = Parameter("qid", "string", "qid of a topic of the set", max_length=200)
POOL_DEPTH = Parameter("depth", "integer", "number of documents of each system", default=20, minimum=1, maximum=100)
LEFT_SYSTEM = Parameter("left", "string", "a system", max_length=200)
RIGHT_SYSTEM = Parameter("right", "string", "the system to compare it with", max_length=200)
MEASURE = Parameter("measure", "string", "the measure to compare by", default="nDCG@10", max_length=60)
N_DOCUMENTS = Parameter("n", "integer", "number of documents", default=10, minimum=1, maximum=100)


def build_pool(
    state: RequestState, *, topic_set: str, qid: str, systems: Sequence[str] = (), depth: int = 20, judge: str = ""
) -> dict[str, Any]:
    """The best documents of several systems, in an order that does not reveal which system found a document."""
    topic = find_topic(state.judgments, topic_set, qid)
    chosen = choose_systems(state.index, systems)
    rankings = {system.name: rank_topic(state, system.name, topic, depth).docnos for system in chosen}
    docnos = pool_documents(rankings, depth, qid=topic.qid)
    judged = {each.docno: each for each in state.judgments.judgments(topic_set, topic.qid, judge)} if judge else {}
    documents = [
        {
            "docno": hit.docno,
            **texts_as_json(title=hit.marked_title, snippet=hit.snippet),
            "fields": dict(hit.fields),
            "grade": judged[hit.docno].grade if hit.docno in judged else None,
            "note": judged[hit.docno].note if hit.docno in judged else "",
        }
        for hit in _as_hits(state.index, topic.text, docnos)
    ]
    return {
        "index": state.index.name,
        "topic_set": topic_set,
        "topic": {"qid": topic.qid, "text": topic.text},
        "depth": depth,
        "systems": [system_record(system) for system in chosen],
        "n_pooled": len(docnos),
        "n_judged": sum(docno in judged for docno in docnos),
        "documents": documents,
        "first_unjudged": next((position for position, docno in enumerate(docnos) if docno not in judged), None),
    }


def list_next_documents(
    state: RequestState,
    *,
    topic_set: str,
    left: str,
    right: str,
    measure: str = "nDCG@10",
    depth: int = 20,
    n: int = 10,
) -> dict[str, Any]:
    """The unjudged documents whose judgments could change the comparison of two systems most."""
    index, store = state.index, state.judgments
    require_different(left, right)
    systems = choose_systems(index, [left, right])
    topics = topics_of_set(state, topic_set)[:MAX_TOPICS]
    cutoff = parse_measure(measure).cutoff  # 0 without a cutoff: the measure looks at whole rankings
    rankings = rank_topics(state, systems, topics, max(cutoff, depth) if cutoff else RANKING_DEPTH)
    grades = store.grades(topic_set)
    judged = [topic for topic in topics if topic.qid in grades]
    upcoming = priorities.prioritise_judgments(
        rankings[left], rankings[right], grades, measure=measure, depth=depth, n=n
    )
    texts = {topic.qid: topic.text for topic in topics}
    return {
        "index": index.name,
        "topic_set": topic_set,
        "measure": upcoming.measure,
        "left": _compared_record(index, systems[0], judged),
        "right": _compared_record(index, systems[1], judged),
        "difference": upcoming.difference,
        "n_topics": upcoming.n_topics,
        "n_waiting": upcoming.n_waiting,
        "documents": [
            {
                "qid": document.qid,
                "text": texts[document.qid],
                "docno": document.docno,
                "title": index.engine.document(document.docno).title,
                "swing": document.swing,
            }
            for document in upcoming.documents
        ],
    }


def find_topic(store: JudgmentStore, topic_set: str, qid: str) -> Topic:
    """A topic by its qid; HTTP error 404 if the set has none."""
    topic = store.topic(topic_set, qid)
    if topic is None:
        raise NotFound(f"the topic set {topic_set[:60]!r} has no topic {qid[:60]!r}", field="qid")
    return topic


def topics_of_set(state: RequestState, topic_set: str) -> list[Topic]:
    """The topics of a set; HTTP error 404 if it has none."""
    topics = [Topic(summary.qid, summary.text) for summary in state.judgments.topics(topic_set)]
    if not topics:
        raise NotFound(f"the index {state.index.name} has no topic set {topic_set[:60]!r}", field="topic_set")
    return topics


def _compared_record(index: OpenIndex, system: System, judged: Sequence[Topic]) -> dict[str, Any]:
    """A system, and whether it has learnt from the topics that it is compared by."""
    bundle = index.models.get(system.name.removeprefix(MODEL)) if system.kind == "model" else None
    learnt = bundle is not None and has_learnt_from(index, bundle, judged)
    return system_record(system) | {"learnt_from_these": learnt}


def _as_hits(index: OpenIndex, text: str, docnos: Sequence[str]) -> list[Hit]:
    """Documents as hits, with the words of a topic marked."""
    locations = [index.engine.snapshot.locate(docno) for docno in docnos]
    shards, docs = np.array(locations, np.int64).reshape(-1, 2).T
    query = index.engine.parse(text, syntax="plain")
    return list(Hits(index.engine.snapshot, query, shards, docs, np.zeros(len(docnos)), 0.0))
