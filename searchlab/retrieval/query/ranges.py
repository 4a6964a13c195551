"""Which documents have something from here to there in a field?

Bounds are written as text, and say by their form what they mean: numbers, dates, or else words. A date bound is
as wide as it is written, `1988` the whole year and `1988-03` the whole month; four digits are both a number and a
year. Words are compared as they are indexed, in byte order.
"""

from __future__ import annotations

import math
import re
from datetime import datetime, timedelta

import numpy as np

from searchlab.analysis.tokenizer import fold_text
from searchlab.indexing.storage.columns import STREAMS, ShardColumns
from searchlab.indexing.storage.field_values import parse_date, parse_number, seconds_since_year_1
from searchlab.indexing.storage.string_table import Strings
from searchlab.retrieval.query.tree import Range
from searchlab.types import Array

_YEAR = re.compile(r"\d{4}")
_DAY = timedelta(days=1).total_seconds()


def within(columns: ShardColumns, asked: Range) -> Array:
    """The documents of a shard with a value in the range, in any order and perhaps repeated."""
    if asked.field == "docno":
        docs = range(columns.n_docs)
        return np.array(docs)[_between(columns.docnos, docs, asked, asked.low, asked.high)]
    bounds = [bound for bound in (asked.low, asked.high) if bound is not None]
    if asked.field in STREAMS:
        return _with_words(columns, asked)
    if not bounds:
        return columns.fields.having(asked.field)
    numbers, dates = all(parse_number(bound) is not None for bound in bounds), all(map(period, bounds))
    if not numbers and not dates:
        return _with_words(columns, asked)
    found = [_with_numbers(columns, asked)] if numbers else []
    return np.concatenate([*found, *([_with_dates(columns, asked)] if dates else [])])


def period(text: str) -> tuple[float, float] | None:
    """The first and the last second of the year, month, day or moment that a text names."""
    start = parse_date(f"{text}-01" if _YEAR.fullmatch(text) else text)
    if start is None:
        return None
    moment = datetime.min + timedelta(seconds=start)
    parts = len(re.findall(r"\d+", text))
    if parts == 1:
        after = _beginning(moment.year + 1, 1)
    elif parts == 2:
        after = _beginning(moment.year + moment.month // 12, moment.month % 12 + 1)
    else:
        after = start + {3: _DAY, 5: 60.0}.get(parts, 1.0)
    return start, after - 1


def _beginning(year: int, month: int) -> float:
    return seconds_since_year_1(datetime(year, month, 1)) if year <= datetime.max.year else math.inf


def _with_numbers(columns: ShardColumns, asked: Range) -> Array:
    low = -math.inf if asked.low is None else float(asked.low)
    high = math.inf if asked.high is None else float(asked.high)
    return columns.fields.between_numbers(
        asked.field,
        low if asked.low_included else math.nextafter(low, math.inf),
        high if asked.high_included else math.nextafter(high, -math.inf),
    )


def _with_dates(columns: ShardColumns, asked: Range) -> Array:
    first = period(asked.low) if asked.low else None
    last = period(asked.high) if asked.high else None
    low = -math.inf if first is None else first[0] if asked.low_included else first[1] + 1
    high = math.inf if last is None else last[1] if asked.high_included else last[0] - 1
    return columns.fields.between_dates(asked.field, low, high)


def _with_words(columns: ShardColumns, asked: Range) -> Array:
    text = columns.text(asked.field)
    if text is None:
        return np.zeros(0, np.int64)
    low = None if asked.low is None else text.prefix + fold_text(asked.low)
    high = None if asked.high is None else text.prefix + fold_text(asked.high)
    own = _between(text.terms, text.numbers, asked, low, high)
    offsets, first = text.stream.offsets, text.numbers.start
    return text.stream.docs[offsets[own.start - first] : offsets[own.stop - first]]


def _between(strings: Strings, numbers: range, asked: Range, low: str | None, high: str | None) -> slice:
    """Which of the strings with these numbers are in a range."""
    # In byte order, nothing stands between a string and the same with a null.
    first = numbers.start if low is None else strings.first_from(low if asked.low_included else low + "\0")
    last = numbers.stop if high is None else strings.first_from(high + "\0" if asked.high_included else high)
    return slice(first, max(first, last))
