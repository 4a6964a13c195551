"""Plans of imports: the topics and judgments that a file would add to a topic set, shown before anything is stored."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from searchlab.corpus.text_cleaning import excerpt
from searchlab.errors import SettingError, name_some
from searchlab.evaluation.number_text import format_count
from searchlab.judgments.exchange.judgment_tables import JudgmentRow, JudgmentTable, UnreadLine
from searchlab.judgments.input_checks import MAX_TEXT_LENGTH, check_qid, fold_case
from searchlab.judgments.judgment_store import ImportSummary, JudgmentStore
from searchlab.records import Topic


@dataclass(frozen=True)
class ImportPlan:
    """What an import adds: topics (old ones among them), grades by qid, then docno; and lines not understood.

    `remarks` are sentences about what else of the file is not imported.
    """

    kind: str
    topics: tuple[Topic, ...]
    grades: dict[str, dict[str, int]]
    unread: tuple[UnreadLine, ...]
    remarks: tuple[str, ...] = ()

    @property
    def n_judgments(self) -> int:
        """The number of pairs of topic and document."""
        return sum(map(len, self.grades.values()))


def plan_import(
    store: JudgmentStore, topic_set: str, table: JudgmentTable, find_docno: Callable[[str], str | None]
) -> ImportPlan:
    """What the rows of a file add to a topic set; `find_docno` gives the docno for an identifier, None if unknown.

    A query that the set has already is that topic; a new one gets the next free number, if the file has no qid for it.
    The last of several grades of one document counts.
    """
    known = {topic.qid: topic.text for topic in store.topics(topic_set)}
    by_text = {fold_case(text): qid for qid, text in known.items()}
    topics: dict[str, Topic] = {}
    grades: dict[str, dict[str, int]] = {}
    unread = list(table.unread)
    found: dict[str, str | None] = {}
    next_number, n_graded_again = 1, 0
    for row in table.rows:
        qid = row.qid or by_text.get(fold_case(row.query), "")
        problem = _problem_of(row, known, topics)
        if not qid and not problem:
            while str(next_number) in known or str(next_number) in topics:
                next_number += 1
            qid = str(next_number)
        docno = None
        if row.docnos and not problem:
            for each in row.docnos:
                found.setdefault(each, find_docno(each))
            docno = next((found[each] for each in row.docnos if found[each] is not None), None)
            if docno is None:
                problem = f"the document {excerpt(row.docnos[0])} is not in the index"
        if problem:
            shown = ", ".join(filter(None, [row.qid, row.query, *row.docnos[:1]]))
            unread.append(UnreadLine(row.line, excerpt(shown), problem))
            continue
        if qid not in known and row.query:
            topics.setdefault(qid, Topic(qid, row.query))
            by_text.setdefault(fold_case(row.query), qid)
        elif qid in known:
            topics.setdefault(qid, Topic(qid, known[qid]))
        if docno is not None and row.grade is not None:
            n_graded_again += grades.setdefault(qid, {}).get(docno, row.grade) != row.grade
            grades[qid][docno] = row.grade
    unread.sort(key=lambda each: each.line)
    remarks = []
    if n_graded_again:
        lines = format_count(n_graded_again, "line")
        remarks.append(
            f"{lines} {'gives' if n_graded_again == 1 else 'give'} a document another grade: the last counts."
        )
    if table.unused:
        columns = f"The column{'s' * (len(table.unused) > 1)} {name_some(map(excerpt, table.unused))}"
        remarks.append(f"{columns} {'is' if len(table.unused) == 1 else 'are'} not used.")
    return ImportPlan(table.kind, tuple(topics.values()), grades, tuple(unread), tuple(remarks))


def _problem_of(row: JudgmentRow, known: dict[str, str], topics: dict[str, Topic]) -> str:
    """What is wrong with the topic of a row; empty if nothing is."""
    if len(row.query) > MAX_TEXT_LENGTH:
        return f"the query has {len(row.query):,} characters, expected at most {MAX_TEXT_LENGTH:,}"
    if row.query and not any(map(str.isalnum, row.query)):
        return "the query has no words"
    if not row.qid:
        return ""
    try:
        check_qid(row.qid)
    except SettingError as error:
        return str(error)
    if not row.query and row.qid not in known and row.qid not in topics:
        return f"no topic of the set has the qid {excerpt(row.qid)}: import the topics first"
    if row.query and row.qid in known and fold_case(known[row.qid]) != fold_case(row.query):
        return f"the set has another topic with the qid {excerpt(row.qid)}"
    return ""


def describe_import(added: ImportSummary, n_unread: int) -> str:
    """The sentence about an import: 12 topics, 323 judgments added, 4 lines not understood."""
    parts = [f"{format_count(added.n_topics, 'topic')}, {format_count(added.n_judgments, 'judgment')} added"]
    n_old = added.n_topics_same + added.n_judgments_same
    if n_old:
        parts.append(f"{format_count(n_old, 'entry', 'entries')} {'was' if n_old == 1 else 'were'} there already")
    if n_unread:
        parts.append(f"{format_count(n_unread, 'line')} not understood")
    return "; ".join(parts)
