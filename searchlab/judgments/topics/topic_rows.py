"""The rows of topics in the database: finding, numbering and adding them."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection

from searchlab.corpus.text_cleaning import excerpt
from searchlab.errors import SettingError, name_some
from searchlab.judgments.input_checks import fold_case
from searchlab.judgments.topics.topic_changes import TopicVersion, record_change


def find_topic_row(connection: sqlite3.Connection, topic_set: str, qid: str) -> tuple[int, str] | None:
    """The row id and the text of a topic, None if there is none."""
    row: tuple[int, str] | None = connection.execute(
        "SELECT topic, text FROM current_topics WHERE set_name = ? AND qid = ?", (topic_set, qid)
    ).fetchone()
    return row


def resolve_topic(connection: sqlite3.Connection, topic_set: str, text: str) -> tuple[str, str]:
    """The qid and stored text of the topic with this text; for a new text, the next free number and the text."""
    same: tuple[str, str] | None = connection.execute(
        "SELECT qid, text FROM current_topics WHERE set_name = ? AND folded = ? ORDER BY topic LIMIT 1",
        (topic_set, fold_case(text)),
    ).fetchone()
    if same is not None:
        return same
    return next_qid(connection, topic_set), text


def next_qid(connection: sqlite3.Connection, topic_set: str, taken: Collection[str] = ()) -> str:
    """The number after the largest one that a topic of the set has, or had; also after those that are `taken`."""
    largest = 0
    for table in ("topics", "current_topics"):
        (found,) = connection.execute(
            f"SELECT ifnull(max(CAST(qid AS INTEGER)), 0) FROM {table}"
            " WHERE set_name = ? AND qid NOT GLOB '*[^0-9]*' AND length(qid) <= 15",
            (topic_set,),
        ).fetchone()
        largest = max(largest, found)
    return str(max([largest, *(int(qid) for qid in taken if qid.isdecimal() and len(qid) <= 15)]) + 1)


def add_topic_row(connection: sqlite3.Connection, topic_set: str, qid: str, text: str, now: str) -> bool:
    """Add a topic unless it exists; whether it was added.

    A row keeps the qid that it was added with. If that of this topic belongs to the row of a topic that was deleted or
    moved, the new row gets another one, and a version of it the right one.
    """
    row = find_topic_row(connection, topic_set, qid)
    if row is None:
        free = qid
        while connection.execute("SELECT 1 FROM topics WHERE set_name = ? AND qid = ?", (topic_set, free)).fetchone():
            free = f"{free}~"
        values = (topic_set, free, text, fold_case(text))
        added = connection.execute("INSERT INTO topics (set_name, qid, text, folded) VALUES (?, ?, ?, ?)", values)
        if free != qid:
            version = TopicVersion(int(added.lastrowid or 0), topic_set, qid, text)
            record_change(connection, "edit", f"topic {qid} of {topic_set} was added again", "", now, [version])
    elif row[1] != text:
        raise SettingError(
            f"topic {excerpt(qid)} of the topic set {excerpt(topic_set)} is {excerpt(row[1])}, found {excerpt(text)}"
        )
    return row is None


def require_known_topics(topic_set: str, unknown: list[str]) -> None:
    """Raise an error if there are judgments for topics that are not in the topic set."""
    if unknown:
        qids = name_some(map(excerpt, unknown))
        raise SettingError(
            f"judgments for topics that are not in the topic set {excerpt(topic_set)}: {qids}; import their texts too"
        )
