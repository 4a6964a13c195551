"""Columns of the other fields of documents: authors, headings, journal, year.

A field can be searched in three ways. Its texts are split into words like title and body (`mesh:neoplasms`,
`mesh:"lung neoplasms"`); its values are stored whole (`--filter source=Lancet`); values that are numbers or dates are
stored sorted (`year:[1988 TO 1990]`).

Field names come from the data, in any number; the set of columns does not depend on them. Terms and values are stored
under a key (field name, null character, term), in byte order, so those of a field are contiguous. Each field f of
`field.names` has a range in:

    field.names                        the names, sorted (see `Strings`)
    field.terms, .postings             the key of each term, and where its postings begin in
    field.docs, field.tfs              … these
    field.entries                      where the entries of a field, one for each document that has it, begin in
    field.entry_docs, .entry_lengths   … these: the document, and the number of terms
    field.tokens, .token_offsets       the terms of each entry in their order; `GAP` stands between two values
    field.values, .value_offsets       the key of each value (normalised; not of long ones), and where it begins in
    field.value_docs                   … the documents that have it
    field.numbers, .number_docs        numbers, ascending within a field, which begins at `.number_offsets`
    field.dates, .date_docs            dates likewise, as seconds since the year 1; `.date_offsets`
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from searchlab.array_ranges import concatenate_ranges
from searchlab.errors import IndexCorrupt
from searchlab.indexing.storage.arrays.column import Column
from searchlab.indexing.storage.arrays.string_table import Strings
from searchlab.indexing.storage.field_values import normalise_value, years_of
from searchlab.indexing.storage.streams import PassageRanges, Passages, Text, make_stream
from searchlab.types import Array

# Between two values of a field: no phrase crosses it.
GAP = np.iinfo(np.uint32).max
SEPARATOR = "\0"
AFTER_SEPARATOR = "\1"
MAX_CACHED_FIELDS = 16
_NO_DOCS = np.zeros(0, np.uint32)


@dataclass(frozen=True, eq=False)
class FieldColumns:
    """The fields of a shard's documents."""

    n_docs: int

    names: Strings
    terms: Strings
    postings: Column
    docs: Column
    tfs: Column
    entries: Column
    entry_docs: Column
    entry_lengths: Column
    tokens: Column
    token_offsets: Column
    values: Strings
    value_offsets: Column
    value_docs: Column
    numbers: Column
    number_docs: Column
    number_offsets: Column
    dates: Column
    date_docs: Column
    date_offsets: Column

    @classmethod
    def open(cls, n_docs: int, load: Callable[[str], Column], load_strings: Callable[[str], Strings]) -> FieldColumns:
        """Read all columns by name, and check that their lengths agree."""
        columns: dict[str, Any] = {
            name: (load_strings if name in ("names", "terms", "values") else load)(f"field.{name}")
            for name in cls.__dataclass_fields__
            if name != "n_docs"
        }
        fields = cls(n_docs=n_docs, **columns)
        n_names = len(fields.names)
        groups = [
            (n_names, fields.entries, fields.entry_docs),
            (n_names, fields.entries, fields.entry_lengths),
            (n_names, fields.number_offsets, fields.numbers),
            (n_names, fields.number_offsets, fields.number_docs),
            (n_names, fields.date_offsets, fields.dates),
            (n_names, fields.date_offsets, fields.date_docs),
            (len(fields.terms), fields.postings, fields.docs),
            (len(fields.terms), fields.postings, fields.tfs),
            (len(fields.entry_docs), fields.token_offsets, fields.tokens),
            (len(fields.values), fields.value_offsets, fields.value_docs),
        ]
        for n_groups, offsets, rows in groups:
            if len(offsets) != n_groups + 1 or offsets[-1] != len(rows):
                raise IndexCorrupt("the columns of the fields do not fit together")
        return fields

    @cached_property
    def text(self) -> Callable[[str], Text | None]:
        """The text of a field by its name, None if no document of the shard has it; the last few are cached."""
        return lru_cache(MAX_CACHED_FIELDS)(self._make_text)

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
        postings = slice(int(offsets[0]), int(offsets[-1]))
        stream = make_stream(offsets - postings.start, self.docs[postings], self.tfs[postings], lengths)
        bounds = self.token_offsets[entries.start : entries.stop + 1]

        def select(wanted: Array) -> PassageRanges:
            begins, ends = np.searchsorted(docs, wanted), np.searchsorted(docs, wanted, "right")
            rows = concatenate_ranges(begins, ends, len(docs))
            return PassageRanges(docs[rows], bounds[rows], bounds[rows + 1])

        return Text(self.terms, name + SEPARATOR, range(first, last), stream, Passages(self.tokens, select))

    @cached_property
    def numbers_of(self) -> Callable[[str], Array | None]:
        """The number of each document in a field, NaN where it has none; dates count as years, 2024-07-02 as 2024.5.

        Of several, it is the greatest. None if no document of the shard has the field; the last few are cached.
        """
        return lru_cache(MAX_CACHED_FIELDS)(self._make_numbers)

    def _make_numbers(self, name: str) -> Array | None:
        field = self.names.find(name)
        if field < 0:
            return None
        dated, numbered = np.full((2, self.n_docs), np.nan)
        rows = slice(int(self.date_offsets[field]), int(self.date_offsets[field + 1]))
        # Both are in ascending order, and the last of several values for a document remains.
        dated[self.date_docs[rows]] = years_of(self.dates[rows])
        rows = slice(int(self.number_offsets[field]), int(self.number_offsets[field + 1]))
        numbered[self.number_docs[rows]] = self.numbers[rows]
        return np.asarray(np.fmax(dated, numbered))

    @cached_property
    def values_of(self) -> Callable[[str], range]:
        """The numbers of a field's values in `values`, by its name; their order is that of the alphabet."""
        return lru_cache(MAX_CACHED_FIELDS)(self._find_values)

    def _find_values(self, name: str) -> range:
        return range(self.values.first_from(name + SEPARATOR), self.values.first_from(name + AFTER_SEPARATOR))

    def count_kinds(self, name: str) -> tuple[int, int]:
        """How many values of a field are numbers or dates, and how many it has in all, each counted for each document.

        Values that are too long to be stored whole are not counted.
        """
        field = self.names.find(name)
        if field < 0:
            return 0, 0
        ends = slice(field, field + 2)
        n_numbers, n_dates = (int(np.diff(offsets[ends])[0]) for offsets in (self.number_offsets, self.date_offsets))
        numbers = self.values_of(name)
        return n_numbers + n_dates, int(self.value_offsets[numbers.stop]) - int(self.value_offsets[numbers.start])

    def count_values(self, name: str, marked: Array) -> tuple[Array, Array]:
        """How many of the documents that are marked have each value of a field, and all documents that have a value."""
        numbers = self.values_of(name)
        offsets = np.asarray(self.value_offsets[numbers.start : numbers.stop + 1])
        docs = self.value_docs[int(offsets[0]) : int(offsets[-1])]
        n_marked_before = np.concatenate([[0], np.cumsum(marked[docs])])
        return np.diff(n_marked_before[offsets - offsets[0]]), docs

    def first_values(self, name: str) -> Array:
        """For each document the position of its first value among those of a field, in the alphabet; -1 without one."""
        numbers = self.values_of(name)
        offsets = np.asarray(self.value_offsets[numbers.start : numbers.stop + 1])
        positions = np.full(self.n_docs, -1, np.int64)
        # Assigned from the last to the first, so that the first of several remains.
        docs = self.value_docs[int(offsets[0]) : int(offsets[-1])]
        positions[docs[::-1]] = np.repeat(np.arange(len(numbers)), np.diff(offsets))[::-1]
        return positions

    def has_term(self, name: str, term: str) -> bool:
        """Whether a term occurs in a field."""
        return self.terms.find(f"{name}{SEPARATOR}{term}") >= 0

    def having(self, name: str) -> Array:
        """The documents that have a field."""
        field = self.names.find(name)
        docs: Array = self.entry_docs[self.entries[field] : self.entries[field + 1]] if field >= 0 else _NO_DOCS
        return docs

    def with_value(self, name: str, value: str) -> Array:
        """The documents that have this value in a field; case, accents and white space are ignored."""
        number = self.values.find(f"{name}{SEPARATOR}{normalise_value(value)}")
        return self.with_value_number(number) if number >= 0 else _NO_DOCS

    def with_value_number(self, number: int) -> Array:
        """The documents that have the value with this number in `values`."""
        docs: Array = self.value_docs[self.value_offsets[number] : self.value_offsets[number + 1]]
        return docs

    def between_numbers(self, name: str, low: float, high: float) -> Array:
        """The documents that have a number from low to high in a field, both included."""
        return self._between(name, self.numbers, self.number_docs, self.number_offsets, low, high)

    def between_dates(self, name: str, low: float, high: float) -> Array:
        """The documents that have a date from low to high in a field, both included."""
        return self._between(name, self.dates, self.date_docs, self.date_offsets, low, high)

    def _between(self, name: str, items: Column, docs: Column, offsets: Column, low: float, high: float) -> Array:
        field = self.names.find(name)
        if field < 0:
            return _NO_DOCS
        rows = slice(int(offsets[field]), int(offsets[field + 1]))
        start, end = np.searchsorted(items[rows], low, "left"), np.searchsorted(items[rows], high, "right")
        return np.unique(docs[rows][start:end])
