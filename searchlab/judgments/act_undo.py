"""Undoing and redoing of acts, of one judge on one topic or on all.

An undo marks the last act that is not undone; a redo adds the act again that was undone last. Acts that were undone
before something else was judged are not redone: as in an editor, a new act forgets what could be redone. An act f was
new, and not a redo, after act a was undone, if f was added later than a and is either not undone or was undone later.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Any

# Topic set, qid, docno, judge, grade, note and time of an act.
ActRow = tuple[Any, ...]
# Changes the last act of a judge, on the topic with this row id or on any, at a time; returns the act.
ActChange = Callable[[sqlite3.Connection, str, int | None, str], ActRow | None]

_ACT = "SELECT acts.id, imported, set_name, qid, docno, judge, grade, note, made FROM acts"
_TOPIC = " JOIN current_topics ON current_topics.topic = acts.topic"
_OF_JUDGE = " WHERE judge = :judge AND (:topic IS NULL OR acts.topic = :topic)"
_NOT_UNDONE = " AND acts.id NOT IN (SELECT act FROM undone)"
_NEWER = (
    "SELECT 1 FROM acts LEFT JOIN undone ON undone.act = acts.id"
    " WHERE judge = :judge AND (:topic IS NULL OR acts.topic = :topic) AND acts.id > :act"
    " AND acts.id NOT IN (SELECT act FROM redone) AND (undone.id IS NULL OR undone.id > :undone) LIMIT 1"
)


def undo_last_act(connection: sqlite3.Connection, judge: str, topic: int | None, now: str) -> ActRow | None:
    """Undo the last act; None if there is none, or if it was an import."""
    row = connection.execute(
        f"{_ACT}{_TOPIC}{_OF_JUDGE}{_NOT_UNDONE} ORDER BY acts.id DESC LIMIT 1", {"judge": judge, "topic": topic}
    ).fetchone()
    if row is None or row[1]:
        return None
    connection.execute("INSERT INTO undone (act, made) VALUES (?, ?)", (row[0], now))
    return tuple(row[2:])


def redo_last_act(connection: sqlite3.Connection, judge: str, topic: int | None, now: str) -> ActRow | None:
    """Add the act again that was undone last; None if there is none, or if something else was done since."""
    values = {"judge": judge, "topic": topic}
    found = connection.execute(
        f"SELECT undone.id, acts.id FROM undone JOIN acts ON acts.id = undone.act{_TOPIC}{_OF_JUDGE}"
        " AND undone.id NOT IN (SELECT undone FROM redone) AND NOT imported ORDER BY undone.id DESC LIMIT 1",
        values,
    ).fetchone()
    if found is None:
        return None
    undone, act = found
    if connection.execute(_NEWER, values | {"act": act, "undone": undone}).fetchone():
        return None
    again = connection.execute(
        "INSERT INTO acts (topic, docno, judge, grade, note, made, imported)"
        " SELECT topic, docno, judge, grade, note, ?, 0 FROM acts WHERE id = ?",
        (now, act),
    ).lastrowid
    connection.execute("INSERT INTO redone (undone, act) VALUES (?, ?)", (undone, again))
    row = connection.execute(f"{_ACT}{_TOPIC} WHERE acts.id = ?", (again,)).fetchone()
    return tuple(row[2:])
