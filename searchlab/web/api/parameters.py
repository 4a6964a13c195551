"""Parameters of requests: each is declared once; values are checked, and the API is described, by the declaration."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from searchlab.web.http_errors import HttpError

REQUIRED: Any = object()
MAX_LENGTH = 1000
MAX_ITEMS = 20
# Each kind in the words of an error message.
KINDS = {
    "string": "a text",
    "strings": "texts",
    "records": "a list of objects",
    "boolean": "true or false",
    "integer": "a whole number",
    "number": "a number",
}
_WORD = re.compile(r"[a-z_0-9]+")
# What a message calls a system.
_SYSTEM_KINDS = {"model": "system", "scorer": "system"}
_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}


@dataclass(frozen=True)
class Parameter:
    """A name, the kind of its value (one of `KINDS`), and a description.

    `minimum` and `maximum` bound numbers, `max_length` bounds texts, and `max_items` the number of texts. A whole
    number that is `nullable` may be null. Each of `records` is an object with `fields`; only bodies of JSON have them.
    """

    name: str
    kind: str
    description: str
    default: Any = REQUIRED
    minimum: float | None = None
    maximum: float | None = None
    choices: Sequence[str] | None = None
    max_length: int = MAX_LENGTH
    max_items: int = MAX_ITEMS
    nullable: bool = False
    fields: tuple[Parameter, ...] = ()

    @property
    def required(self) -> bool:
        """Whether a request must have it."""
        return self.default is REQUIRED

    def parse(self, texts: Sequence[str]) -> Any:
        """The value from the texts of a query string or form."""
        if self.kind == "strings":
            return self.check([text for text in texts if text])
        text = texts[-1]
        if self.kind == "string":
            return self.check(text)
        if self.kind == "boolean":
            return self.check(_BOOLEANS.get(text, text))
        if self.nullable and not text:
            return None
        try:
            return self.check(int(text) if self.kind == "integer" else float(text))
        except ValueError:
            raise self._unexpected(text) from None

    def check(self, value: Any) -> Any:
        """The value, if it is as declared."""
        if self.kind == "strings":
            if not isinstance(value, list):
                raise self._unexpected(value)
            if len(value) > self.max_items:
                raise self._error(f"{self.name}: {len(value)} values, expected at most {self.max_items}")
            return [self._check_text(text) for text in value]
        if self.kind == "records":
            if not isinstance(value, list):
                raise self._unexpected(value)
            if len(value) > self.max_items:
                raise self._error(f"{self.name}: {len(value)} values, expected at most {self.max_items}")
            return [self._check_record(number, each) for number, each in enumerate(value)]
        if self.kind == "string":
            return self._check_text(value)
        if self.kind == "boolean":
            if not isinstance(value, bool):
                raise self._unexpected(value)
            return value
        if value is None and self.nullable:
            return None
        is_number = isinstance(value, int) or (
            self.kind == "number" and isinstance(value, float) and math.isfinite(value)
        )
        if isinstance(value, bool) or not is_number:
            raise self._unexpected(value)
        if (self.minimum is not None and value < self.minimum) or (self.maximum is not None and value > self.maximum):
            raise self._unexpected(value)
        return value

    def _check_record(self, number: int, value: Any) -> dict[str, Any]:
        """The values of one of several records; an error names its number, from 0, too."""
        try:
            return parse_body(self.fields, value)
        except HttpError as error:
            inner = f".{error.field}" if error.field else ""
            raise HttpError(error.status, error.message, field=f"{self.name}[{number}]{inner}") from None

    def _check_text(self, value: Any) -> str:
        if not isinstance(value, str):
            raise self._unexpected(value)
        if len(value) > self.max_length:
            raise self._error(f"{self.name} has {len(value):,} characters, expected at most {self.max_length:,}")
        if "\x00" in value or any("\ud800" <= character <= "\udfff" for character in value):
            raise self._error(f"{self.name} has characters that are not text")
        if self.choices is not None and value not in self.choices:
            raise self._unexpected(value)
        return value

    def _unexpected(self, value: Any) -> HttpError:
        shown = repr(value)
        shortened = shown if len(shown) <= 60 else shown[:57] + "…"
        return self._error(f"{self.name} is {shortened}, expected {self.expected}")

    def _error(self, message: str) -> HttpError:
        return HttpError(400, message, field=self.name)

    @property
    def expected(self) -> str:
        """The values allowed, in words."""
        if self.choices is not None:
            return f"one of {', '.join(self.choices)}"
        words = KINDS[self.kind]
        if self.kind not in ("integer", "number"):
            return words
        if self.minimum is not None and self.maximum is not None:
            words += f" from {self.minimum:g} to {self.maximum:g}"
        elif self.minimum is not None:
            words += f" from {self.minimum:g}"
        return f"{words} or null" if self.nullable else words

    def schema(self) -> dict[str, Any]:
        """The JSON schema of the value."""
        schema: dict[str, Any]
        if self.kind == "strings":
            items = {"type": "string", "maxLength": self.max_length}
            schema = {"type": "array", "maxItems": self.max_items, "items": items}
        elif self.kind == "records":
            schema = {"type": "array", "maxItems": self.max_items, "items": object_schema(self.fields)}
        elif self.kind == "string":
            schema = {"type": "string", "maxLength": self.max_length}
        else:
            schema = {"type": [self.kind, "null"] if self.nullable else self.kind}
        choices = list(self.choices) if self.choices else None
        bounds = {"minimum": self.minimum, "maximum": self.maximum, "enum": choices}
        schema |= {key: bound for key, bound in bounds.items() if bound is not None}
        if not self.required and self.default is not None:
            schema["default"] = list(self.default) if isinstance(self.default, tuple) else self.default
        return schema


def object_schema(parameters: Sequence[Parameter]) -> dict[str, Any]:
    """The JSON schema of an object with these parameters."""
    return {
        "type": "object",
        "additionalProperties": False,
        "required": [parameter.name for parameter in parameters if parameter.required],
        "properties": {
            parameter.name: parameter.schema() | {"description": parameter.description} for parameter in parameters
        },
    }


def parse_texts(parameters: Iterable[Parameter], texts: Mapping[str, Sequence[str]], *, strict: bool) -> dict[str, Any]:
    """The values of a query string or form; `strict` rejects undeclared names."""
    declared = {parameter.name: parameter for parameter in parameters}
    if strict:
        _reject_undeclared(declared, texts)
    values = {name: parameter.parse(texts[name]) for name, parameter in declared.items() if texts.get(name)}
    return _with_defaults(declared, values)


def parse_body(parameters: Iterable[Parameter], body: Any) -> dict[str, Any]:
    """The values of a JSON object."""
    if not isinstance(body, dict):
        raise HttpError(400, f"the body is {type(body).__name__}, expected a JSON object")
    declared = {parameter.name: parameter for parameter in parameters}
    _reject_undeclared(declared, body)
    values = {
        name: parameter.check(body[name])
        for name, parameter in declared.items()
        if name in body and (body[name] is not None or parameter.nullable or parameter.required)
    }
    return _with_defaults(declared, values)


def field_at_fault(message: str, parameters: Iterable[Parameter]) -> str:
    """The parameter that a message is about, empty if none: messages begin with `NAME is`, or with `unknown NAME`."""
    first, second, *_ = [*_WORD.findall(message[:100].replace("topic set", "topic_set", 1)), "", ""]
    named = _SYSTEM_KINDS.get(second, second) if first == "unknown" else first
    return next((each.name for each in parameters if each.name in (named, f"{named}s")), "")


def _reject_undeclared(declared: Mapping[str, Parameter], names: Iterable[str]) -> None:
    undeclared = [name for name in names if name not in declared]
    if undeclared:
        expected = f"one of {', '.join(declared)}" if declared else "none"
        raise HttpError(400, f"unknown parameter {undeclared[0][:60]!r}, expected {expected}", field=undeclared[0][:60])


def _with_defaults(declared: Mapping[str, Parameter], values: Mapping[str, Any]) -> dict[str, Any]:
    missing = {name: parameter for name, parameter in declared.items() if name not in values}
    for name, parameter in missing.items():
        if parameter.required:
            message = f"{name} is missing, expected {parameter.expected}: {parameter.description}"
            raise HttpError(400, message, field=name)
    # Lists of defaults are copied: handlers may change the lists that they get.
    defaults = {
        name: list(parameter.default) if isinstance(parameter.default, tuple) else parameter.default
        for name, parameter in missing.items()
    }
    return {**values, **defaults}


INDEX = Parameter("index", "string", "name of the index", default=None, max_length=200)
QUERY = Parameter("q", "string", 'query: words, "phrases", AND, OR, NOT, field:word')
SYSTEM = Parameter(
    "system", "string", "a scorer (bm25, bm25:k1=0.9, dirichlet+rm3) or model:NAME", default="bm25", max_length=200
)
FILTER = Parameter("filter", "strings", "only documents with field=value, or field=[low TO high]", default=())
SORT = Parameter(
    "sort", "string", "order by a field, such as year:desc, instead of by score", default="", max_length=200
)
FACET = Parameter("facet", "strings", "fields whose values are counted in all documents that match", default=())
VALUES_OF = Parameter(
    "values_of", "string", "the counted field of which all values are given, up to 500", default="", max_length=200
)
HISTOGRAM = Parameter(
    "histogram",
    "string",
    "a field of numbers that are counted in bins over all documents that match; filters by this field are left out "
    "of n_docs, and counted in n_found",
    default="",
    max_length=200,
)
GROUP = Parameter("group_duplicates", "boolean", "show near-duplicates below the best of them", default=False)
ON, OFF = "on", "off"
SYNONYMS = Parameter(
    "synonyms", "string", "whether words stand for their synonyms, if the server has any", default=ON, choices=(ON, OFF)
)
DOCNO = Parameter("docno", "string", "docno of a document")
JUDGE = Parameter("judge", "string", "name of the judge", default="", max_length=100)
TOPIC_SET = Parameter("topic_set", "string", "name of a topic set", max_length=100)
K = Parameter("k", "integer", "number of documents", default=10, minimum=1, maximum=1000)
# Of a page, and of what takes more work for each document than a search.
SMALL_K = replace(K, maximum=100)
PAGE = Parameter("page", "integer", "number of the page, from 1", default=1, minimum=1, maximum=1000)
