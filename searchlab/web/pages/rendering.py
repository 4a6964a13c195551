"""How does an answer become a page?

Templates escape all that they are given. Addresses carry the state of a page, so that every page can be shared.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined

HOME = Path(__file__).parents[1]
# What an address keeps from page to page, in this order; what else there is follows.
STATE = ("index", "q", "ranker", "filter", "k")
DEFAULTS = {"ranker": "bm25", "k": 10, "page": 1}
# What tells of something that was just done: it is not told again.
PASSING = ("did",)
_MINUS = re.compile(r"(?<![\w.)])-(?=\.?\d)")
_EQUALS = re.compile(r"(?<=\bp) ([=<]) (?=\.?\d)")


@cache
def environment() -> Environment:
    """The templates."""
    own = Environment(
        loader=FileSystemLoader(HOME / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    own.globals |= {"pieces": pieces, "number": number, "count": count}
    own.filters["typeset"] = typeset
    return own


def render(template: str, context: Mapping[str, Any]) -> str:
    """A page."""
    return environment().get_template(template).render(context)


class Links:
    """Addresses that keep a state."""

    def __init__(self, state: Mapping[str, Any]) -> None:
        self._asked = {name: own for name, own in state.items() if own and own != DEFAULTS.get(name)}
        self._state = {name: self._asked[name] for name in STATE if name in self._asked}

    def __call__(self, path: str, **changes: Any) -> str:
        """An address with the state as it is but for some changes; what is None or empty is left out."""
        values = {name: changes.get(name, self._state.get(name)) for name in [*STATE, *changes]}
        said = {name: value for name, value in values.items() if value not in (None, "", [], ())}
        return f"{path}?{urlencode(said, doseq=True)}" if said else path

    def again(self, path: str) -> str:
        """The address of the page itself, with all that it was asked for."""
        said = {name: "true" if own is True else own for name, own in self._asked.items() if name not in PASSING}
        return self(path, **said)


def pieces(marked: Mapping[str, Any]) -> list[tuple[str, bool]]:
    """A text cut into what matched and what did not."""
    text, last, cut = marked["text"], 0, []
    for start, end in marked["marks"]:
        cut += [(text[last:start], False), (text[start:end], True)]
        last = end
    return [(piece, matched) for piece, matched in [*cut, (text[last:], False)] if piece]


def number(value: float | None) -> str:
    """A number in a few digits."""
    if value is None:
        return "–"
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}".replace("-", "−")


def count(n: int, noun: str) -> str:
    """A number and what it counts."""
    return f"{n:,} {noun}{'s' * (n != 1)}"


def typeset(text: str) -> str:
    """A sentence with true minus signs, in which p keeps its value beside it."""
    return _EQUALS.sub("\u00a0\\1\u00a0", _MINUS.sub("\u2212", text))
