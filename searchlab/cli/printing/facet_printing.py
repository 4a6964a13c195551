"""Printed facets: the most frequent values of fields with small bars, and facets as JSON."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from searchlab.cli.printing.hit_printing import INDENT
from searchlab.cli.printing.terminal_text import n_columns, printable, shorten
from searchlab.evaluation.number_text import format_count

if TYPE_CHECKING:
    from searchlab.retrieval.fields.facets import Facet

BAR_WIDTH = 20
MAX_VALUE_WIDTH = 40
# A character, and its eighths from one to seven.
_FULL, _EIGHTHS = "█", "▏▎▍▌▋▊▉"


def facets_record(facets: dict[str, Facet]) -> dict[str, Any]:
    """Facets as JSON values, under `facets`; nothing without any."""
    return {"facets": {name: facet.to_json() for name, facet in facets.items()}} if facets else {}


def print_facet(facet: Facet) -> None:
    """Print a facet; nothing if no document is found."""
    if not facet.n_values and not facet.n_without:
        return
    shown, values = len(facet.values), format_count(facet.n_values, "value")
    facts = [f"{shown} of {values}" if shown < facet.n_values else values]
    if facet.n_without:
        facts.append(f"{format_count(facet.n_without, 'document')} without")
    print(f"\n{printable(facet.field)}: {', '.join(facts)}")
    names = [shorten(printable(each.value), MAX_VALUE_WIDTH) for each in facet.values]
    width = max(map(n_columns, names), default=0)
    counts = [f"{each.n_docs:,}" for each in facet.values]
    digits, most = max(map(len, counts), default=0), max((each.n_docs for each in facet.values), default=1)
    for name, count, each in zip(names, counts, facet.values, strict=True):
        blanks = " " * (width - n_columns(name))
        print(f"{INDENT}{name}{blanks}  {count:>{digits}}  {_bar(each.n_docs / most)}")


def _bar(share: float) -> str:
    """A bar whose length is a share of the greatest; number signs where the output has no other characters."""
    if not _can_print(_FULL + _EIGHTHS):
        return "#" * max(round(share * BAR_WIDTH), 1)
    eighths = max(round(share * BAR_WIDTH * 8), 1)
    return _FULL * (eighths // 8) + (_EIGHTHS[eighths % 8 - 1] if eighths % 8 else "")


def _can_print(text: str) -> bool:
    try:
        text.encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
