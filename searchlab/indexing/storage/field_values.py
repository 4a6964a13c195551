"""Values of document fields: as text, number, date, and in the form in which they are compared."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

import numpy as np

from searchlab.analysis.tokenizer import fold_text
from searchlab.types import Array

_NUMBER = re.compile(r"[+-]?\d{1,30}(?:\.\d{1,30})?")
_DATE = re.compile(r"(\d{4})[-/](\d{1,2})(?:[-/](\d{1,2})(?:[T ](\d{1,2}):(\d{2})(?::(\d{2}))?[\w.:+-]*)?)?")


def scalar_values(value: Any) -> Iterator[Any]:
    """The single values within a JSON value, empty ones left out."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for item in value:
            yield from scalar_values(item)
    elif value is not None and value != "":
        yield value


def value_text(value: Any) -> str:
    """A single value as text."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def normalise_value(text: str) -> str:
    """A value in the form in which it is compared: without case and accents, each run of white space as one blank."""
    return " ".join(fold_text(text).split())


def parse_number(text: str) -> float | None:
    """The number that the whole text is, None if it is not one."""
    return float(text) if _NUMBER.fullmatch(text) else None


def parse_date(text: str) -> float | None:
    """The date that the whole text is, in seconds since the year 1; None if it is not one.

    Understood are 2024-05, 2024-05-17, 2024/5/17 and 2024-05-17T12:30.
    """
    match = _DATE.fullmatch(text)
    if match is None:
        return None
    year, month, day, hour, minute, second = (int(part) if part else None for part in match.groups())
    assert year is not None
    try:
        return seconds_since_year_1(datetime(year, month or 1, day or 1, hour or 0, minute or 0, second or 0))
    except ValueError:
        return None


def seconds_since_year_1(moment: datetime) -> float:
    """Seconds since the beginning of the year 1."""
    return (moment - datetime.min).total_seconds()


def years_of(seconds: Array) -> Array:
    """Dates, as seconds since the year 1, in years: 2024-07-02 is 2024.5, a leap year's 183 days of 366."""
    with np.errstate(invalid="ignore"):
        moments = np.datetime64("0001-01-01", "s") + seconds.astype("timedelta64[s]")
    years = moments.astype("datetime64[Y]")
    start, end = years.astype("datetime64[s]"), (years + 1).astype("datetime64[s]")
    return np.asarray(years.astype(np.int64) + 1970 + (moments - start) / (end - start))
