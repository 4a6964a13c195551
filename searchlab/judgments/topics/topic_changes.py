"""Changes of topics and topic sets, each as a whole: edited, renamed, deleted, merged, imported, and undone.

Nothing is overwritten: a change adds versions of topics and, where judgments move, acts. Its undo adds the versions
from before it, and marks its acts as undone.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from searchlab.corpus.text_cleaning import excerpt
from searchlab.errors import SettingError, name_some
from searchlab.evaluation.number_text import format_count
from searchlab.judgments.input_checks import fold_case

_COLUMNS = "topic, set_name, qid, text, criteria, highlight"


@dataclass(frozen=True, slots=True)
class TopicVersion:
    """A topic at one time: what it asks for, what counts as relevant, and words to highlight beside its own."""

    topic: int
    topic_set: str
    qid: str
    text: str
    criteria: str = ""
    highlight: str = ""
    deleted: bool = False


@dataclass(frozen=True, slots=True)
class Change:
    """An import or a change of topics, in words; `undone` if it was undone, or is an undo itself."""

    id: int
    kind: str
    what: str
    judge: str
    made: str
    undone: bool


@dataclass(frozen=True, slots=True)
class Ranges:
    """The last ids of acts and topics before a change."""

    act: int
    topic: int


def last_ids(connection: sqlite3.Connection) -> Ranges:
    """The last ids of acts and topics."""
    query = "SELECT (SELECT ifnull(max(id), 0) FROM acts), (SELECT ifnull(max(id), 0) FROM topics)"
    return Ranges(*connection.execute(query).fetchone())


def find_versions(
    connection: sqlite3.Connection, topic_set: str, qids: Iterable[str] | None = None
) -> list[TopicVersion]:
    """The current versions of the topics of a set, all or those with these qids; an unknown qid is an error."""
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM current_topics WHERE set_name = ? ORDER BY topic", (topic_set,)
    ).fetchall()
    versions = [TopicVersion(*row) for row in rows]
    if qids is None:
        return versions
    wanted = list(dict.fromkeys(qids))
    unknown = [qid for qid in wanted if qid not in {version.qid for version in versions}]
    if unknown:
        raise SettingError(f"no topic {name_some(map(excerpt, unknown))} in the topic set {excerpt(topic_set)}")
    return [version for version in versions if version.qid in wanted]


def record_change(
    connection: sqlite3.Connection,
    kind: str,
    what: str,
    judge: str,
    now: str,
    versions: Sequence[TopicVersion] = (),
    before: Ranges | None = None,
    undoes: int | None = None,
) -> int:
    """Add a change with the versions that it makes; acts and topics added since `before` belong to it."""
    after = last_ids(connection)
    begin = after if before is None else before
    change = connection.execute(
        "INSERT INTO changes (kind, what, judge, made, first_act, last_act, first_topic, last_topic, undoes)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (kind, what, judge, now, begin.act + 1, after.act, begin.topic + 1, after.topic, undoes),
    ).lastrowid
    # Deleted first: their names may be those of others now.
    for version in sorted(versions, key=lambda each: not each.deleted):
        connection.execute(
            "INSERT INTO versions (change, topic, set_name, qid, text, folded, criteria, highlight, deleted)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                *(change, version.topic, version.topic_set, version.qid, version.text, fold_case(version.text)),
                *(version.criteria, version.highlight, version.deleted),
            ),
        )
    assert change is not None
    return change


def copy_acts(connection: sqlite3.Connection, source: int, target: int, now: str) -> int:
    """Copy the current judgments of a topic to another one, where that has none of the judge on the document."""
    return connection.execute(
        "INSERT INTO acts (topic, docno, judge, grade, note, made, imported)"
        " SELECT ?, last.docno, last.judge, last.grade, note, ?, 1 FROM last JOIN acts ON acts.id = last.act"
        " WHERE last.topic = ? AND last.grade IS NOT NULL AND NOT EXISTS (SELECT 1 FROM last AS other"
        " WHERE other.topic = ? AND other.judge = last.judge AND other.docno = last.docno"
        " AND other.grade IS NOT NULL) ORDER BY last.act",
        (target, now, source, target),
    ).rowcount


def list_changes(connection: sqlite3.Connection, n: int) -> list[Change]:
    """The last n changes, the latest first."""
    rows = connection.execute(
        "SELECT id, kind, what, judge, made, kind = 'undo' OR id IN (SELECT undoes FROM changes WHERE undoes NOT NULL)"
        " FROM changes ORDER BY id DESC LIMIT ?",
        (n,),
    ).fetchall()
    return [Change(id, kind, what, judge, made, bool(undone)) for id, kind, what, judge, made, undone in rows]


def undo_change(connection: sqlite3.Connection, id: int, judge: str, now: str) -> Change:
    """Undo a change: the versions before it are current again, its acts are undone, its topics deleted.

    Topics that were judged since are not deleted: that is an error, because an undo cannot be undone.
    """
    row = connection.execute(
        "SELECT id, kind, what, judge, made, first_act, last_act, first_topic, last_topic FROM changes WHERE id = ?",
        (id,),
    ).fetchone()
    if row is None or row[1] == "undo":
        raise SettingError(f"there is no change {id} that can be undone")
    if connection.execute("SELECT 1 FROM changes WHERE undoes = ?", (id,)).fetchone():
        raise SettingError(f"{row[2]}: this was undone already")
    changed = [topic for (topic,) in connection.execute("SELECT topic FROM versions WHERE change = ?", (id,))]
    added = [topic for (topic,) in connection.execute("SELECT id FROM topics WHERE id BETWEEN ? AND ?", row[7:9])]
    later = connection.execute(
        "SELECT what FROM changes WHERE id IN (SELECT change FROM versions WHERE change > ? AND (topic IN"
        " (SELECT topic FROM versions WHERE change = ?) OR topic BETWEEN ? AND ?))"
        " AND id NOT IN (SELECT undoes FROM changes WHERE undoes NOT NULL)"
        " AND kind != 'undo' ORDER BY id DESC LIMIT 1",
        (id, id, *row[7:9]),
    ).fetchone()
    if later is not None:
        raise SettingError(f"{row[2]}: changed again since, undo that first: {later[0]}")
    (n_since,) = connection.execute(
        "SELECT count(*) FROM last WHERE topic BETWEEN ? AND ? AND act > ? AND grade IS NOT NULL", (*row[7:9], row[6])
    ).fetchone()
    if n_since:
        found = f"{format_count(n_since, 'judgment')} of its topics since, which would be lost"
        raise SettingError(f"{row[2]}: {found}; delete topics instead, which can be undone")
    versions = [_version_before(connection, topic, id) for topic in changed]
    versions += [replace(each, deleted=True) for topic in added for each in _current(connection, topic)]
    for version in versions:
        _require_free(connection, version, {each.topic for each in versions})
    connection.execute(
        "INSERT INTO undone (act, made) SELECT id, ? FROM acts WHERE id BETWEEN ? AND ?"
        " AND id NOT IN (SELECT act FROM undone) ORDER BY id DESC",
        (now, *row[5:7]),
    )
    record_change(connection, "undo", f"undone: {row[2]}"[:4000], judge, now, versions, undoes=id)
    return Change(row[0], row[1], row[2], row[3], row[4], True)


def _current(connection: sqlite3.Connection, topic: int) -> list[TopicVersion]:
    rows = connection.execute(f"SELECT {_COLUMNS} FROM current_topics WHERE topic = ?", (topic,))
    return [TopicVersion(*row) for row in rows.fetchall()]


def _version_before(connection: sqlite3.Connection, topic: int, change: int) -> TopicVersion:
    """The version of a topic before a change: the one of an earlier change, or the topic as it was added."""
    row = connection.execute(
        f"SELECT {_COLUMNS}, deleted FROM versions WHERE topic = ? AND change < ? ORDER BY id DESC LIMIT 1",
        (topic, change),
    ).fetchone()
    if row is not None:
        return TopicVersion(row[0], row[1], row[2], row[3], row[4], row[5], bool(row[6]))
    first = connection.execute("SELECT id, set_name, qid, text FROM topics WHERE id = ?", (topic,)).fetchone()
    return TopicVersion(*first)


def _require_free(connection: sqlite3.Connection, version: TopicVersion, own: set[int]) -> None:
    """Raise SettingError if another topic has the qid that a version would take again."""
    taken = connection.execute(
        "SELECT topic FROM current_topics WHERE set_name = ? AND qid = ?", (version.topic_set, version.qid)
    ).fetchone()
    if not version.deleted and taken is not None and taken[0] not in own:
        where = f"the topic set {excerpt(version.topic_set)}"
        raise SettingError(f"{where} has another topic {excerpt(version.qid)} now: rename or delete it first")
