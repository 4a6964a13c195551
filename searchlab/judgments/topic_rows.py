"""The rows of topics in the database: finding, numbering and adding them."""

from __future__ import annotations

import sqlite3

from searchlab.corpus.text_cleaning import excerpt
from searchlab.errors import SettingError, name_some
from searchlab.judgments.input_checks import fold_case


def find_topic_row(connection: sqlite3.Connection, topic_set: str, qid: str) -> tuple[int, str] | None:
    """The row id and the text of a topic, None if there is none."""
    row: tuple[int, str] | None = connection.execute(
        "SELECT id, text FROM topics WHERE set_name = ? AND qid = ?", (topic_set, qid)
    ).fetchone()
    return row


def resolve_topic(connection: sqlite3.Connection, topic_set: str, text: str) -> tuple[str, str]:
    """The qid and stored text of the topic with this text; for a new text, the next free number and the text."""
    same: tuple[str, str] | None = connection.execute(
        "SELECT qid, text FROM topics WHERE set_name = ? AND folded = ? ORDER BY id LIMIT 1",
        (topic_set, fold_case(text)),
    ).fetchone()
    if same is not None:
        return same
    (largest,) = connection.execute(
        "SELECT ifnull(max(CAST(qid AS INTEGER)), 0) FROM topics"
        " WHERE set_name = ? AND qid NOT GLOB '*[^0-9]*' AND length(qid) <= 15",
        (topic_set,),
    ).fetchone()
    return str(largest + 1), text


def add_topic_row(connection: sqlite3.Connection, topic_set: str, qid: str, text: str) -> bool:
    """Add a topic unless it exists; whether it was added."""
    row = find_topic_row(connection, topic_set, qid)
    if row is None:
        values = (topic_set, qid, text, fold_case(text))
        connection.execute("INSERT INTO topics (set_name, qid, text, folded) VALUES (?, ?, ?, ?)", values)
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
