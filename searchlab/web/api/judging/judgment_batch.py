"""Batch judging: several judgments of one topic in one request; and the withdrawal of a judgment."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from searchlab.errors import SettingError
from searchlab.judgments.judgment_store import GradedDocument
from searchlab.web.api.judging.judge import GRADE, NOTE, grade_documents, judge_document
from searchlab.web.api.parameters import DOCNO, QUERY, Parameter
from searchlab.web.api.search.search import require_document
from searchlab.web.http_errors import HttpError, to_http_error
from searchlab.web.state.request_state import RequestState

MAX_JUDGMENTS = 1000

JUDGMENTS = Parameter(
    "judgments",
    "records",
    "documents with their grades",
    fields=(DOCNO, GRADE, replace(NOTE, default=None)),
    max_items=MAX_JUDGMENTS,
)
BATCH_QUERY = replace(QUERY, name="query", description="instead of topic_set and qid: the query", default="")


def judge_batch(
    state: RequestState, *, judgments: list[dict[str, Any]], judge: str, topic_set: str, qid: str, query: str
) -> dict[str, Any]:
    """Grade several documents for one topic or query: all of them or, if one cannot be judged, none."""
    if not judgments:
        raise HttpError(400, "judgments is empty, expected documents with their grades", field="judgments")
    documents = [GradedDocument(**each) for each in judgments]
    for number, document in enumerate(documents):
        try:
            require_document(state.index, document.docno)
            document.checked()
        except (HttpError, SettingError) as error:
            found = to_http_error(error)
            assert found is not None  # no internal error
            where = f"judgment {number + 1} of {len(documents)}; none is stored"
            raise HttpError(found.status, f"{where}: {found.message}", field=f"judgments[{number}]") from None
    judged = grade_documents(state, documents, judge=judge, topic_set=topic_set, qid=qid, query=query)
    return {"judged": judged, "n_judged": len(judged)}


def withdraw_grade(state: RequestState, *, docno: str, judge: str, topic_set: str, qid: str) -> dict[str, Any]:
    """Withdraw the grade that a judge gave a document for a topic; the act is recorded, and can be undone."""
    return judge_document(state, docno=docno, grade=None, judge=judge, topic_set=topic_set, qid=qid)
