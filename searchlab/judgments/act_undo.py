"""Undoing and redoing of acts, of one judge on one topic, on a set, or on all.

An undo marks the last act that is not undone; a redo adds the act again that was undone last. Acts that were added
together, as a batch or an import, are undone and redone together (`topics/topic_changes.py`); an import, which may have
added topics, only where a whole set is at hand. Acts that were undone before something else was judged are not redone:
as in an editor, a new act forgets what could be redone. An act f was new, and not a redo, after act a was undone, if f
was added later than a and is either not undone or was undone later.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from searchlab.judgments.topics.topic_changes import BATCH, IMPORT, add_again, redo_change, undo_change

# Topic set, qid, docno, judge, grade, note and time of an act.
ActRow = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class ActScope:
    """Whose acts are meant: those of a judge, on a topic given by its row id, on a topic set, or on all."""

    judge: str
    topic: int | None = None
    topic_set: str | None = None

    def values(self) -> dict[str, Any]:
        """The parameters of the statements."""
        return {"judge": self.judge, "topic": self.topic, "set": self.topic_set}


@dataclass(frozen=True, slots=True)
class ActStep:
    """The acts that were undone or redone at once, in the order of their judging; `what` says what several were."""

    acts: tuple[ActRow, ...]
    what: str = ""


# Changes the last acts within a scope, at a time.
ActChange = Callable[[sqlite3.Connection, ActScope, str], ActStep | None]

_ACT = "SELECT acts.id, imported, set_name, qid, docno, judge, grade, note, made FROM acts"
_TOPIC = " JOIN current_topics ON current_topics.topic = acts.topic"
_OF_JUDGE = " WHERE judge = :judge AND (:topic IS NULL OR acts.topic = :topic)"
# The set of a topic, which may be deleted.
_SET = (
    "coalesce((SELECT set_name FROM versions WHERE versions.topic = acts.topic ORDER BY id DESC LIMIT 1),"
    " (SELECT set_name FROM topics WHERE topics.id = acts.topic))"
)
_IN_SCOPE = f"{_OF_JUDGE} AND (:set IS NULL OR {_SET} = :set)"
_NOT_UNDONE = " AND acts.id NOT IN (SELECT act FROM undone)"
_IMPORTED = f"SELECT 1 FROM changes WHERE kind = '{IMPORT}' AND acts.id BETWEEN first_act AND last_act"
_NEWER = (
    f"SELECT 1 FROM acts LEFT JOIN undone ON undone.act = acts.id{_IN_SCOPE} AND acts.id > :act"
    " AND acts.id NOT IN (SELECT act FROM redone) AND (undone.id IS NULL OR undone.id > :undone) LIMIT 1"
)
# The change that an act was added by; of an act that was redone, the change that redid it.
_TOGETHER = (
    f"SELECT id, kind, what, first_act, last_act FROM changes WHERE kind IN ('{IMPORT}', '{BATCH}')"
    " AND ? BETWEEN first_act AND last_act ORDER BY id DESC LIMIT 1"
)


def undo_last_act(connection: sqlite3.Connection, scope: ActScope, now: str) -> ActStep | None:
    """Undo the last act, with those that were added with it; None if there is none that can be undone here."""
    row = connection.execute(
        f"{_ACT}{_TOPIC}{_IN_SCOPE}{_NOT_UNDONE} ORDER BY acts.id DESC LIMIT 1", scope.values()
    ).fetchone()
    if row is None:
        return None
    change = connection.execute(_TOGETHER, (row[0],)).fetchone()
    if change is None and not row[1]:
        connection.execute("INSERT INTO undone (act, made) VALUES (?, ?)", (row[0], now))
        return ActStep((tuple(row[2:]),))
    if change is None or (change[1] == IMPORT and scope.topic is not None):
        return None
    acts = _read_acts(connection, *change[3:])
    undo_change(connection, change[0], scope.judge, now)
    return ActStep(acts, change[2])


def redo_last_act(connection: sqlite3.Connection, scope: ActScope, now: str) -> ActStep | None:
    """Add the acts again that were undone last; None if there are none, or if something else was done since."""
    found = connection.execute(
        f"SELECT undone.id, acts.id FROM undone JOIN acts ON acts.id = undone.act{_IN_SCOPE}"
        " AND undone.id NOT IN (SELECT undone FROM redone)"
        f" AND CASE WHEN imported THEN :topic IS NULL AND EXISTS ({_IMPORTED})"
        " ELSE acts.topic IN (SELECT topic FROM current_topics) END ORDER BY undone.id DESC LIMIT 1",
        scope.values(),
    ).fetchone()
    if found is None:
        return None
    undone, act = found
    if connection.execute(_NEWER, scope.values() | {"act": act, "undone": undone}).fetchone():
        return None
    change = connection.execute(_TOGETHER, (act,)).fetchone()
    if change is not None:
        again = redo_change(connection, change[0], scope.judge, now)
        first, last = connection.execute("SELECT first_act, last_act FROM changes WHERE id = ?", (again.id,)).fetchone()
        return ActStep(_read_acts(connection, first, last), again.what)
    again_id = add_again(connection, undone, act, now)
    return ActStep(_read_acts(connection, again_id, again_id))


def _read_acts(connection: sqlite3.Connection, first: int, last: int) -> tuple[ActRow, ...]:
    rows = connection.execute(f"{_ACT}{_TOPIC} WHERE acts.id BETWEEN ? AND ? ORDER BY acts.id", (first, last))
    return tuple(tuple(row[2:]) for row in rows.fetchall())
