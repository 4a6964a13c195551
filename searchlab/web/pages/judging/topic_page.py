"""The page of a topic: its text, what counts as relevant, words to highlight, and its deletion; and forms of sets."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from searchlab.corpus.text_cleaning import excerpt
from searchlab.web.api.judging import topics
from searchlab.web.api.judging.pool import find_topic
from searchlab.web.api.parameters import Parameter
from searchlab.web.http_errors import HttpError
from searchlab.web.pages.page import BrowserSession, page_url
from searchlab.web.state.request_state import RequestState

ANY_CRITERIA, ANY_HIGHLIGHT = replace(topics.CRITERIA, default=""), replace(topics.HIGHLIGHT, default="")
ANY_CHANGE = replace(topics.CHANGE, default=0, minimum=0)
EDITED = ("text", "criteria", "highlight")
# The texts that the form was opened with.
FORMER_TEXTS = tuple(
    Parameter(f"former_{name}", "string", f"{name} as the form was opened", default=None, max_length=4000)
    for name in EDITED
)


def topic_page(state: RequestState, session: BrowserSession, values: dict[str, Any]) -> dict[str, Any]:
    """A topic, to be edited."""
    _ = find_topic(state.judgments, values["topic_set"], values["qid"])
    return {"topic": state.judgments.editor.topic(values["topic_set"], values["qid"])}


def edit_form(state: RequestState, session: BrowserSession, values: dict[str, Any]) -> str:
    """Change what is not as it was when the form was opened: text, criteria and highlighted words of a topic.

    What another tab or judge has changed in the meantime stays; if it is the same field, that is an error.
    """
    topic_set, qid = values["topic_set"], values["qid"]
    _ = find_topic(state.judgments, topic_set, qid)
    present = state.judgments.editor.topic(topic_set, qid)
    texts = {name: values[name] for name in EDITED if not _is_same(values[name], values[f"former_{name}"])}
    for name, text in texts.items():
        former, now = values[f"former_{name}"], getattr(present, name)
        if former is not None and not _is_same(now, former) and not _is_same(now, text):
            message = (
                f"this was changed since the page was opened, and is {excerpt(now, 200)} now; save again to replace it"
            )
            raise HttpError(409, message, name)
    if not texts:
        return _judge_url(state, topic_set, 0)
    change = state.judgments.editor.edit(topic_set, qid, **texts, judge=session.judge)
    return _judge_url(state, topic_set, change.id)


def _is_same(text: str, other: str | None) -> bool:
    """Whether two texts are the same but for their ends and the way lines end, which browsers change."""
    return other is not None and text.strip().splitlines() == other.strip().splitlines()


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
    """The page of a set, or of the first one if it is not there any more; it shows the change."""
    known = {each.name for each in state.judgments.topic_sets()}
    return page_url(state, "/judge", topic_set=topic_set if topic_set in known else None, change=change or None)
