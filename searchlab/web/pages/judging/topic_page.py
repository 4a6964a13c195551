"""The page of a topic: its text, what counts as relevant, words to highlight, and its deletion; and forms of sets."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from searchlab.web.api.judging import topics
from searchlab.web.api.judging.pool import find_topic
from searchlab.web.pages.page import BrowserSession, page_url
from searchlab.web.state.request_state import RequestState

ANY_CRITERIA, ANY_HIGHLIGHT = replace(topics.CRITERIA, default=""), replace(topics.HIGHLIGHT, default="")
ANY_CHANGE = replace(topics.CHANGE, default=0, minimum=0)


def topic_page(state: RequestState, session: BrowserSession, values: dict[str, Any]) -> dict[str, Any]:
    """A topic, to be edited."""
    _ = find_topic(state.judgments, values["topic_set"], values["qid"])
    return {"topic": state.judgments.editor.topic(values["topic_set"], values["qid"])}


def edit_form(state: RequestState, session: BrowserSession, values: dict[str, Any]) -> str:
    """Change the text, the criteria and the highlighted words of a topic."""
    topic_set, qid = values["topic_set"], values["qid"]
    texts = {name: values[name] for name in ("text", "criteria", "highlight")}
    change = state.judgments.editor.edit(topic_set, qid, **texts, judge=session.judge)
    return _judge_url(state, topic_set, change.id)


def delete_form(state: RequestState, session: BrowserSession, values: dict[str, Any]) -> str:
    """Delete topics of a set."""
    change = state.judgments.editor.delete(values["topic_set"], values["qids"], judge=session.judge)
    return _judge_url(state, values["topic_set"], change.id)


def merge_form(state: RequestState, session: BrowserSession, values: dict[str, Any]) -> str:
    """Merge topics of a set into one of it."""
    topic_set = values["topic_set"]
    change = state.judgments.editor.merge(topic_set, values["qids"], values["into"], judge=session.judge)
    return _judge_url(state, topic_set, change.id)


def rename_set_form(state: RequestState, session: BrowserSession, values: dict[str, Any]) -> str:
    """Rename a topic set, or merge it into another one."""
    new_name = values["new_name"].strip()
    change = state.judgments.editor.rename_set(values["topic_set"], new_name, judge=session.judge)
    return _judge_url(state, new_name, change.id)


def delete_set_form(state: RequestState, session: BrowserSession, values: dict[str, Any]) -> str:
    """Delete a topic set."""
    change = state.judgments.editor.delete(values["topic_set"], None, judge=session.judge)
    return _judge_url(state, "", change.id)


def undo_change_form(state: RequestState, session: BrowserSession, values: dict[str, Any]) -> str:
    """Undo an import, a batch of judgments or a change of topics, and show that it can be redone."""
    undone = state.judgments.editor.undo(values["change"], judge=session.judge)
    return _judge_url(state, values["topic_set"], undone.id)


def redo_change_form(state: RequestState, session: BrowserSession, values: dict[str, Any]) -> str:
    """Make a change again that was undone, and show that it can be undone."""
    redone = state.judgments.editor.redo(values["change"], judge=session.judge)
    return _judge_url(state, values["topic_set"], redone.id)


def _judge_url(state: RequestState, topic_set: str, change: int) -> str:
    return page_url(state, "/judge", topic_set=topic_set, change=change or None)
