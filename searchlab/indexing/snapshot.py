"""What does an index say, once it is opened?

A snapshot is the state of an index at the moment of opening: later commits do not change it. It answers
in numbers over all shards: statistics of streams and terms, postings, and the stored documents. Dead
documents count for nothing: every number is that of an index of the live ones alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cached_property, lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from searchlab.analysis.analyzer import Analyzer
from searchlab.errors import REBUILD, IndexCorrupt, SettingError, unknown_name
from searchlab.indexing.storage.columns import STREAMS
from searchlab.indexing.storage.manifest import Manifest, read_manifest
from searchlab.indexing.storage.shard import Shard
from searchlab.records import Document, TermStats
from searchlab.types import Array

REMEMBERED_TERMS = 1 << 16


class TermCounts(NamedTuple):
    """How many live documents have a term, how often all of them have it, and how often at most one."""

    doc_freq: int
    term_count: int
    max_tf: int


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
        self.analyzer = Analyzer(self.manifest.settings, lookup=self._lookup_term)
        self.find_term = lru_cache(REMEMBERED_TERMS)(self._find_term)
        self.count_term = lru_cache(REMEMBERED_TERMS)(self._count_term)
        self.term_stats = lru_cache(REMEMBERED_TERMS)(self._term_stats)
        self.words_of = lru_cache(REMEMBERED_TERMS)(self._words_of)

    def close(self) -> None:
        """Let go of the index: a writer may then remove the shards that it no longer names."""
        for shard in self.shards:
            shard.close()

    @contextmanager
    def damage_told(self) -> Iterator[None]:
        """Columns that are damaged, but still of the right size, show when something points outside of them."""
        try:
            yield
        except (IndexError, UnicodeDecodeError):
            raise IndexCorrupt(f"{self.folder}: a column is damaged; {REBUILD}") from None

    @property
    def n_docs(self) -> int:
        """The number of live documents."""
        return self.manifest.n_docs

    @cached_property
    def n_tokens(self) -> dict[str, int]:
        """For each stream, the terms of all live documents."""
        return {stream: self.count_tokens(stream) for stream in STREAMS}

    def count_tokens(self, text: str) -> int:
        """The terms of all live documents in a stream, or in a field."""
        return sum(_count_tokens(shard, text) for shard in self.shards)

    @cached_property
    def n_terms(self) -> int:
        """The number of distinct terms in live documents."""
        return len(self._live_terms)

    @cached_property
    def _live_terms(self) -> set[str]:
        return {
            term for shard in self.shards for term in shard.columns.terms.take(np.flatnonzero(live_doc_freqs(shard)))
        }

    @cached_property
    def field_names(self) -> tuple[str, ...]:
        """The fields that documents have beside title and body, by name."""
        return tuple(sorted({name for shard in self.shards for name in shard.columns.fields.names}))

    def _lookup_term(self, word: str) -> str | None:
        """What the index knows of a word: its term, None for a stop word; KeyError for a new word."""
        for shard in self.shards:
            with suppress(KeyError):
                return shard.columns.term_of(word)
        raise KeyError(word)

    def _find_term(self, term: str) -> tuple[int, ...]:
        """The number of a term in each shard, -1 where it does not occur."""
        return tuple(shard.columns.terms.find(term) for shard in self.shards)

    def _words_of(self, term: str) -> tuple[str, ...]:
        """All words of the texts that became this term."""
        forms: set[str] = set()
        for shard, number in zip(self.shards, self.find_term(term), strict=True):
            if number >= 0:
                forms.update(shard.columns.words_of(number))
        return tuple(sorted(forms))

    def _term_stats(self, stream: str, term: str) -> TermStats:
        """The statistics of a term in a stream; a term that does not occur has zeros."""
        if stream not in STREAMS:
            raise unknown_name("stream", stream, STREAMS)
        return TermStats(self.n_docs, self.n_tokens[stream], *self.count_term(stream, term)[:2])

    def _count_term(self, stream: str, term: str) -> TermCounts:
        doc_freq = term_count = max_tf = 0
        for shard, number in zip(self.shards, self.find_term(term), strict=True):
            if number < 0:
                continue
            column = shard.columns.streams[stream]
            own = slice(int(column.offsets[number]), int(column.offsets[number + 1]))
            if shard.alive is None:
                doc_freq += own.stop - own.start
                term_count += int(column.counts[number])
                max_tf = max(max_tf, int(column.max_tfs[number]))
                continue
            try:
                tfs = column.tfs[own][shard.alive[column.docs[own]]]
            except IndexError:
                raise IndexCorrupt(f"{shard.folder}: {stream}.docs is damaged; {REBUILD}") from None
            doc_freq += len(tfs)
            term_count += int(tfs.sum(dtype=np.int64))
            max_tf = max(max_tf, int(tfs.max()) if len(tfs) else 0)
        return TermCounts(doc_freq, term_count, max_tf)

    @cached_property
    def _standings(self) -> tuple[Array, Array]:
        """The standings of all documents, shard after shard, and where each shard begins."""
        from searchlab.indexing.docno_kernels import docno_standings

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
            if number >= 0 and (shard.alive is None or shard.alive[number]):
                return place, number
        raise SettingError(f"{self.folder}: holds no document {docno!r}")

    def document(self, docno: str) -> Document:
        """A stored document by its docno."""
        place, number = self.locate(docno)
        return self.shards[place].document(number)

    def docnos(self) -> Iterator[str]:
        """The docnos of all live documents, shard by shard."""
        for shard in self.shards:
            for number in live_docs(shard).tolist():
                yield shard.columns.docnos[number]

    def documents(self) -> Iterator[Document]:
        """All live documents, shard by shard in the order of their docnos."""
        for shard in self.shards:
            for number in live_docs(shard).tolist():
                yield shard.document(number)


def live_docs(shard: Shard) -> Array:
    """The numbers of a shard's live documents."""
    return np.arange(shard.columns.n_docs) if shard.alive is None else np.flatnonzero(shard.alive)


def live_doc_freqs(shard: Shard, stream: str = "both") -> Array:
    """For each term of a shard, the live documents that have it."""
    column = shard.columns.streams[stream]
    if shard.alive is None:
        return np.diff(column.offsets)
    return np.diff(np.concatenate([[0], np.cumsum(shard.alive[column.docs])])[column.offsets])


def _count_tokens(shard: Shard, text: str) -> int:
    if text in STREAMS and shard.alive is None:
        return int(shard.columns.streams[text].counts.sum())
    found = shard.columns.text(text)
    if found is None:
        return 0
    lengths = found.stream.lengths
    return int((lengths if shard.alive is None else lengths[shard.alive]).sum(dtype=np.int64))
