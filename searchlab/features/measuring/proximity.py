"""Proximity features: phrases, bigrams, the shortest window and the smallest distance of a query's words in a document.

The texts of all candidates of a shard are concatenated, and each measure is computed for all of them at once. In
`both`, the body follows the title; a phrase or a bigram never spans the two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from searchlab.indexing.storage.columns import ShardColumns
from searchlab.retrieval.document_reading import ArrayReading
from searchlab.retrieval.engine import SearchEngine
from searchlab.types import Array


@dataclass(frozen=True, eq=False)
class Occurrences:
    """The positions of a query's words in some concatenated texts.

    `codes` has for each position the number of the query's term there, from 1, or 0. Occurrence i is at `at[i]`, in
    text `rows[i]`, and its passage ends at `ends[i]`.
    """

    n_texts: int
    codes: Array
    at: Array
    rows: Array
    ends: Array

    @cached_property
    def terms(self) -> Array:
        """The number of the term of each occurrence."""
        return self.codes[self.at]

    @cached_property
    def present(self) -> Array:
        """The numbers of the terms that occur."""
        return np.unique(self.terms)

    def only(self, chosen: Array) -> Occurrences:
        """The chosen occurrences."""
        return Occurrences(self.n_texts, self.codes, self.at[chosen], self.rows[chosen], self.ends[chosen])


def count_sequence(occurrences: Occurrences, sequence: Sequence[int]) -> Array:
    """The number of times that these terms follow each other directly within a passage, for each text."""
    chosen = (occurrences.terms == sequence[0]) & (occurrences.at + len(sequence) <= occurrences.ends)
    at, rows = occurrences.at[chosen], occurrences.rows[chosen]
    for step, term in enumerate(sequence[1:], start=1):
        goes_on = occurrences.codes[at + step] == term
        at, rows = at[goes_on], rows[goes_on]
    return np.bincount(rows, minlength=occurrences.n_texts).astype(float)


def phrase(occurrences: Occurrences, words: Sequence[int]) -> Array:
    """The count of the whole query as a phrase in each text."""
    if not words:
        return np.full(occurrences.n_texts, np.nan)
    return count_sequence(occurrences, words) if all(words) else np.zeros(occurrences.n_texts)


def bigrams(occurrences: Occurrences, words: Sequence[int]) -> Array:
    """The count in each text of adjacent words of the query as adjacent words."""
    counts = np.zeros(occurrences.n_texts)
    for pair in pairwise(words):
        if all(pair):
            counts += count_sequence(occurrences, pair)
    return counts


def window(occurrences: Occurrences, words: Sequence[int]) -> Array:
    """The length of the shortest window of each text that contains all terms which the text has; ∞ if it has none.

    A shortest window ends with an occurrence, and begins at the earliest of the last occurrences of each term before.
    """
    shortest = np.full(occurrences.n_texts, np.inf)
    if not len(occurrences.at):
        return shortest
    order = np.arange(len(occurrences.at))
    firsts = np.searchsorted(occurrences.rows, occurrences.rows)
    begins = occurrences.at.astype(float)
    for term in occurrences.present:
        here = occurrences.terms == term
        last = np.maximum.accumulate(np.where(here, order, -1))
        has = np.zeros(occurrences.n_texts, bool)
        has[occurrences.rows[here]] = True
        seen = np.where(last >= firsts, occurrences.at[last], -np.inf)
        begins = np.where(has[occurrences.rows], np.minimum(begins, seen), begins)
    np.minimum.at(shortest, occurrences.rows, occurrences.at - begins + 1)
    return shortest


def distance(occurrences: Occurrences, words: Sequence[int]) -> Array:
    """The smallest distance between two different terms; ∞ if a text has fewer than two.

    The nearest two are adjacent occurrences: any occurrence between them would be nearer to one of them.
    """
    nearest = np.full(occurrences.n_texts, np.inf)
    differ = (occurrences.terms[1:] != occurrences.terms[:-1]) & (occurrences.rows[1:] == occurrences.rows[:-1])
    np.minimum.at(nearest, occurrences.rows[1:][differ], np.diff(occurrences.at)[differ])
    return nearest


PROXIMITY_MEASURES = {"phrase": phrase, "bigrams": bigrams, "window": window, "distance": distance}


@dataclass(frozen=True)
class PositionReading(ArrayReading):
    """The features `near.STREAM.MEASURE` of these names: a row for each document, a column for each feature."""

    words: tuple[str, ...]
    names: tuple[str, ...]

    def read(self, engine: SearchEngine, shards: Array, docs: Array) -> Array:
        """The features of documents, given by shard and number."""
        return _measure(engine, self.words, shards, docs, self.names)


def _measure(engine: SearchEngine, words: Sequence[str], shards: Array, docs: Array, names: Sequence[str]) -> Array:
    snapshot = engine.snapshot
    find = _find_compiled if engine.compiled else _find_occurrences
    measured = np.full((len(docs), len(names)), np.nan)
    terms = list(dict.fromkeys(words))
    for shard_index, shard in enumerate(snapshot.shards):
        rows = np.flatnonzero(shards == shard_index)
        if not len(rows):
            continue
        numbers = [snapshot.find_term(term)[shard_index] for term in terms]
        texts = find(shard.columns, numbers, docs[rows])
        # A word that does not occur in the shard has the code 0, like words that are not in the query.
        codes = [1 + terms.index(word) if numbers[terms.index(word)] >= 0 else 0 for word in words]
        for column, name in enumerate(names):
            _, stream, measure = name.split(".")
            measured[rows, column] = PROXIMITY_MEASURES[measure](texts[stream], codes)
    return measured


def _find_occurrences(columns: ShardColumns, numbers: Sequence[int], docs: Array) -> dict[str, Occurrences]:
    """The occurrences of terms, given by their numbers, in each stream of some documents."""
    starts, ends = columns.token_offsets[docs], columns.token_offsets[docs + 1]
    lengths, titles = ends - starts, columns.streams["title"].lengths[docs].astype(np.int64)
    begins = np.cumsum(lengths) - lengths
    code_of = np.zeros(len(columns.terms), np.int32)
    for code, number in enumerate(numbers, start=1):
        if number >= 0:
            code_of[number] = code
    codes = code_of[columns.tokens.gather(starts, ends)]
    at = np.flatnonzero(codes)
    rows = np.repeat(np.arange(len(docs)), lengths)[at]
    in_title = at < (begins + titles)[rows]
    passage_ends = np.where(in_title, (begins + titles)[rows], (begins + lengths)[rows])
    return _by_stream(Occurrences(len(docs), codes, at, rows, passage_ends), in_title)


def _find_compiled(columns: ShardColumns, numbers: Sequence[int], docs: Array) -> dict[str, Occurrences]:
    """The same by one pass over the texts."""
    from searchlab.features.token_kernels import find_terms

    tokens = columns.tokens
    starts, middles, ends = columns.document_tokens("both").bounds(docs)
    memory, wanted = tokens.verify_within(starts, ends), np.array(numbers, np.int64)
    ranges = starts, middles, ends
    found = find_terms(memory, tokens.mask, *ranges, len(columns.terms), wanted)
    codes, at, rows, passage_ends, in_title = found
    if len(codes) < (ends - starts).sum():
        raise IndexError("a token that is not the number of a term")
    return _by_stream(Occurrences(len(docs), codes, at, rows, passage_ends), in_title)


def _by_stream(both: Occurrences, in_title: Array) -> dict[str, Occurrences]:
    return {"title": both.only(in_title), "body": both.only(~in_title), "both": both}
