"""Counts of a query's terms in its candidates, with the statistics of the collection.

Most features are functions of these numbers alone. So the same functions serve an index and bare counts, such as the
Meta files of LETOR, in which its authors published what their features were computed from.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from searchlab.indexing.storage.columns import STREAMS, ShardColumns
from searchlab.indexing.storage.streams import Stream
from searchlab.records import TermStats
from searchlab.retrieval.document_reading import DocumentReading, join_rows
from searchlab.types import Array

if TYPE_CHECKING:
    from searchlab.retrieval.engine import SearchEngine

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
    engine: SearchEngine, query: Mapping[str, float], shards: Array, docs: Array, streams: Iterable[str] = STREAMS
) -> Counts:
    """Counts from an index, of the terms of a query with their counts there, in documents given by shard and number."""
    return CandidateCounts(engine, shards, docs).collect(query, streams)


class CandidateCounts:
    """Counts of any terms in the same documents, given by shard and number; each term is looked up once.

    `read` gives what a reading gives of the documents, if it may be there already.
    """

    def __init__(
        self, engine: SearchEngine, shards: Array, docs: Array, read: Callable[[CountReading], Array] | None = None
    ) -> None:
        self._engine = engine
        self._n_docs = len(docs)
        self._read = read or partial(engine.read_documents, shards=shards, docs=docs)
        # By stream and term, and by stream and column.
        self._frequencies: dict[tuple[str, str], Array] = {}
        self._numbers: dict[tuple[str, str], Array] = {}

    def collect(self, query: Mapping[str, float], streams: Iterable[str] = STREAMS) -> Counts:
        """The counts of the terms of a query, given with their counts there."""
        terms, repeats = tuple(query), np.array(list(query.values()), float)
        wanted = [name for name in ("both", "title", "body") if name in frozenset(streams)]
        self.learn(self.missing([(name, term) for name in looked_up(wanted) for term in terms], wanted))
        frequencies = {
            name: np.stack([self._frequencies[name, term] for term in terms]) if terms else np.zeros((0, self._n_docs))
            for name in looked_up(wanted)
        }
        if len(frequencies) < len(wanted):
            frequencies["body"] = frequencies["both"] - frequencies["title"]
        return Counts(
            terms,
            self._n_docs,
            {
                name: StreamCounts(
                    tf,
                    self._numbers[name, "lengths"],
                    self._numbers[name, "uniques"],
                    tuple(self._engine.snapshot.term_stats(name, term) for term in terms),
                    repeats,
                    len(terms),
                    float(repeats.sum()),
                )
                for name, tf in frequencies.items()
            },
        )

    def missing(self, terms: Iterable[tuple[str, str]], streams: Iterable[str]) -> CountReading:
        """What is not known yet of the counts of terms, given by stream and term, and of the lengths in streams."""
        columns = ((name, column) for name in streams for column in ("lengths", "uniques"))
        return CountReading(
            tuple(dict.fromkeys(each for each in terms if each not in self._frequencies)),
            tuple(each for each in columns if each not in self._numbers),
        )

    def learn(self, reading: CountReading) -> None:
        """Read what is missing."""
        if not reading.is_empty:
            read = self._read(reading)
            n_terms = len(reading.terms)
            self._frequencies |= zip(reading.terms, read[:n_terms], strict=True)
            self._numbers |= zip(reading.columns, read[n_terms:], strict=True)


def looked_up(streams: Collection[str]) -> list[str]:
    """The streams whose counts are looked up: "both" is title and body together, so that one of three need not be."""
    return [name for name in streams if name != "body" or len(streams) < len(STREAMS)]


@dataclass(frozen=True)
class CountReading(DocumentReading[Array]):
    """Counts of terms, given by stream and term, and numbers of documents, by stream and column: a row for each."""

    terms: tuple[tuple[str, str], ...]
    columns: tuple[tuple[str, str], ...]

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to read."""
        return not (self.terms or self.columns)

    def read(self, engine: SearchEngine, shards: Array, docs: Array) -> Array:
        """A column for each document; a term's postings are searched for all documents of a shard at once.

        If it may be done by compiled code, the tokens of short documents are counted: one pass for all terms.
        """
        snapshot = engine.snapshot
        read = np.zeros((len(self.terms) + len(self.columns), len(docs)))
        of_terms, of_columns = read[: len(self.terms)], read[len(self.terms) :]
        for shard_index, shard in enumerate(snapshot.shards):
            rows = np.flatnonzero(shards == shard_index)
            if not len(rows):
                continue
            # Lookups in ascending order are faster: neighbours are near each other in the postings.
            rows = rows[np.argsort(docs[rows])]
            streams = shard.columns.streams
            numbers = [snapshot.find_term(term)[shard_index] for _, term in self.terms]
            counts = np.zeros((len(self.terms), len(rows)))
            for stream in dict.fromkeys(name for name, _ in self.terms):
                of_stream = np.array(
                    [n if name == stream else -1 for n, (name, _) in zip(numbers, self.terms, strict=True)]
                )
                if not (engine.compiled and _count_in_texts(shard.columns, stream, of_stream, docs[rows], counts)):
                    # searchsorted would convert the postings if the types differed.
                    wanted = docs[rows].astype(streams[stream].docs.dtype)
                    for row in np.flatnonzero(of_stream >= 0).tolist():
                        _look_up(streams[stream], numbers[row], wanted, counts[row])
            of_terms[:, rows] = counts
            for row, (name, column) in enumerate(self.columns):
                of_columns[row, rows] = getattr(streams[name], column)[docs[rows]]
        return read

    def join(self, parts: Sequence[tuple[Array, Array]], n_docs: int) -> Array:
        """The columns of all groups."""
        return join_rows([(rows, part.T) for rows, part in parts], n_docs).T


def _look_up(column: Stream, number: int, wanted: Array, counts: Array) -> None:
    """Write the count of a term in the wanted documents of a shard to `counts`."""
    extent = slice(*column.offsets[number : number + 2].tolist())
    postings = column.docs[extent]
    if len(postings):
        at = postings.searchsorted(wanted)
        np.multiply(column.tfs[extent].take(at, mode="clip"), postings.take(at, mode="clip") == wanted, out=counts)


def _count_in_texts(columns: ShardColumns, stream: str, numbers: Array, docs: Array, counts: Array) -> bool:
    """Add the counts of terms in the texts of documents of a shard to the rows of `counts`; -1 is no term.

    Returns whether that was done: postings are found faster if the texts are long.
    """
    starts, ends = columns.document_tokens(stream).ranges(docs, stream)
    n_terms = np.count_nonzero(numbers >= 0)
    if int((ends - starts).sum()) > MAX_READ_TOKENS * n_terms * len(docs):
        return False
    from searchlab.features.token_kernels import count_occurrences

    tokens = columns.tokens
    rows = np.arange(len(docs))
    memory = tokens.verify_within(starts, ends)
    if not count_occurrences(memory, tokens.mask, starts, ends, len(columns.terms), rows, numbers, counts):
        raise IndexError("a token that is not the number of a term")
    return True
