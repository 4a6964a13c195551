"""Rendering of pages: templates, links, and numbers.

Templates escape all values. URLs carry the state of a page, so that every page can be shared.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus

from jinja2 import FileSystemLoader, StrictUndefined
from markupsafe import Markup

from searchlab.evaluation.number_text import format_count
from searchlab.web.pages.plain_words import measure_meanings
from searchlab.web.pages.reference import refer_to
from searchlab.web.pages.template_compiler import TemplateEnvironment, as_markup, escape_output, is_special

WEB_FOLDER = Path(__file__).parents[1]
# The templates of the search page.
SEARCH_TEMPLATES = ("search.html", "base.html", "macros.html", "form_macros.html", "system_options.html")
# Parameters that links carry from page to page, in this order; others follow them.
CARRIED = ("index", "q", "system", "filter", "sort", "group_duplicates", "synonyms", "k")
# Values that are left out of URLs.
DEFAULTS = {"synonyms": "on", "k": 10, "page": 1}
# Parameters that report an action just completed: a page that is loaded again does not report it again.
ONE_TIME = ("did", "about", "together", "saved", "deleted")
_STAMP = re.compile(r"(\d{4})(\d\d)(\d\d)-(\d\d)(\d\d)\d\d")
# Texts that are written in URLs as they are.
_UNRESERVED = re.compile(r"[\w.~-]*", re.ASCII)
# Texts whose quoted forms are kept: queries, and values of fields, which many results share.
MAX_QUOTED = 1024
_BIDI_CONTROLS = re.compile("[\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069]")
_MINUS = re.compile(r"(?<![\w.)])-(?=\.?\d)")
_EQUALS = re.compile(r"(?<=\bp) ([=<]) (?=\.?\d)")


@cache
def environment() -> TemplateEnvironment:
    """The Jinja environment with all templates."""
    jinja = TemplateEnvironment(
        loader=FileSystemLoader(WEB_FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    jinja.globals |= {"mark_text": mark_text, "number": format_cell, "count": format_count}
    jinja.globals |= {"quote": quote, "refer_to": refer_to, "plain": format_score, "measure_meanings": measure_meanings}
    jinja.filters |= {"typeset": typeset, "without_bidi": without_bidi, "stamp": format_stamp}
    jinja.filters["sentence"] = as_sentence
    return jinja


def compile_search_page() -> None:
    """Compile the templates of the search page, which takes a tenth of a second: the first request does not wait."""
    for name in SEARCH_TEMPLATES:
        environment().get_template(name)


def render(template: str, context: Mapping[str, Any]) -> str:
    """A page."""
    return environment().get_template(template).render(context)


class Links:
    """URLs that carry the state of a page; the default ranker of its index is left out, too."""

    def __init__(self, state: Mapping[str, Any], default_system: str = "bm25") -> None:
        defaults = DEFAULTS | {"system": default_system}
        self._state = {name: value for name, value in state.items() if value and value != defaults.get(name)}
        # The query strings of all carried parameters, in their order; empty for those that the state lacks.
        self._carried = {name: _query_string(name, self._state.get(name)) for name in CARRIED}
        self._query = "&".join(filter(None, self._carried.values()))

    def __call__(self, path: str, **changes: Any) -> str:
        """A URL with the state of the page and some changes; None and empty values are left out."""
        if not self._carried.keys().isdisjoint(changes):
            written = self._carried | {name: _query_string(name, value) for name, value in changes.items()}
            query = "&".join(filter(None, written.values()))
        else:
            query = self._query
            for name, value in changes.items():
                if value is not None and (added := _query_string(name, value)):
                    query = f"{query}&{added}" if query else added
        return f"{path}?{query}" if query else path

    def up_to(self, path: str, name: str, **changes: Any) -> Markup:
        """The beginning of URLs that end in this parameter, whose values are written by `quote`; it is escaped.

        Links to each result differ in nothing else: a page has forty of them.
        """
        url = self(path, **changes)
        return as_markup("".join([escape_output(url), "&amp;" if "?" in url else "?", name, "="]))

    def same_page(self, path: str) -> str:
        """The URL of the page itself, with all its parameters."""
        return self(path, **{name: value for name, value in self._state.items() if name not in ONE_TIME})


def _query_string(name: str, value: Any) -> str:
    """A parameter as it is written in a URL, a list as several; empty for None and empty values."""
    if type(value) is not str:
        if isinstance(value, list | tuple):
            return "&".join(f"{name}={_quote(str(each))}" for each in value)
        value = "" if value is None else "true" if value is True else str(value)
    return f"{name}={_quote(value)}" if value else ""


def quote(text: str) -> Markup:
    """A text as the value of a parameter in a URL, which needs no escaping in HTML."""
    return as_markup(_quote(text))


@lru_cache(MAX_QUOTED)
def _quote(text: str) -> str:
    return text if _UNRESERVED.fullmatch(text) else quote_plus(text)


def mark_text(text: str, marks: Iterable[Sequence[int]]) -> Markup:
    """A text as HTML with its marked ranges in `<mark>`; between them, page breaks become empty lines."""
    last = 0
    pieces: list[str] = []
    if "\f" in text or is_special(text):
        for start, end in marks:
            before = escape_output(text[last:start].replace("\f", "\n\n"))
            pieces += (before, "<mark>", escape_output(text[start:end]), "</mark>")
            last = end
        pieces.append(escape_output(text[last:].replace("\f", "\n\n")))
    else:  # of each part the same, in a third of the time
        for start, end in marks:
            pieces += (text[last:start], "<mark>", text[start:end], "</mark>")
            last = end
        pieces.append(text[last:])
    return as_markup("".join(pieces))


def format_cell(value: float | None) -> str:
    """A number with thousands separators, or four digits."""
    if value is None:
        return "–"
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}".replace("-", "−")


def format_score(amount: float) -> str:
    """A number with three decimals, and a minus sign instead of a hyphen."""
    return f"{amount:.3f}".replace("-", "\u2212")


def without_bidi(text: str) -> str:
    """A text without the controls of direction, for places where it cannot be isolated: titles of windows, labels."""
    return text if text.isascii() else _BIDI_CONTROLS.sub("", text)


def typeset(text: str) -> str:
    """A sentence with minus signs instead of hyphens, and no line break within `p = .05`."""
    return _EQUALS.sub("\u00a0\\1\u00a0", _MINUS.sub("\u2212", text))


def as_sentence(message: str) -> str:
    """A message as a sentence: with a capital, unless it begins with a name such as `mine-2`, and a full stop."""
    first = message.split(" ", 1)[0]
    begun = message[:1].upper() + message[1:] if first.isalpha() and first.islower() else message
    return begun if begun.endswith((".", "!", "?", "…")) else f"{begun}."


def format_stamp(stamp: str) -> str:
    """A time as it is written in names of files, such as 20261118-131500, for people."""
    match = _STAMP.match(stamp)
    return f"{match[1]}-{match[2]}-{match[3]} {match[4]}:{match[5]} UTC" if match else stamp
