"""Integrity of the database: that its schema is searchlab's, and its rows are those that were written.

SQLite's own checks find broken pages and wrong indexes, but not a letter that was changed within a value. Rows of
SEALED_ROWS are only added, so each of these tables has a seal, the end of a hash chain over its rows:

    digest(n) = BLAKE2b-128(digest(n - 1) + row n as JSON),  digest(0) = 16 zero bytes

The transaction that adds rows extends the seals. Verification computes the chain again; once a process has verified a
database, only the rows that were added since. The current judgments are compared with those that follow from the acts,
and a past query with its folded form. Every value must be one that could have been written.

A schema with anything else than searchlab's tables, indexes and triggers is refused: a view or a trigger of a
stranger's database would run its own statements. The seals are no signature: who can write the file can seal it again.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Collection, Mapping
from functools import cache
from hashlib import blake2b
from typing import Any, NamedTuple

from searchlab.corpus.text_cleaning import excerpt
from searchlab.errors import SettingError
from searchlab.judgments.input_checks import (
    check_change_kind,
    check_date,
    check_docno,
    check_grade,
    check_judge,
    check_note,
    check_optional_judge,
    check_qid,
    check_text,
    check_topic_set,
    fold_case,
)

SEALS_SCHEMA = "CREATE TABLE seals (name TEXT PRIMARY KEY, last INTEGER NOT NULL, digest TEXT NOT NULL) WITHOUT ROWID"
# The tables that are sealed, and the rows after a given one.
SEALED_ROWS = {
    "topics": "SELECT id, set_name, qid, text, folded FROM topics WHERE id > ? ORDER BY id",
    "acts": "SELECT id, topic, docno, judge, grade, note, made, imported FROM acts WHERE id > ? ORDER BY id",
    "undone": "SELECT id, act, made FROM undone WHERE id > ? ORDER BY id",
    "changes": "SELECT id, kind, what, judge, made, first_act, last_act, first_topic, last_topic, undoes FROM changes"
    " WHERE id > ? ORDER BY id",
    "versions": "SELECT id, change, topic, set_name, qid, text, folded, criteria, highlight, deleted FROM versions"
    " WHERE id > ? ORDER BY id",
    "redone": "SELECT id, undone, act FROM redone WHERE id > ? ORDER BY id",
}
# The tables that earlier layouts lack.
LATER_TABLES = ("changes", "versions", "redone", "current_topics")
DIGEST_BYTES = 16
# What each value must be: the rules by which it was checked before it was written.
VALUE_CHECKS: dict[tuple[str, str], Callable[[Any], object]] = {
    ("topics", "set_name"): check_topic_set,
    ("topics", "qid"): check_qid,
    ("topics", "text"): check_text,
    ("acts", "docno"): check_docno,
    ("acts", "judge"): check_judge,
    ("acts", "grade"): lambda grade: grade if grade is None else check_grade(grade),
    ("acts", "note"): check_note,
    ("acts", "made"): check_date,
    ("acts", "imported"): lambda imported: bool(imported) if imported in (0, 1) else None,
    ("undone", "made"): check_date,
    ("queries", "text"): check_text,
    ("changes", "kind"): check_change_kind,
    ("changes", "what"): check_text,
    ("changes", "judge"): check_optional_judge,
    ("changes", "made"): check_date,
    ("versions", "set_name"): check_topic_set,
    ("versions", "qid"): check_qid,
    ("versions", "text"): check_text,
    ("versions", "criteria"): check_note,
    ("versions", "highlight"): check_note,
    ("versions", "deleted"): lambda deleted: bool(deleted) if deleted in (0, 1) else None,
}

_CURRENT = "SELECT topic, judge, docno, grade, act FROM last"
_DERIVED = (
    "SELECT topic, judge, docno, grade, id FROM acts WHERE id IN"
    " (SELECT max(id) FROM acts WHERE id NOT IN (SELECT act FROM undone) GROUP BY topic, judge, docno)"
)


_SHOWN = "SELECT topic, set_name, qid, text, folded, criteria, highlight FROM current_topics"
_DERIVED_TOPICS = (
    "SELECT topic, set_name, qid, text, folded, criteria, highlight FROM versions"
    " WHERE id IN (SELECT max(id) FROM versions GROUP BY topic) AND NOT deleted"
    " UNION ALL SELECT id, set_name, qid, text, folded, '', '' FROM topics"
    " WHERE id NOT IN (SELECT topic FROM versions)"
)


class Seal(NamedTuple):
    """The id of the last row of a table that is sealed, and the digest of the chain up to it."""

    last: int = 0
    digest: str = bytes(DIGEST_BYTES).hex()


class Damage(Exception):
    """What is wrong with a database."""


Seals = Mapping[str, Seal]
NO_SEALS: Seals = {name: Seal() for name in SEALED_ROWS}


def require_schema(connection: sqlite3.Connection, statements: tuple[str, ...]) -> None:
    """Raise Damage if the schema is not the one that these statements create."""
    found = _read_schema(connection)
    expected = _schema_of(statements)
    if found != expected:
        differing = sorted({name for _, name, _, _ in found ^ expected})
        raise Damage(f"its schema is not that of judgments: {', '.join(map(repr, differing[:3]))}")


def _read_schema(connection: sqlite3.Connection) -> frozenset[tuple[str, str, str, str | None]]:
    return frozenset(connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema").fetchall())


@cache
def _schema_of(statements: tuple[str, ...]) -> frozenset[tuple[str, str, str, str | None]]:
    connection = sqlite3.connect(":memory:")
    try:
        for statement in statements:
            connection.execute(statement)
        return _read_schema(connection)
    finally:
        connection.close()


def read_seals(connection: sqlite3.Connection) -> Seals:
    """The stored seals; a table without rows may have none."""
    rows = connection.execute("SELECT name, last, digest FROM seals").fetchall()
    return {**NO_SEALS, **{name: Seal(last, digest) for name, last, digest in rows}}


def extend_seals(connection: sqlite3.Connection) -> None:
    """Seal the rows that were added since the seals were stored."""
    for name, seal in read_seals(connection).items():
        extended = _extend(connection, name, seal)
        if extended != seal:
            connection.execute("INSERT OR REPLACE INTO seals VALUES (?, ?, ?)", (name, *extended))


def _extend(connection: sqlite3.Connection, name: str, seal: Seal) -> Seal:
    last, digest = seal.last, bytes.fromhex(seal.digest)
    for row in connection.execute(SEALED_ROWS[name], (last,)):
        last = row[0]
        digest = blake2b(digest + json.dumps(row).encode(), digest_size=DIGEST_BYTES).digest()
    return Seal(last, digest.hex())


def verify_seals(connection: sqlite3.Connection, verified: Seals = NO_SEALS, absent: Collection[str] = ()) -> Seals:
    """Verify the rows after those of the seals `verified`; returns the stored seals. Raises Damage.

    The tables that are `absent` in the layout of the file have no seals.

    A snapshot that is older than `verified`, as of a thread that began to read before another one wrote, is verified
    from its first row.
    """
    stored = read_seals(connection)
    for name, seal in stored.items():
        if name in absent:
            continue
        try:
            known = verified[name] if verified[name].last <= seal.last else NO_SEALS[name]
            matches = _extend(connection, name, known) == seal
        except (TypeError, ValueError, KeyError):  # a value of a type that is never written
            matches = False
        if not matches:
            raise Damage(f"rows of {name} are not those that were written")
    return stored


def verify_all(connection: sqlite3.Connection, *, sealed: bool, changeable: bool) -> Seals:
    """Verify the whole database; returns its seals. Raises Damage.

    A database of layout 1 is not `sealed`; topics are `changeable` from layout 3 on.
    """
    absent = () if changeable else LATER_TABLES
    for (problem,) in connection.execute("PRAGMA integrity_check(1)"):
        if problem != "ok":
            raise Damage(" ".join(str(problem).split()))
    if connection.execute("PRAGMA foreign_key_check").fetchone():
        raise Damage("an act of an unknown topic, or an undone act that is unknown")
    seals = verify_seals(connection, absent=absent) if sealed else NO_SEALS
    _require_equal(connection, _CURRENT, _DERIVED, "current judgments do not follow from the acts")
    _check_values(connection, absent)
    folded = {"queries": "a past query", "topics": "the text of a topic", "versions": "the text of a topic"}
    for name, what in ((name, what) for name, what in folded.items() if name not in absent):
        for folded, text in connection.execute(f"SELECT folded, text FROM {name}"):
            if fold_case(text) != folded:
                raise Damage(f"{what} is not the one that was written")
    if changeable:
        _require_equal(connection, _SHOWN, _DERIVED_TOPICS, "current topics do not follow from their versions")
    return seals


def _require_equal(connection: sqlite3.Connection, found: str, expected: str, problem: str) -> None:
    """Raise Damage unless two selections have the same rows."""
    for first, second in ((found, expected), (expected, found)):
        if connection.execute(f"SELECT * FROM ({first}) EXCEPT SELECT * FROM ({second}) LIMIT 1").fetchone():
            raise Damage(problem)


def _check_values(connection: sqlite3.Connection, absent: Collection[str]) -> None:
    """Raise Damage if a value could not have been written: a stranger's rows may be sealed."""
    for (name, column), check in VALUE_CHECKS.items():
        if name in absent:
            continue
        for (value,) in connection.execute(f"SELECT DISTINCT {column} FROM {name}"):
            try:
                is_possible = check(value) == value
            except SettingError:
                is_possible = False
            if not is_possible:
                raise Damage(f"{column} of {name} has {excerpt(repr(value))}, which is never written")
