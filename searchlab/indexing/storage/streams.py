"""Texts that can be searched: the title, the body, both as one, or a field such as the authors.

Each has its terms, their postings and lengths (a `Stream`), and its terms in the order of the text (`Passages`), for
phrases.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from searchlab.indexing.storage.arrays.column import Column
from searchlab.indexing.storage.arrays.string_table import Strings
from searchlab.types import Array


@dataclass(frozen=True)
class Stream:
    """The postings and lengths of one text in one shard."""

    offsets: Column
    docs: Column
    tfs: Column
    counts: Column
    max_tfs: Column
    lengths: Column
    uniques: Column
    dense: Column
    bits: Column
    ranks: Column


@dataclass(frozen=True)
class Passages:
    """The terms of documents in the order of their texts: passage i, of docs[i], is tokens[starts[i]:ends[i]].

    Passages are in the order of their documents; a document can have none or several.
    """

    tokens: Column
    docs: Array
    starts: Array
    ends: Array


@dataclass(frozen=True, eq=False)
class Text:
    """One text of all documents of a shard.

    Its terms are those with the numbers `numbers` of `terms`, each after `prefix`. The stream numbers them from the
    first of these; the passages have their numbers in `terms`.
    """

    terms: Strings
    prefix: str
    numbers: range
    stream: Stream
    passages: Passages

    def find(self, term: str) -> int:
        """The number of a term in the stream, -1 if it does not occur in the shard."""
        number = self.terms.find(self.prefix + term)
        return number - self.numbers.start if number >= 0 else -1

    def postings(self, number: int) -> tuple[Array, Array]:
        """The documents of a term, given by its number in the stream, and its frequencies in them."""
        rows = slice(self.stream.offsets[number], self.stream.offsets[number + 1])
        return self.stream.docs[rows], self.stream.tfs[rows]


def make_stream(offsets: Array, docs: Array, tfs: Array, lengths: Array) -> Stream:
    """A stream without bitmaps; its counts are computed from the postings."""
    counts, max_tfs = count_terms(offsets, tfs)
    uniques = np.bincount(docs, minlength=len(lengths)).astype(np.int32)
    none = np.zeros((0, 0), np.uint64)
    arrays = (offsets, docs, tfs, counts, max_tfs, lengths, uniques, np.zeros(0, np.int64), none, none)
    return Stream(*map(Column, arrays))


def count_terms(offsets: Array, tfs: Array) -> tuple[Array, Array]:
    """For each term, the sum and the largest of its frequencies."""
    used = np.diff(offsets) > 0
    counts = np.zeros(len(used), np.int64)
    max_tfs = np.zeros(len(used), np.int32)
    if used.any():
        begins = offsets[:-1][used]
        counts[used] = np.add.reduceat(tfs.astype(np.int64), begins)
        max_tfs[used] = np.maximum.reduceat(tfs, begins)
    return counts, max_tfs
