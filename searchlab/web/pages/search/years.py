"""Years on the search page: a form that restricts them, and a histogram of all years of the query.

The histogram leaves filters by year out, so that other years can be seen and chosen; what is chosen is marked.
"""

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
# A filter by one year, as facets write it.
_ONE_YEAR = re.compile(rf"{YEAR}=(-?[0-9]{{1,4}})")


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
    for each in filters:
        if found := _RANGE.fullmatch(each):
            return found[1] or "", found[2] or ""
        if found := _ONE_YEAR.fullmatch(each):
            return found[1], found[1]
    return "", ""


def without_years(filters: Sequence[str]) -> list[str]:
    """The filters by other fields."""
    return [each for each in filters if each.partition("=")[0].strip() != YEAR]


@dataclass(frozen=True)
class YearBar:
    """A bar of the histogram of years, in percent of its width and height, the filter that it sets, and its words.

    `found` is the height of what the search finds: with a filter by year, a part of the bar.
    """

    x: float
    width: float
    height: float
    found: float
    filter: str
    words: str


@dataclass(frozen=True)
class YearBars:
    """The histogram of the years of a query, and what it shows in words; `first` and `last` are its ends.

    `is_restricted` says whether a filter leaves some of them out.
    """

    first: int
    last: int
    bars: tuple[YearBar, ...]
    words: str
    is_restricted: bool


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
            100 * each["n_found"] / most["n_docs"],
            f"{YEAR}=[{each['first']} TO {each['last']}]",
            f"{_period(each)}: {format_count(each['n_docs'], 'document')}",
        )
        for number, each in enumerate(bins)
        if each["n_docs"]
    )
    first, last = bins[0]["first"], bins[-1]["last"]
    n_docs, n_found = (sum(each[name] for each in bins) for name in ("n_docs", "n_found"))
    words = f"Results from {first} to {last}, most of them in {_period(most)} ({most['n_docs']:,})"
    if n_found < n_docs:
        words += f"; {n_found:,} of {n_docs:,} are of the chosen years"
    return YearBars(first, last, bars, words, n_found < n_docs)


def _period(years: Mapping[str, int]) -> str:
    first, last = years["first"], years["last"]
    return str(first) if first == last else f"{first}–{last}"
