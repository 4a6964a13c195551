"""Documents and topics from records of named values: JSON lines, tables and ir_datasets.

The docno or qid, the title and the text are taken from the keys that collections use for them, of which the first
present one counts; all other values go to `fields`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from searchlab.corpus.parsing.identifiers import check_name, is_plain
from searchlab.corpus.parsing.topic_parts import TopicParts
from searchlab.errors import RecordError
from searchlab.records import Document

DOCNO_KEYS = ("docno", "doc_id", "docid", "id", "_id")
TITLE_KEY = "title"
BODY_KEYS = ("body", "text", "abstract", "contents")
QID_KEYS = ("qid", "query_id", "topic_id", "id", "_id", "num")
QUERY_KEYS = ("query", "text", "title")

_KINDS = {dict: "an object", list: "a list", str: "a string", bool: "true or false", type(None): "null"}


def keyed_document(location: str, record: dict[str, Any]) -> Document:
    """The document of a record of plain JSON values."""
    others = dict(record)
    docno = others.get(DOCNO_KEYS[0])
    # What most documents have is found without calls.
    if type(docno) is str and is_plain(docno):
        del others[DOCNO_KEYS[0]]
    else:
        docno = _take_name("docno", DOCNO_KEYS, others, location)
    title = others.pop(TITLE_KEY, None)
    if type(title) is not str:
        title = _text(TITLE_KEY, title, location)
    body_key = BODY_KEYS[0] if BODY_KEYS[0] in others else _first_key(BODY_KEYS, others)
    body = others.pop(body_key, None)
    if type(body) is not str:
        body = _text(body_key, body, location)
    return Document(docno, title, body, others, location)


def keyed_topic(location: str, record: dict[str, Any]) -> TopicParts:
    """The topic of a record of plain JSON values."""
    others = dict(record)
    qid = _take_name("qid", QID_KEYS, others, location)
    main = _first_key(QUERY_KEYS, others)
    parts = {main: _text(main, others.pop(main, None), location)}
    for key, value in others.items():
        if value is not None:
            parts[key] = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return TopicParts(qid, parts, main, location)


def kind_of(value: object) -> str:
    """The kind of a plain JSON value, for messages."""
    return _KINDS.get(type(value), "a number")


def _first_key(keys: Sequence[str], record: dict[str, Any]) -> str:
    for key in keys:
        if key in record:
            return key
    return keys[0]


def _take_name(kind: str, keys: Sequence[str], record: dict[str, Any], location: str) -> str:
    key = _first_key(keys, record)
    if key not in record:
        raise RecordError(location, f"expected a {kind} (one of {', '.join(keys)}), found none")
    value = record.pop(key)
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise RecordError(location, f"expected a string or an integer as {key}, found {kind_of(value)}")
    return check_name(kind, str(value), location)


def _text(key: str, value: Any, location: str) -> str:
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, list):
        raise RecordError(location, f"expected text as {key}, found {kind_of(value)}")
    for item in value:
        if not isinstance(item, str):
            raise RecordError(location, f"expected a list of strings as {key}, found {kind_of(item)} in it")
    return "\n".join(value)
