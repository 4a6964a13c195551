"""Part of a snapshot: some of its shards, to be searched apart from the others.

Documents are those of these shards, statistics those of the whole index. Shards are numbered from 0 here;
`shard_numbers` has the number of each in the whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache

import numpy as np

from searchlab.indexing.field_order import ValueRanks
from searchlab.indexing.snapshot import MAX_CACHED_TERMS, Snapshot
from searchlab.indexing.storage.field_columns import MAX_CACHED_FIELDS
from searchlab.types import Array


class SnapshotPart(Snapshot):
    """Some shards of an open snapshot, which stays the owner of what is open."""

    def __init__(self, whole: Snapshot, numbers: Sequence[int]) -> None:
        self._whole = whole
        self._numbers = np.array(numbers, np.int64)
        self.folder, self.manifest = whole.folder, whole.manifest
        self.shards = [whole.shards[number] for number in numbers]
        self.analyzer, self.streams = whole.analyzer, whole.streams
        self._language, self._ngram_analyzer = whole._language, whole._ngram_analyzer
        # By shard.
        self.find_term = lru_cache(MAX_CACHED_TERMS)(self._find_term)
        self.value_ranks = lru_cache(MAX_CACHED_FIELDS)(self._select_ranks)
        self.sort_keys = lru_cache(MAX_CACHED_FIELDS)(self._select_keys)
        # Of the whole index.
        self.word_table, self.words_of, self.written_value = whole.word_table, whole.words_of, whole.written_value
        self.count_term, self.count_tokens, self.term_stats = whole.count_term, whole.count_tokens, whole.term_stats

    @property
    def whole(self) -> Snapshot:
        """The snapshot of all shards."""
        return self._whole

    @property
    def shard_numbers(self) -> Array:
        """The number of each shard in the whole index."""
        return self._numbers

    def close(self) -> None:
        """Nothing: the whole snapshot is closed by its owner."""

    def _select_ranks(self, name: str) -> ValueRanks:
        ranks = self._whole.value_ranks(name)
        return ValueRanks([ranks.by_shard[number] for number in self._numbers.tolist()], ranks.n_values)

    def _select_keys(self, name: str) -> list[Array]:
        keys = self._whole.sort_keys(name)
        return [keys[number] for number in self._numbers.tolist()]

    def count_values(self, name: str) -> int:
        """How many values a field has in the index."""
        return self._whole.count_values(name)

    @cached_property
    def n_tokens(self) -> dict[str, int]:
        """The number of tokens of all live documents of the index, by stream."""
        return self._whole.n_tokens

    @cached_property
    def n_terms(self) -> int:
        """The number of distinct terms in live documents of the index."""
        return self._whole.n_terms

    @cached_property
    def field_names(self) -> tuple[str, ...]:
        """The names of the fields of the index other than title and body, sorted."""
        return self._whole.field_names

    @cached_property
    def numeric_fields(self) -> frozenset[str]:
        """The fields of the index whose values are, for the most part, numbers or dates."""
        return self._whole.numeric_fields

    @cached_property
    def languages(self) -> dict[str, int]:
        """The languages of the index and the number of live documents in each."""
        return self._whole.languages
