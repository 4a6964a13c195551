"""Updating an existing index: which documents are new, changed, unchanged or to be deleted.

Documents are identified by their docnos. One whose digest is unchanged is left alone; one that has changed is written
again, and its older version is deleted by the same commit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass
from itertools import islice

import numpy as np

from searchlab.analysis.analyzer import TermLookup
from searchlab.indexing.deduplication.duplicates import RENAMED
from searchlab.indexing.snapshot import Snapshot
from searchlab.indexing.storage.arrays.string_table import Strings
from searchlab.indexing.storage.documents.digest import digest
from searchlab.indexing.storage.shard import Shard, ShardRecord, largest_shard_lookup, write_deletions
from searchlab.records import Document
from searchlab.types import Array

BATCH_DOCS = 200
# Python looks up about this many docnos in the time that numba takes to load.
MIN_COMPILED_LOOKUPS = 50_000


@dataclass(frozen=True)
class FoundChanges:
    """What `select_changed` found: for each shard the numbers of replaced documents and of seen ones; counts."""

    replaced: list[Array]
    seen: list[Array]
    n_added: int
    n_unchanged: int


class IndexChanges:
    """The documents of a snapshot that are to be deleted, and counts of new, changed, unchanged and removed documents.

    Without a snapshot all documents are new.
    """

    def __init__(self, snapshot: Snapshot | None) -> None:
        self._shards: list[Shard] = snapshot.shards if snapshot else []
        self._live = [
            np.ones(shard.columns.n_docs, bool) if shard.live is None else shard.live.copy() for shard in self._shards
        ]
        self._seen = [np.zeros(shard.columns.n_docs, bool) for shard in self._shards]
        self._n_looked_up = 0
        self.n_added = self.n_updated = self.n_unchanged = self.n_removed = 0

    @property
    def lookup(self) -> TermLookup | None:
        """The term lookup of the largest shard."""
        return largest_shard_lookup(self._shards)

    def select_changed(self, documents: Iterator[Document]) -> Iterator[Document]:
        """The documents that have to be written: those that are new or have changed."""
        while batch := list(islice(documents, BATCH_DOCS)):
            if not self._shards:
                self.n_added += len(batch)
                yield from batch
                continue
            for document, (shard_index, number) in zip(batch, self._find(batch), strict=True):
                if shard_index < 0:
                    self.n_added += 1
                    yield document
                    continue
                self._seen[shard_index][number] = True
                if self._shards[shard_index].columns.digests[number].tobytes() == digest(document):
                    self.n_unchanged += 1
                    continue
                self._live[shard_index][number] = False
                self.n_updated += 1
                yield document

    def found(self) -> FoundChanges:
        """What has been found so far, to be added to the changes of another process."""
        before = [np.ones(len(live), bool) if shard.live is None else shard.live for shard, live in self._pairs()]
        replaced = [np.flatnonzero(was & ~live) for was, live in zip(before, self._live, strict=True)]
        return FoundChanges(replaced, list(map(np.flatnonzero, self._seen)), self.n_added, self.n_unchanged)

    def add(self, found: FoundChanges) -> None:
        """Add what another process found in other documents."""
        for number, (replaced, seen) in enumerate(zip(found.replaced, found.seen, strict=True)):
            self._live[number][replaced] = False
            self._seen[number][seen] = True
            self.n_updated += len(replaced)
        self.n_added += found.n_added
        self.n_unchanged += found.n_unchanged

    def _pairs(self) -> Iterable[tuple[Shard, Array]]:
        return zip(self._shards, self._live, strict=True)

    def _find(self, batch: list[Document]) -> Iterable[tuple[int, int]]:
        """The shard index of each document and its number in the shard; both are -1 for a new document."""
        docnos = [document.docno for document in batch]
        shard_indices, numbers = np.full(len(batch), -1), np.full(len(batch), -1)
        for shard_index, shard in enumerate(self._shards):
            in_shard = self._find_in_shard(shard.columns.docnos, docnos)
            here = in_shard >= 0
            if shard.live is not None:
                here[here] = shard.live[in_shard[here]]
            shard_indices[here], numbers[here] = shard_index, in_shard[here]
        return zip(shard_indices.tolist(), numbers.tolist(), strict=True)

    def _find_in_shard(self, known: Strings, docnos: list[str]) -> Array:
        """The numbers of documents in a shard, -1 for those that it does not have."""
        self._n_looked_up += len(docnos)
        if self._n_looked_up < MIN_COMPILED_LOOKUPS:
            return np.array([known.find(docno) for docno in docnos])
        from searchlab.indexing.docno_kernels import find_docnos

        return find_docnos(known, docnos)

    def remove_unseen(self, kept: Set[str] = frozenset()) -> None:
        """Delete all documents that `select_changed` has not seen, except some by their docnos.

        One that was renamed because of another document (see `duplicates`) is kept as that one is.
        """
        for shard, live, seen in zip(self._shards, self._live, self._seen, strict=True):
            unseen = live & ~seen
            if kept:
                numbers = np.flatnonzero(unseen)
                docnos = shard.columns.docnos.take(numbers)
                unseen[[number for number, docno in zip(numbers, docnos, strict=True) if _is_kept(docno, kept)]] = False
            self.n_removed += int(np.count_nonzero(unseen))
            live &= ~unseen

    def remove(self, shard_index: int, number: int) -> None:
        """Delete one document."""
        self.n_removed += int(self._live[shard_index][number])
        self._live[shard_index][number] = False

    def write_records(self) -> list[ShardRecord]:
        """The records of the shards after the changes, lists of deleted documents written; without empty shards."""
        return [_write_record(shard, live) for shard, live in zip(self._shards, self._live, strict=True) if live.any()]


def _is_kept(docno: str, kept: Set[str]) -> bool:
    parts = docno.split(RENAMED)
    return any(RENAMED.join(parts[:n]) in kept for n in range(1, len(parts) + 1))


def _write_record(shard: Shard, live: Array) -> ShardRecord:
    deleted = np.flatnonzero(~live)
    if len(deleted) == shard.record.n_deleted:
        return shard.record
    return write_deletions(shard.folder, shard.record, deleted)
