"""Who judged which document how, for which topic?

Topics belong to named sets. A judge gives a document a grade for a topic: 0 is not relevant, 1 relevant, 2 highly
relevant, and whatever else a collection uses. Acts are only ever added; what is valid is the last act of a judge on a
document that was not undone.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from searchlab.corpus.text_cleaning import excerpt, on_one_line
from searchlab.errors import SettingError
from searchlab.judgments.current_judgments import (
    GradesByJudge,
    TopicSetSummary,
    TopicSummary,
    count_judged,
    lower_medians,
    read_current_grades,
    summarise_topic_set,
)
from searchlab.judgments.database import Database
from searchlab.judgments.input_checks import (
    MAX_TEXT_LENGTH,
    check_docno,
    check_grade,
    check_judge,
    check_note,
    check_qid,
    check_text,
    check_topic_set,
    fold_case,
)
from searchlab.judgments.topic_rows import add_topic_row, find_topic_row, require_known_topics, resolve_topic
from searchlab.records import Topic

__all__ = ["ImportSummary", "Judgment", "JudgmentStore", "TopicSetSummary", "TopicSummary", "judgments_file"]

# A query is forgotten when so many others were asked since.
MAX_PAST_QUERIES = 10_000

_OF_SET = "last.topic IN (SELECT id FROM topics WHERE set_name = ?)"


@dataclass(frozen=True, slots=True)
class Judgment:
    """What a judge said of a document; the grade is None if it was taken back. `when` is a time in UTC."""

    set: str
    qid: str
    docno: str
    judge: str
    grade: int | None
    note: str
    when: str


@dataclass(frozen=True, slots=True)
class ImportSummary:
    """How many topics were added, and judgments added or changed; `…_same` were there already."""

    n_topics: int
    n_judgments: int
    n_topics_same: int
    n_judgments_same: int


def judgments_file(folder: Path) -> Path:
    """Where the judgments for an index are: beside it, so that they outlive making it anew."""
    return folder.with_name(f"{folder.name}.judgments.sqlite")


class JudgmentStore:
    """Topics and judgments in one file, for any number of threads and processes at once."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._database = Database(self.path)

    def close(self) -> None:
        """Let go of the file."""
        self._database.close()

    def __enter__(self) -> JudgmentStore:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def sets(self) -> list[TopicSetSummary]:
        """What sets there are, in the order in which they were made."""
        with self._database.reading() as connection:
            if connection is None:
                return []
            topics = connection.execute("SELECT id, set_name FROM topics ORDER BY id").fetchall()
            judged = read_current_grades(connection, "TRUE", ())
        sets: dict[str, list[GradesByJudge]] = {}
        for topic, name in topics:
            sets.setdefault(name, []).append(judged.get(topic, {}))
        return [summarise_topic_set(name, topics) for name, topics in sets.items()]

    def topics(self, set: str) -> list[TopicSummary]:
        """The topics of a set, in the order in which they were added."""
        with self._database.reading() as connection:
            if connection is None:
                return []
            topics = connection.execute(
                "SELECT id, qid, text FROM topics WHERE set_name = ? ORDER BY id", (set,)
            ).fetchall()
            judged = read_current_grades(connection, _OF_SET, (set,))
        return [TopicSummary(qid, text, *count_judged(judged.get(topic, {}))) for topic, qid, text in topics]

    def add_topic(self, set: str, text: str, qid: str | None = None) -> Topic:
        """Add a topic to a set, which comes to be by that; one that is there already stays as it is.

        Without a qid, a topic of the set with the same text, but for case and blanks, is the one that is meant; a new
        text gets the next free number.
        """
        set, text = check_topic_set(set), check_text(text)
        if qid is not None:
            check_qid(qid)
        with self._database.writing() as connection:
            if qid is None:
                qid, text = resolve_topic(connection, set, text)
            add_topic_row(connection, set, qid, text)
        return Topic(qid, text)

    def topic(self, set: str, qid: str) -> Topic | None:
        """A topic by its name."""
        with self._database.reading() as connection:
            row = connection and find_topic_row(connection, set, qid)
        return Topic(qid, row[1]) if row else None

    def find_topic(self, text: str) -> tuple[str, str] | None:
        """Set and qid of the first topic with this text, but for case and blanks."""
        folded = fold_case(text[: 4 * MAX_TEXT_LENGTH])
        with self._database.reading() as connection:
            row = (
                connection
                and connection.execute(
                    "SELECT set_name, qid FROM topics WHERE folded = ? ORDER BY id LIMIT 1", (folded,)
                ).fetchone()
            )
        return (row[0], row[1]) if row else None

    def judge(
        self, set: str, qid: str, docno: str, *, judge: str, grade: int | None, note: str | None = None
    ) -> Judgment:
        """Say how relevant a document is to a topic; it is on the disk when this returns.

        The grade None takes the judgment back. The note None leaves the note as it is. What changes nothing is no act,
        so that `undo` always takes back something that was visible.
        """
        check_docno(docno)
        check_judge(judge)
        grade = None if grade is None else check_grade(grade)
        note = None if note is None else check_note(note)
        with self._database.writing() as connection:
            row = find_topic_row(connection, set, qid)
            if row is None:
                raise SettingError(f"no topic {excerpt(qid)} in the set {excerpt(set)}; add it first")
            last = _last_act(connection, row[0], docno, judge)
            kept = last[1] if last else ""
            now = (grade, kept if note is None else note)
            if now == (last[:2] if last else (None, "")):
                return Judgment(set, qid, docno, judge, *now, last[2] if last else _now())
            when = _now()
            connection.execute(_ACT, (row[0], docno, judge, *now, when, False))
        return Judgment(set, qid, docno, judge, *now, when)

    def undo(self, judge: str) -> Judgment | None:
        """Take back the last act of a judge that was not undone yet, and give it; what was valid before is valid again.

        None if there is nothing left, or the last that happened is an import: that is not undone piece by piece.
        """
        with self._database.reading() as connection:
            if connection is None:
                return None
        with self._database.writing() as connection:
            row = connection.execute(
                "SELECT acts.id, imported, set_name, qid, docno, judge, grade, note, made"
                " FROM acts JOIN topics ON topics.id = acts.topic"
                " WHERE judge = ? AND acts.id NOT IN (SELECT act FROM undone) ORDER BY acts.id DESC LIMIT 1",
                (judge,),
            ).fetchone()
            if row is None or row[1]:
                return None
            connection.execute("INSERT INTO undone (act, made) VALUES (?, ?)", (row[0], _now()))
        return Judgment(*row[2:])

    def judgments(self, set: str, qid: str | None = None, judge: str | None = None) -> list[Judgment]:
        """What is valid, of all topics or one, of all judges or one; by topic, docno and judge."""
        where, values = _restricted(set, qid, judge)
        with self._database.reading() as connection:
            if connection is None:
                return []
            found = connection.execute(
                "SELECT qid, last.docno, last.judge, last.grade, note, made FROM last"
                " JOIN topics ON topics.id = last.topic JOIN acts ON acts.id = last.act"
                f" WHERE {where} AND last.grade IS NOT NULL ORDER BY last.topic, last.docno, last.judge",
                values,
            ).fetchall()
        return [Judgment(set, *row) for row in found]

    def grades(self, set: str, judge: str | None = None) -> dict[str, dict[str, int]]:
        """The grades by qid, then docno, as measures want them; of several judges, the lower median.

        Topics stand in their order; one without judgments is left out.
        """
        with self._database.reading() as connection:
            if connection is None:
                return {}
            topics = connection.execute("SELECT id, qid FROM topics WHERE set_name = ? ORDER BY id", (set,)).fetchall()
            judged = read_current_grades(connection, *_restricted(set, None, judge))
        return {qid: lower_medians(judged[topic]) for topic, qid in topics if topic in judged}

    def import_all(
        self, set: str, topics: Iterable[Topic], grades: Mapping[str, Mapping[str, int]], *, judge: str
    ) -> ImportSummary:
        """Add topics and judgments together, or, if anything is wrong, none; what is there already changes nothing."""
        check_topic_set(set)
        check_judge(judge)
        wanted = [Topic(check_qid(topic.qid), check_text(topic.text)) for topic in topics]
        for qid, own in grades.items():
            for docno, grade in own.items():
                check_docno(docno)
                check_grade(grade, f"the grade of document {excerpt(docno)} of topic {excerpt(qid)}")
        if not wanted and not grades:
            return ImportSummary(0, 0, 0, 0)
        where, values = _restricted(set, None, judge)
        with self._database.writing() as connection:
            n_topics = sum([add_topic_row(connection, set, topic.qid, topic.text) for topic in wanted])
            ids = dict(connection.execute("SELECT qid, id FROM topics WHERE set_name = ?", (set,)).fetchall())
            require_known_topics(set, [qid for qid in grades if qid not in ids])
            last = {
                row[:2]: row[2:]
                for row in connection.execute(
                    "SELECT last.topic, last.docno, last.grade, note FROM last JOIN acts ON acts.id = last.act"
                    f" WHERE {where}",
                    values,
                )
            }
            when, acts, n_same = _now(), [], 0
            for qid, own in grades.items():
                for docno, grade in own.items():
                    before, note = last.get((ids[qid], docno), (None, ""))
                    if before == grade:
                        n_same += 1
                    else:
                        acts.append((ids[qid], docno, judge, grade, note, when, True))
            connection.executemany(_ACT, acts)
        return ImportSummary(n_topics, len(acts), len(wanted) - n_topics, n_same)

    def remember_query(self, text: str) -> None:
        """Keep what was searched for, to suggest it again; the oldest are forgotten."""
        if not on_one_line(text):
            return
        text = check_text(text)
        with self._database.writing(durable=False) as connection:
            connection.execute("INSERT OR REPLACE INTO queries (folded, text) VALUES (?, ?)", (fold_case(text), text))
            connection.execute("DELETE FROM queries WHERE id <= (SELECT max(id) FROM queries) - ?", (MAX_PAST_QUERIES,))

    def past_queries(self, beginning: str, n: int) -> list[str]:
        """What was searched for that begins so, but for case and blanks, the latest first."""
        folded = fold_case(beginning[:MAX_TEXT_LENGTH])
        with self._database.reading() as connection:
            if connection is None:
                return []
            found = connection.execute(
                "SELECT text FROM queries WHERE folded >= ? AND folded < ? ORDER BY id DESC LIMIT ?",
                (folded, f"{folded}\U0010ffff", max(n, 0)),
            ).fetchall()
        return [text for (text,) in found]

    def version(self) -> int:
        """A number that is larger after each change of topics or judgments, by any process; 0 if there are none.

        Remembered queries do not count: every search would change it.
        """
        with self._database.reading() as connection:
            if connection is None:
                return 0
            tables = " + ".join(f"(SELECT ifnull(max(id), 0) FROM {table})" for table in ("topics", "acts", "undone"))
            return int(connection.execute(f"SELECT {tables}").fetchone()[0])


_ACT = "INSERT INTO acts (topic, docno, judge, grade, note, made, imported) VALUES (?, ?, ?, ?, ?, ?, ?)"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _restricted(set: str, qid: str | None, judge: str | None) -> tuple[str, list[str]]:
    """The acts on a set, or on a topic of it, of all judges or one."""
    where, values = _OF_SET, [set]
    if qid is not None:
        where, values = "last.topic = (SELECT id FROM topics WHERE set_name = ? AND qid = ?)", [set, qid]
    return (where, values) if judge is None else (f"{where} AND last.judge = ?", [*values, judge])


def _last_act(connection: sqlite3.Connection, topic: int, docno: str, judge: str) -> tuple[int | None, str, str] | None:
    row: tuple[int | None, str, str] | None = connection.execute(
        "SELECT acts.grade, note, made FROM last JOIN acts ON acts.id = last.act"
        " WHERE last.topic = ? AND last.docno = ? AND last.judge = ?",
        (topic, docno, judge),
    ).fetchone()
    return row
