"""What has been judged, by whom, and how far do they agree?

Judgments are kept beside the index (`judgments/`); here they meet its documents, and whoever came with topics of their
own: collections, files, and those who search, whose queries become topics.
"""

from __future__ import annotations

from typing import Any

from searchlab.errors import InputError
from searchlab.judgments.agreement import agreements
from searchlab.judgments.judgment_store import Judgment, JudgmentStore
from searchlab.judgments.trec_exchange import import_texts, qrels_text, topics_text
from searchlab.records import Topic
from searchlab.web.api import pool
from searchlab.web.api.collection_topics import own_topics
from searchlab.web.api.endpoint import Endpoint
from searchlab.web.api.parameters import DOCUMENT, INDEX, JUDGE, SET, Parameter
from searchlab.web.api.pool import find_topic, set_topics
from searchlab.web.api.search import require_document, short
from searchlab.web.http_errors import Failure, NotFound
from searchlab.web.limits import Limits
from searchlab.web.state.app_state import Desk

# Where topics go that come from the search page.
SEARCHES = "searches"
# By whom the judgments of a collection are.
COLLECTION = "collection"
# So many judges are held against each other.
MOST_JUDGES = 20


def sets(desk: Desk, *, index: str | None) -> dict[str, Any]:
    """The sets of topics, how far they are judged, and whether the collection has topics of its own."""
    opened = desk.shelf.get(index)
    own = own_topics(opened)
    return {
        "index": opened.name,
        "sets": [
            {
                "name": each.name,
                "n_topics": each.n_topics,
                "n_judged_topics": each.n_judged_topics,
                "n_judgments": each.n_judgments,
                "n_relevant": each.n_relevant,
                "judges": list(each.judges),
            }
            for each in desk.store(opened.name).sets()
        ],
        "own": None if own is None else {"n_topics": len(own.topics), "n_judgments": own.n_judgments},
    }


def topics(desk: Desk, *, index: str | None, set: str) -> dict[str, Any]:
    """The topics of a set."""
    opened = desk.shelf.get(index)
    store = desk.store(opened.name)
    _ = set_topics(store, opened, set)
    return {
        "index": opened.name,
        "set": set,
        "topics": [
            {"qid": each.qid, "text": each.text, "n_judged": each.n_judged, "n_relevant": each.n_relevant}
            for each in store.topics(set)
        ],
    }


def add_topic(desk: Desk, *, index: str | None, set: str, text: str, qid: str = "") -> dict[str, Any]:
    """Add a topic to a set; a set comes to be with its first topic."""
    opened = desk.shelf.get(index)
    topic = desk.store(opened.name).add_topic(set, short(desk, text), qid or None)
    return {"index": opened.name, "set": set, "qid": topic.qid, "text": topic.text}


def judge(
    desk: Desk,
    *,
    index: str | None,
    id: str,
    grade: int | None,
    judge: str,
    note: str | None = None,
    set: str = "",
    topic: str = "",
    query: str = "",
) -> dict[str, Any]:
    """Say how relevant a document is to a topic, or to a query, which becomes a topic by that."""
    opened = desk.shelf.get(index)
    store = desk.store(opened.name)
    who = _named(judge)
    require_document(opened, id)
    if bool(set and topic) == bool(query):
        raise Failure(400, "expected either set and topic, or query: what the document was judged for")
    own, of = (find_topic(store, set, topic), set) if topic else _topic_of(desk, store, query, grade)
    said = store.judge(of, own.qid, id, judge=who, grade=grade, note=note)
    n_judged = len(store.judgments(of, own.qid, who))
    return {"set": of, "qid": own.qid, "id": id, "grade": said.grade, "note": said.note, "n_judged": n_judged}


def judgments(desk: Desk, *, index: str | None, set: str, topic: str = "", judge: str = "") -> dict[str, Any]:
    """What was said, by whom and when."""
    found = desk.store(desk.shelf.get(index).name).judgments(set, topic or None, judge or None)
    return {"judgments": [_record(each) for each in found]}


def undo(desk: Desk, *, index: str | None, judge: str) -> dict[str, Any]:
    """Take back the last thing that a judge did."""
    undone = desk.store(desk.shelf.get(index).name).undo(_named(judge))
    return {"undone": None if undone is None else {"set": undone.set} | _record(undone)}


def agreement(desk: Desk, *, index: str | None, set: str) -> dict[str, Any]:
    """How far each two judges agree on what both have judged; of very many, those who have judged the most."""
    found = agreements(desk.store(desk.shelf.get(index).name), set, most=MOST_JUDGES)
    return {
        "pairs": [
            {
                "judges": list(each.judges),
                "n": each.n,
                "agreement": each.agreement,
                "kappa": each.kappa,
                "weighted_kappa": each.weighted_kappa,
                "table": [list(row) for row in each.table],
                "grades": list(each.grades),
            }
            for each in found
        ]
    }


def export_qrels(desk: Desk, *, index: str | None, set: str, judge: str = "") -> str:
    """The judgments as a file of TREC."""
    return qrels_text(desk.store(desk.shelf.get(index).name), set, judge or None)


def export_topics(desk: Desk, *, index: str | None, set: str) -> str:
    """The topics, one a line."""
    return topics_text(desk.store(desk.shelf.get(index).name), set)


def import_(
    desk: Desk,
    *,
    index: str | None,
    set: str,
    topics: str = "",
    qrels: str = "",
    judge: str = "",
    own: bool = False,
) -> dict[str, Any]:
    """Add topics and judgments from texts, or those of the indexed collection; all, or, if anything is wrong, none."""
    opened = desk.shelf.get(index)
    store = desk.store(opened.name)
    if own and (topics or qrels):
        raise Failure(400, "own is for what came with the documents, expected no topics and qrels with it")
    if own:
        came = own_topics(opened)
        if came is None:
            raise NotFound(f"the sources of the index {opened.name} have no topics")
        added = store.import_all(set, came.topics, came.grades, judge=COLLECTION)
    elif topics.strip() or qrels.strip():
        try:
            added = import_texts(store, set, topics=topics or None, qrels=qrels or None, judge=_named(judge))
        except InputError as error:
            raise Failure(400, str(error)) from None
    else:
        raise Failure(400, "nothing to import: expected topics, qrels, or own")
    return {"index": opened.name, "set": set, "n_topics": added.n_topics, "n_judgments": added.n_judgments}


def _topic_of(desk: Desk, store: JudgmentStore, query: str, grade: int | None) -> tuple[Topic, str]:
    """The topic with the text of a query, and its set; made if there is something to say."""
    place = store.find_topic(short(desk, query))
    if place is not None:
        return find_topic(store, *place), place[0]
    if grade is None:
        raise NotFound("nothing was judged for this query yet")
    return store.add_topic(SEARCHES, query), SEARCHES


def _named(judge: str) -> str:
    if not judge.strip():
        raise Failure(400, "judge is empty, expected the name of who judges")
    return judge


def _record(said: Judgment) -> dict[str, Any]:
    return {
        "qid": said.qid,
        "id": said.docno,
        "judge": said.judge,
        "grade": said.grade,
        "note": said.note,
        "when": said.when,
    }


NEW_TEXT = Parameter("text", "text", "what is searched for, in plain words")
QID = Parameter("qid", "text", "its number or name; by default the next free number", default="", long=200)
GRADE = Parameter(
    "grade", "whole", "0 not, 1 possibly, 2 definitely relevant; null takes it back", least=0, most=2, open=True
)
NOTE = Parameter("note", "text", "a remark; without one, that of before is kept", default=None, long=4000)
ANY_SET = Parameter("set", "text", "the set of the topic", default="", long=100)
ANY_TOPIC = Parameter("topic", "text", "a topic of the set; by default all of them", default="", long=200)
SEARCHED = Parameter("query", "text", "instead of set and topic: what was searched for", default="")
FILE = Limits().import_body
TOPICS = Parameter("topics", "text", "a file of topics, such as lines of number, tab, text", default="", long=FILE)
QRELS = Parameter("qrels", "text", "a file of judgments, as TREC has them", default="", long=FILE)
OWN = Parameter("own", "flag", "instead of files: what came with the documents", default=False)

ENDPOINTS = (
    Endpoint("GET", "/api/sets", sets, "The sets of topics, and how far they are judged", (INDEX,)),
    Endpoint("GET", "/api/topics", topics, "The topics of a set", (INDEX, SET)),
    Endpoint("POST", "/api/topics", add_topic, "Add a topic to a set", (INDEX, SET, NEW_TEXT, QID)),
    Endpoint("GET", "/api/judgments", judgments, "Who said what of documents", (INDEX, SET, ANY_TOPIC, JUDGE)),
    Endpoint(
        "POST",
        "/api/judgments",
        judge,
        "Say how relevant a document is",
        (INDEX, DOCUMENT, GRADE, JUDGE, NOTE, ANY_SET, ANY_TOPIC, SEARCHED),
    ),
    Endpoint("POST", "/api/judgments/undo", undo, "Take back the last thing that a judge did", (INDEX, JUDGE)),
    Endpoint("GET", "/api/agreement", agreement, "How far each two judges agree", (INDEX, SET)),
    Endpoint("GET", "/api/export/qrels", export_qrels, "Judgments as TREC has them", (INDEX, SET, JUDGE), text=True),
    Endpoint("GET", "/api/export/topics", export_topics, "Topics: number, tab, text", (INDEX, SET), text=True),
    Endpoint(
        "POST",
        "/api/import",
        import_,
        "Add topics and judgments: all of them, or, if anything is wrong, none",
        (INDEX, SET, TOPICS, QRELS, JUDGE, OWN),
        slow=True,
    ),
    *pool.ENDPOINTS,
)
