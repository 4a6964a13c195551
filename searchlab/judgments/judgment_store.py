"""The store of topics and judgments.

Topics belong to named topic sets. A judge gives a document a grade for a topic: 0 is not relevant, 1 relevant, 2 highly
relevant; collections may use other grades. Acts are only added, never changed: the current judgment of a judge on a
document is the last act that was not undone.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from searchlab.corpus.text_cleaning import excerpt, on_one_line
from searchlab.errors import SettingError
from searchlab.evaluation.number_text import format_count
from searchlab.judgments.act_undo import ActChange, ActScope, redo_last_act, undo_last_act
from searchlab.judgments.current_judgments import (
    GradesByJudge,
    TopicSetSummary,
    TopicSummary,
    count_judged,
    lower_medians,
    read_current_grades,
    summarise_topic_set,
)
from searchlab.judgments.input_checks import (
    MAX_TEXT_LENGTH,
    check_docno,
    check_grade,
    check_judge,
    check_qid,
    check_text,
    check_topic_set,
    fold_case,
)
from searchlab.judgments.judgment import GradedDocument, ImportSummary, Judgment, TakenBack
from searchlab.judgments.searches.query_history import add_query, find_queries
from searchlab.judgments.storage.database import Database
from searchlab.judgments.topics.topic_changes import BATCH, IMPORT, last_ids, record_change
from searchlab.judgments.topics.topic_editing import TopicEditor
from searchlab.judgments.topics.topic_rows import add_topic_row, find_topic_row, require_known_topics, resolve_topic
from searchlab.records import Judgments, Topic

__all__ = [
    "GradedDocument",
    "ImportSummary",
    "Judgment",
    "JudgmentStore",
    "TakenBack",
    "TopicSetSummary",
    "TopicSummary",
    "judgments_file",
]

_IN_TOPIC_SET = "last.topic IN (SELECT topic FROM current_topics WHERE set_name = ?)"


def judgments_file(folder: Path) -> Path:
    """The file of the judgments for an index: beside its folder, so that they survive a rebuild."""
    return folder.with_name(f"{folder.name}.judgments.sqlite")


class JudgmentStore:
    """Topics and judgments in one file, for any number of concurrent threads and processes.

    `editor` changes topics and topic sets, and undoes imports and other changes.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._database = Database(self.path)
        self.editor = TopicEditor(self._database)

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def verify(self) -> None:
        """Verify the whole file; raises IndexCorrupt if it is damaged."""
        self._database.verify()

    def __enter__(self) -> JudgmentStore:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def topic_sets(self) -> list[TopicSetSummary]:
        """Summaries of the topic sets, in the order of their creation."""
        with self._database.reading() as connection:
            if connection is None:
                return []
            topics = connection.execute("SELECT topic, set_name FROM current_topics ORDER BY topic").fetchall()
            grades = read_current_grades(connection, "TRUE", ())
        by_name: dict[str, list[GradesByJudge]] = {}
        for topic, name in topics:
            by_name.setdefault(name, []).append(grades.get(topic, {}))
        return [summarise_topic_set(name, topics) for name, topics in by_name.items()]

    def topics(self, topic_set: str) -> list[TopicSummary]:
        """Summaries of the topics of a topic set, in the order in which they were added."""
        with self._database.reading() as connection:
            if connection is None:
                return []
            topics = connection.execute(
                "SELECT topic, qid, text FROM current_topics WHERE set_name = ? ORDER BY topic", (topic_set,)
            ).fetchall()
            grades = read_current_grades(connection, _IN_TOPIC_SET, (topic_set,))
        return [TopicSummary(qid, text, *count_judged(grades.get(topic, {}))) for topic, qid, text in topics]

    def add_topic(self, topic_set: str, text: str, qid: str | None = None) -> Topic:
        """Add a topic to a topic set, which is created with its first topic; an existing topic is returned unchanged.

        Without a qid, the topic of the set with the same text, ignoring case and blanks, is returned if there is one;
        a new text gets the next free number as qid.
        """
        topic_set, text = check_topic_set(topic_set), check_text(text)
        if qid is not None:
            check_qid(qid)
        with self._database.writing() as connection:
            if qid is None:
                qid, text = resolve_topic(connection, topic_set, text)
            add_topic_row(connection, topic_set, qid, text, _now())
        return Topic(qid, text)

    def topic(self, topic_set: str, qid: str) -> Topic | None:
        """The topic with this qid, None if there is none."""
        with self._database.reading() as connection:
            row = connection and find_topic_row(connection, topic_set, qid)
        return Topic(qid, row[1]) if row else None

    def find_topic(self, text: str) -> tuple[str, str] | None:
        """Topic set and qid of the first topic with this text, ignoring case and blanks."""
        folded = fold_case(text[: 4 * MAX_TEXT_LENGTH])
        with self._database.reading() as connection:
            row = (
                connection
                and connection.execute(
                    "SELECT set_name, qid FROM current_topics WHERE folded = ? ORDER BY topic LIMIT 1", (folded,)
                ).fetchone()
            )
        return (row[0], row[1]) if row else None

    def judge(
        self, topic_set: str, qid: str, docno: str, *, judge: str, grade: int | None, note: str | None = None
    ) -> Judgment:
        """Grade a document for a topic; the judgment is on disk when this returns.

        The grade None withdraws the judgment. The note None keeps the note. A call that changes nothing adds no act, so
        that `undo` always has a visible effect.
        """
        return self.judge_all(topic_set, qid, [GradedDocument(docno, grade, note)], judge=judge)[0]

    def judge_all(self, topic_set: str, qid: str, documents: Iterable[GradedDocument], *, judge: str) -> list[Judgment]:
        """Grade several documents for a topic: all of them or, if anything is wrong, none.

        `undo` undoes them at once.
        """
        check_judge(judge)
        checked = [document.checked() for document in documents]
        with self._database.writing() as connection:
            row = find_topic_row(connection, topic_set, qid)
            if row is None:
                raise SettingError(f"no topic {excerpt(qid)} in the topic set {excerpt(topic_set)}; add it first")
            return _add_acts(connection, row, (topic_set, qid), checked, judge)

    def judge_query(
        self, topic_set: str, text: str, documents: Iterable[GradedDocument], *, judge: str
    ) -> list[Judgment]:
        """Grade several documents for the topic of a set with a text, which is added; all of it or nothing."""
        check_judge(judge)
        topic_set, text = check_topic_set(topic_set), check_text(text)
        checked = [document.checked() for document in documents]
        with self._database.writing() as connection:
            qid, text = resolve_topic(connection, topic_set, text)
            add_topic_row(connection, topic_set, qid, text, _now())
            row = find_topic_row(connection, topic_set, qid)
            assert row is not None  # it was added
            return _add_acts(connection, row, (topic_set, qid), checked, judge)

    def undo(self, judge: str, topic_set: str | None = None, qid: str | None = None) -> TakenBack | None:
        """Undo the last act of a judge that is not undone yet; the judgment before it is current again.

        With a topic set, the last act on its topics; with a qid, too, on that topic. What was judged or imported
        together is undone together. None if there is nothing to undo, or if the last act on a topic was an import,
        which is undone with the topic set or without.
        """
        return self._with_last_act(judge, topic_set, qid, undo_last_act)

    def redo(self, judge: str, topic_set: str | None = None, qid: str | None = None) -> TakenBack | None:
        """Do again what a judge undid last, and return it; None if something else was done since."""
        return self._with_last_act(judge, topic_set, qid, redo_last_act)

    def _with_last_act(self, judge: str, topic_set: str | None, qid: str | None, change: ActChange) -> TakenBack | None:
        with self._database.reading() as connection:
            if connection is None:
                return None
            row = None if topic_set is None or qid is None else find_topic_row(connection, topic_set, qid)
            if row is None and qid is not None:
                return None
        scope = ActScope(judge, None if row is None else row[0], topic_set)
        with self._database.writing() as connection:
            found = change(connection, scope, _now())
        return None if found is None else TakenBack(tuple(Judgment(*act) for act in found.acts), found.what)

    def judgments(self, topic_set: str, qid: str | None = None, judge: str | None = None) -> list[Judgment]:
        """The current judgments of all topics or one, by all judges or one; ordered by topic, docno and judge."""
        where, values = _where(topic_set, qid, judge)
        with self._database.reading() as connection:
            if connection is None:
                return []
            rows = connection.execute(
                "SELECT qid, last.docno, last.judge, last.grade, note, made FROM last"
                " JOIN current_topics ON current_topics.topic = last.topic JOIN acts ON acts.id = last.act"
                f" WHERE {where} AND last.grade IS NOT NULL ORDER BY last.topic, last.docno, last.judge",
                values,
            ).fetchall()
        return [Judgment(topic_set, *row) for row in rows]

    def grades(self, topic_set: str, judge: str | None = None) -> dict[str, dict[str, int]]:
        """The grades by qid, then docno, for evaluation: of one judge, or the lower median of all.

        Topics are in the order of the topic set; those without judgments are left out.
        """
        with self._database.reading() as connection:
            if connection is None:
                return {}
            topics = connection.execute(
                "SELECT topic, qid FROM current_topics WHERE set_name = ? ORDER BY topic", (topic_set,)
            ).fetchall()
            grades = read_current_grades(connection, *_where(topic_set, None, judge))
        return {qid: lower_medians(grades[topic]) for topic, qid in topics if topic in grades}

    def import_judgments(
        self, topic_set: str, topics: Iterable[Topic], grades: Judgments, *, judge: str
    ) -> ImportSummary:
        """Add topics and judgments, all of them or, if anything is wrong, none; existing ones change nothing."""
        check_topic_set(topic_set)
        check_judge(judge)
        checked = [Topic(check_qid(topic.qid), check_text(topic.text)) for topic in topics]
        for qid, judged in grades.items():
            for docno, grade in judged.items():
                check_docno(docno)
                check_grade(grade, f"the grade of document {excerpt(docno)} of topic {excerpt(qid)}")
        if not checked and not grades:
            return ImportSummary(0, 0, 0, 0)
        where, values = _where(topic_set, None, judge)
        with self._database.writing() as connection:
            before, when = last_ids(connection), _now()
            n_topics = sum([add_topic_row(connection, topic_set, topic.qid, topic.text, when) for topic in checked])
            known = connection.execute("SELECT qid, topic FROM current_topics WHERE set_name = ?", (topic_set,))
            ids = dict(known.fetchall())
            require_known_topics(topic_set, [qid for qid in grades if qid not in ids])
            last = {
                row[:2]: row[2:]
                for row in connection.execute(
                    "SELECT last.topic, last.docno, last.grade, note FROM last JOIN acts ON acts.id = last.act"
                    f" WHERE {where}",
                    values,
                )
            }
            acts, n_same = [], 0
            for qid, judged in grades.items():
                for docno, grade in judged.items():
                    old_grade, note = last.get((ids[qid], docno), (None, ""))
                    if old_grade == grade:
                        n_same += 1
                    else:
                        acts.append((ids[qid], docno, judge, grade, note, when, True))
            connection.executemany(_INSERT_ACT, acts)
            change = None
            if n_topics or acts:
                counted = f"{format_count(n_topics, 'topic')} and {format_count(len(acts), 'judgment')}"
                what = f"imported {counted} into {topic_set}"
                change = record_change(connection, IMPORT, what, judge, when, (), before)
        return ImportSummary(n_topics, len(acts), len(checked) - n_topics, n_same, change)

    def record_queries(self, *texts: str) -> None:
        """Add queries to the past queries, of which the oldest are deleted; empty ones are ignored."""
        checked = [check_text(text) for text in texts if on_one_line(text)]
        if checked:
            with self._database.writing(durable=False) as connection:
                for text in checked:
                    add_query(connection, text)

    def past_queries(self, prefix: str, n: int) -> list[str]:
        """The latest n past queries that start with a prefix, ignoring case and blanks."""
        with self._database.reading() as connection:
            return [] if connection is None else find_queries(connection, prefix, n)

    def delete_past_queries(self) -> int:
        """Delete all past queries; returns their number."""
        with self._database.writing() as connection:
            return connection.execute("DELETE FROM queries").rowcount

    def version(self) -> int:
        """A number that increases with each change of topics or judgments, by any process; 0 if there are none.

        Past queries do not change it, because every search adds one.
        """
        with self._database.reading() as connection:
            if connection is None:
                return 0
            tables = " + ".join(f"(SELECT ifnull(max(id), 0) FROM {table})" for table in _COUNTED)
            return int(connection.execute(f"SELECT {tables}").fetchone()[0])


_COUNTED = ("topics", "acts", "undone", "versions")
_INSERT_ACT = "INSERT INTO acts (topic, docno, judge, grade, note, made, imported) VALUES (?, ?, ?, ?, ?, ?, ?)"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _add_acts(
    connection: sqlite3.Connection,
    topic: tuple[int, str],
    of: tuple[str, str],
    documents: list[GradedDocument],
    judge: str,
) -> list[Judgment]:
    """Add acts on a topic, given by its row id and text; several are one change, which is undone as a whole."""
    before = last_ids(connection)
    judged = [_add_act(connection, topic[0], of, document, judge) for document in documents]
    n_added = last_ids(connection).act - before.act
    if n_added > 1:
        what = f"{format_count(n_added, 'judgment')} for {excerpt(topic[1])} of {of[0]}"
        record_change(connection, BATCH, what, judge, _now(), (), before)
    return judged


def _add_act(
    connection: sqlite3.Connection, topic: int, of: tuple[str, str], document: GradedDocument, judge: str
) -> Judgment:
    """Add an act on a topic, unless it would change nothing; `of` are its topic set and qid."""
    last = _last_act(connection, topic, document.docno, judge)
    old_note = last[1] if last else ""
    new = (document.grade, old_note if document.note is None else document.note)
    if new == (last[:2] if last else (None, "")):
        return Judgment(*of, document.docno, judge, *new, last[2] if last else _now())
    when = _now()
    connection.execute(_INSERT_ACT, (topic, document.docno, judge, *new, when, False))
    return Judgment(*of, document.docno, judge, *new, when)


def _where(topic_set: str, qid: str | None, judge: str | None) -> tuple[str, list[str]]:
    """The SQL condition for the judgments of a topic set or one of its topics, by all judges or one, and its values."""
    where, values = _IN_TOPIC_SET, [topic_set]
    if qid is not None:
        where, values = (
            "last.topic = (SELECT topic FROM current_topics WHERE set_name = ? AND qid = ?)",
            [topic_set, qid],
        )
    return (where, values) if judge is None else (f"{where} AND last.judge = ?", [*values, judge])


def _last_act(connection: sqlite3.Connection, topic: int, docno: str, judge: str) -> tuple[int | None, str, str] | None:
    row: tuple[int | None, str, str] | None = connection.execute(
        "SELECT acts.grade, note, made FROM last JOIN acts ON acts.id = last.act"
        " WHERE last.topic = ? AND last.docno = ? AND last.judge = ?",
        (topic, docno, judge),
    ).fetchone()
    return row
