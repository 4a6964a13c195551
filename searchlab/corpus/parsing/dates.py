"""Dates of publication: years, and dates in ISO form where a text says one clearly.

2008-05-12 is written 2008/05/12/ in RIS, "2008 May 12" in PubMed, and "12 May 2008" or "May 12" elsewhere.
Numbers alone that do not begin with the year (5/12/2008) can be read in two ways, and stay as they are written.
"""

from __future__ import annotations

import re

MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)

_YEAR = re.compile(r"(?<![0-9])[0-9]{4}(?![0-9])")
_TIMESTAMP = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})T[0-9:.]+Z?")
_NUMBERS = re.compile(r"([0-9]{4})(?:[-/.]([0-9]{1,2})(?:[-/.]([0-9]{1,2}))?)?/*")
_YEAR_FIRST = re.compile(r"([0-9]{4}),?[ -]([A-Za-z]{3,9})\.?(?:[ -]([0-9]{1,2}))?")
_YEAR_LAST = re.compile(r"(?:([0-9]{1,2})\.? )?([A-Za-z]{3,9})\.?,? (?:([0-9]{1,2}),? )?([0-9]{4})")


def year_of(written: str) -> int | str:
    """The year in a text, or the text if it has none ("in press")."""
    match = _YEAR.search(written)
    return int(match[0]) if match else written


def iso_date(written: str, year: int | str) -> str:
    """A date in ISO form, as precise as it is written, or the text if it says no date clearly.

    The date of a record may lack its `year`, which is then added.
    """
    text = written.strip()
    if text and isinstance(year, int) and not _YEAR.search(text):
        text = f"{year} {text}"
    if stamp := _TIMESTAMP.fullmatch(text):
        return stamp[1]
    if numbers := _NUMBERS.fullmatch(text):
        parts = numbers[1], numbers[2] or "", numbers[3] or ""
    elif first := _YEAR_FIRST.fullmatch(text):
        parts = first[1], _month(first[2]), first[3] or ""
    elif (last := _YEAR_LAST.fullmatch(text)) and not (last[1] and last[3]):
        parts = last[4], _month(last[2]), last[1] or last[3] or ""
    else:
        return text
    return _join(*parts) or text


def _month(name: str) -> str:
    """The number of a month by its name or the beginning of it; 0 for any other word."""
    return next((str(number) for number, month in enumerate(MONTHS, 1) if month.startswith(name.lower())), "0")


def _join(year: str, month: str, day: str) -> str:
    """The parts in ISO form; nothing if one of them is out of range."""
    if (month and not 1 <= int(month) <= 12) or (day and not 1 <= int(day) <= 31):
        return ""
    return "-".join([year, *(f"{int(part):02}" for part in (month, day) if part)])
