"""The forms of judging: grades, undo and redo, topics to add, the import of a collection.

They work in browsers without scripts, too: each leads to a page.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from searchlab.web.api.judging import judge
from searchlab.web.api.parameters import Parameter
from searchlab.web.http_errors import HttpError
from searchlab.web.pages.page import BrowserSession, page_url
from searchlab.web.pages.taken_back import url_after
from searchlab.web.state.request_state import RequestState

GRADE = replace(judge.GRADE, default=None)
UNCHANGED_GRADE = Parameter(
    "keep", "integer", "a grade to leave as it is", default=None, minimum=-9, maximum=9, nullable=True
)
NEXT_DOCNO = Parameter("next", "string", "docno of the document of the pool to show next", default="")
PAGES_AFTER_IMPORT = ("/judge", "/train", "/measure", "/experiments")
NEXT_PATH = Parameter("then", "string", "the page to show next", default="/judge", choices=PAGES_AFTER_IMPORT)
TOPIC_LINES = replace(judge.TOPIC_TEXT, description="texts of topics, one a line", max_length=20_000)
SEARCHED_QUERY = Parameter("q", "string", "the query that a document is judged for", default="")


def judge_form(state: RequestState, session: BrowserSession, values: dict[str, Any]) -> str | None:
    """Record a grade; in a pool, a new grade leads to the next document."""
    keeps_grade = values["keep"] is not None
    grade = values["keep"] if keeps_grade else values["grade"]
    judge.judge_document(
        state,
        docno=values["docno"],
        grade=grade,
        judge=session.judge,
        note=values["note"],
        topic_set=values["topic_set"],
        qid=values["qid"],
        query=values["q"],
    )
    if keeps_grade or grade is None or not values["next"]:
        return None
    return _pool_url(state, values, docno=values["next"])


def undo_form(state: RequestState, session: BrowserSession, values: dict[str, Any]) -> str | None:
    """Undo the last judgment of a topic or query, or those made together.

    In a pool the document that it was about is shown then, otherwise the page of the form.
    """
    return _change_last(state, session, values, "undone", judge.undo_judgment)


def redo_form(state: RequestState, session: BrowserSession, values: dict[str, Any]) -> str | None:
    """Do the judgment of a topic or query again that was undone last; then as after an undo."""
    return _change_last(state, session, values, "redone", judge.redo_judgment)


def _change_last(
    state: RequestState,
    session: BrowserSession,
    values: dict[str, Any],
    did: str,
    change: Callable[..., dict[str, Any]],
) -> str | None:
    if values["q"]:
        return url_after(values["back"], did, change(state, judge=session.judge, query=values["q"])[did])
    if not (values["topic_set"] and values["qid"]):
        raise HttpError(400, "expected topic_set and qid, or q: the topic whose last judgment is meant")
    changed = change(state, judge=session.judge, topic_set=values["topic_set"], qid=values["qid"])[did]
    if changed is None:
        return _pool_url(state, values, did="nothing")
    n_judgments = changed["n_judgments"]
    return _pool_url(state, values, docno=changed["docno"], did=did, together=n_judgments if n_judgments > 1 else None)


def topic_form(state: RequestState, session: BrowserSession, values: dict[str, Any]) -> str:
    """Add topics, one a line; of a single one, show its pool."""
    topic_set, lines = values["topic_set"].strip(), [line for line in values["text"].splitlines() if line.strip()]
    for line in lines:  # a mistake in one of them adds none
        judge.TOPIC_TEXT.check(line)
    added = [judge.create_topic(state, topic_set=topic_set, text=line) for line in lines or [values["text"]]]
    if len(added) > 1:
        return page_url(state, "/judge", topic_set=topic_set)
    return page_url(state, "/pool", topic_set=topic_set, qid=added[0]["qid"])


def import_form(state: RequestState, session: BrowserSession, values: dict[str, Any]) -> str:
    """Import the topics and judgments of the collection into a set with the name of the index, and offer to undo it."""
    name = state.index.name
    imported = judge.import_judgments(state, topic_set=name, collection=True)
    return page_url(state, values["then"], topic_set=name, change=imported["change"])


def _pool_url(state: RequestState, values: dict[str, Any], **more: Any) -> str:
    pool = {name: values[name] for name in ("topic_set", "qid", "systems", "depth")}
    return page_url(state, "/pool", **pool, **more)
