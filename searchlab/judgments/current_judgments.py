"""The current grades of topics, and summaries of topics and topic sets.

A judge's current grade of a document is that of the last act. If several judges have graded a document, its grade is
the lower median of theirs: of two, the lower.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

# The grades of one topic, by judge, then docno.
GradesByJudge = dict[str, dict[str, int]]


@dataclass(frozen=True, slots=True)
class TopicSummary:
    """A topic, with the numbers of its judged and of its relevant documents."""

    qid: str
    text: str
    n_judged: int
    n_relevant: int


@dataclass(frozen=True, slots=True)
class TopicSetSummary:
    """A topic set. `n_judgments` counts pairs of topic and document, whether judged once or by several judges."""

    name: str
    n_topics: int
    n_judged_topics: int
    n_judgments: int
    n_relevant: int
    judges: tuple[str, ...]


def read_current_grades(connection: sqlite3.Connection, where: str, values: Sequence[str]) -> dict[int, GradesByJudge]:
    """The current grades by topic, judge and docno. JSON from SQLite takes a third of the time of separate rows."""
    rows = connection.execute(
        "SELECT topic, judge, json_group_object(docno, grade) FROM last"
        f" WHERE {where} AND grade IS NOT NULL GROUP BY topic, judge ORDER BY topic, judge",
        values,
    )
    by_topic: dict[int, GradesByJudge] = {}
    for topic, judge, grades in rows:
        by_topic.setdefault(topic, {})[judge] = json.loads(grades)
    return by_topic


def lower_medians(by_judge: GradesByJudge) -> dict[str, int]:
    """The grade of each document: the lower median of the judges' grades."""
    if len(by_judge) == 1:
        return next(iter(by_judge.values()))
    by_docno: dict[str, list[int]] = {}
    for judged in by_judge.values():
        for docno, grade in judged.items():
            by_docno.setdefault(docno, []).append(grade)
    return {docno: sorted(grades)[(len(grades) - 1) // 2] for docno, grades in by_docno.items()}


def count_judged(by_judge: GradesByJudge) -> tuple[int, int]:
    """The numbers of judged and of relevant documents."""
    grades = lower_medians(by_judge).values()
    return len(grades), sum([grade > 0 for grade in grades])


def summarise_topic_set(name: str, topics: Sequence[GradesByJudge]) -> TopicSetSummary:
    """The summary of a topic set, given the grades of each of its topics."""
    counts = [count_judged(by_judge) for by_judge in topics]
    n_judgments, n_relevant = (sum(column) for column in zip(*counts, strict=True))
    judges = sorted({judge for by_judge in topics for judge in by_judge})
    return TopicSetSummary(name, len(topics), sum(n > 0 for n, _ in counts), n_judgments, n_relevant, tuple(judges))
