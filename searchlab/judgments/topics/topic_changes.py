"""Changes of topics, and judgments added together: edited, renamed, deleted, merged, imported, judged, undone, redone.

Nothing is overwritten: a change adds versions of topics and, where judgments are added or move, acts. Its undo adds the
versions from before it, and marks its acts as undone. A redo is the same change again: it adds the versions from before
the undo, and the acts again.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from searchlab.corpus.text_cleaning import excerpt
from searchlab.errors import SettingError, name_some
from searchlab.evaluation.number_text import format_count
from searchlab.judgments.input_checks import fold_case

# Kinds of changes that add judgments.
IMPORT, BATCH = "import", "batch"
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
    """An import, a batch of judgments or a change of topics, in words.

    `undone` if it was undone, or is an undo itself; `redoable` if it was undone and not redone.
    """

    id: int
    kind: str
    what: str
    judge: str
    made: str
    undone: bool
    redoable: bool = False


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


def find_version(connection: sqlite3.Connection, topic_set: str, qid: str) -> TopicVersion | None:
    """The current version of a topic; None if there is none."""
    row = connection.execute(
        f"SELECT {_COLUMNS} FROM current_topics WHERE set_name = ? AND qid = ?", (topic_set, qid)
    ).fetchone()
    return TopicVersion(*row) if row else None


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


_UNDONE = "id IN (SELECT undoes FROM changes WHERE undoes NOT NULL)"
# Acts since, by the same judge on the same documents as the acts of a change, but not those that go back to an act from
# before it, which was undone and redone, perhaps several times.
_JUDGED_SINCE = (
    "WITH RECURSIVE since (id, origin) AS ("
    " SELECT new.id, new.id FROM acts AS new JOIN acts ON acts.topic = new.topic AND acts.judge = new.judge"
    " AND acts.docno = new.docno WHERE new.id >= :since AND acts.id BETWEEN :first AND :last"
    " AND new.id NOT IN (SELECT act FROM undone)"
    " UNION ALL SELECT since.id, undone.act FROM since JOIN redone ON redone.act = origin"
    " JOIN undone ON undone.id = redone.undone)"
    " SELECT 1 FROM since GROUP BY id HAVING min(origin) >= :first LIMIT 1"
)
# The undo of a change, unless it was redone.
_UNDO_OF = (
    "SELECT id, first_act FROM changes AS undo WHERE undoes = {} AND kind = 'undo'"
    " AND NOT EXISTS (SELECT 1 FROM changes AS again WHERE again.undoes = undo.id)"
)


def list_changes(connection: sqlite3.Connection, n: int) -> list[Change]:
    """The last n changes, the latest first."""
    redoable = f"EXISTS ({_UNDO_OF.format('changes.id')})"
    rows = connection.execute(
        f"SELECT id, kind, what, judge, made, kind = 'undo' OR {_UNDONE}, {redoable}"
        " FROM changes ORDER BY id DESC LIMIT ?",
        (n,),
    ).fetchall()
    return [Change(id, kind, what, judge, made, bool(u), bool(r)) for id, kind, what, judge, made, u, r in rows]


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
    _require_unchanged(connection, row[2], id, [*changed, *added])
    versions = [_version_before(connection, topic, id) for topic in changed]
    versions += [replace(each, deleted=True) for topic in added for each in _current(connection, topic)]
    _require_unjudged(connection, row[2], [each.topic for each in versions if each.deleted], row[6])
    _require_free(connection, versions)
    connection.execute(
        "INSERT INTO undone (act, made) SELECT id, ? FROM acts WHERE id BETWEEN ? AND ?"
        " AND id NOT IN (SELECT act FROM undone) ORDER BY id DESC",
        (now, *row[5:7]),
    )
    record_change(connection, "undo", f"undone: {row[2]}"[:4000], judge, now, versions, undoes=id)
    return Change(row[0], row[1], row[2], row[3], row[4], True, True)


def redo_change(connection: sqlite3.Connection, id: int, judge: str, now: str) -> Change:
    """Make a change again that was undone; an error if what it changed was changed or judged since.

    It is a new change, which can be undone as the first one.
    """
    row = connection.execute("SELECT kind, what, first_act, last_act FROM changes WHERE id = ?", (id,)).fetchone()
    undo = connection.execute(_UNDO_OF.format("?"), (id,)).fetchone()
    if row is None or undo is None:
        raise SettingError(f"there is no change {id} that was undone and can be redone")
    kind, what, *acts = row
    undo_id, first_since = undo
    changed = [topic for (topic,) in connection.execute("SELECT topic FROM versions WHERE change = ?", (undo_id,))]
    _require_unchanged(connection, what, undo_id, changed)
    judged = connection.execute(_JUDGED_SINCE, {"since": first_since, "first": acts[0], "last": acts[1]}).fetchone()
    if judged is not None:
        raise SettingError(f"{what}: some of its documents were judged again since, undo that first")
    versions = [_version_before(connection, topic, undo_id) for topic in changed]
    _require_free(connection, versions)
    before = last_ids(connection)
    undone = connection.execute(
        "SELECT undone.id, act FROM undone WHERE act BETWEEN ? AND ? AND undone.id NOT IN (SELECT undone FROM redone)"
        " ORDER BY act",
        acts,
    ).fetchall()
    for undone_id, act in undone:
        add_again(connection, undone_id, act, now)
    new = record_change(connection, kind, what, judge, now, versions, before, undoes=undo_id)
    return Change(new, kind, what, judge, now, False)


def add_again(connection: sqlite3.Connection, undone: int, act: int, now: str) -> int:
    """Add an act that was undone, given by the row of its undo and its own, as a new act, whose row it returns."""
    again = connection.execute(
        "INSERT INTO acts (topic, docno, judge, grade, note, made, imported)"
        " SELECT topic, docno, judge, grade, note, ?, imported FROM acts WHERE id = ?",
        (now, act),
    ).lastrowid
    connection.execute("INSERT INTO redone (undone, act) VALUES (?, ?)", (undone, again))
    assert again is not None
    return again


def _require_unchanged(connection: sqlite3.Connection, what: str, change: int, topics: Sequence[int]) -> None:
    """Raise SettingError if some of the topics were changed after a change."""
    later = connection.execute(
        "SELECT what FROM changes WHERE id IN"
        " (SELECT change FROM versions WHERE change > ? AND topic IN (SELECT value FROM json_each(?)))"
        f" AND NOT {_UNDONE} AND kind != 'undo' ORDER BY id DESC LIMIT 1",
        (change, json.dumps(topics)),
    ).fetchone()
    if later is not None:
        raise SettingError(f"{what}: changed again since, undo that first: {later[0]}")


def _require_unjudged(connection: sqlite3.Connection, what: str, topics: Sequence[int], last_act: int) -> None:
    """Raise SettingError if some of the topics, which would be deleted, were judged after an act."""
    (n_since,) = connection.execute(
        "SELECT count(*) FROM last WHERE topic IN (SELECT value FROM json_each(?)) AND act > ? AND grade IS NOT NULL",
        (json.dumps(topics), last_act),
    ).fetchone()
    if n_since:
        found = f"{format_count(n_since, 'judgment')} of its topics since, which would be lost"
        raise SettingError(f"{what}: {found}; delete topics instead, which can be undone")


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


def _require_free(connection: sqlite3.Connection, versions: Sequence[TopicVersion]) -> None:
    """Raise SettingError if other topics have the qids that versions would take again."""
    own = {each.topic for each in versions}
    for version in versions:
        taken = connection.execute(
            "SELECT topic FROM current_topics WHERE set_name = ? AND qid = ?", (version.topic_set, version.qid)
        ).fetchone()
        if not version.deleted and taken is not None and taken[0] not in own:
            where = f"the topic set {excerpt(version.topic_set)}"
            raise SettingError(f"{where} has another topic {excerpt(version.qid)} now: rename or delete it first")
