"""BM25F: BM25 over weighted fields."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from typing import ClassVar

import numpy as np

from searchlab.errors import SettingError
from searchlab.indexing.storage.streams import Stream
from searchlab.records import TermStats
from searchlab.scorers.base import MIN_SETTING, Number, PostingScorer, require
from searchlab.scorers.bm25 import BM25, length_norm, never_negative_idf
from searchlab.scorers.execution.collection_statistics import Variants
from searchlab.scorers.execution.index_reader import IndexReader
from searchlab.scorers.execution.posting_cache import PostingCache
from searchlab.scorers.execution.posting_scoring import BoundPostingScorer
from searchlab.scorers.gains import SATURATION
from searchlab.types import Array


@dataclass(frozen=True)
class BM25F(PostingScorer):
    """BM25 over weighted fields (Zaragoza et al., TREC-13): fields are added before tf saturates.

    w = idf · f·(k1 + 1) / (f + k1),   f = Σ over fields of weight · tf / (1 - b + b·|d|/avgdl)

    with tf, |d|, avgdl, weight and b of the field. idf is that of title and body as one text.
    `weigh` takes f instead of tf; `pseudo_tf` computes it.
    """

    k1: float = 1.2
    title: float = 2.0
    body: float = 1.0
    title_b: float = 0.75
    body_b: float = 0.75

    label = "BM25F"
    shape = SATURATION
    streams: ClassVar[tuple[str, ...]] = ("title", "body")

    def __post_init__(self) -> None:
        require(self, "k1", MIN_SETTING)
        for stream in self.streams:
            require(self, stream, 0)
            require(self, f"{stream}_b", 0, 1)
        if not self.title + self.body:
            raise SettingError("BM25F: title and body both weigh 0, expected one of them above 0")

    def check_stream(self, stream: str) -> None:
        """Fields are weighed by the scorer itself, so all of them are searched."""
        if stream != "both":
            raise SettingError(f"bm25f weighs the fields itself: expected stream both, found {stream}")

    def in_stream(self, stream: str) -> BM25:
        """The scorer for words that are looked up in a single field: BM25 with the field's b."""
        return BM25(self.k1, getattr(self, f"{stream}_b", BM25.b))

    def bind(self, reader: IndexReader, stream: str) -> BoundPostingScorer:
        """The scorer over one index; within a single field it is BM25."""
        return BoundBM25F(self, reader, stream) if stream == "both" else self.in_stream(stream).bind(reader, stream)

    def pseudo_tf(self, stream: str, tf: Number, length: Number, mean_length: float) -> Number:
        """One field's part of f."""
        b = getattr(self, f"{stream}_b")
        return getattr(self, stream) * tf / length_norm(b, length, mean_length)

    def weigh(self, tf: Number, length: Number, term: TermStats, unique_length: Number = None) -> Number:
        """See the class."""
        return never_negative_idf(term) * tf * (self.k1 + 1) / (tf + self.k1)

    def term_weight(self, term: TermStats) -> float:
        """idf · (k1 + 1)."""
        return never_negative_idf(term) * (self.k1 + 1)

    def doc_norm(self, length: Array, unique_length: Array, mean_length: float) -> Array:
        """k1: lengths are accounted for in f."""
        return np.full(len(length), float(self.k1))

    @property
    def gains_are_positive(self) -> bool:
        """A field of weight 0 gives its terms nothing."""
        return self.title > 0 and self.body > 0


class BoundBM25F(BoundPostingScorer):
    """BM25F over one index: frequencies are computed from the postings of the fields."""

    def __init__(self, scorer: BM25F, reader: IndexReader, stream: str) -> None:
        super().__init__(scorer, reader, stream)
        self.scorer: BM25F = scorer
        self._fields = cache(self._read_fields)

    def _read_fields(self, shard_index: int) -> list[tuple[Stream, Array]]:
        """The fields of a shard, each with what one occurrence of a term adds to f of each document."""
        fields = []
        for name in self.scorer.streams:
            column = self.reader.column(shard_index, name)
            scales = self.scorer.pseudo_tf(name, 1.0, column.lengths.whole, self.reader.mean_length(name))
            fields.append((column, np.asarray(scales)))
        return fields

    def max_gain(self, variants: Variants, weight: float, factor: float) -> float:
        """The limit of the gain as f grows: the largest f is not known."""
        return weight

    @cached_property
    def posting_cache(self) -> PostingCache:
        """The postings of terms, with f instead of tf."""
        reader = self.reader

        def read(variants: Variants) -> tuple[Array, Array]:
            return reader.join_postings(self.frequencies(shard, variants) for shard in range(reader.n_shards))

        n_postings = reader.count_postings(self.stream)
        return PostingCache(read, n_postings, int(reader.shard_starts[-1]), np.dtype(np.float64))

    def frequencies(self, shard_index: int, variants: Variants) -> tuple[Array, Array]:
        """The documents of a shard that have a term, and f of each."""
        docs, _ = self.reader.occurrences(shard_index, self.stream, variants)
        if len(variants) == 1:
            number = self.reader.locate_term(self.stream, variants[0])[shard_index].number
            return docs, _add_fields(self._fields(shard_index), number, docs)
        f = np.zeros(len(docs))
        for name, (_, scales) in zip(self.scorer.streams, self._fields(shard_index), strict=True):
            field_docs, field_tfs = self.reader.occurrences(shard_index, name, variants)
            f[np.searchsorted(docs, field_docs)] += field_tfs * scales[field_docs]
        return docs, f


def _add_fields(fields: list[tuple[Stream, Array]], term: int, docs: Array) -> Array:
    """f of a term, given by its number, in the documents that have it in any field."""
    f = np.zeros(len(docs))
    if len(docs):
        for column, scales in fields:
            part = slice(column.offsets[term], column.offsets[term + 1])
            field_docs = column.docs[part]
            f[np.searchsorted(docs, field_docs)] += column.tfs[part] * scales[field_docs]
    return f
