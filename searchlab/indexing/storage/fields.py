"""How are a document's other fields found: authors, headings, journal, year?

Every field that is kept with a document can be asked for, in four ways. Its texts are cut into words as
title and body are (`mesh:neoplasms`, `mesh:"lung neoplasms"`); its values are kept whole (`--filter
source=Lancet`); and values that are numbers or dates are kept sorted (`year:[1988 TO 1990]`).

Field names come from the data, in any number; the columns do not depend on it. Texts and values are kept
under one key, the name, a null and the term, in byte order, so those of a field stand together. What
belongs to field f of `field.names` stands in a range of its own:

    field.names                        the names, sorted (see `Strings`)
    field.terms, .postings             each name and term, and where its postings begin in
    field.docs, field.tfs              … these
    field.entries                      where the entries of a field begin: the documents that have it, in
    field.entry_docs, .entry_lengths   … these, with the number of terms there
    field.tokens, .token_offsets       the terms of each entry in their order; `GAP` stands between two values
    field.values, .value_offsets       each name and value (folded, if not too long), and where it begins in
    field.value_docs                   … the documents that have it
    field.numbers, .number_docs        numbers, ascending within a field, which begins at `.number_offsets`
    field.dates, .date_docs            dates likewise, as seconds since the year 1; `.date_offsets`
"""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np

from searchlab.analysis.tokenizer import fold_text, split_words
from searchlab.errors import IndexCorrupt
from searchlab.indexing.storage.streams import Passages, Text, make_stream
from searchlab.indexing.storage.string_table import Strings
from searchlab.types import Array

# Between two values of a field: no phrase crosses it.
GAP = np.iinfo(np.uint32).max
# A value that is longer is a text to be searched, not a name to be chosen.
LONGEST_VALUE = 200
SEPARATOR = "\0"
AFTER_SEPARATOR = "\1"

_NUMBER = re.compile(r"[+-]?\d{1,30}(?:\.\d{1,30})?")
_DATE = re.compile(r"(\d{4})[-/](\d{1,2})(?:[-/](\d{1,2})(?:[T ](\d{1,2}):(\d{2})(?::(\d{2}))?[\w.:+-]*)?)?")


def as_number(text: str) -> float | None:
    """The number that a text is."""
    return float(text) if _NUMBER.fullmatch(text) else None


def as_date(text: str) -> float | None:
    """The date that a text is (2024-05, 2024-05-17, 2024/5/17, 2024-05-17T12:30), in seconds since the year 1."""
    match = _DATE.fullmatch(text)
    if match is None:
        return None
    year, month, day, hour, minute, second = (int(part) if part else None for part in match.groups())
    assert year is not None
    try:
        return seconds(datetime(year, month or 1, day or 1, hour or 0, minute or 0, second or 0))
    except ValueError:
        return None


def seconds(moment: datetime) -> float:
    """Seconds since the year 1."""
    return (moment - datetime.min).total_seconds()


def as_value(text: str) -> str:
    """A value as it is compared: without case and accents, white space as one blank."""
    return " ".join(fold_text(text).split())


def _scalars(value: Any) -> Iterator[Any]:
    """The single values within a value."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for item in value:
            yield from _scalars(item)
    elif value is not None and value != "":
        yield value


def written(value: Any) -> str:
    """A single value as text."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


class _Table(NamedTuple):
    """Rows on their way: a field, a document, and something of it."""

    fields: array[int]
    docs: array[int]
    items: array[Any]

    def append(self, field: int, doc: int, item: float) -> None:
        self.fields.append(field)
        self.docs.append(doc)
        self.items.append(item)

    def sorted(self, ranks: Array, standing: Array) -> tuple[Array, Array, Array]:
        """Rows by field, item and document, fields and documents renumbered."""
        fields = ranks[np.array(self.fields, np.int64)]
        docs = standing[np.array(self.docs, np.int64)]
        items = np.array(self.items)
        order = np.lexsort((docs, items, fields))
        return fields[order], items[order], docs[order]


class FieldBuilder:
    """The fields of documents on their way into a shard."""

    def __init__(self, term_of: Callable[[str], str | None]) -> None:
        self._term_of = term_of
        self._names: dict[str, int] = {}
        self._terms: dict[str, int] = {}
        self._values: dict[str, int] = {}
        # One entry for each field that a document has: the field, the document, and where its tokens end.
        self._entries = _Table(array("q"), array("q"), array("q"))
        self._tokens = array("q")
        self._value_rows = _Table(array("q"), array("q"), array("q"))
        self._number_rows = _Table(array("q"), array("q"), array("d"))
        self._date_rows = _Table(array("q"), array("q"), array("d"))

    def add(self, doc: int, fields: Mapping[str, Any]) -> None:
        """Take the fields of a document."""
        for given, value in fields.items():
            name = given.replace(SEPARATOR, " ").encode(errors="replace").decode()
            number = self._names.setdefault(name, len(self._names))
            begin = len(self._tokens)
            for scalar in _scalars(value):
                self._add_scalar(number, doc, written(scalar), gap=len(self._tokens) > begin)
            self._entries.append(number, doc, len(self._tokens))

    def _add_scalar(self, field: int, doc: int, text: str, *, gap: bool) -> None:
        if gap:
            self._tokens.append(GAP)
        for term in map(self._term_of, split_words(text)):
            if term is not None:
                self._tokens.append(self._terms.setdefault(term, len(self._terms)))
        if len(text) > LONGEST_VALUE:
            return
        value = as_value(text).replace(SEPARATOR, " ").encode(errors="replace").decode()
        self._value_rows.append(field, doc, self._values.setdefault(value, len(self._values)))
        plain = text.strip()
        if (number := as_number(plain)) is not None and math.isfinite(number):
            self._number_rows.append(field, doc, number)
        elif (date := as_date(plain)) is not None:
            self._date_rows.append(field, doc, date)

    def columns(self, standing: Array) -> dict[str, Array]:
        """All columns; document d, in the order of adding, has the number standing[d]."""
        names = sorted(self._names)
        ranks = np.empty(len(names), np.int64)
        ranks[[self._names[name] for name in names]] = np.arange(len(names))
        found = Strings.pack("field.names", names)
        found |= self._text_columns(names, ranks, standing)
        found |= self._value_columns(names, ranks, standing)
        for name, rows in (("number", self._number_rows), ("date", self._date_rows)):
            fields, items, docs = rows.sorted(ranks, standing)
            found[f"field.{name}s"] = items.astype(np.float64)
            found[f"field.{name}_docs"] = docs.astype(np.uint32)
            found[f"field.{name}_offsets"] = _starts(fields, len(names))
        return found

    def _text_columns(self, names: list[str], ranks: Array, standing: Array) -> dict[str, Array]:
        terms = sorted(self._terms)
        term_ranks = np.empty(len(terms) + 1, np.int64)
        term_ranks[[self._terms[term] for term in terms]] = np.arange(len(terms))
        fields = ranks[np.array(self._entries.fields, np.int64)]
        docs = standing[np.array(self._entries.docs, np.int64)]
        ends = np.array(self._entries.items, np.int64)
        begins = np.concatenate([[0], ends[:-1]]).astype(np.int64)
        order = np.lexsort((docs, fields))
        fields, docs, begins, n_tokens = fields[order], docs[order], begins[order], (ends - begins)[order]

        # The tokens of the entries in their new order; a term's number is its rank among all names and terms.
        offsets = np.zeros(len(order) + 1, np.int64)
        np.cumsum(n_tokens, out=offsets[1:])
        tokens = np.array(self._tokens, np.int64)[np.repeat(begins - offsets[:-1], n_tokens) + np.arange(offsets[-1])]
        entry_of = np.repeat(np.arange(len(order)), n_tokens)
        real = tokens != GAP
        keys = fields[entry_of[real]] * len(terms) + term_ranks[tokens[real]]
        known, numbers = np.unique(keys, return_inverse=True)
        tokens[real] = numbers

        postings, tfs = np.unique(numbers * len(standing) + docs[entry_of[real]], return_counts=True)
        of_term, of_doc = np.divmod(postings, max(len(standing), 1))
        texts = (f"{names[key // len(terms)]}{SEPARATOR}{terms[key % len(terms)]}" for key in known.tolist())
        return Strings.pack("field.terms", texts) | {
            "field.postings": _starts(of_term, len(known)),
            "field.docs": of_doc.astype(np.uint32),
            "field.tfs": tfs.astype(np.uint32),
            "field.entries": _starts(fields, len(names)),
            "field.entry_docs": docs.astype(np.uint32),
            "field.entry_lengths": np.bincount(entry_of[real], minlength=len(order)).astype(np.int32),
            "field.tokens": tokens.astype(np.uint32),
            "field.token_offsets": offsets,
        }

    def _value_columns(self, names: list[str], ranks: Array, standing: Array) -> dict[str, Array]:
        values = sorted(self._values)
        value_ranks = np.empty(len(values), np.int64)
        value_ranks[[self._values[value] for value in values]] = np.arange(len(values))
        fields = ranks[np.array(self._value_rows.fields, np.int64)]
        docs = standing[np.array(self._value_rows.docs, np.int64)]
        keys = fields * len(values) + value_ranks[np.array(self._value_rows.items, np.int64)]
        known, numbers = np.unique(keys, return_inverse=True)
        of_value, of_doc = np.divmod(np.unique(numbers * len(standing) + docs), max(len(standing), 1))
        texts = (f"{names[key // len(values)]}{SEPARATOR}{values[key % len(values)]}" for key in known.tolist())
        return Strings.pack("field.values", texts) | {
            "field.value_offsets": _starts(of_value, len(known)),
            "field.value_docs": of_doc.astype(np.uint32),
        }


def _starts(sorted_keys: Array, n_keys: int) -> Array:
    """Where the rows of each key begin among sorted keys, and where they all end."""
    return np.searchsorted(sorted_keys, np.arange(n_keys + 1)).astype(np.int64)


@dataclass(frozen=True, eq=False)
class FieldColumns:
    """The fields of a shard's documents."""

    n_docs: int

    names: Strings
    terms: Strings
    postings: Array
    docs: Array
    tfs: Array
    entries: Array
    entry_docs: Array
    entry_lengths: Array
    tokens: Array
    token_offsets: Array
    values: Strings
    value_offsets: Array
    value_docs: Array
    numbers: Array
    number_docs: Array
    number_offsets: Array
    dates: Array
    date_docs: Array
    date_offsets: Array

    @classmethod
    def open(cls, n_docs: int, load: Callable[[str], Array], load_strings: Callable[[str], Strings]) -> FieldColumns:
        """Read all columns by name, checking that they fit together."""
        columns: dict[str, Any] = {
            name: (load_strings if name in ("names", "terms", "values") else load)(f"field.{name}")
            for name in cls.__dataclass_fields__
            if name != "n_docs"
        }
        found = cls(n_docs=n_docs, **columns)
        n_names = len(found.names)
        groups = [
            (n_names, found.entries, found.entry_docs),
            (n_names, found.entries, found.entry_lengths),
            (n_names, found.number_offsets, found.numbers),
            (n_names, found.number_offsets, found.number_docs),
            (n_names, found.date_offsets, found.dates),
            (n_names, found.date_offsets, found.date_docs),
            (len(found.terms), found.postings, found.docs),
            (len(found.terms), found.postings, found.tfs),
            (len(found.entry_docs), found.token_offsets, found.tokens),
            (len(found.values), found.value_offsets, found.value_docs),
        ]
        for n_groups, offsets, rows in groups:
            if len(offsets) != n_groups + 1 or offsets[-1] != len(rows):
                raise IndexCorrupt("the columns of the fields do not fit together")
        return found

    @cached_property
    def text(self) -> Callable[[str], Text | None]:
        """The texts of a field, None if no document of the shard has it; the last few are remembered."""
        return lru_cache(16)(self._make_text)

    def _make_text(self, name: str) -> Text | None:
        field = self.names.find(name)
        if field < 0:
            return None
        first, last = self.terms.first_from(name + SEPARATOR), self.terms.first_from(name + AFTER_SEPARATOR)
        offsets = self.postings[first : last + 1]
        entries = slice(self.entries[field], self.entries[field + 1])
        docs = self.entry_docs[entries]
        lengths = np.zeros(self.n_docs, np.int32)
        lengths[docs] = self.entry_lengths[entries]
        own = slice(int(offsets[0]), int(offsets[-1]))
        stream = make_stream(offsets - own.start, self.docs[own], self.tfs[own], lengths)
        bounds = self.token_offsets[entries.start : entries.stop + 1]
        passages = Passages(self.tokens, docs, bounds[:-1], bounds[1:])
        return Text(self.terms, name + SEPARATOR, range(first, last), stream, passages)

    def having(self, name: str) -> Array:
        """The documents that have a field."""
        field = self.names.find(name)
        return self.entry_docs[self.entries[field] : self.entries[field + 1]] if field >= 0 else self.entry_docs[:0]

    def with_value(self, name: str, value: str) -> Array:
        """The documents that have this very value in a field, but for case, accents and white space."""
        place = self.values.find(f"{name}{SEPARATOR}{as_value(value)}")
        return self.value_docs[self.value_offsets[place] : self.value_offsets[place + 1]] if place >= 0 else _NONE

    def between_numbers(self, name: str, low: float, high: float) -> Array:
        """The documents that have a number from low to high in a field, both included."""
        return self._between(name, self.numbers, self.number_docs, self.number_offsets, low, high)

    def between_dates(self, name: str, low: float, high: float) -> Array:
        """The documents that have a date from low to high in a field, both included."""
        return self._between(name, self.dates, self.date_docs, self.date_offsets, low, high)

    def _between(self, name: str, items: Array, docs: Array, offsets: Array, low: float, high: float) -> Array:
        field = self.names.find(name)
        if field < 0:
            return _NONE
        own = slice(int(offsets[field]), int(offsets[field + 1]))
        start, end = np.searchsorted(items[own], low, "left"), np.searchsorted(items[own], high, "right")
        return np.unique(docs[own][start:end])


_NONE = np.zeros(0, np.uint32)
