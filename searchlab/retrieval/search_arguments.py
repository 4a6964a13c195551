"""Checks of what a search is asked for: the query, the number of hits, and filters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from searchlab.errors import QueryWarning, SettingError, warn_caller
from searchlab.retrieval.query.filters import Filter

Filters = Sequence[Filter | str] | Mapping[str, object]


def require_k(k: object) -> None:
    """Raise SettingError unless k is a number of hits, or None for all."""
    if k is None:
        return
    if isinstance(k, bool) or not isinstance(k, int | np.integer):
        raise SettingError(f"k is {k!r}, expected a whole number of at least 1, or None for all documents")
    if k < 1:
        raise SettingError(f"k is {k}, expected 1 or more")


def require_text(query: object) -> str:
    """The text of a query; raises SettingError for anything else."""
    if not isinstance(query, str):
        raise SettingError(f"query is {query!r}, expected a text")
    return query


def parse_filters(filters: Filters) -> tuple[Filter, ...]:
    """Filters, each given as such or as it is written, `field=value`; or a dict of fields and values."""
    if isinstance(filters, Mapping):
        return tuple(_parse_filter(f"{field}={value}") for field, value in filters.items())
    if isinstance(filters, str | Filter) or not isinstance(filters, Iterable):
        raise SettingError(f"filters is {filters!r}, expected a list, such as ['year=1988']")
    return tuple(map(_parse_filter, filters))


def _parse_filter(written: Filter | str) -> Filter:
    if isinstance(written, Filter):
        return written
    if not isinstance(written, str):
        raise SettingError(f"filter is {written!r}, expected a Filter, or a text such as 'year=1988'")
    return Filter.parse(written)


def warn_of_remarks(text: str, remarks: Sequence[str]) -> None:
    """Warn if a query was not understood as it is written, at the line of the program that called searchlab."""
    for remark in remarks:
        warn_caller(f"{text!r}: {remark}", QueryWarning)
