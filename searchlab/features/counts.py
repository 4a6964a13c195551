"""Counts of a query's terms in its candidates, with the statistics of the collection.

Most features are functions of these numbers alone. So the same functions serve an index and bare counts, such as the
Meta files of LETOR, in which its authors published what their features were computed from.
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

# Texts of fewer tokens, times the terms that are counted, are read; in longer ones the postings are searched instead.
MAX_READ_TOKENS = 32


@dataclass(frozen=True, eq=False)
class StreamCounts:
    """One stream of the candidates: `tf[t, d]` is the count in candidate d of term t, a distinct term of the query.

    `lengths` and `uniques` are the numbers of terms and of distinct terms of each candidate; `stats[t]` are the
    collection's statistics of term t, and `query_counts[t]` is its count in the query. `n_asked` and `n_words` are the
    numbers of distinct terms and of words of the whole query, even if some terms have been left out here.
    """

    tf: Array
    lengths: Array
    uniques: Array
    stats: tuple[TermStats, ...]
    query_counts: Array
    n_asked: int
    n_words: float
    _cache: dict[object, Array] = field(default_factory=dict, init=False, repr=False)

    @property
    def n_terms(self) -> int:
        """The number of distinct terms."""
        return len(self.stats)

    @property
    def n_candidates(self) -> int:
        """The number of candidates."""
        return len(self.lengths)

    @cached_property
    def known(self) -> StreamCounts:
        """The counts without terms that occur in no document of the collection in this stream."""
        if all(term.doc_freq for term in self.stats):
            return self
        kept = [row for row, term in enumerate(self.stats) if term.doc_freq]
        return StreamCounts(
            self.tf[kept],
            self.lengths,
            self.uniques,
            tuple(self.stats[row] for row in kept),
            self.query_counts[kept],
            self.n_asked,
            self.n_words,
        )

    def with_tf(self, tf: Array) -> StreamCounts:
        """The counts with other frequencies."""
        return replace(self, tf=tf)

    def fill(self, number: float) -> Array:
        """The same number for each candidate."""
        return np.full(self.n_candidates, number)

    def once(self, formula: Callable[[StreamCounts], Array]) -> Array:
        """The values of a formula that several features share, computed once and cached."""
        if formula not in self._cache:
            self._cache[formula] = formula(self)
        return self._cache[formula]

    # Sums over q∩d are over the pairs of a term and a candidate that has it, which are few.

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
        """The count of the term in the candidate, of each pair."""
        return self._pairs[2]

    @cached_property
    def share(self) -> Array:
        """c/|d| of each pair."""
        return np.asarray(self.c / self.lengths[self.doc])

    def add(self, numbers: Array) -> Array:
        """For each candidate, the sum over its pairs."""
        return np.bincount(self.doc, numbers, self.n_candidates).astype(float, copy=False)

    def total(self, numbers: Array) -> Array:
        """For each candidate, the sum over its pairs, where a repeated word of the query counts each time."""
        return self.add(numbers if self._has_no_repeats else numbers * self.query_counts[self.term])

    @cached_property
    def _has_no_repeats(self) -> bool:
        return bool((self.query_counts == 1).all())

    @cached_property
    def n_matched(self) -> Array:
        """The number of distinct terms of the query in each candidate."""
        return np.bincount(self.doc, minlength=self.n_candidates)

    # Statistics of each term in the collection.

    def constant(self, numbers: Array) -> Array:
        """The sum over the words of the query of a number of each term, the same for each candidate."""
        return self.fill(float((self.query_counts * numbers).sum()))

    @cached_property
    def doc_freqs(self) -> Array:
        """df of each term."""
        return np.array([term.doc_freq for term in self.stats], float)

    @cached_property
    def term_counts(self) -> Array:
        """cf of each term: its count in all documents."""
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

    `terms` are the distinct terms of the query in the order of their first occurrence, even if they do not occur in
    the collection; every stream has a row for each. `measured` holds features that are no function of counts, by name,
    a number for each candidate: the results of further searches, of positions, or of a semantic space.
    """

    terms: tuple[str, ...]
    n_candidates: int
    streams: Mapping[str, StreamCounts]
    measured: Mapping[str, Array] = field(default_factory=dict)


def bare_counts(words: Sequence[str], streams: Mapping[str, tuple[Array, Array, Array, Sequence[TermStats]]]) -> Counts:
    """Counts from numbers: for each stream tf (words × candidates), lengths, unique lengths, statistics of each word.

    A word that occurs twice in the query is listed twice, as in LETOR's Meta files.
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
                tuple(stats[row] for row in kept),
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
    """Counts from an index, of the terms of a query with their counts there, in documents given by shard and number."""
    return CandidateCounts(snapshot, shards, docs).collect(query, streams)


class CandidateCounts:
    """Counts of any terms in the same documents, given by shard and number; each term is looked up once.

    If it may be done by compiled code, the tokens of short documents are counted: one pass for all terms.
    """

    def __init__(self, snapshot: Snapshot, shards: Array, docs: Array, *, compiled: bool = False) -> None:
        self._snapshot = snapshot
        self._compiled = compiled
        self._docs = docs
        rows_of_shards = [np.flatnonzero(shards == shard_index) for shard_index in range(len(snapshot.shards))]
        # Lookups in ascending order are faster: neighbours are near each other in the postings.
        self._rows_of_shards = [rows[np.argsort(docs[rows])] for rows in rows_of_shards]
        self._found: dict[tuple[str, str], Array] = {}
        self._numbers: dict[tuple[str, str], Array] = {}

    def collect(self, query: Mapping[str, float], streams: Iterable[str] = STREAMS) -> Counts:
        """The counts of the terms of a query, given with their counts there."""
        terms, repeats = tuple(query), np.array(list(query.values()), float)
        wanted = frozenset(streams)
        frequencies: dict[str, Array] = {}
        # "both" is title and body together, so that body is the difference of the other two.
        for name in [name for name in ("both", "title", "body") if name in wanted]:
            if name == "body" and wanted.issuperset(STREAMS):
                frequencies[name] = frequencies["both"] - frequencies["title"]
            else:
                frequencies[name] = self._frequencies(terms, name)
        return Counts(
            terms,
            len(self._docs),
            {
                name: StreamCounts(
                    tf,
                    self._document_numbers(name, "lengths"),
                    self._document_numbers(name, "uniques"),
                    tuple(self._snapshot.term_stats(name, term) for term in terms),
                    repeats,
                    len(terms),
                    float(repeats.sum()),
                )
                for name, tf in frequencies.items()
            },
        )

    def _frequencies(self, terms: Sequence[str], name: str) -> Array:
        """The count of each term in each document."""
        new = [term for term in terms if (name, term) not in self._found]
        if new:
            self._found |= {(name, term): tf for term, tf in zip(new, self._look_up(new, name), strict=True)}
        return np.stack([self._found[name, term] for term in terms]) if terms else np.zeros((0, len(self._docs)))

    def _look_up(self, terms: Sequence[str], name: str) -> Array:
        """The same from the index; a term's postings are searched for all documents of a shard at once."""
        if self._compiled and (tf := self._read_texts(terms, name)) is not None:
            return tf
        tf = np.zeros((len(terms), len(self._docs)))
        for shard_index, (shard, rows) in enumerate(zip(self._snapshot.shards, self._rows_of_shards, strict=True)):
            if not len(rows):
                continue
            column = shard.columns.streams[name]
            # searchsorted would convert the postings if the types differed.
            wanted = self._docs[rows].astype(column.docs.dtype)
            counts = np.zeros((len(terms), len(rows)))
            for row, term in enumerate(terms):
                number = self._snapshot.find_term(term)[shard_index]
                if number >= 0:
                    _look_up(column, number, wanted, counts[row])
            tf[:, rows] = counts
        return tf

    def _read_texts(self, terms: Sequence[str], name: str) -> Array | None:
        """The same from the texts of the documents; None if they are so long that postings are found faster."""
        texts = []
        for shard, rows in zip(self._snapshot.shards, self._rows_of_shards, strict=True):
            found = shard.columns.document_tokens(name).bounds(self._docs[rows])
            texts.append({"title": found[:2], "body": found[1:]}.get(name, found[::2]))
        n_tokens = sum(int((ends - starts).sum()) for starts, ends in texts)
        if n_tokens > MAX_READ_TOKENS * len(terms) * len(self._docs):
            return None
        from searchlab.features.token_kernels import count_terms

        tf = np.zeros((len(terms), len(self._docs)))
        for shard_index, (rows, ranges) in enumerate(zip(self._rows_of_shards, texts, strict=True)):
            if len(rows):
                columns = self._snapshot.shards[shard_index].columns
                tokens, n_terms = columns.tokens, len(columns.terms)
                numbers = np.array([self._snapshot.find_term(term)[shard_index] for term in terms], np.int64)
                if not count_terms(tokens.verify_within(*ranges), tokens.mask, *ranges, n_terms, rows, numbers, tf):
                    raise IndexError("a token that is not the number of a term")
        return tf

    def _document_numbers(self, name: str, column: str) -> Array:
        """A column of numbers of each document in a stream."""
        if (name, column) not in self._numbers:
            numbers = self._numbers[name, column] = np.zeros(len(self._docs))
            for shard, rows in zip(self._snapshot.shards, self._rows_of_shards, strict=True):
                numbers[rows] = getattr(shard.columns.streams[name], column)[self._docs[rows]]
        return self._numbers[name, column]


def _look_up(column: Stream, number: int, wanted: Array, counts: Array) -> None:
    """Write the count of a term in the wanted documents of a shard to `counts`."""
    extent = slice(*column.offsets[number : number + 2].tolist())
    postings = column.docs[extent]
    if len(postings):
        at = postings.searchsorted(wanted)
        np.multiply(column.tfs[extent].take(at, mode="clip"), postings.take(at, mode="clip") == wanted, out=counts)
