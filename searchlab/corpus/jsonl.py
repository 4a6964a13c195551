"""How are JSON lines read?

One object a line. The name, the title and the text are looked for under the keys that collections use
for them, the first that is present wins; all other keys are kept in `fields`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

from searchlab.corpus.characters import clean
from searchlab.corpus.files import OpenedFile
from searchlab.corpus.names import check_name
from searchlab.corpus.parts import TopicParts
from searchlab.errors import RecordError
from searchlab.records import Document

DOCNO_KEYS = ("docno", "doc_id", "docid", "id", "_id")
BODY_KEYS = ("body", "text", "abstract", "contents")
QID_KEYS = ("qid", "query_id", "topic_id", "id", "_id", "num")
QUERY_KEYS = ("query", "text", "title")
# The limit of Python's parser differs between versions; a file must not be readable by some only.
DEEPEST_NESTING = 100

_KINDS = {dict: "an object", list: "a list", str: "a string", bool: "true or false", type(None): "null"}


def is_jsonl(opened: OpenedFile) -> bool:
    """Anything that begins with a brace."""
    return opened.head.lstrip().startswith("{")


def read_jsonl_documents(opened: OpenedFile) -> Iterator[Document]:
    """The documents of the file, one a line."""
    for place, record in _read_objects(opened):
        docno = _take_name("docno", DOCNO_KEYS, record, place)
        title = _text("title", record.pop("title", None), place)
        body_key = _first_key(BODY_KEYS, record)
        body = _text(body_key, record.pop(body_key, None), place)
        yield Document(docno, title, body, record, place)


def read_jsonl_topics(opened: OpenedFile) -> Iterator[TopicParts]:
    """The topics of the file, one a line."""
    for place, record in _read_objects(opened):
        qid = _take_name("qid", QID_KEYS, record, place)
        main = _first_key(QUERY_KEYS, record)
        parts = {main: _text(main, record.pop(main, None), place)}
        for key, value in record.items():
            if value is not None:
                parts[key] = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        yield TopicParts(qid, parts, main, place)


def _read_objects(opened: OpenedFile) -> Iterator[tuple[str, dict[str, Any]]]:
    for number, line in opened.lines():
        if line.strip():
            place = opened.place(number)
            yield place, _parse_object(line, place)


def _parse_object(line: str, place: str) -> dict[str, Any]:
    try:
        value = _cleaned(_DECODER.decode(line))
    except RecursionError:
        raise RecordError(place, "expected a JSON object, found one nested too deeply") from None
    except json.JSONDecodeError as error:
        reason = f"{error.msg} at column {error.colno}"
        raise RecordError(place, f"expected a JSON object, found invalid JSON ({reason})") from None
    except ValueError as error:
        raise RecordError(place, f"expected a JSON object, found invalid JSON ({error})") from None
    if not isinstance(value, dict):
        raise RecordError(place, f"expected a JSON object, found {_kind(value)}")
    return value


def _refuse_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


# json.loads would make a decoder of this kind anew for every line.
_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)


def _cleaned(value: Any, depth: int = 0) -> Any:
    """`value` with clean strings: escapes such as \\u0000 and \\ud800 get past the cleaning of lines."""
    if depth > DEEPEST_NESTING:
        raise RecursionError
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list):
        return [_cleaned(item, depth + 1) for item in value]
    if isinstance(value, dict):
        return {clean(key): _cleaned(item, depth + 1) for key, item in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("a number is too large")
    return value


def _first_key(keys: Sequence[str], record: dict[str, Any]) -> str:
    return next((key for key in keys if key in record), keys[0])


def _take_name(kind: str, keys: Sequence[str], record: dict[str, Any], place: str) -> str:
    key = _first_key(keys, record)
    if key not in record:
        raise RecordError(place, f"expected a {kind} (one of {', '.join(keys)}), found none")
    value = record.pop(key)
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise RecordError(place, f"expected a string or an integer as {key}, found {_kind(value)}")
    return check_name(kind, str(value), place)


def _text(key: str, value: Any, place: str) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, list):
        raise RecordError(place, f"expected text as {key}, found {_kind(value)}")
    for item in value:
        if not isinstance(item, str):
            raise RecordError(place, f"expected a list of strings as {key}, found {_kind(item)} in it")
    return "\n".join(value)


def _kind(value: object) -> str:
    return _KINDS.get(type(value), "a number")
