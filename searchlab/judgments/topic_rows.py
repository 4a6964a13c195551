"""Which topic does a name or a text mean?"""

from __future__ import annotations

import sqlite3

from searchlab.corpus.text_cleaning import excerpt
from searchlab.errors import SettingError
from searchlab.judgments.input_checks import fold_case


def find_topic_row(connection: sqlite3.Connection, set: str, qid: str) -> tuple[int, str] | None:
    """The number and the text of a topic."""
    row: tuple[int, str] | None = connection.execute(
        "SELECT id, text FROM topics WHERE set_name = ? AND qid = ?", (set, qid)
    ).fetchone()
    return row


def resolve_topic(connection: sqlite3.Connection, set: str, text: str) -> tuple[str, str]:
    """The name of the topic with this text, and how it is written there; for a new text, the next free number."""
    same: tuple[str, str] | None = connection.execute(
        "SELECT qid, text FROM topics WHERE set_name = ? AND folded = ? ORDER BY id LIMIT 1", (set, fold_case(text))
    ).fetchone()
    if same is not None:
        return same
    (largest,) = connection.execute(
        "SELECT ifnull(max(CAST(qid AS INTEGER)), 0) FROM topics"
        " WHERE set_name = ? AND qid NOT GLOB '*[^0-9]*' AND length(qid) <= 15",
        (set,),
    ).fetchone()
    return str(largest + 1), text


def add_topic_row(connection: sqlite3.Connection, set: str, qid: str, text: str) -> bool:
    """Add a topic, if it is not there; whether it was added."""
    row = find_topic_row(connection, set, qid)
    if row is None:
        values = (set, qid, text, fold_case(text))
        connection.execute("INSERT INTO topics (set_name, qid, text, folded) VALUES (?, ?, ?, ?)", values)
    elif row[1] != text:
        raise SettingError(
            f"topic {excerpt(qid)} of the set {excerpt(set)} is {excerpt(row[1])}, found {excerpt(text)}"
        )
    return row is None


def require_known_topics(set: str, qids: list[str]) -> None:
    """Judgments for topics (`qids`) that are not there."""
    if qids:
        named = ", ".join(excerpt(qid) for qid in qids[:3]) + (f" and {len(qids) - 3:,} more" if len(qids) > 3 else "")
        raise SettingError(
            f"judgments for topics that are not in the set {excerpt(set)}: {named}; import their texts too"
        )
