"""What can a request say, and is it sensible?

A parameter is declared once; it is checked by its declaration, and the description of the API is made of it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from searchlab.web.http_errors import Failure

REQUIRED: Any = object()
# No text of a request is longer unless its parameter says so.
LONG = 1000
KINDS = ("text", "texts", "whole", "number", "flag")


@dataclass(frozen=True)
class Parameter:
    """A name, what kind of value it has (`text`, `texts`, `whole`, `number`, `flag`), and what it is for.

    `least` and `most` bound numbers, `long` texts, and `many` how many texts there may be. A whole number that is
    `open` may be null.
    """

    name: str
    kind: str
    what: str
    default: Any = REQUIRED
    least: float | None = None
    most: float | None = None
    choices: Sequence[str] | None = None
    long: int = LONG
    many: int = 20
    open: bool = False

    @property
    def required(self) -> bool:
        """Whether a request has to have it."""
        return self.default is REQUIRED

    def of_address(self, given: Sequence[str]) -> Any:
        """The value of a parameter in an address, or in a form: texts that have to be read."""
        if self.kind == "texts":
            return self.check([text for text in given if text])
        text = given[-1]
        if self.kind in ("text", "flag"):
            return self.check(
                {"true": True, "1": True, "false": False, "0": False}.get(text, text) if self.kind == "flag" else text
            )
        if self.open and not text:
            return None
        try:
            return self.check(int(text) if self.kind == "whole" else float(text))
        except ValueError:
            raise self._refused(text) from None

    def check(self, value: Any) -> Any:
        """The value, if it is what was declared."""
        if self.kind == "texts":
            if not isinstance(value, list):
                raise self._refused(value)
            if len(value) > self.many:
                raise Failure(400, f"{self.name}: {len(value)} values, expected at most {self.many}")
            return [self._check_text(each) for each in value]
        if self.kind == "text":
            return self._check_text(value)
        if self.kind == "flag":
            if not isinstance(value, bool):
                raise self._refused(value)
            return value
        if value is None and self.open:
            return None
        fits = isinstance(value, int) or (self.kind == "number" and isinstance(value, float) and math.isfinite(value))
        if isinstance(value, bool) or not fits:
            raise self._refused(value)
        if (self.least is not None and value < self.least) or (self.most is not None and value > self.most):
            raise self._refused(value)
        return value

    def _check_text(self, value: Any) -> str:
        if not isinstance(value, str):
            raise self._refused(value)
        if len(value) > self.long:
            raise Failure(400, f"{self.name} has {len(value):,} characters, expected at most {self.long:,}")
        if "\x00" in value or any("\ud800" <= character <= "\udfff" for character in value):
            raise Failure(400, f"{self.name} has characters that are no text")
        if self.choices is not None and value not in self.choices:
            raise self._refused(value)
        return value

    def _refused(self, value: Any) -> Failure:
        shown = repr(value)
        return Failure(
            400, f"{self.name} is {shown if len(shown) <= 60 else shown[:57] + '…'}, expected {self.expected}"
        )

    @property
    def expected(self) -> str:
        """What a value has to be, in words."""
        if self.choices is not None:
            return f"one of {', '.join(self.choices)}"
        words = {
            "text": "a text",
            "texts": "texts",
            "flag": "true or false",
            "whole": "a whole number",
            "number": "a number",
        }
        told = words[self.kind]
        if self.kind not in ("whole", "number"):
            return told
        if self.least is not None and self.most is not None:
            told += f" from {self.least:g} to {self.most:g}"
        elif self.least is not None:
            told += f" from {self.least:g}"
        return f"{told} or null" if self.open else told

    def schema(self) -> dict[str, Any]:
        """The parameter in the words of OpenAPI."""
        if self.kind == "texts":
            own: dict[str, Any] = {
                "type": "array",
                "maxItems": self.many,
                "items": {"type": "string", "maxLength": self.long},
            }
        elif self.kind == "text":
            own = {"type": "string", "maxLength": self.long}
        elif self.kind == "flag":
            own = {"type": "boolean"}
        else:
            name = "integer" if self.kind == "whole" else "number"
            own = {"type": [name, "null"] if self.open else name}
        bounds = {"minimum": self.least, "maximum": self.most, "enum": list(self.choices) if self.choices else None}
        own |= {key: bound for key, bound in bounds.items() if bound is not None}
        if not self.required and self.default is not None:
            own["default"] = list(self.default) if isinstance(self.default, tuple) else self.default
        return own


def read_address(
    parameters: Iterable[Parameter], given: Mapping[str, Sequence[str]], *, strict: bool
) -> dict[str, Any]:
    """The values of an address or a form; `strict` refuses names that no parameter has."""
    known = {parameter.name: parameter for parameter in parameters}
    if strict:
        _refuse_strangers(known, given)
    read = {name: each.of_address(given[name]) for name, each in known.items() if given.get(name)}
    return _with_defaults(known, read)


def read_body(parameters: Iterable[Parameter], given: Any) -> dict[str, Any]:
    """The values of a JSON object."""
    if not isinstance(given, dict):
        raise Failure(400, f"the body is {type(given).__name__}, expected a JSON object")
    known = {parameter.name: parameter for parameter in parameters}
    _refuse_strangers(known, given)
    read = {
        name: each.check(given[name])
        for name, each in known.items()
        if name in given and (given[name] is not None or each.open or each.required)
    }
    return _with_defaults(known, read)


def _refuse_strangers(known: Mapping[str, Parameter], given: Iterable[str]) -> None:
    strange = [name for name in given if name not in known]
    if strange:
        told = ", ".join(known) or "no parameter"
        raise Failure(400, f"unknown parameter {strange[0][:60]!r}; there is: {told}")


def _with_defaults(known: Mapping[str, Parameter], read: dict[str, Any]) -> dict[str, Any]:
    for name, parameter in known.items():
        if name not in read:
            if parameter.required:
                raise Failure(400, f"{name} is missing, expected {parameter.expected}: {parameter.what}")
            read[name] = list(parameter.default) if isinstance(parameter.default, tuple) else parameter.default
    return read


INDEX = Parameter("index", "text", "the index, by its name", default=None, long=200)
QUERY = Parameter("q", "text", 'what is searched for: words, "phrases", AND, OR, NOT, field:word')
RANKER = Parameter(
    "ranker", "text", "a scorer (bm25, bm25:k1=0.9, dirichlet+rm3) or model:NAME", default="bm25", long=200
)
FILTER = Parameter("filter", "texts", "only documents with field=value, or field=[low TO high]", default=())
DOCUMENT = Parameter("id", "text", "a document, by its docno")
JUDGE = Parameter("judge", "text", "who judges, by name", default="", long=100)
SET = Parameter("set", "text", "a set of topics, by its name", long=100)
K = Parameter("k", "whole", "how many documents", default=10, least=1, most=100)
PAGE = Parameter("page", "whole", "which k of them, from 1", default=1, least=1, most=1000)
