"""Documents and topics in JSON lines: one object a line (see `keyed_records` for its keys)."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any, NoReturn

import orjson

from searchlab.corpus.parsing.keyed_records import keyed_document, keyed_topic, kind_of
from searchlab.corpus.parsing.topic_parts import TopicParts
from searchlab.corpus.source_files import OpenedFile
from searchlab.corpus.text_cleaning import clean
from searchlab.errors import RecordError
from searchlab.records import Document

# The limit of Python's parser depends on its version; the same files must be readable with every version.
MAX_NESTING_DEPTH = 100
# Whole numbers below this one are exact in 64 bits.
LARGE_NUMBER = 2.0**63
# The only control character of ASCII that JSON allows within strings.
DELETE = "\x7f"
JSON_SUFFIXES = frozenset({".json", ".jsonl", ".ndjson"})

_TEXTS = frozenset({str})
_HEAD = re.compile(r"\s*+\{\s*+[\"}]")


def is_jsonl(opened: OpenedFile) -> bool:
    """Whether the file begins as an object does, or with a brace if it is named as JSON: RTF begins with one too."""
    named = opened.suffix in JSON_SUFFIXES and opened.head.lstrip().startswith("{")
    return named or _HEAD.match(opened.head) is not None


def read_jsonl_documents(opened: OpenedFile) -> Iterator[Document]:
    """The documents of the file, one for each line."""
    # One loop, since most of the time of reading is spent on each line and not on its text.
    for number, line in opened.records(_is_cleaned_later):
        if not line.strip():
            continue
        try:
            document = keyed_document(*parse_object((opened.location(number), line)))
        except RecordError as error:
            opened.reading.reject(error)
        else:
            yield document


def read_jsonl_topics(opened: OpenedFile) -> Iterator[TopicParts]:
    """The topics of the file, one for each line."""
    return opened.reading.parse_each(lambda line: keyed_topic(*parse_object(line)), _non_blank_lines(opened))


def _non_blank_lines(opened: OpenedFile) -> Iterator[tuple[str, str]]:
    return ((opened.location(number), line) for number, line in opened.records() if line.strip())


def _is_cleaned_later(line: str) -> bool:
    """Whether a line need not be clean: as JSON it is refused if it has control characters in strings (see `_decode`).

    To look for them in every line takes three times as long as to parse it.
    """
    return (line.isascii() and line.startswith("{") and DELETE not in line) or line.isprintable()


def parse_object(located: tuple[str, str]) -> tuple[str, dict[str, Any]]:
    """The object in a text, with its location; its strings are clean."""
    location, line = located
    try:
        value = _decode(line)
    except RecursionError:
        raise RecordError(location, "expected a JSON object, found one nested too deeply") from None
    except json.JSONDecodeError as error:
        reason = f"{error.msg} at column {error.colno}"
        raise RecordError(location, f"expected a JSON object, found invalid JSON ({reason})") from None
    except ValueError as error:
        raise RecordError(location, f"expected a JSON object, found invalid JSON ({error})") from None
    if not isinstance(value, dict):
        raise RecordError(location, f"expected a JSON object, found {kind_of(value)}")
    return location, value


def _decode(line: str) -> Any:
    """The value of a text; its strings are clean.

    It is what Python's decoder reads of the text when it is cleaned; its messages also explain errors.
    """
    try:
        value = orjson.loads(line)
        # JSON has no control characters within strings: they are clean.
        if type(value) is dict and "\\" not in line and {*map(type, value.values())} <= _TEXTS:
            return value
        return _clean_strings(value)
    except (orjson.JSONDecodeError, _LargeNumber):
        return _clean_strings(_DECODER.decode(clean(line)), is_exact=True)


class _LargeNumber(Exception):
    """A number that may be a whole number of more than 64 bits, of which orjson makes a floating-point number."""


def _refuse_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


# json.loads would create such a decoder for every line.
_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)


def _clean_strings(value: Any, depth: int = 0, *, is_exact: bool = False) -> Any:
    """`value` with clean strings: escapes such as \\u0000 and \\ud800 survive the cleaning of lines.

    Raises _LargeNumber for a number that may not be exact, unless all are.
    """
    if depth > MAX_NESTING_DEPTH:
        raise RecursionError
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list):
        return [_clean_strings(item, depth + 1, is_exact=is_exact) for item in value]
    if isinstance(value, dict):
        return {clean(key): _clean_strings(item, depth + 1, is_exact=is_exact) for key, item in value.items()}
    if isinstance(value, float):
        if not is_exact and abs(value) >= LARGE_NUMBER:
            raise _LargeNumber
        if not math.isfinite(value):
            raise ValueError("a number is too large")
    return value
