"""What is counted about a query and its candidates?

Features are functions of these numbers and see nothing else. So the same functions serve an index and bare counts,
such as the Meta files of LETOR, in which its authors published what their features were computed from.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from searchlab.indexing.snapshot import Snapshot
from searchlab.indexing.storage.columns import STREAMS
from searchlab.indexing.storage.streams import Stream
from searchlab.records import TermStats
from searchlab.types import Array


@dataclass(frozen=True, eq=False)
class StreamCounts:
    """One stream of the candidates: `tf[t, d]` is how often candidate d has term t, a distinct term of the query.

    `lengths` and `uniques` are the candidates' terms and distinct terms; `stats[t]` is what the collection knows of
    term t, and `query_counts[t]` how often the query has it. `n_asked` and `n_words` are the distinct terms and the
    words of the whole query, also where terms have been left out.
    """

    tf: Array
    lengths: Array
    uniques: Array
    stats: tuple[TermStats, ...]
    query_counts: Array
    n_asked: int
    n_words: float
    _remembered: dict[object, Array] = field(default_factory=dict, init=False, repr=False)

    @property
    def n_terms(self) -> int:
        """How many distinct terms there are."""
        return len(self.stats)

    @property
    def n_candidates(self) -> int:
        """How many documents there are."""
        return len(self.lengths)

    @cached_property
    def known(self) -> StreamCounts:
        """The same without the terms that no document of the collection has in this stream."""
        if all(term.doc_freq for term in self.stats):
            return self
        kept = [place for place, term in enumerate(self.stats) if term.doc_freq]
        return StreamCounts(
            self.tf[kept],
            self.lengths,
            self.uniques,
            tuple(self.stats[place] for place in kept),
            self.query_counts[kept],
            self.n_asked,
            self.n_words,
        )

    def with_tf(self, tf: Array) -> StreamCounts:
        """The same with other frequencies."""
        return replace(self, tf=tf)

    def fill(self, number: float) -> Array:
        """The same number for each candidate."""
        return np.full(self.n_candidates, number)

    def once(self, formula: Callable[[StreamCounts], Array]) -> Array:
        """The numbers of a formula that several features are made of, computed when they are first asked for."""
        if formula not in self._remembered:
            self._remembered[formula] = formula(self)
        return self._remembered[formula]

    # Pairs of a term and a candidate that has it, which are few among all: sums over q∩d are over these.

    @cached_property
    def _pairs(self) -> tuple[Array, Array, Array]:
        flat = np.flatnonzero(self.tf)
        term, doc = np.divmod(flat, max(self.n_candidates, 1))
        return term, doc, self.tf.ravel()[flat]

    @property
    def term(self) -> Array:
        """The term of each pair."""
        return self._pairs[0]

    @property
    def doc(self) -> Array:
        """The candidate of each pair."""
        return self._pairs[1]

    @property
    def c(self) -> Array:
        """How often it has the term."""
        return self._pairs[2]

    @cached_property
    def share(self) -> Array:
        """c/|d| of each pair."""
        return np.asarray(self.c / self.lengths[self.doc])

    def add(self, numbers: Array) -> Array:
        """For each candidate, the sum of the numbers of its pairs."""
        return np.bincount(self.doc, numbers, self.n_candidates).astype(float, copy=False)

    def total(self, numbers: Array) -> Array:
        """The same, where a word that the query repeats counts each time."""
        return self.add(numbers if self._has_no_repeats else numbers * self.query_counts[self.term])

    @cached_property
    def _has_no_repeats(self) -> bool:
        return bool((self.query_counts == 1).all())

    @cached_property
    def n_matched(self) -> Array:
        """How many distinct terms each candidate has."""
        return np.bincount(self.doc, minlength=self.n_candidates)

    # What the collection knows of each term.

    def constant(self, numbers: Array) -> Array:
        """The sum of a number of each term over the words of the query, the same for each candidate."""
        return self.fill(float((self.query_counts * numbers).sum()))

    @cached_property
    def doc_freqs(self) -> Array:
        """df of each term."""
        return np.array([term.doc_freq for term in self.stats], float)

    @cached_property
    def term_counts(self) -> Array:
        """cf of each term: how often all documents together have it."""
        return np.array([term.term_count for term in self.stats], float)

    @cached_property
    def n_docs(self) -> Array:
        """N, for each term."""
        return np.array([term.n_docs for term in self.stats], float)

    @cached_property
    def n_tokens(self) -> Array:
        """|C|, for each term."""
        return np.array([term.n_tokens for term in self.stats], float)

    @cached_property
    def idf(self) -> Array:
        """ln(N/df) of each term."""
        return np.asarray(np.log(self.n_docs / self.doc_freqs))


@dataclass(frozen=True, eq=False)
class Counts:
    """Everything about one query and its candidates that features are functions of.

    `terms` are the distinct terms of the query, in the order of their first occurrence, known to the collection or
    not; every stream has a row for each. `measured` holds numbers that no count gives, one for each candidate: what
    was found by searching again, by looking at positions, or in a semantic space; the catalogue names them.
    """

    terms: tuple[str, ...]
    n_candidates: int
    streams: Mapping[str, StreamCounts]
    measured: Mapping[str, Array] = field(default_factory=dict)


def bare_counts(words: Sequence[str], streams: Mapping[str, tuple[Array, Array, Array, Sequence[TermStats]]]) -> Counts:
    """Counts from numbers: for each stream tf (words × candidates), lengths, unique lengths, statistics of each word.

    A word that the query has twice is there twice, as in LETOR's Meta files.
    """
    firsts = {word: words.index(word) for word in words}
    kept = list(firsts.values())
    repeats = np.array(list(Counter(words).values()), float)
    return Counts(
        tuple(firsts),
        len(next(iter(streams.values()))[1]),
        {
            name: StreamCounts(
                np.asarray(tf, float).reshape(len(words), len(lengths))[kept],
                np.asarray(lengths, float),
                np.asarray(uniques, float),
                tuple(stats[place] for place in kept),
                repeats,
                len(kept),
                float(len(words)),
            )
            for name, (tf, lengths, uniques, stats) in streams.items()
        },
    )


def collect_counts(
    snapshot: Snapshot, query: Mapping[str, float], shards: Array, docs: Array, streams: Iterable[str] = STREAMS
) -> Counts:
    """Counts from an index: of a query's terms, with their number, in documents given by shard and number."""
    terms, repeats = tuple(query), np.array(list(query.values()), float)
    wanted = frozenset(streams)
    own = [np.flatnonzero(shards == place) for place in range(len(snapshot.shards))]
    # In ascending order, neighbours are found near each other.
    own = [rows[np.argsort(docs[rows])] for rows in own]
    found: dict[str, Array] = {}
    # Both is title and body as one: of the three, the last follows from the others.
    for name in [name for name in ("both", "title", "body") if name in wanted]:
        if name == "body" and wanted.issuperset(STREAMS):
            found[name] = found["both"] - found["title"]
        else:
            found[name] = _frequencies(snapshot, terms, own, docs, name)
    return Counts(
        terms,
        len(docs),
        {
            name: StreamCounts(
                tf,
                _of_documents(snapshot, own, docs, name, "lengths"),
                _of_documents(snapshot, own, docs, name, "uniques"),
                tuple(snapshot.term_stats(name, term) for term in terms),
                repeats,
                len(terms),
                float(repeats.sum()),
            )
            for name, tf in found.items()
        },
    )


def _frequencies(snapshot: Snapshot, terms: Sequence[str], own: list[Array], docs: Array, name: str) -> Array:
    """How often each document has each term; all documents of a shard are looked up in a term's postings at once."""
    tf = np.zeros((len(terms), len(docs)))
    for place, (shard, rows) in enumerate(zip(snapshot.shards, own, strict=True)):
        if not len(rows):
            continue
        column = shard.columns.streams[name]
        # Of one type with the postings, or all of these would be converted.
        asked = docs[rows].astype(column.docs.dtype)
        found = np.zeros((len(terms), len(rows)))
        for row, term in enumerate(terms):
            number = snapshot.find_term(term)[place]
            if number >= 0:
                _look_up(column, number, asked, found[row])
        tf[:, rows] = found
    return tf


def _look_up(column: Stream, number: int, asked: Array, found: Array) -> None:
    """Write down how often some documents of a shard have a term."""
    extent = slice(int(column.offsets[number]), int(column.offsets[number + 1]))
    having = column.docs[extent]
    if len(having):
        at = having.searchsorted(asked)
        np.multiply(column.tfs[extent].take(at, mode="clip"), having.take(at, mode="clip") == asked, out=found)


def _of_documents(snapshot: Snapshot, own: list[Array], docs: Array, name: str, column: str) -> Array:
    """A number that each document has in a stream."""
    numbers = np.zeros(len(docs))
    for shard, rows in zip(snapshot.shards, own, strict=True):
        numbers[rows] = getattr(shard.columns.streams[name], column)[docs[rows]]
    return numbers
