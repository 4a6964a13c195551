"""How near to each other are the words of a query in a document?

The texts of all candidates of a shard are laid end to end, and every measure is taken over all of them at once. In
`both`, title and body follow each other; only a phrase or a bigram does not begin in one and end in the other.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from searchlab.array_ranges import concatenate_ranges
from searchlab.indexing.snapshot import Snapshot
from searchlab.indexing.storage.columns import ShardColumns
from searchlab.types import Array


@dataclass(frozen=True, eq=False)
class Occurrences:
    """Where words of the query stand in some texts that are laid end to end.

    `codes` has for each place of the texts the number of the query's term there, from 1, or 0. Occurrence i is at
    `at[i]`, in text `rows[i]`, and the passage that it belongs to goes on to `ends[i]`.
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
        """Some of the occurrences."""
        return Occurrences(self.n_texts, self.codes, self.at[chosen], self.rows[chosen], self.ends[chosen])


def count_sequence(found: Occurrences, sequence: Sequence[int]) -> Array:
    """How often each text has these terms one right after the other within a passage."""
    chosen = (found.terms == sequence[0]) & (found.at + len(sequence) <= found.ends)
    at, rows = found.at[chosen], found.rows[chosen]
    for step, term in enumerate(sequence[1:], start=1):
        goes_on = found.codes[at + step] == term
        at, rows = at[goes_on], rows[goes_on]
    return np.bincount(rows, minlength=found.n_texts).astype(float)


def phrase(found: Occurrences, words: Sequence[int]) -> Array:
    """How often each text has the whole query."""
    if not words:
        return np.full(found.n_texts, np.nan)
    return count_sequence(found, words) if all(words) else np.zeros(found.n_texts)


def bigrams(found: Occurrences, words: Sequence[int]) -> Array:
    """How often each text has words of the query that are neighbours there as neighbours."""
    counts = np.zeros(found.n_texts)
    for pair in pairwise(words):
        if all(pair):
            counts += count_sequence(found, pair)
    return counts


def window(found: Occurrences, words: Sequence[int]) -> Array:
    """The length of the shortest stretch of each text that has all terms which the text has; NaN if it has none.

    A shortest stretch ends with an occurrence. From each, all terms are looked for backwards: it begins where the one
    that was last seen the longest ago was seen.
    """
    shortest = np.full(found.n_texts, np.inf)
    if not len(found.at):
        return shortest
    order = np.arange(len(found.at))
    firsts = np.searchsorted(found.rows, found.rows)
    begins = found.at.astype(float)
    for term in found.present:
        here = found.terms == term
        last = np.maximum.accumulate(np.where(here, order, -1))
        has = np.zeros(found.n_texts, bool)
        has[found.rows[here]] = True
        seen = np.where(last >= firsts, found.at[last], -np.inf)
        begins = np.where(has[found.rows], np.minimum(begins, seen), begins)
    np.minimum.at(shortest, found.rows, found.at - begins + 1)
    return shortest


def distance(found: Occurrences, words: Sequence[int]) -> Array:
    """How many places lie from one term to a different one at least; NaN if a text has less than two.

    The nearest two are neighbours among the occurrences: any between them would be nearer to one of the two.
    """
    nearest = np.full(found.n_texts, np.inf)
    differ = (found.terms[1:] != found.terms[:-1]) & (found.rows[1:] == found.rows[:-1])
    np.minimum.at(nearest, found.rows[1:][differ], np.diff(found.at)[differ])
    return nearest


MEASURES = {"phrase": phrase, "bigrams": bigrams, "window": window, "distance": distance}


def measure_positions(
    snapshot: Snapshot, words: Sequence[str], shards: Array, docs: Array, wanted: Collection[str]
) -> dict[str, Array]:
    """The features `near.STREAM.MEASURE` of these names, for documents given by shard and number."""
    measured = {name: np.full(len(docs), np.nan) for name in wanted}
    terms = list(dict.fromkeys(words))
    for place, shard in enumerate(snapshot.shards):
        rows = np.flatnonzero(shards == place)
        if not len(rows):
            continue
        numbers = [snapshot.find_term(term)[place] for term in terms]
        texts = _find_occurrences(shard.columns, numbers, docs[rows])
        # A word that the shard does not have is nowhere, as if it were no term: 0.
        codes = [1 + terms.index(word) if numbers[terms.index(word)] >= 0 else 0 for word in words]
        for name in wanted:
            _, stream, measure = name.split(".")
            measured[name][rows] = MEASURES[measure](texts[stream], codes)
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
    codes = code_of[columns.tokens[concatenate_ranges(starts, ends)]]
    at = np.flatnonzero(codes)
    rows = np.repeat(np.arange(len(docs)), lengths)[at]
    in_title = at < (begins + titles)[rows]
    passage_ends = np.where(in_title, (begins + titles)[rows], (begins + lengths)[rows])
    both = Occurrences(len(docs), codes, at, rows, passage_ends)
    return {"title": both.only(in_title), "body": both.only(~in_title), "both": both}
