"""Rendering of pages: templates, links, and numbers.

Templates escape all values. URLs carry the state of a page, so that every page can be shared.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from searchlab.evaluation.number_text import format_count

WEB_FOLDER = Path(__file__).parents[1]
# Parameters that links carry from page to page, in this order; others follow them.
CARRIED = ("index", "q", "system", "filter", "sort", "group_duplicates", "k")
# Values that are left out of URLs.
DEFAULTS = {"k": 10, "page": 1}
# Parameters that report an action just completed: a page that is loaded again does not report it again.
ONE_TIME = ("did",)
_STAMP = re.compile(r"(\d{4})(\d\d)(\d\d)-(\d\d)(\d\d)\d\d")
_MINUS = re.compile(r"(?<![\w.)])-(?=\.?\d)")
_EQUALS = re.compile(r"(?<=\bp) ([=<]) (?=\.?\d)")


@cache
def environment() -> Environment:
    """The Jinja environment with all templates."""
    jinja = Environment(
        loader=FileSystemLoader(WEB_FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    jinja.globals |= {"split_at_marks": split_at_marks, "number": format_cell, "count": format_count}
    jinja.filters |= {"typeset": typeset, "stamp": format_stamp}
    return jinja


def render(template: str, context: Mapping[str, Any]) -> str:
    """A page."""
    return environment().get_template(template).render(context)


class Links:
    """URLs that carry the state of a page; the default ranker of its index is left out, too."""

    def __init__(self, state: Mapping[str, Any], default_system: str = "bm25") -> None:
        defaults = DEFAULTS | {"system": default_system}
        self._state = {name: value for name, value in state.items() if value and value != defaults.get(name)}
        self._carried = {name: _written(self._state[name]) for name in CARRIED if name in self._state}

    def __call__(self, path: str, **changes: Any) -> str:
        """A URL with the state of the page and some changes; None and empty values are left out."""
        values = {name: changes.get(name, self._carried.get(name)) for name in [*CARRIED, *changes]}
        present = {name: value for name, value in values.items() if value not in (None, "", [], ())}
        return f"{path}?{urlencode(present, doseq=True)}" if present else path

    def same_page(self, path: str) -> str:
        """The URL of the page itself, with all its parameters."""
        lasting = {name: value for name, value in self._state.items() if name not in ONE_TIME}
        return self(path, **{name: _written(value) for name, value in lasting.items()})


def _written(value: Any) -> Any:
    """A value as it is written in a URL."""
    return "true" if value is True else value


def split_at_marks(text: str, marks: Iterable[Sequence[int]]) -> list[tuple[str, bool]]:
    """A text in pieces, each with whether it is marked."""
    last = 0
    pieces: list[tuple[str, bool]] = []
    for start, end in marks:
        pieces += [(text[last:start], False), (text[start:end], True)]
        last = end
    return [(piece, is_marked) for piece, is_marked in [*pieces, (text[last:], False)] if piece]


def format_cell(value: float | None) -> str:
    """A number with thousands separators, or four digits."""
    if value is None:
        return "–"
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}".replace("-", "−")


def typeset(text: str) -> str:
    """A sentence with minus signs instead of hyphens, and no line break within `p = .05`."""
    return _EQUALS.sub("\u00a0\\1\u00a0", _MINUS.sub("\u2212", text))


def format_stamp(stamp: str) -> str:
    """A time as it is written in names of files, such as 20261118-131500, for people."""
    match = _STAMP.match(stamp)
    return f"{match[1]}-{match[2]}-{match[3]} {match[4]}:{match[5]} UTC" if match else stamp
