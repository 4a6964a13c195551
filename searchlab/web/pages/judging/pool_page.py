"""The page of a pool: one document at a time, to be judged."""

from __future__ import annotations

from typing import Any

from searchlab.retrieval.highlight.full_text import mark_all
from searchlab.retrieval.highlight.snippets import texts_as_json
from searchlab.web.api.judging.pool import build_pool
from searchlab.web.api.parameters import Parameter
from searchlab.web.api.search.search import find_stored
from searchlab.web.pages.judging.judge_page import default_systems, topics_with_progress
from searchlab.web.pages.page import BrowserSession
from searchlab.web.state.open_index import OpenIndex
from searchlab.web.state.request_state import RequestState

# Of longer documents, in characters, the beginning is shown; most are shorter.
MAX_SHOWN_LENGTH = 12_000

POOLED_DOCNO = Parameter("docno", "string", "docno of the document of the pool to show", default="")


def pool_page(state: RequestState, session: BrowserSession, values: dict[str, Any]) -> dict[str, Any]:
    """The requested document of a pool, or the first that this judge has not judged."""
    systems = values["systems"] or default_systems(state.index)
    settings = {name: values[name] for name in ("topic_set", "qid", "depth")}
    answer = build_pool(state, **settings, systems=systems, judge=session.judge)
    documents = answer["documents"]
    docnos = [document["docno"] for document in documents]
    first_unjudged = answer["first_unjudged"]
    position = docnos.index(values["docno"]) if values["docno"] in docnos else first_unjudged or 0
    details = state.judgments.editor.topic(values["topic_set"], values["qid"])
    context = {
        "criteria": details.criteria if details else "",
        "answer": answer,
        "pooled": systems,
        "position": position,
        "did": values["did"],
        "together": values["together"],
        "not_in_pool": values["docno"] if values["docno"] not in docnos else "",
        "next_topic": None,
    }
    if first_unjudged is None:
        context["next_topic"] = _next_topic(state, session, values["topic_set"], answer["topic"]["qid"])
    if not documents:
        return context
    following = documents[position + 1 :] + documents[:position]
    return context | {
        "current": documents[position],
        "document": _whole_document(
            state.index, docnos[position], f"{answer['topic']['text']} {details.highlight if details else ''}"
        ),
        "previous": docnos[position - 1] if position else None,
        "next": docnos[position + 1] if position + 1 < len(docnos) else None,
        "unjudged": None if first_unjudged in (None, position) else docnos[first_unjudged],
        "next_unjudged": next((document["docno"] for document in following if document["grade"] is None), None),
    }


def _next_topic(state: RequestState, session: BrowserSession, topic_set: str, qid: str) -> dict[str, Any] | None:
    """The next topic of the set, in a circle, of which this judge has judged nothing."""
    topics = topics_with_progress(state, session, topic_set)
    here = [topic["qid"] for topic in topics].index(qid)
    return next((topic for topic in topics[here + 1 :] + topics[:here] if not topic["n_judged_by_you"]), None)


def _whole_document(index: OpenIndex, docno: str, text: str) -> dict[str, Any]:
    """A document with the words of a topic marked; `full_length` is not 0 if only its beginning is shown."""
    stored = find_stored(index, docno)
    full_length = len(stored.body)
    document = stored.beginning(MAX_SHOWN_LENGTH)
    terms = index.engine.parse(text, syntax="plain").to_mark
    analyzer = index.engine.snapshot.analyzer.for_document(document)
    too_long = full_length > MAX_SHOWN_LENGTH
    body = f"{document.body}…" if too_long else document.body
    return {
        "docno": docno,
        **texts_as_json(title=mark_all(document.title, terms, analyzer), body=mark_all(body, terms, analyzer)),
        "fields": dict(document.fields),
        "full_length": full_length if too_long else 0,
    }
