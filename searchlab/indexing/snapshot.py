"""What does an index say, once it is opened?

A snapshot is the state of an index at the moment of opening: later commits do not change it. It answers
in numbers over all shards: statistics of streams and terms, postings, and the stored documents.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np

from searchlab.errors import IndexCorrupt, SettingError, unknown_name
from searchlab.indexing.analysis import Analyzer
from searchlab.indexing.columns import STREAMS, Array
from searchlab.indexing.shard import Shard
from searchlab.indexing.store import Manifest, read_manifest
from searchlab.records import Document, TermStats

REMEMBERED_TERMS = 1 << 16


def _open(folder: Path) -> tuple[Manifest, list[Shard]]:
    """The committed state; a commit in between may have swept away what the manifest named, so look again."""
    manifest = read_manifest(folder)
    while True:
        try:
            return manifest, [Shard(folder / record.name, record) for record in manifest.shards]
        except IndexCorrupt:
            newer = read_manifest(folder)
            if newer.generation == manifest.generation:
                raise
            manifest = newer


class Snapshot:
    """One committed state of an index, opened for reading."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.manifest, self.shards = _open(folder)
        self.analyzer = Analyzer(self.manifest.settings, recall=self._recall)
        self.find_term = lru_cache(REMEMBERED_TERMS)(self._find_term)
        self.term_stats = lru_cache(REMEMBERED_TERMS)(self._term_stats)

    def close(self) -> None:
        """Let go of the index: a writer may then remove the shards that it no longer names."""
        for shard in self.shards:
            shard.whoosh.close()
            shard.close()

    @property
    def n_docs(self) -> int:
        """The number of documents."""
        return self.manifest.n_docs

    @cached_property
    def n_tokens(self) -> dict[str, int]:
        """For each stream, the terms of all documents."""
        return {s: sum(shard.columns.streams[s].n_tokens for shard in self.shards) for s in STREAMS}

    @cached_property
    def n_terms(self) -> int:
        """The number of distinct terms."""
        if len(self.shards) == 1:
            return len(self.shards[0].columns.terms)
        return len({term for shard in self.shards for term in shard.columns.terms})

    def _recall(self, word: str) -> str | None:
        """What the index knows of a word: its term, None for a stop word; KeyError for a new word."""
        for shard in self.shards:
            place = shard.columns.words.find(word)
            if place >= 0:
                number = int(shard.columns.word_terms[place])
                return None if number < 0 else str(shard.columns.terms[number])
        raise KeyError(word)

    def _find_term(self, term: str) -> tuple[int, ...]:
        """The number of a term in each shard, -1 where it does not occur."""
        return tuple(shard.columns.terms.find(term) for shard in self.shards)

    def _term_stats(self, stream: str, term: str) -> TermStats:
        """The statistics of a term in a stream; a term that does not occur has zeros."""
        if stream not in STREAMS:
            raise unknown_name("stream", stream, STREAMS)
        doc_freq = term_count = 0
        for shard, number in zip(self.shards, self.find_term(term), strict=True):
            if number >= 0:
                column = shard.columns.streams[stream]
                doc_freq += int(column.offsets[number + 1] - column.offsets[number])
                term_count += int(column.counts[number])
        return TermStats(self.n_docs, self.n_tokens[stream], doc_freq, term_count)

    @cached_property
    def _standings(self) -> tuple[Array, Array]:
        """The standings of all documents, shard after shard, and where each shard begins."""
        from searchlab.indexing.docno_order import docno_standings

        columns = [shard.columns.docnos for shard in self.shards]
        return docno_standings(columns), np.cumsum([0, *map(len, columns)])

    def standing(self, shards: Array, docs: Array) -> Array:
        """Where documents, given by shard and number, stand in the order of all docnos."""
        if len(self.shards) == 1:
            return docs
        standings, starts = self._standings
        found: Array = standings[starts[shards] + docs]
        return found

    def locate(self, docno: str) -> tuple[int, int]:
        """The shard of a document and its number there."""
        for place, shard in enumerate(self.shards):
            number = shard.columns.docnos.find(docno)
            if number >= 0:
                return place, number
        raise SettingError(f"{self.folder}: holds no document {docno!r}")

    def document(self, docno: str) -> Document:
        """A stored document by its docno."""
        place, number = self.locate(docno)
        return self.shards[place].whoosh.document(number)

    def docnos(self) -> Iterator[str]:
        """All docnos, shard by shard."""
        for shard in self.shards:
            yield from shard.columns.docnos
