"""Import of tables, reference files and lists of queries: a preview of what is understood, then the import itself."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Mapping
from typing import Any

from searchlab.csv_text import to_csv
from searchlab.errors import SettingError
from searchlab.evaluation.number_text import format_count
from searchlab.judgments.exchange.import_plan import ImportPlan, describe_import, plan_import
from searchlab.judgments.exchange.judgment_tables import read_judgment_table
from searchlab.web.api.endpoint import Attachment
from searchlab.web.api.parameters import Parameter
from searchlab.web.http_errors import HttpError
from searchlab.web.limits import Limits
from searchlab.web.state.open_index import OpenIndex
from searchlab.web.state.request_state import RequestState

# Topics, judgments and lines that a preview shows.
MAX_SHOWN = 8
MAX_LISTED_LINES = 200
JUDGMENTS_TYPE = "text/csv"

CONTENT = Parameter(
    "content", "string", "the file, encoded as base64", default="", max_length=Limits().max_import_bytes
)
TEXT = Parameter("text", "string", "instead of a file: its text", default="", max_length=Limits().max_import_bytes)

_IDENTIFIER = re.compile(
    r"(?:doi:|https?://(?:dx\.)?doi\.org/)?10\.[0-9]{4,9}/\S+|(?:pmid:?)?\s*[0-9]{1,9}", re.IGNORECASE
)


def preview_import(state: RequestState, *, topic_set: str, content: str = "", text: str = "") -> dict[str, Any]:
    """What an import would add, with its first topics and judgments, and the lines that are not understood."""
    plan = _plan(state, topic_set, content, text)
    known = {topic.qid for topic in state.judgments.topics(topic_set)}
    return _record(state, topic_set, plan) | {
        "n_topics": sum(topic.qid not in known for topic in plan.topics),
        "n_judgments": plan.n_judgments,
        "topics": [
            {
                "qid": topic.qid,
                "text": topic.text,
                "n_judgments": len(plan.grades.get(topic.qid, {})),
                "is_new": topic.qid not in known,
            }
            for topic in plan.topics[:MAX_SHOWN]
        ],
    }


def import_table(
    state: RequestState, *, topic_set: str, judge: str, content: str = "", text: str = ""
) -> dict[str, Any]:
    """Import all that is understood; returns what was added, in numbers and in a sentence."""
    if not judge.strip():
        raise HttpError(400, "judge is empty, expected the name of the judge")
    plan = _plan(state, topic_set, content, text)
    if not plan.topics and not plan.grades:
        raise HttpError(400, f"nothing to import: {format_count(len(plan.unread), 'line')} not understood")
    added = state.judgments.import_judgments(topic_set, plan.topics, plan.grades, judge=judge)
    return _record(state, topic_set, plan) | {
        "n_topics": added.n_topics,
        "n_judgments": added.n_judgments,
        "sentence": describe_import(added, len(plan.unread)),
        "change": added.change,
    }


def export_judgments(state: RequestState, *, topic_set: str) -> str:
    """The judgments of a topic set as a table: query, document, grade, judge, note, time."""
    texts = {topic.qid: topic.text for topic in state.judgments.topics(topic_set)}
    header = ["query", "docid", "rating", "qid", "judge", "note", "when"]
    judgments = state.judgments.judgments(topic_set)
    rows = [
        [texts.get(each.qid, ""), each.docno, each.grade, each.qid, each.judge, each.note, each.when]
        for each in judgments
    ]
    return "\ufeff" + to_csv([header, *rows])


def judgments_attachment(values: Mapping[str, Any]) -> Attachment:
    """The name and type of the file that a browser saves."""
    return Attachment("judgments.csv", JUDGMENTS_TYPE)


def _plan(state: RequestState, topic_set: str, content: str, text: str) -> ImportPlan:
    if bool(content) == bool(text.strip()):
        raise HttpError(400, "expected either content or text: what is to be imported")
    try:
        data = base64.b64decode(content, validate=True) if content else text.encode()
    except (binascii.Error, ValueError):
        raise HttpError(400, "content is not base64") from None
    return plan_import(state.judgments, topic_set, read_judgment_table(data), _docno_finder(state.index))


def _docno_finder(index: OpenIndex) -> Callable[[str], str | None]:
    """Finds the docno for an identifier: the docno itself, or the PMID or DOI of one document."""

    def find(identifier: str) -> str | None:
        try:
            index.engine.snapshot.locate(identifier)
            return identifier
        except SettingError:
            if not _IDENTIFIER.fullmatch(identifier):
                return None
        found = index.engine.search(identifier, k=2, syntax="full")
        return found.docnos[0] if len(found) == 1 and found.query.node is not None else None

    return find


def _record(state: RequestState, topic_set: str, plan: ImportPlan) -> dict[str, Any]:
    return {
        "index": state.index.name,
        "topic_set": topic_set,
        "kind": plan.kind,
        "remarks": list(plan.remarks),
        "n_unread": len(plan.unread),
        "unread": [
            {"line": each.line, "text": each.text, "problem": each.problem} for each in plan.unread[:MAX_LISTED_LINES]
        ],
    }
