"""Export and import of judgments and topics as TREC files.

    qrels     qid 0 docno grade     a line for each judgment, columns separated by blanks
    topics    qid⇥text              a line for each topic

`corpus.read_qrels` and `corpus.read_topics` read exported files back unchanged, and every format that they read can be
imported. An import is complete or, if anything is wrong, has no effect; importing twice changes nothing.
"""

from __future__ import annotations

from searchlab.corpus import read_qrels, read_topics
from searchlab.corpus.parsing.identifiers import is_column
from searchlab.corpus.source_files import source_from_text
from searchlab.corpus.text_cleaning import excerpt
from searchlab.errors import SettingError
from searchlab.judgments.judgment_store import ImportSummary, JudgmentStore


def format_qrels(store: JudgmentStore, topic_set: str, judge: str | None = None) -> str:
    """The grades of a topic set as qrels, of one judge or, as the lower median, of all; by topic, then docno."""
    lines = []
    for qid, grades in store.grades(topic_set, judge).items():
        for docno in sorted(grades):
            if not is_column(docno):
                expected = "expected a docno without blanks, which separate the columns of qrels"
                raise SettingError(f"topic {qid}: the docno of a judged document is {excerpt(docno)}; {expected}")
            lines.append(f"{qid} 0 {docno} {grades[docno]}\n")
    return "".join(lines)


def format_topics(store: JudgmentStore, topic_set: str) -> str:
    """The topics of a topic set in their order, as lines of qid, tab and text."""
    return "".join(f"{topic.qid}\t{topic.text}\n" for topic in store.topics(topic_set))


def import_texts(
    store: JudgmentStore, topic_set: str, *, topics: str | None = None, qrels: str | None = None, judge: str
) -> ImportSummary:
    """Import topics and judgments in any format that searchlab reads; messages name `topics:3`, `qrels:12`.

    Judgments for topics that are neither in the topic set nor in `topics` are an error.
    """
    if topics is None and qrels is None:
        raise SettingError("nothing to import: expected topics, judgments or both")
    new_topics = [] if topics is None else read_topics(source_from_text("topics", topics))
    grades = {} if qrels is None else read_qrels(source_from_text("qrels", qrels))
    return store.import_judgments(topic_set, new_topics, grades, judge=judge)
