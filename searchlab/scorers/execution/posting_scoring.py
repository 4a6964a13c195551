"""Scoring by postings: scorers that weigh the terms a document has.

The plan for the pruning kernel, and the same sum by NumPy: for one query in a fresh process, for scorers whose gains
can be negative, and for queries that ask for more than words. Terms may be looked up in different streams; each is
scored by the numbers of that stream. Gains are added in descending order of their bounds, so that a document has
the same score to the last bit, whichever way it was found.
"""

from __future__ import annotations

from collections.abc import Hashable
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from searchlab.scorers.execution.bound_scorer import (
    BoundScorer,
    QueryScorer,
    ScorableQuery,
    TermContribution,
    frequency_of,
)
from searchlab.scorers.execution.collection_statistics import NormRange, QueryStatistics, Variants
from searchlab.scorers.execution.index_reader import IndexReader
from searchlab.scorers.execution.posting_cache import GainFormula, PostingCache
from searchlab.scorers.execution.scoring_plan import DocumentNorms, PlannedTerm, ScoringPlan, make_query_arrays
from searchlab.scorers.gains import SATURATION, exact_gain, gain
from searchlab.types import Array

if TYPE_CHECKING:
    from searchlab.scorers.base import PostingScorer

# Terms whose numbers a bound scorer keeps.
MAX_CACHED_WEIGHTS = 1 << 14
# If fewer than one document in this many is scored, they are looked up in the postings; otherwise these are read whole.
LOOKUP_RATIO = 16


class TermNumbers(NamedTuple):
    """A scorer's numbers for a term; `bound` is the largest gain that it can give any document."""

    weight: float
    factor: float
    background: float
    bound: float


class BoundPostingScorer(BoundScorer):
    """A posting scorer over one index: norms of documents and weights of terms, computed once and cached.

    Subclasses may replace frequencies, norms, or the formula of single documents.
    """

    def __init__(self, scorer: PostingScorer, reader: IndexReader, stream: str) -> None:
        super().__init__(reader, stream)
        self.scorer = scorer
        self.can_prune = scorer.gains_are_positive
        self.term_weights = lru_cache(MAX_CACHED_WEIGHTS)(self._make_term_weights)

    def prepare(self, query: ScorableQuery) -> QueryScorer:
        """The query, ready to be scored."""
        return PostingQueryScorer(self, query)

    def in_stream(self, stream: str) -> BoundPostingScorer:
        """The same scorer bound to another stream or field."""
        return self if stream == self.stream else self.reader.bind(self.scorer, stream)

    @cached_property
    def norms(self) -> DocumentNorms:
        """The norms and biases of all documents, as compiled kernels read them."""
        by_shard = self._norms_by_shard
        norms = np.concatenate([np.zeros(0), *(norms for norms, _ in by_shard)])
        made = DocumentNorms.make(norms, self.reader.join_biases(biases for _, biases in by_shard), self.reader.live)
        self.__dict__.pop("_norms_by_shard", None)
        return made

    @cached_property
    def _norms_by_shard(self) -> list[tuple[Array, Array | None]]:
        """The norms and biases of each shard, until `norms` has them: a single query need not sort them."""
        return [self.norms_and_biases(shard_index) for shard_index in range(self.reader.n_shards)]

    def norms_of(self, shard_index: int, docs: Array) -> Array:
        """The norms of some documents of a shard."""
        if self._has_norms:
            return self.norms.of(self.reader.documents_of(shard_index)[0] + docs)
        return self._norms_by_shard[shard_index][0][docs]

    def biases_of(self, shard_index: int, docs: Array) -> Array | None:
        """The biases of some documents of a shard, if they have any."""
        if self._has_norms:
            biases = self.norms.biases
            return biases[self.reader.documents_of(shard_index)[0] + docs] if len(biases) else None
        of_shard = self._norms_by_shard[shard_index][1]
        return None if of_shard is None else of_shard[docs]

    @property
    def _has_norms(self) -> bool:
        """Whether `norms` has been computed."""
        return "norms" in self.__dict__

    @cached_property
    def norm_range(self) -> NormRange:
        """The range of the norms of all documents of the collection, of which this index may be a part."""
        return self.reader.statistics.norm_range(self)

    def measure_norms(self) -> NormRange:
        """The range of the norms of the documents of this index."""
        if self._has_norms:
            table = self.norms.norm_table
            return NormRange(float(table[0]), float(table[-1]))
        by_shard = [norms for norms, _ in self._norms_by_shard]
        if self.reader.live is not None and self.reader.live.any():
            lives = [shard.live for shard in self.reader.snapshot.shards]
            by_shard = [norms if live is None else norms[live] for norms, live in zip(by_shard, lives, strict=True)]
        filled = [norms for norms in by_shard if len(norms)]
        return NormRange(float(min(norms.min() for norms in filled)), float(max(norms.max() for norms in filled)))

    def norms_and_biases(self, shard_index: int) -> tuple[Array, Array | None]:
        """The norms of all documents of a shard, and their biases, if they have any."""
        column, scorer = self.reader.column(shard_index, self.stream), self.scorer
        lengths, uniques = column.lengths.whole, column.uniques.whole
        if len(lengths) and min(lengths.min(), uniques.min()) < 0:
            raise column.lengths.damaged("a length below 0")
        norms = scorer.doc_norm(lengths, uniques, self.reader.mean_length(self.stream))
        return norms, scorer.doc_bias(lengths, uniques)

    def _make_term_weights(self, variants: Variants) -> TermNumbers:
        stats, scorer = self.reader.term_stats(self.stream, variants), self.scorer
        weight, factor = scorer.term_weight(stats), scorer.term_factor(stats)
        bound = self.max_gain(variants, weight, factor)
        return TermNumbers(weight, factor, scorer.background(stats), bound)

    def max_gain(self, variants: Variants, weight: float, factor: float) -> float:
        """The largest gain that a term can give any document."""
        # A norm counts against the document where it saturates, for it elsewhere.
        norm = self.norm_range.low if self.scorer.shape == SATURATION else self.norm_range.high
        max_tf = float(self.reader.statistics.count_term(self.stream, variants).max_tf)
        return float(gain(self.scorer.shape, max_tf, weight, factor, norm, self.scorer.shift))

    def frequencies(self, shard_index: int, variants: Variants) -> tuple[Array, Array]:
        """The documents of a shard that have a term, ascending, and its frequency in each as the scorer counts it."""
        return self.reader.occurrences(shard_index, self.stream, variants)

    @cached_property
    def posting_cache(self) -> PostingCache:
        """The postings that the kernel reads, with frequencies as the scorer counts them."""
        return self.reader.posting_cache(self.stream)

    def formula_of(self, shard_index: int, doc: int) -> PostingScorer:
        """The scorer whose formula explains the score of a document."""
        return self.scorer


class _StreamTerm(NamedTuple):
    """A term of a query: the scorer bound to its stream, and its weight, repeats multiplied in."""

    bound: BoundPostingScorer
    variants: Variants
    weight: float
    factor: float


class PostingQueryScorer(QueryScorer):
    """A query for a posting scorer."""

    def __init__(self, bound: BoundPostingScorer, query: ScorableQuery) -> None:
        self._bound = bound
        self._query = query

    def plan(self, k: int) -> ScoringPlan | None:
        """What the pruning kernel needs.

        None for a syntax tree, for a word that stands for several terms, or if a matching term can lower a score.
        """
        bound, scorer = self._bound, self._bound.scorer
        if self._query.node is not None or not bound.can_prune or any(term.is_class for term in self._query.terms):
            return None
        terms = [(term, bound.term_weights(term.variants)) for term in self._query.terms]
        terms.sort(key=lambda pair: -pair[0].count * pair[1].bound)
        impacts = bound.posting_cache.hold([term.variants for term, _ in terms]).impacts_of(bound)
        rows = []
        for term, (weight, factor, _, _) in terms:
            found = impacts.terms.get(term.variants) or impacts.add(
                term.variants, bound.norms, GainFormula(scorer.shape, weight, factor, scorer.shift)
            )
            rows.append(PlannedTerm(term.count, weight, factor, found))
        background = sum(term.count * weights.background for term, weights in terms)
        n_words = sum(term.count for term, _ in terms)
        arrays = make_query_arrays(rows, k, float(background), float(n_words), scorer.shape, float(scorer.shift))
        return ScoringPlan(impacts.arrays, bound.norms, arrays)

    def statistics(self) -> QueryStatistics:
        """What the scores need of the whole collection: counts of terms, lengths, and the range of norms."""
        terms = [(self._bound.stream_of(self._query, term), term.variants) for term in self._query.terms]
        in_streams = {stream: self._bound.in_stream(stream) for stream, _ in terms}
        norms: dict[tuple[Hashable, str], NormRange] = {
            (bound.scorer, stream): bound.norm_range for stream, bound in in_streams.items()
        }
        return self._bound.reader.statistics.of_terms(terms)._replace(norms=norms)

    @cached_property
    def _weighted_terms(self) -> tuple[list[_StreamTerm], float, dict[BoundPostingScorer, float]]:
        """The terms in descending order of their bounds, the background of all, and the words of each stream."""
        in_streams = {self._bound.stream: self._bound}
        n_words: dict[BoundPostingScorer, float] = {}
        rows = []
        for term in self._query.terms:
            stream = self._bound.stream_of(self._query, term)
            if stream not in in_streams:
                in_streams[stream] = self._bound.in_stream(stream)
            bound = in_streams[stream]
            rows.append((term, bound, bound.term_weights(term.variants)))
        rows.sort(key=lambda row: -row[0].count * row[2].bound)
        for term, bound, _ in rows:
            n_words[bound] = n_words.get(bound, 0.0) + term.count
        terms = [
            _StreamTerm(bound, term.variants, term.count * weights.weight, weights.factor)
            for term, bound, weights in rows
        ]
        return terms, sum(term.count * weights.background for term, _, weights in rows), n_words

    def score(self, shard_index: int, docs: Array) -> Array:
        """The scores of documents of a shard, given in ascending order."""
        if not len(docs):
            return np.zeros(0)
        terms, background, n_words = self._weighted_terms
        _, n_docs = self._bound.reader.documents_of(shard_index)
        look_up = len(docs) * LOOKUP_RATIO < n_docs
        sums = np.zeros(len(docs) if look_up else n_docs)
        for bound, variants, weight, factor in terms:
            having, tfs = bound.frequencies(shard_index, variants)
            slots = having
            if look_up:
                slots, at = find_common(docs.astype(having.dtype), having)
                having, tfs = having[at], tfs[at]
            norms, scorer = bound.norms_of(shard_index, having), bound.scorer
            sums[slots] += exact_gain(scorer.shape, tfs.astype(float), weight, factor, norms, scorer.shift)
        scores = (sums if look_up else sums[docs]) + background
        for bound, count in n_words.items():
            biases = bound.biases_of(shard_index, docs)
            if biases is not None:
                scores += count * biases
        return scores

    def explain(self, shard_index: int, doc: int) -> tuple[TermContribution, ...]:
        """What each term adds to the score of a document, by the scorer's formula as printed."""
        parts = []
        for term in self._query.terms:
            stream = self._bound.stream_of(self._query, term)
            bound = self._bound.in_stream(stream)
            tf = frequency_of(doc, *bound.frequencies(shard_index, term.variants))
            column = bound.reader.column(shard_index, stream)
            formula = bound.formula_of(shard_index, doc)
            weight = formula.weigh(tf, int(column.lengths[doc]), term.stats, int(column.uniques[doc]))
            parts.append(self._bound.contribution(self._query, term, tf, float(weight)))
        return tuple(parts)


def find_common(few: Array, many: Array) -> tuple[Array, Array]:
    """Where two ascending arrays have equal numbers: the positions in each."""
    if not len(many):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    at = np.minimum(np.searchsorted(many, few), len(many) - 1)
    positions = np.flatnonzero(many[at] == few)
    return positions, at[positions]
