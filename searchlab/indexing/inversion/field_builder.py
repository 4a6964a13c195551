"""Field builder: collects the other fields of documents and makes their columns (see `field_columns`)."""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from searchlab.analysis.analyzer import Analyzer
from searchlab.indexing.inversion.inversion import take_texts
from searchlab.indexing.storage.arrays.string_table import Strings
from searchlab.indexing.storage.field_columns import GAP, SEPARATOR
from searchlab.indexing.storage.field_values import (
    normalise_value,
    parse_date,
    parse_number,
    scalar_values,
    value_text,
)
from searchlab.types import Array

# A longer value is a text to search, not a name to choose.
MAX_VALUE_LENGTH = 200


class _Table(NamedTuple):
    """Rows being collected: a field, a document, and an item."""

    fields: array[int]
    docs: array[int]
    items: array[Any]

    def append(self, field: int, doc: int, item: float) -> None:
        self.fields.append(field)
        self.docs.append(doc)
        self.items.append(item)

    def sorted(self, ranks: Array, doc_ranks: Array) -> tuple[Array, Array, Array]:
        """The rows sorted by field, item and document, with fields and documents renumbered."""
        fields = ranks[np.array(self.fields, np.int64)]
        docs = doc_ranks[np.array(self.docs, np.int64)]
        items = np.array(self.items)
        order = np.lexsort((docs, items, fields))
        return fields[order], items[order], docs[order]


class FieldBuilder:
    """The fields of the documents of a shard that is being built."""

    def __init__(self) -> None:
        self._names: dict[str, int] = {}
        self._terms: dict[str, int] = {}
        self._values: dict[str, int] = {}
        # One entry for each field of each document: the field, the document, and where its tokens end.
        self._entries = _Table(array("q"), array("q"), array("q"))
        self._tokens = array("q")
        self._value_rows = _Table(array("q"), array("q"), array("q"))
        self._number_rows = _Table(array("q"), array("q"), array("d"))
        self._date_rows = _Table(array("q"), array("q"), array("d"))

    def add(self, doc: int, fields: Mapping[str, Any], analyzer: Analyzer) -> None:
        """Add the fields of a document, which its analyzer turns into terms."""
        for field_name, value in fields.items():
            name = field_name.replace(SEPARATOR, " ").encode(errors="replace").decode()
            number = self._names.setdefault(name, len(self._names))
            begin = len(self._tokens)
            for scalar in scalar_values(value):
                self._add_scalar(number, doc, value_text(scalar), analyzer, gap=len(self._tokens) > begin)
            self._entries.append(number, doc, len(self._tokens))

    def _add_scalar(self, field: int, doc: int, text: str, analyzer: Analyzer, *, gap: bool) -> None:
        if gap:
            self._tokens.append(GAP)
        for term in analyzer.terms(text):
            self._tokens.append(self._terms.setdefault(term, len(self._terms)))
        if len(text) > MAX_VALUE_LENGTH:
            return
        value = normalise_value(text).replace(SEPARATOR, " ").encode(errors="replace").decode()
        self._value_rows.append(field, doc, self._values.setdefault(value, len(self._values)))
        plain = text.strip()
        if (number := parse_number(plain)) is not None and math.isfinite(number):
            self._number_rows.append(field, doc, number)
        elif (date := parse_date(plain)) is not None:
            self._date_rows.append(field, doc, date)

    def columns(self, doc_ranks: Array) -> dict[str, Array]:
        """All columns; document d, in the order of adding, gets the number doc_ranks[d]."""
        names = sorted(self._names)
        ranks = np.empty(len(names), np.int64)
        ranks[[self._names[name] for name in names]] = np.arange(len(names))
        columns = Strings.pack("field.names", names)
        columns |= self._text_columns(names, ranks, doc_ranks)
        columns |= self._value_columns(names, ranks, doc_ranks)
        for name, rows in (("number", self._number_rows), ("date", self._date_rows)):
            fields, items, docs = rows.sorted(ranks, doc_ranks)
            columns[f"field.{name}s"] = items.astype(np.float64)
            columns[f"field.{name}_docs"] = docs.astype(np.uint32)
            columns[f"field.{name}_offsets"] = starts_of(fields, len(names))
        return columns

    def _text_columns(self, names: list[str], ranks: Array, doc_ranks: Array) -> dict[str, Array]:
        terms = sorted(self._terms)
        term_ranks = np.empty(len(terms) + 1, np.int64)
        term_ranks[[self._terms[term] for term in terms]] = np.arange(len(terms))
        fields = ranks[np.array(self._entries.fields, np.int64)]
        docs = doc_ranks[np.array(self._entries.docs, np.int64)]
        ends = np.array(self._entries.items, np.int64)
        begins = np.concatenate([[0], ends[:-1]]).astype(np.int64)
        order = np.lexsort((docs, fields))
        fields, docs, begins, n_tokens = fields[order], docs[order], begins[order], (ends - begins)[order]

        # The tokens of the entries in their new order; a term is numbered by its rank among all pairs of name and term.
        tokens, offsets = take_texts(np.array(self._tokens, np.int64), begins, n_tokens)
        entry_of = np.repeat(np.arange(len(order)), n_tokens)
        real = tokens != GAP
        keys = fields[entry_of[real]] * len(terms) + term_ranks[tokens[real]]
        known, numbers = np.unique(keys, return_inverse=True)
        tokens[real] = numbers

        postings, tfs = np.unique(numbers * len(doc_ranks) + docs[entry_of[real]], return_counts=True)
        of_term, of_doc = np.divmod(postings, max(len(doc_ranks), 1))
        texts = (f"{names[key // len(terms)]}{SEPARATOR}{terms[key % len(terms)]}" for key in known.tolist())
        return Strings.pack("field.terms", texts) | {
            "field.postings": starts_of(of_term, len(known)),
            "field.docs": of_doc.astype(np.uint32),
            "field.tfs": tfs.astype(np.uint32),
            "field.entries": starts_of(fields, len(names)),
            "field.entry_docs": docs.astype(np.uint32),
            "field.entry_lengths": np.bincount(entry_of[real], minlength=len(order)).astype(np.int32),
            "field.tokens": tokens.astype(np.uint32),
            "field.token_offsets": offsets,
        }

    def _value_columns(self, names: list[str], ranks: Array, doc_ranks: Array) -> dict[str, Array]:
        values = sorted(self._values)
        value_ranks = np.empty(len(values), np.int64)
        value_ranks[[self._values[value] for value in values]] = np.arange(len(values))
        fields = ranks[np.array(self._value_rows.fields, np.int64)]
        docs = doc_ranks[np.array(self._value_rows.docs, np.int64)]
        keys = fields * len(values) + value_ranks[np.array(self._value_rows.items, np.int64)]
        known, numbers = np.unique(keys, return_inverse=True)
        of_value, of_doc = np.divmod(np.unique(numbers * len(doc_ranks) + docs), max(len(doc_ranks), 1))
        texts = (f"{names[key // len(values)]}{SEPARATOR}{values[key % len(values)]}" for key in known.tolist())
        return Strings.pack("field.values", texts) | {
            "field.value_offsets": starts_of(of_value, len(known)),
            "field.value_docs": of_doc.astype(np.uint32),
        }


def starts_of(sorted_keys: Array, n_keys: int) -> Array:
    """Where the rows of each key begin among sorted keys, with the total number of rows at the end."""
    return np.searchsorted(sorted_keys, np.arange(n_keys + 1)).astype(np.int64)
