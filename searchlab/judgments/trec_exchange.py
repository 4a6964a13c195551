"""How do judgments and topics go out as files of TREC, and come in?

    qrels     qid 0 docno grade     a line a judgment, columns parted by blanks
    topics    qid⇥text              a line a topic

What goes out is read back the same, by `corpus.read_qrels` and `corpus.read_topics`; what these read can come in. It
comes in as a whole, or, if anything is wrong, not at all; coming in twice changes nothing.
"""

from __future__ import annotations

from searchlab.corpus import read_qrels, read_topics
from searchlab.corpus.source_files import source_from_text
from searchlab.corpus.text_cleaning import excerpt
from searchlab.errors import SettingError
from searchlab.judgments.input_checks import is_column
from searchlab.judgments.judgment_store import Imported, JudgmentStore


def qrels_text(store: JudgmentStore, set: str, judge: str | None = None) -> str:
    """The grades of a set, of one judge or, as the lower median, of all; by topic, then docno."""
    lines = []
    for qid, own in store.grades(set, judge).items():
        for docno in sorted(own):
            if not is_column(docno):
                told = "columns of qrels are parted by blanks, and cannot hold it"
                raise SettingError(f"topic {qid}: a judged document is called {excerpt(docno)}; {told}")
            lines.append(f"{qid} 0 {docno} {own[docno]}\n")
    return "".join(lines)


def topics_text(store: JudgmentStore, set: str) -> str:
    """The topics of a set, in their order."""
    return "".join(f"{topic.qid}\t{topic.text}\n" for topic in store.topics(set))


def import_texts(
    store: JudgmentStore, set: str, *, topics: str | None = None, qrels: str | None = None, judge: str
) -> Imported:
    """Take in topics and judgments, written in any way that searchlab reads; messages name `topics:3`, `qrels:12`.

    Judgments for topics that are neither in the set nor come along are refused.
    """
    if topics is None and qrels is None:
        raise SettingError("nothing to import: expected topics, judgments or both")
    new_topics = [] if topics is None else read_topics(source_from_text("topics", topics))
    grades = {} if qrels is None else read_qrels(source_from_text("qrels", qrels))
    return store.import_all(set, new_topics, grades, judge=judge)
