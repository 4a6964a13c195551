"""Judgments: topic sets, grades, agreement of judges, import and export.

Judgments are stored beside the index (`judgments/`). Topics come from collections, from files, and from searches: a
query whose results are judged becomes a topic.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from searchlab.errors import InputError, SettingError
from searchlab.judgments.agreement import compare_judges
from searchlab.judgments.exchange.trec_exchange import format_qrels, format_topics, import_texts
from searchlab.judgments.judgment_store import GradedDocument, Judgment, TakenBack
from searchlab.web.api.judging.pool import find_topic, topics_of_set
from searchlab.web.api.measuring.collection_topics import own_topics
from searchlab.web.api.parameters import Parameter
from searchlab.web.api.search.search import check_query, require_document
from searchlab.web.http_errors import HttpError, NotFound
from searchlab.web.limits import Limits
from searchlab.web.state.request_state import RequestState

# The topic set of queries judged on the search page.
SEARCHES = "searches"
# The judge of judgments imported from a collection.
COLLECTION = "collection"
# Of more judges, those with the most judgments are compared.
MAX_COMPARED_JUDGES = 20

MAX_FILE_LENGTH = Limits().max_import_bytes
TOPIC_TEXT = Parameter("text", "string", "text of the topic, in plain words")
NEW_QID = Parameter("qid", "string", "qid; by default the next free number", default="", max_length=200)
GRADE = Parameter(
    "grade",
    "integer",
    "0 not, 1 possibly, 2 definitely relevant; null removes the grade",
    minimum=0,
    maximum=2,
    nullable=True,
)
NOTE = Parameter("note", "string", "a note; by default the previous one is kept", default=None, max_length=4000)
ANY_TOPIC_SET = Parameter("topic_set", "string", "name of the topic set", default="", max_length=100)
ANY_QID = Parameter("qid", "string", "qid of a topic of the set; by default all topics", default="", max_length=200)
JUDGED_QUERY = Parameter("query", "string", "instead of topic_set and qid: the query that was searched", default="")
TOPICS = Parameter(
    "topics", "string", "a file of topics, such as lines of qid, tab, text", default="", max_length=MAX_FILE_LENGTH
)
QRELS = Parameter("qrels", "string", "a file of TREC qrels", default="", max_length=MAX_FILE_LENGTH)
FROM_COLLECTION = Parameter(
    "collection", "boolean", "instead of files: the topics and judgments of the indexed collection", default=False
)


def list_topic_sets(state: RequestState) -> dict[str, Any]:
    """The topic sets with their progress, and the size of the collection's own topics and judgments."""
    collection = own_topics(state.index)
    return {
        "index": state.index.name,
        "topic_sets": [
            {
                "name": summary.name,
                "n_topics": summary.n_topics,
                "n_judged_topics": summary.n_judged_topics,
                "n_judgments": summary.n_judgments,
                "n_relevant": summary.n_relevant,
                "judges": list(summary.judges),
            }
            for summary in state.judgments.topic_sets()
        ],
        "collection": None
        if collection is None
        else {"n_topics": len(collection.topics), "n_judgments": collection.n_judgments},
    }


def list_set_topics(state: RequestState, *, topic_set: str) -> dict[str, Any]:
    """The topics of a set, with the numbers of their judgments."""
    topics_of_set(state, topic_set)
    return {
        "index": state.index.name,
        "topic_set": topic_set,
        "topics": [
            {"qid": topic.qid, "text": topic.text, "n_judged": topic.n_judged, "n_relevant": topic.n_relevant}
            for topic in state.judgments.topics(topic_set)
        ],
    }


def create_topic(state: RequestState, *, topic_set: str, text: str, qid: str = "") -> dict[str, Any]:
    """Add a topic to a set; the first topic creates the set."""
    topic = state.judgments.add_topic(topic_set, check_query(text, state.limits, "text"), qid or None)
    return {"index": state.index.name, "topic_set": topic_set, "qid": topic.qid, "text": topic.text}


def judge_document(
    state: RequestState,
    *,
    docno: str,
    grade: int | None,
    judge: str,
    note: str | None = None,
    topic_set: str = "",
    qid: str = "",
    query: str = "",
) -> dict[str, Any]:
    """Grade a document for a topic, or for a query, which becomes a topic by that."""
    require_document(state.index, docno)
    documents = [GradedDocument(docno, grade, note)]
    return grade_documents(state, documents, judge=judge, topic_set=topic_set, qid=qid, query=query)[0]


def grade_documents(
    state: RequestState,
    documents: Sequence[GradedDocument],
    *,
    judge: str,
    topic_set: str,
    qid: str,
    query: str,
) -> list[dict[str, Any]]:
    """Grade documents of the index for a topic, or for a query, in one transaction: all of them or none."""
    store = state.judgments
    _require_judge(judge)
    if bool(topic_set) != bool(qid) or bool(qid) == bool(query):
        raise HttpError(400, "expected either topic_set and qid, or query: what the document is judged for")
    known = (topic_set, qid) if qid else store.find_topic(check_query(query, state.limits, "query"))
    if known is not None:
        _ = find_topic(store, *known)
        judgments = store.judge_all(*known, documents, judge=judge)
    elif all(document.grade is None for document in documents):
        raise NotFound("nothing has been judged for this query", field="query")
    else:
        judgments = store.judge_query(SEARCHES, query, documents, judge=judge)
    topic = (judgments[0].topic_set, judgments[0].qid)
    n_judged = len(store.judgments(*topic, judge))
    return [
        {
            "topic_set": judgment.topic_set,
            "qid": judgment.qid,
            "docno": judgment.docno,
            "grade": judgment.grade,
            "note": judgment.note,
            "n_judged": n_judged,
        }
        for judgment in judgments
    ]


def list_judgments(state: RequestState, *, topic_set: str, qid: str = "", judge: str = "") -> dict[str, Any]:
    """The judgments of a set, a topic or a judge."""
    judgments = state.judgments.judgments(topic_set, qid or None, judge or None)
    return {"judgments": [_judgment_record(judgment) for judgment in judgments]}


def undo_judgment(
    state: RequestState, *, judge: str, topic_set: str = "", qid: str = "", query: str = ""
) -> dict[str, Any]:
    """Undo the last judgment of a judge, or those made together: for a topic, a query, a topic set, or of all."""
    return {"undone": _take_back(state, judge, topic_set, qid, query, state.judgments.undo)}


def redo_judgment(
    state: RequestState, *, judge: str, topic_set: str = "", qid: str = "", query: str = ""
) -> dict[str, Any]:
    """Do again what a judge undid last, unless something else was judged since."""
    return {"redone": _take_back(state, judge, topic_set, qid, query, state.judgments.redo)}


def _take_back(
    state: RequestState, judge: str, topic_set: str, qid: str, query: str, change: Callable[..., TakenBack | None]
) -> dict[str, Any] | None:
    """What was undone or redone: the last judgment with the texts of its topic and document, and all grades now."""
    _require_judge(judge)
    if qid and not topic_set:
        raise HttpError(400, "expected topic_set with qid: the topic whose last judgment is meant")
    scope: tuple[str, ...] | None = (topic_set, qid) if qid else (topic_set,) if topic_set else ()
    if query and not topic_set:
        scope = state.judgments.find_topic(query)
    changed = None if scope is None else change(judge, *scope)
    if changed is None:
        return None
    last = changed.last
    topic = state.judgments.topic(last.topic_set, last.qid)
    present = {each.docno: each.grade for each in state.judgments.judgments(last.topic_set, last.qid, judge)}
    try:
        title = state.index.engine.document(last.docno).title
    except SettingError:  # not in the index any more
        title = ""
    text = topic.text if topic else ""
    return {
        "topic_set": last.topic_set,
        "topic": text,
        "title": title,
        "what": changed.what or f"your judgment of “{title or last.docno}” for “{text}” of {last.topic_set}",
        "n_judgments": len(changed.judgments),
        "present_grade": present.get(last.docno),
        "present_grades": {each.docno: present.get(each.docno) for each in changed.judgments if each.qid == last.qid},
        **_judgment_record(last),
    }


def agreement(state: RequestState, *, topic_set: str) -> dict[str, Any]:
    """The agreement of each pair of judges on the documents that both have judged."""
    pairs = compare_judges(state.judgments, topic_set, max_judges=MAX_COMPARED_JUDGES)
    return {
        "pairs": [
            {
                "judges": list(pair.judges),
                "n": pair.n,
                "agreement": pair.agreement,
                "kappa": pair.kappa,
                "weighted_kappa": pair.weighted_kappa,
                "table": [list(row) for row in pair.table],
                "grades": list(pair.grades),
            }
            for pair in pairs
        ]
    }


def export_qrels(state: RequestState, *, topic_set: str, judge: str = "") -> str:
    """The judgments of a set as TREC qrels."""
    return format_qrels(state.judgments, topic_set, judge or None)


def export_topics(state: RequestState, *, topic_set: str) -> str:
    """The topics of a set, one a line."""
    return format_topics(state.judgments, topic_set)


def import_judgments(
    state: RequestState,
    *,
    topic_set: str,
    topics: str = "",
    qrels: str = "",
    judge: str = "",
    collection: bool = False,
) -> dict[str, Any]:
    """Import topics and judgments from texts or from the indexed collection: all of them or, after an error, none."""
    store = state.judgments
    if collection and (topics or qrels):
        raise HttpError(400, "collection imports from the indexed collection, expected no topics and qrels with it")
    if collection:
        indexed = own_topics(state.index)
        if indexed is None:
            raise NotFound(f"the collection of the index {state.index.name} has no topics")
        imported = store.import_judgments(topic_set, indexed.topics, indexed.grades, judge=COLLECTION)
    elif topics.strip() or qrels.strip():
        _require_judge(judge)
        try:
            imported = import_texts(store, topic_set, topics=topics or None, qrels=qrels or None, judge=judge)
        except InputError as error:
            raise HttpError(400, str(error)) from None
    else:
        raise HttpError(400, "nothing to import, expected topics, qrels, or collection")
    return {
        "index": state.index.name,
        "topic_set": topic_set,
        "n_topics": imported.n_topics,
        "n_judgments": imported.n_judgments,
        "change": imported.change,
    }


def _require_judge(judge: str) -> None:
    if not judge.strip():
        raise HttpError(400, "judge is empty, expected the name of the judge")


def _judgment_record(judgment: Judgment) -> dict[str, Any]:
    return {
        "qid": judgment.qid,
        "docno": judgment.docno,
        "judge": judgment.judge,
        "grade": judgment.grade,
        "note": judgment.note,
        "when": judgment.when,
    }
