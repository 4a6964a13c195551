"""Changes of topics and topic sets: text, criteria, deletion, merging, renaming, and the undoing of each.

Every change returns a record with its `id`, by which it can be undone as long as nothing depends on it.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from searchlab.judgments.topics.topic_changes import Change
from searchlab.web.api.judging.judge import TOPIC_TEXT
from searchlab.web.api.judging.pool import find_topic, topics_of_set
from searchlab.web.api.parameters import Parameter
from searchlab.web.http_errors import HttpError
from searchlab.web.state.request_state import RequestState

MAX_LISTED_CHANGES = 100

NEW_TEXT = Parameter("text", "string", "the new text of the topic", default=None, max_length=TOPIC_TEXT.max_length)
CRITERIA = Parameter("criteria", "string", "what counts as relevant", default=None, max_length=4000)
HIGHLIGHT = Parameter(
    "highlight", "string", "words to highlight beside those of the topic", default=None, max_length=4000
)
QIDS = Parameter("qids", "strings", "qids of topics", default=(), max_length=200, max_items=5000)
INTO = Parameter("into", "string", "the qid of the topic to merge into", max_length=200)
NEW_SET_NAME = Parameter("new_name", "string", "the new name of the set, or a set to merge it into", max_length=100)
CHANGE = Parameter("change", "integer", "id of a change of topics", minimum=1, maximum=2**53)


def get_topic(state: RequestState, *, topic_set: str, qid: str) -> dict[str, Any]:
    """A topic with its criteria and words to highlight."""
    _ = find_topic(state.judgments, topic_set, qid)
    topic = state.judgments.editor.topic(topic_set, qid)
    assert topic is not None  # found above
    return {
        "topic_set": topic_set,
        "qid": qid,
        "text": topic.text,
        "criteria": topic.criteria,
        "highlight": topic.highlight,
    }


def edit_topic(
    state: RequestState,
    *,
    topic_set: str,
    qid: str,
    text: str | None = None,
    criteria: str | None = None,
    highlight: str | None = None,
    judge: str = "",
) -> dict[str, Any]:
    """Change the text of a topic, what counts as relevant, or the words to highlight."""
    _ = find_topic(state.judgments, topic_set, qid)
    texts = {"text": text, "criteria": criteria, "highlight": highlight}
    if all(each is None for each in texts.values()):
        raise HttpError(400, f"nothing to change, expected one of {', '.join(texts)}")
    if text is not None and not text.strip():
        raise HttpError(400, "text is empty, expected the text of the topic", field="text")
    return asdict(state.judgments.editor.edit(topic_set, qid, judge=judge, **texts))


def delete_topics(state: RequestState, *, topic_set: str, qids: list[str], judge: str = "") -> dict[str, Any]:
    """Delete topics of a set, with their judgments."""
    _require_topics(state, topic_set, qids)
    return asdict(state.judgments.editor.delete(topic_set, qids, judge=judge))


def merge_topics(state: RequestState, *, topic_set: str, qids: list[str], into: str, judge: str = "") -> dict[str, Any]:
    """Merge topics into one of their set, which gets their judgments where it has none."""
    _require_topics(state, topic_set, [*qids, into])
    return asdict(state.judgments.editor.merge(topic_set, qids, into, judge=judge))


def rename_topic_set(state: RequestState, *, topic_set: str, new_name: str, judge: str = "") -> dict[str, Any]:
    """Rename a topic set; into a set that exists, its topics are merged."""
    _ = topics_of_set(state, topic_set)
    return asdict(state.judgments.editor.rename_set(topic_set, new_name.strip(), judge=judge))


def delete_topic_set(state: RequestState, *, topic_set: str, judge: str = "") -> dict[str, Any]:
    """Delete a topic set, with its topics and judgments."""
    _ = topics_of_set(state, topic_set)
    return asdict(state.judgments.editor.delete(topic_set, None, judge=judge))


def list_changes(state: RequestState) -> dict[str, Any]:
    """The last imports, batches of judgments and changes of topics, the latest first."""
    changes: list[Change] = state.judgments.editor.changes(MAX_LISTED_CHANGES)
    return {"index": state.index.name, "changes": [asdict(change) for change in changes]}


def undo_change(state: RequestState, *, change: int, judge: str = "") -> dict[str, Any]:
    """Undo an import, a batch of judgments or a change of topics."""
    return asdict(state.judgments.editor.undo(change, judge=judge))


def redo_change(state: RequestState, *, change: int, judge: str = "") -> dict[str, Any]:
    """Make a change again that was undone; it is a new change."""
    return asdict(state.judgments.editor.redo(change, judge=judge))


def _require_topics(state: RequestState, topic_set: str, qids: list[str]) -> None:
    known = {topic.qid for topic in topics_of_set(state, topic_set)}
    if not qids:
        raise HttpError(400, "qids is empty, expected qids of topics", field="qids")
    for qid in qids:
        if qid not in known:
            _ = find_topic(state.judgments, topic_set, qid)
