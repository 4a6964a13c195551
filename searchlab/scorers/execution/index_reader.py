"""What must be known before a query can be scored?

A scorer's numbers for documents and terms over one snapshot, computed when first needed and remembered. A term
is looked for in a text: a stream, or a field by its name. A pattern is a term with several variants, which counts
as one word: its frequency in a document is the sum of theirs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from searchlab.errors import REBUILD, IndexCorrupt
from searchlab.indexing.snapshot import REMEMBERED_TERMS, Snapshot, TermCounts
from searchlab.indexing.storage.columns import STREAMS
from searchlab.indexing.storage.streams import Stream, make_stream
from searchlab.records import TermStats
from searchlab.scorers.base import ScorableQuery, Scorer
from searchlab.scorers.bm25 import BM25
from searchlab.scorers.bm25f import BM25F
from searchlab.scorers.gains import SATURATION, gain, gainless_norm
from searchlab.scorers.trained_mixture import OwnRows, TrainedMixture
from searchlab.types import Array

# Scorers whose numbers for each document are kept.
REMEMBERED_SCORERS = 8
# Patterns whose postings are kept.
REMEMBERED_PATTERNS = 16

Variants = tuple[str, ...]


@dataclass(frozen=True)
class DocNumbers:
    """What a scorer needs of each document of a shard.

    Documents share few distinct norms: two bytes a document and a short table stay in the cache, where
    eight bytes a document would not. The norm of document d is norm_table[norm_codes[d]]. `biases` is empty
    for scorers without.
    """

    norm_table: Array
    norm_codes: Array
    biases: Array
    lowest_bias: float
    highest_bias: float

    @classmethod
    def make(cls, norms: Array, biases: Array | None, alive: Array | None, dead_norm: float) -> DocNumbers:
        """Numbers for the documents of a shard; dead ones get a norm with which nothing is gained."""
        if alive is not None:
            norms = np.where(alive, norms, dead_norm)
        table, codes = np.unique(norms, return_inverse=True)
        small = codes.astype(np.uint16 if len(table) <= 1 << 16 else np.uint32)
        if biases is None:
            return cls(table, small, np.zeros(0), 0.0, 0.0)
        live = biases if alive is None else biases[alive]
        return cls(table, small, biases, float(live.min(initial=np.inf)), float(live.max(initial=-np.inf)))


class TermNumbers(NamedTuple):
    """What a scorer needs of a term; `bound` is the most that it can give any document."""

    weight: float
    factor: float
    background: float
    bound: float


class Extent(NamedTuple):
    """Where a term stands in a shard: its number, its postings, its row among the bitmaps (-1: it has none)."""

    number: int
    start: int
    end: int
    row: int


class Postings(NamedTuple):
    """The postings of some terms in one shard: term t has docs[starts[t]:ends[t]].

    rows[t] is its row among the bitmaps `bits` and `ranks`, -1 if it has none.
    """

    docs: Array
    tfs: Array
    starts: Array
    ends: Array
    rows: Array
    bits: Array
    ranks: Array


@dataclass(frozen=True)
class Plan:
    """A query, ready to be scored: its terms in descending order of `bounds`, repeats multiplied in.

    `extents[t][s]` says where term t stands in shard s. A document's score is the sum of its gains, plus
    n_words · bias + background.
    """

    extents: list[tuple[Extent, ...]]
    weights: Array
    factors: Array
    bounds: Array
    background: float
    n_words: float


def scorer_of_text(scorer: Scorer, stream: str) -> Scorer:
    """The scorer for a word that is looked for in one text: within a single field, BM25F is BM25."""
    if isinstance(scorer, BM25F) and stream != "both":
        return BM25(scorer.k1, getattr(scorer, f"{stream}_b", BM25.b))
    return scorer


def _is_sound(column: Stream, extent: Extent) -> bool:
    """Whether a term's postings are ascending documents of the shard: compiled loops do not check their places."""
    docs = column.docs[extent.start : extent.end]
    if not 0 <= extent.start <= extent.end <= len(column.docs):
        return False
    if not len(docs):
        return True
    if docs[-1] >= len(column.lengths):
        return False
    if (docs[1:] <= docs[:-1]).any():
        return False
    if extent.row < 0:
        return True
    steps = np.diff(column.ranks[extent.row], append=len(docs))
    return bool(column.ranks[extent.row][0] == 0 and (steps >= 0).all() and (steps <= 64).all())


class Numbers:
    """Scorers' numbers over one snapshot."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self.of_docs = lru_cache(REMEMBERED_SCORERS)(self._make_doc_numbers)
        self.own_rows = lru_cache(REMEMBERED_SCORERS)(self._find_own_rows)
        self.of_term = lru_cache(REMEMBERED_TERMS)(self._make_term_numbers)
        self.extents = lru_cache(REMEMBERED_TERMS)(self._find_extents)
        self.stats = lru_cache(REMEMBERED_TERMS)(self._make_stats)
        self._n_tokens = lru_cache(REMEMBERED_TERMS)(snapshot.count_tokens)
        self._field_scales = lru_cache(REMEMBERED_SCORERS)(self._make_field_scales)
        self._merged = lru_cache(REMEMBERED_PATTERNS)(self._merge)

    def column(self, place: int, stream: str) -> Stream:
        """A text's column in one shard."""
        columns = self._snapshot.shards[place].columns
        if stream in STREAMS:
            return columns.streams[stream]
        text = columns.text(stream)
        if text is None:
            none = np.zeros(0, np.uint32)
            return make_stream(np.zeros(1, np.int64), none, none, np.zeros(columns.n_docs, np.int32))
        return text.stream

    def _columns(self, stream: str) -> list[Stream]:
        return [self.column(place, stream) for place in range(len(self._snapshot.shards))]

    def _mean_length(self, stream: str) -> float:
        # A stream without any text has no mean length; its documents match nothing, whatever the number.
        return self._n_tokens(stream) / max(self._snapshot.n_docs, 1) or 1.0

    def _make_doc_numbers(self, scorer: Scorer, stream: str) -> list[DocNumbers]:
        mean = self._mean_length(stream)
        own_rows = self.own_rows(scorer)
        made = []
        for column, shard, own in zip(self._columns(stream), self._snapshot.shards, own_rows, strict=True):
            norms = scorer.doc_norm(column.lengths, column.uniques, mean)
            biases = scorer.doc_bias(column.lengths, column.uniques)
            if own is not None and isinstance(scorer, TrainedMixture):
                norms, biases = own.adjust(scorer, norms)
            made.append(DocNumbers.make(norms, biases, shard.alive, gainless_norm(scorer.shape)))
        return made

    def _find_own_rows(self, scorer: Scorer) -> list[OwnRows | None]:
        """Of each shard, the documents that a mixture has weights of their own for; None if there are none."""
        if not isinstance(scorer, TrainedMixture) or scorer.own is None:
            return [None] * len(self._snapshot.shards)
        return scorer.own.place(self._snapshot)

    def _make_term_numbers(self, scorer: Scorer, stream: str, variants: Variants) -> TermNumbers:
        stats = self.stats(stream, variants)
        weight, factor = scorer.term_weight(stats), scorer.term_factor(stats)
        if isinstance(scorer, BM25F):
            return TermNumbers(weight, factor, scorer.background(stats), weight)
        # A norm counts against the document where it saturates, for it elsewhere; tables are sorted.
        tables = [docs.norm_table for docs in self.of_docs(scorer, stream)]
        saturates = scorer.shape == SATURATION
        norm = min(table[0] for table in tables) if saturates else max(table[-1] for table in tables)
        max_tf = self._count(stream, variants).max_tf
        bound = float(gain(scorer.shape, float(max_tf), weight, factor, norm, scorer.shift))
        return TermNumbers(weight, factor, scorer.background(stats), bound)

    def _make_stats(self, stream: str, variants: Variants) -> TermStats:
        """The statistics of a term in a text; one that does not occur has zeros."""
        return TermStats(self._snapshot.n_docs, self._n_tokens(stream), *self._count(stream, variants)[:2])

    def _count(self, stream: str, variants: Variants) -> TermCounts:
        if stream in STREAMS and len(variants) == 1:
            return self._snapshot.count_term(stream, variants[0])
        doc_freq = term_count = max_tf = 0
        for place, shard in enumerate(self._snapshot.shards):
            docs, tfs = self.occurrences(place, stream, variants)
            if shard.alive is not None:
                tfs = tfs[shard.alive[docs]]
            doc_freq += len(tfs)
            term_count += int(tfs.sum(dtype=np.int64))
            max_tf = max(max_tf, int(tfs.max(initial=0)))
        return TermCounts(doc_freq, term_count, max_tf)

    def plan(self, query: ScorableQuery, scorer: Scorer, stream: str) -> Plan:
        """Everything about a query that does not depend on a shard."""
        terms = [(term, self.of_term(scorer, stream, term.variants)) for term in query.terms]
        terms.sort(key=lambda pair: -pair[0].count * pair[1].bound)
        return Plan(
            [self.extents(stream, term.text) for term, _ in terms],
            np.array([term.count * own.weight for term, own in terms]),
            np.array([own.factor for _, own in terms]),
            np.array([term.count * own.bound for term, own in terms]),
            sum(term.count * own.background for term, own in terms),
            float(sum(term.count for term, _ in terms)),
        )

    def _find_extents(self, stream: str, term: str) -> tuple[Extent, ...]:
        found = []
        for column, number in zip(self._columns(stream), self._find(stream, term), strict=True):
            if number < 0:
                found.append(Extent(-1, 0, 0, -1))
                continue
            row = int(np.searchsorted(column.dense, number))
            if row == len(column.dense) or column.dense[row] != number:
                row = -1
            extent = Extent(number, int(column.offsets[number]), int(column.offsets[number + 1]), row)
            if not _is_sound(column, extent):
                raise IndexCorrupt(f"{self._snapshot.folder}: {stream}.docs is damaged; {REBUILD}")
            found.append(extent)
        return tuple(found)

    def _find(self, stream: str, term: str) -> tuple[int, ...]:
        """The number of a term in each shard's column, -1 where it does not occur."""
        if stream in STREAMS:
            return self._snapshot.find_term(term)
        texts = [shard.columns.text(stream) for shard in self._snapshot.shards]
        return tuple(-1 if text is None else text.find(term) for text in texts)

    def postings(self, place: int, scorer: Scorer, stream: str, extents: list[Extent]) -> Postings:
        """The postings of terms in a shard; BM25F's frequencies are made here."""
        column = self.column(place, stream)
        numbers, starts, ends, rows = np.array(extents).T.copy()
        if not isinstance(scorer, BM25F):
            return Postings(column.docs, column.tfs, starts, ends, rows, column.bits, column.ranks)
        docs = [column.docs[start:end] for start, end in zip(starts, ends, strict=True)]
        scales = self._field_scales(scorer, place)
        tfs = [self._pseudo_tfs(place, scales, term, own) for term, own in zip(numbers, docs, strict=True)]
        bounds = np.cumsum([0, *map(len, docs)])
        rows[:] = -1
        return Postings(
            np.concatenate(docs), np.concatenate(tfs), bounds[:-1], bounds[1:], rows, column.bits, column.ranks
        )

    def _make_field_scales(self, scorer: BM25F, place: int) -> dict[str, Array]:
        """For each field, what one occurrence in a document adds to its pseudo-frequency."""
        return {
            name: np.asarray(scorer.pseudo_tf(name, 1.0, self.column(place, name).lengths, self._mean_length(name)))
            for name in scorer.streams
        }

    def _pseudo_tfs(self, place: int, scales: dict[str, Array], term: int, docs: Array) -> Array:
        """A term's pseudo-frequencies in the documents that have it in any field."""
        total = np.zeros(len(docs))
        for name, scale in scales.items():
            column = self.column(place, name)
            own = slice(column.offsets[term], column.offsets[term + 1]) if len(docs) else slice(0, 0)
            field_docs = column.docs[own]
            total[np.searchsorted(docs, field_docs)] += column.tfs[own] * scale[field_docs]
        return total

    def frequencies(self, place: int, scorer: Scorer, stream: str, variants: Variants) -> tuple[Array, Array]:
        """The documents of a shard that have a term, and how often as the scorer counts."""
        if not isinstance(scorer, BM25F):
            return self.occurrences(place, stream, variants)
        if len(variants) == 1:
            docs, tfs, *_ = self.postings(place, scorer, stream, [self.extents(stream, variants[0])[place]])
            return docs, tfs
        docs, _ = self.occurrences(place, stream, variants)
        total = np.zeros(len(docs))
        for name, scale in self._field_scales(scorer, place).items():
            field_docs, field_tfs = self.occurrences(place, name, variants)
            total[np.searchsorted(docs, field_docs)] += field_tfs * scale[field_docs]
        return docs, total

    def occurrences(self, place: int, stream: str, variants: Variants) -> tuple[Array, Array]:
        """The documents of a shard that have a term, ascending, and how often."""
        if len(variants) > 1:
            return self._merged(place, stream, variants)
        extent, column = self.extents(stream, variants[0])[place], self.column(place, stream)
        return column.docs[extent.start : extent.end], column.tfs[extent.start : extent.end]

    def _merge(self, place: int, stream: str, variants: Variants) -> tuple[Array, Array]:
        """The documents that have any of the variants, and how often all of them."""
        column = self.column(place, stream)
        numbers = [number for number in (self._find(stream, variant)[place] for variant in variants) if number >= 0]
        own = [slice(column.offsets[number], column.offsets[number + 1]) for number in numbers]
        docs = np.concatenate([column.docs[:0], *(column.docs[part] for part in own)])
        tfs = np.concatenate([column.tfs[:0], *(column.tfs[part] for part in own)])
        n_docs = len(column.lengths)
        sums = np.bincount(docs, tfs, n_docs)
        if len(sums) > n_docs:
            raise IndexCorrupt(f"{self._snapshot.folder}: {stream}.docs is damaged; {REBUILD}")
        found = np.flatnonzero(sums)
        return found.astype(column.docs.dtype), sums[found]
