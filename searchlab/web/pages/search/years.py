"""Years on the search page: a form that restricts them, and a histogram of those of all results."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from searchlab.evaluation.number_text import format_count
from searchlab.web.api.parameters import Parameter

YEAR = "year"
YEAR_FROM = Parameter(
    "year_from", "integer", "the first year", default=None, minimum=-9999, maximum=9999, nullable=True
)
YEAR_TO = replace(YEAR_FROM, name="year_to", description="the last year")
# A filter by a range of years, as the form of years writes it; either end may be open.
_RANGE = re.compile(rf"{YEAR}=\[(?:(-?[0-9]{{1,4}}) )?TO(?: (-?[0-9]{{1,4}}))?\]")


def filter_years(values: dict[str, Any]) -> dict[str, Any]:
    """The values of a page with the years of its form as one of the filters, in place of an earlier one."""
    first, last = values["year_from"], values["year_to"]
    kept = {name: value for name, value in values.items() if name not in ("year_from", "year_to")}
    if first is None and last is None:
        return kept
    ends = ["" if first is None else f"{first} ", "" if last is None else f" {last}"]
    written = f"{YEAR}=[{'TO'.join(ends)}]"
    return kept | {"filter": [*without_years(values["filter"]), written]}


def chosen_years(filters: Sequence[str]) -> tuple[str, str]:
    """The first and the last year of the filters, as the form shows them; empty if that end is open."""
    found = next(filter(None, map(_RANGE.fullmatch, filters)), None)
    return (found[1] or "", found[2] or "") if found else ("", "")


def without_years(filters: Sequence[str]) -> list[str]:
    """The filters other than ranges of years."""
    return [each for each in filters if not _RANGE.fullmatch(each)]


@dataclass(frozen=True)
class YearBar:
    """A bar of the histogram of years, in percent of its width and height, the filter that it sets, and its words."""

    x: float
    width: float
    height: float
    filter: str
    words: str


@dataclass(frozen=True)
class YearBars:
    """The histogram of the years of all results, and what it shows in words; `first` and `last` are its ends."""

    first: int
    last: int
    bars: tuple[YearBar, ...]
    words: str


def draw_years(bins: Sequence[Mapping[str, int]]) -> YearBars | None:
    """The histogram of years, from the bins of an answer; None if there are not two to choose from."""
    if len(bins) < 2:
        return None
    most = max(bins, key=lambda each: each["n_docs"])
    width = 100 / len(bins)
    bars = tuple(
        YearBar(
            number * width,
            width,
            100 * each["n_docs"] / most["n_docs"],
            f"{YEAR}=[{each['first']} TO {each['last']}]",
            f"{_period(each)}: {format_count(each['n_docs'], 'document')}",
        )
        for number, each in enumerate(bins)
        if each["n_docs"]
    )
    first, last = bins[0]["first"], bins[-1]["last"]
    words = f"Results from {first} to {last}, most of them in {_period(most)} ({most['n_docs']:,})"
    return YearBars(first, last, bars, words)


def _period(years: Mapping[str, int]) -> str:
    first, last = years["first"], years["last"]
    return str(first) if first == last else f"{first}–{last}"
