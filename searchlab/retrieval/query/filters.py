"""Filters: results restricted to documents with some value in a field, without changing scores.

A filter names a field and a value: `source=Lancet`, `year=1988`, or a range of values, `year=[1988 TO 1990]`. The
value is compared with whole values of the field; case, accents and white space do not matter.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from searchlab.errors import SettingError
from searchlab.retrieval.query.syntax_tree import Range

_RANGE = re.compile(r"([\[{])\s*(?:(\S+)\s+)?TO(?:\s+(\S+?))?\s*([\]}])")
_OPEN = (None, "*")


@dataclass(frozen=True, slots=True)
class Filter:
    """Only documents that have this value in this field."""

    field: str
    value: str

    @classmethod
    def parse(cls, text: str) -> Filter:
        """A filter as users write it: `field=value`."""
        field, equals, value = text.partition("=")
        if not equals or not field.strip() or not value.strip():
            raise SettingError(f"filter is {text!r}, expected field=value, as in year=[1988 TO 1990]")
        return cls(field.strip(), value.strip())

    @property
    def range(self) -> Range | None:
        """The range of values; None if the value is a single one."""
        match = _RANGE.fullmatch(self.value)
        if match is None:
            return None
        opening, low, high, closing = match.groups()
        return Range(
            self.field, None if low in _OPEN else low, None if high in _OPEN else high, opening == "[", closing == "]"
        )
