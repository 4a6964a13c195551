"""Range queries: the documents with a value from one bound to another in a field.

Bounds are written as text; their form decides whether they are numbers, dates, or else words. A date bound covers the
period that it names, `1988` the whole year and `1988-03` the whole month; four digits are both a number and a year.
Words are compared as they are indexed, in byte order.
"""

from __future__ import annotations

import math
import re
from datetime import datetime, timedelta

import numpy as np

from searchlab.analysis.tokenizer import fold_text
from searchlab.indexing.storage.arrays.string_table import Strings
from searchlab.indexing.storage.columns import STREAMS, ShardColumns
from searchlab.indexing.storage.field_values import parse_date, parse_number, seconds_since_year_1
from searchlab.retrieval.query.syntax_tree import DOCNO, Range
from searchlab.types import Array

_YEAR = re.compile(r"\d{4}")
_DAY = timedelta(days=1).total_seconds()


def find_in_range(columns: ShardColumns, bounds: Range) -> Array:
    """The documents of a shard with a value in the range, in any order, some perhaps repeated."""
    if bounds.field == DOCNO:
        docs = range(columns.n_docs)
        return np.array(docs)[_between(columns.docnos, docs, bounds, bounds.low, bounds.high)]
    ends = [end for end in (bounds.low, bounds.high) if end is not None]
    if bounds.field in STREAMS:
        return _with_words(columns, bounds)
    if not ends:
        return columns.fields.having(bounds.field)
    numbers, dates = all(parse_number(end) is not None for end in ends), all(map(parse_period, ends))
    if not numbers and not dates:
        return _with_words(columns, bounds)
    found = [_with_numbers(columns, bounds)] if numbers else []
    return np.concatenate([*found, *([_with_dates(columns, bounds)] if dates else [])])


def parse_period(text: str) -> tuple[float, float] | None:
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


def _with_numbers(columns: ShardColumns, bounds: Range) -> Array:
    low = -math.inf if bounds.low is None else float(bounds.low)
    high = math.inf if bounds.high is None else float(bounds.high)
    return columns.fields.between_numbers(
        bounds.field,
        low if bounds.low_included else math.nextafter(low, math.inf),
        high if bounds.high_included else math.nextafter(high, -math.inf),
    )


def _with_dates(columns: ShardColumns, bounds: Range) -> Array:
    first = parse_period(bounds.low) if bounds.low else None
    last = parse_period(bounds.high) if bounds.high else None
    low = -math.inf if first is None else first[0] if bounds.low_included else first[1] + 1
    high = math.inf if last is None else last[1] if bounds.high_included else last[0] - 1
    return columns.fields.between_dates(bounds.field, low, high)


def _with_words(columns: ShardColumns, bounds: Range) -> Array:
    text = columns.text(bounds.field)
    if text is None:
        return np.zeros(0, np.int64)
    low = None if bounds.low is None else text.prefix + fold_text(bounds.low)
    high = None if bounds.high is None else text.prefix + fold_text(bounds.high)
    terms = _between(text.terms, text.numbers, bounds, low, high)
    offsets, first = text.stream.offsets, text.numbers.start
    docs: Array = text.stream.docs[offsets[terms.start - first] : offsets[terms.stop - first]]
    return docs


def _between(strings: Strings, numbers: range, bounds: Range, low: str | None, high: str | None) -> slice:
    """The numbers, among these, of the strings in a range."""
    # In byte order, no string lies between a string and the same with a null character.
    first = numbers.start if low is None else strings.first_from(low if bounds.low_included else low + "\0")
    last = numbers.stop if high is None else strings.first_from(high + "\0" if bounds.high_included else high)
    return slice(first, max(first, last))
